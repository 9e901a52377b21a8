//! What upstream has of a channel: looked up with the engine, where the policy says.

use std::collections::BTreeSet;
use std::path::Path;

use coreos_pins_build::Error;
use coreos_pins_build::build_name::BuildName;
use coreos_pins_build::documents::{self, MarketplaceFile};
use coreos_pins_build::layout::{Place, Shape};
use coreos_pins_build::locate::{Listing, Miss, Reader, Search};
use coreos_pins_build::pin::{self, Pin};
use coreos_pins_build::pins::read_file;
use coreos_pins_build::policy::{self, Layout};
use coreos_pins_build::sha256;
use coreos_pins_build::source::{Answer, Source};
use coreos_pins_build::stream::Stream;
use coreos_pins_build::url::{Base, Url};

/// A channel, and all that says where its builds are.
#[derive(Clone, Copy)]
pub(crate) struct Channel<'a> {
    pub(crate) name: &'a str,
    pub(crate) policy: &'a policy::Channel,
    pub(crate) pin: Option<&'a Pin>,
}

/// A document of a file.
pub(crate) struct Document {
    /// The file, as the user names it.
    name: String,
    sha256: String,
    content: documents::Document,
    /// The base URL, of a document that is a pin.
    pinned_base_url: Option<String>,
}

impl Document {
    /// Reads the document in the file `path`.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, or that is no document.
    pub(crate) fn read(path: &Path) -> Result<Self, Error> {
        let bytes = read_file(path)?;
        let name = path.display().to_string();
        let content = documents::Document::read(&name, &bytes)?;
        let pinned_base_url = match &content {
            documents::Document::Stream(stream) if stream.extra.contains_key("pin") => {
                Pin::read(&name, &bytes)?.header.map(|header| header.base_url)
            }
            _ => None,
        };
        Ok(Self { sha256: sha256::hex([&*bytes]), name, content, pinned_base_url })
    }

    /// Returns the stream that the document says it is of.
    pub(crate) fn stream_name(&self) -> Option<&str> {
        match &self.content {
            documents::Document::Stream(stream) => Some(&stream.stream),
            documents::Document::Release(release) => Some(&release.stream.stream),
            _ => None,
        }
    }

    /// Returns the base URL, of a document that is a pin.
    pub(crate) fn pinned_base_url(&self) -> Option<&str> {
        self.pinned_base_url.as_deref()
    }
}

/// A build as upstream has it.
pub(crate) struct Upstream {
    pub(crate) stream: Stream,
    /// The documents that it was made from.
    pub(crate) sources: Vec<pin::Source>,
    pub(crate) warnings: Vec<String>,
}

