//! Files that are replaced whole or not at all, and only while they are what was read.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use coreos_pins_build::Error;
use coreos_pins_build::pins::read_file;
use fs4::FileExt;
use tempfile::NamedTempFile;

/// A file as it was read.
pub(crate) struct File {
    path: PathBuf,
    /// `None` where there was none.
    bytes: Option<Vec<u8>>,
}

impl File {
    /// Reads the file at `path`, if there is one.
    ///
    /// # Errors
    ///
    /// What is there and cannot be read: it may hold what nobody has a copy of.
    pub(crate) fn read(path: &Path) -> Result<Self, Error> {
        let missing = fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
        let bytes = if missing { None } else { Some(read_file(path)?) };
        Ok(Self { path: path.to_owned(), bytes })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn bytes(&self) -> Option<&[u8]> {
        self.bytes.as_deref()
    }
}

/// Files of one folder that are to change together.
pub(crate) struct Batch<'a> {
    dir: &'a Path,
    changes: Vec<(&'a File, String)>,
}

impl<'a> Batch<'a> {
    pub(crate) fn new(dir: &'a Path) -> Self {
        Self { dir, changes: Vec::new() }
    }

    /// Makes `text` what `file` is to become, and tells whether that is a change.
    pub(crate) fn replace(&mut self, file: &'a File, text: String) -> bool {
        let changes = file.bytes() != Some(text.as_bytes());
        if changes {
            self.changes.push((file, text));
        }
        changes
    }

    /// Writes what changes: all of it, or nothing where something is wrong with a part.
    ///
    /// Every new file is complete, and on the disk, before the first takes the place of an old one. What a killed run
    /// leaves behind does not end in `.json`, so that nothing takes it for a pin; a run that ends in an error leaves
    /// nothing.
    ///
    /// # Errors
    ///
    /// A file that is no longer what was read, because somebody else wrote it meanwhile; what cannot be written.
    pub(crate) fn write(self) -> Result<(), Error> {
        if self.changes.is_empty() {
            return Ok(());
        }
        let lock = self.lock_file()?;
        FileExt::lock(&lock).map_err(|error| Error::io("lock", self.dir, error))?;
        let mut parts = Vec::new();
        for (file, text) in &self.changes {
            if File::read(&file.path)?.bytes != file.bytes {
                let path = file.path.display();
                return Err(Error::refused(format!("`{path}` was changed by somebody else meanwhile"))
                    .help("nothing was written: run the command again"));
            }
            parts.push(part(&file.path, text)?);
        }
        for (path, part) in parts {
            part.persist(&path).map_err(|error| Error::io("write", &path, error.error))?;
        }
        Ok(())
    }

    /// Opens what those who write in this folder lock.
    fn lock_file(&self) -> Result<fs::File, Error> {
        // Windows opens no folder.
        let path =
            if cfg!(unix) { self.dir.to_owned() } else { self.dir.join(coreos_pins_build::policy::FILE) };
        fs::File::open(&path).map_err(|error| Error::io("open", &path, error))
    }
}

/// Writes `text` beside the file at `path`, and returns it with the path that it is to have.
fn part(path: &Path, text: &str) -> Result<(PathBuf, NamedTempFile), Error> {
    let failed = |error| Error::io("write", path, error);
    // Through a link, the file behind it is replaced, and the link stays.
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = real.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(".".as_ref());
    let mut builder = tempfile::Builder::new();
    builder.prefix(".pin-").suffix(".part");
    let mode = fs::metadata(&real).map(|old| old.permissions());
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut part = builder.tempfile_in(folder).map_err(failed)?;
    part.write_all(text.as_bytes()).map_err(failed)?;
    if let Ok(mode) = mode {
        part.as_file().set_permissions(mode).map_err(failed)?;
    }
    part.as_file().sync_all().map_err(failed)?;
    Ok((real, part))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes `text` the content of `path`.
    fn replace(path: &Path, text: &str) -> Result<bool, Error> {
        let file = File::read(path)?;
        let mut batch = Batch::new(path.parent().unwrap());
        let changes = batch.replace(&file, text.to_owned());
        batch.write().map(|()| changes)
    }

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
        let good = File::read(&dir.path().join("next.json")).unwrap();
        let bad = File { path: path.clone(), bytes: None };
        let mut batch = Batch::new(dir.path());
        assert!(batch.replace(&good, "text".to_owned()) && batch.replace(&bad, "text".to_owned()));
        let error = batch.write().unwrap_err().to_string();
        assert!(error.ends_with("stable.json` is no regular file"), "{error}");
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

    #[test]
    fn what_somebody_else_wrote_meanwhile_is_not_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let (one, two) = (dir.path().join("one.json"), dir.path().join("two.json"));
        fs::write(&two, "old").unwrap();
        let files = [&one, &two].map(|path| File::read(path).unwrap());
        let mut batch = Batch::new(dir.path());
        files.iter().for_each(|file| assert!(batch.replace(file, "new".to_owned())));
        fs::write(&two, "theirs").unwrap();
        let error = batch.write().unwrap_err();
        assert_eq!(error.exit_status(), 1);
        assert!(error.to_string().contains("two.json` was changed by somebody else meanwhile"), "{error}");
        assert_eq!((one.exists(), fs::read_to_string(&two).unwrap().as_str()), (false, "theirs"));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
