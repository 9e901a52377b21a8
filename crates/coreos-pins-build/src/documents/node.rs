//! A value in a document, and where it is: how the readers of documents ask for members.
//!
//! The readers walk a [`Value`] instead of deriving serde's traits for their shapes: what they look for is a small part
//! of what is there, a shape has changed more than once, and derived readers of types that no one keeps would be
//! compiled by everyone who embeds pins. A missing member, `null` and an empty text are the same: absent.

use crate::Error;
use crate::error::shorten;
use crate::json::{Map, Value, join, print};

#[derive(Clone)]
pub(super) struct Node<'a> {
    document: &'a str,
    path: String,
    value: &'a Value,
}

impl<'a> Node<'a> {
    /// Returns the top of `document`.
    pub(super) fn top(document: &'a str, value: &'a Value) -> Self {
        Self { document, path: String::new(), value }
    }

    /// Tells whether there is nothing here.
    pub(super) fn is_absent(&self) -> bool {
        matches!(self.value, Value::Null)
    }

    /// Tells whether this is an object.
    pub(super) fn is_object(&self) -> bool {
        matches!(self.value, Value::Object(_))
    }

    /// Returns the member `key`, which may be absent, of an object, which may too.
    ///
    /// # Errors
    ///
    /// What is no object.
    pub(super) fn get(&self, key: &str) -> Result<Self, Error> {
        let value = match self.value {
            Value::Object(members) => members.get(key).unwrap_or(&Value::Null),
            Value::Null => &Value::Null,
            _ => return Err(self.fault("an object")),
        };
        Ok(Self { document: self.document, path: join(self.path.clone(), key), value })
    }

    /// Returns the entries of an object, which may be absent.
    ///
    /// # Errors
    ///
    /// What is no object.
    pub(super) fn entries(&self) -> Result<impl ExactSizeIterator<Item = (&'a str, Self)>, Error> {
        const NONE: &Map<Value> = &Map::new();
        let members = match self.value {
            Value::Object(members) => members,
            Value::Null => NONE,
            _ => return Err(self.fault("an object")),
        };
        let entry =
            |(key, value)| (key, Self { document: self.document, path: join(self.path.clone(), key), value });
        Ok(members.iter().map(entry))
    }

    /// Returns the elements of a list, which may be absent.
    ///
    /// # Errors
    ///
    /// What is no list.
    pub(super) fn elements(&self) -> Result<impl ExactSizeIterator<Item = Self>, Error> {
        let values = match self.value {
            Value::Array(values) => values.as_slice(),
            Value::Null => &[],
            _ => return Err(self.fault("a list")),
        };
        let element =
            |(index, value)| Self { document: self.document, path: format!("{}[{index}]", self.path), value };
        Ok(values.iter().enumerate().map(element))
    }

    /// Returns the elements of a list of texts, which may be absent.
    ///
    /// # Errors
    ///
    /// What is no list, and an element that is no text or empty.
    pub(super) fn texts(&self) -> Result<Vec<String>, Error> {
        self.elements()?.map(|element| element.text()).collect()
    }

    /// Returns a text that must be there.
    ///
    /// # Errors
    ///
    /// What is absent, or no text.
    pub(super) fn text(&self) -> Result<String, Error> {
        self.optional_text()?.map(str::to_owned).ok_or_else(|| self.fault("text that is not empty"))
    }

