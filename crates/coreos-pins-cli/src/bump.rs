//! `bump`: moves a pin to another build.

use std::path::{Path, PathBuf};

use clap::Args;
use coreos_pins_build::build_name::BuildName;
use coreos_pins_build::pin::{Pin, Source};
use coreos_pins_build::pins::read_file;
use coreos_pins_build::policy::{self, Policy};
use coreos_pins_build::stream::{Architecture, Stream};
use coreos_pins_build::url::Url;
use coreos_pins_build::{Error, quoted, sha256};
use serde_json::json;

use crate::write;

/// Pin another build of a channel
#[derive(Args)]
#[command(after_help = "Example:\n  coreos-pins bump stable --from streams/stable.json --published-at \
                        https://builds.coreos.fedoraproject.org/streams/stable.json")]
pub(crate) struct Arguments {
    /// A channel of channels.json
    channel: String,

    /// The stream metadata to pin
    #[arg(long, value_name = "FILE")]
    from: PathBuf,

    /// Where FILE is published; the pin records it
    #[arg(long, value_name = "URL")]
    published_at: String,
}

/// What a bump did.
pub(crate) struct Bumped {
    channel: String,
    old: Option<BuildName>,
    new: BuildName,
    changed: bool,
}

/// Pins the document that `arguments` name, in the pins folder `dir`. Writes nothing on an error.
pub(crate) fn run(dir: &Path, arguments: &Arguments) -> Result<Bumped, Error> {
    let channel = &arguments.channel;
    let policy = read_policy(dir, channel)?;
    let path = dir.join(format!("{channel}.json"));
    let old = read_pin(&path)?;
    refuse_by_policy(channel, &policy)?;
    let Some(base_url) = policy.base_url.clone() else {
        return Err(Error::invalid(format!("channel `{channel}` has no `base-url` in channels.json")));
    };
    let url = &arguments.published_at;
    let is_plain = url.starts_with("https://") && !url.contains(['@', '?', '#']);
    let has_odd_character = |c: char| c.is_control() || c.is_whitespace() || !c.is_ascii();
    if !is_plain || url.contains(has_odd_character) || Url::parse(url).is_err() {
        return Err(Error::invalid("--published-at: expected an https URL without user, query and fragment")
            .help("give the address that everybody can fetch the file from"));
    }

    let bytes = read_file(&arguments.from)?;
    let document = arguments.from.display().to_string();
    let mut stream = Stream::read(&document, &bytes)?;
    policy.select(&mut stream);
    stream.check(&format!("{document}, as channels.json selects from it"))?;
    check_required(channel, &policy, &stream, old.as_ref().map(|pin| &pin.stream))?;

    let source = Source { sha256: sha256::hex([&*bytes]), url: arguments.published_at.clone() };
    let pin = Pin::new(stream, base_url, vec![source]);
    let changed = write::replace(&path, &pin.to_text())?;
    let build = |pin: &Pin| BuildName::of(&pin.stream.build_names());
    Ok(Bumped { channel: channel.clone(), old: old.as_ref().map(build), new: build(&pin), changed })
}

impl Bumped {
    /// Returns what there is to print.
    pub(crate) fn report(&self, as_json: bool) -> String {
        let Self { channel, old, new, changed } = self;
        if as_json {
            let old = old.as_ref().map(ToString::to_string);
            let value = json!({ "version": 1, "channel": channel, "old": old, "new": new.to_string(),
                                "changed": changed });
            return format!("{value}\n");
        }
        match old {
            _ if !changed => format!("{channel}: up to date, build {new}\n"),
            None => format!("{channel}: pinned build {new}\n"),
            Some(old) if old == new => format!("{channel}: still build {new}, its pin written anew\n"),
            Some(old) => format!("{channel}: build {old} is now {new}\n"),
        }
    }
}

fn read_policy(dir: &Path, channel: &str) -> Result<policy::Channel, Error> {
    let path = dir.join(policy::FILE);
    let bytes = read_file(&path)
        .map_err(|error| error.help("bump pins the channels of `channels.json` only: write one first"))?;
    let policy = Policy::read(&path.display().to_string(), &bytes)?;
    match policy.channels.get(channel) {
        Some(policy) => Ok(policy.clone()),
        None => Err(Error::invalid(format!("no channel `{channel}` in `{}`", path.display()))
            .note(format!("channels are {}", quoted(policy.channels.keys())))
            .help("name one of them, or add the channel to the file")),
    }
}

/// Reads the pin that is there. A corrupt one is an error: it may hold what nobody has a copy of.
fn read_pin(path: &Path) -> Result<Option<Pin>, Error> {
    if std::fs::symlink_metadata(path).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
        return Ok(None);
    }
    Pin::read(&path.display().to_string(), &read_file(path)?).map(Some)
}

fn refuse_by_policy(channel: &str, policy: &policy::Channel) -> Result<(), Error> {
    if policy.floats {
        return Err(Error::refused(format!("channel `{channel}` floats: it is not pinned"))
            .help("take `floats` out of channels.json to pin it"));
    }
    let today = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date().to_string();
    match policy.hold.as_ref().filter(|hold| hold.holds_on(&today)) {
        None => Ok(()),
        Some(hold) => {
            let until = hold.until.as_ref().map(|until| format!(" until {until}")).unwrap_or_default();
            Err(Error::refused(format!("channel `{channel}` is on hold{until}: {}", hold.reason))
                .help("take `hold` out of channels.json to bump it"))
        }
    }
}

/// Refuses a document without a platform that the policy requires: on x86_64, and wherever the old pin has it.
fn check_required(
    channel: &str,
    policy: &policy::Channel,
    new: &Stream,
    old: Option<&Stream>,
) -> Result<(), Error> {
    let has = |architecture: Option<&Architecture>, platform: &str| {
        architecture.is_some_and(|architecture| architecture.has_platform(platform))
    };
    let mut missing = Vec::new();
    for platform in &policy.require {
        let old_architectures = old.into_iter().flat_map(|old| &old.architectures);
        let wanted = old_architectures.filter(|(_, old)| has(Some(old), platform)).map(|(name, _)| name);
        let mut wanted: Vec<&str> = wanted.chain(["x86_64"]).collect();
        wanted.sort_unstable();
        wanted.dedup();
        wanted.retain(|name| !has(new.architectures.get(name), platform));
        missing.extend(wanted.iter().map(|name| format!("{platform} on {name}")));
    }
    if missing.is_empty() {
        return Ok(());
    }
    let build = BuildName::of(&new.build_names());
    Err(Error::refused(format!(
        "build `{build}` lacks what channel `{channel}` requires: {}",
        missing.join(", ")
    ))
    .help("pin a complete build, or change `require` in channels.json"))
}
