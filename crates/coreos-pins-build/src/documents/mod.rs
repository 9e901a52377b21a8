//! Upstream's JSON, made into the one model: [`stream`](crate::stream).
//!
//! Six kinds of document have told what a CoreOS build is, since 2018. Each is read by a module of its own; nothing else
//! knows about their shapes. [`Document::read`] tells them apart by what is in them, because the same file name has
//! meant several kinds. Unknown keys are ignored in all of them, an unknown major of `schema-version` is refused in all.
//!
//! The azure marketplace's side file, [`MarketplaceFile`], is asked for by its own URL and therefore not a [`Document`].

use crate::Error;
use crate::error::quoted;
use crate::json::{self, Map, Value};
use crate::stream::{Stream, check_schema_version};

mod build_list;
mod file;
mod marketplace;
mod node;
mod record;
mod regions;
mod release;
mod release_index;

pub use build_list::{BuildList, Cleanup, ListedBuild};
pub use marketplace::MarketplaceFile;
pub use record::{BuilderGit, Record};
pub use release::Release;
pub use release_index::{ListedRelease, ReleaseIndex};

use node::Node;

/// An upstream document of any kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Document {
    /// `builds.json`
    BuildList(BuildList),
    /// `meta.json`, or the installer's old `rhcos.json`
    Record(Record),
    /// Stream metadata, such as `stable.json`
    Stream(Stream),
    /// `releases.json`
    ReleaseIndex(ReleaseIndex),
    /// `release.json`
    Release(Release),
}

impl Document {
    /// Reads a document of any kind. `document` is how errors name it.
    ///
    /// # Errors
    ///
    /// What is of none of the kinds: the error lists them, and the keys that were found. And whatever is wrong with a
    /// document of the kind that it seems to be: the error names the document, the place in it and what was expected.
    ///
    /// # Examples
    ///
    /// ```
    /// use coreos_pins_build::documents::Document;
    ///
    /// match Document::read("builds.json", br#"{"builds": ["47.235", "47.234"]}"#)? {
    ///     Document::BuildList(list) => assert_eq!(list.builds[0].id, "47.235"),
    ///     other => panic!("{} is no build list", other.kind()),
    /// }
    /// # Ok::<(), coreos_pins_build::Error>(())
    /// ```
    pub fn read(document: &str, bytes: &[u8]) -> Result<Self, Error> {
        let members: Map<Value> = json::read(document, bytes)?;
        check_schema_version(document, members.get("schema-version"))?;
        let has = |key: &str| members.contains_key(key);
        let is = (has("builds"), has("buildid"), has("architectures"), has("release"), has("releases"));
        if let (false, false, true, false, _) = is {
            // It is read anew, into the model; twice in memory would be too much.
            drop(members);
            return Stream::read(document, bytes).map(Self::Stream);
        }
        let value = Value::Object(members);
        let top = Node::top(document, &value);
        match is {
            (true, ..) => BuildList::of(&top).map(Self::BuildList),
            (_, true, ..) => Record::of(document, value).map(Self::Record),
            (_, _, true, true, _) => Release::of(&top).map(Self::Release),
            (.., true) => ReleaseIndex::of(&top).map(Self::ReleaseIndex),
            _ => Err(unknown(&top)),
        }
    }

    /// Returns what kind of document this is, in words that fit behind "expected" and "found".
    pub fn kind(&self) -> &'static str {
        match self {
            Self::BuildList(_) => "a build list",
            Self::Record(_) => "a build record",
            Self::Stream(_) => "stream metadata",
            Self::ReleaseIndex(_) => "a release index",
            Self::Release(_) => "a release",
        }
    }
}