impl Channel<'_> {
    /// Returns the base URL to look builds up at: the policy's, else the pin's.
    ///
    /// # Errors
    ///
    /// Neither has one, or it is no base URL.
    pub(crate) fn base(&self) -> Result<Base, Error> {
        let pinned = self.pin.and_then(|pin| pin.header.as_ref()).map(|header| header.base_url.as_str());
        let (place, url) = match (self.policy.base_url.as_deref(), pinned) {
            (Some(url), _) => (format!("channels.json: channels.{}.base-url", self.name), url),
            (None, Some(url)) => (format!("{}.json: pin.base-url", self.name), url),
            (None, None) => {
                return Err(Error::invalid(format!(
                    "channel `{}` has no `base-url` in channels.json",
                    self.name
                ))
                .help("add it: the URL that its documents are below"));
            }
        };
        Base::parse(&place, url)
    }

    /// Returns the channel's name upstream.
    pub(crate) fn upstream_name(&self) -> &str {
        self.policy.upstream.as_deref().unwrap_or(self.name)
    }

    /// Calls `look` with what is to be searched.
    fn search<T>(&self, base: &Base, look: impl FnOnce(&Search<'_>) -> T) -> T {
        let architectures = self.pin.map(|pin| pin.stream.architectures.keys().map(str::to_owned).collect());
        let pinned: Vec<String> = architectures.unwrap_or_default();
        look(&Search {
            channel: self.name,
            place: Place { base, channel: self.upstream_name() },
            shapes: Shape::of(self.policy.layout),
            policy: self.policy,
            pinned: &pinned,
            named_with: "--build",
        })
    }

    /// Finds the build `name`, which `asked_by` asks for.
    ///
    /// # Errors
    ///
    /// No answer, no such build, or a document that cannot be read.
    pub(crate) fn find(&self, source: &Source, name: &BuildName, asked_by: &str) -> Result<Upstream, Error> {
        let base = self.base()?;
        let reader = Reader::new(source);
        let found = self.search(&base, |search| search.find(&reader, name, asked_by))?;
        Ok(Upstream { stream: found.stream, sources: sources(reader), warnings: found.warnings })
    }

    /// Reads the build that the document at `url` is of, as the policy selects from it.
    ///
    /// # Errors
    ///
    /// No answer, or a document that cannot be read.
    pub(crate) fn document(&self, source: &Source, url: &Url) -> Result<Upstream, Error> {
        let base = no_base()?;
        let reader = Reader::new(source);
        let found = self.search(&base, |search| search.document(&reader, url, None))?;
        Ok(Upstream { stream: found.stream, sources: sources(reader), warnings: found.warnings })
    }

    /// Takes the build that `document` is of, which is published at `published_at`. `architecture` is whose it is if it
    /// does not say itself.
    ///
    /// # Errors
    ///
    /// No document of one build, or of another architecture.
    pub(crate) fn take(
        &self,
        document: Document,
        published_at: &Url,
        architecture: Option<&str>,
    ) -> Result<Upstream, Error> {
        let base = no_base()?;
        let Document { name, sha256, content, .. } = document;
        let found = self.search(&base, |search| search.taken(&name, published_at, content, architecture))?;
        let source = pin::Source { sha256, url: published_at.public() };
        Ok(Upstream { stream: found.stream, sources: vec![source], warnings: found.warnings })
    }

    /// Reads the list of builds; where it was looked for in vain, where there is none.
    ///
    /// # Errors
    ///
    /// No answer, or what is no list.
    pub(crate) fn listing(&self, source: &Source) -> Result<Result<Listing, Miss>, Error> {
        let base = self.base()?;
        self.search(&base, |search| search.listing(&Reader::new(source)))
    }

    /// Returns what to say of the builds `ids` that `listing` has as cleaned up.
    ///
    /// # Errors
    ///
    /// Something is deleted that the policy requires.
    pub(crate) fn cleanup_warnings(&self, listing: &Listing, ids: &[&str]) -> Result<Vec<String>, Error> {
        let base = self.base()?;
        let builds = listing.builds.iter().filter(|build| ids.contains(&build.id.as_str()));
        self.search(&base, |search| {
            let warnings = builds.map(|build| search.check_cleanup(build)).collect::<Result<Vec<_>, _>>()?;
            Ok(warnings.concat())
        })
    }

    /// Puts the marketplace images that the policy names into `stream`, and returns where they are from.
    ///
    /// # Errors
    ///
    /// A side file that is not there or cannot be read.
    pub(crate) fn merge_marketplace(
        &self,
        source: &Source,
        dir: &Path,
        stream: &mut Stream,
    ) -> Result<Option<pin::Source>, Error> {
        let Some(place) = &self.policy.marketplace else { return Ok(None) };
        let key = format!("channels.{}.marketplace", self.name);
        if !place.contains("://") {
            let path = dir.join(place);
            MarketplaceFile::read(&path.display().to_string(), &read_file(&path)?)?.merge_into(stream);
            return Ok(None);
        }
        let url = Url::parse(place)?;
        match source.get(&url)? {
            Answer::Found(fetched) => {
                MarketplaceFile::read(&url.to_string(), &fetched.bytes)?.merge_into(stream);
                Ok(Some(pin::Source { sha256: sha256::hex([&*fetched.bytes]), url: url.public() }))
            }
            Answer::NotThere { why } => Err(Error::refused(format!(
                "no document at {url}: {why} (asked for by {key} in channels.json)"
            ))),
        }
    }

    /// Returns what upstream's updates document says of the builds of `stream`: that no update leads away from it, or
    /// that every update stops there. In the layout that has such documents, and best effort.
    pub(crate) fn update_warnings(&self, source: &Source, stream: &Stream) -> Vec<String> {
        if self.policy.layout != Layout::Stream {
            return Vec::new();
        }
        let file = format!("{}.json", self.upstream_name());
        let Ok(url) = self.base().and_then(|base| base.join(&["updates", &file])) else { return Vec::new() };
        match source.get(&url) {
            Ok(Answer::Found(fetched)) => {
                crate::updates::warnings(&url.to_string(), &fetched.bytes, &build_ids(stream))
            }
            Ok(Answer::NotThere { .. }) => Vec::new(),
            Err(error) => {
                let line = error.lines().next().unwrap_or_default();
                vec![format!("dead ends and barriers are not known: {line}")]
            }
        }
    }
}

/// Returns a base for where none is asked: a document is where it is.
fn no_base() -> Result<Base, Error> {
    Base::parse("no base", "file:///")
}

/// Returns the ids of the builds in `stream`, each once.
pub(crate) fn build_ids(stream: &Stream) -> Vec<&str> {
    let ids: BTreeSet<&str> = stream.build_names().into_values().collect();
    ids.into_iter().collect()
}

/// Returns the documents that a build was made from, as a pin records them, in order of URLs.
fn sources(reader: Reader<'_>) -> Vec<pin::Source> {
    let read = reader.into_documents().into_iter().filter(|read| !read.is_list);
    let mut sources: Vec<pin::Source> =
        read.map(|read| pin::Source { sha256: read.sha256, url: read.url.public() }).collect();
    sources.sort_by(|a, b| a.url.cmp(&b.url));
    sources
}
