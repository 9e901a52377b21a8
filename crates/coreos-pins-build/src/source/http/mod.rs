//! `http://` and `https://`: tries, redirects, and what each answer means.

use std::fmt;
use std::io::{ErrorKind, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use flate2::read::MultiGzDecoder;
use ureq::http::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, LOCATION,
    PROXY_AUTHORIZATION, RETRY_AFTER,
};
use ureq::http::{self, HeaderName, Response};
use ureq::{AsSendBody, Body};

use self::failure::{Failure, fault_of, seconds};
use self::proxy::Proxies;
use super::exchange::{Download, Method, Reply, Request};
use super::{Answer, Fetched, Limits, size};
use crate::Error;
use crate::settings::Network;
use crate::url::{Scheme, Url, User};

mod agent;
mod failure;
mod forward;
mod no_proxy;
mod proxy;
mod retry_after;
mod trust;

/// How much of a body is read at once.
const CHUNK: usize = 64 * 1024;

pub(super) struct Client {
    network: Network,
    limits: Limits,
    proxies: Lazy<Proxies>,
    /// With and without the certificates that https needs: reading those takes a while, and may fail.
    tls: Lazy<ureq::Agent>,
    plain: Lazy<ureq::Agent>,
}

impl Client {
    pub(super) fn new(network: Network, limits: Limits) -> Self {
        Self { network, limits, proxies: Lazy::default(), tls: Lazy::default(), plain: Lazy::default() }
    }

    /// Asks for a document. `room` is how many bytes it may have together with those that are fetched beside it.
    pub(super) fn get(&self, url: &Url, room: &AtomicU64) -> Result<Answer, Error> {
        let start = Instant::now();
        self.trying(start, || self.document(url, room, start)).map(|outcome| match outcome {
            Outcome::Done(answer) => answer,
            Outcome::GaveUp { status, tries } => Answer::NotThere { why: format!("{status} ({tries})") },
        })
    }

    /// Sends `request` until there is an answer that another try would not change.
    pub(super) fn exchange(&self, request: &Request<'_>) -> Result<Reply, Error> {
        let start = Instant::now();
        match self.trying(start, || self.reply(request, start))? {
            Outcome::Done(reply) => Ok(reply),
            Outcome::GaveUp { status, .. } => {
                Ok(Reply { status, headers: Vec::new(), body: Vec::new(), at: request.url.clone() })
            }
        }
    }

    /// Asks for the first byte of what is at `url`.
    pub(super) fn first_byte(&self, url: &Url) -> Result<Download, Error> {
        self.download(url, 0, Some(0))
    }

    /// Asks for the bytes from `from` on, to `last` where that is given, as they are stored. There is no limit but that
    /// something comes.
    pub(super) fn download(&self, url: &Url, from: u64, last: Option<u64>) -> Result<Download, Error> {
        let start = Instant::now();
        self.trying(start, || {
            let mut request = Request::new(Method::Get, url).header("Accept-Encoding", "identity");
            if from > 0 || last.is_some() {
                let last = last.map(|last| last.to_string()).unwrap_or_default();
                request = request.header("Range", format!("bytes={from}-{last}"));
            }
            let (response, at) = self.follow(&request, start, None)?;
            let status = response.status().as_u16();
            let header = |name: &str| {
                response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
            };
            if matches!(status, 429 | 500..=599) {
                return Err(self.not_now(url, &at, &response));
            }
            let length = header("content-length").and_then(|value| value.parse().ok());
            let range = header("content-range");
            let body = Box::new(response.into_body().into_reader());
            Ok(Download { status, length, range, body })
        })
        .and_then(|outcome| match outcome {
            Outcome::Done(download) => Ok(download),
            Outcome::GaveUp { status, tries } => {
                Err(self.failed(url, url, &format!("status {status} ({tries})")))
            }
        })
    }

