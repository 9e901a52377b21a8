//! What a server may answer, and what comes of it.

use std::io::Write;
use std::net::TcpListener;
use std::process::Command;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use coreos_pins_build::settings::Network;
use coreos_pins_build::source::{Answer, Limits, Source};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::server::{Server, ok, response};
use crate::{fault, found, hasty, limits, not_there, source, source_with, url};

const MIB: usize = 1024 * 1024;

fn get(server: &Server) -> Result<Answer, coreos_pins_build::Error> {
    source().get(&url(&server.url("/x")))
}

fn hasty_fault(server: &Server) -> String {
    let start = Instant::now();
    let answer = Source::with_limits(&Network::default(), hasty()).get(&url(&server.url("/x")));
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
    fault(3, answer)
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_document_comes_with_its_content_type() {
    let server = Server::saying(ok("{}"));
    let fetched = found(get(&server));
    assert_eq!(fetched.bytes, b"{}");
    assert_eq!(fetched.content_type.as_deref(), Some("application/json"));
    assert_eq!(fetched.redirected_to, None);
    let request = server.only_request();
    assert_eq!(request.line, "GET /x HTTP/1.1");
    assert_eq!(request.header("user-agent"), Some(concat!("coreos-pins/", env!("CARGO_PKG_VERSION"))));
    assert_eq!(request.header("authorization"), None);
}

#[test]
fn a_silent_server_times_out() {
    let server = Server::start_raw(|stream, _| {
        thread::sleep(Duration::from_secs(20));
        drop(stream.try_clone());
    });
    assert_eq!(
        hasty_fault(&server),
        format!(
            "failed to fetch `{}`: timed out after 0.7 s: no answer (timeout for one document)",
            server.url("/x")
        )
    );
}

#[test]
fn a_server_that_drips_times_out_and_says_how_much_came() {
    let server = Server::start(|_, out| {
        out.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n").unwrap();
        while out.write_all(b"x").is_ok() {
            thread::sleep(Duration::from_millis(100));
        }
    });
    let error = hasty_fault(&server);
    assert!(error.contains("timed out after 0.7 s: expected 1000 bytes, got "), "{error}");
    assert_eq!(server.count(), 1);
}

#[test]
fn an_address_that_swallows_everything_times_out() {
    // A listener whose queue is full takes no further connection.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let queued: Vec<_> = (0..5000)
        .map_while(|_| std::net::TcpStream::connect_timeout(&address, Duration::from_millis(100)).ok())
        .collect();
    let start = Instant::now();
    let limits = Limits { total: Duration::from_secs(10), ..hasty() };
    let answer = Source::with_limits(&Network::default(), limits).get(&url(&format!("http://{address}/x")));
    let error = fault(3, answer);
    assert!(error.contains("timed out after 0.5 s: no connection (connect timeout)"), "{error}");
    assert!(start.elapsed() < Duration::from_secs(3));
    drop(queued);
}

#[test]
fn a_closed_port_is_an_error_at_once() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let start = Instant::now();
    let error = fault(3, source().get(&url(&format!("http://{address}/x"))));
    assert!(
        error.starts_with(&format!("failed to fetch `http://{address}/x`: the connection failed: ")),
        "{error}"
    );
    assert!(error.to_lowercase().contains("refused"), "{error}");
    assert!(start.elapsed() < Duration::from_secs(2));
}

#[test]
fn a_body_that_is_cut_short_is_tried_four_times_and_both_lengths_are_named() {
    let server =
        Server::saying(format!("HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n{}", "x".repeat(500)));
    let error = fault(3, get(&server));
    let expected = format!(
        "failed to fetch `{}`: the connection ended too early: expected 10000 bytes, got 500\ngave up after 4 tries",
        server.url("/x")
    );
    assert_eq!(error, expected);
    assert_eq!(server.count(), 4);
}

