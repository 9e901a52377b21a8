//! A pin: stream metadata and one top-level key more, `pin`, which records what was chosen and from where.

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::build_name::BuildName;
use crate::field::{sha256, text};
use crate::json::{self, Value};
use crate::policy::{VERSION, check_version};
use crate::reference::Reference;
use crate::stream::Stream;
use crate::url::{check_no_secret, mask};

const KEY: &str = "pin";

/// The pin of one channel.
#[derive(Clone, Debug, PartialEq)]
pub struct Pin {
    /// The `pin` key. A stream document dropped in by hand has none, and is a pin all the same.
    pub header: Option<Header>,
    /// The document.
    pub stream: Stream,
}

/// The `pin` key of a pin file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Header {
    /// The channel's base URL when the pin was made.
    #[serde(deserialize_with = "text")]
    pub base_url: String,
    /// The build: an id, or ids per architecture where they differ.
    #[serde(deserialize_with = "text")]
    pub build: String,
    /// The release payload, by digest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release_image: Option<String>,
    /// What the document was made from.
    #[serde(default)]
    pub sources: Vec<Source>,
    /// The version of this format: 1.
    pub version: u64,
}

/// A document that a pin was made from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// SHA-256 of the document's bytes as they came: 64 lower-case hex digits.
    #[serde(deserialize_with = "sha256")]
    pub sha256: String,
    /// Where the document is published.
    #[serde(deserialize_with = "text")]
    pub url: String,
}

impl Pin {
    /// Makes a pin of `stream`. If that is a pin already, its `pin` key is replaced.
    pub fn new(mut stream: Stream, base_url: String, sources: Vec<Source>) -> Self {
        stream.extra.remove(KEY);
        let build = BuildName::of(&stream.build_names()).to_string();
        Self {
            header: Some(Header { base_url, build, release_image: None, sources, version: VERSION }),
            stream,
        }
    }

    /// Reads a pin file. `document` is how errors name it.
    ///
    /// # Errors
    ///
    /// What is not stream metadata, a `pin` key of an unknown shape or newer version, and a `pin.build` that is not the
    /// build of the document below it. Each names the document and the place.
    pub fn read(document: &str, bytes: &[u8]) -> Result<Self, Error> {
        let mut stream = Stream::read(document, bytes)?;
        let header = match stream.extra.remove(KEY) {
            None => None,
            Some(value) => Some(Header::read(document, &value, &stream)?),
        };
        Ok(Self { header, stream })
    }

    /// Returns the canonical text of the file.
    pub fn to_text(&self) -> String {
        self.text_around(&self.stream.to_text())
    }

    /// Returns the canonical text of the file, given that of its document: the same with the `pin` key in front.
    pub(crate) fn text_around(&self, stream_text: &str) -> String {
        match (&self.header, stream_text.strip_prefix("{\n")) {
            (Some(header), Some(rest)) => {
                format!("{{\n  \"{KEY}\": {},\n{rest}", json::print_inner(header, 1))
            }
            _ => stream_text.to_owned(),
        }
    }
}

/// A pin file, for its JSON Schema.
#[cfg(feature = "schema")]
impl schemars::JsonSchema for Pin {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Pin".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let mut schema = Stream::json_schema(generator);
        let header = generator.subschema_for::<Header>().to_value();
        let properties = schema.get_mut("properties").and_then(|properties| properties.as_object_mut());
        properties.into_iter().for_each(|properties| {
            properties.insert(KEY.to_owned(), header.clone());
        });
        schema
    }
}

impl Header {
    fn read(document: &str, value: &Value, stream: &Stream) -> Result<Self, Error> {
        let Value::Object(map) = value else {
            return Err(Error::invalid(format!("{document}: pin: expected an object")));
        };
        check_version(document, "pin.version", map.get("version"))?;
        let header: Self = json::read_value(document, KEY, value)?;
        let found = BuildName::of(&stream.build_names()).to_string();
        if header.build != found {
            return Err(Error::invalid(format!(
                "{document}: pin.build is `{}`, but the artifacts are of `{found}`",
                header.build
            ))
            .help("pin it again with `coreos-pins bump`, or restore the file with `git checkout`"));
        }
        for url in header.sources.iter().map(|source| &source.url).chain([&header.base_url]) {
            check_no_secret(url).map_err(|fault| Error::invalid(format!("{document}: pin: {fault}")))?;
        }
        if let Some(image) = &header.release_image {
            check_digest_reference(image)
                .map_err(|fault| Error::invalid(format!("{document}: pin.release-image: {fault}")))?;
        }
        Ok(header)
    }
}

