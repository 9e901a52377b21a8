//! Finds a build where a base URL and a layout say that it is, and makes stream metadata of what is there.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::build_name::{BuildName, rpm_architecture};
use crate::documents::{Document, Record};
use crate::error::quoted;
use crate::json::Map;
use crate::layout::{Place, Shape};
use crate::policy;
use crate::source::{Answer, Source};
use crate::stream::{Architecture, Stream};
use crate::url::Url;
use crate::{Error, sha256};

mod advice;
mod document;
mod listing;
mod newest;

pub use listing::Listing;

/// The architectures that CoreOS is built for: what is asked for where nothing else says.
pub const ARCHITECTURES: [&str; 4] = ["aarch64", "ppc64le", "s390x", "x86_64"];

/// What is looked for.
#[derive(Clone, Copy, Debug)]
pub struct Search<'a> {
    /// The channel's own name; upstream's is in `place`.
    pub channel: &'a str,
    /// Where.
    pub place: Place<'a>,
    /// How URLs are made.
    pub shapes: &'a [Shape],
    /// What is decided for the channel.
    pub policy: &'a policy::Channel,
    /// The architectures that the channel's pin has, if it has one.
    pub pinned: &'a [String],
    /// What a person names a build with: `BUILD_NAME`, `--build`.
    pub named_with: &'a str,
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The build, whole, as the policy selects from it.
    pub stream: Stream,
    /// What a person should know: architectures that are not there, images that are gone.
    pub warnings: Vec<String>,
}

/// Where a build was looked for in vain: the URLs, masked, and what each answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Miss(pub Vec<(String, String)>);

/// A document that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Read {
    /// Where it is.
    pub url: Url,
    /// SHA-256 of its bytes as they came: 64 lower-case hex digits.
    pub sha256: String,
    /// It tells of many builds, so that nothing of it is in the one that was found.
    pub is_list: bool,
}

/// A source that remembers what it read.
#[derive(Debug)]
pub struct Reader<'a> {
    source: &'a Source,
    read: RefCell<Vec<Read>>,
}

impl<'a> Reader<'a> {
    /// Reads from `source`.
    pub fn new(source: &'a Source) -> Self {
        Self { source, read: RefCell::default() }
    }

    /// Returns the documents that were there, in the order of the requests.
    pub fn into_documents(self) -> Vec<Read> {
        self.read.into_inner()
    }

    fn get(&self, url: &Url) -> Result<Answer, Error> {
        let answer = self.source.get(url)?;
        self.remember(url, &answer, false);
        Ok(answer)
    }

    fn get_list(&self, url: &Url) -> Result<Answer, Error> {
        let answer = self.source.get(url)?;
        self.remember(url, &answer, true);
        Ok(answer)
    }

    fn get_all(&self, urls: &[Url]) -> Vec<Result<Answer, Error>> {
        let answers = self.source.get_all(urls);
        for (url, answer) in urls.iter().zip(&answers) {
            if let Ok(answer) = answer {
                self.remember(url, answer, false);
            }
        }
        answers
    }

    fn remember(&self, url: &Url, answer: &Answer, is_list: bool) {
        if let Answer::Found(fetched) = answer {
            let sha256 = sha256::hex([&*fetched.bytes]);
            self.read.borrow_mut().push(Read { url: url.clone(), sha256, is_list });
        }
    }
}

