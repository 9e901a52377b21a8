//! `pins/channels.json`: what a person decides. Unknown keys are errors, for a typo here ships the wrong image.

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::build_name::rpm_architecture;
use crate::error::quoted;
use crate::json::{self, Map, Value};
use crate::reference::{Reference, is_tag};
use crate::stream::Stream;
use crate::url::check_no_secret;

/// The file's name in the pins folder.
pub const FILE: &str = "channels.json";

/// The newest `version` of policy and pin files that this crate reads.
pub const VERSION: u64 = 1;

/// The whole of `channels.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Policy {
    /// The version of this format: 1.
    pub version: u64,
    /// The default channel.
    pub default: Option<String>,
    /// By the channel's name.
    #[serde(default)]
    pub channels: Map<Channel>,
    /// By the builder's name.
    #[serde(default)]
    pub builders: Map<Builder>,
    /// The URL of this format's JSON Schema, for editors; it is ignored.
    #[serde(default, rename = "$schema", skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
}

/// What is decided for one channel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Channel {
    /// Where the channel's documents are, without the channel's name.
    pub base_url: Option<String>,
    /// How URLs are made from it.
    #[serde(default)]
    pub layout: Layout,
    /// The channel's name upstream, where it is another.
    pub upstream: Option<String>,
    /// Platforms without which a build is not pinned.
    #[serde(default)]
    pub require: Vec<String>,
    /// Pin these architectures only, by RPM name.
    pub architectures: Option<Vec<String>>,
    /// Pin these platforms only.
    pub platforms: Option<Vec<String>>,
    /// The channels whose builder pins may be promoted to this one.
    #[serde(default)]
    pub promotes_from: Vec<String>,
    /// Takes the newest build each time, and is not pinned.
    #[serde(default)]
    pub floats: bool,
    /// Neither bump nor promote while it holds.
    pub hold: Option<Hold>,
    /// The Azure marketplace side file that bump merges in: a URL, or a file.
    pub marketplace: Option<String>,
}

/// Which URL holds what, below the base URL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// One stream document a channel.
    Stream,
    /// A `builds` folder with a build list, and a folder an architecture.
    Builds,
    /// A build list, and a folder an architecture.
    Arch,
    /// A build list, and one record a build.
    Flat,
    /// Whichever of the others answers first.
    #[default]
    Auto,
}

/// Why and how long a channel stays where it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Hold {
    /// Why; often a URL.
    pub reason: String,
    /// The last day that it holds: `YYYY-MM-DD`, UTC. For ever, where absent.
    pub until: Option<String>,
}

/// What is decided for one builder container.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Builder {
    /// The repository, without tag or digest.
    pub image: String,
    /// The tag that floating channels take.
    pub tag: String,
    /// The pattern of guard tags, such as `fcos-{digest:10}`, or `none`.
    pub guard: Option<String>,
    /// Guards each architecture's manifest by a tag of its own, too.
    #[serde(default)]
    pub guard_architectures: bool,
    /// The architectures that an index must have, by RPM name.
    #[serde(default)]
    pub architectures: Vec<String>,
}

impl Policy {
    /// Reads a policy. `document` is how errors name it.
    ///
    /// # Errors
    ///
    /// What is no policy of a known version, an unknown key, a channel that is named but not there, an empty list
    /// where one is given, a date that is none: each names the document and the place.
    pub fn read(document: &str, bytes: &[u8]) -> Result<Self, Error> {
        // The version is looked at first: a newer file may have keys that would only read as typos.
        let map: Map<Value> = json::read(document, bytes)?;
        check_version(document, "version", map.get("version"))?;
        let policy: Self = json::read(document, bytes)?;
        policy.check(document)?;
        Ok(policy)
    }

