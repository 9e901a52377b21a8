//! JSON as pins need it: reading that says where a fault is, and one canonical way of printing.
//!
//! `serde_json::Value` is not used: it takes the last of two equal keys without a word, which would hide a region
//! that is listed twice, and the order of its keys changes with a feature that any other crate of a build may turn on.

use std::fmt;

use serde::de::{self, DeserializeOwned, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

use crate::Error;

mod budget;
mod map;
mod place;
mod print;

pub(crate) use budget::entry;
pub use map::Map;
pub(crate) use map::appears_twice;
pub(crate) use place::join;
pub use print::print;
pub(crate) use print::print_inner;

/// Any JSON value: what upstream has and this crate does not know is kept as one of these.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A whole number, not negative.
    Unsigned(u64),
    /// A whole number, negative.
    Signed(i64),
    /// Any other number; a whole one beyond 64 bits is rounded.
    Float(f64),
    /// Text
    String(String),
    /// A list
    Array(Vec<Value>),
    /// An object
    Object(Map<Value>),
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;

        impl<'de> Visitor<'de> for Any {
            type Value = Value;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON value")
            }

            fn visit_unit<E>(self) -> Result<Value, E> {
                Ok(Value::Null)
            }

            fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
                Ok(Value::Bool(value))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
                Ok(u64::try_from(value).map_or(Value::Signed(value), Value::Unsigned))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
                Ok(Value::Unsigned(value))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
                Ok(Value::Float(value))
            }

            fn visit_str<E: de::Error>(self, value: &str) -> Result<Value, E> {
                budget::text(value.len())?;
                Ok(Value::String(value.to_owned()))
            }

            fn visit_string<E: de::Error>(self, value: String) -> Result<Value, E> {
                budget::text(value.len())?;
                Ok(Value::String(value))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = access.next_element()? {
                    budget::element::<Value, _>()?;
                    values.push(value);
                }
                Ok(Value::Array(values))
            }

            fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<Value, A::Error> {
                let map = Map::deserialize(de::value::MapAccessDeserializer::new(access))?;
                Ok(arbitrary_precision_number(&map).unwrap_or(Value::Object(map)))
            }
        }

        deserializer.deserialize_any(Any)
    }
}

/// With serde_json's feature `arbitrary_precision`, which any crate of a build may turn on for all, a number comes as an
/// object with this one key.
fn arbitrary_precision_number(map: &Map<Value>) -> Option<Value> {
    let Some(Value::String(text)) = map.get("$serde_json::private::Number").filter(|_| map.len() == 1) else {
        return None;
    };
    let unsigned = text.parse().map(Value::Unsigned);
    let whole = unsigned.or_else(|_| text.parse().map(Value::Signed)).ok();
    whole.or_else(|| text.parse().ok().filter(|float: &f64| float.is_finite()).map(Value::Float))
}

/// Reads `bytes` as a `T`. A byte order mark and any layout are accepted; `document` is how errors name the bytes.
///
/// # Errors
///
/// What is not JSON, or not a `T`, is an error that names `document`, the place in it and what was expected there.
/// An HTML page and the markers of an unfinished merge are called by their names. So is a document that would become too
/// large a model; what anybody publishes is far from that.
pub fn read<T: DeserializeOwned>(document: &str, bytes: &[u8]) -> Result<T, Error> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    budget::within(bytes.len(), || serde_json::from_slice(bytes))
        .map_err(|error| fault(document, bytes, error))
}

/// Reads an already parsed `value`, the member `key` of `document`, as a `T`.
///
/// # Errors
///
/// As [`read`], without line and column.
pub(crate) fn read_value<T: DeserializeOwned>(document: &str, key: &str, value: &Value) -> Result<T, Error> {
    let text = print(value);
    serde_json::from_slice(text.as_bytes()).map_err(|error| {
        let place = place::at(text.as_bytes(), error.line(), error.column());
        let separator = if place.is_empty() { "" } else { "." };
        Error::invalid(format!("{document}: {key}{separator}{place}: {}", message(&error))).caused_by(error)
    })
}

