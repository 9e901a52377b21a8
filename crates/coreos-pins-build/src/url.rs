//! URLs: what is asked for, and what of it may be shown.

use std::fmt;
use std::net::Ipv6Addr;
use std::path::PathBuf;

use crate::Error;

/// Where a document is.
///
/// `Display` and `Debug` show no user name, password or query: messages end up in logs. [`public`](Self::public) is for
/// what is kept.
#[derive(Clone, PartialEq, Eq)]
pub struct Url {
    scheme: Scheme,
    user: Option<User>,
    /// Lower case; an IPv6 address in its brackets; empty for a file.
    host: String,
    port: Option<u16>,
    /// Empty, or begins with `/`. Only characters that a request may hold.
    path: String,
    query: Option<String>,
}

/// How a URL is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// `file://`
    File,
    /// `http://`
    Http,
    /// `https://`
    Https,
}

impl Scheme {
    fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Http => "http",
            Self::Https => "https",
        }
    }
}

/// A user name and password, decoded. Without `Debug`, so that nothing prints them.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct User {
    pub(crate) name: String,
    pub(crate) password: Option<String>,
}

/// Says why a text is no URL, without any part of it: it may be a password.
type Reason = &'static str;

const NO_HOST: Reason = "no host name that can be used";
const NO_PORT: Reason = "expected a port from 1 to 65535";

impl Url {
    /// Reads an `http://`, `https://` or `file://` URL. A `#fragment` is dropped: it is never sent.
    ///
    /// # Errors
    ///
    /// Anything else; the error shows `text` without secrets.
    pub fn parse(text: &str) -> Result<Self, Error> {
        Self::parse_parts(text).map_err(|reason| unusable("", text, reason))
    }

    fn parse_parts(text: &str) -> Result<Self, Reason> {
        let scheme = |name: &str| {
            let known = [Scheme::File, Scheme::Http, Scheme::Https];
            known.into_iter().find(|scheme| name.eq_ignore_ascii_case(scheme.as_str()))
        };
        let (scheme, rest) = text
            .split_once("://")
            .and_then(|(name, rest)| Some((scheme(name)?, rest)))
            .ok_or("expected `https://…`, `http://…` or `file:///…`")?;
        let (authority, tail) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let (path, query) = split_tail(tail);
        let mut url = Self { scheme, user: None, host: String::new(), port: None, path, query };
        if scheme == Scheme::File {
            if !authority.is_empty() && !authority.eq_ignore_ascii_case("localhost") {
                return Err("a `file://` URL names a file of this machine: `file:///path`");
            }
            if !url.path.starts_with('/') || url.query.is_some() {
                return Err("expected `file:///path`");
            }
        } else {
            (Authority { user: url.user, host: url.host, port: url.port }) = Authority::parse(authority)?;
        }
        Ok(url)
    }

    /// Returns the URL without user name and password: for constants, pins and requests.
    pub fn public(&self) -> String {
        let query = self.query.as_ref().map(|query| format!("?{query}")).unwrap_or_default();
        format!("{}{}{query}", self.origin(), self.path)
    }

    /// Returns `https://host:port`, the port only where it was given.
    pub(crate) fn origin(&self) -> String {
        format!("{}://{}", self.scheme.as_str(), host_and_port(&self.host, self.port))
    }

    /// Returns the scheme.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Returns the host: lower case, an IPv6 address in brackets; empty for a file.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the port that is connected to.
    #[cfg(feature = "fetch")]
    pub(crate) fn port(&self) -> u16 {
        self.port.unwrap_or(if self.scheme == Scheme::Https { 443 } else { 80 })
    }

    #[cfg(feature = "fetch")]
    pub(crate) fn user(&self) -> Option<&User> {
        self.user.as_ref()
    }

    /// Tells whether `other` is at the same scheme, host and port: whether it may see the same password.
    #[cfg(feature = "fetch")]
    pub(crate) fn same_origin(&self, other: &Self) -> bool {
        (self.scheme, &self.host, self.port()) == (other.scheme, &other.host, other.port())
    }

