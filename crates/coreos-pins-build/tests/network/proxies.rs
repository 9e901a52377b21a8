//! Which proxy is asked, how, and what it gets to see.

use std::io::{self, BufReader, Write};
use std::net::{Shutdown, TcpStream};
use std::thread;

use crate::server::{Server, ok, read_head, response};
use crate::{fault, found, source_with, url};

/// A proxy that opens tunnels to wherever it is asked to.
pub(crate) fn tunnel() -> Server {
    Server::start_raw(|stream, log| {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let Some(request) = read_head(&mut reader, log) else { return };
        let mut client = stream;
        let Ok(target) = TcpStream::connect(request.path()) else {
            let _ = client.write_all(response("502 Bad Gateway", "", "").as_bytes());
            return;
        };
        let _ = client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n");
        let (mut from, mut to) = (reader, target.try_clone().unwrap());
        thread::spawn(move || {
            let _ = io::copy(&mut from, &mut to);
            let _ = to.shutdown(Shutdown::Both);
        });
        let _ = io::copy(&mut &target, &mut client);
        let _ = client.shutdown(Shutdown::Both);
    })
}

fn forwarding() -> Server {
    Server::saying(ok("\"from the proxy\""))
}

#[test]
fn http_goes_through_http_proxy_as_a_whole_url() {
    let proxy = forwarding();
    let source = source_with(&[("HTTP_PROXY", &proxy.url("")), ("HTTPS_PROXY", "http://127.0.0.1:1")]);
    let fetched = found(source.get(&url("http://mirror.invalid:8000/a%20b/x.json?q")));
    assert_eq!(fetched.bytes, b"\"from the proxy\"");
    let request = proxy.only_request();
    assert_eq!(request.line, "GET http://mirror.invalid:8000/a%20b/x.json?q HTTP/1.1");
    assert_eq!(request.header("host"), Some("mirror.invalid:8000"));
    assert_eq!(request.header("proxy-authorization"), None);
}

#[test]
fn https_goes_through_https_proxy_as_a_tunnel() {
    let proxy = Server::saying(response("403 Forbidden", "", ""));
    let source = source_with(&[("HTTPS_PROXY", &proxy.url("")), ("HTTP_PROXY", "http://127.0.0.1:1")]);
    let error = fault(3, source.get(&url("https://mirror.invalid/x")));
    assert!(error.contains("no way through the proxy") && error.contains("403"), "{error}");
    assert!(
        error.contains(&format!("asked through the proxy `{}` of HTTPS_PROXY", proxy.url(""))),
        "{error}"
    );
    assert_eq!(proxy.only_request().line, "CONNECT mirror.invalid:443 HTTP/1.1");
}

#[test]
fn a_tunnel_carries_https() {
    let ca = crate::tls::Authority::new();
    let server = ca.server(ok("{}"));
    let proxy = tunnel();
    let file = ca.file();
    let source = source_with(&[
        ("https_proxy", &format!("http://bob:s3%40r3t@{}", proxy.address)),
        ("SSL_CERT_FILE", file.path().to_str().unwrap()),
    ]);
    assert_eq!(
        found(source.get(&url(&format!("https://localhost:{}/x", server.address.port())))).bytes,
        b"{}"
    );
    let tunnel = proxy.only_request();
    assert_eq!(tunnel.line, format!("CONNECT localhost:{} HTTP/1.1", server.address.port()));
    assert_eq!(tunnel.header("proxy-authorization"), Some("Basic Ym9iOnMzQHIzdA=="));
    assert_eq!(server.only_request().header("proxy-authorization"), None);
}

#[test]
fn all_proxy_is_for_what_has_no_proxy_of_its_own() {
    let (all, http) = (forwarding(), forwarding());
    let source = source_with(&[("ALL_PROXY", &all.url(""))]);
    found(source.get(&url("http://mirror.invalid/x")));
    assert_eq!(all.count(), 1);
    let source = source_with(&[("ALL_PROXY", &all.url("")), ("http_proxy", &http.url(""))]);
    found(source.get(&url("http://mirror.invalid/x")));
    assert_eq!((all.count(), http.count()), (1, 1));
}

#[test]
fn lower_case_is_before_upper_case() {
    let (lower, upper) = (forwarding(), forwarding());
    let source = source_with(&[("HTTP_PROXY", &upper.url("")), ("http_proxy", &lower.url(""))]);
    found(source.get(&url("http://mirror.invalid/x")));
    assert_eq!((lower.count(), upper.count()), (1, 0));
}

