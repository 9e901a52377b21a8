//! Which URL holds what. Layouts differ in two things: whether there is a `builds` folder between channel and build,
//! and whether there is a folder an architecture below the build. The public stream layout is a third kind.

use crate::Error;
use crate::policy::Layout;
use crate::url::{Base, Url};

/// The layouts that make URLs; [`Layout::Auto`] stands for whichever of them answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `{channel}/builds.json`, `{channel}/{build}/meta.json`
    Flat,
    /// `{channel}/builds/builds.json`, `{channel}/builds/{build}/{architecture}/meta.json`
    Builds,
    /// `{channel}/builds.json`, `{channel}/{build}/{architecture}/meta.json`
    Arch,
    /// `streams/{channel}.json`, `prod/streams/{channel}/releases.json`,
    /// `prod/streams/{channel}/builds/{build}/release.json`
    Stream,
}

impl Shape {
    /// Returns the shapes to try for `layout`, in order.
    pub fn of(layout: Layout) -> &'static [Self] {
        match layout {
            Layout::Flat => &[Self::Flat],
            Layout::Builds => &[Self::Builds],
            Layout::Arch => &[Self::Arch],
            Layout::Stream => &[Self::Stream],
            Layout::Auto => &[Self::Flat, Self::Builds, Self::Arch, Self::Stream],
        }
    }

    /// Tells whether a build has a folder an architecture.
    pub fn has_architectures(self) -> bool {
        matches!(self, Self::Builds | Self::Arch)
    }
}

/// A channel at a base URL.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// Where everything is.
    pub base: &'a Base,
    /// The channel, by its name upstream.
    pub channel: &'a str,
}

impl Place<'_> {
    /// Returns the URL of the list of builds: a build list, or a release index.
    ///
    /// # Errors
    ///
    /// A channel whose name would lead out of the base.
    pub fn list(&self, shape: Shape) -> Result<Url, Error> {
        match shape {
            Shape::Flat | Shape::Arch => self.base.join(&[self.channel, "builds.json"]),
            Shape::Builds => self.base.join(&[self.channel, "builds", "builds.json"]),
            Shape::Stream => self.base.join(&["prod", "streams", self.channel, "releases.json"]),
        }
    }

    /// Returns the URL of the document of `build`: a build record, for `architecture` where there is a folder for it,
    /// or a release.
    ///
    /// # Errors
    ///
    /// A name that would lead out of the base.
    pub fn build(&self, shape: Shape, build: &str, architecture: &str) -> Result<Url, Error> {
        match shape {
            Shape::Flat => self.base.join(&[self.channel, build, "meta.json"]),
            Shape::Arch => self.base.join(&[self.channel, build, architecture, "meta.json"]),
            Shape::Builds => self.base.join(&[self.channel, "builds", build, architecture, "meta.json"]),
            Shape::Stream => {
                self.base.join(&["prod", "streams", self.channel, "builds", build, "release.json"])
            }
        }
    }

    /// Returns the URL of the stream document, which has the newest build.
    ///
    /// # Errors
    ///
    /// A channel whose name would lead out of the base.
    pub fn stream(&self) -> Result<Url, Error> {
        self.base.join(&["streams", &format!("{}.json", self.channel)])
    }
}
