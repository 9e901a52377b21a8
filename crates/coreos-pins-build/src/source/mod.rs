//! Documents as bytes, from `file://` and, with feature `fetch`, from `http://` and `https://`; with that feature, large
//! files and other requests, too.
//!
//! Nothing else in this crate knows the network. A document that is not there is an [`Answer`], not an error: whether it
//! has to be there is for the caller to say.

use std::panic;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::Error;
use crate::settings::Network;
use crate::url::{Scheme, Url};

#[cfg(feature = "fetch")]
mod exchange;
mod file;
#[cfg(feature = "fetch")]
mod http;

#[cfg(feature = "fetch")]
mod transfer;

#[cfg(feature = "fetch")]
pub use exchange::{Method, Reply, Request};
#[cfg(feature = "fetch")]
pub use transfer::{Download, Part, Probe, Sink};

/// What came of asking for a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is there.
    Found(Fetched),
    /// It is not there, for certain.
    NotThere {
        /// How that was said: `404`, `no such file`.
        why: String,
    },
}

/// A document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// All of it, decompressed.
    pub bytes: Vec<u8>,
    /// What the server says it is: `text/html`.
    pub content_type: Option<String>,
    /// Where it was in the end, if that is elsewhere.
    pub redirected_to: Option<Url>,
}

/// What one document may cost, and a download.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// To find a server, connect, and agree on TLS.
    pub connect: Duration,
    /// For everything: all tries, and the pauses between them.
    pub total: Duration,
    /// Most bytes, after decompression.
    pub body: u64,
    /// Most tries.
    pub tries: u32,
    /// The pause after the first try; each further one is twice as long.
    pub pause: Duration,
    /// Most redirects in one try.
    pub redirects: u32,
    /// How long a download may go without a byte, before the transfer counts as broken.
    pub idle: Duration,
    /// Most bytes of a download.
    pub file: u64,
}

impl Default for Limits {
    /// 10 s to connect, 60 s in all, 64 MiB, 4 tries, pauses of 0.5, 1 and 2 s, 10 redirects; for a download 30 s
    /// without a byte, and 64 GiB.
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            total: Duration::from_secs(60),
            body: 64 * 1024 * 1024,
            tries: 4,
            pause: Duration::from_millis(500),
            redirects: 10,
            idle: Duration::from_secs(30),
            file: 64 * 1024 * 1024 * 1024,
        }
    }
}

/// Most documents that are asked for at the same time.
const SIDE_BY_SIDE: usize = 8;

/// Fetches documents. Threads may share it.
#[derive(Debug)]
pub struct Source {
    offline: bool,
    limits: Limits,
    #[cfg(feature = "fetch")]
    http: http::Client,
}

impl Source {
    /// Returns a source that uses the network as `network` says. Makes no request; what is wrong with a proxy or a
    /// certificate file is told by the first request that needs it.
    pub fn new(network: &Network) -> Self {
        Self::with_limits(network, Limits::default())
    }

    /// Does what [`new`](Self::new) does, with other limits.
    pub fn with_limits(network: &Network, limits: Limits) -> Self {
        Self {
            offline: network.offline,
            #[cfg(feature = "fetch")]
            http: http::Client::new(network.clone(), limits.clone()),
            limits,
        }
    }

    /// Fetches the document at `url`.
    ///
    /// 404, 403 and 410, and 504 when every try said so, are [`Answer::NotThere`]. 429, other 5xx and transfers that
    /// break off are tried again within the [`Limits`].
    ///
    /// # Errors
    ///
    /// A server that gives no answer, or none that can be used; a file that cannot be read; a URL that needs the network
    /// where it may not be used. Each names the URL, without secrets.
    pub fn get(&self, url: &Url) -> Result<Answer, Error> {
        self.get_within(url, &AtomicU64::new(self.limits.body))
    }

    /// Fetches a document that may have `room` together with those that are fetched beside it.
    fn get_within(&self, url: &Url, room: &AtomicU64) -> Result<Answer, Error> {
        self.check_usable(url)?;
        match url.scheme() {
            Scheme::File => file::read(url, self.limits.body, room),
            #[cfg(feature = "fetch")]
            Scheme::Http | Scheme::Https => self.http.get(url, room),
            #[cfg(not(feature = "fetch"))]
            Scheme::Http | Scheme::Https => {
                Err(Error::no_answer(format!("`{url}` needs the network, and feature `fetch` is off"))
                    .help("turn on feature `fetch` of `coreos-pins`, for pins of your own that of `coreos-pins-build`; or use a `file://` URL"))
            }
        }
    }

    fn check_usable(&self, url: &Url) -> Result<(), Error> {
        if url.scheme() != Scheme::File && self.offline {
            return Err(Error::no_answer(format!(
                "`{url}` needs the network, and CARGO_NET_OFFLINE forbids it"
            ))
            .help("unset CARGO_NET_OFFLINE, or use a `file://` URL"));
        }
        Ok(())
    }

    /// Fetches several documents side by side. The answers are in the order of `urls`; all together they may be as long
    /// as one.
    pub fn get_all(&self, urls: &[Url]) -> Vec<Result<Answer, Error>> {
        let next = AtomicUsize::new(0);
        let room = AtomicU64::new(self.limits.body);
        let work = || {
            let mut done = Vec::new();
            while let Some((index, url)) = {
                let index = next.fetch_add(1, Ordering::Relaxed);
                urls.get(index).map(|url| (index, url))
            } {
                done.push((index, self.get_within(url, &room)));
            }
            done
        };
        let mut answers = thread::scope(|scope| {
            let threads: Vec<_> = (0..urls.len().min(SIDE_BY_SIDE)).map(|_| scope.spawn(work)).collect();
            let join = |thread: thread::ScopedJoinHandle<'_, _>| match thread.join() {
                Ok(done) => done,
                Err(panic) => panic::resume_unwind(panic),
            };
            threads.into_iter().flat_map(join).collect::<Vec<_>>()
        });
        answers.sort_by_key(|(index, _)| *index);
        answers.into_iter().map(|(_, answer)| answer).collect()
    }
}

/// Returns `64 MiB` for an error.
fn size(bytes: u64) -> String {
    const MIB: u64 = 1024 * 1024;
    if bytes >= MIB && bytes.is_multiple_of(MIB) {
        format!("{} MiB", bytes / MIB)
    } else {
        format!("{bytes} bytes")
    }
}
