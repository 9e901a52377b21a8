//! The agent: the one place that makes ureq's.

use std::sync::Arc;

use ureq::Agent;
use ureq::config::Config;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::unversioned::resolver::DefaultResolver;

use super::forward::Connector;

const USER_AGENT: &str = concat!("coreos-pins/", env!("CARGO_PKG_VERSION"));

/// Returns an agent that trusts `roots`. Redirects and statuses are left to the caller, as are time limits and the proxy,
/// request by request: ureq itself reads no variable.
pub(super) fn new(roots: Vec<Certificate<'static>>) -> Agent {
    let tls = TlsConfig::builder()
        .root_certs(RootCerts::Specific(Arc::new(roots)))
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build();
    Agent::with_parts(config(tls), Connector::default(), DefaultResolver::default())
}

/// Returns a configuration without a proxy.
pub(super) fn config(tls: TlsConfig) -> Config {
    Config::builder()
        .tls_config(tls)
        .proxy(None)
        .user_agent(USER_AGENT)
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .build()
}
