//! Files that are replaced whole or not at all.

use std::fs;
use std::io::Write;
use std::path::Path;

use coreos_pins_build::Error;

/// Makes `text` the content of `path`, and tells whether that changed anything. The same content is not written again.
///
/// The new file is complete, and on the disk, before it takes the place of the old one. What a killed run leaves
/// behind does not end in `.json`, so that nothing takes it for a pin; a run that ends in an error leaves nothing.
pub(crate) fn replace(path: &Path, text: &str) -> Result<bool, Error> {
    if fs::read(path).is_ok_and(|old| old == text.as_bytes()) {
        return Ok(false);
    }
    let failed = |error| Error::io("write", path, error);
    // Through a link, the file behind it is replaced, and the link stays.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(".".as_ref());
    let mut builder = tempfile::Builder::new();
    builder.prefix(".pin-").suffix(".part");
    let mode = fs::metadata(&path).map(|old| old.permissions());
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut part = builder.tempfile_in(folder).map_err(failed)?;
    part.write_all(text.as_bytes()).map_err(failed)?;
    if let Ok(mode) = mode {
        part.as_file().set_permissions(mode).map_err(failed)?;
    }
    part.as_file().sync_all().map_err(failed)?;
    part.persist(&path).map_err(|error| failed(error.error))?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_text_is_not_written_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("stable.json");
        assert!(replace(&path, "one\n").unwrap());
        let old = fs::metadata(&path).unwrap().modified().unwrap();
        assert!(!replace(&path, "one\n").unwrap());
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), old);
        assert!(replace(&path, "two\n").unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), "two\n");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn an_error_leaves_the_folder_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        // A folder cannot be replaced by a file.
        let path = dir.path().join("stable.json");
        fs::create_dir_all(path.join("inside")).unwrap();
        let error = replace(&path, "text").unwrap_err().to_string();
        assert!(error.starts_with("failed to write `"), "{error}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link_and_the_mode_is_kept() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("real.json"), dir.path().join("link.json"));
        fs::write(&real, "one").unwrap();
        fs::set_permissions(&real, PermissionsExt::from_mode(0o640)).unwrap();
        symlink(&real, &link).unwrap();
        assert!(replace(&link, "two").unwrap());
        assert_eq!(fs::read_to_string(&real).unwrap(), "two");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    }
}
