//! `http://` and `https://`: requests, redirects, and what each status means.

use std::fmt;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use ureq::http::header::{ACCEPT_ENCODING, AUTHORIZATION, LOCATION, PROXY_AUTHORIZATION, RANGE, RETRY_AFTER};
use ureq::http::{self, HeaderName, Response};
use ureq::{AsSendBody, Body};

use self::failure::{Failure, fault_of};
use self::proxy::Proxies;
use super::Limits;
use super::exchange::Method;
use crate::Error;
use crate::settings::Network;
use crate::url::{Scheme, Url, User};

mod agent;
mod document;
mod exchange;
mod failure;
mod forward;
mod no_proxy;
mod proxy;
mod retry_after;
mod transfer;
mod tries;
mod trust;

/// How much of a body is read at once.
const CHUNK: usize = 64 * 1024;

/// For the bytes as they are stored.
const IDENTITY: &str = "identity";

pub(super) struct Client {
    network: Network,
    limits: Limits,
    proxies: Lazy<Proxies>,
    /// With and without the certificates that https needs: reading those takes a while, and may fail.
    tls: Lazy<ureq::Agent>,
    plain: Lazy<ureq::Agent>,
}

/// How a request is put.
#[derive(Clone, Copy)]
struct Ask<'a> {
    method: Method,
    headers: &'a [(&'static str, String)],
    /// For the URL's own origin only.
    authorization: Option<&'a str>,
    body: &'a [u8],
    range: Option<&'a str>,
    encoding: &'static str,
    takes: Takes,
    /// How long all of it may take. `None`: as long as bytes keep coming.
    total: Option<Duration>,
}

impl Default for Ask<'_> {
    /// A `GET`.
    fn default() -> Self {
        Self {
            method: Method::Get,
            headers: &[],
            authorization: None,
            body: &[],
            range: None,
            encoding: IDENTITY,
            takes: Takes::These(&[]),
            total: None,
        }
    }
}

/// The statuses that the caller reads itself.
#[derive(Clone, Copy)]
enum Takes {
    /// Success, and these.
    These(&'static [u16]),
    /// All but those that ask to come again.
    All,
}

impl Takes {
    fn these(&self) -> &'static [u16] {
        match self {
            Self::These(statuses) => statuses,
            Self::All => &[],
        }
    }
}

/// What a server said in the end.
enum Reply {
    /// The answer, its body still to be read, and where it came from.
    Found(Box<Response<Body>>, Url),
    NotThere {
        why: String,
    },
}

impl Client {
    pub(super) fn new(network: Network, limits: Limits) -> Self {
        Self { network, limits, proxies: Lazy::default(), tls: Lazy::default(), plain: Lazy::default() }
    }

    /// Asks once, following redirects.
    fn follow(&self, url: &Url, ask: &Ask<'_>) -> Result<Reply, Failure> {
        let mut at = url.clone();
        for _ in 0..=self.limits.redirects {
            let response = self.send(url, &at, ask)?;
            let failed = |what: String| Failure::last(self.failed(url, &at, &what));
            let status = response.status().as_u16();
            match status {
                200 | 203 => return Ok(Reply::Found(Box::new(response), at)),
                _ if ask.takes.these().contains(&status) => return Ok(Reply::Found(Box::new(response), at)),
                301 | 302 | 303 | 307 | 308 if !ask.method.is_read() => {
                    return Err(failed(format!(
                        "status {status}: refused to be redirected with what is sent"
                    )));
                }
                301 | 302 | 303 | 307 | 308 => {
                    let location = header(&response, LOCATION)
                        .ok_or_else(|| failed(format!("status {status}, a redirect, without `location`")))?;
                    at = at.redirect(location).map_err(failed)?;
                }
                429 | 500..=599 => {
                    let after = header(&response, RETRY_AFTER)
                        .and_then(|value| retry_after::parse(value, SystemTime::now()));
                    return Err(Failure {
                        error: self.failed(url, &at, &unexpected(&response)),
                        again: Some(after),
                        not_there: (status == 504).then_some(status),
                    });
                }
                407 => {
                    return Err(Failure::last(self.no_proxy_credentials(url, &at, &unexpected(&response))));
                }
                _ if matches!(ask.takes, Takes::All) => return Ok(Reply::Found(Box::new(response), at)),
                403 | 404 | 410 => return Ok(Reply::NotThere { why: status.to_string() }),
                401 => return Err(Failure::last(self.no_credentials(url, &at))),
                _ => return Err(failed(unexpected(&response))),
            }
        }
        let what = format!("redirected more than {} times", self.limits.redirects);
        Err(Failure::last(self.failed(url, &at, &what)))
    }

    /// Sends the request for `at`, which `url` led to.
    fn send(&self, url: &Url, at: &Url, ask: &Ask<'_>) -> Result<Response<Body>, Failure> {
        let proxy = self.proxies.get(|| Proxies::new(&self.network))?.for_url(at);
        let agent = if at.scheme() == Scheme::Https || proxy.is_some_and(|proxy| proxy.tls) {
            self.tls.get(|| Ok(agent::new(trust::roots(&self.network)?)))?
        } else {
            self.plain.get(|| Ok(agent::new(Vec::new())))?
        };
        let mut request = http::Request::builder()
            .method(ask.method.as_str())
            .uri(at.public())
            .header(ACCEPT_ENCODING, ask.encoding);
        for (name, value) in ask.headers {
            request = request.header(*name, value);
        }
        if let Some(range) = ask.range {
            request = request.header(RANGE, range);
        }
        if at.same_origin(url) {
            let authorization = url.user().map(User::basic).or(ask.authorization.map(str::to_owned));
            request = authorization
                .into_iter()
                .fold(request, |request, value| request.header(AUTHORIZATION, value));
        }
        if let Some(authorization) = proxy.and_then(|proxy| proxy.authorization_for(at)) {
            request = request.header(PROXY_AUTHORIZATION, authorization);
        }
        let unsendable = |_| Failure::last(self.failed(url, at, "the request cannot be sent"));
        let proxy = proxy.map(|proxy| proxy.inner.clone());
        let answer = if ask.method.is_read() {
            agent.run(self.limited(agent, request.body(()).map_err(unsendable)?, proxy, ask.total))
        } else {
            agent.run(self.limited(agent, request.body(ask.body).map_err(unsendable)?, proxy, ask.total))
        };
        answer.map_err(|error| self.broken(url, at, &error, ""))
    }

    /// Sets how long `request` may take: `total`, or as long as bytes keep coming.
    fn limited<B: AsSendBody>(
        &self,
        agent: &ureq::Agent,
        request: http::Request<B>,
        proxy: Option<ureq::Proxy>,
        total: Option<Duration>,
    ) -> http::Request<B> {
        let connect = total.map_or(self.limits.connect, |left| left.min(self.limits.connect));
        agent
            .configure_request(request)
            .proxy(proxy)
            .timeout_global(total)
            .timeout_resolve(Some(connect))
            .timeout_connect(Some(connect))
            .timeout_recv_response(Some(self.limits.total))
            .timeout_per_read(total.is_none().then_some(self.limits.idle))
            .build()
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

fn header(response: &Response<Body>, name: HeaderName) -> Option<&str> {
    response.headers().get(name).and_then(|value| value.to_str().ok())
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
