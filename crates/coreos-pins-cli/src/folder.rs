//! Which pins folder a command works on.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use coreos_pins_build::Error;

/// Returns the folder named by `flag`, else by `variable` unless that is blank, else `pins/` in the working folder or
/// in the nearest folder above.
pub(crate) fn find(flag: Option<&Path>, variable: Option<&OsStr>) -> Result<PathBuf, Error> {
    let variable = variable.filter(|value| !value.to_str().is_some_and(|text| text.trim().is_empty()));
    let named = match (flag, variable) {
        (Some(dir), _) => Some((dir.to_owned(), "--pins-dir")),
        (None, Some(dir)) => Some((
            dir.to_str().map_or_else(|| dir.into(), |text| PathBuf::from(text.trim())),
            "COREOS_PINS_DIR",
        )),
        (None, None) => None,
    };
    if let Some((dir, by)) = named {
        return if dir.is_dir() {
            Ok(dir)
        } else {
            Err(Error::invalid(format!("no folder `{}` (asked for by {by})", dir.display())))
        };
    }
    let here = std::env::current_dir().map_err(|error| Error::io("find", ".".as_ref(), error))?;
    let above = here.ancestors().map(|dir| dir.join("pins")).find(|dir| dir.is_dir());
    match above {
        // Shown as the user knows it, where that is possible.
        Some(dir) => Ok(dir.strip_prefix(&here).map(Path::to_owned).unwrap_or(dir)),
        None => Err(Error::invalid(format!("no folder `pins` in `{}` or above", here.display()))
            .help("go to the repository, or name the folder with --pins-dir")),
    }
}
