//! Builder pins: which container the OS of a channel is made with, how it is looked up, guarded, written and carried from
//! one channel to the next.

use std::path::{Path, PathBuf};

use coreos_pins_build::builder::{BuilderPin, FOLDER, MANIFESTS};
use coreos_pins_build::pins::read_file;
use coreos_pins_build::policy::{self, Policy};
use coreos_pins_build::{Error, quoted};

use crate::pins::at_revision;
use crate::registry::Registries;
use crate::write::{Batch, File};

pub(crate) mod check;
pub(crate) mod check_promotion;
pub(crate) mod guard;
mod guards;
pub(crate) mod import;
pub(crate) mod list_guards;
mod look_up;
pub(crate) mod promote;
pub(crate) mod reference;
pub(crate) mod resolve;
pub(crate) mod set;

/// A builder pin with the bytes of both its files.
#[derive(Clone)]
pub(crate) struct Stored {
    pub(crate) pin: BuilderPin,
    /// The pin file, byte by byte.
    pub(crate) text: String,
    /// The index, byte by byte.
    pub(crate) index: String,
}

/// Where the pin of a builder is, seen from the pins folder.
fn pin_file(builder: &str, channel: &str) -> String {
    format!("{FOLDER}/{builder}/{channel}.json")
}

impl Stored {
    /// Reads the pin of `builder` for `channel`; as of the git revision `revision`, if one is given. `None` where there
    /// is none.
    ///
    /// # Errors
    ///
    /// Files that cannot be read, or that are not what they should be.
    pub(crate) fn read(
        dir: &Path,
        builder: &str,
        channel: &str,
        revision: Option<&str>,
    ) -> Result<Option<Self>, Error> {
        let name = pin_file(builder, channel);
        let read = |name: &str| match revision {
            Some(revision) => at_revision(dir, revision, name),
            None => read_file(&dir.join(name)),
        };
        let shown = |name: &str| match revision {
            Some(revision) => format!("{revision}:{name}"),
            None => dir.join(name).display().to_string(),
        };
        let is_there = match revision {
            Some(revision) => crate::pins::is_at_revision(dir, revision, &name)?,
            None => dir.join(&name).exists(),
        };
        if !is_there {
            return Ok(None);
        }
        let bytes = read(&name)?;
        let pin = BuilderPin::read(&shown(&name), &bytes)?;
        let index_name = format!("{MANIFESTS}/{}", pin.index_file());
        let index = read(&index_name).map_err(|error| error.note(format!("{} names it", shown(&name))))?;
        pin.check_index(&shown(&name), &shown(&index_name), &index)?;
        let text = |bytes: Vec<u8>, name: &str| {
            String::from_utf8(bytes).map_err(|_| Error::invalid(format!("{}: no UTF-8", shown(name))))
        };
        Ok(Some(Self { pin, text: text(bytes, &name)?, index: text(index, &index_name)? }))
    }
}

/// Returns (channel, builder) of every builder pin in the pins folder `dir`, sorted.
///
/// # Errors
///
/// A folder that cannot be read.
pub(crate) fn there(dir: &Path) -> Result<Vec<(String, String)>, Error> {
    let names = |folder: &Path| -> Result<Vec<String>, Error> {
        let failed = |error| Error::io("read", folder, error);
        if !folder.is_dir() {
            return Ok(Vec::new());
        }
        let entries = std::fs::read_dir(folder).map_err(failed)?;
        let names =
            entries.map(|entry| Ok(entry.map_err(failed)?.file_name().to_string_lossy().into_owned()));
        names.filter(|name| name.as_ref().map_or(true, |name| !name.starts_with('.'))).collect()
    };
    let mut there = Vec::new();
    for builder in names(&dir.join(FOLDER))? {
        for file in names(&dir.join(FOLDER).join(&builder))? {
            there.extend(file.strip_suffix(".json").map(|channel| (channel.to_owned(), builder.clone())));
        }
    }
    there.sort();
    Ok(there)
}