/// Checks that `reference` names a container image by digest, and by nothing that may move.
///
/// # Errors
///
/// Says what is wrong with it.
pub(crate) fn check_digest_reference(reference: &str) -> Result<(), String> {
    let parsed = Reference::parse(reference).ok().filter(|_| !reference.starts_with("docker://"));
    match parsed.as_ref().map(Reference::digest) {
        Some(Some(digest)) if digest.starts_with("sha256:") => Ok(()),
        _ if !reference.contains('@') => {
            Err(format!("`{}` names no digest, and a tag moves", mask(reference)))
        }
        _ => {
            Err(format!("expected `IMAGE@sha256:` and 64 lower-case hex digits, found `{}`", mask(reference)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = r#""stream": "stable", "architectures": {
        "x86_64": {"images": {"aws": {"regions": {"us-east-1": {"release": "2", "image": "ami-2"}}}}},
        "aarch64": {"images": {"aws": {"regions": {"us-east-1": {"release": "1", "image": "ami-1"}}}}}}"#;

    fn read(pin: &str) -> Result<Pin, Error> {
        Pin::read("pins/stable.json", format!("{{{pin}{STREAM}}}").as_bytes())
    }

    fn refusal(pin: &str) -> String {
        read(&format!("\"pin\": {pin}, ")).unwrap_err().to_string()
    }

    #[test]
    fn a_plain_stream_document_is_a_pin() {
        let pin = read("").unwrap();
        assert_eq!(pin.header, None);
        assert!(pin.to_text().starts_with("{\n  \"architectures\": {\n"));
    }

    #[test]
    fn a_new_pin_reads_back_equal_with_its_key_first() {
        let stream = read("").unwrap().stream;
        let source = Source { sha256: "a".repeat(64), url: "https://example.com/stable.json".into() };
        let pin = Pin::new(stream, "https://example.com".into(), vec![source]);
        let text = pin.to_text();
        assert_eq!(Pin::read("p", text.as_bytes()).unwrap(), pin);
        let a = "a".repeat(64);
        assert!(
            text.starts_with(&format!(
                "{{\n  \"pin\": {{\n    \"base-url\": \"https://example.com\",\n    \"build\": \
                 \"aarch64=1,x86_64=2\",\n    \"sources\": [\n      {{ \"sha256\": \"{a}\", \"url\": \
                 \"https://example.com/stable.json\" }}\n    ],\n    \"version\": 1\n  }},\n  \"architectures\": {{\n"
            )),
            "{text}"
        );
    }

    #[test]
    fn the_recorded_build_must_be_that_of_the_document() {
        assert_eq!(
            refusal(r#"{"version": 1, "base-url": "b", "build": "2"}"#),
            "pins/stable.json: pin.build is `2`, but the artifacts are of `aarch64=1,x86_64=2`\nhelp: pin it again \
             with `coreos-pins bump`, or restore the file with `git checkout`"
        );
    }

    #[test]
    fn a_pin_of_a_pin_has_one_key() {
        let pin = Pin::new(read("").unwrap().stream, "https://example.com".into(), Vec::new());
        let again = Stream::read("p", pin.to_text().as_bytes()).unwrap();
        assert_eq!(Pin::new(again, "https://example.com".into(), Vec::new()).to_text(), pin.to_text());
    }

    #[test]
    fn a_build_with_an_odd_id_reads_back() {
        for id in ["1=2", "latest", "a,b", "x86_64=1"] {
            let text = format!("{{{STREAM}}}").replace("\"release\": \"1\"", "\"release\": \"2\"");
            let stream = Stream::read(
                "s",
                text.replace("\"release\": \"2\"", &format!("\"release\": \"{id}\"")).as_bytes(),
            );
            let pin = Pin::new(stream.unwrap(), "https://example.com".into(), Vec::new());
            assert_eq!(Pin::read("p", pin.to_text().as_bytes()).unwrap(), pin, "{id}");
        }
    }

    #[test]
    fn newer_versions_typos_and_moving_payloads_are_refused() {
        assert!(refusal(r#"{"version": 7}"#).contains("pin.version: 7 is newer than this coreos-pins"));
        assert!(
            refusal(r#"{"version": 1, "base": "b"}"#)
                .contains("pins/stable.json: pin.base: unknown field `base`")
        );
        assert!(refusal("[]").contains("pins/stable.json: pin: expected an object"));
        let image =
            r#"{"version": 1, "base-url": "b", "build": "aarch64=1,x86_64=2", "release-image": "q/r:4.22"}"#;
        assert_eq!(
            refusal(image),
            "pins/stable.json: pin.release-image: `q/r:4.22` names no digest, and a tag moves"
        );
    }
}
