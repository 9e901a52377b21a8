//! A default channel that is not embedded as its pin has it: looked up, compared with the pin where it has to be the same
//! build, and explained where it is not there.

use std::collections::BTreeMap;

use crate::Error;
use crate::build_name::BuildName;
use crate::error::{nearest, quoted};
use crate::layout::{Place, Shape};
use crate::locate::{Found, Read, Reader, Search};
use crate::mirror::at_mirror;
use crate::pin::Pin;
use crate::pins::Pins;
use crate::resolve::{Channel, Origin, Row};
use crate::settings::Settings;
use crate::source::Source;
use crate::url::Base;

/// Where the channels of 2018 were: the base URL of a channel that nothing else is known of.
const FALLBACK_BASE_URL: &str = "https://releases-rhcos.svc.ci.openshift.org/storage/releases";

/// A default channel that is not embedded as its pin has it.
pub(crate) struct Override<'a> {
    pub(crate) settings: &'a Settings,
    /// The channel's name.
    pub(crate) channel: &'a str,
    pub(crate) pins: &'a Pins,
    /// Any but [`Row::Pinned`].
    pub(crate) row: Row,
}

/// What is embedded in place of the pin.
pub(crate) struct Overridden {
    pub(crate) channel: Channel,
    pub(crate) warnings: Vec<String>,
    /// What it was read from.
    pub(crate) documents: Vec<Read>,
}

