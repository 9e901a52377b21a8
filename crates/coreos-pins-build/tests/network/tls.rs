//! Whom https trusts.

use std::io::{BufReader, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use tempfile::NamedTempFile;

use crate::server::{Request, Server, ok, read_head, response};
use crate::{fault, found, source, source_with, url};

/// A certificate authority of a company's own.
pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    pub(crate) fn pem(&self) -> String {
        self.0.pem()
    }

    pub(crate) fn file(&self) -> NamedTempFile {
        let mut file = NamedTempFile::new().unwrap();
        write!(file, "# our own\n{}", self.pem()).unwrap();
        file
    }

    /// Starts an https server for `localhost` that gives `answer` to every request.
    pub(crate) fn server(&self, answer: String) -> Server {
        self.server_with(answer, |_| ())
    }

    fn server_with(&self, answer: String, change: impl Fn(&mut CertificateParams)) -> Server {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        change(&mut params);
        let certificate = params.signed_by(&key, &self.0).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        let config = Arc::new(config);
        Server::start_raw(move |stream, log| serve(&config, stream, log, &answer))
    }
}

fn serve(config: &Arc<ServerConfig>, stream: &TcpStream, log: &Mutex<Vec<Request>>, answer: &str) {
    let connection = ServerConnection::new(config.clone()).unwrap();
    let mut stream = StreamOwned::new(connection, stream.try_clone().unwrap());
    if read_head(&mut BufReader::new(&mut stream), log).is_some() {
        let _ = stream.write_all(answer.as_bytes());
        stream.conn.send_close_notify();
        let _ = stream.flush();
    }
}

fn at(server: &Server) -> coreos_pins_build::url::Url {
    url(&format!("https://localhost:{}/x", server.address.port()))
}

fn trusting(ca: &Authority) -> (coreos_pins_build::source::Source, NamedTempFile) {
    let file = ca.file();
    (source_with(&[("SSL_CERT_FILE", file.path().to_str().unwrap())]), file)
}

#[test]
fn an_authority_in_ssl_cert_file_is_trusted() {
    let ca = Authority::new();
    let server = ca.server(ok("{}"));
    let (source, _file) = trusting(&ca);
    assert_eq!(found(source.get(&at(&server))).bytes, b"{}");
    assert_eq!(server.only_request().line, "GET /x HTTP/1.1");
}

#[test]
fn an_authority_in_ssl_cert_dir_is_trusted() {
    let ca = Authority::new();
    let server = ca.server(ok("{}"));
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("0a1b2c3d.0"), ca.pem()).unwrap();
    std::fs::write(folder.path().join("README"), "no certificate").unwrap();
    std::fs::create_dir(folder.path().join("sub")).unwrap();
    let folders = format!("/nonexistent-but-empty:{}", folder.path().display());
    let error = fault(2, source_with(&[("SSL_CERT_DIR", &folders)]).get(&at(&server)));
    assert!(error.starts_with("SSL_CERT_DIR: `/nonexistent-but-empty` cannot be read: "), "{error}");
    found(source_with(&[("SSL_CERT_DIR", folder.path().to_str().unwrap())]).get(&at(&server)));
}

#[test]
fn an_unknown_authority_is_an_error_at_once_that_names_ssl_cert_file() {
    let server = Authority::new().server(ok("{}"));
    let error = fault(3, source().get(&at(&server)));
    assert_eq!(
        error,
        format!(
            "failed to fetch `{}`: no secure connection: invalid peer certificate: UnknownIssuer\n\
             help: if an authority of your own signed it, set SSL_CERT_FILE to a PEM file that holds that authority",
            at(&server)
        )
    );
    assert_eq!(server.count(), 0);
}

#[test]
fn another_authority_in_ssl_cert_file_is_named() {
    let server = Authority::new().server(ok("{}"));
    let (source, file) = trusting(&Authority::new());
    let error = fault(3, source.get(&at(&server)));
    let help = format!(
        "help: `{}`, which SSL_CERT_FILE names, does not hold the authority that signed this certificate",
        file.path().display()
    );
    assert!(error.ends_with(&help), "{error}");
}

#[test]
fn an_expired_certificate_and_one_for_another_host_are_errors() {
    let ca = Authority::new();
    let (source, _file) = trusting(&ca);
    let expired = ca.server_with(ok("{}"), |params| params.not_after = rcgen::date_time_ymd(2020, 1, 1));
    let error = fault(3, source.get(&at(&expired)));
    assert!(error.contains("invalid peer certificate") && error.contains("expired"), "{error}");
    let server = ca.server(ok("{}"));
    let error = fault(3, source.get(&url(&format!("https://127.0.0.1:{}/x", server.address.port()))));
    assert!(error.contains("invalid peer certificate"), "{error}");
}

#[test]
fn a_certificate_file_that_is_none_is_an_error_that_names_the_variable() {
    let server = Authority::new().server(ok("{}"));
    let empty = NamedTempFile::new().unwrap();
    let mut damaged = NamedTempFile::new().unwrap();
    damaged.write_all(b"-----BEGIN CERTIFICATE-----\n!!!\n-----END CERTIFICATE-----\n").unwrap();
    for (path, what) in [
        ("/nonexistent/ca.pem", "cannot be read: "),
        ("/tmp", "is a folder, expected a PEM file"),
        (empty.path().to_str().unwrap(), "holds no certificate in PEM form"),
        (damaged.path().to_str().unwrap(), "holds a damaged certificate"),
    ] {
        let error = fault(2, source_with(&[("SSL_CERT_FILE", path)]).get(&at(&server)));
        assert!(error.starts_with(&format!("SSL_CERT_FILE: `{path}` {what}")), "{error}");
    }
}

#[test]
fn plain_http_needs_no_certificates() {
    let server = Server::saying(ok("{}"));
    found(source_with(&[("SSL_CERT_FILE", "/nonexistent/ca.pem")]).get(&url(&server.url("/x"))));
}

#[test]
fn https_where_plain_http_is_spoken_is_an_error_at_once() {
    let server = Server::start_raw(|mut stream, _| {
        let _ = stream.write_all(response("400 Bad Request", "", "").as_bytes());
        std::thread::sleep(std::time::Duration::from_millis(200));
    });
    let (source, _file) = trusting(&Authority::new());
    let error = fault(3, source.get(&at(&server)));
    assert!(error.contains("no secure connection"), "{error}");
}

#[test]
fn a_redirect_from_https_to_http_is_refused() {
    let plain = Server::saying(ok("{}"));
    let ca = Authority::new();
    let location = format!("Location: http://eve:s3cr3t@{}/y\r\n", plain.address);
    let server = ca.server(response("301 Moved Permanently", &location, ""));
    let (source, _file) = trusting(&ca);
    let error = fault(3, source.get(&at(&server)));
    assert!(error.contains("refused to be redirected from https to http: `http://***@127.0.0.1:"), "{error}");
    assert_eq!(plain.count(), 0);
}

#[test]
fn a_redirect_from_http_to_https_is_followed_without_the_password() {
    let ca = Authority::new();
    let server = ca.server(ok("{}"));
    let plain =
        Server::saying(response("301 Moved Permanently", &format!("Location: {}\r\n", at(&server)), ""));
    let (source, _file) = trusting(&ca);
    found(source.get(&url(&format!("http://bob:s3cr3t@localhost:{}/x", plain.address.port()))));
    assert!(plain.only_request().header("authorization").is_some());
    assert_eq!(server.only_request().header("authorization"), None);
}