fn fault(document: &str, bytes: &[u8], error: serde_json::Error) -> Error {
    if let Some(line) = bytes.split(|&b| b == b'\n').position(is_merge_marker) {
        return Error::invalid(format!("{document}: line {} is the marker of an unfinished merge", line + 1))
            .help("finish the merge (`git status` names the file), or take one side: `git checkout --ours`");
    }
    let start = bytes.trim_ascii_start();
    if start.first() == Some(&b'<') {
        let extract: String = String::from_utf8_lossy(start).chars().take(60).collect();
        return Error::invalid(format!(
            "{document}: expected JSON, found what looks like an HTML page: `{extract}`"
        ));
    }
    if start.is_empty() {
        return Error::invalid(format!("{document}: the file is empty; expected JSON"));
    }
    let (line, column) = (error.line(), error.column());
    let mut place = place::at(bytes, line, column);
    if !place.is_empty() {
        place.push_str(": ");
    }
    Error::invalid(format!("{document}: {place}{} (line {line}, column {column})", message(&error)))
        .caused_by(error)
}

/// Returns what `error` says, without line and column, and not at any length.
fn message(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    crate::error::shorten(text.strip_suffix(&position).unwrap_or(&text), 300)
}

fn is_merge_marker(line: &[u8]) -> bool {
    [b"<<<<<<< ".as_slice(), b">>>>>>> ", b"||||||| "].iter().any(|marker| line.starts_with(marker))
        || line.trim_ascii_end() == b"======="
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        read("test.json", text.as_bytes()).unwrap()
    }

    fn refusal(text: &str) -> String {
        read::<Value>("test.json", text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn prints_scalar_only_objects_and_lists_on_one_line() {
        let text = r#"{"b":{"y":[1,"two",null],"x":{"k":true,"a":-1.5}},"a":{},"c":[],"list":[{"k":1}]}"#;
        let canonical = r#"{
  "a": {},
  "b": {
    "x": { "a": -1.5, "k": true },
    "y": [ 1, "two", null ]
  },
  "c": [],
  "list": [
    { "k": 1 }
  ]
}
"#;
        assert_eq!(print(&value(text)), canonical);
    }

    #[test]
    fn canonical_text_reads_back_equal_and_prints_the_same() {
        let text = r#"{"int":18446744073709551615,"neg":-9223372036854775808,"text":"a\"b\\c{}\n\u0000\u202eé","deep":[[{"":{}}]]}"#;
        let first = value(text);
        let printed = print(&first);
        assert_eq!(value(&printed), first);
        assert_eq!(print(&value(&printed)), printed);
        assert!(printed.contains("18446744073709551615") && printed.contains("\u{202e}é"));
    }

    #[test]
    fn byte_order_mark_and_crlf_are_accepted() {
        assert_eq!(value("\u{feff}{\r\n\t\"a\": 1\r\n}"), value(r#"{"a":1}"#));
    }

    #[test]
    fn a_key_that_appears_twice_is_named_with_its_place() {
        assert_eq!(
            refusal("{\"a\": {\n\"k\": 1, \"k\": 1}}"),
            "test.json: a: the key `k` appears twice (line 2, column 15)"
        );
    }

    #[test]
    fn merge_markers_html_and_empty_files_are_called_by_name() {
        let merge = refusal("{\n<<<<<<< HEAD\n\"a\": 1\n=======\n\"a\": 2\n>>>>>>> other\n}");
        assert!(
            merge.starts_with("test.json: line 2 is the marker of an unfinished merge\nhelp: "),
            "{merge}"
        );
        assert_eq!(
            refusal(" <!DOCTYPE html><html>"),
            "test.json: expected JSON, found what looks like an HTML page: `<!DOCTYPE html><html>`"
        );
        assert_eq!(refusal(" \n"), "test.json: the file is empty; expected JSON");
    }

    #[test]
    fn half_a_file_and_text_behind_the_end_are_refused() {
        assert_eq!(refusal("{\"a\": [1,"), "test.json: a[1]: EOF while parsing a value (line 1, column 9)");
        assert_eq!(refusal("{} {}"), "test.json: trailing characters (line 1, column 4)");
    }

    #[test]
    fn nesting_without_end_is_refused() {
        assert!(refusal(&"[".repeat(100_000)).contains("recursion limit exceeded"));
    }
}
