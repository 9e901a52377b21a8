//! Why a try failed, in words that hold no secret, and whether another may help.

use std::io::ErrorKind;
use std::time::Duration;

use rustls::CertificateError;
use ureq::Timeout;

use super::Limits;
use crate::Error;

/// A try that gave no answer.
pub(super) struct Failure {
    pub(super) error: Error,
    /// Another try may help: after the pause that the server asked for, if it did.
    pub(super) again: Option<Option<Duration>>,
    /// The status, where the document is not there if every try ends like this.
    pub(super) not_there: Option<u16>,
}

impl Failure {
    /// Another try would end the same.
    pub(super) fn last(error: Error) -> Self {
        Self { error, again: None, not_there: None }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::last(error)
    }
}

#[derive(Default)]
pub(super) struct Fault {
    pub(super) what: String,
    pub(super) again: bool,
    pub(super) unknown_issuer: bool,
    pub(super) proxy_credentials: bool,
}

/// Says what `error` is. Its own text is used only where it cannot hold a URL.
pub(super) fn fault_of(error: &ureq::Error, got: &str, limits: &Limits) -> Fault {
    let last = |what: String| Fault { what, ..Fault::default() };
    let again = |what: String| Fault { what, again: true, ..Fault::default() };
    match error {
        ureq::Error::Timeout(Timeout::Resolve | Timeout::Connect) => {
            last(format!("timed out after {}: no connection (connect timeout)", seconds(limits.connect)))
        }
        ureq::Error::Timeout(Timeout::PerRead) => {
            again(format!("no byte came for {}{got}", seconds(limits.idle)))
        }
        ureq::Error::Timeout(_) => {
            let got = if got.is_empty() { ": no answer" } else { got };
            last(format!("timed out after {}{got} (timeout for one document)", seconds(limits.total)))
        }
        ureq::Error::Io(error) => {
            match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
                Some(error) => tls(error),
                None => match error.kind() {
                    ErrorKind::UnexpectedEof => again(format!("the connection ended too early{got}")),
                    ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe => {
                        again(format!("the connection broke{got}: {error}"))
                    }
                    ErrorKind::InvalidInput | ErrorKind::InvalidData => {
                        again(format!("the compressed data is damaged{got}: {error}"))
                    }
                    _ => last(format!("the connection failed{got}: {error}")),
                },
            }
        }
        ureq::Error::Rustls(error) => tls(error),
        ureq::Error::Protocol(error) => {
            again(format!("the answer is not HTTP as it should be{got}: {error}"))
        }
        ureq::Error::HostNotFound => last("the host has no address".to_owned()),
        ureq::Error::LargeResponseHeader(..) => last("the header of the answer is too large".to_owned()),
        ureq::Error::ConnectProxyFailed(reason) => {
            let proxy_credentials = reason.contains("407");
            Fault {
                what: format!("no way through the proxy: {reason}"),
                proxy_credentials,
                ..Fault::default()
            }
        }
        _ => last("the request cannot be sent".to_owned()),
    }
}

fn tls(error: &rustls::Error) -> Fault {
    // A bad signature is what an authority looks like that was made anew under the same name.
    let unknown_issuer = matches!(
        error,
        rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::BadSignature)
    );
    Fault { what: format!("no secure connection: {error}"), unknown_issuer, ..Fault::default() }
}

/// Returns `10 s`.
pub(super) fn seconds(duration: Duration) -> String {
    if duration.subsec_nanos() == 0 {
        format!("{} s", duration.as_secs())
    } else {
        format!("{:.1} s", duration.as_secs_f64())
    }
}
