//! Which build each channel is embedded as: the precedence of variables and pins, and nothing else.

use std::collections::BTreeMap;

use crate::build_name::BuildName;
use crate::builder::{BuilderPin, FOLDER};
use crate::locate::Read;
use crate::overrides::{Overridden, Override};
use crate::pin::{Pin, check_digest_reference};
use crate::pins::Pins;
use crate::settings::{FALLBACK_CHANNEL, Settings};
use crate::source::Source;
use crate::url::mask;
use crate::{Error, sha256};

/// How the build of a channel came to be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// By a pin.
    Pinned,
    /// By name, in `BUILD_NAME`.
    Named,
    /// It was the newest.
    Latest,
}

/// A channel as it is embedded.
#[derive(Clone, Debug, PartialEq)]
pub struct Channel {
    /// Where its documents are; empty where neither pin nor policy says.
    pub base_url: String,
    /// How its build came to be chosen.
    pub origin: Origin,
    /// The release payload, by digest.
    pub release_image: Option<String>,
    /// The pin, or what takes its place.
    pub pin: Pin,
    /// The pins of the containers that the OS is built with, by builder. None for a build that is not the pinned one:
    /// nothing says what that was built with.
    pub builders: BTreeMap<String, BuilderPin>,
}

/// What is embedded: the default channel, and every other that is pinned.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// The default channel; a key of `channels`.
    pub default: String,
    /// By name.
    pub channels: BTreeMap<String, Channel>,
    /// What a person should know: an override that is in force, and what it lacks.
    pub warnings: Vec<String>,
    /// The documents that an override was read from.
    pub documents: Vec<Read>,
}

/// A row of the table: where the default channel's build is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Row {
    /// The pin.
    Pinned,
    /// The build of that name.
    Named,
    /// The pinned build, at another base URL.
    Mirror,
    /// The newest.
    Latest,
}

/// What `BUILD_NAME` asks for, seen from the pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Nothing,
    PinnedBuild,
    OtherBuild,
    Latest,
}

/// Chooses the build of each channel. `source` is called only where a build has to be looked up.
///
/// # Errors
///
/// A build that is not there, or cannot be looked up; a mirror that differs from the pin; a `RELEASE_IMAGE` that may
/// move. Each names the variable that asked for it, and says what there is.
pub fn resolve(
    settings: &Settings,
    pins: Pins,
    source: impl FnOnce() -> Result<Source, Error>,
) -> Result<Resolved, Error> {
    let default = match (&settings.default_channel, &pins.policy) {
        (Some(setting), _) => setting.value.clone(),
        (None, Some(policy)) => policy.default.clone().unwrap_or_else(|| FALLBACK_CHANNEL.to_owned()),
        (None, None) => FALLBACK_CHANNEL.to_owned(),
    };
    let pin = pins.pins.get(&default);
    let asked = match (settings.build_name.as_ref().map(|setting| &setting.value), pin) {
        (None, _) => Asked::Nothing,
        (Some(BuildName::Latest), _) => Asked::Latest,
        (Some(name), Some(pin)) if name.is(&pin.stream.build_names()) => Asked::PinnedBuild,
        (Some(_), _) => Asked::OtherBuild,
    };
    #[rustfmt::skip]
    // The rows of the table in the README, in its order.
    let row = match (settings.base_url.is_some(), asked, pin.is_some()) {
        (false, Asked::Nothing,     true)  => Row::Pinned,
        (false, Asked::PinnedBuild, _)     => Row::Pinned,
        (false, Asked::OtherBuild,  _)     => Row::Named,
        (false, Asked::Nothing,     false) => Row::Latest,
        (true,  Asked::Nothing,     true)  => Row::Mirror,
        (true,  Asked::PinnedBuild, _)     => Row::Mirror,
        (true,  Asked::OtherBuild,  _)     => Row::Named,
        (true,  Asked::Nothing,     false) => Row::Latest,
        (_,     Asked::Latest,      _)     => Row::Latest,
    };
    let overridden = match row {
        Row::Pinned => None,
        Row::Named | Row::Mirror | Row::Latest => {
            Some(Override { settings, channel: &default, pins: &pins, row })
        }
    };
    let overridden = overridden.map(|asked| asked.resolve(source)).transpose()?;
    embed(settings, default, pins, overridden)
}

