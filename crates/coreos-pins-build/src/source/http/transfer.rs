//! Files: asked after, or transferred as they are stored, from any offset and of any size.

use std::io::Read;

use ureq::Body;
use ureq::http::Response;
use ureq::http::header::{CONTENT_LENGTH, CONTENT_RANGE};

use super::failure::Failure;
use super::tries::Tries;
use super::{Ask, CHUNK, Client, Reply, Takes, header};
use crate::Error;
use crate::source::exchange::Method;
use crate::source::size;
use crate::source::transfer::{Download, Part, Probe, Sink};
use crate::url::Url;

impl Client {
    pub(in crate::source) fn probe(&self, url: &Url) -> Result<Probe, Error> {
        let mut tries = Tries::new(&self.limits);
        loop {
            let ask = Ask { total: Some(tries.left()), ..Ask::default() };
            match self.probe_once(url, ask) {
                Ok(probe) => return Ok(probe),
                Err(failure) => {
                    if let Some(why) = tries.again(failure)? {
                        return Ok(Probe::NotThere { why });
                    }
                }
            }
        }
    }

    /// Asks for the head; where the server does not let that pass, for the first byte.
    fn probe_once(&self, url: &Url, ask: Ask<'_>) -> Result<Probe, Failure> {
        // 403 is what storage says to a HEAD that its signed URLs do not cover.
        let head = Ask { method: Method::Head, takes: Takes::These(&[400, 403, 405, 501]), ..ask };
        match self.follow(url, &head)? {
            Reply::NotThere { why } => return Ok(Probe::NotThere { why }),
            Reply::Found(response, _) if response.status().is_success() => {
                return Ok(Probe::Found { length: content_length(&response) });
            }
            Reply::Found(..) => {}
        }
        let takes = Takes::These(&[206, 416]);
        let first = Ask { method: Method::Get, range: Some("bytes=0-0"), takes, ..head };
        match self.follow(url, &first)? {
            Reply::NotThere { why } => Ok(Probe::NotThere { why }),
            Reply::Found(response, _) if response.status() == 200 => {
                Ok(Probe::Found { length: content_length(&response) })
            }
            // 416: there is no first byte, and it says so of a length of 0.
            Reply::Found(response, _) => Ok(Probe::Found { length: content_range(&response).1 }),
        }
    }

    pub(in crate::source) fn download(
        &self,
        url: &Url,
        from: u64,
        sink: &mut Sink<'_>,
    ) -> Result<Download, Error> {
        let mut tries = Tries::new(&self.limits);
        let mut at = from;
        loop {
            let before = at;
            match self.transfer(url, &mut at, sink) {
                Ok(download) => return Ok(download),
                Err(failure) => {
                    tries.progressed(at.saturating_sub(before));
                    if let Some(why) = tries.again(failure)? {
                        return Ok(Download::NotThere { why });
                    }
                }
            }
        }
    }

    /// Gives `sink` the bytes from offset `at` on, and moves that along.
    fn transfer(&self, url: &Url, at: &mut u64, sink: &mut Sink<'_>) -> Result<Download, Failure> {
        let range = (*at > 0).then(|| format!("bytes={at}-"));
        let takes: &'static [u16] = if range.is_some() { &[206, 416] } else { &[] };
        let takes = Takes::These(takes);
        let ask = Ask { range: range.as_deref(), takes, ..Ask::default() };
        let (response, place) = match self.follow(url, &ask)? {
            Reply::NotThere { why } => return Ok(Download::NotThere { why }),
            Reply::Found(response, place) => (response, place),
        };
        let status = response.status().as_u16();
        let length = match (status, content_range(&response)) {
            (206, (Some(start), total)) if start == *at => {
                total.or_else(|| content_length(&response)?.checked_add(start))
            }
            (416, (None, Some(total))) if total == *at => {
                sink(Part::Start { at: *at, length: Some(total) })?;
                return Ok(Download::Done);
            }
            (206 | 416, _) => {
                let what = format!("asked for the bytes from {at} on, got status {status} and others");
                *at = 0;
                return Err(Failure { again: Some(None), ..Failure::last(self.failed(url, &place, &what)) });
            }
            _ => {
                *at = 0;
                content_length(&response)
            }
        };
        let limit = self.limits.file;
        let too_large = |what: &str| {
            let what = format!("expected at most {}, got {what}", size(limit));
            Failure::last(self.failed(url, &place, &what))
        };
        if let Some(length) = length.filter(|&length| length > limit) {
            return Err(too_large(&size(length)));
        }
        sink(Part::Start { at: *at, length })?;
        let of = length.map(|length| format!(" of {length}")).unwrap_or_default();
        let mut reader = response.into_body().into_reader();
        let mut chunk = vec![0; CHUNK];
        loop {
            match reader.read(&mut chunk) {
                Ok(0) => break,
                Ok(bytes) => {
                    sink(Part::Bytes(&chunk[..bytes]))?;
                    *at += bytes as u64;
                    if *at > limit {
                        return Err(too_large("more"));
                    }
                }
                Err(error) => {
                    return Err(self.broken(url, &place, &error.into(), &format!(" after {at}{of} bytes")));
                }
            }
        }
        if length.is_some_and(|length| length != *at) {
            let what = format!("the transfer ended after {at}{of} bytes");
            return Err(Failure { again: Some(None), ..Failure::last(self.failed(url, &place, &what)) });
        }
        Ok(Download::Done)
    }
}

fn content_length(response: &Response<Body>) -> Option<u64> {
    header(response, CONTENT_LENGTH)?.trim().parse().ok()
}

/// Reads `bytes 5-9/10` and `bytes */10`: where the bytes begin, and how many the file has.
fn content_range(response: &Response<Body>) -> (Option<u64>, Option<u64>) {
    let range = header(response, CONTENT_RANGE).and_then(|value| value.trim().strip_prefix("bytes "));
    let Some((span, total)) = range.and_then(|range| range.split_once('/')) else { return (None, None) };
    let start = span.split_once('-').and_then(|(start, _)| start.parse().ok());
    (start, total.parse().ok())
}
