//! What helps whoever asked for a build that is not there.

use std::collections::BTreeSet;

use super::{Reader, Search};
use crate::build_name::BuildName;
use crate::documents::Document;
use crate::error::quoted;
use crate::source::Answer;

impl Search<'_> {
    /// Returns lines that help whoever asked for a build that is not there: the nearest ids, the newest, and how many
    /// there are. Best effort: where the list cannot be had, the line says that.
    pub fn advice(&self, source: &Reader<'_>, name: &BuildName) -> Vec<String> {
        let wanted = match name {
            BuildName::Id(id) => id.clone(),
            BuildName::PerArchitecture(ids) => ids.values().next().cloned().unwrap_or_default(),
            BuildName::Latest => return Vec::new(),
        };
        let mut tried = BTreeSet::new();
        for shape in self.shapes {
            let Ok(url) = self.place.list(*shape) else { continue };
            if !tried.insert(url.public()) {
                continue;
            }
            let document = url.to_string();
            match source.get(&url) {
                Ok(Answer::NotThere { .. }) => {}
                Err(error) => {
                    return error.lines().take(1).map(|line| format!("no list of builds: {line}")).collect();
                }
                Ok(Answer::Found(fetched)) => {
                    let (ids, removed) = match Document::read(&document, &fetched.bytes) {
                        Ok(Document::BuildList(list)) => {
                            let removed = list.tombstones.iter().any(|build| build.id == wanted);
                            (list.builds.into_iter().map(|build| build.id).collect::<Vec<_>>(), removed)
                        }
                        Ok(Document::ReleaseIndex(index)) => {
                            (index.releases.into_iter().rev().map(|release| release.version).collect(), false)
                        }
                        _ => return vec![format!("no list of builds: {document} is none")],
                    };
                    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
                    let mut lines = Vec::new();
                    if removed {
                        lines.push(format!("build `{wanted}` was there, and has been removed"));
                    }
                    let near = nearest_two(&wanted, &ids);
                    let near =
                        if near.is_empty() { String::new() } else { format!("nearest {}; ", quoted(near)) };
                    lines.push(format!("{near}{}", newest_of(&ids)));
                    return lines;
                }
            }
        }
        vec!["no list of builds is there: the channel may be another".to_owned()]
    }
}

/// Returns "newest `47.284`, `47.283`, … (142 builds)".
pub(super) fn newest_of(ids: &[&str]) -> String {
    const SHOWN: usize = 10;
    let more = if ids.len() > SHOWN { ", …" } else { "" };
    format!("newest {}{more} ({} builds)", quoted(ids.iter().take(SHOWN).copied()), ids.len())
}

fn nearest_two<'a>(wanted: &str, ids: &[&'a str]) -> Vec<&'a str> {
    let mut near: Vec<(usize, &str)> =
        ids.iter().map(|id| (strsim::damerau_levenshtein(wanted, id), *id)).collect();
    near.sort_by_key(|(distance, _)| *distance);
    near.retain(|(distance, _)| *distance <= (wanted.len() / 2).max(1));
    near.into_iter().take(2).map(|(_, id)| id).collect()
}
