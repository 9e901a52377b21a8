//! Plain http through an http proxy: `GET http://host/path`, sent to the proxy itself.
//!
//! ureq asks every http proxy for a tunnel, which the usual ones (squid) refuse to any port but 443.

use ureq::Error;
use ureq::http::uri::Scheme;
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector as Connect, DefaultConnector, NextTimeout, Transport,
};
use ureq::{Proxy, ProxyProtocol};

use super::agent;

/// ureq's own connector, but for http targets of http proxies.
#[derive(Debug, Default)]
pub(super) struct Connector(DefaultConnector);

/// Tells whether `proxy` is sent whole URLs for http targets.
pub(super) fn forwards(proxy: &Proxy) -> bool {
    matches!(proxy.protocol(), ProxyProtocol::Http | ProxyProtocol::Https)
}

impl Connect for Connector {
    type Out = Box<dyn Transport>;

    fn connect(&self, details: &ConnectionDetails, chained: Option<()>) -> Result<Option<Self::Out>, Error> {
        let proxy = details.config.proxy().filter(|proxy| forwards(proxy));
        let target = details.uri.authority().filter(|_| details.uri.scheme() == Some(&Scheme::HTTP));
        let (Some(proxy), Some(target)) = (proxy, target) else {
            return self.0.connect(details, chained);
        };
        let config = agent::config(details.config.tls_config().clone());
        let to_proxy = ConnectionDetails {
            uri: proxy.uri(),
            addrs: details.resolver.resolve(proxy.uri(), &config, details.timeout)?,
            config: &config,
            request_level: details.request_level,
            resolver: details.resolver,
            now: details.now,
            timeout: details.timeout,
            current_time: details.current_time.clone(),
            run_connector: details.run_connector.clone(),
            register_shutdown: details.register_shutdown.clone(),
        };
        let inner = (details.run_connector)(&to_proxy)?;
        Ok(Some(Box::new(Forward { inner, origin: format!("http://{target}") })))
    }
}

/// A connection to a proxy, over which one host is asked.
#[derive(Debug)]
struct Forward {
    inner: Box<dyn Transport>,
    origin: String,
}

impl Transport for Forward {
    fn buffers(&mut self) -> &mut dyn Buffers {
        self.inner.buffers()
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        let output = self.inner.buffers().output();
        let methods: [&[u8]; 4] = [b"GET ", b"HEAD ", b"POST ", b"PUT "];
        let method = methods.into_iter().find(|method| output[..amount].starts_with(method)).map(<[u8]>::len);
        let Some(method) = method.filter(|&method| output[..amount].get(method) == Some(&b'/')) else {
            return self.inner.transmit_output(amount, timeout);
        };
        // `GET /path` becomes `GET http://host/path`; the rest of the head moves along.
        let longer = amount + self.origin.len();
        if longer > output.len() {
            return Err(Error::LargeResponseHeader(longer, output.len()));
        }
        output.copy_within(method..amount, method + self.origin.len());
        output[method..][..self.origin.len()].copy_from_slice(self.origin.as_bytes());
        self.inner.transmit_output(longer, timeout)
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        self.inner.await_input(timeout)
    }

    fn is_open(&mut self) -> bool {
        self.inner.is_open()
    }
}
