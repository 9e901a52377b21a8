//! What every command is given: where the pins are, and how to answer. The one place of the command that reads the
//! environment, but for clap.

use std::path::PathBuf;

use coreos_pins_build::Error;
use coreos_pins_build::settings::{self, Network};
use coreos_pins_build::source::Source;

use crate::folder;
use crate::registry::Credentials;

/// What every command is given.
pub(crate) struct Context {
    /// `--pins-dir`.
    pins_dir: Option<PathBuf>,
    /// Facts are printed as JSON.
    pub(crate) json: bool,
}

impl Context {
    pub(crate) fn new(pins_dir: Option<PathBuf>, json: bool) -> Self {
        Self { pins_dir, json }
    }

    /// Returns the pins folder.
    ///
    /// # Errors
    ///
    /// There is none, or not where the user says.
    pub(crate) fn pins_dir(&self) -> Result<PathBuf, Error> {
        folder::find(self.pins_dir.as_deref(), std::env::var_os(settings::PINS_DIR).as_deref())
    }

    /// Returns what documents are fetched with. Makes no request.
    ///
    /// # Errors
    ///
    /// A variable of the network that cannot be read.
    pub(crate) fn source(&self) -> Result<Source, Error> {
        Network::from_env().map(|network| Source::new(&network))
    }

    /// Returns the credentials for registries: of `authfile`, if that is given.
    pub(crate) fn credentials(authfile: Option<PathBuf>) -> Credentials {
        Credentials::new(authfile, |name| {
            std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
        })
    }

    /// Returns the value of a variable, trimmed; blank is unset.
    ///
    /// # Errors
    ///
    /// It is no UTF-8.
    pub(crate) fn variable(name: &str) -> Result<Option<String>, Error> {
        let Some(value) = std::env::var_os(name) else { return Ok(None) };
        let value =
            value.into_string().map_err(|_| Error::invalid(format!("the value of {name} is no UTF-8")))?;
        Ok(Some(value.trim().to_owned()).filter(|value| !value.is_empty()))
    }

    /// Returns today's date: `YYYY-MM-DD`, UTC.
    pub(crate) fn today() -> String {
        jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date().to_string()
    }
}
