//! The canonical form: keys sorted, two spaces, one line for what holds scalars only.
//!
//! Printed straight from the model. Going through a tree of values first costs ten times as long in a build script that
//! is not optimised.

use std::fmt::{self, Display, Write};

use serde::ser::{self, Impossible, Serialize, SerializeMap, SerializeSeq, SerializeStruct, Serializer};

/// Returns the canonical text of `value`, with a final newline.
///
/// # Panics
///
/// When `value` has what JSON or pins do not: an object whose keys are no strings, a number that is none, bytes.
pub fn print(value: &impl Serialize) -> String {
    let mut text = print_inner(value, 0);
    text.push('\n');
    text
}

/// Returns the canonical text of `value` inside `depth` objects or lists, without a final newline.
///
/// # Panics
///
/// As [`print`].
pub(crate) fn print_inner(value: &impl Serialize, depth: usize) -> String {
    value.serialize(Printer { depth }).expect("models serialise to JSON").text
}

/// A printed value.
struct Printed {
    text: String,
    is_scalar: bool,
}

impl Printed {
    fn scalar(text: impl Into<String>) -> Result<Self, NotJson> {
        Ok(Self { text: text.into(), is_scalar: true })
    }
}

/// Prints a value that is inside `depth` objects or lists.
struct Printer {
    depth: usize,
}

/// An object or list in the making: the items are printed, and known to hold scalars only or not.
struct Items {
    depth: usize,
    keys: Vec<String>,
    values: Vec<Printed>,
}

impl Items {
    fn new(depth: usize, length: usize) -> Self {
        Self { depth, keys: Vec::with_capacity(length), values: Vec::with_capacity(length) }
    }

    fn push(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), NotJson> {
        self.values.push(value.serialize(Printer { depth: self.depth + 1 })?);
        Ok(())
    }

    fn list(self) -> Printed {
        self.enclose('[', ']')
    }

    fn object(mut self) -> Printed {
        // Fields of a struct come as they were declared; those of a map are sorted already.
        let mut order: Vec<usize> = (0..self.keys.len()).collect();
        if !self.keys.is_sorted() {
            order.sort_by_key(|index| &self.keys[*index]);
        }
        let is_scalar = |value: &Printed| value.is_scalar;
        let mut values = Vec::with_capacity(order.len());
        for index in order {
            let mut text = String::new();
            print_text(&self.keys[index], &mut text);
            text.push_str(": ");
            text.push_str(&self.values[index].text);
            values.push(Printed { text, is_scalar: is_scalar(&self.values[index]) });
        }
        self.values = values;
        self.enclose('{', '}')
    }

    fn enclose(self, open: char, close: char) -> Printed {
        let mut text = String::from(open);
        let one_line = self.values.iter().all(|value| value.is_scalar);
        let separator =
            |depth: usize| if one_line { " ".to_owned() } else { "\n".to_owned() + &"  ".repeat(depth) };
        let between = separator(self.depth + 1);
        for (index, value) in self.values.iter().enumerate() {
            text.push_str(if index > 0 { "," } else { "" });
            text.push_str(&between);
            text.push_str(&value.text);
        }
        if !self.values.is_empty() {
            text.push_str(&separator(self.depth));
        }
        text.push(close);
        Printed { text, is_scalar: false }
    }
}

/// Prints `text` as a JSON string: unescaped, but for what JSON forbids.
fn print_text(text: &str, out: &mut String) {
    // Rust's own quoting escapes all that JSON must, and more. Where it changes nothing there is nothing to escape; it
    // is compiled with the standard library, and so is fast in a build script that is not optimised.
    let start = out.len();
    write!(out, "{text:?}").expect("a String takes all text");
    if out.len() == start + text.len() + 2 {
        return;
    }
    out.truncate(start);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..' ' => write!(out, "\\u{:04x}", u32::from(c)).expect("a String takes all text"),
            _ => out.push(c),
        }
    }
    out.push('"');
}

/// What a model would have to hold for printing to fail. None does.
#[derive(Debug)]
struct NotJson(String);

impl Display for NotJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotJson {}

impl ser::Error for NotJson {
    fn custom<T: Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

impl SerializeMap for Items {
    type Ok = Printed;
    type Error = NotJson;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), NotJson> {
        // Keys are sorted as they are, not as they are quoted.
        let quoted = key.serialize(Printer { depth: 0 })?.text;
        match quoted.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
            Some(plain) if !plain.contains('\\') => self.keys.push(plain.to_owned()),
            _ => self.keys.push(serde_json::from_slice(quoted.as_bytes()).map_err(ser::Error::custom)?),
        }
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotJson> {
        self.push(value)
    }

    fn end(self) -> Result<Printed, NotJson> {
        Ok(self.object())
    }
}