    /// Tries until there is an answer, or another try would not help, or the limits are reached.
    fn trying<T>(
        &self,
        start: Instant,
        mut attempt: impl FnMut() -> Result<T, Failure>,
    ) -> Result<Outcome<T>, Error> {
        let mut pause = self.limits.pause;
        for tried in 1.. {
            let Failure { error, again, not_there } = match attempt() {
                Ok(answer) => return Ok(Outcome::Done(answer)),
                Err(failure) => failure,
            };
            let Some(after) = again else { return Err(error) };
            let wait = after.unwrap_or_default().max(pause);
            let tries = format!("{tried} {}", if tried == 1 { "try" } else { "tries" });
            let in_time = start.elapsed().checked_add(wait).is_some_and(|then| then < self.limits.total);
            if tried >= self.limits.tries || !in_time {
                if let Some(status) = not_there {
                    return Ok(Outcome::GaveUp { status, tries });
                }
                let asked = match after {
                    Some(after) if !in_time => {
                        format!(
                            "; the server asks to wait {}, the limit is {}",
                            seconds(after),
                            seconds(self.limits.total)
                        )
                    }
                    _ => String::new(),
                };
                return Err(error.note(format!("gave up after {tries}{asked}")));
            }
            thread::sleep(wait);
            pause = pause.saturating_mul(2);
        }
        unreachable!("the last try returns")
    }

    /// Asks for a document once.
    fn document(&self, url: &Url, room: &AtomicU64, start: Instant) -> Result<Answer, Failure> {
        let (response, at) = self.follow(&Request::new(Method::Get, url), start, Some(self.limits.total))?;
        match response.status().as_u16() {
            200 | 203 => {
                let content_type = header_of(&response, CONTENT_TYPE);
                let bytes = self.body(response, self.limits.body, room, url, &at)?;
                let redirected_to = (at != *url).then_some(at);
                Ok(Answer::Found(Fetched { bytes, content_type, redirected_to }))
            }
            403 | 404 | 410 => Ok(Answer::NotThere { why: response.status().as_u16().to_string() }),
            429 | 500..=599 => Err(self.not_now(url, &at, &response)),
            401 => Err(Failure::last(self.no_credentials(url, &at))),
            _ => Err(Failure::last(self.failed(url, &at, &unexpected(&response)))),
        }
    }

