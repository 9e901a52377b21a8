//! How upstream's names become Rust identifiers.

use std::collections::BTreeMap;

use proc_macro2::{Ident, Span};

use crate::Error;

/// Endings that a compressed file's format has; one of them is left out of a constant's name.
const COMPRESSION: [&str; 5] = [".gz", ".xz", ".zst", ".zip", ".bz2"];

/// The identifiers of one Rust scope, each with the upstream name that it was made from.
pub(super) struct Scope {
    place: String,
    taken: BTreeMap<String, String>,
}

impl Scope {
    /// `place` is how errors name the scope, and `reserved` are identifiers that it has already.
    pub(super) fn new(place: String, reserved: &[&str]) -> Self {
        let taken = reserved
            .iter()
            .map(|name| {
                ((*name).to_owned(), format!("the name `{name}`, which the generated code needs itself"))
            })
            .collect();
        Self { place, taken }
    }

    /// Makes `text` an identifier of this scope. `original` is how errors name what it was made from.
    ///
    /// # Errors
    ///
    /// When something else in the scope has that identifier already: the error names both.
    pub(super) fn claim(&mut self, text: String, original: String) -> Result<Ident, Error> {
        let ident = identifier(&text)
            .ok_or_else(|| Error::invalid(format!("{}: {original} gives no Rust identifier", self.place)))?;
        if let Some(other) = self.taken.get(&text) {
            return Err(Error::invalid(format!(
                "{}: {other} and {original} would both be `{text}` in Rust",
                self.place
            ))
            .help("rename one, or leave it out with `platforms` or `architectures` in channels.json"));
        }
        self.taken.insert(text, original);
        Ok(ident)
    }
}

/// Returns `text` as an identifier if it is one, by syn's judgement and ours.
fn identifier(text: &str) -> Option<Ident> {
    // `gen` is a keyword since edition 2024.
    if text == "gen" { None } else { syn::parse_str::<Ident>(text).ok() }
}

/// Returns the name of the module for `name`: lower case, `_` for what is neither letter nor digit, `_` in front of a
/// leading digit and behind a keyword.
pub(super) fn module(name: &str) -> String {
    let mut text = words([name], |c| c.to_ascii_lowercase());
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        text.insert(0, '_');
    }
    if identifier(&text).is_none() {
        text.push('_');
    }
    text
}

/// Returns the name of the constant that `parts` make up: upper case, joined by `_`.
pub(super) fn constant<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    words(parts, |c| c.to_ascii_uppercase())
}

fn words<'a>(parts: impl IntoIterator<Item = &'a str>, case: impl Fn(char) -> char) -> String {
    let mut out = String::new();
    for (index, part) in parts.into_iter().enumerate() {
        if index > 0 {
            out.push('_');
        }
        out.extend(part.chars().map(|c| if c.is_ascii_alphanumeric() { case(c) } else { '_' }));
    }
    out
}

/// Returns `format` as constants name it among `formats`, which are those of its platform: without the suffix of a
/// compressed file, unless another format would then have the same name.
pub(super) fn short_format<'a>(format: &'a str, formats: impl IntoIterator<Item = &'a str>) -> &'a str {
    let short = without_compression(format);
    let same = |other: &str| constant([without_compression(other)]) == constant([short]);
    if formats.into_iter().any(|other| other != format && same(other)) { format } else { short }
}

fn without_compression(format: &str) -> &str {
    COMPRESSION
        .iter()
        .find_map(|suffix| format.strip_suffix(suffix))
        .filter(|f| !f.is_empty())
        .unwrap_or(format)
}

/// Returns an identifier of our own, which is one for sure.
pub(super) fn ours(text: &str) -> Ident {
    Ident::new(text, Span::call_site())
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
            assert!(identifier(&module(name)).is_some(), "{name}");
        }
    }

    #[test]
    fn one_compression_suffix_is_left_out_unless_formats_would_collide() {
        assert_eq!(short_format("qcow2.xz", ["qcow2.xz", "iso"]), "qcow2");
        assert_eq!(short_format("tar.gz.xz", ["tar.gz.xz"]), "tar.gz");
        assert_eq!(short_format("qcow2", ["qcow2", "qcow2.gz"]), "qcow2");
        assert_eq!(short_format("qcow2.gz", ["qcow2", "qcow2.gz"]), "qcow2.gz");
        assert_eq!(short_format("qcow2.gz", ["qcow2.gz", "qcow2.xz"]), "qcow2.gz");
        assert_eq!(short_format(".gz", [".gz"]), ".gz");
    }

    #[test]
    fn two_names_that_become_one_are_both_named() {
        let mut scope = Scope::new("pins".into(), &["channels"]);
        scope.claim(module("rhel-9"), "channel `rhel-9`".into()).unwrap();
        let error = scope.claim(module("rhel.9"), "channel `rhel.9`".into()).unwrap_err().to_string();
        assert!(
            error.starts_with(
                "pins: channel `rhel-9` and channel `rhel.9` would both be `rhel_9` in Rust\nhelp: "
            ),
            "{error}"
        );
        let error = scope.claim("channels".into(), "architecture `channels`".into()).unwrap_err().to_string();
        assert!(
            error.starts_with("pins: the name `channels`, which the generated code needs itself and"),
            "{error}"
        );
    }
}
