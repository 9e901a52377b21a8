//! Where a server may lead, and what goes along.

use crate::server::{Server, ok, response};
use crate::{fault, found, not_there, source, url};

fn to(location: &str) -> String {
    response("302 Found", &format!("Location: {location}\r\n"), "elsewhere")
}

#[test]
fn a_redirect_is_followed_and_said() {
    let server = Server::start(|request, out| {
        let answer = match request.path() {
            "/a/x" => to("../b?q=1"),
            "/a/../b?q=1" => to("/c"),
            _ => ok("{}"),
        };
        let _ = out.write_all(answer.as_bytes());
    });
    let fetched = found(source().get(&url(&server.url("/a/x"))));
    assert_eq!(fetched.bytes, b"{}");
    assert_eq!(fetched.redirected_to, Some(url(&server.url("/c"))));
    assert_eq!(server.count(), 3);
}

#[test]
fn what_a_redirect_leads_to_may_be_missing() {
    let gone = Server::saying(response("404 Not Found", "", ""));
    let server = Server::saying(to(&gone.url("/y")));
    assert_eq!(not_there(source().get(&url(&server.url("/x")))), "404");
}

#[test]
fn a_fault_behind_a_redirect_names_both_urls() {
    let broken = Server::saying(response("400 Bad Request", "", ""));
    let server = Server::saying(to(&broken.url("/y?token=t0k")));
    assert_eq!(
        fault(3, source().get(&url(&server.url("/x")))),
        format!(
            "failed to fetch `{}`: expected status 200, got 400 Bad Request\nredirected to `{}?***`",
            server.url("/x"),
            broken.url("/y")
        )
    );
}

#[test]
fn a_loop_ends_after_ten_redirects() {
    let server = Server::saying(to("/x"));
    let error = fault(3, source().get(&url(&server.url("/x"))));
    assert!(error.contains("redirected more than 10 times"), "{error}");
    assert_eq!(server.count(), 11);
}

#[test]
fn a_redirect_to_anything_but_http_is_refused() {
    for location in ["file:///etc/passwd", "ftp://127.0.0.1/x", "data:,{}", "http://"] {
        let server = Server::saying(to(location));
        let error = fault(3, source().get(&url(&server.url("/x"))));
        assert!(error.contains("redirected to"), "{error}");
        assert_eq!(server.count(), 1);
    }
}

#[test]
fn a_redirect_to_nowhere_is_an_error() {
    let server = Server::saying(response("302 Found", "", ""));
    let error = fault(3, source().get(&url(&server.url("/x"))));
    assert!(error.contains("status 302, a redirect, without `location`"), "{error}");
}

#[test]
fn credentials_go_to_their_own_host_and_to_no_other() {
    let other = Server::saying(ok("{}"));
    let elsewhere = other.url("/z");
    let server = Server::start(move |request, out| {
        let answer = if request.path() == "/x" { to("/y") } else { to(&elsewhere) };
        let _ = out.write_all(answer.as_bytes());
    });
    let asked = format!("http://b%40b:s3%3Ar3%2Ft@{}/x", server.address);
    found(source().get(&url(&asked)));
    for request in server.requests() {
        assert_eq!(request.header("authorization"), Some("Basic YkBiOnMzOnIzL3Q="));
    }
    assert_eq!(server.count(), 2);
    assert_eq!(other.only_request().header("authorization"), None);
}

#[test]
fn credentials_that_a_redirect_names_are_not_used() {
    let other = Server::saying(ok("{}"));
    let server = Server::saying(to(&format!("http://eve:s3cr3t@{}/x", other.address)));
    found(source().get(&url(&server.url("/x"))));
    assert_eq!(other.only_request().header("authorization"), None);
}
