//! `list-guards`: which guard tags a registry has, and which of them nobody needs any more.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use clap::Args;
use coreos_pins_build::Error;
use coreos_pins_build::reference::Reference;
use serde_json::json;

use super::{Builders, Stored, guards, there};
use crate::context::Context;
use crate::output::Output;
use crate::pins::git;
use crate::registry::Registries;
use crate::table::table;

/// List the guard tags that the registry has, and what needs them
///
/// Nothing is deleted: that is for a person to do, and by tag only. `skopeo delete` goes by digest, and takes every tag of
/// it along.
#[derive(Args)]
#[command(after_help = "Example:\n  coreos-pins list-guards --unused")]
pub(crate) struct Arguments {
    /// Only those that no pin names, neither now nor in the history of git
    #[arg(long)]
    unused: bool,

    /// Only this builder
    #[arg(long, value_name = "NAME")]
    builder: Option<String>,

    /// Credentials for registries, in place of those that skopeo and podman go by
    #[arg(long, value_name = "FILE")]
    authfile: Option<std::path::PathBuf>,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Output, Error> {
    let dir = context.pins_dir()?;
    let builders = Builders::read(&dir)?;
    let documents = context.source()?;
    let credentials = Context::credentials(arguments.authfile.clone());
    let registries = Registries::new(&documents, &credentials);
    let mut rows: Vec<(String, String, String)> = Vec::new();
    for (builder, policy) in builders.chosen(arguments.builder.as_deref())? {
        let pattern = policy.guard.as_deref().unwrap_or("fcos-{digest:10}");
        let Some((before, _)) = pattern.split_once("{digest:") else { continue };
        let mut users: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (channel, of) in there(&dir)?.iter().filter(|(_, of)| of == builder) {
            if let Some(stored) = Stored::read(&dir, of, channel, None)? {
                for tag in guards::tags(&stored.pin) {
                    users.entry(tag).or_default().insert(channel.clone());
                }
            }
        }
        let past = past_guards(&dir, builder)?;
        for tag in registries.tags(&Reference::parse(&policy.image)?)? {
            if !tag.starts_with(before) {
                continue;
            }
            // Those of the architectures belong to that of the index.
            let is_past = past.iter().any(|guard| tag == *guard || tag.starts_with(&format!("{guard}-")));
            let use_ = match users.get(&tag) {
                Some(channels) => channels.iter().cloned().collect::<Vec<_>>().join(" "),
                None if is_past => "in the history".to_owned(),
                None => "unused".to_owned(),
            };
            if !arguments.unused || use_ == "unused" {
                rows.push((builder.to_owned(), tag, use_));
            }
        }
    }
    if context.json {
        let guards = rows
            .iter()
            .map(|(builder, tag, use_)| json!({ "builder": builder, "tag": tag, "used-by": use_ }));
        let value = json!({ "version": 1, "guards": guards.collect::<Vec<_>>() });
        return Ok(Output::document(format!("{value}\n")));
    }
    let rows = rows.into_iter().map(|(builder, tag, use_)| vec![builder, tag, use_]);
    Ok(Output::ok(table(&["BUILDER", "GUARD", "USED BY"], rows)))
}

/// Returns every guard that a pin of `builder` has ever named in the git repository of the pins folder, if it is in one.
fn past_guards(dir: &Path, builder: &str) -> Result<BTreeSet<String>, Error> {
    let folder = format!("{}/{builder}", super::FOLDER);
    let log = git(dir, &["log", "--all", "--format=", "-p", "--", &folder])?;
    let log = String::from_utf8_lossy(&log.stdout).into_owned();
    let guards = log.lines().filter_map(|line| {
        let (_, rest) = line.strip_prefix(['+', '-'])?.split_once("\"guard\": \"")?;
        rest.split_once('"').map(|(guard, _)| guard.to_owned())
    });
    Ok(guards.collect())
}