fn embed(
    settings: &Settings,
    default: String,
    pins: Pins,
    overridden: Option<Overridden>,
) -> Result<Resolved, Error> {
    let Pins { policy, pins, mut builders } = pins;
    let policy_of = |name: &str| policy.as_ref().and_then(|policy| policy.channels.get(name));
    let mut channels = BTreeMap::new();
    for (name, pin) in pins {
        let policy = policy_of(&name);
        if name != default && policy.is_some_and(|policy| policy.floats) {
            continue;
        }
        let header = pin.header.as_ref();
        let base_url = header.map(|header| &header.base_url).or(policy.and_then(|p| p.base_url.as_ref()));
        let base_url = base_url.cloned().unwrap_or_default();
        let release_image = header.and_then(|header| header.release_image.clone());
        let builders = builders.remove(&name).unwrap_or_default();
        channels.insert(name, Channel { base_url, origin: Origin::Pinned, release_image, pin, builders });
    }
    let mut resolved = Resolved::new(default, channels);
    if let Some(Overridden { channel, warnings, documents }) = overridden {
        resolved.channels.insert(resolved.default.clone(), channel);
        (resolved.warnings, resolved.documents) = (warnings, documents);
    }
    if let (Some(setting), Some(channel)) =
        (&settings.release_image, resolved.channels.get_mut(&resolved.default))
    {
        check_digest_reference(&setting.value).map_err(|fault| {
            Error::invalid(format!("{}: {fault}", setting.variable))
                .help(format!("take the digest that `coreos-pins resolve {}` prints", mask(&setting.value)))
        })?;
        channel.release_image = Some(setting.value.clone());
    }
    Ok(resolved)
}

impl Resolved {
    /// Embeds `channels` with `default`, which is one of them, and nothing to say.
    pub fn new(default: impl Into<String>, channels: BTreeMap<String, Channel>) -> Self {
        Self { default: default.into(), channels, warnings: Vec::new(), documents: Vec::new() }
    }

    /// Returns the canonical text of each channel's document, by channel.
    pub(crate) fn stream_texts(&self) -> BTreeMap<&str, String> {
        self.channels.iter().map(|(name, channel)| (name.as_str(), channel.pin.stream.to_text())).collect()
    }

    /// Returns the SHA-256, in hex, over the canonical text of every pin that is embedded, each after its file's name
    /// and a newline, in order of names.
    pub fn pins_sha256(&self) -> String {
        self.pins_sha256_with(&self.stream_texts())
    }

    /// Does what [`pins_sha256`](Self::pins_sha256) does, given what [`stream_texts`](Self::stream_texts) returns.
    pub(crate) fn pins_sha256_with(&self, texts: &BTreeMap<&str, String>) -> String {
        let pins = self.channels.iter().map(|(name, channel)| {
            (format!("{name}.json\n"), channel.pin.text_around(&texts[name.as_str()]))
        });
        let builders = self.channels.iter().flat_map(|(name, channel)| {
            let file = move |builder: &str| format!("{FOLDER}/{builder}/{name}.json\n");
            channel.builders.iter().map(move |(builder, pin)| (file(builder), pin.to_text()))
        });
        let files = pins.chain(builders);
        // In order of the files' names: `a-b.json` is before `a.json`, but `a` before `a-b`.
        let files: BTreeMap<String, String> = files.collect();
        sha256::hex(files.iter().flat_map(|(name, text)| [name.as_bytes(), text.as_bytes()]))
    }
}
