//! Files: whether they are there, and their bytes, from any offset and over transfers that break.

use std::io::Write;
use std::time::{Duration, Instant};

use coreos_pins_build::Error;
use coreos_pins_build::settings::Network;
use coreos_pins_build::source::{Download, Limits, Part, Probe, Source};

use crate::server::{Request, Server, ok, response};
use crate::{hasty, limits, source, source_with, url};

/// What a sink was given.
#[derive(Debug, Default, PartialEq)]
struct Got {
    /// Each start, with the length that was said.
    starts: Vec<(u64, Option<u64>)>,
    bytes: Vec<u8>,
}

/// Downloads from `url`, having `have` already.
fn download(source: &Source, from: &str, have: &[u8]) -> (Result<Download, Error>, Got) {
    let mut got = Got { starts: Vec::new(), bytes: have.to_vec() };
    let download = source.download(&url(from), have.len() as u64, &mut |part| {
        match part {
            Part::Start { at, length } => {
                got.starts.push((at, length));
                got.bytes.truncate(usize::try_from(at).unwrap());
            }
            Part::Bytes(bytes) => got.bytes.extend_from_slice(bytes),
        }
        Ok(())
    });
    (download, got)
}

#[track_caller]
fn fault(status: u8, download: Result<Download, Error>) -> String {
    let error = download.unwrap_err();
    assert_eq!(error.exit_status(), status, "{error}");
    error.to_string()
}

fn file() -> Vec<u8> {
    (0..200_000_u32).flat_map(u32::to_le_bytes).collect()
}

/// Returns the offset that `request` asks to begin at.
fn offset(request: &Request) -> Option<usize> {
    request.header("range")?.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok()
}

/// Answers as a server of static files does, but stops after `at_once` bytes.
fn serve(request: &Request, out: &mut dyn Write, file: &[u8], at_once: usize) {
    let from = offset(request).unwrap_or(0);
    let head = match offset(request) {
        None => format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", file.len()),
        Some(from) => format!(
            "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {from}-{}/{}\r\nContent-Length: {}\r\n\r\n",
            file.len() - 1,
            file.len(),
            file.len() - from
        ),
    };
    let _ = out.write_all(head.as_bytes());
    let _ = out.write_all(&file[from..file.len().min(from.saturating_add(at_once))]);
}

fn file_server(at_once: usize) -> Server {
    let file = file();
    Server::start(move |request, out| serve(request, out, &file, at_once))
}

#[test]
fn a_file_comes_as_it_is_stored() {
    let server = file_server(usize::MAX);
    let (done, got) = download(&source(), &server.url("/x"), b"");
    assert_eq!(done.unwrap(), Download::Done);
    assert_eq!(got.starts, [(0, Some(800_000))]);
    assert!(got.bytes == file());
    let request = server.only_request();
    assert_eq!((request.header("accept-encoding"), request.header("range")), (Some("identity"), None));
}

#[test]
fn what_says_that_it_is_compressed_is_not_decompressed() {
    // As servers do that know `.gz` for an encoding.
    let server = Server::saying(response("200 OK", "Content-Encoding: gzip\r\n", "\u{1f}no gzip at all"));
    let (done, got) = download(&source(), &server.url("/x.gz"), b"");
    assert_eq!(done.unwrap(), Download::Done);
    assert_eq!(got.bytes, "\u{1f}no gzip at all".as_bytes());
}

#[test]
fn what_is_there_already_is_not_asked_for() {
    let server = file_server(usize::MAX);
    let (done, got) = download(&source(), &server.url("/x"), &file()[..300_001]);
    assert_eq!(done.unwrap(), Download::Done);
    assert_eq!(got.starts, [(300_001, Some(800_000))]);
    assert!(got.bytes == file());
    assert_eq!(server.only_request().header("range"), Some("bytes=300001-"));
}

#[test]
fn a_transfer_that_breaks_goes_on_where_it_stopped() {
    let server = file_server(300_000);
    let (done, got) = download(&source(), &server.url("/x"), b"");
    assert_eq!(done.unwrap(), Download::Done);
    assert!(got.bytes == file());
    assert_eq!(
        server.requests().iter().map(offset).collect::<Vec<_>>(),
        [None, Some(300_000), Some(600_000)]
    );
}

