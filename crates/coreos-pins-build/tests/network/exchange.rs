//! Requests that are more than asking for a document: probes, downloads, and what registries need.

use std::io::Read;

use coreos_pins_build::source::{Download, Method, Probe, Request, Source};

use crate::server::{Server, ok, response};
use crate::{limits, network, source, url};

fn read(download: Download) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut body = download.body;
    body.read_to_end(&mut bytes).unwrap();
    bytes
}

#[test]
fn a_probe_asks_by_head_and_reads_nothing() {
    let server =
        Server::saying("HTTP/1.1 200 OK\r\nContent-Length: 1234567890123\r\nConnection: close\r\n\r\n");
    let probe = source().probe(&url(&server.url("/x"))).unwrap();
    assert_eq!(probe, Probe::Found { length: Some(1_234_567_890_123) });
    assert_eq!(server.only_request().line, "HEAD /x HTTP/1.1");
}

#[test]
fn where_head_is_refused_one_byte_is_asked_for() {
    for refusal in ["405 X", "501 X", "400 X", "403 X"] {
        let server = Server::start(move |request, out| {
            let answer = if request.line.starts_with("HEAD") {
                response(refusal, "", "")
            } else {
                response("206 Partial Content", "Content-Range: bytes 0-0/77\r\n", "x")
            };
            out.write_all(answer.as_bytes()).unwrap_or_default();
        });
        // 501 is tried again before it is believed.
        let probe = source().probe(&url(&server.url("/x")));
        match refusal {
            "501 X" => assert_eq!(probe.unwrap_err().exit_status(), 3),
            _ => {
                assert_eq!(probe.unwrap(), Probe::Found { length: Some(77) }, "{refusal}");
                assert_eq!(server.requests()[1].header("range"), Some("bytes=0-0"));
            }
        }
    }
}

#[test]
fn what_is_gone_and_what_gives_no_answer_are_told_apart() {
    for status in ["404 X", "410 X", "403 X"] {
        let server = Server::saying(response(status, "", "{}"));
        let why = status.trim_end_matches(" X").to_owned();
        assert_eq!(source().probe(&url(&server.url("/x"))).unwrap(), Probe::NotThere { why });
    }
    let server = Server::saying(response("503 X", "", ""));
    assert_eq!(source().probe(&url(&server.url("/x"))).unwrap_err().exit_status(), 3);
    assert_eq!(server.count(), 4);
    let closed = url("http://127.0.0.1:1/x");
    assert_eq!(source().probe(&closed).unwrap_err().exit_status(), 3);
}

#[test]
fn files_are_probed_and_downloaded_too() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "0123456789").unwrap();
    let at = url(&format!("file://{}", file.path().display()));
    assert_eq!(source().probe(&at).unwrap(), Probe::Found { length: Some(10) });
    assert_eq!(read(source().download(&at, 7).unwrap()), b"789");
    assert_eq!(source().download(&at, 10).unwrap().status, 416);
    let missing = url(&format!("file://{}x", file.path().display()));
    assert_eq!(source().probe(&missing).unwrap(), Probe::NotThere { why: "no such file".to_owned() });
    assert_eq!(source().download(&missing, 0).unwrap().status, 404);
}

#[test]
fn a_download_is_the_bytes_as_stored_from_where_it_is_asked() {
    let server = Server::start(|request, out| {
        let answer = match request.header("range") {
            Some("bytes=3-") => {
                response("206 X", "Content-Encoding: gzip\r\nContent-Range: bytes 3-4/5\r\n", "lo")
            }
            _ => response("200 OK", "Content-Encoding: gzip\r\n", "hello"),
        };
        out.write_all(answer.as_bytes()).unwrap_or_default();
    });
    let at = url(&server.url("/x"));
    let whole = source().download(&at, 0).unwrap();
    assert_eq!((whole.status, whole.length), (200, Some(5)));
    // It is no gzip data: nobody has tried to decompress it.
    assert_eq!(read(whole), b"hello");
    let rest = source().download(&at, 3).unwrap();
    assert_eq!((rest.status, rest.range.as_deref()), (206, Some("bytes 3-4/5")));
    assert_eq!(read(rest), b"lo");
    assert!(server.requests().iter().all(|request| request.header("accept-encoding") == Some("identity")));
    let missing = Server::saying(response("404 X", "", "no"));
    assert_eq!(source().download(&url(&missing.url("/x")), 0).unwrap().status, 404);
}

