//! Requests that are more than asking for a document: what registries need.

use coreos_pins_build::source::{Method, Request, Source};

use crate::server::{Server, ok, response};
use crate::{limits, network, source, source_with, url};

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

#[test]
fn what_is_sent_goes_through_a_plain_proxy_as_a_whole_url() {
    let proxy = Server::saying(response("201 X", "", ""));
    let source = source_with(&[("HTTP_PROXY", &proxy.url(""))]);
    for (method, line) in [(Method::Put, "PUT"), (Method::Post, "POST")] {
        let at = url("http://registry.invalid/v2/x");
        assert_eq!(source.exchange(&Request::new(method, &at).body(b"{}")).unwrap().status, 201);
        assert_eq!(
            proxy.requests().last().unwrap().line,
            format!("{line} http://registry.invalid/v2/x HTTP/1.1")
        );
    }
}
