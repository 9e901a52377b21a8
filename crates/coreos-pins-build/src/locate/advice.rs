//! What helps whoever asked for a build that is not there.

use super::{Reader, Search};
use crate::build_name::BuildName;
use crate::error::quoted;

impl Search<'_> {
    /// Returns lines that help whoever asked for a build that is not there: the nearest ids, the newest, and how many
    /// there are. Best effort: where the list cannot be had, the line says that.
    pub fn advice(&self, source: &Reader<'_>, name: &BuildName) -> Vec<String> {
        let wanted = match name {
            BuildName::Id(id) => id.clone(),
            BuildName::PerArchitecture(ids) => ids.values().next().cloned().unwrap_or_default(),
            BuildName::Latest => return Vec::new(),
        };
        let listing = match self.listing(source) {
            Ok(Ok(listing)) => listing,
            Ok(Err(_)) => return vec!["no list of builds is there: the channel may be another".to_owned()],
            Err(error) => {
                return error.lines().take(1).map(|line| format!("no list of builds: {line}")).collect();
            }
        };
        let ids: Vec<&str> = listing.builds.iter().map(|build| build.id.as_str()).collect();
        let mut lines = Vec::new();
        if listing.tombstones.iter().any(|build| build.id == wanted) {
            lines.push(format!("build `{wanted}` was there, and has been removed"));
        }
        let near = nearest_two(&wanted, &ids);
        let near = if near.is_empty() { String::new() } else { format!("nearest {}; ", quoted(near)) };
        lines.push(format!("{near}{}", newest_of(&ids)));
        lines
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