fn unknown(top: &Node<'_>) -> Error {
    const SHOWN: usize = 10;
    let keys: Vec<&str> = top.entries().into_iter().flatten().map(|(key, _)| key).collect();
    let shown = quoted(keys.iter().take(SHOWN).copied());
    let found = match keys.len() {
        0 => "an empty object".to_owned(),
        1 => format!("an object with the key {shown}"),
        2..=SHOWN => format!("an object with the keys {shown}"),
        more => format!("an object with the keys {shown}, … ({more} in all)"),
    };
    top.error(&format!("this is no document that tells of builds: found {found}"))
        .note("a build list has `builds`; a build record `buildid` and `images`")
        .note("stream metadata has `stream` and `architectures`; a release `release` and `architectures`")
        .note("a release index has `releases`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> &'static str {
        Document::read("d", text.as_bytes()).unwrap().kind()
    }

    #[test]
    fn kinds_are_told_by_content() {
        assert_eq!(kind(r#"{"builds": ["1"], "stream": "s"}"#), "a build list");
        assert_eq!(kind(r#"{"buildid": "1", "images": {}}"#), "a build record");
        assert_eq!(kind(r#"{"releases": [{"version": "1"}], "stream": "s"}"#), "a release index");
        let images = r#"{"aws": {"regions": {"r": {"release": "1", "image": "ami-1"}}}}"#;
        let stream = format!(r#"{{"stream": "s", "architectures": {{"x86_64": {{"images": {images}}}}}}}"#);
        assert_eq!(kind(&stream), "stream metadata");
        let media = r#"{"aws": {"images": {"r": {"image": "ami-1"}}}}"#;
        let release = format!(
            r#"{{"release": "1", "stream": "s", "architectures": {{"x86_64": {{"media": {media}}}}}}}"#
        );
        assert_eq!(kind(&release), "a release");
    }

    #[test]
    fn an_unknown_kind_lists_the_kinds_and_what_was_found() {
        let text = Document::read("x.json", br#"{"b": 1, "a": {}}"#).unwrap_err().to_string();
        assert_eq!(
            text,
            "x.json: this is no document that tells of builds: found an object with the keys `a`, `b`\n\
             a build list has `builds`; a build record `buildid` and `images`\n\
             stream metadata has `stream` and `architectures`; a release `release` and `architectures`\n\
             a release index has `releases`"
        );
        assert!(Document::read("x", b"{}").unwrap_err().to_string().contains("found an empty object"));
        let many: Vec<String> = (0..1000).map(|i| format!("\"k{i}\": 1")).collect();
        let text = Document::read("x", format!("{{{}}}", many.join(",")).as_bytes()).unwrap_err().to_string();
        assert!(text.contains("… (1000 in all)\n"), "{text}");
    }

    #[test]
    fn what_is_no_json_object_is_called_by_name() {
        let refusal = |bytes: &[u8]| Document::read("x", bytes).unwrap_err().to_string();
        assert_eq!(refusal(b"[]"), "x: invalid type: sequence, expected an object (line 1, column 0)");
        assert!(refusal(b"<html>").contains("what looks like an HTML page"));
        assert!(refusal(br#"{"builds": [], "builds": ["1"]}"#).contains("the key `builds` appears twice"));
    }

    #[test]
    fn an_unknown_major_schema_is_refused_in_every_kind() {
        for rest in [
            r#""builds": ["1"]"#,
            r#""buildid": "1", "images": {}"#,
            r#""releases": [{"version": "1"}]"#,
            r#""release": "1", "stream": "s", "architectures": {}"#,
            r#""stream": "s", "architectures": {}"#,
        ] {
            for version in [r#""2.0.0""#, "2", r#""""#, r#""0.0.1""#] {
                let text = format!(r#"{{"schema-version": {version}, {rest}}}"#);
                let refusal = Document::read("x", text.as_bytes()).unwrap_err().to_string();
                assert!(refusal.starts_with("x: schema-version: expected 1.x, found `"), "{refusal}");
                assert!(refusal.ends_with("\nhelp: update coreos-pins"), "{refusal}");
            }
        }
    }
}
