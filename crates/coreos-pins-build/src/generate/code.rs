//! The text of a Rust file in the making.

use std::fmt::{self, Display, Write};

/// Rust code, line by line.
#[derive(Default)]
pub(super) struct Code {
    text: String,
    depth: usize,
}

impl Code {
    /// Adds one line.
    pub(super) fn line(&mut self, line: impl Display) {
        self.text.push_str(&"    ".repeat(self.depth));
        writeln!(self.text, "{line}").expect("a String takes all text");
    }

    /// Adds a documentation line. The text is ours: upstream's has no place there, where rustdoc would read it as
    /// Markdown.
    pub(super) fn doc(&mut self, text: &'static str) {
        self.line(format_args!("/// {text}"));
    }

    /// Adds `head {`; what follows is inside, until [`close`](Self::close).
    pub(super) fn open(&mut self, head: impl Display) {
        self.line(format_args!("{head} {{"));
        self.depth += 1;
    }

    /// Adds the `}` of the last [`open`](Self::open).
    pub(super) fn close(&mut self) {
        self.depth -= 1;
        self.line("}");
    }

    /// Adds `head = &[`, an item a line, `];`. Nothing at all where there are no items, and tells which.
    pub(super) fn table<T: Display>(
        &mut self,
        head: impl Display,
        items: impl IntoIterator<Item = T>,
    ) -> bool {
        let mut items = items.into_iter().peekable();
        if items.peek().is_none() {
            return false;
        }
        self.line(format_args!("{head} = &["));
        for item in items {
            self.line(format_args!("    {item},"));
        }
        self.line("];");
        true
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }
}

/// A Rust string literal with this value.
///
/// `{:?}` of the standard library is what escapes it: its output is a literal of the same value, with control and
/// text-direction characters spelled out. `proc_macro2::Literal` does the same, but is compiled with the build script,
/// unoptimised, and takes ten times as long.
pub(super) struct Literal<'a>(pub(super) &'a str);

impl Display for Literal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.0, f)
    }
}

/// `Some("a")` or `None`.
pub(super) struct Optional<'a>(pub(super) Option<&'a str>);

impl Display for Optional<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(text) => write!(f, "Some({})", Literal(text)),
            None => f.write_str("None"),
        }
    }
}

/// `["a", "b"]`.
pub(super) struct Literals<'a, 'b>(pub(super) &'b [&'a str]);

impl Display for Literals<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, text) in self.0.iter().enumerate() {
            write!(f, "{}{}", if index == 0 { "[" } else { ", " }, Literal(text))?;
        }
        f.write_str(if self.0.is_empty() { "[]" } else { "]" })
    }
}

/// A value of one of the crate's types, by its constructor: `__coreos_pins::Type::new(["a", "b"], Some("c"))`.
pub(super) struct New<'a, const TEXTS: usize, const OPTIONS: usize> {
    /// The type.
    pub(super) name: &'static str,
    /// The texts that are always there.
    pub(super) texts: [&'a str; TEXTS],
    /// Those that may be missing.
    pub(super) options: [Option<&'a str>; OPTIONS],
}

impl<const TEXTS: usize, const OPTIONS: usize> Display for New<'_, TEXTS, OPTIONS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::{}::new({}", super::CRATE, self.name, Literals(&self.texts))?;
        for option in self.options {
            write!(f, ", {}", Optional(option))?;
        }
        f.write_str(")")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_has_exactly_the_value_it_was_made_of() {
        let every: String = ('\0'..=char::MAX).collect();
        for text in ["", "a\\b\"c{}'\n\r\t\0\u{7f}\u{202e}\u{2066}é\u{301}\u{feff}*/\"#", &every] {
            let literal: syn::LitStr = syn::parse_str(&Literal(text).to_string()).unwrap();
            assert_eq!(literal.value(), text);
        }
    }

    #[test]
    fn a_literal_shows_no_control_and_no_text_direction() {
        let literal = Literal("\u{202e}\u{2066}\u{200f}\n\u{1b}").to_string();
        assert!(literal.is_ascii() && !literal.contains(char::is_control), "{literal}");
    }
}
