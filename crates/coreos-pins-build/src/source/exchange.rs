//! Requests that are more than asking for a document: what registries and downloads need.

use super::Source;
use crate::Error;
use crate::url::{Scheme, Url};

/// What a request is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Ask for something.
    Get,
    /// Ask whether it is there.
    Head,
    /// Send something, for one answer.
    Post,
    /// Put something there. Sending it twice is the same as once.
    Put,
}

impl Method {
    /// Tells whether nothing is sent, so that redirects may be followed.
    pub(super) fn is_read(self) -> bool {
        matches!(self, Self::Get | Self::Head)
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
        }
    }
}

/// A request.
#[derive(Clone)]
pub struct Request<'a> {
    pub(super) method: Method,
    pub(super) url: &'a Url,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) authorization: Option<&'a str>,
    pub(super) body: &'a [u8],
    pub(super) limit: u64,
}

impl<'a> Request<'a> {
    /// Makes a request that sends nothing, whose answer may have 4 MiB.
    pub fn new(method: Method, url: &'a Url) -> Self {
        Self { method, url, headers: Vec::new(), authorization: None, body: &[], limit: 4 * 1024 * 1024 }
    }

    /// Adds a header, which goes wherever redirects lead: no secret belongs here.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Sets the `Authorization` header, which goes to the URL's own scheme, host and port, and nowhere else. A user in
    /// the URL is before it.
    #[must_use]
    pub fn authorization(mut self, value: Option<&'a str>) -> Self {
        self.authorization = value;
        self
    }

    /// Sets what is sent.
    #[must_use]
    pub fn body(mut self, body: &'a [u8]) -> Self {
        self.body = body;
        self
    }

    /// Sets how many bytes the answer may have, after decompression.
    #[must_use]
    pub fn limit(mut self, bytes: u64) -> Self {
        self.limit = bytes;
        self
    }
}

/// An answer, whatever its status: 429 and 5xx are tried again, and are errors in the end.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// All of it, decompressed; empty of a `HEAD`.
    pub body: Vec<u8>,
    /// Where it is from in the end.
    pub at: Url,
}

impl Reply {
    /// Returns the first header `name`, which is in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers_of(name).next()
    }

    /// Returns every header `name`, which is in lower case.
    pub fn headers_of(&self, name: &str) -> impl Iterator<Item = &str> {
        self.headers.iter().filter(move |(found, _)| found == name).map(|(_, value)| value.as_str())
    }
}

impl Source {
    /// Sends `request`. 429, 5xx and transfers that break off are tried again within the [`Limits`](super::Limits).
    ///
    /// # Errors
    ///
    /// No answer, or what may not be asked for, as [`get`](Self::get); a `file://` URL.
    pub fn exchange(&self, request: &Request<'_>) -> Result<Reply, Error> {
        self.check_usable(request.url)?;
        if request.url.scheme() == Scheme::File {
            return Err(Error::invalid(format!("`{}` is no http or https URL", request.url)));
        }
        self.http.exchange(request)
    }
}