    /// Returns a text that may be absent.
    ///
    /// # Errors
    ///
    /// What is no text.
    pub(super) fn optional_text(&self) -> Result<Option<&'a str>, Error> {
        match self.value {
            Value::Null => Ok(None),
            Value::String(text) => Ok(Some(text.as_str()).filter(|text| !text.is_empty())),
            _ => Err(self.fault("text")),
        }
    }

    /// Returns a SHA-256 that must be there, in lower case.
    ///
    /// # Errors
    ///
    /// What is absent, or no SHA-256.
    pub(super) fn sha256(&self) -> Result<String, Error> {
        self.optional_sha256()?.ok_or_else(|| self.fault(SHA256))
    }

    /// Returns a SHA-256 that may be absent, in lower case.
    ///
    /// # Errors
    ///
    /// What is no SHA-256.
    pub(super) fn optional_sha256(&self) -> Result<Option<String>, Error> {
        match self.value {
            Value::Null => Ok(None),
            Value::String(text) if text.is_empty() => Ok(None),
            Value::String(text) if text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit()) => {
                Ok(Some(text.to_ascii_lowercase()))
            }
            _ => Err(self.fault(SHA256)),
        }
    }

    /// Tells whether a flag is set, which may be absent; some were written as text.
    ///
    /// # Errors
    ///
    /// What is no flag.
    pub(super) fn flag(&self) -> Result<bool, Error> {
        match self.value {
            Value::Bool(flag) => Ok(*flag),
            Value::String(text) if text == "true" => Ok(true),
            Value::String(text) if text == "false" || text.is_empty() => Ok(false),
            Value::Null => Ok(false),
            _ => Err(self.fault("`true` or `false`")),
        }
    }

    /// Returns the value itself.
    pub(super) fn value(&self) -> &'a Value {
        self.value
    }

    /// Returns the document's name.
    pub(super) fn document(&self) -> &'a str {
        self.document
    }

    /// Returns where in the document this is, as errors spell it.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// Returns the error that something else was `expected` here.
    pub(super) fn fault(&self, expected: &str) -> Error {
        let found = match self.value {
            Value::Null => "none".to_owned(),
            Value::String(text) if text.is_empty() => "an empty text".to_owned(),
            Value::String(text) => format!("`{}`", shorten(text, 100)),
            Value::Array(_) => "a list".to_owned(),
            Value::Object(_) => "an object".to_owned(),
            scalar => format!("`{}`", print(scalar).trim()),
        };
        self.error(&format!("expected {expected}, found {found}"))
    }

    /// Returns the error that `what` is wrong here.
    pub(super) fn error(&self, what: &str) -> Error {
        let Self { document, path, .. } = self;
        let separator = if path.is_empty() { "" } else { ": " };
        Error::invalid(format!("{document}: {path}{separator}{what}"))
    }
}

const SHA256: &str = "64 hexadecimal digits";

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        crate::json::read("d", text.as_bytes()).unwrap()
    }

    fn fault<T>(result: Result<T, Error>) -> String {
        result.err().unwrap().to_string()
    }

    #[test]
    fn absent_is_missing_null_and_empty() {
        let value = value(r#"{"null": null, "empty": "", "a": {"b": "c"}}"#);
        let top = Node::top("d", &value);
        for key in ["missing", "null", "empty"] {
            let node = top.get(key).unwrap();
            assert_eq!(node.optional_text().unwrap(), None);
            assert_eq!(node.optional_sha256().unwrap(), None);
            assert!(!node.flag().unwrap());
        }
        assert!(top.get("missing").unwrap().get("b").unwrap().is_absent());
        assert!(top.get("null").unwrap().entries().unwrap().next().is_none());
        assert!(top.get("null").unwrap().elements().unwrap().next().is_none());
        assert_eq!(top.get("a").unwrap().get("b").unwrap().text().unwrap(), "c");
        assert_eq!(
            fault(top.get("missing").unwrap().text()),
            "d: missing: expected text that is not empty, found none"
        );
        assert_eq!(
            fault(top.get("empty").unwrap().text()),
            "d: empty: expected text that is not empty, found an empty text"
        );
        assert_eq!(
            fault(top.get("null").unwrap().sha256()),
            "d: null: expected 64 hexadecimal digits, found none"
        );
    }

    #[test]
    fn faults_say_where_and_what_was_found() {
        let value = value(r#"{"list": [1, {"a b": []}], "text": "x", "yes": "true", "no": false}"#);
        let top = Node::top("d", &value);
        let list = top.get("list").unwrap();
        let list: Vec<Node<'_>> = list.elements().unwrap().collect();
        assert_eq!(fault(list[0].text()), "d: list[0]: expected text, found `1`");
        assert_eq!(fault(list[0].get("x")), "d: list[0]: expected an object, found `1`");
        assert_eq!(
            fault(list[1].get("a b").unwrap().entries()),
            "d: list[1].\"a b\": expected an object, found a list"
        );
        assert_eq!(fault(list[1].elements()), "d: list[1]: expected a list, found an object");
        assert_eq!(fault(list[1].flag()), "d: list[1]: expected `true` or `false`, found an object");
        assert_eq!(fault(top.get("text").unwrap().flag()), "d: text: expected `true` or `false`, found `x`");
        assert!(top.get("yes").unwrap().flag().unwrap() && !top.get("no").unwrap().flag().unwrap());
        assert_eq!(fault(top.text()), "d: expected text, found an object");
    }

    #[test]
    fn a_checksum_is_64_hexadecimal_digits_in_lower_case() {
        for (text, is_good) in
            [("a".repeat(64), true), ("A".repeat(64), true), ("g".repeat(64), false), ("a".repeat(65), false)]
        {
            let value = Value::String(text);
            let sum = Node::top("d", &value).sha256();
            assert_eq!(sum.as_deref().ok(), is_good.then_some("a".repeat(64).as_str()));
        }
        assert_eq!(
            fault(Node::top("d", &Value::Unsigned(7)).optional_sha256()),
            "d: expected 64 hexadecimal digits, found `7`"
        );
    }
}