/// Returns what of a pinned container its registry has no more: the index, an image, a config, a guard. Each is a line.
///
/// # Errors
///
/// No answer.
pub(crate) fn lost(registries: &Registries<'_>, stored: &Stored) -> Result<Vec<String>, Error> {
    let mut lost = look_up::lost(registries, &stored.pin)?;
    lost.extend(guards::missing(registries, stored)?);
    Ok(lost)
}

/// Writes builder pins and their indexes: all of them or none. Manifests that no pin names stay.
///
/// # Errors
///
/// As [`Batch::write`].
pub(crate) fn write(dir: &Path, pins: &[(&str, &str, Stored)]) -> Result<bool, Error> {
    let mut files: Vec<(File, String)> = Vec::new();
    for (builder, channel, stored) in pins {
        let index = dir.join(MANIFESTS).join(stored.pin.index_file());
        files.push((File::read(&index)?, stored.index.clone()));
        files.push((File::read(&dir.join(pin_file(builder, channel)))?, stored.text.clone()));
    }
    let mut batch = Batch::new(dir);
    let mut changes = false;
    for (file, text) in &files {
        changes |= batch.replace(file, text.clone());
    }
    if changes {
        for (file, _) in &files {
            let folder = file.path().parent().unwrap_or(dir);
            std::fs::create_dir_all(folder).map_err(|error| Error::io("create", folder, error))?;
        }
    }
    batch.write()?;
    Ok(changes)
}

/// The policy, which says what builders and channels there are.
pub(crate) struct Builders {
    pub(crate) policy: Policy,
    path: PathBuf,
}

impl Builders {
    /// Reads `channels.json` in `dir`.
    ///
    /// # Errors
    ///
    /// There is none, or it cannot be read.
    pub(crate) fn read(dir: &Path) -> Result<Self, Error> {
        let path = dir.join(policy::FILE);
        let bytes = read_file(&path)
            .map_err(|error| error.help("builders are named in `channels.json`: write one first"))?;
        Ok(Self { policy: Policy::read(&path.display().to_string(), &bytes)?, path })
    }

    /// Returns what is decided for `channel`.
    ///
    /// # Errors
    ///
    /// No such channel.
    pub(crate) fn channel(&self, name: &str) -> Result<&policy::Channel, Error> {
        crate::bump::refusals::policy_of(&self.policy, &self.path, name)
    }

    /// Returns the builders to work on: `named`, or all.
    ///
    /// # Errors
    ///
    /// There is none, or none of that name.
    pub(crate) fn chosen(&self, named: Option<&str>) -> Result<Vec<(&str, &policy::Builder)>, Error> {
        let all = || quoted(self.policy.builders.keys());
        let builders: Vec<(&str, &policy::Builder)> = self
            .policy
            .builders
            .iter()
            .filter(|(name, _)| named.is_none_or(|named| named == *name))
            .collect();
        match (builders.is_empty(), named) {
            (false, _) => Ok(builders),
            (true, Some(named)) if !self.policy.builders.is_empty() => {
                Err(Error::invalid(format!("no builder `{named}` in `{}`", self.path.display()))
                    .note(format!("builders are {}", all())))
            }
            (true, _) => Err(Error::invalid(format!("no builders in `{}`", self.path.display()))
                .help("name them there: `\"builders\": { \"NAME\": { \"image\": …, \"tag\": … } }`")),
        }
    }

    /// Returns the builder to work on, where it is one: `named`, or the only one.
    ///
    /// # Errors
    ///
    /// There are several, or none.
    pub(crate) fn one(&self, named: Option<&str>) -> Result<(&str, &policy::Builder), Error> {
        match self.chosen(named)?.as_slice() {
            [one] => Ok(*one),
            several => Err(Error::invalid("there are several builders")
                .note(format!("builders are {}", quoted(several.iter().map(|(name, _)| *name))))
                .help("name one with --builder")),
        }
    }
}
