use core::fmt;

use crate::text::{equal, find_sorted};
use crate::{Architecture, Builder};

/// How the build of a channel came to be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Origin {
    /// By a pin file.
    Pinned,
    /// By `BUILD_NAME` or `BASE_URL`, when the crate was built.
    Named,
    /// It was the newest when the crate was built. Two builds of one source may differ.
    Latest,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Pinned => "pinned",
            Self::Named => "named",
            Self::Latest => "latest",
        })
    }
}

/// One channel: a named line of releases, and the one build of it that is embedded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Channel {
    /// The channel's name: the name of its pin file without `.json`.
    pub name: &'static str,
    /// Where the channel's documents are. Empty for a stream document that was put into `pins/` by hand and has no
    /// `base-url` in `channels.json`.
    pub base_url: &'static str,
    /// The build's id; that of x86_64 where architectures differ, or of the first one where there is no x86_64.
    pub build_name: &'static str,
    /// How the build came to be chosen.
    pub origin: Origin,
    /// The release payload, by digest: `quay.io/…@sha256:…`.
    pub release_image: Option<&'static str>,
    /// What there is, by architecture; sorted by name.
    pub architectures: &'static [Architecture],
    /// The containers that the OS is built with; sorted by name.
    pub builders: &'static [Builder],
    stream_json: &'static str,
}

impl Channel {
    #[doc(hidden)]
    #[must_use]
    pub const fn new(
        name: &'static str,
        base_url: &'static str,
        build_name: &'static str,
        origin: Origin,
        architectures: &'static [Architecture],
        stream_json: &'static str,
    ) -> Self {
        let (release_image, builders) = (None, [].as_slice());
        Self { name, base_url, build_name, origin, release_image, architectures, builders, stream_json }
    }

    #[doc(hidden)]
    #[must_use]
    pub const fn with_release_image(mut self, image: &'static str) -> Self {
        self.release_image = Some(image);
        self
    }

    #[doc(hidden)]
    #[must_use]
    pub const fn with_builders(mut self, builders: &'static [Builder]) -> Self {
        self.builders = builders;
        self
    }

    /// Returns what there is for the architecture `name`, or `None` if the build has nothing for it.
    ///
    /// Names are those of RPM (`x86_64`, `aarch64`, `ppc64le`, `s390x`); `amd64` and `arm64` are understood.
    #[must_use]
    #[inline]
    pub const fn architecture(&self, name: &str) -> Option<&'static Architecture> {
        let alias = if equal(name, "amd64") {
            "x86_64"
        } else if equal(name, "arm64") {
            "aarch64"
        } else {
            return find_sorted!(self.architectures, name, name);
        };
        find_sorted!(self.architectures, name, alias)
    }

    /// Returns the builder `name`, or `None` if none of that name is pinned for this channel.
    #[must_use]
    #[inline]
    pub const fn builder(&self, name: &str) -> Option<&'static Builder> {
        find_sorted!(self.builders, name, name)
    }

    /// Returns the channel's stream metadata as JSON, for tools that read that: the pin without its `pin` key, sorted
    /// and laid out in coreos-pins' canonical form.
    ///
    /// A binary that uses this, or that makes use of a [`Channel`] in a way the compiler cannot see through, carries
    /// the text: some tens of kilobytes a channel.
    #[must_use]
    #[inline]
    pub const fn stream_json(&self) -> &'static str {
        self.stream_json
    }
}

/// Finds a channel in a table sorted by name. Generated `channel()` functions call it.
#[doc(hidden)]
#[must_use]
#[inline]
pub const fn find_channel(channels: &'static [Channel], name: &str) -> Option<&'static Channel> {
    find_sorted!(channels, name, name)
}
