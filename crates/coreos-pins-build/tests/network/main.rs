//! `Source` against servers, proxies and files that misbehave on purpose. All of them are on this machine.
#![cfg(feature = "fetch")]

mod server;

mod answers;
mod exchange;
mod files;
mod proxies;
mod redirects;
mod script;
mod secrets;
mod tls;
mod transfers;

use std::time::Duration;

use coreos_pins_build::Error;
use coreos_pins_build::settings::Network;
use coreos_pins_build::source::{Answer, Fetched, Limits, Source};
use coreos_pins_build::url::Url;

/// Small limits, so that what takes a minute in a build takes a moment here.
fn limits() -> Limits {
    Limits {
        connect: Duration::from_secs(3),
        total: Duration::from_secs(10),
        pause: Duration::from_millis(10),
        ..Limits::default()
    }
}

/// Limits for what has to time out.
fn hasty() -> Limits {
    Limits { connect: Duration::from_millis(500), total: Duration::from_millis(700), ..limits() }
}

fn source() -> Source {
    Source::with_limits(&Network::default(), limits())
}

fn network(variables: &[(&str, &str)]) -> Network {
    Network::from_variables(variables.iter().map(|(name, value)| (name.into(), value.into()))).unwrap()
}

fn source_with(variables: &[(&str, &str)]) -> Source {
    Source::with_limits(&network(variables), limits())
}

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

#[track_caller]
fn found(answer: Result<Answer, Error>) -> Fetched {
    match answer.unwrap() {
        Answer::Found(fetched) => fetched,
        Answer::NotThere { why } => panic!("not there: {why}"),
    }
}

#[track_caller]
fn not_there(answer: Result<Answer, Error>) -> String {
    match answer.unwrap() {
        Answer::Found(fetched) => panic!("found {} bytes", fetched.bytes.len()),
        Answer::NotThere { why } => why,
    }
}

/// Returns the text of the error, which is one for exit status `status`.
#[track_caller]
fn fault(status: u8, answer: Result<Answer, Error>) -> String {
    let error = answer.unwrap_err();
    assert_eq!(error.exit_status(), status, "{error}");
    error.to_string()
}