    fn check(&self, document: &str) -> Result<(), Error> {
        let names = || quoted(self.channels.keys());
        if let Some(default) = self.default.as_ref().filter(|default| !self.channels.contains_key(default)) {
            return Err(Error::invalid(format!(
                "{document}: default: no channel `{default}` (have {})",
                names()
            )));
        }
        for (name, channel) in &self.channels {
            if !is_file_name(name) {
                return Err(Error::invalid(format!(
                    "{document}: channels: `{name}` is no name for a channel"
                ))
                .help(
                    "a channel is named like its pin file: `NAME.json`, in this folder, and not `channels`",
                ));
            }
            let at = |key: &str| format!("{document}: channels.{name}.{key}");
            if let Some(source) = channel.promotes_from.iter().find(|c| !self.channels.contains_key(c)) {
                let at = at("promotes-from");
                return Err(Error::invalid(format!("{at}: no channel `{source}` (have {})", names())));
            }
            for (key, list) in [("architectures", &channel.architectures), ("platforms", &channel.platforms)]
            {
                if list.as_ref().is_some_and(Vec::is_empty) {
                    return Err(Error::invalid(format!(
                        "{}: expected at least one name, found none",
                        at(key)
                    ))
                    .help(format!("leave `{key}` out to pin all")));
                }
            }
            let texts = [("base-url", &channel.base_url), ("upstream", &channel.upstream)];
            if let Some((key, _)) = texts.into_iter().find(|(_, text)| text.as_deref() == Some("")) {
                return Err(Error::invalid(format!("{}: expected text that is not empty", at(key))));
            }
            if let Some(url) = &channel.base_url {
                check_no_secret(url)
                    .map_err(|fault| Error::invalid(format!("{}: {fault}", at("base-url"))))?;
            }
            if let Some(hold) = &channel.hold {
                if hold.reason.trim().is_empty() {
                    return Err(Error::invalid(format!(
                        "{}: expected a reason, found none",
                        at("hold.reason")
                    )));
                }
                if let Some(until) = hold.until.as_ref().filter(|until| !is_date(until)) {
                    let at = at("hold.until");
                    return Err(Error::invalid(format!(
                        "{at}: expected a date `YYYY-MM-DD`, found `{until}`"
                    )));
                }
            }
        }
        for (name, builder) in &self.builders {
            let at = |key: &str| format!("{document}: builders.{name}.{key}");
            let image = Reference::parse(&builder.image).map_err(|error| error.prefixed(&at("image")))?;
            if image.tag().is_some() || image.digest().is_some() {
                let found = &builder.image;
                return Err(Error::invalid(format!(
                    "{}: expected a repository without tag and digest, found `{found}`",
                    at("image")
                )));
            }
            if !is_tag(&builder.tag) {
                return Err(Error::invalid(format!(
                    "{}: expected a tag, found `{}`",
                    at("tag"),
                    builder.tag
                )));
            }
            if name.is_empty() || name.starts_with('.') || name.contains(['/', '\\', '\0']) {
                return Err(Error::invalid(format!(
                    "{document}: builders: `{name}` is no name for a builder"
                ))
                .help("it is the name of a folder: `builders/NAME/CHANNEL.json`"));
            }
        }
        Ok(())
    }
}

impl Channel {
    /// Leaves only those architectures and platforms in `stream` that are to be pinned. An architecture of which nothing
    /// is left goes too.
    pub fn select(&self, stream: &mut Stream) {
        if let Some(architectures) = &self.architectures {
            stream
                .architectures
                .retain(|name, _| architectures.iter().any(|wanted| rpm_architecture(wanted) == name));
        }
        if let Some(platforms) = &self.platforms {
            let wanted = |name: &str| platforms.iter().any(|platform| platform == name);
            stream.architectures.values_mut().for_each(|architecture| architecture.retain_platforms(wanted));
            stream.architectures.retain(|_, architecture| architecture.build_name().is_some());
        }
    }
}

impl Hold {
    /// Tells whether it holds on `today` (`YYYY-MM-DD`, UTC).
    pub fn holds_on(&self, today: &str) -> bool {
        // Dates of this form are in order as text.
        self.until.as_deref().is_none_or(|until| today <= until)
    }
}

/// Refuses a `version` that is missing, no number, or newer than this crate.
pub(crate) fn check_version(document: &str, place: &str, version: Option<&Value>) -> Result<(), Error> {
    match version {
        Some(Value::Unsigned(VERSION)) => Ok(()),
        Some(Value::Unsigned(newer)) if *newer > VERSION => Err(Error::invalid(format!(
            "{document}: {place}: {newer} is newer than this coreos-pins, which reads {VERSION}"
        ))
        .help("update coreos-pins")),
        _ => {
            let found = version.map_or("nothing".into(), |v| format!("`{}`", json::print(v).trim()));
            Err(Error::invalid(format!("{document}: {place}: expected {VERSION}, found {found}")))
        }
    }
}

