//! The file that holds what came so far.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use coreos_pins_build::Error;
use coreos_pins_build::source;
use fs4::{FileExt, TryLockError};
use indicatif::ProgressBar;
use sha2::{Digest, Sha256};

/// A part file, locked: two runs that write one file would spoil it after one of them has found it good.
pub(super) struct Part {
    path: PathBuf,
    file: File,
    hash: Sha256,
    length: u64,
    /// It held something that an earlier run had left.
    pub(super) is_resumed: bool,
}

impl Part {
    /// Opens the part file of `target`, or makes it. The sum is in its name, so that the bytes of one file are never
    /// taken for the beginning of another.
    pub(super) fn open(target: &Path, sha256: &str) -> Result<Self, Error> {
        let mut path = target.as_os_str().to_owned();
        path.push(format!(".{}.part", sha256.get(..16).unwrap_or(sha256)));
        let path = PathBuf::from(path);
        // Not through a link, which somebody else may have made.
        if fs::symlink_metadata(&path).is_ok_and(|metadata| !metadata.is_file()) {
            return Err(Error::invalid(format!("`{}` is no regular file", path.display())));
        }
        let opened = File::options().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = opened.map_err(|error| Error::io("write", &path, error))?;
        // Any other error: a file system without locks.
        if let Err(TryLockError::WouldBlock) = FileExt::try_lock(&file) {
            return Err(Error::refused(format!("another run is writing `{}`", path.display()))
                .help("wait until it is done"));
        }
        let (hash, length) = hash(&mut file).map_err(|error| Error::io("read", &path, error))?;
        Ok(Self { path, file, hash, length, is_resumed: length > 0 })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn length(&self) -> u64 {
        self.length
    }

    pub(super) fn sha256(&self) -> String {
        hex(self.hash.clone())
    }

    /// Takes a part of the download.
    pub(super) fn take(&mut self, part: source::Part<'_>, bar: &ProgressBar) -> Result<(), Error> {
        match part {
            source::Part::Start { at, length } => {
                if at != self.length {
                    self.cut(at).map_err(|error| Error::io("write", &self.path, error))?;
                }
                if let Some(length) = length {
                    bar.set_length(length);
                }
            }
            source::Part::Bytes(bytes) => {
                self.file.write_all(bytes).map_err(|error| Error::io("write", &self.path, error))?;
                self.hash.update(bytes);
                self.length += bytes.len() as u64;
            }
        }
        bar.set_position(self.length);
        Ok(())
    }

    fn cut(&mut self, at: u64) -> std::io::Result<()> {
        self.file.set_len(at)?;
        (self.hash, self.length) = hash(&mut self.file)?;
        self.is_resumed = false;
        Ok(())
    }

    /// Gives the file its name. By then it is on the disk.
    pub(super) fn keep_as(self, target: &Path) -> Result<(), Error> {
        self.file.sync_all().map_err(|error| Error::io("write", &self.path, error))?;
        fs::rename(&self.path, target).map_err(|error| Error::io("write", target, error))
    }

    /// Removes the file.
    pub(super) fn remove(self) {
        let _ = fs::remove_file(&self.path);
    }

    /// Leaves the file for another run, unless there is nothing in it.
    pub(super) fn leave(self) {
        if self.length == 0 {
            self.remove();
        }
    }
}

/// Returns the length and the SHA-256 of the file at `path`, `None` where nothing is there.
pub(super) fn sum_of(path: &Path) -> Result<Option<(u64, String)>, Error> {
    let failed = |error| Error::io("read", path, error);
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
        Ok(_) => {}
    }
    // Through a link, which is to stay.
    if !fs::metadata(path).map_err(failed)?.is_file() {
        return Err(Error::invalid(format!("`{}` is no regular file", path.display())));
    }
    let (hash, length) = File::open(path).and_then(|mut file| hash(&mut file)).map_err(failed)?;
    Ok(Some((length, hex(hash))))
}

/// Reads the whole of `file`, and leaves it at its end.
fn hash(file: &mut File) -> std::io::Result<(Sha256, u64)> {
    file.seek(SeekFrom::Start(0))?;
    let (mut hash, mut length) = (Sha256::new(), 0);
    let mut chunk = vec![0; 256 * 1024];
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok((hash, length)),
            bytes => {
                hash.update(&chunk[..bytes]);
                length += bytes as u64;
            }
        }
    }
}

fn hex(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
