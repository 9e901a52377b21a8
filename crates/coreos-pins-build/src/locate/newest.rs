//! The newest build: what the list, or the stream document, has first.

use std::collections::{BTreeMap, BTreeSet};

use super::{Found, Miss, Reader, Search};
use crate::Error;
use crate::build_name::{BuildName, rpm_architecture};
use crate::documents::{BuildList, Document, ListedBuild};
use crate::error::quoted;
use crate::layout::Shape;
use crate::source::Answer;
use crate::url::Url;

impl Search<'_> {
    /// Finds the newest build: the stream document itself, or the first of the build list.
    ///
    /// # Errors
    ///
    /// No answer; a document that cannot be read; a build that lacks an architecture that its list has, or whose images
    /// were cleaned up though the policy requires them. An older build never takes its place.
    pub fn newest(&self, source: &Reader<'_>) -> Result<Result<Found, Miss>, Error> {
        let mut miss = Miss::default();
        let mut lists = BTreeSet::new();
        for shape in self.shapes {
            if *shape == Shape::Stream {
                let url = self.place.stream()?;
                match source.get(&url)? {
                    Answer::NotThere { why } => miss.0.push((url.to_string(), why)),
                    Answer::Found(fetched) => {
                        let document = url.to_string();
                        return match Document::read(&document, &fetched.bytes)? {
                            Document::Stream(stream) => self.found(stream, Vec::new()).map(Ok),
                            other => Err(Error::invalid(format!(
                                "{document}: expected stream metadata, found {}",
                                other.kind()
                            ))),
                        };
                    }
                }
                continue;
            }
            let url = self.place.list(*shape)?;
            if !lists.insert(url.public()) {
                continue;
            }
            match self.list(source, &url)? {
                Err(why) => miss.0.push((url.to_string(), why)),
                Ok(list) => {
                    // Two layouts have their list in the same place; its form tells which it is.
                    let shape = match shape {
                        Shape::Flat if self.shapes.contains(&Shape::Arch) && list.has_architectures => {
                            Shape::Arch
                        }
                        other => *other,
                    };
                    return self.newest_of(source, shape, &url.to_string(), &list).map(Ok);
                }
            }
        }
        Ok(Err(miss))
    }

    fn newest_of(
        &self,
        source: &Reader<'_>,
        shape: Shape,
        document: &str,
        list: &BuildList,
    ) -> Result<Found, Error> {
        let Some(newest) = list.builds.first() else {
            return Err(Error::refused(format!("{document}: no builds")));
        };
        let (ids, mut warnings) = self.listed_architectures(newest);
        warnings.extend(self.check_cleanup(newest)?);
        let name = match ids.is_empty() || !shape.has_architectures() {
            true => BuildName::Id(newest.id.clone()),
            false => BuildName::PerArchitecture(ids),
        };
        match self.named_in(source, shape, &name)? {
            Ok(stream) => self.found(stream, warnings),
            Err(miss) => {
                let mut error = Error::refused(format!(
                    "{document}: the newest build `{}` is listed, but not all of it is there",
                    newest.id
                ));
                for line in miss.lines() {
                    error = error.note(line);
                }
                Err(error.help(format!("name an older build with {}", self.named_with)))
            }
        }
    }

    /// Returns the architectures of `build` that are wanted, and what to say of those that are wanted and not listed.
    fn listed_architectures(&self, build: &ListedBuild) -> (BTreeMap<String, String>, Vec<String>) {
        let wanted = self.policy.architectures.as_deref();
        let is_wanted =
            |name: &String| wanted.is_none_or(|wanted| wanted.iter().any(|w| rpm_architecture(w) == name));
        let listed = build.architectures.iter().filter(|name| is_wanted(name));
        let ids: BTreeMap<String, String> = listed.map(|a| (a.clone(), build.id.clone())).collect();
        let expected = wanted.unwrap_or(self.pinned).iter().map(|name| rpm_architecture(name));
        let missing: Vec<&str> = expected.filter(|name| !ids.contains_key(*name)).collect();
        let warning = (!missing.is_empty() && !build.architectures.is_empty()).then(|| {
            format!("the newest build `{}` has nothing for {}", build.id, quoted(missing.iter().copied()))
        });
        (ids, warning.into_iter().collect())
    }

    /// Returns what to say of files and images of `build` that were deleted since it was made.
    ///
    /// # Errors
    ///
    /// The policy requires one of them.
    pub fn check_cleanup(&self, build: &ListedBuild) -> Result<Vec<String>, Error> {
        let cleanup = &build.cleanup;
        let gone = |platform: &str| {
            let images = cleanup.cloud_uploads && matches!(platform, "aws" | "gcp" | "aws-winli");
            let kept = |kept: &String| {
                kept == platform || kept.strip_prefix("live-").is_some() && platform == "metal"
            };
            images
                || cleanup.build
                || cleanup.images_kept.as_ref().is_some_and(|names| !names.iter().any(kept))
        };
        let required: Vec<&str> =
            self.policy.require.iter().map(String::as_str).filter(|p| gone(p)).collect();
        if !required.is_empty() {
            return Err(Error::refused(format!(
                "build `{}` was cleaned up: {} is gone, which the channel requires",
                build.id,
                quoted(required)
            ))
            .help(format!("name another build with {}", self.named_with)));
        }
        let mut said = Vec::new();
        if cleanup.cloud_uploads {
            said.push(format!("build `{}` was cleaned up: its cloud images are deleted", build.id));
        }
        if let Some(kept) = &cleanup.images_kept {
            let kept = quoted(kept.iter().map(String::as_str));
            said.push(format!("build `{}` was cleaned up: of its files, only {kept} are left", build.id));
        }
        Ok(said)
    }

    /// Reads the build list at `url`; why not, where it is not there.
    fn list(&self, source: &Reader<'_>, url: &Url) -> Result<Result<BuildList, String>, Error> {
        let document = url.to_string();
        match source.get_list(url)? {
            Answer::NotThere { why } => Ok(Err(why)),
            Answer::Found(fetched) => match Document::read(&document, &fetched.bytes)? {
                Document::BuildList(list) => Ok(Ok(list)),
                other => {
                    Err(Error::invalid(format!("{document}: expected a build list, found {}", other.kind())))
                }
            },
        }
    }
}
