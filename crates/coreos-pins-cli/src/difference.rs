//! What differs between two builds: the one model behind `diff`, the summaries of `bump`, and what `bump` refuses.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use coreos_pins_build::mask;
use coreos_pins_build::stream::Stream;
use serde_json::{Value, json};

use crate::items::{self, Item, Kind, Member, Name};

/// An item that is not the same in both.
pub(crate) enum Change<'a> {
    Added(Item<'a>),
    Removed(Item<'a>),
    Changed { old: Item<'a>, new: Item<'a> },
}

/// What differs between two documents, by item.
pub(crate) struct Difference<'a>(Vec<Change<'a>>);

impl<'a> Difference<'a> {
    /// Compares what `old` and `new` name.
    pub(crate) fn between(old: &'a Stream, new: &'a Stream) -> Self {
        let (mut old, mut new) =
            (items::of(old).into_iter().peekable(), items::of(new).into_iter().peekable());
        let mut changes = Vec::new();
        loop {
            let order = match (old.peek(), new.peek()) {
                (None, None) => return Self(changes),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(old), Some(new)) => old.key.cmp(&new.key),
            };
            match order {
                Ordering::Less => changes.extend(old.next().map(Change::Removed)),
                Ordering::Greater => changes.extend(new.next().map(Change::Added)),
                Ordering::Equal => {
                    let pair = old.next().zip(new.next()).filter(|(old, new)| old != new);
                    changes.extend(pair.map(|(old, new)| Change::Changed { old, new }));
                }
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns every change as a line: what it is of, the old value, the new one.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for change in &self.0 {
            match change {
                Change::Added(new) => lines.push(format!("{}: added {}", new.key, new.value())),
                Change::Removed(old) => lines.push(format!("{}: removed {}", old.key, old.value())),
                Change::Changed { old, new } if old.is_file() && old.release != new.release => {
                    let [from, to] = [old, new].map(|item| item.release.unwrap_or("?"));
                    lines.push(format!("{}: of build {from}, now {to}", old.key));
                }
                Change::Changed { old, new } => lines.extend(member_lines(old, new)),
            }
        }
        lines
    }

    /// Returns the difference as a list of objects, one an item.
    pub(crate) fn to_json(&self) -> Value {
        let object = |change: &str, old: Option<&Item<'_>>, new: Option<&Item<'_>>| {
            let key = old.or(new).map(|item| item.key);
            let members = |item: Option<&Item<'_>>| {
                item.map(|item| {
                    let mut members: serde_json::Map<String, Value> = item
                        .members
                        .iter()
                        .map(|member| (member.name.to_owned(), member.value.into()))
                        .collect();
                    members.extend(item.release.map(|release| ("release".to_owned(), release.into())));
                    members
                })
            };
            json!({
                "change": change,
                "architecture": key.map(|key| key.architecture),
                "platform": key.map(|key| key.platform),
                "name": key.map(|key| key.name.to_string()),
                "old": members(old),
                "new": members(new),
            })
        };
        let objects = self.0.iter().map(|change| match change {
            Change::Added(new) => object("added", None, Some(new)),
            Change::Removed(old) => object("removed", Some(old), None),
            Change::Changed { old, new } => object("changed", Some(old), Some(new)),
        });
        Value::Array(objects.collect())
    }

    /// Counts the changes of each platform.
    pub(crate) fn summary(&self) -> Summary {
        let mut rows: BTreeMap<(String, String), Row> = BTreeMap::new();
        for change in &self.0 {
            let (Change::Added(item) | Change::Removed(item) | Change::Changed { new: item, .. }) = change;
            let key = (item.key.architecture.to_owned(), item.key.platform.to_owned());
            let row = rows.entry(key).or_default();
            let counts = if item.is_file() { &mut row.files } else { &mut row.images };
            let name = item.key.name.to_string();
            match change {
                Change::Added(_) => counts.added.push(name),
                Change::Removed(_) => counts.removed.push(name),
                Change::Changed { .. } => counts.changed += 1,
            }
        }
        Summary(rows)
    }

