//! Which request goes through which proxy.

use ureq::{Proxy as UreqProxy, ProxyProtocol};

use super::forward;
use super::no_proxy::NoProxy;
use crate::Error;
use crate::settings::{Network, Setting};
use crate::url::{Authority, Scheme, Url, User, mask};

/// The proxies of the environment.
pub(super) struct Proxies {
    http: Option<Proxy>,
    https: Option<Proxy>,
    no_proxy: NoProxy,
}

pub(super) struct Proxy {
    pub(super) variable: &'static str,
    /// The value, without secrets.
    pub(super) shown: String,
    pub(super) inner: UreqProxy,
    /// It is itself asked over TLS.
    pub(super) tls: bool,
    authorization: Option<String>,
}

impl Proxies {
    pub(super) fn new(network: &Network) -> Result<Self, Error> {
        let read = |setting: &Option<Setting<String>>| setting.as_ref().map(Proxy::parse).transpose();
        Ok(Self {
            http: read(&network.http_proxy)?,
            https: read(&network.https_proxy)?,
            no_proxy: NoProxy::parse(network.no_proxy.as_ref().map_or("", |setting| &setting.value)),
        })
    }

    /// Returns the proxy for `url`, if it is to be asked through one.
    pub(super) fn for_url(&self, url: &Url) -> Option<&Proxy> {
        let proxy = match url.scheme() {
            Scheme::Http => &self.http,
            Scheme::Https => &self.https,
            Scheme::File => return None,
        };
        proxy.as_ref().filter(|_| !self.no_proxy.matches(url.host(), url.port()))
    }
}

impl Proxy {
    fn parse(setting: &Setting<String>) -> Result<Self, Error> {
        Self::parse_parts(setting).map_err(|reason| {
            Error::invalid(format!("{}: `{}` is no proxy: {reason}", setting.variable, mask(&setting.value)))
                .help(format!("write `http://host:port`, or unset {}", setting.variable))
        })
    }

    fn parse_parts(setting: &Setting<String>) -> Result<Self, &'static str> {
        let (scheme, rest) = setting.value.split_once("://").unwrap_or(("http", &setting.value));
        let protocol = match scheme.to_ascii_lowercase().as_str() {
            "http" => ProxyProtocol::Http,
            "https" => ProxyProtocol::Https,
            "socks4" => ProxyProtocol::Socks4,
            "socks4a" => ProxyProtocol::Socks4A,
            "socks" | "socks5" => ProxyProtocol::Socks5,
            "socks5h" => ProxyProtocol::Socks5h,
            _ => return Err("expected `http://`, `https://`, `socks4://` or `socks5://`"),
        };
        let Authority { user, host, port } = Authority::parse(rest.strip_suffix('/').unwrap_or(rest))?;
        let authorization = user.as_ref().map(User::basic);
        let mut builder = UreqProxy::builder(protocol).host(&host);
        if let Some(port) = port {
            builder = builder.port(port);
        }
        if let Some(user) = user {
            builder = builder.username(&user.name).password(user.password.as_deref().unwrap_or_default());
        }
        Ok(Self {
            variable: setting.variable,
            shown: mask(&setting.value),
            inner: builder.build().map_err(|_| "it cannot be used")?,
            tls: protocol == ProxyProtocol::Https,
            authorization,
        })
    }

    /// Returns the `Proxy-Authorization` of a request for `url`; where the proxy is asked for a tunnel, that request is
    /// ureq's, and the one inside the tunnel is not for the proxy to see.
    pub(super) fn authorization_for(&self, url: &Url) -> Option<&str> {
        self.authorization
            .as_deref()
            .filter(|_| url.scheme() == Scheme::Http && forward::forwards(&self.inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(value: &str) -> Result<Proxy, Error> {
        Proxy::parse(&Setting { variable: "http_proxy", value: value.to_owned() })
    }

    #[test]
    fn the_usual_forms_of_a_proxy_are_read() {
        for (value, host, port) in [
            ("http://proxy:3128", "proxy", 3128),
            ("proxy:3128/", "proxy", 3128),
            ("PROXY", "proxy", 80),
            ("https://proxy", "proxy", 443),
            ("http://bob:s3%40r3t@[::1]:3128", "[::1]", 3128),
            ("socks5h://proxy", "proxy", 1080),
        ] {
            let proxy = parse(value).unwrap();
            assert_eq!((proxy.inner.host(), proxy.inner.port()), (host, port), "{value}");
        }
        assert_eq!(parse("http://bob:s3%40r3t@proxy").unwrap().inner.password(), Some("s3@r3t"));
    }

    #[test]
    fn a_value_that_is_no_proxy_names_the_variable_and_hides_the_password() {
        for value in [
            "http://bob:s3cr3t@",
            "ftp://bob:s3cr3t@x",
            "http://bob:s3cr3t@x:port",
            "http://bob:s3cr3t@x/y",
            ":::",
        ] {
            let error = parse(value).err().unwrap().to_string();
            assert!(error.starts_with("http_proxy: `") && error.contains("is no proxy"), "{error}");
            assert!(!error.contains("s3cr3t") && !error.contains("bob"), "{error}");
        }
    }
}
