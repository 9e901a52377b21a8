//! Documents: whole, decompressed, and of bounded size.

use std::io::Read;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::read::MultiGzDecoder;
use ureq::Body;
use ureq::http::Response;
use ureq::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};

use super::failure::Failure;
use super::tries::Tries;
use super::{Ask, CHUNK, Client, Reply, header};
use crate::Error;
use crate::source::{Answer, Fetched, size};
use crate::url::Url;

impl Client {
    /// Asks for a document. `room` is how many bytes it may have together with those that are fetched beside it.
    pub(in crate::source) fn get(&self, url: &Url, room: &AtomicU64) -> Result<Answer, Error> {
        let mut tries = Tries::new(&self.limits);
        loop {
            let ask = Ask { encoding: "gzip", total: Some(tries.left()), ..Ask::default() };
            let answer = self.follow(url, &ask).and_then(|reply| match reply {
                Reply::NotThere { why } => Ok(Answer::NotThere { why }),
                Reply::Found(response, at) => {
                    let content_type = header(&response, CONTENT_TYPE).map(str::to_owned);
                    let bytes = self.body(*response, self.limits.body, room, url, &at)?;
                    let redirected_to = (at != *url).then_some(at);
                    Ok(Answer::Found(Fetched { bytes, content_type, redirected_to }))
                }
            });
            match answer {
                Ok(answer) => return Ok(answer),
                Err(failure) => {
                    if let Some(why) = tries.again(failure)? {
                        return Ok(Answer::NotThere { why });
                    }
                }
            }
        }
    }

    /// Reads the body, and stops at `limit`, or where there is no `room` any more.
    pub(super) fn body(
        &self,
        response: Response<Body>,
        limit: u64,
        room: &AtomicU64,
        url: &Url,
        at: &Url,
    ) -> Result<Vec<u8>, Failure> {
        let too_large = |what: String| {
            let what = format!("expected at most {}, got {what}", size(limit));
            Failure::last(self.failed(url, at, &what))
        };
        let is_gzip = header(&response, CONTENT_ENCODING)
            .is_some_and(|encoding| matches!(encoding.trim(), "gzip" | "x-gzip"));
        let length = header(&response, CONTENT_LENGTH).and_then(|value| value.parse().ok());
        // What is compressed has another length than the document.
        let expected: Option<u64> = length.filter(|_| !is_gzip);
        if let Some(expected) = expected.filter(|&expected| expected > limit) {
            return Err(too_large(size(expected)));
        }
        let reader = response.into_body().into_reader();
        let mut reader: Box<dyn Read> =
            if is_gzip { Box::new(MultiGzDecoder::new(reader)) } else { Box::new(reader) };
        let mut bytes = Vec::new();
        let mut taken = Taken { room, bytes: 0 };
        let mut chunk = vec![0; CHUNK];
        loop {
            match reader.read(&mut chunk) {
                Ok(0) => {
                    taken.keep();
                    return Ok(bytes);
                }
                Ok(length) if (bytes.len() + length) as u64 > limit => {
                    return Err(too_large("more".to_owned()));
                }
                Ok(length) if !taken.take(length as u64) => {
                    return Err(too_large("more, with the documents beside it".to_owned()));
                }
                Ok(length) => {
                    // Not more than twice what is there, so that memory stays near what the limit says.
                    if bytes.capacity() - bytes.len() < length {
                        bytes.reserve_exact(bytes.len().max(CHUNK));
                    }
                    bytes.extend_from_slice(&chunk[..length]);
                }
                Err(error) => {
                    let got = match expected {
                        Some(expected) => format!(": expected {expected} bytes, got {}", bytes.len()),
                        None => format!(" after {} bytes", bytes.len()),
                    };
                    return Err(self.broken(url, at, &error.into(), &got));
                }
            }
        }
    }
}

/// Bytes of a body, taken from what all bodies together may have. They are given back unless they are kept.
struct Taken<'a> {
    room: &'a AtomicU64,
    bytes: u64,
}

impl Taken<'_> {
    fn take(&mut self, bytes: u64) -> bool {
        let left = |left: u64| left.checked_sub(bytes);
        let taken = self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left).is_ok();
        self.bytes += if taken { bytes } else { 0 };
        taken
    }

    fn keep(&mut self) {
        self.bytes = 0;
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.room.fetch_add(self.bytes, Ordering::Relaxed);
    }
}
