//! No user name, password or query is in any error, however it came about.

use std::error::Error as _;
use std::net::TcpListener;

use coreos_pins_build::Error;
use coreos_pins_build::settings::Network;
use coreos_pins_build::source::{Answer, Source};

use crate::server::{Server, response};
use crate::{hasty, source_with, tls, url};

const SECRETS: [&str; 6] = ["bob", "s3cr3t", "t0k", "pr0xy", "alice", "Ym9i"];

#[track_caller]
fn hides(answer: Result<Answer, Error>) {
    let error = answer.unwrap_err();
    let mut text = format!("{error}\n{error:?}");
    let mut cause = error.source();
    while let Some(source) = cause {
        text.push_str(&format!("\n{source}\n{source:?}"));
        cause = source.source();
    }
    for secret in SECRETS {
        assert!(!text.contains(secret), "{secret} is in {text}");
    }
    assert!(text.contains("/x"), "{text}");
}

#[test]
fn no_error_holds_a_secret() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let moved = |location: &str| response("302 Found", &format!("Location: {location}\r\n"), "");
    let direct = source_with(&[]);
    let hasty = Source::with_limits(&Network::default(), hasty());
    let http = |server: &Server| url(&format!("http://bob:s3cr3t@{}/x?token=t0k", server.address));

    hides(direct.get(&url(&format!("http://bob:s3cr3t@{closed}/x?token=t0k"))));
    for answer in [
        response("400 Bad Request", "", "s3cr3t"),
        response("401 Unauthorized", "", ""),
        response("407 Proxy Authentication Required", "", ""),
        response("500 Internal Server Error", "", ""),
        response("429 Too Many Requests", "Retry-After: 86400\r\n", ""),
        moved("http://alice:s3cr3t@127.0.0.1:1/x?token=t0k"),
        moved("file://alice:s3cr3t@x/x?token=t0k"),
        moved("ftp://alice:s3cr3t@x/x?token=t0k"),
        moved("http://alice:s3cr3t@:x/x?token=t0k"),
        moved("/x?token=t0k"),
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n".to_owned(),
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\ns3cr3t\r\n".to_owned(),
        "s3cr3t\r\n\r\n".to_owned(),
    ] {
        hides(direct.get(&http(&Server::saying(answer))));
    }
    hides(hasty.get(&http(&Server::start_raw(|_, _| std::thread::sleep(std::time::Duration::from_secs(9))))));

    let untrusted = tls::Authority::new().server(String::new());
    hides(
        direct.get(&url(&format!("https://bob:s3cr3t@localhost:{}/x?token=t0k", untrusted.address.port()))),
    );

    for answer in [response("407 Proxy Authentication Required", "", ""), response("403 Forbidden", "", "")] {
        let proxy = Server::saying(answer.clone());
        let value = format!("http://alice:pr0xy@{}", proxy.address);
        let proxied = source_with(&[("ALL_PROXY", &value)]);
        hides(proxied.get(&url("https://bob:s3cr3t@mirror.invalid/x?token=t0k")));
        if answer.contains("407") {
            hides(proxied.get(&url("http://bob:s3cr3t@mirror.invalid/x?token=t0k")));
        }
    }
    let dead = source_with(&[("ALL_PROXY", "http://alice:pr0xy@127.0.0.1:1")]);
    hides(dead.get(&url("http://bob:s3cr3t@mirror.invalid/x?token=t0k")));
    let offline = source_with(&[("CARGO_NET_OFFLINE", "true")]);
    hides(offline.get(&url("http://bob:s3cr3t@mirror.invalid/x?token=t0k")));
}

#[test]
fn nothing_that_can_be_printed_holds_a_secret() {
    let source = source_with(&[("ALL_PROXY", "http://alice:pr0xy@127.0.0.1:1"), ("NO_PROXY", "s3cr3t")]);
    let url = url("http://bob:s3cr3t@mirror.invalid/x?token=t0k");
    let text = format!("{source:?} {url:?} {url}");
    for secret in SECRETS {
        assert!(!text.contains(secret), "{secret} is in {text}");
    }
}
