//! What every command is given: where the pins are, and how to answer. The one place of the command that reads the
//! environment, but for clap.

use std::path::PathBuf;

use coreos_pins_build::Error;
use coreos_pins_build::settings::{self, Network};
use coreos_pins_build::source::Source;

use crate::folder;

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

    /// Returns today's date: `YYYY-MM-DD`, UTC.
    pub(crate) fn today() -> String {
        jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date().to_string()
    }
}