#[test]
fn a_transfer_that_stalls_goes_on_where_it_stopped() {
    let file = file();
    let server = Server::start(move |request, out| {
        if request.number == 0 {
            serve(request, out, &file, 1000);
            std::thread::sleep(Duration::from_secs(20));
        } else {
            serve(request, out, &file, usize::MAX);
        }
    });
    let source =
        Source::with_limits(&Network::default(), Limits { idle: Duration::from_millis(300), ..limits() });
    let start = Instant::now();
    let (done, got) = download(&source, &server.url("/x"), b"");
    assert_eq!(done.unwrap(), Download::Done);
    assert!(got.bytes == self::file());
    assert_eq!(server.requests().iter().map(offset).collect::<Vec<_>>(), [None, Some(1000)]);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

#[test]
fn a_server_that_never_gives_a_byte_is_given_up() {
    let server = Server::start(|_, _| std::thread::sleep(Duration::from_secs(20)));
    let limits = Limits { idle: Duration::from_millis(100), ..limits() };
    let (failed, _) = download(&Source::with_limits(&Network::default(), limits), &server.url("/x"), b"");
    let error = fault(3, failed);
    assert!(error.ends_with("no byte came for 0.1 s\ngave up after 4 tries"), "{error}");
    assert_eq!(server.count(), 4);
}

#[test]
fn a_download_may_take_longer_than_a_document() {
    let file = file();
    let server = Server::start(move |request, out| {
        serve(request, out, &file, 0);
        for bytes in file.chunks(100_000) {
            std::thread::sleep(Duration::from_millis(150));
            let _ = out.write_all(bytes);
        }
    });
    // 8 pauses of 0.15 s, where a document may take 0.7 s.
    let (done, got) = download(&Source::with_limits(&Network::default(), hasty()), &server.url("/x"), b"");
    assert_eq!(done.unwrap(), Download::Done);
    assert!(got.bytes == self::file());
    assert_eq!(server.count(), 1);
}

#[test]
fn a_transfer_without_progress_is_tried_four_times() {
    let server = file_server(0);
    let (failed, got) = download(&source(), &server.url("/x"), b"");
    let error = fault(3, failed);
    assert!(
        error.ends_with(": the connection ended too early after 0 of 800000 bytes\ngave up after 4 tries"),
        "{error}"
    );
    assert_eq!((server.count(), got.bytes.len()), (4, 0));
}

#[test]
fn a_server_that_cannot_continue_starts_anew() {
    let server = Server::saying(ok("0123456789"));
    let (done, got) = download(&source(), &server.url("/x"), b"xxxx");
    assert_eq!(done.unwrap(), Download::Done);
    assert_eq!(got, Got { starts: vec![(0, Some(10))], bytes: b"0123456789".to_vec() });
    assert_eq!(server.only_request().header("range"), Some("bytes=4-"));
}

#[test]
fn other_bytes_than_those_asked_for_are_not_taken() {
    for range in ["bytes 2-9/10", "bytes 0-9/10", "bytes */10", "lines 4-9/10", "bytes 4"] {
        let partial = response("206 Partial Content", &format!("Content-Range: {range}\r\n"), "456789");
        let server = Server::saying_in_turn(&[&partial, &ok("0123456789")]);
        let (done, got) = download(&source(), &server.url("/x"), b"0123");
        assert_eq!(done.unwrap(), Download::Done);
        assert_eq!(got, Got { starts: vec![(0, Some(10))], bytes: b"0123456789".to_vec() }, "{range}");
        assert_eq!(server.requests()[1].header("range"), None);
    }
}

#[test]
fn a_range_beyond_the_end_is_the_end_or_starts_anew() {
    let unsatisfiable = |range: &str| {
        response("416 Range Not Satisfiable", &format!("Content-Range: {range}\r\n"), "not this")
    };
    let server = Server::saying(unsatisfiable("bytes */4"));
    let (done, got) = download(&source(), &server.url("/x"), b"0123");
    assert_eq!(done.unwrap(), Download::Done);
    assert_eq!(got, Got { starts: vec![(4, Some(4))], bytes: b"0123".to_vec() });

    let server = Server::saying_in_turn(&[&unsatisfiable("bytes */3"), &ok("012")]);
    let (done, got) = download(&source(), &server.url("/x"), b"0123");
    assert_eq!(done.unwrap(), Download::Done);
    assert_eq!(got, Got { starts: vec![(0, Some(3))], bytes: b"012".to_vec() });
}

#[test]
fn a_download_beyond_the_limit_is_an_error_that_is_not_tried_again() {
    let limits = Limits { file: 1000, ..limits() };
    let source = Source::with_limits(&Network::default(), limits);
    let server = file_server(usize::MAX);
    let (failed, got) = download(&source, &server.url("/x"), b"");
    let error = fault(3, failed);
    assert!(error.ends_with("expected at most 1000 bytes, got 800000 bytes"), "{error}");
    assert_eq!((server.count(), got.bytes.len()), (1, 0));

    let endless = Server::start(|_, out| {
        let _ = out.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        while out.write_all(&[b'x'; 4096]).is_ok() {}
    });
    let (failed, _) = download(&source, &endless.url("/x"), b"");
    let error = fault(3, failed);
    assert!(error.ends_with("expected at most 1000 bytes, got more"), "{error}");
    assert_eq!(endless.count(), 1);
}

#[test]
fn the_error_of_a_sink_ends_the_download() {
    let server = file_server(usize::MAX);
    let result = source().download(&url(&server.url("/x")), 0, &mut |part| match part {
        Part::Start { .. } => Ok(()),
        Part::Bytes(_) => Err(Error::invalid("the disk is full")),
    });
    assert_eq!(fault(2, result), "the disk is full");
    assert_eq!(server.count(), 1);
}

#[test]
fn a_file_that_is_not_there_gives_the_sink_nothing() {
    for status in ["404 Not Found", "403 Forbidden", "410 Gone"] {
        let server = Server::saying(response(status, "", "<html>"));
        let (answer, got) = download(&source(), &server.url("/x"), b"");
        assert_eq!(answer.unwrap(), Download::NotThere { why: status[..3].to_owned() });
        assert_eq!(got, Got::default());
    }
}

#[test]
fn the_range_is_asked_for_where_a_redirect_leads() {
    let mirror = file_server(usize::MAX);
    let server = Server::saying(response("302 Found", &format!("Location: {}\r\n", mirror.url("/y")), ""));
    let (done, got) = download(&source(), &server.url("/x"), &file()[..5]);
    assert_eq!(done.unwrap(), Download::Done);
    assert!(got.bytes == file());
    assert_eq!(mirror.only_request().header("range"), Some("bytes=5-"));
}

#[test]
fn no_error_of_a_transfer_holds_a_secret() {
    let with_secrets = |server: &Server| format!("http://bob:s3cr3t@{}/x?token=t0k", server.address);
    for answer in [
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n".to_owned(),
        response("401 Unauthorized", "", ""),
        response("302 Found", "Location: http://alice:s3cr3t@127.0.0.1:1/x?token=t0k\r\n", ""),
        response("206 Partial Content", "Content-Range: bytes 0-0/1\r\n", "x"),
    ] {
        let server = Server::saying(answer);
        let (failed, _) = download(&source(), &with_secrets(&server), b"have");
        let probed =
            source().probe(&url(&with_secrets(&Server::saying(response("400 Bad Request", "", "")))));
        for error in [fault(3, failed), probed.unwrap_err().to_string()] {
            assert!(error.contains("/x"), "{error}");
            for secret in ["bob", "alice", "s3cr3t", "t0k"] {
                assert!(!error.contains(secret), "{error}");
            }
        }
    }
}

#[test]
fn a_file_on_this_machine_is_read_from_any_offset() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    std::fs::write(&path, "0123456789").unwrap();
    let at = format!("file://{}", path.display());
    let offline = source_with(&[("CARGO_NET_OFFLINE", "true")]);
    for (have, start) in [("", 0), ("0123", 4), ("0123456789", 10), ("longer than the file", 0)] {
        let (done, got) = download(&offline, &at, have.as_bytes());
        assert_eq!(done.unwrap(), Download::Done);
        assert_eq!(got, Got { starts: vec![(start, Some(10))], bytes: b"0123456789".to_vec() });
    }
    assert_eq!(offline.probe(&url(&at)).unwrap(), Probe::Found { length: Some(10) });
    let missing = format!("{at}y");
    let why = || "no such file".to_owned();
    assert_eq!(download(&offline, &missing, b"").0.unwrap(), Download::NotThere { why: why() });
    assert_eq!(offline.probe(&url(&missing)).unwrap(), Probe::NotThere { why: why() });
}

