//! What single members must be: empty is absent where a member may be absent, and an error where it may not.
//!
//! The check is part of reading the value, not done afterwards: only so does the reader still stand behind the value
//! when it says where the fault is.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};

/// A text that must not be empty.
pub(crate) struct Text(pub(crate) String);

/// A SHA-256, in lower case; `None` where the text is empty.
pub(crate) struct OptionalSha256(pub(crate) Option<String>);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NotEmpty;

        impl Visitor<'_> for NotEmpty {
            type Value = Text;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text that is not empty")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Text, E> {
                if text.is_empty() {
                    return Err(E::invalid_value(Unexpected::Str(text), &self));
                }
                Ok(Text(text.to_owned()))
            }
        }

        deserializer.deserialize_str(NotEmpty)
    }
}

/// 64 hex digits, or nothing where nothing will do.
struct HexDigits {
    may_be_empty: bool,
}

impl Visitor<'_> for HexDigits {
    type Value = OptionalSha256;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("64 hexadecimal digits")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<OptionalSha256, E> {
        if text.is_empty() && self.may_be_empty {
            return Ok(OptionalSha256(None));
        }
        if text.len() != 64 || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(E::invalid_value(Unexpected::Str(text), &self));
        }
        Ok(OptionalSha256(Some(text.to_ascii_lowercase())))
    }
}

impl<'de> Deserialize<'de> for OptionalSha256 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(HexDigits { may_be_empty: true })
    }
}

/// A SHA-256 that must be there, in lower case.
pub(crate) struct Sha256(pub(crate) String);

impl<'de> Deserialize<'de> for Sha256 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let OptionalSha256(found) = deserializer.deserialize_str(HexDigits { may_be_empty: false })?;
        Ok(Self(found.unwrap_or_default()))
    }
}

/// Reads a [`Text`], for serde's derive.
pub(crate) fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Text::deserialize(deserializer).map(|Text(text)| text)
}

/// Reads a [`Sha256`], for serde's derive.
pub(crate) fn sha256<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Sha256::deserialize(deserializer).map(|Sha256(text)| text)
}
