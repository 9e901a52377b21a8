//! How single members are read: empty is absent where a member may be absent, and an error where it may not.

use serde::de::{Deserialize, Deserializer, Error, Unexpected};

/// A text that must be there and must not be empty.
pub(crate) fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.is_empty() {
        return Err(D::Error::invalid_value(Unexpected::Str(""), &"text that is not empty"));
    }
    Ok(text)
}

/// A text that may be missing, `null` or empty, which is all the same.
pub(crate) fn optional_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.filter(|text| !text.is_empty()))
}

/// A SHA-256 that must be there, in lower case.
pub(crate) fn sha256<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    check_sha256(String::deserialize(deserializer)?)
}

/// A SHA-256 that may be missing, `null` or empty, in lower case.
pub(crate) fn optional_sha256<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<String>, D::Error> {
    optional_text(deserializer)?.map(check_sha256).transpose()
}

fn check_sha256<E: Error>(mut text: String) -> Result<String, E> {
    if text.len() != 64 || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(E::invalid_value(Unexpected::Str(&text), &"64 hexadecimal digits"));
    }
    text.make_ascii_lowercase();
    Ok(text)
}