    /// Returns what was there and is gone: architectures, platforms, regions, files, signatures, checksums. A file
    /// that is only packed otherwise is not gone.
    pub(crate) fn losses(&self, old: &Stream, new: &Stream) -> Vec<String> {
        let mut losses = Vec::new();
        let lost = |name: &&str| !new.architectures.contains_key(name);
        losses.extend(old.architectures.keys().filter(lost).map(|name| format!("architecture {name}")));
        let new_items = items::of(new);
        let platforms: BTreeSet<(&str, &str)> =
            new_items.iter().map(|item| (item.key.architecture, item.key.platform)).collect();
        let mut gone_platforms = BTreeSet::new();
        for change in &self.0 {
            match change {
                Change::Added(_) => {}
                Change::Removed(item) if lost(&item.key.architecture) => {}
                Change::Removed(item) if !platforms.contains(&(item.key.architecture, item.key.platform)) => {
                    if gone_platforms.insert((item.key.architecture, item.key.platform)) {
                        losses.push(format!("{} {}", item.key.architecture, item.key.platform));
                    }
                }
                Change::Removed(item) => match repacked(item, &new_items) {
                    Some(new) => losses.extend(lost_members(item, new)),
                    None => losses.push(item.key.to_string()),
                },
                Change::Changed { old, new } => losses.extend(lost_members(old, new)),
            }
        }
        losses
    }

    /// Returns what has other contents although it is of the same build: ids, URLs and checksums that were there.
    pub(crate) fn republished(&self, is_same_build: impl Fn(&str) -> bool) -> Vec<String> {
        let mut lines = Vec::new();
        for change in &self.0 {
            if let Change::Changed { old, new } = change
                && is_same_build(old.key.architecture)
            {
                lines.extend(replaced_lines(old, new));
            }
        }
        lines
    }
}

/// Returns a line for each member that is another, gone, or new; for the release, where only that is another.
fn member_lines(old: &Item<'_>, new: &Item<'_>) -> Vec<String> {
    let mut lines = replaced_lines(old, new);
    for Member { name, value, .. } in old.members.iter().filter(|member| new.get(member.name).is_none()) {
        lines.push(format!("{}: {name} {value}, now none", old.key));
    }
    for Member { name, value, .. } in new.members.iter().filter(|member| old.get(member.name).is_none()) {
        lines.push(format!("{}: {name} now {value}", old.key));
    }
    if lines.is_empty() {
        let [from, to] = [old, new].map(|item| item.release.unwrap_or("?"));
        lines.push(format!("{}: of build {from}, now {to}", old.key));
    }
    lines
}

/// Returns a line for each member that both have, and not alike.
fn replaced_lines(old: &Item<'_>, new: &Item<'_>) -> Vec<String> {
    let pairs = old.members.iter().filter_map(|member| Some((member, new.get(member.name)?)));
    pairs
        .filter(|(member, found)| member.value != *found)
        .map(|(member, found)| {
            // What is refused for a secret in it is not shown with it.
            format!("{}: {} {}, now {}", old.key, member.name, mask(member.value), mask(found))
        })
        .collect()
}

/// Returns signatures and checksums that `old` has and `new` has not.
fn lost_members(old: &Item<'_>, new: &Item<'_>) -> Vec<String> {
    // What is not packed has no second checksum.
    let packed =
        |item: &Item<'_>| matches!(item.key.name, Name::File { format, .. } if unpacked(format) != format);
    let lost = old.members.iter().filter(|member| {
        matches!(member.kind, Kind::Signature | Kind::Checksum)
            && new.get(member.name).is_none()
            && (member.name != "uncompressed-sha256" || packed(new) || !packed(old))
    });
    lost.map(|member| format!("{} {}", old.key, member.name)).collect()
}

