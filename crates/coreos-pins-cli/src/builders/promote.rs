//! `promote`: carries builder pins from one channel to the next.
//!
//! The source decides. Where it floats, its tag is looked up, guarded, and pinned. Where it is pinned, that very pin is
//! copied, and the moving tag is never asked for: what baked in testing is what stable gets.

use std::fmt::Write;

use clap::Args;
use coreos_pins_build::Error;
use coreos_pins_build::reference::Reference;
use serde_json::json;

use super::{Builders, Stored, guards, look_up, write};
use crate::bump::refusals;
use crate::context::Context;
use crate::output::{Output, warn};
use crate::registry::Registries;

/// Carry builder pins from a channel to the next
///
/// If SOURCE floats, the tag of the builder is resolved, guarded and pinned for TARGET. If SOURCE is pinned, its pin is
/// copied, byte by byte. All builders are promoted, or none.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  coreos-pins promote testing-devel testing\n  coreos-pins promote testing stable \
                        --from-rev v44.20260707.2.1"
)]
pub(crate) struct Arguments {
    /// The channel that the pin is taken from
    source: String,

    /// The channel that gets it; its `promotes-from` must name SOURCE
    target: String,

    /// Only this builder
    #[arg(long, value_name = "NAME")]
    builder: Option<String>,

    /// Take the pin of SOURCE as of a revision of git
    #[arg(long, value_name = "REV")]
    from_rev: Option<String>,

    /// Show what would change, and write and push nothing; exit status 1 if anything would
    #[arg(long)]
    dry_run: bool,

    /// Make no guard tag: `coreos-pins guard` makes it later
    #[arg(long)]
    no_guard: bool,

    /// Send no request
    #[arg(long)]
    offline: bool,

    /// Pin an image that its registry removes after a while
    #[arg(long)]
    allow_expiring: bool,

    /// Pin a container that is older than the pinned one
    #[arg(long)]
    allow_downgrade: bool,

    /// Credentials for registries, in place of those that skopeo and podman go by
    #[arg(long, value_name = "FILE")]
    authfile: Option<std::path::PathBuf>,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Output, Error> {
    let Arguments { source, target, from_rev, .. } = arguments;
    let dir = context.pins_dir()?;
    let builders = Builders::read(&dir)?;
    let (from, to) = (builders.channel(source)?, builders.channel(target)?);
    if to.floats {
        return Err(Error::refused(format!("channel `{target}` floats: nothing is pinned for it")));
    }
    refusals::check_hold(target, to, &Context::today())?;
    if !to.promotes_from.contains(source) {
        return Err(Error::refused(format!("channel `{target}` does not promote from `{source}`"))
            .note(format!(
                "it promotes from {}",
                coreos_pins_build::quoted(to.promotes_from.iter().map(String::as_str))
            ))
            .help(format!("add it to `promotes-from` of `{target}` in channels.json")));
    }
    let documents = context.source()?;
    let credentials = Context::credentials(arguments.authfile.clone());
    let registries = Registries::new(&documents, &credentials);

    let mut changes = Vec::new();
    for (builder, policy) in builders.chosen(arguments.builder.as_deref())? {
        let old = Stored::read(&dir, builder, target, None)?;
        let copied = Stored::read(&dir, builder, source, from_rev.as_deref())?;
        let is_copy = copied.is_some();
        let new = match copied {
            Some(stored) => stored,
            None if !from.floats => {
                return Err(Error::refused(format!(
                    "channel `{source}` has no pin of builder `{builder}`, and does not float"
                ))
                .help(format!("promote to `{source}` first, or say in channels.json that it floats")));
            }
            None if arguments.offline => {
                return Err(Error::refused(format!(
                    "channel `{source}` floats: its tag has to be asked for"
                ))
                .help("leave --offline out"));
            }
            None => {
                let reference = Reference::parse(&format!("{}:{}", policy.image, policy.tag))?;
                look_up::pin(&registries, &reference, policy, arguments.allow_expiring)?
            }
        };
        check_age(builder, target, old.as_ref(), &new, arguments.allow_downgrade)?;
        changes.push(Change { builder, old, new, is_copy });
    }

    let would_change = changes.iter().any(Change::is_change);
    if arguments.dry_run {
        let text = report(target, &changes, context.json, true);
        return Ok(if would_change { Output::no(text) } else { Output::ok(text) });
    }
    // Guard first, then write: a pin that nothing keeps alive is worse than none.
    for change in &changes {
        if arguments.no_guard || arguments.offline {
            continue;
        }
        match guards::make(&registries, &change.new) {
            Ok(_) => {}
            // The pin is proved already: that the registry cannot be asked does not change it.
            Err(error) if change.is_copy && error.exit_status() == 3 => {
                warn(&format!(
                    "the guard of `{}` was not checked: {}",
                    change.new.pin.reference(),
                    error.lines().next().unwrap_or_default()
                ));
            }
            Err(error) => return Err(error),
        }
    }
    let pins: Vec<(&str, &str, Stored)> =
        changes.iter().map(|change| (change.builder, target.as_str(), change.new.clone())).collect();
    write(&dir, &pins)?;
    Ok(Output::ok(report(target, &changes, context.json, false)))
}

/// What happens to the pin of one builder.
struct Change<'a> {
    builder: &'a str,
    old: Option<Stored>,
    new: Stored,
    is_copy: bool,
}