impl SerializeStruct for Items {
    type Ok = Printed;
    type Error = NotJson;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), NotJson> {
        self.keys.push(key.to_owned());
        self.push(value)
    }

    fn end(self) -> Result<Printed, NotJson> {
        Ok(self.object())
    }
}

impl SerializeSeq for Items {
    type Ok = Printed;
    type Error = NotJson;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotJson> {
        self.push(value)
    }

    fn end(self) -> Result<Printed, NotJson> {
        Ok(self.list())
    }
}

impl Serializer for Printer {
    type Ok = Printed;
    type Error = NotJson;
    type SerializeSeq = Items;
    type SerializeTuple = Impossible<Printed, NotJson>;
    type SerializeTupleStruct = Impossible<Printed, NotJson>;
    type SerializeTupleVariant = Impossible<Printed, NotJson>;
    type SerializeMap = Items;
    type SerializeStruct = Items;
    type SerializeStructVariant = Impossible<Printed, NotJson>;

    fn serialize_bool(self, value: bool) -> Result<Printed, NotJson> {
        Printed::scalar(if value { "true" } else { "false" })
    }

    fn serialize_i64(self, value: i64) -> Result<Printed, NotJson> {
        Printed::scalar(value.to_string())
    }

    fn serialize_u64(self, value: u64) -> Result<Printed, NotJson> {
        Printed::scalar(value.to_string())
    }

    fn serialize_f64(self, value: f64) -> Result<Printed, NotJson> {
        // The shortest text that reads back as the same number, always with a point or an exponent.
        if value.is_finite() {
            Printed::scalar(format!("{value:?}"))
        } else {
            refuse("a number that is none")
        }
    }

    fn serialize_str(self, value: &str) -> Result<Printed, NotJson> {
        let mut text = String::with_capacity(value.len() + 2);
        print_text(value, &mut text);
        Printed::scalar(text)
    }

    fn serialize_unit(self) -> Result<Printed, NotJson> {
        Printed::scalar("null")
    }

    fn serialize_none(self) -> Result<Printed, NotJson> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Printed, NotJson> {
        value.serialize(self)
    }

    fn serialize_unit_variant(self, _: &str, _: u32, name: &str) -> Result<Printed, NotJson> {
        self.serialize_str(name)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &str, value: &T) -> Result<Printed, NotJson> {
        value.serialize(self)
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Items, NotJson> {
        Ok(Items::new(self.depth, length.unwrap_or(0)))
    }

    fn serialize_map(self, length: Option<usize>) -> Result<Items, NotJson> {
        Ok(Items::new(self.depth, length.unwrap_or(0)))
    }

    fn serialize_struct(self, _: &str, length: usize) -> Result<Items, NotJson> {
        Ok(Items::new(self.depth, length))
    }

    fn serialize_i8(self, value: i8) -> Result<Printed, NotJson> {
        self.serialize_i64(value.into())
    }

    fn serialize_i16(self, value: i16) -> Result<Printed, NotJson> {
        self.serialize_i64(value.into())
    }

    fn serialize_i32(self, value: i32) -> Result<Printed, NotJson> {
        self.serialize_i64(value.into())
    }

    fn serialize_u8(self, value: u8) -> Result<Printed, NotJson> {
        self.serialize_u64(value.into())
    }

    fn serialize_u16(self, value: u16) -> Result<Printed, NotJson> {
        self.serialize_u64(value.into())
    }

    fn serialize_u32(self, value: u32) -> Result<Printed, NotJson> {
        self.serialize_u64(value.into())
    }

    fn serialize_f32(self, value: f32) -> Result<Printed, NotJson> {
        self.serialize_f64(value.into())
    }

    fn serialize_char(self, value: char) -> Result<Printed, NotJson> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<Printed, NotJson> {
        refuse("bytes")
    }

    fn serialize_unit_struct(self, _: &str) -> Result<Printed, NotJson> {
        self.serialize_unit()
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &str,
        _: u32,
        _: &str,
        _: &T,
    ) -> Result<Printed, NotJson> {
        refuse("a variant with data")
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, NotJson> {
        refuse("a tuple")
    }

    fn serialize_tuple_struct(self, _: &str, _: usize) -> Result<Self::SerializeTupleStruct, NotJson> {
        refuse("a tuple")
    }

    fn serialize_tuple_variant(
        self,
        _: &str,
        _: u32,
        _: &str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, NotJson> {
        refuse("a variant with data")
    }

    fn serialize_struct_variant(
        self,
        _: &str,
        _: u32,
        _: &str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, NotJson> {
        refuse("a variant with data")
    }
}

fn refuse<T>(what: &str) -> Result<T, NotJson> {
    Err(NotJson(format!("{what} has no place in JSON")))
}