/// Returns the file among `items` that is `old` under another compression.
fn repacked<'i, 'a>(old: &Item<'_>, items: &'i [Item<'a>]) -> Option<&'i Item<'a>> {
    let Name::File { format, kind } = old.key.name else { return None };
    items.iter().find(|item| {
        (item.key.architecture, item.key.platform) == (old.key.architecture, old.key.platform)
            && matches!(item.key.name, Name::File { format: f, kind: k } if k == kind && unpacked(f) == unpacked(format))
    })
}

/// Returns a format without its compression.
fn unpacked(format: &str) -> &str {
    let suffixes = [".gz", ".xz", ".zst", ".zip", ".bz2"];
    suffixes.iter().find_map(|suffix| format.strip_suffix(suffix)).unwrap_or(format)
}

/// How much differs, by architecture and platform.
pub(crate) struct Summary(BTreeMap<(String, String), Row>);

#[derive(Default)]
struct Row {
    images: Counts,
    files: Counts,
}

#[derive(Default)]
struct Counts {
    added: Vec<String>,
    removed: Vec<String>,
    changed: usize,
}

impl Counts {
    fn is_empty(&self) -> bool {
        self.changed == 0 && !self.has_other_names()
    }

    fn has_other_names(&self) -> bool {
        !(self.added.is_empty() && self.removed.is_empty())
    }

    /// Returns `2 regions added (a, b), 1 removed (c), 30 changed`.
    fn words(&self, one: &str, many: &str) -> Option<String> {
        let mut parts = Vec::new();
        for (names, verb) in [(&self.added, "added"), (&self.removed, "removed")] {
            if !names.is_empty() {
                parts.push(format!("{} {verb} ({})", counted(names.len(), one, many), names.join(", ")));
            }
        }
        if self.changed > 0 {
            parts.push(format!("{} changed", counted(self.changed, one, many)));
        }
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

impl Summary {
    /// Returns the lines a person reviews: images by platform, files by platform where their names differ, and the
    /// rest in one line an architecture.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut rest: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for ((architecture, platform), row) in &self.0 {
            let mut words: Vec<String> = image_words(platform, &row.images).into_iter().collect();
            if row.files.has_other_names() {
                words.extend(row.files.words("file", "files"));
            } else if row.files.changed > 0 {
                rest.entry(architecture).or_default().push(platform);
            }
            if !words.is_empty() {
                lines.push(format!("{architecture} {platform}: {}", words.join(", ")));
            }
        }
        lines.extend(rest.into_iter().map(|(architecture, platforms)| {
            format!("{architecture}: other files under the same names: {}", platforms.join(", "))
        }));
        lines
    }

    /// Returns the same as a table, and lines below it.
    pub(crate) fn markdown(&self) -> String {
        let mut rows = String::new();
        let mut rest: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for ((architecture, platform), Row { images, files }) in &self.0 {
            let (one, many) = image_names(platform);
            if images.is_empty() && !files.has_other_names() {
                rest.entry(architecture).or_default().push(platform);
                continue;
            }
            let names = |of_images: &[String], of_files: &[String]| {
                let parts =
                    [(of_images, one, many), (of_files, "file", "files")].map(|(names, one, many)| {
                        (!names.is_empty())
                            .then(|| format!("{}: {}", counted(names.len(), one, many), names.join(", ")))
                    });
                joined(parts)
            };
            let changed = [(images.changed, one, many), (files.changed, "file", "files")];
            let changed = joined(changed.map(|(n, one, many)| (n > 0).then(|| counted(n, one, many))));
            let added = names(&images.added, &files.added);
            let removed = names(&images.removed, &files.removed);
            let _ = writeln!(rows, "| {architecture} | {platform} | {added} | {removed} | {changed} |");
        }
        let mut text = String::new();
        if !rows.is_empty() {
            text = format!(
                "| architecture | platform | added | removed | changed |\n|---|---|---|---|---|\n{rows}\n"
            );
        }
        for (architecture, platforms) in rest {
            let _ = writeln!(
                text,
                "Other files under the same names, {architecture}: {}.\n",
                platforms.join(", ")
            );
        }
        text
    }

    /// Returns a list of objects, one a platform.
    pub(crate) fn to_json(&self) -> Value {
        let counts = |counts: &Counts| json!({ "added": counts.added, "removed": counts.removed, "changed": counts.changed });
        let rows = self.0.iter().map(|((architecture, platform), row)| {
            json!({ "architecture": architecture, "platform": platform,
                    "images": counts(&row.images), "files": counts(&row.files) })
        });
        Value::Array(rows.collect())
    }
}

/// Returns `1 file`, `2 files`.
fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Returns the parts that there are, as a cell of a table.
fn joined(parts: [Option<String>; 2]) -> String {
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "–".to_owned() } else { parts.join("; ") }
}

