//! The whole way from a pins folder to files in `OUT_DIR`: what a build script calls.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::cargo::Directives;
use crate::pins::Pins;
use crate::resolve::{Resolved, resolve};
use crate::settings::{self, Network, Setting, Settings};
use crate::source::Source;
use crate::url::{Scheme, Url};
use crate::{Error, generate};

/// The pins folder of a package, seen from the package's root, which is where cargo runs build scripts.
const PINS_DIR: &str = "pins";

/// What to embed, and from where.
///
/// # Examples
///
/// The `build.rs` of a crate that keeps its own `pins/`:
///
/// ```no_run
/// coreos_pins_build::Config::from_env().compile();
/// ```
#[derive(Debug)]
pub struct Config {
    settings: Result<Settings, Error>,
    pins_dir: PathBuf,
    out_dir: Option<PathBuf>,
    reads_env: bool,
}

impl Config {
    /// Embeds the pins of the folder `pins_dir`. Reads no variable but cargo's `OUT_DIR`, when it writes.
    pub fn new(pins_dir: impl Into<PathBuf>) -> Self {
        Self { settings: Ok(Settings::default()), pins_dir: pins_dir.into(), out_dir: None, reads_env: false }
    }

    /// Embeds the pins of `pins/` in the package's root, or of `COREOS_PINS_DIR`, as the other variables ask for. Cargo
    /// runs the build script again when one of them changes.
    ///
    /// What is wrong with a variable is told by [`compile`](Self::compile), [`try_compile`](Self::try_compile) or
    /// [`generate`](Self::generate).
    pub fn from_env() -> Self {
        let settings = Settings::from_env();
        let pins_dir = match &settings {
            Ok(Settings { pins_dir: Some(dir), .. }) => PathBuf::from(&dir.value),
            _ => PathBuf::from(PINS_DIR),
        };
        Self { settings, pins_dir, out_dir: None, reads_env: true }
    }

    /// Makes `channel` the default channel, whatever the variables and `channels.json` say.
    pub fn default_channel(&mut self, channel: impl Into<String>) -> &mut Self {
        if let Ok(settings) = &mut self.settings {
            settings.default_channel = Some(Setting { variable: "default_channel", value: channel.into() });
        }
        self
    }

    /// Writes to `dir` in place of `OUT_DIR`. `include_pins!()` looks into `OUT_DIR` only.
    pub fn out_dir(&mut self, dir: impl Into<PathBuf>) -> &mut Self {
        self.out_dir = Some(dir.into());
        self
    }

    /// Generates the constants, for `include_pins!()` to include. On an error the build fails with its text, which
    /// cargo shows once: this returns, with no panic and no backtrace.
    pub fn compile(&self) {
        if let Err(error) = self.try_compile() {
            let mut directives = Directives::default();
            directives.error(&error);
            directives.emit();
        }
    }

    /// Does what [`compile`](Self::compile) does, and returns the error.
    ///
    /// Cargo is told what to watch in either case, so that the build script runs again once the fault is mended.
    ///
    /// # Errors
    ///
    /// As [`generate`](Self::generate); and `OUT_DIR` that is not set or cannot be written to, and a pins folder whose
    /// path cargo cannot watch.
    pub fn try_compile(&self) -> Result<(), Error> {
        let mut directives = Directives::default();
        if self.reads_env {
            for variable in settings::watched() {
                directives.rerun_if_env_changed(variable);
            }
        }
        let watched = directives.rerun_if_changed(&self.pins_dir);
        directives.emit();
        watched?;
        let (files, resolved) = self.resolve_and_generate()?;
        let out_dir = match (&self.out_dir, std::env::var_os("OUT_DIR")) {
            (Some(dir), _) => dir.clone(),
            (None, Some(dir)) => dir.into(),
            (None, None) => {
                return Err(Error::invalid("OUT_DIR is not set")
                    .help("call this from a build script, or say where to write with `Config::out_dir`"));
            }
        };
        write_files(&out_dir, &files)?;
        let mut directives = Directives::default();
        let files =
            resolved.documents.iter().map(|read| &read.url).filter(|url| url.scheme() == Scheme::File);
        for path in files.filter_map(Url::file_path) {
            directives.rerun_if_changed(&path)?;
        }
        resolved.warnings.iter().for_each(|warning| directives.warning(warning));
        directives.emit();
        Ok(())
    }

    /// Returns the files that [`compile`](Self::compile) would write: path below `OUT_DIR`, with `/`, and text. Says
    /// nothing to cargo.
    ///
    /// # Errors
    ///
    /// A variable, policy or pin that cannot be read; a channel or build that no pin has; names that would be the same
    /// in Rust. Each error names the variable, or the file and the place in it.
    pub fn generate(&self) -> Result<BTreeMap<String, String>, Error> {
        Ok(self.resolve_and_generate()?.0)
    }

    fn resolve_and_generate(&self) -> Result<(BTreeMap<String, String>, Resolved), Error> {
        let settings = match &self.settings {
            Ok(settings) => settings,
            // Reading again gives the same error, which cannot be cloned.
            Err(_) => &Settings::from_env()?,
        };
        if !self.pins_dir.is_dir() {
            let asked_by = match &settings.pins_dir {
                Some(setting) => format!(" (asked for by {})", setting.variable),
                None => String::new(),
            };
            return Err(Error::invalid(format!("no folder `{}`{asked_by}", self.pins_dir.display()))
                .help("a pins folder holds `CHANNEL.json`: a pin, or a plain stream metadata document"));
        }
        let source = || Ok(Source::new(&Network::from_env()?));
        let resolved = resolve(settings, Pins::load(&self.pins_dir)?, source)?;
        Ok((generate::generate(&resolved)?, resolved))
    }
}

/// Writes each file whose content is not there yet, so that the compiler sees a change only where there is one.
fn write_files(out_dir: &Path, files: &BTreeMap<String, String>) -> Result<(), Error> {
    for (name, text) in files {
        let path = out_dir.join(name);
        if fs::read(&path).is_ok_and(|old| old == text.as_bytes()) {
            continue;
        }
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|error| Error::io("create", parent, error))?;
        }
        fs::write(&path, text).map_err(|error| Error::io("write", &path, error))?;
    }
    Ok(())
}
