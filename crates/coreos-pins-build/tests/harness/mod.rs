//! What the tests of the engine share: documents made of a few names, and what is generated of them.

#![allow(dead_code, unreachable_pub, reason = "each test file uses a part")]

use std::collections::{BTreeMap, BTreeSet};

use coreos_pins_build::Error;
use coreos_pins_build::generate::{FILE, generate};
use coreos_pins_build::pin::Pin;
use coreos_pins_build::resolve::{Channel, Origin, Resolved};
use serde_json::{Value, json};

/// A SHA-256 like any other.
pub const SHA: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// A document for each architecture with the files (platform, format, kind) and the AMI regions that are given.
pub fn document(architectures: &[&str], files: &[(&str, &str, &str)], regions: &[&str]) -> String {
    let mut artifacts: BTreeMap<&str, BTreeMap<&str, BTreeMap<&str, Value>>> = BTreeMap::new();
    for (platform, format, kind) in files {
        let file = json!({ "location": "https://example.com/f", "sha256": SHA });
        artifacts.entry(platform).or_default().entry(format).or_default().insert(kind, file);
    }
    let artifacts: BTreeMap<_, _> = artifacts
        .into_iter()
        .map(|(platform, formats)| (platform, json!({ "release": "1", "formats": formats })))
        .collect();
    let regions: BTreeMap<_, _> =
        regions.iter().map(|region| (*region, json!({ "release": "1", "image": "ami-1" }))).collect();
    let architecture = json!({ "artifacts": artifacts, "images": { "aws": { "regions": regions } } });
    let architectures: BTreeMap<_, _> = architectures.iter().map(|name| (*name, &architecture)).collect();
    json!({ "stream": "s", "architectures": architectures }).to_string()
}

/// Channels by name, each with the text of its pin. The first by name is the default.
pub fn resolved(channels: &[(&str, &str)]) -> Resolved {
    let channel = |text: &str| Channel {
        base_url: "https://example.com".into(),
        origin: Origin::Pinned,
        release_image: None,
        builders: BTreeMap::new(),
        pin: Pin::read("test", text.as_bytes()).expect("a pin"),
    };
    let channels: BTreeMap<String, Channel> =
        channels.iter().map(|(name, text)| ((*name).to_owned(), channel(text))).collect();
    let default = channels.keys().next().expect("a channel").clone();
    Resolved::new(default, channels)
}

/// The Rust code for `channels`.
pub fn generated(channels: &[(&str, &str)]) -> Result<String, Error> {
    Ok(generate(&resolved(channels))?.remove(FILE).expect("the code"))
}

/// The items of the module at `path`.
#[track_caller]
pub fn items(code: &str, path: &[&str]) -> Vec<syn::Item> {
    let mut items = syn::parse_file(code).expect("Rust").items;
    for name in path {
        let module = items.into_iter().find_map(|item| match item {
            syn::Item::Mod(module) if module.ident == name => module.content,
            _ => None,
        });
        items = module.unwrap_or_else(|| panic!("no module {name}")).1;
    }
    items
}

/// The names of the public constants in the module at `path`.
#[track_caller]
pub fn constants(code: &str, path: &[&str]) -> BTreeSet<String> {
    let public = |item: syn::Item| match item {
        syn::Item::Const(item) if matches!(item.vis, syn::Visibility::Public(_)) => {
            Some(item.ident.to_string())
        }
        _ => None,
    };
    items(code, path).into_iter().filter_map(public).collect()
}

/// The text of the constant `name` in the module at `path`.
#[track_caller]
pub fn text_of(code: &str, path: &[&str], name: &str) -> String {
    let value = items(code, path).into_iter().find_map(|item| match item {
        syn::Item::Const(item) if item.ident == name => Some(*item.expr),
        _ => None,
    });
    match value {
        Some(syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. })) => text.value(),
        _ => panic!("no text {name}"),
    }
}

/// Names, sorted.
pub fn names(list: &[&str]) -> BTreeSet<String> {
    list.iter().map(|name| (*name).to_owned()).collect()
}

/// What holds for every error, whatever is in the input: it is short, and nothing in it acts on a terminal or on cargo.
#[track_caller]
pub fn check(error: &Error) {
    let text = error.to_string();
    assert!(text.len() < 4_000, "{} bytes", text.len());
    let acts = |c: char| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    assert!(text.lines().all(|line| !line.contains(acts)), "{text:?}");
    assert_eq!(error.exit_status(), 2, "{text}");
}
