//! Which build each channel is embedded as: the precedence of variables and pins, and nothing else.

use std::collections::BTreeMap;

use crate::build_name::BuildName;
use crate::error::{nearest, quoted};
use crate::pin::{Pin, check_digest_reference};
use crate::pins::Pins;
use crate::settings::{FALLBACK_CHANNEL, Settings};
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
}

/// What is embedded: the default channel, and every other that is pinned.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// The default channel; a key of `channels`.
    pub default: String,
    /// By name.
    pub channels: BTreeMap<String, Channel>,
}

/// What `BUILD_NAME` asks for, seen from the pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Nothing,
    PinnedBuild,
    OtherBuild,
    Latest,
}

/// Chooses the build of each channel.
///
/// # Errors
///
/// A default channel that is not pinned, an override that the pins do not answer, a `RELEASE_IMAGE` that may move. Each
/// names the variable and says what there is.
pub fn resolve(settings: &Settings, pins: Pins) -> Result<Resolved, Error> {
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
    let origin = match (settings.base_url.is_some(), asked, pin.is_some()) {
        (false, Asked::Nothing,     true)  => Origin::Pinned,
        (false, Asked::PinnedBuild, _)     => Origin::Pinned,
        (false, Asked::OtherBuild,  _)     => Origin::Named,
        (false, Asked::Nothing,     false) => Origin::Latest,
        (true,  Asked::Nothing,     true)  => Origin::Named,
        (true,  Asked::PinnedBuild, _)     => Origin::Named,
        (true,  Asked::OtherBuild,  _)     => Origin::Named,
        (true,  Asked::Nothing,     false) => Origin::Latest,
        (_,     Asked::Latest,      _)     => Origin::Latest,
    };
    if origin != Origin::Pinned {
        return Err(needs_resolving(settings, &default, &pins));
    }
    embed(settings, default, pins)
}

fn embed(settings: &Settings, default: String, pins: Pins) -> Result<Resolved, Error> {
    let Pins { policy, pins } = pins;
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
        channels.insert(name, Channel { base_url, origin: Origin::Pinned, release_image, pin });
    }
    if let (Some(setting), Some(channel)) = (&settings.release_image, channels.get_mut(&default)) {
        check_digest_reference(&setting.value).map_err(|fault| {
            Error::invalid(format!("{}: {fault}", setting.variable))
                .help(format!("take the digest that `coreos-pins resolve {}` prints", setting.value))
        })?;
        channel.release_image = Some(setting.value.clone());
    }
    Ok(Resolved { default, channels })
}

/// What is asked for is in no pin. This version looks nowhere else.
fn needs_resolving(settings: &Settings, default: &str, pins: &Pins) -> Error {
    let by = |variable: &Option<&'static str>| {
        variable.map(|v| format!(" (asked for by {v})")).unwrap_or_default()
    };
    let channel_by = settings.default_channel.as_ref().map(|setting| setting.variable);
    let have = match pins.names().next() {
        None => "no channel is pinned".to_owned(),
        Some(_) => format!("pinned are {}", quoted(pins.names())),
    };
    let Some(pin) = pins.pins.get(default) else {
        let guess = nearest(default, pins.names()).map(|name| format!(", did you mean `{name}`?"));
        let error = Error::invalid(format!(
            "no pin for channel `{default}`{}{}",
            by(&channel_by),
            guess.unwrap_or_default()
        ));
        return error.note(have).help(match channel_by {
            Some(variable) => format!("set {variable} to a pinned channel, or unset it"),
            None => "set DEFAULT_CHANNEL to a pinned channel, or name one as `default` in channels.json"
                .to_owned(),
        });
    };
    let pinned = BuildName::of(&pin.stream.build_names());
    let error = match (&settings.base_url, &settings.build_name) {
        (Some(base_url), _) => Error::invalid(format!(
            "channel `{default}` is not pinned at `{}`{}",
            mask(&base_url.value),
            by(&Some(base_url.variable))
        )),
        (None, name) => Error::invalid(format!(
            "build `{}` of channel `{default}` is not pinned{}",
            name.as_ref().map_or(BuildName::Latest, |setting| setting.value.clone()),
            by(&name.as_ref().map(|setting| setting.variable))
        )),
    };
    let variables: Vec<&str> = (settings.base_url.iter().map(|setting| setting.variable))
        .chain(settings.build_name.iter().map(|setting| setting.variable))
        .collect();
    error
        .note(format!("the pin is build `{pinned}`; this version embeds pinned builds only"))
        .help(format!("unset {} to build from the pin", variables.join(" and ")))
}

impl Resolved {
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
        let files = self.channels.iter().map(|(name, channel)| {
            (format!("{name}.json\n"), channel.pin.text_around(&texts[name.as_str()]))
        });
        // In order of the files' names: `a-b.json` is before `a.json`, but `a` before `a-b`.
        let files: BTreeMap<String, String> = files.collect();
        sha256::hex(files.iter().flat_map(|(name, text)| [name.as_bytes(), text.as_bytes()]))
    }
}