impl Search<'_> {
    /// Finds the build that `name` names, the newest where it is `latest`. `asked_by` is what a person asked with.
    ///
    /// # Errors
    ///
    /// No answer; a document that cannot be read, or that is of another build; a build that is not there, which says
    /// where it was looked for and what there is instead.
    pub fn find(&self, source: &Reader<'_>, name: &BuildName, asked_by: &str) -> Result<Found, Error> {
        let base = self.place.base;
        if base.is_document() {
            let name = Some(name).filter(|name| **name != BuildName::Latest);
            return self.document(source, base.url(), name);
        }
        let (found, advice) = match name {
            BuildName::Latest => (self.newest(source)?, Vec::new()),
            name => match self.named(source, name)? {
                Ok(found) => (Ok(found), Vec::new()),
                Err(miss) => (Err(miss), self.advice(source, name)),
            },
        };
        found.map_err(|miss| {
            let channel = self.channel;
            let error = Error::refused(match name {
                BuildName::Latest => {
                    format!("no builds of channel `{channel}` at {base} (asked for by {asked_by})")
                }
                name => format!("no build `{name}` in channel `{channel}` (asked for by {asked_by})"),
            });
            let mut lines = miss.lines();
            // Behind the first place that was looked at: what helps is not to be looked for below all of them.
            let behind = lines.len().min(1);
            lines.splice(behind..behind, advice);
            lines.into_iter().fold(error, Error::note)
        })
    }

    /// Finds the build that `name` names. Reads no list.
    ///
    /// # Errors
    ///
    /// No answer, a document that cannot be read, or that is of another build or architecture than was asked for.
    pub fn named(&self, source: &Reader<'_>, name: &BuildName) -> Result<Result<Found, Miss>, Error> {
        let mut miss = Miss::default();
        for shape in self.shapes {
            match self.named_in(source, *shape, name)? {
                Ok(stream) => return self.found(stream, Vec::new()).map(Ok),
                Err(Miss(urls)) => miss.0.extend(urls),
            }
        }
        Ok(Err(miss))
    }

    fn named_in(
        &self,
        source: &Reader<'_>,
        shape: Shape,
        name: &BuildName,
    ) -> Result<Result<Stream, Miss>, Error> {
        let ids = self.ids(name);
        let mut requests: BTreeMap<String, (Url, &str, Vec<&str>)> = BTreeMap::new();
        for (architecture, id) in &ids {
            let url = self.place.build(shape, id, architecture)?;
            requests.entry(url.public()).or_insert((url, id, Vec::new())).2.push(architecture);
        }
        let urls: Vec<Url> = requests.values().map(|(url, ..)| url.clone()).collect();
        // An architecture that was not asked for by name may be missing.
        let may_be_missing = shape.has_architectures() && matches!(name, BuildName::Id(_));
        let mut architectures = Map::default();
        let mut miss = Miss::default();
        let mut header = None;
        for ((url, id, wanted), answer) in requests.values().zip(source.get_all(&urls)) {
            let bytes = match answer? {
                Answer::Found(fetched) => fetched.bytes,
                Answer::NotThere { why } => {
                    miss.0.push((url.to_string(), why));
                    continue;
                }
            };
            let document = url.to_string();
            match Document::read(&document, &bytes)? {
                Document::Record(record) if shape != Shape::Stream => {
                    check_build(&document, record.build_id(), id)?;
                    let asked = shape.has_architectures().then(|| wanted[0]);
                    let (found, architecture) = read_record(&document, &folder_of(url), record, asked)?;
                    // Without a folder for it, two ids could each have the architecture of the other.
                    if matches!(name, BuildName::PerArchitecture(_)) {
                        check_architecture(&document, &found, wanted)?;
                    }
                    architectures.insert(found, architecture);
                }
                Document::Release(release) if shape == Shape::Stream => {
                    check_build(&document, &release.release, id)?;
                    let takes_all = matches!(name, BuildName::Id(_));
                    let mut stream = release.stream;
                    let all = std::mem::take(&mut stream.architectures).into_entries();
                    architectures
                        .extend(all.into_iter().filter(|(a, _)| takes_all || wanted.contains(&a.as_str())));
                    header = Some(stream);
                }
                other => {
                    let expected = if shape == Shape::Stream { "a release" } else { "a build record" };
                    return Err(Error::invalid(format!(
                        "{document}: expected {expected}, found {}",
                        other.kind()
                    )));
                }
            }
        }
        if architectures.is_empty() || !(miss.0.is_empty() || may_be_missing) {
            return Ok(Err(miss));
        }
        let missing =
            |a: &&String| matches!(name, BuildName::PerArchitecture(_)) && !architectures.contains_key(a);
        if let Some(missing) = ids.keys().find(missing) {
            return Err(Error::refused(format!("build `{}` has nothing for `{missing}`", ids[missing])));
        }
        let mut stream = header.unwrap_or_else(|| self.empty_stream());
        stream.architectures = architectures;
        Ok(Ok(stream))
    }

    /// Returns the id that is asked for of each architecture.
    fn ids(&self, name: &BuildName) -> BTreeMap<String, String> {
        let all = |id: &str| {
            let architectures = match &self.policy.architectures {
                Some(architectures) => architectures.iter().map(|a| rpm_architecture(a).to_owned()).collect(),
                None if !self.pinned.is_empty() => self.pinned.to_vec(),
                None => ARCHITECTURES.map(str::to_owned).to_vec(),
            };
            architectures.into_iter().map(|architecture| (architecture, id.to_owned())).collect()
        };
        match name {
            BuildName::PerArchitecture(ids) => ids.clone(),
            BuildName::Id(id) => all(id),
            BuildName::Latest => all("latest"),
        }
    }

    fn found(&self, mut stream: Stream, warnings: Vec<String>) -> Result<Found, Error> {
        self.policy.select(&mut stream);
        stream.check(&format!("channel `{}`, as channels.json selects from it", self.place.channel))?;
        Ok(Found { stream, warnings })
    }

    fn empty_stream(&self) -> Stream {
        Stream {
            stream: self.place.channel.to_owned(),
            metadata: None,
            architectures: Map::default(),
            extra: Map::default(),
        }
    }
}