#[test]
fn chunks_without_an_end_are_tried_four_times() {
    let server = Server::saying("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
    let error = fault(3, get(&server));
    assert!(
        error.contains(": the connection ended too early after 5 bytes\ngave up after 4 tries"),
        "{error}"
    );
    assert_eq!(server.count(), 4);
}

#[test]
fn chunks_that_are_none_are_tried_four_times() {
    let server = Server::saying("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n");
    let error = fault(3, get(&server));
    assert!(error.contains("the answer is not HTTP as it should be"), "{error}");
    assert_eq!(server.count(), 4);
}

#[test]
fn a_connection_that_is_closed_without_a_word_is_tried_four_times() {
    let server = Server::saying("");
    let error = fault(3, get(&server));
    assert!(error.contains("the connection ended too early\n"), "{error}");
    assert_eq!(server.count(), 4);
}

#[test]
fn a_transfer_that_breaks_once_is_mended() {
    let server = Server::saying_in_turn(&["HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx", &ok("{}")]);
    assert_eq!(found(get(&server)).bytes, b"{}");
    assert_eq!(server.count(), 2);
}

#[test]
fn a_body_may_end_with_its_connection() {
    let server = Server::saying("HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<html>");
    let fetched = found(get(&server));
    assert_eq!(fetched.bytes, b"<html>");
    assert_eq!(fetched.content_type.as_deref(), Some("text/html"));
}

#[test]
fn two_503_and_a_200_are_a_document() {
    let unavailable = response("503 Service Unavailable", "", "later");
    let server = Server::saying_in_turn(&[&unavailable, &unavailable, &ok("{}")]);
    assert_eq!(found(get(&server)).bytes, b"{}");
    assert_eq!(server.count(), 3);
}

#[test]
fn pauses_grow() {
    let server = Server::saying(response("500 Internal Server Error", "", ""));
    let limits = Limits { pause: Duration::from_millis(100), ..limits() };
    let start = Instant::now();
    fault(3, Source::with_limits(&Network::default(), limits).get(&url(&server.url("/x"))));
    assert!(start.elapsed() >= Duration::from_millis(700), "{:?}", start.elapsed());
}

#[test]
fn retry_after_is_waited_for() {
    let later = response("429 Too Many Requests", "Retry-After: 1\r\n", "");
    let server = Server::saying_in_turn(&[&later, &ok("{}")]);
    let start = Instant::now();
    found(get(&server));
    assert!((1.0..5.0).contains(&start.elapsed().as_secs_f32()), "{:?}", start.elapsed());
    assert_eq!(server.count(), 2);
}

#[test]
fn a_retry_after_beyond_the_limit_gives_up_at_once() {
    let server = Server::saying(response("429 Too Many Requests", "Retry-After: 86400\r\n", ""));
    let start = Instant::now();
    assert_eq!(
        fault(3, get(&server)),
        format!(
            "failed to fetch `{}`: expected status 200, got 429 Too Many Requests\n\
             gave up after 1 try; the server asks to wait 86400 s, the limit is 10 s",
            server.url("/x")
        )
    );
    assert!(start.elapsed() < Duration::from_secs(5));
    assert_eq!(server.count(), 1);
}

#[test]
fn a_retry_after_date_is_waited_for() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let (day, time) = ((now + 2) / 86400, (now + 2) % 86400);
    let date = {
        // Howard Hinnant's civil_from_days.
        let z = day + 719_468;
        let (era, doe) = (z / 146_097, z % 146_097);
        let yoe = (doe - doe / 1460 + doe / 36524 - doe / 146_096) / 365;
        let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
        let mp = (5 * doy + 2) / 153;
        let month = if mp < 10 { mp + 3 } else { mp - 9 };
        let name = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
            [month as usize - 1];
        format!(
            "Mon, {:02} {name} {} {:02}:{:02}:{:02} GMT",
            doy - (153 * mp + 2) / 5 + 1,
            yoe + era * 400 + u64::from(month <= 2),
            time / 3600,
            time / 60 % 60,
            time % 60
        )
    };
    let later = response("503 Service Unavailable", &format!("Retry-After: {date}\r\n"), "");
    let server = Server::saying_in_turn(&[&later, &ok("{}")]);
    let start = Instant::now();
    found(get(&server));
    assert!((0.9..5.0).contains(&start.elapsed().as_secs_f32()), "{date} {:?}", start.elapsed());
}

#[test]
fn a_retry_after_that_is_garbage_is_ignored() {
    for garbage in ["soon", "-1", "Mon, 99 Foo 2026", "\u{7f}"] {
        let later = response("503 Service Unavailable", &format!("Retry-After: {garbage}\r\n"), "");
        let server = Server::saying_in_turn(&[&later, &ok("{}")]);
        let start = Instant::now();
        assert_eq!(found(get(&server)).bytes, b"{}", "{garbage}");
        assert!(start.elapsed() < Duration::from_secs(5));
    }
}

