//! What is said to cargo. Nothing else in this crate prints.

use std::path::Path;

use crate::Error;
use crate::error::escape_controls;

/// Directives for cargo, in the order in which they were given. Each is one line, whatever text it carries.
#[derive(Debug, Default)]
pub(crate) struct Directives(Vec<String>);

impl Directives {
    /// Runs the build script again when `variable` changes.
    pub(crate) fn rerun_if_env_changed(&mut self, variable: &str) {
        self.push("rerun-if-env-changed", variable);
    }

    /// Runs the build script again when the file or folder `path`, or anything below it, changes.
    ///
    /// # Errors
    ///
    /// A path that one line of UTF-8 cannot hold: cargo would watch another path, or run the script on every build.
    pub(crate) fn rerun_if_changed(&mut self, path: &Path) -> Result<(), Error> {
        match path.to_str() {
            Some(text) if !text.contains(char::is_control) => {
                // As it is: escaped, it would be another path.
                self.0.push(format!("cargo::rerun-if-changed={text}"));
                Ok(())
            }
            _ => Err(Error::invalid(format!(
                "cargo cannot watch `{}`: its path is no UTF-8, or holds a control character",
                path.display()
            ))),
        }
    }

    /// Shows a line that does not stop the build.
    pub(crate) fn warning(&mut self, text: &str) {
        self.push("warning", text);
    }

    /// Shows `error`, and thereby fails the build.
    pub(crate) fn error(&mut self, error: &Error) {
        for line in error.lines() {
            self.push("error", &line);
        }
    }

    fn push(&mut self, key: &str, value: &str) {
        self.0.push(format!("cargo::{key}={}", escape_controls(value)));
    }

    /// Says everything to cargo.
    #[expect(clippy::print_stdout, reason = "this is how a build script talks to cargo")]
    pub(crate) fn emit(&self) {
        for line in &self.0 {
            println!("{line}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_makes_a_second_directive() {
        let mut directives = Directives::default();
        directives.error(&Error::invalid("a\ncargo::rustc-cfg=pwned").help("b\rc"));
        directives.rerun_if_env_changed("X\nY");
        assert_eq!(
            directives.0,
            [
                "cargo::error=a\\ncargo::rustc-cfg=pwned",
                "cargo::error=help: b\\rc",
                "cargo::rerun-if-env-changed=X\\nY"
            ]
        );
    }

    #[test]
    fn a_path_that_cargo_would_misread_is_refused() {
        let mut directives = Directives::default();
        assert!(directives.rerun_if_changed("pins\ncargo::rustc-cfg=pwned".as_ref()).is_err());
        directives.rerun_if_changed("a b\\\"c/pins".as_ref()).unwrap();
        assert_eq!(directives.0, ["cargo::rerun-if-changed=a b\\\"c/pins"]);
    }
}
