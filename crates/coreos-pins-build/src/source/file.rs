//! `file://`: a mirror, or one document, on this machine.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Answer, Fetched, size};
use crate::Error;
use crate::url::Url;

/// Reads the file that `url` names, of at most `limit` bytes, which are taken from `room`.
pub(super) fn read(url: &Url, limit: u64, room: &AtomicU64) -> Result<Answer, Error> {
    let Some((file, _)) = open(url)? else { return Ok(Answer::NotThere { why: MISSING.to_owned() }) };
    let mut bytes = Vec::new();
    let limit = limit.min(room.load(Ordering::Relaxed));
    let length =
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| unread(url, error))?;
    let taken =
        room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(length as u64));
    match taken {
        Ok(_) if length as u64 <= limit => {
            Ok(Answer::Found(Fetched { bytes, content_type: None, redirected_to: None }))
        }
        _ => Err(fault(url, &format!("it is larger than {}", size(limit)))),
    }
}

/// Opens the file that `url` names, and returns its length, too. Anything but a regular file is refused unopened: a
/// pipe would never end.
pub(super) fn open(url: &Url) -> Result<Option<(File, u64)>, Error> {
    let path = url.file_path().ok_or_else(|| fault(url, "its path is no UTF-8"))?;
    let metadata = match fs::metadata(&path) {
        Ok(metadata) => metadata,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(unread(url, error)),
    };
    if metadata.is_dir() {
        return Err(fault(url, "it is a folder"));
    }
    if !metadata.is_file() {
        return Err(fault(url, "it is no regular file"));
    }
    match File::open(&path) {
        Ok(file) => Ok(Some((file, metadata.len()))),
        Err(error) => Err(unread(url, error)),
    }
}

/// How it is said that a file is not there.
pub(super) const MISSING: &str = "no such file";

pub(super) fn unread(url: &Url, error: io::Error) -> Error {
    fault(url, &error.to_string()).caused_by(error)
}

fn fault(url: &Url, what: &str) -> Error {
    Error::invalid(format!("failed to read `{url}`: {what}"))
}