#[test]
fn what_is_not_there_is_asked_for_once() {
    for status in ["404 Not Found", "403 Forbidden", "410 Gone"] {
        let server = Server::saying(response(status, "", r#"{"looks": "like JSON"}"#));
        assert_eq!(not_there(get(&server)), status[..3]);
        assert_eq!(server.count(), 1, "{status}");
    }
}

#[test]
fn other_4xx_are_errors_and_asked_for_once() {
    for status in ["400 Bad Request", "401 Unauthorized", "405 Method Not Allowed", "418 I'm a teapot"] {
        let server = Server::saying(response(status, "", ""));
        let error = fault(3, get(&server));
        assert!(error.contains(&status[..3]), "{error}");
        assert_eq!(server.count(), 1, "{status}");
    }
}

#[test]
fn a_401_asks_for_credentials() {
    let server = Server::saying(response("401 Unauthorized", "", ""));
    assert_eq!(
        fault(3, get(&server)),
        format!(
            "failed to fetch `{}`: status 401: it wants a user name and a password\n\
             help: put them into the URL, percent-encoded: `https://USER:PASSWORD@host/…`",
            server.url("/x")
        )
    );
}

#[test]
fn four_500_are_no_answer() {
    let server = Server::saying(response("500 Internal Server Error", "", ""));
    let error = fault(3, get(&server));
    assert!(
        error.ends_with("expected status 200, got 500 Internal Server Error\ngave up after 4 tries"),
        "{error}"
    );
    assert_eq!(server.count(), 4);
}

#[test]
fn four_504_are_not_there() {
    let server = Server::saying(response("504 Gateway Timeout", "", ""));
    assert_eq!(not_there(get(&server)), "504 (4 tries)");
    assert_eq!(server.count(), 4);
}

#[test]
fn an_empty_success_is_no_document() {
    let server = Server::saying("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
    let error = fault(3, get(&server));
    assert!(error.contains("expected status 200, got 204 No Content"), "{error}");
}

#[test]
fn what_is_not_http_is_an_error() {
    let server = Server::saying("SSH-2.0-OpenSSH_9.9\r\n\r\n");
    let error = fault(3, get(&server));
    assert!(error.starts_with("failed to fetch `http://127.0.0.1"), "{error}");
}

#[test]
fn a_header_without_end_is_an_error() {
    let server = Server::start(|_, out| {
        let _ = out.write_all(b"HTTP/1.1 200 OK\r\n");
        while out.write_all(&[b'x'; 4096]).is_ok() {}
    });
    fault(3, get(&server));
}

#[test]
fn a_body_without_end_stops_at_the_limit() {
    let server = Server::start(|_, out| {
        let _ = out.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        while out.write_all(&[b'x'; 4096]).is_ok() {}
    });
    let limits = Limits { body: MIB as u64, ..limits() };
    let error = fault(3, Source::with_limits(&Network::default(), limits).get(&url(&server.url("/x"))));
    assert!(error.ends_with("expected at most 1 MiB, got more"), "{error}");
    assert_eq!(server.count(), 1);
}

#[test]
fn a_body_as_long_as_the_limit_is_a_document_and_one_byte_more_is_none() {
    let limits = Limits { body: 100, ..limits() };
    let source = Source::with_limits(&Network::default(), limits);
    let server = Server::saying(ok(&"x".repeat(100)));
    assert_eq!(found(source.get(&url(&server.url("/x")))).bytes.len(), 100);
    let server = Server::saying(ok(&"x".repeat(101)));
    let error = fault(3, source.get(&url(&server.url("/x"))));
    assert!(error.ends_with("expected at most 100 bytes, got 101 bytes"), "{error}");
}

/// Asks for the URL in this variable, in a process of its own, whose memory is nobody else's.
const ASK_FOR: &str = "NETWORK_TEST_ASK_FOR";

#[test]
#[ignore = "what other tests run in a process of its own"]
fn asks_for_one_document_with_the_limits_of_a_build() {
    let asked = std::env::var(ASK_FOR).unwrap();
    let error = fault(3, Source::new(&Network::default()).get(&url(&asked)));
    assert!(error.ends_with("expected at most 64 MiB, got more"), "{error}");
    if let Ok(status) = std::fs::read_to_string("/proc/self/status") {
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        let peak: usize = peak.trim().trim_end_matches(" kB").parse().unwrap();
        assert!(peak < 150 * 1024, "{peak} kB");
    }
}

#[track_caller]
fn stops_at_the_limit_in_bounded_memory(server: &Server) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "answers::asks_for_one_document_with_the_limits_of_a_build", "--ignored"])
        .env(ASK_FOR, server.url("/x"))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    assert_eq!(server.count(), 1);
}