/// Tells whether `NAME.json` is a pin file: in the pins folder itself, not hidden, and not the policy.
pub fn is_file_name(name: &str) -> bool {
    let separator = |c: char| c == '/' || c == '\0' || (cfg!(windows) && c == '\\');
    !name.is_empty() && !name.starts_with('.') && !name.contains(separator) && format!("{name}.json") != FILE
}

fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let number = |range: std::ops::Range<usize>| text.get(range).and_then(|part| part.parse::<u32>().ok());
    let shape = bytes.len() == 10
        && bytes
            .iter()
            .enumerate()
            .all(|(i, b)| if i == 4 || i == 7 { *b == b'-' } else { b.is_ascii_digit() });
    let (Some(year), Some(month), Some(day)) = (number(0..4), number(5..7), number(8..10)) else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    shape && (1..=days).contains(&day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        Policy::read("pins/channels.json", text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn only_the_version_is_required() {
        let policy = Policy::read("p", br#"{"version": 1}"#).unwrap();
        assert_eq!((policy.default, policy.channels.len()), (None, 0));
        assert_eq!(refusal("{}"), "pins/channels.json: version: expected 1, found nothing");
        assert_eq!(refusal(r#"{"version": "1"}"#), "pins/channels.json: version: expected 1, found `\"1\"`");
    }

    #[test]
    fn a_newer_version_is_called_that_whatever_else_is_in_it() {
        assert_eq!(
            refusal(r#"{"version": 2, "novel": {}}"#),
            "pins/channels.json: version: 2 is newer than this coreos-pins, which reads 1\nhelp: update coreos-pins"
        );
    }

    #[test]
    fn a_typo_names_the_key_and_the_keys_there_are() {
        let text = refusal(r#"{"version": 1, "channels": {"stable": {"base_url": "https://example.com"}}}"#);
        assert!(
            text.starts_with(
                "pins/channels.json: channels.stable.base_url: unknown field `base_url`, expected one of"
            ),
            "{text}"
        );
        assert!(text.contains("`base-url`"), "{text}");
    }

    #[test]
    fn a_channel_that_is_named_must_be_there() {
        assert_eq!(
            refusal(r#"{"version": 1, "default": "stabel", "channels": {"stable": {}}}"#),
            "pins/channels.json: default: no channel `stabel` (have `stable`)"
        );
        assert_eq!(
            refusal(r#"{"version": 1, "channels": {"stable": {"promotes-from": ["testing"]}}}"#),
            "pins/channels.json: channels.stable.promotes-from: no channel `testing` (have `stable`)"
        );
    }

    #[test]
    fn a_channel_that_cannot_be_a_file_of_the_folder_is_refused() {
        for name in ["", ".", "..", ".x", "a/b", "../x", "/x", "a\\u0000b", "channels"] {
            let text = refusal(&format!(r#"{{"version": 1, "channels": {{"{name}": {{}}}}}}"#));
            assert!(text.starts_with("pins/channels.json: channels: `"), "{name}: {text}");
        }
    }

    #[test]
    fn a_list_that_pins_nothing_is_refused() {
        let text = refusal(r#"{"version": 1, "channels": {"stable": {"architectures": []}}}"#);
        assert!(
            text.starts_with("pins/channels.json: channels.stable.architectures: expected at least one name")
        );
    }

    #[test]
    fn a_hold_has_a_reason_and_a_real_last_day() {
        let hold = |hold: &str| format!(r#"{{"version": 1, "channels": {{"stable": {{"hold": {hold}}}}}}}"#);
        assert!(
            refusal(&hold(r#"{"until": "2026-12-31"}"#))
                .contains("channels.stable.hold: missing field `reason`")
        );
        for until in ["2026-02-29", "2026-13-01", "2026-1-1", "tomorrow", "2026-12-+1"] {
            let text = refusal(&hold(&format!(r#"{{"reason": "r", "until": "{until}"}}"#)));
            assert!(text.contains(&format!("expected a date `YYYY-MM-DD`, found `{until}`")), "{text}");
        }
        let policy = Policy::read("p", hold(r#"{"reason": "r", "until": "2028-02-29"}"#).as_bytes()).unwrap();
        let hold = policy.channels["stable"].hold.clone().unwrap();
        assert!(hold.holds_on("2028-02-29") && !hold.holds_on("2028-03-01"));
    }
}
