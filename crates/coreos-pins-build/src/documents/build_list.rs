//! `builds.json`: which builds there are, newest first.
//!
//! Until 2019 its elements are ids; since then objects with `id` and `arches`, and the records lie in a folder an
//! architecture. A list that was carried over holds both, so each element is judged by itself.

use std::collections::BTreeSet;

use super::node::Node;
use crate::Error;

/// A list of builds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BuildList {
    /// Whether the newest build has a folder an architecture. See [`ListedBuild::has_architectures`].
    pub has_architectures: bool,
    /// The builds, newest first, as listed; at least one.
    pub builds: Vec<ListedBuild>,
    /// Builds that were removed: their folders are gone.
    pub tombstones: Vec<ListedBuild>,
}

/// An element of a [`BuildList`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedBuild {
    /// The build's id.
    pub id: String,
    /// Whether the build has a folder an architecture: the list is of schema 1, or the element is an object.
    pub has_architectures: bool,
    /// The architectures that were built so far, as listed. Empty where the list does not say.
    pub architectures: Vec<String>,
    /// What of the build was deleted since. Its record still tells of it.
    pub cleanup: Cleanup,
}

/// What of a build was deleted, by the policy for old builds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cleanup {
    /// The AMIs (also `aws-winli`) and the GCP image.
    pub cloud_uploads: bool,
    /// The image files, but for these keys of `images`. `None` where none was deleted.
    pub images_kept: Option<Vec<String>>,
    /// The containers.
    pub containers: bool,
    /// All of it.
    pub build: bool,
}

impl Cleanup {
    /// Tells whether anything was deleted.
    pub fn is_any(&self) -> bool {
        *self != Self::default()
    }
}

impl BuildList {
    pub(super) fn of(top: &Node<'_>) -> Result<Self, Error> {
        let is_schema_1 = !top.get("schema-version")?.is_absent();
        let listed = |key: &str| -> Result<Vec<ListedBuild>, Error> {
            top.get(key)?.elements()?.map(|element| ListedBuild::of(&element, is_schema_1)).collect()
        };
        let builds = listed("builds")?;
        let Some(newest) = builds.first() else { return Err(top.error("no builds")) };
        let mut seen = BTreeSet::new();
        if let Some(twice) = builds.iter().find(|build| !seen.insert(build.id.as_str())) {
            return Err(top.error(&format!("builds: the build `{}` is listed twice", twice.id)));
        }
        let has_architectures = newest.has_architectures;
        Ok(Self { has_architectures, builds, tombstones: listed("tombstone-builds")? })
    }
}

impl ListedBuild {
    fn of(element: &Node<'_>, is_schema_1: bool) -> Result<Self, Error> {
        if !element.is_object() {
            let id = element.text().map_err(|_| element.fault("a build's id, or an object with `id`"))?;
            return Ok(Self { id, has_architectures: is_schema_1, ..Self::default() });
        }
        Ok(Self {
            id: element.get("id")?.text()?,
            has_architectures: true,
            architectures: element.get("arches")?.texts()?,
            cleanup: Cleanup::of(&element.get("policy-cleanup")?)?,
        })
    }
}