/// What the images of a platform are: one, and several.
fn image_names(platform: &str) -> (&'static str, &'static str) {
    match platform {
        "gcp" | "kubevirt" | "azure" => ("image", "images"),
        "azure-marketplace" => ("offer", "offers"),
        _ => ("region", "regions"),
    }
}

fn image_words(platform: &str, images: &Counts) -> Option<String> {
    let (one, many) = image_names(platform);
    images.words(one, many)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(artifacts: &str, regions: &str) -> Stream {
        let text = format!(
            r#"{{"stream": "s", "architectures": {{"x86_64": {{"artifacts": {{{artifacts}}},
                "images": {{"aws": {{"regions": {{{regions}}}}}}}}}}}}}"#
        );
        Stream::read("s", text.as_bytes()).unwrap()
    }

    fn qemu(format: &str, more: &str) -> String {
        let sha = "a".repeat(64);
        format!(
            r#""qemu": {{"release": "1", "formats": {{"{format}": {{"disk": {{"location": "l", "sha256": "{sha}"{more}}}}}}}}}"#
        )
    }

    const A: &str = r#""r-1": {"release": "1", "image": "ami-1"}"#;

    #[test]
    fn a_difference_is_told_by_name_old_and_new() {
        let old = stream(&qemu("qcow2.xz", ""), A);
        let new = stream(
            &qemu("qcow2.xz", ""),
            r#""r-1": {"release": "1", "image": "ami-2"}, "r-2": {"release": "1", "image": "ami-3"}"#,
        );
        let difference = Difference::between(&old, &new);
        assert_eq!(
            difference.lines(),
            ["x86_64 aws r-1: image ami-1, now ami-2", "x86_64 aws r-2: added ami-3"]
        );
        assert_eq!(difference.summary().lines(), ["x86_64 aws: 1 region added (r-2), 1 region changed"]);
        assert_eq!(difference.losses(&old, &new), [""; 0]);
        let back = Difference::between(&new, &old);
        assert_eq!(back.losses(&new, &old), ["x86_64 aws r-2"]);
        assert!(Difference::between(&old, &old).is_empty());
    }

    #[test]
    fn a_file_that_is_packed_otherwise_is_no_loss_but_its_signature_is() {
        let sha = "b".repeat(64);
        let old =
            stream(&qemu("qcow2.xz", &format!(r#", "uncompressed-sha256": "{sha}", "signature": "s""#)), A);
        let new =
            stream(&qemu("qcow2.gz", &format!(r#", "uncompressed-sha256": "{sha}", "signature": "s""#)), A);
        assert_eq!(Difference::between(&old, &new).losses(&old, &new), [""; 0]);
        let new = stream(&qemu("qcow2.gz", ""), A);
        let losses = Difference::between(&old, &new).losses(&old, &new);
        assert_eq!(losses, ["x86_64 qemu qcow2.xz uncompressed-sha256", "x86_64 qemu qcow2.xz signature"]);
        // Not packed any more: there is no second checksum to have.
        let new = stream(&qemu("qcow2", r#", "signature": "s""#), A);
        assert_eq!(Difference::between(&old, &new).losses(&old, &new), [""; 0]);
        let new = stream("", A);
        assert_eq!(Difference::between(&old, &new).losses(&old, &new), ["x86_64 qemu"]);
    }

    #[test]
    fn only_what_was_there_and_is_another_was_published_again() {
        let old = stream(&qemu("qcow2.xz", ""), A);
        let new = stream(
            &qemu("qcow2.xz", r#", "signature": "s""#),
            r#""r-1": {"release": "1", "image": "ami-2"}"#,
        );
        let difference = Difference::between(&old, &new);
        assert_eq!(difference.republished(|_| false), [""; 0]);
        assert_eq!(difference.republished(|_| true), ["x86_64 aws r-1: image ami-1, now ami-2"]);
    }
}