#[test]
fn what_no_proxy_names_is_asked_directly() {
    let server = Server::saying(ok("{}"));
    let port = server.address.port();
    let with_port = format!("127.0.0.1:{port}");
    let other_port = format!("127.0.0.1:{}", port ^ 1);
    for (variable, value, direct) in [
        ("NO_PROXY", "127.0.0.1", true),
        ("NO_PROXY", "localhost, 127.0.0.1,10.0.0.0/8", true),
        ("NO_PROXY", "localhost 127.0.0.1", true),
        ("NO_PROXY", "127.0.0.0/8", true),
        ("NO_PROXY", with_port.as_str(), true),
        ("NO_PROXY", "*", true),
        ("no_proxy", "127.0.0.1", true),
        ("NO_PROXY", other_port.as_str(), false),
        ("NO_PROXY", "localhost", false),
        ("NO_PROXY", "128.0.0.0/8", false),
        ("NO_PROXY", "", false),
    ] {
        let proxy = forwarding();
        let source = source_with(&[("HTTP_PROXY", &proxy.url("")), (variable, value)]);
        let fetched = found(source.get(&url(&server.url("/x"))));
        assert_eq!(fetched.bytes == b"{}", direct, "{variable}={value}");
        assert_eq!(proxy.count(), usize::from(!direct), "{variable}={value}");
    }
}

#[test]
fn the_proxy_gets_its_own_password_and_the_server_its_own() {
    let proxy = forwarding();
    let source = source_with(&[("HTTP_PROXY", &format!("bob:s3%40r3t@{}", proxy.address))]);
    found(source.get(&url("http://alice:pw@mirror.invalid/x")));
    let request = proxy.only_request();
    assert_eq!(request.line, "GET http://mirror.invalid/x HTTP/1.1");
    assert_eq!(request.header("proxy-authorization"), Some("Basic Ym9iOnMzQHIzdA=="));
    assert_eq!(request.header("authorization"), Some("Basic YWxpY2U6cHc="));
}

#[test]
fn a_proxy_that_wants_credentials_is_named() {
    let proxy = Server::saying(response("407 Proxy Authentication Required", "", ""));
    for (variable, target) in
        [("HTTP_PROXY", "http://mirror.invalid/x"), ("HTTPS_PROXY", "https://mirror.invalid/x")]
    {
        let error = fault(3, source_with(&[(variable, &proxy.url(""))]).get(&url(target)));
        assert!(error.contains("407") && error.contains(variable), "{error}");
        assert!(error.contains("help: the proxy wants a user name and a password"), "{error}");
    }
    assert_eq!(proxy.count(), 2);
}

#[test]
fn a_redirect_is_asked_through_the_proxy_of_its_own_scheme() {
    let https = Server::saying(response("403 Forbidden", "", ""));
    let http = Server::saying(response("302 Found", "Location: https://mirror.invalid/y\r\n", ""));
    let source = source_with(&[("HTTP_PROXY", &http.url("")), ("HTTPS_PROXY", &https.url(""))]);
    fault(3, source.get(&url("http://mirror.invalid/x")));
    assert_eq!(https.only_request().line, "CONNECT mirror.invalid:443 HTTP/1.1");
}

#[test]
fn a_proxy_that_does_not_parse_is_an_error_that_names_the_variable() {
    let server = Server::saying(ok("{}"));
    for value in ["http://bob:s3cr3t@", "ftp://bob:s3cr3t@proxy", "http://bob:s3cr3t@proxy:port", ":::"] {
        let error = fault(2, source_with(&[("HTTP_PROXY", value)]).get(&url(&server.url("/x"))));
        assert!(error.starts_with("HTTP_PROXY: `") && error.contains("is no proxy"), "{error}");
        assert!(!error.contains("s3cr3t"), "{error}");
    }
    assert_eq!(server.count(), 0);
}

#[test]
fn a_dead_proxy_is_named() {
    let error = fault(3, source_with(&[("HTTP_PROXY", "127.0.0.1:1")]).get(&url("http://mirror.invalid/x")));
    assert!(error.contains("asked through the proxy `127.0.0.1:1` of HTTP_PROXY"), "{error}");
}

#[test]
fn several_documents_come_through_one_proxy() {
    let proxy = Server::start(|request, out| {
        let _ = out.write_all(ok(request.path()).as_bytes());
    });
    let source = source_with(&[("HTTP_PROXY", &proxy.url(""))]);
    let urls: Vec<_> = (0..20).map(|n| format!("http://mirror.invalid/{n}")).collect();
    let asked: Vec<_> = urls.iter().map(|text| url(text)).collect();
    for (answer, text) in source.get_all(&asked).into_iter().zip(&urls) {
        assert_eq!(found(answer).bytes, text.as_bytes());
    }
}