    /// Returns where a redirect from here to `location` leads: to http or https only, never from https to http. A user
    /// name and password in `location` are dropped: nobody gave them to us.
    #[cfg(feature = "fetch")]
    pub(crate) fn redirect(&self, location: &str) -> Result<Self, String> {
        let shown = mask(location);
        let mut next = if let Some(rest) = location.strip_prefix("//") {
            Self::parse_parts(&format!("{}://{rest}", self.scheme.as_str()))
        } else if has_scheme(location) {
            Self::parse_parts(location)
        } else {
            let base = match location.chars().next() {
                Some('/') => "",
                Some('?') | None => &self.path,
                _ => &self.path[..=self.path.rfind('/').unwrap_or(0)],
            };
            let (path, query) = split_tail(&format!("{base}{location}"));
            Ok(Self { path, query, ..self.clone() })
        }
        .map_err(|reason| format!("redirected to `{shown}`: {reason}"))?;
        next.user = None;
        match (self.scheme, next.scheme) {
            (_, Scheme::File) => Err(format!("refused to be redirected to `{shown}`: no http or https")),
            (Scheme::Https, Scheme::Http) => {
                Err(format!("refused to be redirected from https to http: `{shown}`"))
            }
            _ => Ok(next),
        }
    }

    /// Returns the file that a `file://` URL names.
    pub(crate) fn file_path(&self) -> Option<PathBuf> {
        let path = percent_decode(&self.path);
        #[cfg(unix)]
        {
            use std::os::unix::ffi::OsStringExt;
            Some(std::ffi::OsString::from_vec(path).into())
        }
        #[cfg(not(unix))]
        {
            // `/C:/mirror`
            let path = String::from_utf8(path).ok()?;
            let drive = path.as_bytes().get(2) == Some(&b':');
            Some(PathBuf::from(if drive { &path[1..] } else { &path }))
        }
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let user = if self.user.is_some() { "***@" } else { "" };
        let query = if self.query.is_some() { "?***" } else { "" };
        let host = host_and_port(&self.host, self.port);
        write!(f, "{}://{user}{host}{}{query}", self.scheme.as_str(), self.path)
    }
}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Where a channel's documents are: what `BASE_URL` and `base-url` hold. Or one document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base(Url);

impl Base {
    /// Reads `text`; slashes at its end make no difference. `place` is how errors name where it comes from: `BASE_URL`.
    ///
    /// # Errors
    ///
    /// What is no URL, has a query or a fragment, or a path with `.` or `..` in it.
    pub fn parse(place: &str, text: &str) -> Result<Self, Error> {
        let fault = |reason| unusable(&format!("{place}: "), text, reason);
        let mut url = Url::parse_parts(text).map_err(fault)?;
        if url.query.is_some() || text.contains('#') {
            return Err(fault("a `?query` or `#fragment` cannot be part of it"));
        }
        url.path.truncate(url.path.trim_end_matches('/').len());
        let dots = |segment| matches!(percent_decode(segment).as_slice(), b"." | b"..");
        if url.path.split('/').any(dots) {
            return Err(fault("`.` and `..` cannot be part of its path"));
        }
        Ok(Self(url))
    }

    /// Returns the URL of `segments` below this base. A `/` inside a segment separates, as in a channel's name.
    ///
    /// # Errors
    ///
    /// A segment that is empty, `.` or `..`, or holds a backslash: it would lead elsewhere.
    pub fn join(&self, segments: &[&str]) -> Result<Url, Error> {
        let mut url = self.0.clone();
        for segment in segments.iter().flat_map(|segment| segment.split('/')) {
            if matches!(segment, "" | "." | "..") || segment.contains('\\') {
                return Err(Error::invalid(format!(
                    "`{}` cannot be part of a URL: `{segment}` would lead elsewhere",
                    segments.join("/")
                )));
            }
            url.path.push('/');
            percent_encode(&mut url.path, segment, |byte| {
                byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
            });
        }
        Ok(url)
    }

    /// Tells whether this is the URL of one document, not of a folder of them.
    pub fn is_document(&self) -> bool {
        self.0.path.ends_with(".json")
    }

