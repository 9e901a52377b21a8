//! How upstream's names become Rust identifiers.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt::{self, Display};

use crate::Error;

/// Endings that a compressed file's format has; one of them is left out of a constant's name.
const COMPRESSION: [&str; 5] = [".gz", ".xz", ".zst", ".zip", ".bz2"];

/// A Rust identifier, checked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ident(String);

impl Display for Ident {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What an identifier was made from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Original<'a> {
    /// Nothing of upstream's: generated code has it itself.
    Ours(&'static str),
    Channel(&'a str),
    Architecture(&'a str),
    Builder(&'a str),
    Ami {
        region: &'a str,
    },
    File {
        platform: &'a str,
        format: &'a str,
        kind: &'a str,
        what: &'static str,
    },
}

impl Display for Original<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ours(name) => write!(f, "the name `{name}`, which the generated code needs itself"),
            Self::Channel(name) => write!(f, "channel `{name}`"),
            Self::Architecture(name) => write!(f, "architecture `{name}`"),
            Self::Builder(name) => write!(f, "builder `{name}`"),
            Self::Ami { region } => write!(f, "the AMI of region `{region}`"),
            Self::File { platform, format, kind, what } => {
                write!(f, "{what} of platform `{platform}`, format `{format}`, {kind}")
            }
        }
    }
}

/// The identifiers of one Rust scope, each with what it was made from.
pub(super) struct Scope<'a> {
    place: String,
    taken: BTreeMap<Ident, Original<'a>>,
}

impl<'a> Scope<'a> {
    /// `place` is how errors name the scope, and `reserved` are identifiers that it has already.
    pub(super) fn new(place: impl Into<String>, reserved: &[&'static str]) -> Self {
        let taken = reserved.iter().map(|name| (Ident((*name).to_owned()), Original::Ours(name)));
        Self { place: place.into(), taken: taken.collect() }
    }

    /// Makes `text` an identifier of this scope.
    ///
    /// # Errors
    ///
    /// When `text` is no identifier, or something else in the scope has it already: the error names both.
    pub(super) fn claim(&mut self, text: String, original: Original<'a>) -> Result<Ident, Error> {
        let place = &self.place;
        if !is_identifier(&text) {
            return Err(Error::invalid(format!("{place}: {original} gives no Rust identifier")));
        }
        match self.taken.entry(Ident(text)) {
            Entry::Vacant(vacant) => {
                let ident = vacant.key().clone();
                vacant.insert(original);
                Ok(ident)
            }
            Entry::Occupied(taken) => Err(Error::invalid(format!(
                "{place}: {} and {original} would both be `{}` in Rust",
                taken.get(),
                taken.key()
            ))
            .help(match original {
                Original::Channel(_) => "rename one of the two files",
                Original::Builder(_) => "rename one of the two folders",
                _ => "take one of them out of the pin; `platforms` and `architectures` in channels.json do, at the next bump",
            })),
        }
    }
}

/// Tells whether `text` is an identifier, of ASCII only. Keywords all have a lower-case letter, so that only text with
/// one is put before syn, which takes its time.
fn is_identifier(text: &str) -> bool {
    let mut has_lower_case = false;
    for byte in text.as_bytes() {
        match byte {
            b'a'..=b'z' => has_lower_case = true,
            b'A'..=b'Z' | b'0'..=b'9' | b'_' => {}
            _ => return false,
        }
    }
    match text.as_bytes().first() {
        None | Some(b'0'..=b'9') => return false,
        Some(_) if text == "_" => return false,
        Some(_) => {}
    }
    // `gen` is a keyword since edition 2024.
    !has_lower_case || (text != "gen" && syn::parse_str::<syn::Ident>(text).is_ok())
}

/// Returns the name of the module for `name`: lower case, `_` for what is neither letter nor digit, `_` in front of a
/// leading digit and behind a keyword.
pub(super) fn module(name: &str) -> String {
    let mut text = word(name);
    text.make_ascii_lowercase();
    if !is_identifier(&text) {
        text.push('_');
    }
    text
}

/// Returns the name of the constant that `parts` make up: upper case, joined by `_`, otherwise as [`module`].
pub(super) fn constant(parts: &[&str]) -> String {
    let mut text = word(&parts.join("_"));
    text.make_ascii_uppercase();
    text
}

fn word(name: &str) -> String {
    let other = |c: char| !c.is_ascii_alphanumeric();
    let mut text = name.replace(other, "_");
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        text.insert(0, '_');
    }
    text
}