#[test]
fn offline_nothing_is_asked() {
    let server = file_server(usize::MAX);
    let offline = source_with(&[("CARGO_NET_OFFLINE", "true")]);
    assert!(fault(3, download(&offline, &server.url("/x"), b"").0).contains("CARGO_NET_OFFLINE"));
    assert!(offline.probe(&url(&server.url("/x"))).unwrap_err().to_string().contains("CARGO_NET_OFFLINE"));
    assert_eq!(server.count(), 0);
}

/// Answers `HEAD` with `to_head` and the rest with `to_get`.
fn by_method(to_head: String, to_get: String) -> Server {
    Server::start(move |request, out| {
        let answer = if request.line.starts_with("HEAD ") { &to_head } else { &to_get };
        let _ = out.write_all(answer.as_bytes());
    })
}

#[test]
fn a_head_tells_that_a_file_is_there_and_how_long_it_is() {
    let server = Server::saying("HTTP/1.1 200 OK\r\nContent-Length: 2000000000\r\nConnection: close\r\n\r\n");
    let probe = source().probe(&url(&server.url("/x"))).unwrap();
    assert_eq!(probe, Probe::Found { length: Some(2_000_000_000) });
    assert_eq!(server.only_request().line, "HEAD /x HTTP/1.1");

    let silent = Server::saying("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
    assert_eq!(source().probe(&url(&silent.url("/x"))).unwrap(), Probe::Found { length: None });
}

#[test]
fn where_a_head_is_refused_one_byte_is_asked_for() {
    for status in ["405 Method Not Allowed", "501 Not Implemented", "400 Bad Request", "403 Forbidden"] {
        let refused = response(status, "", "");
        let one = response("206 Partial Content", "Content-Range: bytes 0-0/77\r\n", "x");
        for (answer, length) in [
            (one, Some(77)),
            // A server without ranges, whose body is not read.
            ("HTTP/1.1 200 OK\r\nContent-Length: 2000000000\r\n\r\n".to_owned(), Some(2_000_000_000)),
            (response("416 Range Not Satisfiable", "Content-Range: bytes */0\r\n", ""), Some(0)),
        ] {
            let server = by_method(refused.clone(), answer);
            assert_eq!(source().probe(&url(&server.url("/x"))).unwrap(), Probe::Found { length }, "{status}");
            let requests = server.requests();
            assert_eq!(requests.len(), 2, "{status}");
            assert_eq!(requests[1].line, "GET /x HTTP/1.1");
            assert_eq!(requests[1].header("range"), Some("bytes=0-0"));
        }
    }
}

#[test]
fn a_file_that_neither_head_nor_get_finds_is_not_there() {
    for status in ["404 Not Found", "403 Forbidden", "410 Gone"] {
        let server = Server::saying(response(status, "", ""));
        let probe = source().probe(&url(&server.url("/x"))).unwrap();
        assert_eq!(probe, Probe::NotThere { why: status[..3].to_owned() });
    }
    let server = Server::saying(response("504 Gateway Timeout", "", ""));
    let probe = source().probe(&url(&server.url("/x"))).unwrap();
    assert_eq!(probe, Probe::NotThere { why: "504 (4 tries)".to_owned() });
    assert_eq!(server.count(), 4);
}

#[test]
fn a_probe_is_tried_again_and_trouble_is_an_error() {
    let later = response("503 Service Unavailable", "", "");
    let server = Server::saying_in_turn(&[
        &later,
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\n",
    ]);
    assert_eq!(source().probe(&url(&server.url("/x"))).unwrap(), Probe::Found { length: Some(5) });
    assert_eq!(server.count(), 2);

    let broken = by_method(response("405 Method Not Allowed", "", ""), response("400 Bad Request", "", ""));
    let error = source().probe(&url(&broken.url("/x"))).unwrap_err();
    assert_eq!(error.exit_status(), 3);
    assert!(error.to_string().contains("got 400 Bad Request"), "{error}");
}

#[test]
fn a_head_goes_through_a_plain_proxy_as_a_whole_url() {
    let proxy = Server::saying("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\n");
    let source = source_with(&[("HTTP_PROXY", &proxy.url(""))]);
    let probe = source.probe(&url("http://mirror.invalid/a/x")).unwrap();
    assert_eq!(probe, Probe::Found { length: Some(5) });
    assert_eq!(proxy.only_request().line, "HEAD http://mirror.invalid/a/x HTTP/1.1");
}
