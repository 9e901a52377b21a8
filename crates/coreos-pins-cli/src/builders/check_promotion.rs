//! `check-promotion`: whether a pull request does nothing but promote builder pins.

use clap::Args;
use coreos_pins_build::Error;
use coreos_pins_build::builder::{BuilderPin, FOLDER, MANIFESTS};
use coreos_pins_build::policy::{self, Policy};
use serde_json::json;

use crate::context::Context;
use crate::output::Output;
use crate::pins::{at_revision, commit, git, is_at_revision};

/// Check that the changes between two revisions only promote builder pins
///
/// Only builder pins and stored indexes may differ; a pin must be the very one of a channel that is promoted from, or,
/// where such a channel floats, one of its builder's image; an index may be added, never changed. Sends no request.
#[derive(Args)]
#[command(after_help = "Example:\n  coreos-pins check-promotion origin/main HEAD")]
pub(crate) struct Arguments {
    /// The revision before
    base: String,

    /// The revision after
    head: String,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Output, Error> {
    let dir = context.pins_dir()?;
    let Arguments { base, head } = arguments;
    let (from, to) = (commit(&dir, base)?, commit(&dir, head)?);
    let diff = git(&dir, &["diff", "--name-status", "--no-renames", "--relative", &from, &to])?;
    let everything = git(&dir, &["diff", "--name-only", "--no-renames", &from, &to])?;
    if !diff.status.success() || !everything.status.success() {
        return Err(Error::invalid("git could not compare the revisions")
            .note(String::from_utf8_lossy(&diff.stderr).trim().to_owned()));
    }
    let diff = String::from_utf8_lossy(&diff.stdout).into_owned();
    let all = String::from_utf8_lossy(&everything.stdout).lines().count();
    let changes: Vec<(&str, &str)> = diff.lines().filter_map(|line| line.split_once('\t')).collect();
    let document = format!("{head}:{}", policy::FILE);
    let policy = Policy::read(&document, &at_revision(&dir, &to, policy::FILE)?)?;

    let mut faults = Vec::new();
    if all > changes.len() {
        faults.push(format!("{} files outside of `{}` differ", all - changes.len(), dir.display()));
    }
    let mut promoted = Vec::new();
    for (status, name) in changes {
        let parts: Vec<&str> = name.split('/').collect();
        match (parts.as_slice(), status) {
            ([MANIFESTS, _], "A") => {}
            ([MANIFESTS, _], _) => faults.push(format!("{name} was changed; an index is only ever added")),
            ([FOLDER, builder, file], "A" | "M") => {
                let channel = file.strip_suffix(".json").unwrap_or(file);
                match check_pin(&dir, &policy, builder, channel, [&from, &to], head) {
                    Ok(None) => promoted.push(format!("{channel}: {builder}")),
                    Ok(Some(fault)) => faults.push(format!("{name}: {fault}")),
                    Err(error) => faults.push(error.lines().next().unwrap_or_default()),
                }
            }
            _ => faults.push(format!("{name} differs, which is no builder pin")),
        }
    }
    let is_good = faults.is_empty();
    let text = if context.json {
        format!("{}\n", json!({ "version": 1, "ok": is_good, "promoted": promoted, "faults": faults }))
    } else if is_good && promoted.is_empty() {
        "nothing is promoted\n".to_owned()
    } else {
        let lines = if is_good {
            promoted.iter().map(|line| format!("promoted {line}\n")).collect()
        } else {
            Vec::new()
        };
        lines.into_iter().chain(faults.iter().map(|fault| format!("{fault}\n"))).collect()
    };
    Ok(if is_good { Output::ok(text) } else { Output::no(text) })
}

/// Says what is wrong with the pin of `builder` for `channel` in the second of `revisions`, seen from the first.
fn check_pin(
    dir: &std::path::Path,
    policy: &Policy,
    builder: &str,
    channel: &str,
    revisions: [&str; 2],
    head: &str,
) -> Result<Option<String>, Error> {
    let file = |channel: &str| format!("{FOLDER}/{builder}/{channel}.json");
    let name = file(channel);
    let bytes = at_revision(dir, revisions[1], &name)?;
    let pin = BuilderPin::read(&format!("{head}:{name}"), &bytes)?;
    let index_name = format!("{MANIFESTS}/{}", pin.index_file());
    let index = at_revision(dir, revisions[1], &index_name)?;
    pin.check_index(&name, &index_name, &index)?;
    let Some(decided) = policy.channels.get(channel) else {
        return Ok(Some(format!("no channel `{channel}` in the policy")));
    };
    let mut floats = false;
    for source in &decided.promotes_from {
        let mut is_pinned = false;
        for revision in revisions {
            if is_at_revision(dir, revision, &file(source))? {
                is_pinned = true;
                if at_revision(dir, revision, &file(source))? == bytes {
                    return Ok(None);
                }
            }
        }
        floats |= !is_pinned && policy.channels.get(source).is_some_and(|source| source.floats);
    }
    let of_builder = policy.builders.get(builder).is_some_and(|builder| builder.image == pin.image);
    Ok(match (floats, of_builder, &pin.reason) {
        (_, _, Some(_)) => Some("it was set by hand".to_owned()),
        (true, true, None) => None,
        (true, false, None) => Some(format!("`{}` is not the image of builder `{builder}`", pin.image)),
        (false, ..) => Some(format!(
            "it is the pin of none of {}",
            coreos_pins_build::quoted(decided.promotes_from.iter().map(String::as_str))
        )),
    })
}
