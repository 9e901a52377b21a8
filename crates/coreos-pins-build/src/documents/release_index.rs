//! `releases.json`: which releases a stream had, oldest first, and where the document of each is.

use super::node::Node;
use crate::Error;

/// An index of releases.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReleaseIndex {
    /// The stream's name, where the index says it.
    pub stream: Option<String>,
    /// The releases, oldest first, as listed; at least one.
    pub releases: Vec<ListedRelease>,
}

/// An element of a [`ReleaseIndex`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedRelease {
    /// The build's id.
    pub version: String,
    /// The URL of the release's own document.
    pub metadata_url: Option<String>,
    /// The architectures that the release is said to have: those of its commits and containers, sorted.
    pub architectures: Vec<String>,
}

impl ReleaseIndex {
    pub(super) fn of(top: &Node<'_>) -> Result<Self, Error> {
        let releases = top
            .get("releases")?
            .elements()?
            .map(|element| ListedRelease::of(&element))
            .collect::<Result<Vec<_>, _>>()?;
        if releases.is_empty() {
            return Err(top.error("no releases"));
        }
        Ok(Self { stream: top.get("stream")?.optional_text()?.map(str::to_owned), releases })
    }
}

impl ListedRelease {
    fn of(element: &Node<'_>) -> Result<Self, Error> {
        let metadata = element.get("metadata")?;
        if metadata.is_object() {
            return Err(metadata
                .error("expected the URL of a release, found an object, as an updates document has here"));
        }
        let mut architectures = Vec::new();
        for list in ["commits", "oci-images"] {
            for of_architecture in element.get(list)?.elements()? {
                architectures
                    .extend(of_architecture.get("architecture")?.optional_text()?.map(str::to_owned));
            }
        }
        architectures.sort_unstable();
        architectures.dedup();
        Ok(Self {
            version: element.get("version")?.text()?,
            metadata_url: metadata.optional_text()?.map(str::to_owned),
            architectures,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Document;
    use super::*;

    fn read(text: &str) -> Result<ReleaseIndex, Error> {
        match Document::read("releases.json", text.as_bytes())? {
            Document::ReleaseIndex(index) => Ok(index),
            other => panic!("{}", other.kind()),
        }
    }

    fn refusal(text: &str) -> String {
        read(text).unwrap_err().to_string()
    }

    #[test]
    fn releases_keep_their_order_url_and_architectures() {
        let text = r#"{"note": "internal", "stream": "stable", "metadata": {"last-modified": "x"}, "releases": [
            {"version": "31.1", "metadata": "https://b/31.1/release.json",
             "commits": [{"architecture": "x86_64", "checksum": "c"}, {"architecture": "aarch64"}],
             "oci-images": [{"architecture": "x86_64", "image": "i"}, {"architecture": "s390x"}]},
            {"version": "33.1", "metadata": ""}, {"version": "30.1"}]}"#;
        let index = read(text).unwrap();
        assert_eq!(index.stream.as_deref(), Some("stable"));
        let versions: Vec<&str> = index.releases.iter().map(|release| release.version.as_str()).collect();
        assert_eq!(versions, ["31.1", "33.1", "30.1"]);
        assert_eq!(index.releases[0].metadata_url.as_deref(), Some("https://b/31.1/release.json"));
        assert_eq!(index.releases[0].architectures, ["aarch64", "s390x", "x86_64"]);
        assert_eq!(index.releases[1].metadata_url, None);
        assert!(index.releases[2].architectures.is_empty());
    }

    #[test]
    fn an_updates_document_is_called_by_its_name() {
        let text = r#"{"stream": "s", "releases": [{"version": "1", "metadata": {"barrier": {}}}]}"#;
        assert_eq!(
            refusal(text),
            "releases.json: releases[0].metadata: expected the URL of a release, found an object, as an updates document \
             has here"
        );
    }

    #[test]
    fn an_empty_index_and_nameless_releases_are_refused() {
        assert_eq!(refusal(r#"{"releases": []}"#), "releases.json: no releases");
        assert!(
            refusal(r#"{"releases": [{"version": ""}]}"#)
                .contains("releases[0].version: expected text that is not empty")
        );
        assert!(
            refusal(r#"{"releases": [{}]}"#)
                .contains("releases[0].version: expected text that is not empty, found none")
        );
    }
}