/// Returns each of `formats`, which are those of one platform, with what constants call it: without the suffix of a
/// compressed file, unless another format would then have the same name.
pub(super) fn short_formats<'a>(formats: impl IntoIterator<Item = &'a str>) -> BTreeMap<&'a str, &'a str> {
    let short = formats.into_iter().map(|format| (format, without_compression(format)));
    let short: Vec<(&str, &str, String)> = short.map(|(f, short)| (f, short, constant(&[short]))).collect();
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    short.iter().for_each(|(.., name)| *names.entry(name).or_default() += 1);
    let is_shared = |name: &String| names[name.as_str()] > 1;
    short
        .iter()
        .map(|(format, short, name)| (*format, if is_shared(name) { *format } else { *short }))
        .collect()
}

fn without_compression(format: &str) -> &str {
    COMPRESSION
        .iter()
        .find_map(|suffix| format.strip_suffix(suffix))
        .filter(|f| !f.is_empty())
        .unwrap_or(format)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_lower_case_identifiers() {
        for (name, expected) in [
            ("rhel-9", "rhel_9"),
            ("4.16-9.4", "_4_16_9_4"),
            ("x86_64", "x86_64"),
            ("Next", "next"),
            ("dyn", "dyn_"),
            ("gen", "gen_"),
            ("self", "self_"),
            ("é\"{}", "____"),
            ("-", "__"),
        ] {
            assert_eq!(module(name), expected, "{name}");
            assert!(syn::parse_str::<syn::Ident>(&module(name)).is_ok(), "{name}");
        }
    }

    #[test]
    fn one_compression_suffix_is_left_out_unless_formats_would_collide() {
        for (formats, expected) in [
            (["qcow2.xz", "iso"], ["qcow2", "iso"]),
            (["tar.gz.xz", "4k.raw.gz"], ["tar.gz", "4k.raw"]),
            (["qcow2", "qcow2.gz"], ["qcow2", "qcow2.gz"]),
            (["qcow2.gz", "qcow2.xz"], ["qcow2.gz", "qcow2.xz"]),
            (["a-b.gz", "a.b.gz"], ["a-b.gz", "a.b.gz"]),
            ([".gz", "ova"], [".gz", "ova"]),
        ] {
            let short = short_formats(formats);
            assert_eq!(formats.map(|format| short[format]), expected);
        }
    }

    #[test]
    fn constants_are_identifiers_too() {
        for (parts, expected) in [
            (["AMI", "us-east-1"], "AMI_US_EAST_1"),
            (["metal", "4k.raw"], "METAL_4K_RAW"),
            (["3par", "é.x"], "_3PAR___X"),
        ] {
            assert_eq!(constant(&parts), expected);
            assert!(is_identifier(expected) && syn::parse_str::<syn::Ident>(expected).is_ok());
        }
    }

    #[test]
    fn what_is_taken_for_an_identifier_is_one() {
        for text in ["", "_", "1a", "a-b", "a b", "é", "r#a", "fn", "Self", "gen", "async"] {
            assert!(!is_identifier(text), "{text}");
        }
        for text in ["_a", "__", "SELF", "union", "a1"] {
            assert!(is_identifier(text) && syn::parse_str::<syn::Ident>(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn two_names_that_become_one_are_both_named() {
        let mut scope = Scope::new("pins", &["channels"]);
        scope.claim(module("rhel-9"), Original::Channel("rhel-9")).unwrap();
        let error = scope.claim(module("rhel.9"), Original::Channel("rhel.9")).unwrap_err().to_string();
        assert!(
            error.starts_with(
                "pins: channel `rhel-9` and channel `rhel.9` would both be `rhel_9` in Rust\nhelp: "
            ),
            "{error}"
        );
        let error =
            scope.claim("channels".into(), Original::Architecture("channels")).unwrap_err().to_string();
        assert!(
            error.starts_with("pins: the name `channels`, which the generated code needs itself and"),
            "{error}"
        );
    }
}