#[test]
fn a_download_has_no_limit_but_must_go_on() {
    let large = "x".repeat(1000);
    let server = Server::saying(ok(&large));
    let small =
        Source::with_limits(&network(&[]), coreos_pins_build::source::Limits { body: 10, ..limits() });
    assert_eq!(read(small.download(&url(&server.url("/x")), 0).unwrap()).len(), 1000);
    let silent = Server::start(|_, out| {
        out.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab").unwrap_or_default();
        out.flush().unwrap_or_default();
        std::thread::sleep(std::time::Duration::from_secs(5));
    });
    let hasty = Source::with_limits(&network(&[]), crate::hasty());
    let mut body = hasty.download(&url(&silent.url("/x")), 0).unwrap().body;
    let start = std::time::Instant::now();
    let error = body.read_to_end(&mut Vec::new()).unwrap_err();
    assert!(start.elapsed().as_secs() < 4, "{error}");
}

#[test]
fn what_is_sent_is_sent_once_and_redirected_nowhere() {
    let server = Server::saying(response("201 Created", "Location: /y\r\n", ""));
    let at = url(&server.url("/x"));
    let request = Request::new(Method::Put, &at).header("Content-Type", "text/x").body(b"{}");
    let reply = source().exchange(&request).unwrap();
    assert_eq!((reply.status, reply.header("location")), (201, Some("/y")));
    let sent = server.only_request();
    assert_eq!(
        (sent.line.as_str(), sent.header("content-type"), sent.header("content-length")),
        ("PUT /x HTTP/1.1", Some("text/x"), Some("2"))
    );
    let server = Server::saying(response("307 X", "Location: http://127.0.0.1:1/\r\n", ""));
    let at = url(&server.url("/x"));
    let error = source().exchange(&Request::new(Method::Post, &at).body(b"{}")).unwrap_err().to_string();
    assert!(error.contains("status 307: refused to be redirected with what is sent"), "{error}");
}

#[test]
fn authorization_goes_to_its_own_origin_and_no_further() {
    let other = Server::saying(ok("there"));
    let location = format!("Location: {}\r\n", other.url("/y"));
    let server = Server::saying(response("307 X", &location, ""));
    let at = url(&server.url("/x"));
    let reply =
        source().exchange(&Request::new(Method::Get, &at).authorization(Some("Bearer s3cr3t"))).unwrap();
    assert_eq!((reply.status, reply.body.as_slice()), (200, b"there".as_slice()));
    assert_eq!(server.only_request().header("authorization"), Some("Bearer s3cr3t"));
    assert_eq!(other.only_request().header("authorization"), None);
}

#[test]
fn any_status_is_an_answer_but_those_that_ask_to_come_again() {
    let server =
        Server::saying(response("401 X", "WWW-Authenticate: Basic\r\nWWW-Authenticate: Bearer\r\n", "no"));
    let at = url(&server.url("/x"));
    let reply = source().exchange(&Request::new(Method::Get, &at)).unwrap();
    assert_eq!((reply.status, reply.body.as_slice()), (401, b"no".as_slice()));
    assert_eq!(reply.headers_of("www-authenticate").collect::<Vec<_>>(), ["Basic", "Bearer"]);
    let too_many = response("429 X", "", "");
    let server = Server::saying_in_turn(&[&too_many, &ok("now")]);
    let at = url(&server.url("/x"));
    assert_eq!(source().exchange(&Request::new(Method::Put, &at)).unwrap().body, b"now");
    let large = Server::saying(ok("12345"));
    let at = url(&large.url("/x"));
    let error = source().exchange(&Request::new(Method::Get, &at).limit(4)).unwrap_err().to_string();
    assert!(error.ends_with("expected at most 4 bytes, got 5 bytes"), "{error}");
}

#[test]
fn documents_side_by_side_have_the_room_of_one() {
    let body = "x".repeat(60);
    let server = Server::saying(ok(&body));
    let urls: Vec<_> = (0..3).map(|index| url(&server.url(&format!("/{index}")))).collect();
    let narrow =
        Source::with_limits(&network(&[]), coreos_pins_build::source::Limits { body: 150, ..limits() });
    let answers = narrow.get_all(&urls);
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 2);
    let error = answers.into_iter().find_map(Result::err).unwrap().to_string();
    assert!(error.ends_with("expected at most 150 bytes, got more, with the documents beside it"), "{error}");
    // One after the other they have it each.
    assert!(urls.iter().all(|url| narrow.get(url).is_ok()));
}
