//! The text of a Rust file in the making.

use std::fmt::{Display, Write};

use proc_macro2::Literal;

/// Rust code, line by line.
#[derive(Default)]
pub(super) struct Code {
    text: String,
    depth: usize,
}

impl Code {
    /// Adds one line.
    pub(super) fn line(&mut self, line: impl Display) {
        self.indent();
        writeln!(self.text, "{line}").expect("a String takes all text");
    }

    /// Adds a documentation line. The text may be upstream's: a comment ends with its line, so there must be one only.
    pub(super) fn doc(&mut self, text: impl Display) {
        let text = crate::error::escape_controls(&text.to_string());
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
    pub(super) fn table(&mut self, head: impl Display, items: impl IntoIterator<Item = String>) -> bool {
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

    fn indent(&mut self) {
        self.text.extend(std::iter::repeat_n("    ", self.depth));
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }
}

/// Returns `text` as a Rust string literal.
pub(super) fn literal(text: &str) -> Literal {
    Literal::string(text)
}

/// Returns `texts` as `["a", "b"]`.
pub(super) fn literals<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let texts: Vec<String> = texts.into_iter().map(|text| literal(text).to_string()).collect();
    format!("[{}]", texts.join(", "))
}

/// Returns `text` as `Some("a")` or `None`.
pub(super) fn option(text: Option<&str>) -> String {
    text.map_or_else(|| "None".to_owned(), |text| format!("Some({})", literal(text)))
}
