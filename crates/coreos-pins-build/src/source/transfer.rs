//! Files that are too large to be held: whether they are there, and their bytes as they are stored.

use std::io::{Read, Seek, SeekFrom};

use super::{Source, file};
use crate::Error;
use crate::url::{Scheme, Url};

/// What came of asking after a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Probe {
    /// It is there.
    Found {
        /// How many bytes it has as stored, where that is said.
        length: Option<u64>,
    },
    /// It is not there, for certain.
    NotThere {
        /// How that was said: `404`, `no such file`.
        why: String,
    },
}

/// What came of a download.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Download {
    /// All bytes were given to the sink.
    Done,
    /// The file is not there, for certain. The sink was given nothing, or what came before the server said so.
    NotThere {
        /// How that was said: `404`, `no such file`.
        why: String,
    },
}

/// A part of a download.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// The bytes that follow begin at an offset in the file, and what the sink has from there on is void. Comes first,
    /// and again whenever a transfer that broke was taken up: at the end of what came, or at 0 where the server cannot
    /// continue.
    Start {
        /// The offset.
        at: u64,
        /// How many bytes the whole file has, where that is said.
        length: Option<u64>,
    },
    /// Bytes.
    Bytes(&'a [u8]),
}

/// What takes a download. An error of it ends the download.
pub type Sink<'a> = dyn FnMut(Part<'_>) -> Result<(), Error> + 'a;

const CHUNK: usize = 64 * 1024;

impl Source {
    /// Asks whether a file is at `url`, without reading it: by a `HEAD`, or by a `GET` of one byte where the server does
    /// not let that pass.
    ///
    /// 404, 403 and 410, and 504 when every try said so, are [`Probe::NotThere`].
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    pub fn probe(&self, url: &Url) -> Result<Probe, Error> {
        self.check_usable(url)?;
        if url.scheme() != Scheme::File {
            return self.http.probe(url);
        }
        Ok(match file::open(url)? {
            Some((_, length)) => Probe::Found { length: Some(length) },
            None => Probe::NotThere { why: file::MISSING.to_owned() },
        })
    }

    /// Gives `sink` the bytes of the file at `url` from the offset `from` on, as they are stored: nothing is
    /// decompressed.
    ///
    /// A transfer that breaks, or that brings no byte for the [`Limits`](super::Limits)' `idle`, is taken up where it
    /// stopped. That it all fits together is for the caller to check, by a checksum. There is no limit on the time that
    /// all of it takes.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get), and the errors of `sink`.
    pub fn download(&self, url: &Url, from: u64, sink: &mut Sink<'_>) -> Result<Download, Error> {
        self.check_usable(url)?;
        if url.scheme() != Scheme::File {
            return self.http.download(url, from, sink);
        }
        let Some((mut file, length)) = file::open(url)? else {
            return Ok(Download::NotThere { why: file::MISSING.to_owned() });
        };
        let at = if from <= length { from } else { 0 };
        let failed = |error| file::unread(url, error);
        file.seek(SeekFrom::Start(at)).map_err(failed)?;
        sink(Part::Start { at, length: Some(length) })?;
        let mut chunk = vec![0; CHUNK];
        loop {
            match file.read(&mut chunk).map_err(failed)? {
                0 => return Ok(Download::Done),
                bytes => sink(Part::Bytes(&chunk[..bytes]))?,
            }
        }
    }
}
