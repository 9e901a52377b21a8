//! A pins folder: the policy and every pin in it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::Error;
use crate::builder::{self, BuilderPin};
use crate::pin::Pin;
use crate::policy::{self, Policy};

/// What a pins folder holds.
#[derive(Clone, Debug, Default)]
pub struct Pins {
    /// `channels.json`, where there is one.
    pub policy: Option<Policy>,
    /// The pins by channel, which is the file's name without `.json`.
    pub pins: BTreeMap<String, Pin>,
    /// The builder pins: by channel, then by builder.
    pub builders: BTreeMap<String, BTreeMap<String, BuilderPin>>,
}

impl Pins {
    /// Reads the folder `dir`: `channels.json`, every other `*.json` directly in it, and `builders/BUILDER/*.json` with
    /// the indexes in `manifests/` that they name. Dot files and other files and folders are left alone.
    ///
    /// # Errors
    ///
    /// A folder or file that cannot be read, and whatever is wrong in one: the error names the file.
    pub fn load(dir: &Path) -> Result<Self, Error> {
        let mut pins = Self::default();
        for name in file_names(dir)? {
            let path = dir.join(&name);
            let document = path.display().to_string();
            let bytes = read_file(&path)?;
            match name.strip_suffix(".json") {
                _ if name == policy::FILE => pins.policy = Some(Policy::read(&document, &bytes)?),
                Some(channel) => {
                    pins.pins.insert(channel.to_owned(), Pin::read(&document, &bytes)?);
                }
                None => {}
            }
        }
        pins.builders = builders(dir)?;
        Ok(pins)
    }

    /// Returns the names of the channels that are pinned, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.pins.keys().map(String::as_str)
    }

    /// Returns what is decided for `channel`, if anything is.
    pub fn policy_of(&self, channel: &str) -> Option<&policy::Channel> {
        self.policy.as_ref()?.channels.get(channel)
    }
}

/// Reads the builder pins of the pins folder `dir`, and checks each against its stored index.
///
/// # Errors
///
/// A folder or file that cannot be read, and whatever is wrong in one.
pub fn builders(dir: &Path) -> Result<BTreeMap<String, BTreeMap<String, BuilderPin>>, Error> {
    let mut pins: BTreeMap<String, BTreeMap<String, BuilderPin>> = BTreeMap::new();
    let folder = dir.join(builder::FOLDER);
    if !folder.is_dir() {
        return Ok(pins);
    }
    let read = |error| Error::io("read", &folder, error);
    for entry in fs::read_dir(&folder).map_err(read)? {
        let entry = entry.map_err(read)?;
        let Ok(name) = entry.file_name().into_string() else {
            return Err(Error::invalid(format!("the folder name `{}` is no UTF-8", entry.path().display())));
        };
        if name.starts_with('.') || !entry.path().is_dir() {
            continue;
        }
        for file in file_names(&entry.path())? {
            let path = entry.path().join(&file);
            let document = path.display().to_string();
            let pin = BuilderPin::read(&document, &read_file(&path)?)?;
            let index = dir.join(builder::MANIFESTS).join(pin.index_file());
            let bytes = read_file(&index).map_err(|error| {
                error
                    .note(format!("{document} names it"))
                    .help("restore it with `git checkout`, or promote again")
            })?;
            pin.check_index(&document, &index.display().to_string(), &bytes)?;
            let channel = file.strip_suffix(".json").unwrap_or(&file).to_owned();
            pins.entry(channel).or_default().insert(name.clone(), pin);
        }
    }
    Ok(pins)
}

/// Most bytes that a file may have; what is embedded has a thousandth of it.
const LARGEST: u64 = 64 * 1024 * 1024;

/// Reads a policy, pin or document file.
///
/// # Errors
///
/// A file that cannot be read, that is larger than 64 MiB, or that is a pipe or device, which may never end.
pub fn read_file(path: &Path) -> Result<Vec<u8>, Error> {
    let failed = |error| Error::io("read", path, error);
    let metadata = fs::metadata(path).map_err(failed)?;
    if !metadata.is_file() {
        return Err(Error::invalid(format!("`{}` is no regular file", path.display())));
    }
    if metadata.len() > LARGEST {
        return Err(Error::invalid(format!("`{}` is larger than 64 MiB", path.display())));
    }
    fs::read(path).map_err(failed)
}

/// Returns the names of the policy and pin files in `dir`, sorted.
fn file_names(dir: &Path) -> Result<Vec<String>, Error> {
    let read = |error| Error::io("read", dir, error);
    let mut names = Vec::new();
    for entry in fs::read_dir(dir).map_err(read)? {
        let entry = entry.map_err(read)?;
        let name = entry.file_name();
        let bytes = name.as_encoded_bytes();
        if bytes.starts_with(b".") || !bytes.ends_with(b".json") || entry.path().is_dir() {
            continue;
        }
        match name.into_string() {
            Ok(name) => names.push(name),
            Err(name) => {
                let path = dir.join(name);
                return Err(Error::invalid(format!("the file name `{}` is no UTF-8", path.display())));
            }
        }
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = r#"{"stream": "s", "architectures": {"x86_64": {"images": {"aws": {"regions": {
        "us-east-1": {"release": "1", "image": "ami-1"}}}}}}}"#;

    #[test]
    fn pins_are_the_json_files_directly_in_the_folder() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["stable.json", "4.16-9.4.json"] {
            fs::write(dir.path().join(name), STREAM).unwrap();
        }
        for name in ["README.md", ".hidden.json", ".stable.json.1.part", "x.json~"] {
            fs::write(dir.path().join(name), "not JSON").unwrap();
        }
        fs::create_dir_all(dir.path().join("builders.json/coreos-assembler")).unwrap();
        let pins = Pins::load(dir.path()).unwrap();
        assert_eq!(pins.names().collect::<Vec<_>>(), ["4.16-9.4", "stable"]);
        assert!(pins.policy.is_none());
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_refused_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let made = std::process::Command::new("mkfifo").arg(dir.path().join("x.json")).status().unwrap();
        assert!(made.success());
        let text = Pins::load(dir.path()).unwrap_err().to_string();
        assert!(text.ends_with("x.json` is no regular file"), "{text}");
    }

    #[test]
    fn a_missing_folder_and_a_broken_file_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let missing = dir.path().join("nowhere");
        let text = Pins::load(&missing).unwrap_err().to_string();
        assert!(text.starts_with(&format!("failed to read `{}`: ", missing.display())), "{text}");

        fs::write(dir.path().join("stable.json"), "{").unwrap();
        let text = Pins::load(dir.path()).unwrap_err().to_string();
        assert!(
            text.starts_with(&format!("{}: EOF while", dir.path().join("stable.json").display())),
            "{text}"
        );
    }
}
