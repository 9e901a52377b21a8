//! `http://` and `https://`: tries, redirects, and what each answer means.

use std::fmt;
use std::io::Read;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Instant, SystemTime};

use ureq::Body;
use ureq::http::header::{
    AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, LOCATION, PROXY_AUTHORIZATION, RETRY_AFTER,
};
use ureq::http::{HeaderName, Response};

use self::failure::{Failure, fault_of, seconds};
use self::proxy::Proxies;
use super::{Answer, Fetched, Limits, size};
use crate::Error;
use crate::settings::Network;
use crate::url::{Scheme, Url};

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

    pub(super) fn get(&self, url: &Url) -> Result<Answer, Error> {
        let start = Instant::now();
        let mut pause = self.limits.pause;
        for tried in 1.. {
            let Failure { error, again, not_there } = match self.attempt(url, start) {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            let Some(after) = again else { return Err(error) };
            let wait = after.unwrap_or_default().max(pause);
            let tries = format!("{tried} {}", if tried == 1 { "try" } else { "tries" });
            let in_time = start.elapsed().checked_add(wait).is_some_and(|then| then < self.limits.total);
            if tried >= self.limits.tries || !in_time {
                if let Some(status) = not_there {
                    return Ok(Answer::NotThere { why: format!("{status} ({tries})") });
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

    /// Asks once, following redirects.
    fn attempt(&self, url: &Url, start: Instant) -> Result<Answer, Failure> {
        let mut at = url.clone();
        for _ in 0..=self.limits.redirects {
            let response = self.send(url, &at, start)?;
            let header =
                |name: HeaderName| response.headers().get(name).and_then(|value| value.to_str().ok());
            let failed = |what: String| Failure::last(self.failed(url, &at, &what));
            let status = response.status().as_u16();
            match status {
                200 | 203 => {
                    let content_type = header(CONTENT_TYPE).map(str::to_owned);
                    let expected = header(CONTENT_LENGTH).and_then(|value| value.parse().ok());
                    let bytes = self.body(response, expected, url, &at)?;
                    let redirected_to = (at != *url).then_some(at);
                    return Ok(Answer::Found(Fetched { bytes, content_type, redirected_to }));
                }
                301 | 302 | 303 | 307 | 308 => {
                    let location = header(LOCATION)
                        .ok_or_else(|| failed(format!("status {status}, a redirect, without `location`")))?;
                    at = at.redirect(location).map_err(failed)?;
                }
                403 | 404 | 410 => return Ok(Answer::NotThere { why: status.to_string() }),
                429 | 500..=599 => {
                    let after =
                        header(RETRY_AFTER).and_then(|value| retry_after::parse(value, SystemTime::now()));
                    return Err(Failure {
                        error: self.failed(url, &at, &unexpected(&response)),
                        again: Some(after),
                        not_there: (status == 504).then_some(status),
                    });
                }
                401 => return Err(Failure::last(self.no_credentials(url, &at))),
                407 => {
                    return Err(Failure::last(self.no_proxy_credentials(url, &at, &unexpected(&response))));
                }
                _ => return Err(failed(unexpected(&response))),
            }
        }
        let what = format!("redirected more than {} times", self.limits.redirects);
        Err(Failure::last(self.failed(url, &at, &what)))
    }

    /// Sends the request for `at`, which `url` led to.
    fn send(&self, url: &Url, at: &Url, start: Instant) -> Result<Response<Body>, Failure> {
        let proxy = self.proxies.get(|| Proxies::new(&self.network))?.for_url(at);
        let agent = if at.scheme() == Scheme::Https || proxy.is_some_and(|proxy| proxy.tls) {
            self.tls.get(|| Ok(agent::new(trust::roots(&self.network)?)))?
        } else {
            self.plain.get(|| Ok(agent::new(Vec::new())))?
        };
        let left = self.limits.total.saturating_sub(start.elapsed());
        let mut request = agent
            .get(at.public())
            .config()
            .proxy(proxy.map(|proxy| proxy.inner.clone()))
            .timeout_global(Some(left))
            .timeout_resolve(Some(self.limits.connect.min(left)))
            .timeout_connect(Some(self.limits.connect.min(left)))
            .build();
        if let Some(user) = url.user().filter(|_| at.same_origin(url)) {
            request = request.header(AUTHORIZATION, user.basic());
        }
        if let Some(authorization) = proxy.and_then(|proxy| proxy.authorization_for(at)) {
            request = request.header(PROXY_AUTHORIZATION, authorization);
        }
        request.call().map_err(|error| self.broken(url, at, &error, ""))
    }

    /// Reads the body, and stops at the limit.
    fn body(
        &self,
        response: Response<Body>,
        expected: Option<u64>,
        url: &Url,
        at: &Url,
    ) -> Result<Vec<u8>, Failure> {
        let limit = self.limits.body;
        let too_large = |what: String| {
            let what = format!("expected at most {}, got {what}", size(limit));
            Failure::last(self.failed(url, at, &what))
        };
        if let Some(expected) = expected.filter(|&expected| expected > limit) {
            return Err(too_large(size(expected)));
        }
        let mut reader = response.into_body().into_reader();
        let mut bytes = Vec::new();
        let mut chunk = vec![0; CHUNK];
        loop {
            match reader.read(&mut chunk) {
                Ok(0) => return Ok(bytes),
                Ok(length) if (bytes.len() + length) as u64 > limit => {
                    return Err(too_large("more".to_owned()));
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
