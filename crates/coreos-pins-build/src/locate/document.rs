//! A base URL that is the document itself.

use super::advice::newest_of;
use super::{Found, Reader, Search, folder_of, read_record};
use crate::Error;
use crate::build_name::BuildName;
use crate::documents::{Document, ReleaseIndex};
use crate::json::Map;
use crate::source::Answer;
use crate::stream::Stream;
use crate::url::Url;

impl Search<'_> {
    /// Finds the build that is in the document at `url`, whatever kind it is of. `name` says which one it has to be;
    /// without it, a release index gives its newest.
    ///
    /// # Errors
    ///
    /// No answer, no document, a document that cannot be read, or one that is of another build.
    pub fn document(&self, source: &Reader<'_>, url: &Url, name: Option<&BuildName>) -> Result<Found, Error> {
        let document = url.to_string();
        let bytes = match source.get(url)? {
            Answer::Found(fetched) => fetched.bytes,
            Answer::NotThere { why } => {
                return Err(Error::refused(format!("no document at {document}: {why}")));
            }
        };
        match Document::read(&document, &bytes)? {
            Document::ReleaseIndex(index) => self.in_index(source, &document, &index, name),
            other => self.of_one_build(&document, &folder_of(url), other, None, name),
        }
    }

    /// Takes the build that `content` is of, whatever kind of document it is. `published` is where that is: the files of
    /// a record lie beside it. `document` is how errors name it; `architecture` is whose it is if it does not say itself.
    ///
    /// # Errors
    ///
    /// No document of one build, or of another architecture.
    pub fn taken(
        &self,
        document: &str,
        published: &Url,
        content: Document,
        architecture: Option<&str>,
    ) -> Result<Found, Error> {
        self.of_one_build(document, &folder_of(published), content, architecture, None)
    }

    fn of_one_build(
        &self,
        document: &str,
        folder: &str,
        content: Document,
        architecture: Option<&str>,
        name: Option<&BuildName>,
    ) -> Result<Found, Error> {
        let stream = match content {
            Document::Stream(stream) => stream,
            Document::Release(release) => release.stream,
            Document::Record(record) => {
                let folder = record.base_uri().unwrap_or(folder).to_owned();
                let (name, architecture) = read_record(document, &folder, record, architecture)?;
                Stream { architectures: Map::from_iter([(name, architecture)]), ..self.empty_stream() }
            }
            other @ (Document::BuildList(_) | Document::ReleaseIndex(_)) => {
                return Err(Error::invalid(format!(
                    "{document}: expected a document of one build, found {}",
                    other.kind()
                ))
                .help(
                    "name the document of one build, or, as a base URL, what comes before the channel's name",
                ));
            }
        };
        check_is(document, &stream, name)?;
        self.found(stream, Vec::new())
    }

    fn in_index(
        &self,
        source: &Reader<'_>,
        document: &str,
        index: &ReleaseIndex,
        name: Option<&BuildName>,
    ) -> Result<Found, Error> {
        let release = match name {
            None | Some(BuildName::Latest) => index.releases.last(),
            Some(BuildName::Id(id)) => index.releases.iter().find(|release| release.version == *id),
            Some(BuildName::PerArchitecture(ids)) => {
                let mut versions = ids.values();
                let first = versions.next().filter(|first| versions.all(|id| id == *first));
                first.and_then(|first| index.releases.iter().find(|release| release.version == *first))
            }
        };
        let Some(url) = release.and_then(|release| release.metadata_url.as_deref()) else {
            let wanted = name.map_or("newest".to_owned(), ToString::to_string);
            let ids: Vec<&str> =
                index.releases.iter().rev().map(|release| release.version.as_str()).collect();
            return Err(Error::refused(format!(
                "{document}: no release `{wanted}` with a document of its own"
            ))
            .note(newest_of(&ids)));
        };
        let url = &Url::parse(url)?;
        let bytes = match source.get(url)? {
            Answer::Found(fetched) => fetched.bytes,
            Answer::NotThere { why } => {
                return Err(Error::refused(format!("{document} names {url}, which is not there: {why}")));
            }
        };
        let document = url.to_string();
        match Document::read(&document, &bytes)? {
            Document::Release(release) => {
                check_is(&document, &release.stream, name)?;
                self.found(release.stream, Vec::new())
            }
            other => Err(Error::invalid(format!("{document}: expected a release, found {}", other.kind()))),
        }
    }
}

fn check_is(document: &str, stream: &Stream, name: Option<&BuildName>) -> Result<(), Error> {
    let found = stream.build_names();
    match name {
        Some(name) if *name != BuildName::Latest && !name.is(&found) => Err(Error::refused(format!(
            "{document}: expected build `{name}`, found `{}`",
            BuildName::of(&found)
        ))),
        _ => Ok(()),
    }
}
