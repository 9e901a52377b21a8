//! What upstream lists: which builds there are.

use super::{Miss, Reader, Search};
use crate::Error;
use crate::documents::{Document, ListedBuild};
use crate::source::Answer;
use crate::url::Url;

/// The builds of a channel, by its build list or release index.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listing {
    /// Where the list is.
    pub url: Url,
    /// The builds, newest first; at least one.
    pub builds: Vec<ListedBuild>,
    /// Builds that were removed.
    pub tombstones: Vec<ListedBuild>,
}

impl Search<'_> {
    /// Reads the list of builds; where it was looked for in vain, where there is none.
    ///
    /// # Errors
    ///
    /// No answer, or what is no list.
    pub fn listing(&self, source: &Reader<'_>) -> Result<Result<Listing, Miss>, Error> {
        let mut miss = Miss::default();
        if self.place.base.is_document() {
            return Ok(Err(miss));
        }
        let mut tried: Vec<String> = Vec::new();
        for shape in self.shapes {
            let url = self.place.list(*shape)?;
            if tried.contains(&url.public()) {
                continue;
            }
            tried.push(url.public());
            let document = url.to_string();
            let bytes = match source.get_list(&url)? {
                Answer::Found(fetched) => fetched.bytes,
                Answer::NotThere { why } => {
                    miss.0.push((document, why));
                    continue;
                }
            };
            return match Document::read(&document, &bytes)? {
                Document::BuildList(list) => {
                    Ok(Ok(Listing { url, builds: list.builds, tombstones: list.tombstones }))
                }
                Document::ReleaseIndex(index) => {
                    let builds = index.releases.into_iter().rev().map(|release| ListedBuild {
                        id: release.version,
                        has_architectures: false,
                        architectures: release.architectures,
                        ..ListedBuild::default()
                    });
                    Ok(Ok(Listing { url, builds: builds.collect(), tombstones: Vec::new() }))
                }
                other => Err(Error::invalid(format!(
                    "{document}: expected a list of builds, found {}",
                    other.kind()
                ))),
            };
        }
        Ok(Err(miss))
    }
}