impl Miss {
    /// Returns what was looked at, a line each, and what a 403 means.
    pub fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> =
            self.0.iter().map(|(url, why)| format!("looked at {url}: {why}")).collect();
        if self.0.iter().any(|(_, why)| why == "403") {
            lines.push(
                "these servers answer 403 for what is not there: the channel or build is likely wrong".into(),
            );
        }
        lines
    }
}

/// Returns the URL of the folder that the document at `url` is in, with a `/` at its end.
fn folder_of(url: &Url) -> String {
    let mut folder = url.public();
    folder.truncate(folder.find('?').unwrap_or(folder.len()));
    folder.truncate(folder.rfind('/').map_or(0, |slash| slash + 1));
    folder
}

/// Makes an architecture of `record`, whose files are in `folder`. `asked` is the architecture whose folder that is.
fn read_record(
    document: &str,
    folder: &str,
    record: Record,
    asked: Option<&str>,
) -> Result<(String, Architecture), Error> {
    let from_folder =
        || folder.trim_end_matches('/').rsplit('/').next().filter(|f| ARCHITECTURES.contains(f));
    let name = match (record.architecture(), asked) {
        (Some(found), asked) => {
            asked.map_or(Ok(()), |asked| check_architecture(document, found, &[asked]))?;
            found.to_owned()
        }
        (None, asked) => from_folder().or(asked).unwrap_or("x86_64").to_owned(),
    };
    let architecture = record.into_architecture(document, folder, &name)?;
    Ok((name, architecture))
}

fn check_architecture(document: &str, found: &str, wanted: &[&str]) -> Result<(), Error> {
    if wanted.contains(&found) {
        return Ok(());
    }
    let wanted = quoted(wanted.iter().copied());
    Err(Error::invalid(format!("{document}: expected the record of {wanted}, found that of `{found}`")))
}

fn check_build(document: &str, found: &str, asked: &str) -> Result<(), Error> {
    if found == asked {
        return Ok(());
    }
    Err(Error::invalid(format!("{document}: expected build `{asked}`, found `{found}`")))
}