impl Cleanup {
    /// An object; in September 2024 it was a list of what is gone.
    fn of(node: &Node<'_>) -> Result<Self, Error> {
        let gone = if node.is_object() { None } else { Some(node.texts()?) };
        let is_gone = |key: &str| match &gone {
            Some(gone) => Ok(gone.iter().any(|gone| gone == key)),
            None => node.get(key)?.flag(),
        };
        let kept = node.is_object().then(|| node.get("images-kept")).transpose()?;
        let images_kept = match kept.filter(|kept| !kept.is_absent()) {
            Some(kept) => Some(kept.texts()?),
            None => is_gone("images")?.then(Vec::new),
        };
        Ok(Self {
            cloud_uploads: is_gone("cloud-uploads")?,
            images_kept,
            containers: is_gone("containers")?,
            build: is_gone("build")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Document;
    use super::*;

    fn read(text: &str) -> BuildList {
        match Document::read("builds.json", text.as_bytes()).unwrap() {
            Document::BuildList(list) => list,
            other => panic!("{}", other.kind()),
        }
    }

    fn refusal(text: &str) -> String {
        Document::read("builds.json", text.as_bytes()).unwrap_err().to_string()
    }

    fn ids(builds: &[ListedBuild]) -> Vec<&str> {
        builds.iter().map(|build| build.id.as_str()).collect()
    }

    #[test]
    fn a_list_of_2018_keeps_its_order_and_has_no_architectures() {
        let list = read(
            r#"{"builds": ["47.99", "47.284", "47.33"], "timestamp": "2018-12-23T05:40:56Z",
            "tags": [{"name": "beta", "created": "x", "target": "47.1"}]}"#,
        );
        assert_eq!(ids(&list.builds), ["47.99", "47.284", "47.33"]);
        assert!(!list.has_architectures && list.builds.iter().all(|build| !build.has_architectures));
        assert!(list.tombstones.is_empty());
    }

    #[test]
    fn schema_1_has_architectures_and_cleanup_a_build() {
        let list = read(
            r#"{"schema-version": "1.0.0", "unknown": {}, "builds": [
            {"id": "3", "arches": ["x86_64", "aarch64"], "unknown": 1},
            {"id": "2", "arches": ["x86_64"],
             "policy-cleanup": {"cloud-uploads": true, "images-kept": ["qemu", "live-iso"], "unknown": []}},
            {"id": "1", "arches": [], "policy-cleanup": ["cloud-uploads", "containers", "unknown"]}],
            "tombstone-builds": [{"id": "0", "arches": ["x86_64"], "policy-cleanup": {"build": true}}]}"#,
        );
        assert!(list.has_architectures);
        assert_eq!(ids(&list.builds), ["3", "2", "1"]);
        assert_eq!(list.builds[0].architectures, ["x86_64", "aarch64"]);
        assert!(!list.builds[0].cleanup.is_any());
        let expected = Cleanup {
            cloud_uploads: true,
            images_kept: Some(vec!["qemu".into(), "live-iso".into()]),
            ..Cleanup::default()
        };
        assert_eq!(list.builds[1].cleanup, expected);
        assert_eq!(
            list.builds[2].cleanup,
            Cleanup { cloud_uploads: true, containers: true, ..Cleanup::default() }
        );
        assert_eq!(ids(&list.tombstones), ["0"]);
        assert!(list.tombstones[0].cleanup.build);
    }

    #[test]
    fn images_without_a_list_of_what_is_kept_are_all_gone() {
        for cleanup in [r#"{"images": true}"#, r#"["images"]"#] {
            let text = format!(r#"{{"builds": [{{"id": "1", "policy-cleanup": {cleanup}}}]}}"#);
            assert_eq!(read(&text).builds[0].cleanup.images_kept, Some(Vec::new()), "{cleanup}");
        }
    }

    #[test]
    fn each_element_of_a_mixed_list_is_judged_by_itself() {
        let list = read(r#"{"builds": [{"id": "43.1", "arches": ["x86_64"]}, "42.1"]}"#);
        assert!(list.has_architectures && list.builds[0].has_architectures);
        assert!(!list.builds[1].has_architectures);
        assert!(!read(r#"{"builds": ["42.1", {"id": "43.1", "arches": []}]}"#).has_architectures);
        // Of schema 1, but not said which architectures.
        let list = read(r#"{"schema-version": "1.1.0", "builds": ["43.1"]}"#);
        assert!(list.has_architectures && list.builds[0].architectures.is_empty());
    }

    #[test]
    fn an_empty_list_and_nameless_builds_are_refused() {
        assert_eq!(refusal(r#"{"builds": []}"#), "builds.json: no builds");
        for (builds, expected) in [
            (r#"["1", ""]"#, "builds[1]: expected a build's id, or an object with `id`, found an empty text"),
            ("[7]", "builds[0]: expected a build's id, or an object with `id`, found `7`"),
            (r#"[{"id": ""}]"#, "builds[0].id: expected text that is not empty, found an empty text"),
            (r#"[{"arches": []}]"#, "builds[0].id: expected text that is not empty, found none"),
            (r#"[{"id": "1", "arches": ["x", 1]}]"#, "builds[0].arches[1]: expected text, found `1`"),
            (r#"[{"id": "1", "policy-cleanup": 1}]"#, "builds[0].policy-cleanup: expected a list, found `1`"),
            (r#"{"1": {}}"#, "builds: expected a list, found an object"),
        ] {
            assert_eq!(refusal(&format!(r#"{{"builds": {builds}}}"#)), format!("builds.json: {expected}"));
        }
    }
}
