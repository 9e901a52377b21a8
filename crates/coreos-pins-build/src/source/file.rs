//! `file://`: a mirror, or one document, on this machine.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Answer, Fetched, size};
use crate::Error;
use crate::url::Url;

/// Why a file is not there.
const NO_FILE: &str = "no such file";

/// Reads the file that `url` names, of at most `limit` bytes, which are taken from `room`.
pub(super) fn read(url: &Url, limit: u64, room: &AtomicU64) -> Result<Answer, Error> {
    let Some((file, _)) = open(url)? else { return Ok(Answer::NotThere { why: NO_FILE.to_owned() }) };
    let mut bytes = Vec::new();
    let limit = limit.min(room.load(Ordering::Relaxed));
    let length =
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| broken(url, error))?;
    let taken =
        room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(length as u64));
    match taken {
        Ok(_) if length as u64 <= limit => {
            Ok(Answer::Found(Fetched { bytes, content_type: None, redirected_to: None }))
        }
        _ => Err(fault(url, &format!("it is larger than {}", size(limit)))),
    }
}

/// Opens the file that `url` names, and says how long it is; `None` where there is none. Anything but a regular file is
/// refused unopened: a pipe would never end.
fn open(url: &Url) -> Result<Option<(File, u64)>, Error> {
    let path = url.file_path().ok_or_else(|| fault(url, "its path is no UTF-8"))?;
    let metadata = match fs::metadata(&path) {
        Ok(metadata) => metadata,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(broken(url, error)),
    };
    if metadata.is_dir() {
        return Err(fault(url, "it is a folder"));
    }
    if !metadata.is_file() {
        return Err(fault(url, "it is no regular file"));
    }
    let file = File::open(&path).map_err(|error| broken(url, error))?;
    Ok(Some((file, metadata.len())))
}

fn fault(url: &Url, what: &str) -> Error {
    Error::invalid(format!("failed to read `{url}`: {what}"))
}

fn broken(url: &Url, error: io::Error) -> Error {
    fault(url, &error.to_string()).caused_by(error)
}

#[cfg(feature = "fetch")]
mod whole {
    use std::io::{Seek, SeekFrom};

    use super::super::{Download, Probe};
    use super::{Error, NO_FILE, Url, broken, open};

    /// Says whether there is such a file, and how long it is.
    pub(in super::super) fn probe(url: &Url) -> Result<Probe, Error> {
        Ok(match open(url)? {
            Some((_, length)) => Probe::Found { length: Some(length) },
            None => Probe::NotThere { why: NO_FILE.to_owned() },
        })
    }

    /// Returns the file's bytes from the byte `from` on, with the statuses of HTTP.
    pub(in super::super) fn download(url: &Url, from: u64) -> Result<Download, Error> {
        let empty = |status| Download { status, length: None, range: None, body: Box::new(std::io::empty()) };
        let Some((mut file, length)) = open(url)? else { return Ok(empty(404)) };
        let Some(left) = length.checked_sub(from).filter(|left| *left > 0 || from == 0) else {
            return Ok(Download { range: Some(format!("bytes */{length}")), ..empty(416) });
        };
        file.seek(SeekFrom::Start(from)).map_err(|error| broken(url, error))?;
        let status = if from == 0 { 200 } else { 206 };
        let range = (from > 0).then(|| format!("bytes {from}-{}/{length}", length - 1));
        Ok(Download { status, length: Some(left), range, body: Box::new(file) })
    }
}

#[cfg(feature = "fetch")]
pub(super) use whole::{download, probe};
