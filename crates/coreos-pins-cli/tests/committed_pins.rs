//! The pins of this repository: canonical, of the channels of the policy, and of public hosts only.

mod harness;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use coreos_pins_build::pin::Pin;
use coreos_pins_build::policy::Policy;
use harness::committed;

/// The pins that are committed: channel, text.
fn pins() -> Vec<(String, String)> {
    let entries = fs::read_dir(committed()).unwrap().map(|entry| entry.unwrap().path());
    let is_pin = |path: &Path| {
        let name = path.file_name().unwrap();
        path.is_file() && path.extension().is_some_and(|ending| ending == "json") && name != "channels.json"
    };
    let pins: Vec<(String, String)> = entries
        .filter(|path| is_pin(path))
        .map(|path| {
            (path.file_stem().unwrap().to_str().unwrap().to_owned(), fs::read_to_string(path).unwrap())
        })
        .collect();
    assert!(!pins.is_empty());
    pins
}

/// Says why `url` is not one that everybody can fetch, if so.
fn fault_of(url: &str) -> Option<&'static str> {
    const PRIVATE: [&str; 9] =
        ["internal", "corp", "local", "lan", "home", "localdomain", "localhost", "test", "invalid"];
    let Some(rest) = url.strip_prefix("https://") else { return Some("not https") };
    let authority = rest.split('/').next().unwrap_or_default();
    let labels: Vec<&str> = authority.split('.').collect();
    let is_label = |label: &&str| {
        !label.is_empty() && label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    };
    if !labels.iter().all(is_label) {
        Some("more than a host name: a user, a port, or nothing")
    } else if labels.len() < 2 {
        Some("a single label")
    } else if labels.last().is_some_and(|last| last.bytes().all(|b| b.is_ascii_digit())) {
        Some("an address")
    } else if labels.last().is_some_and(|last| PRIVATE.contains(last)) {
        Some("a private domain")
    } else if rest.contains(['?', '#', '@']) {
        Some("a query, fragment or user")
    } else {
        None
    }
}

/// The texts in `text` that have a scheme.
fn urls(text: &str) -> impl Iterator<Item = &str> {
    text.split('"').filter(|text| text.contains("://"))
}

#[test]
fn what_is_no_public_https_url_is_told() {
    for url in [
        "http://example.com/x",
        "https://example",
        "https://localhost/x",
        "https://10.0.0.1/x",
        "https://[::1]/x",
        "https://u:p@example.com/x",
        "https://example.com:8443/x",
        "https://mirror.corp/x",
        "https://example.com/x?token=t",
        "https:///x",
        "file:///x",
    ] {
        assert!(fault_of(url).is_some(), "{url}");
    }
    assert_eq!(fault_of("https://example.com/a/b.json"), None);
}

#[test]
fn every_pin_is_canonical_and_says_where_it_is_from() {
    for (channel, text) in pins() {
        let pin = Pin::read(&channel, text.as_bytes()).unwrap();
        assert!(pin.to_text() == text, "{channel} is not canonical");
        let header = pin.header.unwrap_or_else(|| panic!("{channel} has no `pin` key"));
        assert!(!header.sources.is_empty(), "{channel}");
    }
}

#[test]
fn every_url_is_https_and_of_a_public_host() {
    let policy = fs::read_to_string(committed().join("channels.json")).unwrap();
    for (name, text) in pins().into_iter().chain([("channels".to_owned(), policy)]) {
        assert!(urls(&text).count() > 0, "{name}");
        for url in urls(&text) {
            assert_eq!(fault_of(url), None, "{name}: {url}");
        }
    }
}

#[test]
fn policy_and_pins_belong_together() {
    let bytes = fs::read(committed().join("channels.json")).unwrap();
    let policy = Policy::read("channels.json", &bytes).unwrap();
    let pinned: BTreeSet<String> = pins().into_iter().map(|(channel, _)| channel).collect();
    assert!(policy.default.is_some_and(|default| pinned.contains(&default)));
    for (channel, text) in pins() {
        let decided = policy.channels.get(&channel).unwrap_or_else(|| panic!("no policy for {channel}"));
        let pin = Pin::read(&channel, text.as_bytes()).unwrap();
        assert_eq!(Some(pin.header.unwrap().base_url), decided.base_url, "{channel}");
        for platform in &decided.require {
            assert!(pin.stream.architectures["x86_64"].has_platform(platform), "{channel}: {platform}");
        }
    }
}

#[test]
fn fedora_rhel_and_centos_channels_are_there() {
    let pinned: BTreeSet<String> = pins().into_iter().map(|(channel, _)| channel).collect();
    for channel in ["stable", "testing", "next", "rhel-9", "rhel-10", "c10s"] {
        assert!(pinned.contains(channel), "{channel}");
    }
}
