//! Builder pins: which container the OS of a channel is built with, by digest.
//!
//! `pins/builders/BUILDER/CHANNEL.json` holds a pin, and `pins/manifests/sha256-HEX.json` the very bytes of the index
//! that it names. No pin says whose it is: the same pin of two channels is the same bytes.

use serde::{Deserialize, Serialize};

use crate::field::text;
use crate::json::{self, Map, Value};
use crate::policy::check_version;
use crate::reference::{Reference, is_digest, is_tag};
use crate::{Error, sha256};

mod index;

pub use index::{Child, Index, MEDIA_TYPES};

/// The folder of builder pins in the pins folder.
pub const FOLDER: &str = "builders";

/// The folder of stored indexes in the pins folder.
pub const MANIFESTS: &str = "manifests";

/// The pin of a builder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct BuilderPin {
    /// The digest of each architecture's manifest, by RPM name.
    pub architectures: Map<String>,
    /// When the container was made, by its config: RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    /// The digest of the index: `sha256:` and 64 hex digits.
    pub digest: String,
    /// The tag that keeps the digest alive. None where the repository cannot be pushed to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guard: Option<String>,
    /// Whether each architecture's manifest has a guard of its own: the tag, `-`, and the architecture as Go spells it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub guard_architectures: bool,
    /// The repository, without tag or digest.
    #[serde(deserialize_with = "text")]
    pub image: String,
    /// What the index is served as.
    #[serde(deserialize_with = "text")]
    pub media_type: String,
    /// Why the pin was set by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The git commit that the container was made from, by its label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// The git repository of that commit, by its label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The tag that the digest was found under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// The version of this format: 1.
    pub version: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

impl BuilderPin {
    /// Reads a builder pin. `document` is how errors name it.
    ///
    /// # Errors
    ///
    /// An unknown key, a newer version, and a value that is no digest, tag, repository or media type of an index.
    pub fn read(document: &str, bytes: &[u8]) -> Result<Self, Error> {
        // The version is looked at first: a newer file may have keys that would only read as typos.
        let members: Map<Value> = json::read(document, bytes)?;
        check_version(document, "version", members.get("version"))?;
        let pin: Self = json::read(document, bytes)?;
        pin.check(document)?;
        Ok(pin)
    }

    fn check(&self, document: &str) -> Result<(), Error> {
        let fault = |key: &str, expected: &str, found: &str| {
            Err(Error::invalid(format!("{document}: {key}: expected {expected}, found `{found}`")))
        };
        let digests =
            self.architectures.iter().map(|(name, digest)| (format!("architectures.{name}"), digest));
        for (key, digest) in digests.chain([("digest".to_owned(), &self.digest)]) {
            if !is_digest(digest) || !digest.starts_with("sha256:") {
                return fault(&key, "`sha256:` and 64 hex digits", digest);
            }
        }
        if self.architectures.is_empty() {
            return Err(Error::invalid(format!(
                "{document}: architectures: expected at least one, found none"
            )));
        }
        for (key, tag) in [("tag", &self.tag), ("guard", &self.guard)] {
            if let Some(tag) = tag.as_ref().filter(|tag| !is_tag(tag)) {
                return fault(key, "a tag", tag);
            }
        }
        if !MEDIA_TYPES.contains(&self.media_type.as_str()) {
            return fault("media-type", "that of an index", &self.media_type);
        }
        let image =
            Reference::parse(&self.image).map_err(|error| error.prefixed(&format!("{document}: image")))?;
        if image.tag().is_some() || image.digest().is_some() {
            return fault("image", "a repository without tag and digest", &self.image);
        }
        Ok(())
    }

    /// Returns the canonical text of the file.
    pub fn to_text(&self) -> String {
        json::print(self)
    }

    /// Returns `image@digest`.
    pub fn reference(&self) -> String {
        format!("{}@{}", self.image, self.digest)
    }

    /// Returns the name of the file, in the folder of manifests, that holds the index: `sha256-HEX.json`.
    pub fn index_file(&self) -> String {
        format!("{}.json", self.digest.replace(':', "-"))
    }

    /// Checks that `bytes`, which are those of the file `document`, are the index that this pin, the file `pin`, names,
    /// and that it has the pin's architectures.
    ///
    /// # Errors
    ///
    /// They are not: the error names both files.
    pub fn check_index(&self, pin: &str, document: &str, bytes: &[u8]) -> Result<Index, Error> {
        let found = sha256::hex([bytes]);
        if self.digest.strip_prefix("sha256:") != Some(&found) {
            return Err(Error::invalid(format!(
                "{document}: its SHA-256 is {found}, and {pin} names `{}`",
                self.digest
            ))
            .help("restore both files with `git checkout`; they are kept byte by byte (`-text` in .gitattributes)"));
        }
        let index = Index::read(document, bytes, &self.media_type)?;
        let children = index.architectures(document)?;
        if children != self.architectures {
            let shown = |map: &Map<String>| {
                map.iter().map(|(name, digest)| format!("{name} {digest}")).collect::<Vec<_>>().join(", ")
            };
            return Err(Error::invalid(format!("{pin}: architectures are not those of {document}"))
                .note(format!("the pin has {}", shown(&self.architectures)))
                .note(format!("the index has {}", shown(&children))));
        }
        Ok(index)
    }
}

/// Returns the name that Go and container images have for an architecture that RPM calls `name`.
pub fn go_architecture(name: &str) -> &str {
    match name {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}
