//! The pins folder as commands read it: the policy, and the pins that a person names.

use std::path::{Path, PathBuf};
use std::process::Command;

use coreos_pins_build::pin::Pin;
use coreos_pins_build::pins::{Pins, read_file};
use coreos_pins_build::policy::{self, Policy};
use coreos_pins_build::{Error, quoted};

/// The default channel where neither policy nor user says.
const FALLBACK_CHANNEL: &str = "maipo";

/// Reads `channels.json` in `dir`, if there is one.
///
/// # Errors
///
/// A file that cannot be read.
pub(crate) fn policy(dir: &Path) -> Result<Option<Policy>, Error> {
    let path = dir.join(policy::FILE);
    match path.exists() {
        true => Policy::read(&path.display().to_string(), &read_file(&path)?).map(Some),
        false => Ok(None),
    }
}

/// Returns the default channel.
pub(crate) fn default_channel(policy: Option<&Policy>) -> &str {
    policy.and_then(|policy| policy.default.as_deref()).unwrap_or(FALLBACK_CHANNEL)
}

/// Returns the pin of `channel`.
///
/// # Errors
///
/// No pin: it says which there are.
pub(crate) fn pin_of<'p>(pins: &'p Pins, dir: &Path, channel: &str) -> Result<&'p Pin, Error> {
    pins.pins.get(channel).ok_or_else(|| {
        let is_channel = pins.policy_of(channel).is_some();
        let error = Error::invalid(match is_channel {
            true => format!("channel `{channel}` has no pin in `{}`", dir.display()),
            false => format!("no channel `{channel}` in `{}`", dir.display()),
        });
        let error = match pins.names().next() {
            None => error.note("no channel is pinned"),
            Some(_) => error.note(format!("pinned are {}", quoted(pins.names()))),
        };
        if is_channel { error.help(format!("pin it: coreos-pins bump {channel}")) } else { error }
    })
}

/// Reads what a person names: a channel, `REV:CHANNEL` for its pin in another revision of git, or a file. Returns it
/// with the name that a report gives it.
///
/// # Errors
///
/// It is none of these, or cannot be read.
pub(crate) fn named(dir: impl Fn() -> Result<PathBuf, Error>, name: &str) -> Result<Pin, Error> {
    let as_file = Path::new(name);
    if as_file.is_file() {
        return Pin::read(name, &read_file(as_file)?);
    }
    if let Some((revision, channel)) = name.split_once(':') {
        return Pin::read(name, &at_revision(&dir()?, revision, &format!("{channel}.json"))?);
    }
    let dir = dir()?;
    let path = dir.join(format!("{name}.json"));
    if name != "channels" && path.is_file() {
        return Pin::read(&path.display().to_string(), &read_file(&path)?);
    }
    let pins = Pins::load(&dir)?;
    let error = Error::invalid(format!("`{name}` is no pinned channel, no file and no `REV:CHANNEL`"));
    Err(error.note(format!("pinned are {}", quoted(pins.names()))))
}

/// Runs git in the pins folder `dir`.
///
/// # Errors
///
/// There is no git.
pub(crate) fn git(dir: &Path, arguments: &[&str]) -> Result<std::process::Output, Error> {
    let output = Command::new("git").arg("-C").arg(dir).args(arguments).output();
    output.map_err(|error| Error::invalid(format!("failed to run `git`: {error}")))
}

/// Returns the commit that `revision` names.
///
/// # Errors
///
/// No git, no repository, or no such revision.
pub(crate) fn commit(dir: &Path, revision: &str) -> Result<String, Error> {
    let wanted = format!("{revision}^{{commit}}");
    let found = git(dir, &["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted])?;
    let commit = String::from_utf8_lossy(&found.stdout).trim().to_owned();
    if found.status.success() && !commit.is_empty() {
        return Ok(commit);
    }
    let why = String::from_utf8_lossy(&found.stderr).trim().to_owned();
    let error =
        Error::invalid(format!("no revision `{revision}` in the git repository of `{}`", dir.display()));
    Err(if why.is_empty() { error } else { error.note(why) })
}

/// Tells whether the pins folder `dir` had the file `name` at `revision`.
///
/// # Errors
///
/// No git, no repository, or no such revision.
pub(crate) fn is_at_revision(dir: &Path, revision: &str, name: &str) -> Result<bool, Error> {
    let commit = commit(dir, revision)?;
    Ok(git(dir, &["cat-file", "-e", &format!("{commit}:./{name}")])?.status.success())
}

/// Returns the file `name` of the pins folder `dir` as of `revision` in the git repository that it is in.
///
/// # Errors
///
/// No git, no repository, no such revision, or no such file in it.
pub(crate) fn at_revision(dir: &Path, revision: &str, name: &str) -> Result<Vec<u8>, Error> {
    let commit = commit(dir, revision)?;
    let shown = git(dir, &["show", &format!("{commit}:./{name}")])?;
    if shown.status.success() {
        return Ok(shown.stdout);
    }
    let listed = git(dir, &["ls-tree", "--name-only", &commit, "./"])?;
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let names =
        listed.lines().filter_map(|name| name.strip_suffix(".json")).filter(|name| *name != "channels");
    Err(Error::invalid(format!("no `{name}` in `{}` at revision `{revision}`", dir.display()))
        .note(format!("pinned there are {}", quoted(names))))
}