impl Override<'_> {
    /// Looks the build up. `source` is made for that only.
    pub(crate) fn resolve(
        &self,
        source: impl FnOnce() -> Result<Source, Error>,
    ) -> Result<Overridden, Error> {
        let (base, place) = self.base().map_err(|error| {
            let help = match &self.settings.base_url {
                Some(setting) if !self.pins.pins.contains_key(self.channel) => {
                    format!("set {} to what comes before the channel's name in the URLs", setting.variable)
                }
                _ => self.help(),
            };
            self.with_ignored(error).or_help(help)
        })?;
        let policy = self.pins.policy_of(self.channel).cloned().unwrap_or_default();
        let pin = self.pins.pins.get(self.channel);
        let pinned: Vec<String> =
            pin.map(|pin| pin.stream.architectures.keys().map(str::to_owned).collect()).unwrap_or_default();
        let search = Search {
            channel: self.channel,
            place: Place { base: &base, channel: policy.upstream.as_deref().unwrap_or(self.channel) },
            shapes: Shape::of(policy.layout),
            policy: &policy,
            pinned: &pinned,
            named_with: "BUILD_NAME",
        };
        let source = source()?;
        let reader = Reader::new(&source);
        let found = self.find(&search, &reader).map_err(|error| self.explain(error, &place))?;
        let origin = if self.row == Row::Latest { Origin::Latest } else { Origin::Named };
        let (stream, release_image, builders) = match (self.row, pin) {
            (Row::Mirror, Some(pin)) => {
                let header = pin.header.as_ref();
                let pinned_base = header.map(|header| &header.base_url).or(policy.base_url.as_ref());
                let pinned_base = pinned_base.map_or("", String::as_str);
                let stream = at_mirror(&pin.stream, pinned_base, &found.stream, &base);
                let stream = stream.map_err(|differences| self.differs(&base, differences))?;
                let builders = self.pins.builders.get(self.channel).cloned().unwrap_or_default();
                (stream, header.and_then(|header| header.release_image.clone()), builders)
            }
            _ => (found.stream, None, BTreeMap::new()),
        };
        let build = BuildName::of(&stream.build_names());
        let mut warnings = vec![format!(
            "channel `{}`: build `{build}` at {base}, not from the pins (asked for by {})",
            self.channel,
            self.asked_by()
        )];
        warnings.extend(found.warnings);
        let pin = Pin { header: None, stream };
        let channel = Channel { base_url: base.public(), origin, release_image, pin, builders };
        Ok(Overridden { channel, warnings, documents: reader.into_documents() })
    }

    /// Returns the base URL, and the place that names it.
    fn base(&self) -> Result<(Base, String), Error> {
        let policy = self.pins.policy_of(self.channel).and_then(|policy| policy.base_url.as_deref());
        let header = self.pins.pins.get(self.channel).and_then(|pin| pin.header.as_ref());
        let (place, url) = match (&self.settings.base_url, policy, header) {
            (Some(setting), ..) => (setting.variable.to_owned(), setting.value.as_str()),
            (None, Some(url), _) => (format!("channels.json: channels.{}.base-url", self.channel), url),
            (None, None, Some(header)) => {
                (format!("{}.json: pin.base-url", self.channel), header.base_url.as_str())
            }
            (None, None, None) if self.pins.pins.contains_key(self.channel) || self.has_policy() => {
                return Err(Error::refused(format!(
                    "channel `{}` has no base URL to look builds up at (asked for by {})",
                    self.channel,
                    self.asked_by()
                ))
                .help("set BASE_URL, or give the channel a `base-url` in channels.json"));
            }
            (None, None, None) => ("the base URL".to_owned(), FALLBACK_BASE_URL),
        };
        Ok((Base::parse(&place, url)?, place))
    }

    fn has_policy(&self) -> bool {
        self.pins.policy_of(self.channel).is_some()
    }

    fn find(&self, search: &Search<'_>, source: &Reader<'_>) -> Result<Found, Error> {
        let name = match (self.row, &self.settings.build_name, self.pins.pins.get(self.channel)) {
            (Row::Mirror, _, Some(pin)) => BuildName::of(&pin.stream.build_names()),
            (Row::Named, Some(setting), _) => setting.value.clone(),
            _ => BuildName::Latest,
        };
        search.find(source, &name, &self.asked_by())
    }

    /// Says of a fault on the way what was asked for, unless it says so itself.
    fn explain(&self, error: Error, place: &str) -> Error {
        if error.is_refusal() {
            return self.with_ignored(error).or_help(self.help());
        }
        let pinned = self.pins.pins.contains_key(self.channel);
        let error = match (&self.settings.build_name, pinned) {
            (None, false) if self.settings.base_url.is_some() => error.under(format!(
                "no pin for channel `{}`, and its newest build could not be looked up at {place} (asked for by {})",
                self.channel,
                self.asked_by()
            )),
            (None, false) => {
                let guess =
                    nearest(self.channel, self.pins.names()).map(|name| format!(", did you mean `{name}`?"));
                let by = match &self.settings.default_channel {
                    Some(setting) => format!(" (asked for by {})", setting.variable),
                    None => String::new(),
                };
                error.under(format!("no pin for channel `{}`{by}{}", self.channel, guess.unwrap_or_default()))
            }
            (None, true) => error.under(format!(
                "the pinned build of channel `{}` could not be looked up at {place} (asked for by {})",
                self.channel,
                self.asked_by()
            )),
            (Some(setting), _) => error.under(format!(
                "build `{}` of channel `{}` could not be looked up (asked for by {})",
                setting.value,
                self.channel,
                self.asked_by()
            )),
        };
        self.with_help(if pinned { error } else { error.note(self.pinned()) })
    }

    fn pinned(&self) -> String {
        match self.pins.names().next() {
            None => "no channel is pinned".to_owned(),
            Some(_) => format!("pinned are {}", quoted(self.pins.names())),
        }
    }

    fn differs(&self, base: &Base, differences: Vec<String>) -> Error {
        let mut error = Error::refused(format!(
            "{base} has another build than the pin of channel `{}` (asked for by {})",
            self.channel,
            self.asked_by()
        ));
        for difference in differences {
            error = error.note(difference);
        }
        self.with_help(error)
    }

    fn with_help(&self, error: Error) -> Error {
        self.with_ignored(error).help(self.help())
    }

    /// Says which variables were set in vain.
    fn with_ignored(&self, error: Error) -> Error {
        match self.settings.ignored.as_slice() {
            [] => error,
            names => error.note(format!(
                "{} {} not read, because a variable with the prefix `COREOS_PINS_` is there",
                names.join(" and "),
                if names.len() == 1 { "is" } else { "are" }
            )),
        }
    }

    /// What to type to be rid of the override.
    fn help(&self) -> String {
        let pinned = self.pins.pins.contains_key(self.channel);
        match (pinned, &self.settings.default_channel) {
            (true, _) => {
                format!("unset {} to build from the committed pin", self.override_variables().join(" and "))
            }
            (false, Some(setting)) => match &self.settings.build_name {
                Some(build) => format!(
                    "name a build that is there with {}, or set {} to a pinned channel",
                    build.variable, setting.variable
                ),
                None => format!("set {} to a pinned channel, or unset it", setting.variable),
            },
            (false, None) => {
                // With the prefix, where the plain name would not be read.
                let prefix = if self.settings.ignored.is_empty() { "" } else { "COREOS_PINS_" };
                format!(
                    "set {prefix}DEFAULT_CHANNEL to a pinned channel, or name one as `default` in channels.json"
                )
            }
        }
    }

    fn override_variables(&self) -> Vec<&'static str> {
        (self.settings.base_url.iter().map(|setting| setting.variable))
            .chain(self.settings.build_name.iter().map(|setting| setting.variable))
            .collect()
    }

    /// The variables that ask for this build; the channel's own, where none of the others does.
    fn asked_by(&self) -> String {
        let mut names = self.override_variables();
        if names.is_empty() {
            names.extend(self.settings.default_channel.iter().map(|setting| setting.variable));
        }
        if names.is_empty() { "channels.json".to_owned() } else { names.join(" and ") }
    }
}
