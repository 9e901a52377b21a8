//! What a command has to say: the result on standard output, everything else on standard error.

use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use coreos_pins_build::{Error, escape_controls};

/// A result, and the exit status that goes with it.
pub(crate) struct Output {
    /// Goes to standard output as it is.
    pub(crate) text: String,
    /// 0 where all is well, 1 where the answer is no; what could not be done at all is an [`Error`].
    pub(crate) status: u8,
}

impl Output {
    /// All is well, and `text` says so to a person: control characters of upstream's are escaped.
    pub(crate) fn ok(text: impl AsRef<str>) -> Self {
        Self { text: readable(text.as_ref()), status: 0 }
    }

    /// All is well, and `text` is a document: it is printed as it is.
    pub(crate) fn document(text: impl Into<String>) -> Self {
        Self { text: text.into(), status: 0 }
    }

    /// The answer is no, and `text` says so to a person.
    pub(crate) fn no(text: impl AsRef<str>) -> Self {
        Self { text: readable(text.as_ref()), status: 1 }
    }

    /// Gives another exit status.
    pub(crate) fn with_status(self, status: u8) -> Self {
        Self { status, ..self }
    }

    /// Prints the result. A reader that has gone away is no fault.
    pub(crate) fn print(&self) -> ExitCode {
        match std::io::stdout().write_all(self.text.as_bytes()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                say(&format!("error: failed to write to standard output: {error}"));
                ExitCode::from(2)
            }
            _ => ExitCode::from(self.status),
        }
    }
}

/// Returns `text` with every control character escaped but those that end lines.
fn readable(text: &str) -> String {
    text.split('\n').map(escape_controls).collect::<Vec<_>>().join("\n")
}

/// Prints a line to standard error, if that can be.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{}", escape_controls(line));
}

/// Prints a warning to standard error.
pub(crate) fn warn(line: &str) {
    say(&format!("warning: {line}"));
}

/// Prints an error to standard error.
pub(crate) fn say_error(error: &Error) {
    for (index, line) in error.lines().enumerate() {
        say(&format!("{}{line}", if index == 0 { "error: " } else { "" }));
    }
}