    /// Sends `request` once, and reads whatever is said.
    fn reply(&self, request: &Request<'_>, start: Instant) -> Result<Reply, Failure> {
        let (response, at) = self.follow(request, start, Some(self.limits.total))?;
        let status = response.status().as_u16();
        if matches!(status, 429 | 500..=599) {
            return Err(self.not_now(request.url, &at, &response));
        }
        let headers = response
            .headers()
            .iter()
            .filter_map(|(name, value)| Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned())));
        let headers = headers.collect();
        let body = match request.method {
            Method::Head => Vec::new(),
            _ => self.body(response, request.limit, &AtomicU64::new(request.limit), request.url, &at)?,
        };
        Ok(Reply { status, headers, body, at })
    }

    /// A server that asks to come again.
    fn not_now(&self, url: &Url, at: &Url, response: &Response<Body>) -> Failure {
        let status = response.status().as_u16();
        let after = header_of(response, RETRY_AFTER);
        let after = after.and_then(|value| retry_after::parse(&value, SystemTime::now()));
        Failure {
            error: self.failed(url, at, &unexpected(response)),
            again: Some(after),
            not_there: (status == 504).then_some(status),
        }
    }

    /// Sends `request`, and follows redirects, as far as they may be followed. Returns the last answer, and where it is
    /// from.
    fn follow(
        &self,
        request: &Request<'_>,
        start: Instant,
        total: Option<Duration>,
    ) -> Result<(Response<Body>, Url), Failure> {
        let url = request.url;
        let mut at = url.clone();
        for _ in 0..=self.limits.redirects {
            let response = self.send(request, &at, start, total)?;
            let status = response.status().as_u16();
            let failed = |what: String| Failure::last(self.failed(url, &at, &what));
            match status {
                301 | 302 | 303 | 307 | 308 if request.method.is_read() => {
                    let location = header_of(&response, LOCATION)
                        .ok_or_else(|| failed(format!("status {status}, a redirect, without `location`")))?;
                    at = at.redirect(&location).map_err(failed)?;
                }
                301 | 302 | 303 | 307 | 308 => {
                    return Err(failed(format!(
                        "status {status}: refused to be redirected with what is sent"
                    )));
                }
                407 => {
                    return Err(Failure::last(self.no_proxy_credentials(url, &at, &unexpected(&response))));
                }
                _ => return Ok((response, at)),
            }
        }
        let what = format!("redirected more than {} times", self.limits.redirects);
        Err(Failure::last(self.failed(url, &at, &what)))
    }

    /// Sends `request` to `at`, which its URL led to.
    fn send(
        &self,
        request: &Request<'_>,
        at: &Url,
        start: Instant,
        total: Option<Duration>,
    ) -> Result<Response<Body>, Failure> {
        let url = request.url;
        let proxy = self.proxies.get(|| Proxies::new(&self.network))?.for_url(at);
        let agent = if at.scheme() == Scheme::Https || proxy.is_some_and(|proxy| proxy.tls) {
            self.tls.get(|| Ok(agent::new(trust::roots(&self.network)?)))?
        } else {
            self.plain.get(|| Ok(agent::new(Vec::new())))?
        };
        let mut builder = http::Request::builder().method(request.method.as_str()).uri(at.public());
        if !request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(ACCEPT_ENCODING.as_str())) {
            builder = builder.header(ACCEPT_ENCODING, "gzip");
        }
        for (name, value) in &request.headers {
            builder = builder.header(*name, value);
        }
        if at.same_origin(url) {
            let authorization = url.user().map(User::basic).or(request.authorization.map(str::to_owned));
            builder = authorization
                .into_iter()
                .fold(builder, |builder, value| builder.header(AUTHORIZATION, value));
        }
        if let Some(authorization) = proxy.and_then(|proxy| proxy.authorization_for(at)) {
            builder = builder.header(PROXY_AUTHORIZATION, authorization);
        }
        let unsendable = |_| Failure::last(self.failed(url, at, "the request cannot be sent"));
        let left = total.map(|total| total.saturating_sub(start.elapsed()));
        let proxy = proxy.map(|proxy| proxy.inner.clone());
        let answer = if request.method.is_read() {
            agent.run(self.configured(agent, builder.body(()).map_err(unsendable)?, proxy, left))
        } else {
            agent.run(self.configured(agent, builder.body(request.body).map_err(unsendable)?, proxy, left))
        };
        answer.map_err(|error| self.broken(url, at, &error, ""))
    }

    /// Sets the limits of one request, of which `left` is what is left for all of it.
    fn configured<B: AsSendBody>(
        &self,
        agent: &ureq::Agent,
        request: http::Request<B>,
        proxy: Option<ureq::Proxy>,
        left: Option<Duration>,
    ) -> http::Request<B> {
        let connect = self.limits.connect.min(left.unwrap_or(self.limits.connect));
        agent
            .configure_request(request)
            .proxy(proxy)
            .timeout_global(left)
            .timeout_resolve(Some(connect))
            .timeout_connect(Some(connect))
            // What has no limit as a whole must still go on.
            .timeout_recv_response(Some(left.unwrap_or(self.limits.total)))
            .timeout_per_read(Some(left.unwrap_or(self.limits.total)))
            .build()
    }

    /// Reads the body, decompressed, and stops at `limit`.
    fn body(
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
        let is_gzip =
            header_of(&response, CONTENT_ENCODING).is_some_and(|value| value.eq_ignore_ascii_case("gzip"));
        let length = header_of(&response, CONTENT_LENGTH).and_then(|value| value.parse().ok());
        // Of a compressed body it says nothing that could be compared.
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
                    // What the decoder itself says is about the data, not the connection.
                    let is_damage = is_gzip && error.get_ref().is_none_or(|inner| !inner.is::<ureq::Error>());
                    if is_damage && matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::InvalidData) {
                        let what = format!("the gzip data is damaged{got}: {error}");
                        return Err(Failure {
                            again: Some(None),
                            ..Failure::last(self.failed(url, at, &what))
                        });
                    }
                    return Err(self.broken(url, at, &error.into(), &got));
                }
            }
        }
    }

    /// The exchange itself failed; `got` says how much of the body was there.
    fn broken(&self, url: &Url, at: &Url, error: &ureq::Error, got: &str) -> Failure {
        let fault = fault_of(error, got, &self.limits);
        let mut failed = self.failed(url, at, &fault.what);
        if fault.proxy_credentials {
            failed = self.no_proxy_credentials(url, at, &fault.what);
        }
        if fault.unknown_issuer {
            failed = failed.help(match &self.network.ssl_cert_file {
                Some(file) => format!(
                    "`{}`, which {} names, does not hold the authority that signed this certificate",
                    file.value.display(),
                    file.variable
                ),
                None => "if an authority of your own signed it, set SSL_CERT_FILE to a PEM file that holds that authority"
                    .to_owned(),
            });
        }
        Failure { error: failed, again: fault.again.then_some(None), not_there: None }
    }

    fn no_credentials(&self, url: &Url, at: &Url) -> Error {
        let error = self.failed(url, at, "status 401: it wants a user name and a password");
        match url.user() {
            None => error.help("put them into the URL, percent-encoded: `https://USER:PASSWORD@host/…`"),
            Some(_) if at.same_origin(url) => error.note("those in the URL were sent, and not accepted"),
            Some(_) => error.note("those in the URL are for another host, and were not sent"),
        }
    }

    fn no_proxy_credentials(&self, url: &Url, at: &Url, what: &str) -> Error {
        self.failed(url, at, what).help(
            "the proxy wants a user name and a password, percent-encoded: `http://USER:PASSWORD@proxy:3128`",
        )
    }

    /// Returns the error for `url`, which says where that led and through which proxy.
    fn failed(&self, url: &Url, at: &Url, what: &str) -> Error {
        let mut error = Error::no_answer(format!("failed to fetch `{url}`: {what}"));
        if at != url {
            error = error.note(format!("redirected to `{at}`"));
        }
        if let Some(proxy) = self.proxies.have().and_then(|proxies| proxies.for_url(at)) {
            error = error.note(format!("asked through the proxy `{}` of {}", proxy.shown, proxy.variable));
        }
        error
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("network", &self.network).field("limits", &self.limits).finish()
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

/// What came of some tries.
enum Outcome<T> {
    Done(T),
    /// Every try said so, and it means that nothing is there.
    GaveUp {
        status: u16,
        tries: String,
    },
}

fn header_of(response: &Response<Body>, name: HeaderName) -> Option<String> {
    response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

fn unexpected(response: &Response<Body>) -> String {
    format!("expected status 200, got {}", response.status())
}

/// A value that is made once, when it is first wanted; an error is not kept.
struct Lazy<T> {
    value: OnceLock<T>,
    making: Mutex<()>,
}

impl<T> Default for Lazy<T> {
    fn default() -> Self {
        Self { value: OnceLock::new(), making: Mutex::new(()) }
    }
}

impl<T> Lazy<T> {
    fn have(&self) -> Option<&T> {
        self.value.get()
    }

    fn get(&self, make: impl FnOnce() -> Result<T, Error>) -> Result<&T, Error> {
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        match self.value.get() {
            Some(value) => Ok(value),
            None => {
                let value = make()?;
                Ok(self.value.get_or_init(|| value))
            }
        }
    }
}