impl Change<'_> {
    fn is_change(&self) -> bool {
        self.old.as_ref().is_none_or(|old| old.text != self.new.text || old.index != self.new.index)
    }
}

/// Refuses a container that is older than the pinned one.
fn check_age(
    builder: &str,
    target: &str,
    old: Option<&Stored>,
    new: &Stored,
    allowed: bool,
) -> Result<(), Error> {
    let Some(old) = old.filter(|_| !allowed) else { return Ok(()) };
    let time =
        |stored: &Stored| stored.pin.created.as_ref().and_then(|time| time.parse::<jiff::Timestamp>().ok());
    match (time(old), time(new)) {
        (Some(before), Some(now)) if now < before => Err(Error::refused(format!(
            "channel `{target}`: the new pin of builder `{builder}` is older than the one it has"
        ))
        .note(format!("pinned is {}, made at {before}", old.pin.digest))
        .note(format!("the new is {}, made at {now}", new.pin.digest))
        .help("if that is meant, pass --allow-downgrade")),
        _ => Ok(()),
    }
}

fn report(target: &str, changes: &[Change<'_>], as_json: bool, is_trial: bool) -> String {
    if as_json {
        let builders = changes.iter().map(|change| {
            json!({ "builder": change.builder, "old": change.old.as_ref().map(|old| &old.pin), "new": change.new.pin,
                    "changed": change.is_change(), "copied": change.is_copy, "compare": compare(change) })
        });
        let value = json!({ "version": 1, "channel": target, "written": !is_trial, "builders": builders.collect::<Vec<_>>() });
        return format!("{value}\n");
    }
    let mut text = String::new();
    for change in changes {
        let Change { builder, old, new, .. } = change;
        let _ = match old {
            _ if !change.is_change() => writeln!(text, "{target}: {builder} is {} already", shown(new)),
            None if is_trial => writeln!(text, "{target}: {builder} would be {}", shown(new)),
            None => writeln!(text, "{target}: {builder} is now {}", shown(new)),
            Some(old) => {
                let verb = if is_trial { "would be" } else { "is now" };
                writeln!(text, "{target}: {builder} was {}, {verb} {}", shown(old), shown(new))
            }
        };
        let has_same_images = |old: &Stored| old.pin.architectures == new.pin.architectures;
        if change.is_change() && old.as_ref().is_some_and(has_same_images) {
            let _ = writeln!(text, "  the same images: only their index was published anew");
        }
        if let Some(url) = compare(change) {
            let _ = writeln!(text, "  {url}");
        }
    }
    text
}

/// Returns digest, revision and date.
fn shown(stored: &Stored) -> String {
    let pin = &stored.pin;
    let more = [
        pin.revision.as_deref(),
        pin.created.as_deref().map(|created| created.split('T').next().unwrap_or(created)),
    ];
    let more: Vec<&str> = more.into_iter().flatten().collect();
    if more.is_empty() { pin.digest.clone() } else { format!("{} ({})", pin.digest, more.join(", ")) }
}

/// Returns the page that shows what lies between two revisions.
fn compare(change: &Change<'_>) -> Option<String> {
    let (old, new) = (&change.old.as_ref()?.pin, &change.new.pin);
    let source = new.source.as_deref()?.trim_end_matches('/').trim_end_matches(".git");
    let (from, to) = (old.revision.as_deref()?, new.revision.as_deref()?);
    (from != to && source.starts_with("https://")).then(|| format!("{source}/compare/{from}...{to}"))
}
