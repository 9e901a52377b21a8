//! What single members must be: empty is absent where a member may be absent, and an error where it may not.

use serde::de::{Deserialize, Deserializer, Error, Unexpected};

/// A text that must not be empty.
pub(crate) fn check_text<E: Error>(text: String) -> Result<String, E> {
    if text.is_empty() {
        return Err(E::invalid_value(Unexpected::Str(""), &"text that is not empty"));
    }
    Ok(text)
}

/// A SHA-256, in lower case.
pub(crate) fn check_sha256<E: Error>(mut text: String) -> Result<String, E> {
    if text.len() != 64 || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(E::invalid_value(Unexpected::Str(&text), &"64 hexadecimal digits"));
    }
    text.make_ascii_lowercase();
    Ok(text)
}

/// Reads what [`check_text`] checks, for serde's derive.
pub(crate) fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    check_text(String::deserialize(deserializer)?)
}

/// Reads what [`check_sha256`] checks, for serde's derive.
pub(crate) fn sha256<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    check_sha256(String::deserialize(deserializer)?)
}
