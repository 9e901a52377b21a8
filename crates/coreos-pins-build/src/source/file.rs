//! `file://`: a mirror, or one document, on this machine.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};

use super::{Answer, Fetched, size};
use crate::Error;
use crate::url::Url;

/// Reads the file that `url` names. Anything but a regular file is refused unopened: a pipe would never end.
pub(super) fn read(url: &Url, limit: u64) -> Result<Answer, Error> {
    let fault = |what: &str| Error::invalid(format!("failed to read `{url}`: {what}"));
    let path = url.file_path().ok_or_else(|| fault("its path is no UTF-8"))?;
    let metadata = match fs::metadata(&path) {
        Ok(metadata) => metadata,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Answer::NotThere { why: "no such file".to_owned() });
        }
        Err(error) => return Err(fault(&error.to_string()).caused_by(error)),
    };
    if metadata.is_dir() {
        return Err(fault("it is a folder"));
    }
    if !metadata.is_file() {
        return Err(fault("it is no regular file"));
    }
    let mut bytes = Vec::new();
    let read = File::open(&path).and_then(|file| file.take(limit.saturating_add(1)).read_to_end(&mut bytes));
    match read {
        Err(error) => Err(fault(&error.to_string()).caused_by(error)),
        Ok(length) if length as u64 > limit => Err(fault(&format!("it is larger than {}", size(limit)))),
        Ok(_) => Ok(Answer::Found(Fetched { bytes, content_type: None, redirected_to: None })),
    }
}