#[test]
fn compressed_data_beyond_the_limit_stops_there_in_bounded_memory() {
    let mut bomb = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n".to_vec();
    let member = gzip(&vec![b' '; 4 * MIB]);
    // One MiB of it is many times the limit.
    (0..MIB / member.len()).for_each(|_| bomb.extend_from_slice(&member));
    stops_at_the_limit_in_bounded_memory(&Server::saying(bomb));
}

#[test]
fn data_without_end_stops_at_the_limit_in_bounded_memory() {
    stops_at_the_limit_in_bounded_memory(&Server::start(|_, out| {
        let _ = out.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        while out.write_all(&[b'x'; 64 * 1024]).is_ok() {}
    }));
}

#[test]
fn compressed_data_is_decompressed() {
    let body = gzip(b"{\"a\": 1}");
    let mut answer = format!(
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    )
    .into_bytes();
    answer.extend(body);
    let server = Server::saying(answer);
    assert_eq!(found(get(&server)).bytes, b"{\"a\": 1}");
    assert_eq!(server.only_request().header("accept-encoding"), Some("gzip"));
}

#[test]
fn compressed_data_that_is_cut_short_is_an_error() {
    let body = gzip("0123456789".repeat(1000).as_bytes());
    let mut answer = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n".to_vec();
    answer.extend(&body[..body.len() - 9]);
    let server = Server::saying(answer);
    let error = fault(3, get(&server));
    assert!(error.ends_with("gave up after 4 tries"), "{error}");
}

#[test]
fn twelve_megabytes_are_a_document() {
    let body = format!("[{}0]", "1234567,".repeat(1_500_000));
    let server = Server::saying(ok(&body));
    assert_eq!(found(get(&server)).bytes, body.as_bytes());
}

#[test]
fn several_documents_are_asked_for_side_by_side_and_keep_their_order() {
    // Nobody is answered before all have asked.
    let all = Barrier::new(4);
    let server = Server::start(move |request, out| {
        all.wait();
        let _ = out.write_all(ok(request.path()).as_bytes());
    });
    let urls: Vec<_> = ["/a", "/b", "/c", "/d"].map(|path| url(&server.url(path))).into();
    let bodies: Vec<_> = source().get_all(&urls).into_iter().map(|answer| found(answer).bytes).collect();
    assert_eq!(bodies, [b"/a", b"/b", b"/c", b"/d"]);
}

#[test]
fn many_documents_all_come() {
    let server = Server::start(|request, out| {
        let _ = out.write_all(ok(request.path()).as_bytes());
    });
    let paths: Vec<String> = (0..50).map(|number| format!("/{number}")).collect();
    let urls: Vec<_> = paths.iter().map(|path| url(&server.url(path))).collect();
    let answers = source().get_all(&urls);
    assert_eq!(answers.len(), 50);
    for (answer, path) in answers.into_iter().zip(&paths) {
        assert_eq!(found(answer).bytes, path.as_bytes());
    }
    assert!(source().get_all(&[]).is_empty());
}

#[test]
fn offline_nothing_is_asked_for() {
    let server = Server::saying(ok("{}"));
    let source = source_with(&[("CARGO_NET_OFFLINE", "true"), ("HTTP_PROXY", ":::")]);
    assert_eq!(
        fault(3, source.get(&url(&server.url("/x")))),
        format!(
            "`{}` needs the network, and CARGO_NET_OFFLINE forbids it\n\
             help: unset CARGO_NET_OFFLINE, or use a `file://` URL",
            server.url("/x")
        )
    );
    assert_eq!(server.count(), 0);
    found(source_with(&[("CARGO_NET_OFFLINE", "false")]).get(&url(&server.url("/x"))));
}