    /// Returns the URL itself.
    pub fn url(&self) -> &Url {
        &self.0
    }

    /// Returns the base without user name and password: for constants and pins.
    pub fn public(&self) -> String {
        self.0.public()
    }
}

impl fmt::Display for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// `user:password@host:port`, in parts.
pub(crate) struct Authority {
    pub(crate) user: Option<User>,
    pub(crate) host: String,
    pub(crate) port: Option<u16>,
}

impl Authority {
    pub(crate) fn parse(text: &str) -> Result<Self, Reason> {
        let (user, host_and_port) = match text.rsplit_once('@') {
            Some((user, rest)) => (User::parse(user)?, rest),
            None => (None, text),
        };
        let (host, port) = match host_and_port.rsplit_once(':') {
            // Inside an IPv6 address.
            Some((_, port)) if port.contains(']') => (host_and_port, ""),
            Some((host, port)) => (host, port),
            None => (host_and_port, ""),
        };
        let port = match port {
            "" => None,
            _ => Some(port.parse().ok().filter(|&port| port != 0).ok_or(NO_PORT)?),
        };
        let is_address = |host: &str| {
            let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
            inner.is_some_and(|inner| inner.parse::<Ipv6Addr>().is_ok())
        };
        let is_name = |host: &str| {
            !host.is_empty() && host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b))
        };
        if !is_address(host) && !is_name(host) {
            return Err(NO_HOST);
        }
        Ok(Self { user, host: host.to_ascii_lowercase(), port })
    }
}

impl User {
    fn parse(text: &str) -> Result<Option<Self>, Reason> {
        if text.is_empty() {
            return Ok(None);
        }
        let decode = |text| {
            let text = String::from_utf8(percent_decode(text)).ok();
            text.filter(|text| !text.chars().any(char::is_control))
                .ok_or("a user name or password that is no text")
        };
        let (name, password) = match text.split_once(':') {
            Some((name, password)) => (name, Some(password)),
            None => (text, None),
        };
        Ok(Some(Self { name: decode(name)?, password: password.map(decode).transpose()? }))
    }

    /// Returns the value of an `Authorization` header.
    #[cfg(feature = "fetch")]
    pub(crate) fn basic(&self) -> String {
        use base64::Engine;
        let pair = format!("{}:{}", self.name, self.password.as_deref().unwrap_or_default());
        format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(pair))
    }
}

fn unusable(prefix: &str, text: &str, reason: Reason) -> Error {
    let error = Error::invalid(format!("{prefix}`{}` is no URL for documents: {reason}", mask(text)));
    if matches!(reason, NO_HOST | NO_PORT) && text.contains('@') {
        return error.help("in a user name or password, write `/ ? # @ :` as `%2F %3F %23 %40 %3A`");
    }
    error
}

fn host_and_port(host: &str, port: Option<u16>) -> String {
    match port {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

#[cfg(feature = "fetch")]
fn has_scheme(text: &str) -> bool {
    let scheme = text.split_once(':').map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
    })
}

/// Splits what follows the host into path and query, spelled so that they can be sent; a fragment is dropped.
fn split_tail(tail: &str) -> (String, Option<String>) {
    let tail = tail.split('#').next().unwrap_or_default();
    let (path, query) = match tail.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (tail, None),
    };
    (sendable(path), query.map(sendable))
}

/// Encodes what a request cannot hold, and leaves alone what is encoded already.
fn sendable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let valid = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?".contains(&byte);
    for (index, part) in text.split('%').enumerate() {
        if index > 0 {
            let encoded = part.as_bytes().get(..2).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit));
            out.push_str(if encoded { "%" } else { "%25" });
        }
        percent_encode(&mut out, part, valid);
    }
    out
}

