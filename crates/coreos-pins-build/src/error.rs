//! The one error of the engine: what is wrong, where, what there is instead, what to type.

use std::fmt;

/// Why pins could not be read, chosen or generated.
///
/// [`Display`](fmt::Display) prints one or more lines: the fault, then what there is instead, then a line that
/// begins with `help:` where something can be typed. The first line names the file or variable at fault. Text from
/// files and variables is escaped, so that no line holds a control character.
///
/// `Debug` prints the same, so that `fn main() -> Result<(), coreos_pins_build::Error>` reads well.
pub struct Error(Box<Inner>);

struct Inner {
    kind: Kind,
    message: String,
    notes: Vec<String>,
    help: Option<String>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// What sort of "no" it is: the CLI's exit status hangs on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The input is fine and the answer is no.
    Refused,
    /// Input that cannot be read or used.
    Invalid,
    /// Nobody answered, or not so that it can be used.
    NoAnswer,
}

/// Most characters of one line; upstream text has no limit of its own.
const LINE_LIMIT: usize = 600;

impl Error {
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, message: message.into(), notes: Vec::new(), help: None, source: None }))
    }

    /// A file, variable or argument that cannot be read or used (exit status 2 of the CLI).
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(Kind::Invalid, message)
    }

    /// Sound input, and the answer is no (exit status 1 of the CLI).
    pub fn refused(message: impl Into<String>) -> Self {
        Self::new(Kind::Refused, message)
    }

    /// A server that gave no answer, or one that contradicts itself (exit status 3 of the CLI).
    pub fn no_answer(message: impl Into<String>) -> Self {
        Self::new(Kind::NoAnswer, message)
    }

    /// A file that could not be `verb`: `failed to read pins/stable.json`.
    pub fn io(verb: &str, path: &std::path::Path, source: std::io::Error) -> Self {
        Self::invalid(format!("failed to {verb} `{}`: {source}", path.display())).caused_by(source)
    }

    /// Adds a line that says what there is instead.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.0.notes.push(note.into());
        self
    }

    /// Sets the line that says what to type, without the word `help`.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.0.help = Some(help.into());
        self
    }

    /// Puts `prefix` and a colon in front of the first line.
    #[must_use]
    pub(crate) fn prefixed(mut self, prefix: &str) -> Self {
        self.0.message = format!("{prefix}: {}", self.0.message);
        self
    }

    /// Puts `message` in front: what was being done when this happened. What this error says becomes its notes, the help
    /// too, for whoever adds the message has help of their own.
    #[must_use]
    pub(crate) fn under(mut self, message: impl Into<String>) -> Self {
        let old = std::mem::replace(&mut self.0.message, message.into());
        self.0.notes.insert(0, old);
        self.0.notes.extend(self.0.help.take());
        self
    }

    pub(crate) fn caused_by(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.0.source = Some(Box::new(source));
        self
    }

    /// Returns the exit status that the CLI gives: 1 where the answer is no, 2 where the input is at fault, 3 where
    /// there is no answer.
    pub fn exit_status(&self) -> u8 {
        match self.0.kind {
            Kind::Refused => 1,
            Kind::Invalid => 2,
            Kind::NoAnswer => 3,
        }
    }

    /// Sets the line that says what to type, where there is none.
    pub(crate) fn or_help(self, help: impl Into<String>) -> Self {
        if self.0.help.is_some() { self } else { self.help(help) }
    }

    /// Tells whether the answer is no: what was asked for is not there, or not as it should be.
    pub(crate) fn is_refusal(&self) -> bool {
        self.0.kind == Kind::Refused
    }

    /// Returns the lines that [`Display`](fmt::Display) prints, each without control characters.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        let help = self.0.help.iter().map(|help| format!("help: {help}"));
        std::iter::once(self.0.message.clone())
            .chain(self.0.notes.iter().cloned())
            .chain(help)
            .map(|line| shorten(&escape_controls(&line), LINE_LIMIT))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, line) in self.lines().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            f.write_str(&line)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|source| &**source as _)
    }
}

/// Returns `text` with control and text-direction characters spelled `\n`, `\u{202e}`: a terminal, a log and cargo's
/// line protocol must show them, not obey them.
pub fn escape_controls(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() || is_text_direction(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

fn is_text_direction(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// Returns at most `limit` characters of `text`, saying how many were left out.
pub(crate) fn shorten(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}… ({} more characters)", &text[..end], text[end..].chars().count()),
    }
}

/// Returns "`a`, `b`, `c`" for an error's list of what there is.
pub fn quoted<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Returns the one of `names` that `wanted` was most likely meant to be, if any is near.
pub(crate) fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    names
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(wanted, name), name))
        .filter(|(distance, name)| *distance <= (wanted.len().max(name.len()) / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_never_hold_a_control_character() {
        let error = Error::invalid("a\ncargo::rustc-cfg=pwned\u{1b}[31m").note("b\u{202e}c").help("d\0");
        let text: Vec<String> = error.lines().collect();
        assert_eq!(text, ["a\\ncargo::rustc-cfg=pwned\\u{1b}[31m", "b\\u{202e}c", "help: d\\u{0}"]);
    }

    #[test]
    fn debug_equals_display_and_the_cause_is_kept() {
        let error = Error::io("read", "x.json".as_ref(), std::io::Error::other("boom"));
        assert_eq!(format!("{error:?}"), "failed to read `x.json`: boom");
        assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "boom");
    }

    #[test]
    fn a_line_without_end_is_shortened() {
        assert_eq!(shorten("ééé", 3), "ééé");
        assert_eq!(shorten("éééé", 3), "ééé… (1 more characters)");
    }

    #[test]
    fn nearest_finds_a_typo_and_nothing_else() {
        assert_eq!(nearest("stabel", ["next", "stable", "testing"]), Some("stable"));
        assert_eq!(nearest("maipo", ["next", "stable", "testing"]), None);
    }
}