fn percent_encode(out: &mut String, text: &str, plain: impl Fn(u8) -> bool) {
    for byte in text.bytes() {
        if plain(byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
}

fn percent_decode(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let hex = |index: usize| after.get(index).and_then(|&digit| char::from(digit).to_digit(16));
        match (first, hex(0), hex(1)) {
            (b'%', Some(high), Some(low)) => {
                out.push(u8::try_from(high * 16 + low).unwrap_or_default());
                rest = &after[2..];
            }
            _ => {
                out.push(first);
                rest = after;
            }
        }
    }
    out
}

/// Refuses a URL that would carry a user name, password, query or fragment into a file that is committed.
pub(crate) fn check_no_secret(url: &str) -> Result<(), String> {
    match mask(url) {
        masked if masked == url => Ok(()),
        masked => Err(format!("expected a URL without user, query and fragment, found `{masked}`")),
    }
}

/// Returns `url` without user name, password, query and fragment: they may be secrets, and messages end up in logs. For
/// text of any form.
pub fn mask(url: &str) -> String {
    let (scheme, rest) =
        url.split_once("//").map_or(("", url), |(_, rest)| url.split_at(url.len() - rest.len()));
    let authority_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    // What should be a port, and is none, may be a password that holds a `/`, `?` or `#`: then the last `@` ends it.
    let port = rest[..authority_end].rsplit_once(':').map(|(_, port)| port);
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
    let password = port.is_some_and(|port| !is_port(port) && !port.contains(']'));
    let user_end = if password { rest.rfind('@') } else { rest[..authority_end].rfind('@') };
    let (user, rest) = match user_end {
        Some(end) => ("***@", &rest[end + 1..]),
        None => ("", rest),
    };
    let end = rest.find(['?', '#']).unwrap_or(rest.len());
    let suffix = rest[end..].chars().next().map(|mark| format!("{mark}***")).unwrap_or_default();
    format!("{scheme}{user}{}{suffix}", &rest[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn base(text: &str) -> Base {
        Base::parse("BASE_URL", text).unwrap()
    }

    fn refusal(text: &str) -> String {
        Base::parse("BASE_URL", text).unwrap_err().to_string()
    }

    #[test]
    fn secrets_are_not_shown() {
        assert_eq!(mask("https://bob:s3cr3t@mirror:8443/x?token=t0k#f"), "https://***@mirror:8443/x?***");
        assert_eq!(mask("https://a@b@mirror"), "https://***@mirror");
        assert_eq!(mask("bob:s3cr3t@mirror/x"), "***@mirror/x");
        for password in ["s3?r3t", "s3/r3t", "s3#r3t", "s3@r3t", "/", "a:b/c"] {
            assert_eq!(mask(&format!("https://bob:{password}@mirror/x")), "https://***@mirror/x");
        }
    }

    #[test]
    fn what_is_no_secret_is_left_alone() {
        for url in ["https://mirror:8443/a@b/c", "/", "", "file:///srv/mirror", "maipo", "http://[::1]/a@b"] {
            assert_eq!(mask(url), url);
        }
    }

    #[test]
    fn a_url_is_shown_without_secrets_and_kept_without_user() {
        let url = url("HTTPS://bob:s3cr3t@Mirror:8443/x?token=t0k#f");
        assert_eq!(url.to_string(), "https://***@mirror:8443/x?***");
        assert_eq!(format!("{url:?}"), url.to_string());
        assert_eq!(url.public(), "https://mirror:8443/x?token=t0k");
    }

    #[test]
    fn slashes_at_the_end_of_a_base_make_no_difference() {
        for text in
            ["https://m/storage/releases", "https://m/storage/releases/", "https://m/storage/releases//"]
        {
            let url = base(text).join(&["maipo", "builds.json"]).unwrap();
            assert_eq!(url.public(), "https://m/storage/releases/maipo/builds.json");
            assert_eq!(base(text).public(), "https://m/storage/releases");
        }
        assert_eq!(base("https://m").join(&["x"]).unwrap().public(), "https://m/x");
        assert_eq!(base("file:///").join(&["x"]).unwrap().public(), "file:///x");
    }

    #[test]
    fn a_base_that_is_none_names_the_variable_and_hides_secrets() {
        let url = |reason| format!("BASE_URL: `/` is no URL for documents: {reason}");
        assert_eq!(refusal("/"), url("expected `https://…`, `http://…` or `file:///…`"));
        let query = refusal("https://bob:s3cr3t@m/x?token=t0k");
        assert_eq!(
            query,
            "BASE_URL: `https://***@m/x?***` is no URL for documents: a `?query` or `#fragment` cannot be part of it"
        );
        for text in [
            "ftp://m/x",
            "https://",
            "https:///x",
            "https://m:0/",
            "https://m:99999/",
            "https://[::1/",
            "https://m/a/../b",
            "https://m/a/%2e%2E/b",
            "https://m/#f",
            "https://m m/",
            "https://bob:%ff@m/",
            "file://other/x",
            "file://x",
            "file:///x?y",
            "C:\\mirror",
            "mailto:bob",
        ] {
            assert!(refusal(text).starts_with("BASE_URL: `"), "{text}");
        }
        let password = refusal("https://bob:s3/cr3t@mirror/x");
        assert!(!password.contains("s3") && !password.contains("bob"), "{password}");
    }

    #[test]
    fn a_password_that_is_not_encoded_is_refused_with_the_spelling_that_works() {
        assert_eq!(
            refusal("https://b ob:s3@m m/x"),
            "BASE_URL: `https://***@m m/x` is no URL for documents: no host name that can be used\n\
             help: in a user name or password, write `/ ? # @ :` as `%2F %3F %23 %40 %3A`"
        );
    }

    #[test]
    fn segments_stay_below_the_base() {
        let base = base("https://m/b");
        let url = base.join(&["a b/c", "ü+%.json"]).unwrap();
        assert_eq!(url.public(), "https://m/b/a%20b/c/%C3%BC%2B%25.json");
        for segments in [&["..", "x"][..], &["a/../b"], &["a//b"], &[""], &["."], &["a\\b"]] {
            let error = base.join(segments).unwrap_err().to_string();
            assert!(error.contains("would lead elsewhere"), "{error}");
        }
    }

    #[test]
    fn a_base_that_ends_in_json_is_a_document() {
        assert!(base("https://m/streams/stable.json").is_document());
        assert!(!base("https://m/streams.json/stable").is_document());
    }

    #[test]
    fn what_is_encoded_is_not_encoded_again() {
        assert_eq!(url("https://m/a%20b c%zz?ü").public(), "https://m/a%20b%20c%25zz?%C3%BC");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_url_is_decoded() {
        for text in ["file:///srv/a%20b", "file://localhost/srv/a b"] {
            assert_eq!(url(text).file_path().unwrap(), PathBuf::from("/srv/a b"));
        }
    }

    #[cfg(feature = "fetch")]
    #[test]
    fn user_and_password_are_decoded_and_sent_to_one_origin() {
        let url = url("https://b%40b:s3%3Ar3%2Ft@m/x");
        assert_eq!(url.user().unwrap().basic(), "Basic YkBiOnMzOnIzL3Q=");
        let same = |other| url.same_origin(&Url::parse(other).unwrap());
        assert!(same("https://M:443/y"));
        assert!(!same("http://m/x") && !same("https://m:8443/x") && !same("https://n/x"));
    }

    #[cfg(feature = "fetch")]
    #[test]
    fn redirects_are_resolved_as_browsers_do() {
        let from = url("https://bob:x@m:8443/a/b?q");
        for (location, to) in [
            ("https://n/x#f", "https://n/x"),
            ("//n/x", "https://n/x"),
            ("/x?y", "https://m:8443/x?y"),
            ("x", "https://m:8443/a/x"),
            ("?y", "https://m:8443/a/b?y"),
            ("x/a:b", "https://m:8443/a/x/a:b"),
            ("https://eve:y@m:8443/x", "https://m:8443/x"),
        ] {
            let next = from.redirect(location).unwrap();
            assert_eq!(next.public(), to);
            assert!(next.user().is_none());
        }
        for location in ["http://m/x", "file:///etc/passwd", "ftp://m/x", "https://", "javascript:x", "//"] {
            assert!(from.redirect(location).is_err(), "{location}");
        }
    }
}
