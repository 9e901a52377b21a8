//! `set` and `update`: builder pins that are not promoted.

use clap::Args;
use coreos_pins_build::Error;
use coreos_pins_build::reference::Reference;
use serde_json::json;

use super::{Builders, Stored, guards, look_up, write};
use crate::bump::refusals;
use crate::context::Context;
use crate::output::Output;
use crate::registry::Registries;

/// Pin a container by hand, for a hot fix; the next promotion replaces it
#[derive(Args)]
#[command(
    after_help = "Example:\n  coreos-pins set stable quay.io/coreos-assembler/coreos-assembler:fix --reason \
                        https://example.com/issue/1"
)]
pub(crate) struct Set {
    /// The channel
    channel: String,

    /// The container: by tag, which is resolved, or by digest
    reference: String,

    /// Why; the pin keeps it
    #[arg(long)]
    reason: String,

    /// Which builder, where there are several
    #[arg(long, value_name = "NAME")]
    builder: Option<String>,

    #[command(flatten)]
    pinning: Pinning,
}

/// Pin the container that a development channel's tag names now
///
/// For channels that are pinned and that nothing is promoted to.
#[derive(Args)]
#[command(after_help = "Example:\n  coreos-pins update rawhide")]
pub(crate) struct Update {
    /// Channels; without any, all that have a builder pin and promote from nowhere
    channels: Vec<String>,

    /// Only this builder
    #[arg(long, value_name = "NAME")]
    builder: Option<String>,

    /// Write and push nothing; exit status 1 if anything would change
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    pinning: Pinning,
}

#[derive(Args)]
struct Pinning {
    /// Make no guard tag: `coreos-pins guard` makes it later
    #[arg(long)]
    no_guard: bool,

    /// Pin an image that its registry removes after a while
    #[arg(long)]
    allow_expiring: bool,

    /// Credentials for registries, in place of those that skopeo and podman go by
    #[arg(long, value_name = "FILE")]
    authfile: Option<std::path::PathBuf>,
}

pub(crate) fn set(context: &Context, arguments: &Set) -> Result<Output, Error> {
    let Set { channel, reference, reason, builder, pinning } = arguments;
    let dir = context.pins_dir()?;
    let builders = Builders::read(&dir)?;
    let decided = builders.channel(channel)?;
    let (builder, policy) = builders.one(builder.as_deref())?;
    if decided.floats {
        return Err(Error::refused(format!("channel `{channel}` floats: nothing is pinned for it"))
            .help("take `floats` out of channels.json to pin it"));
    }
    refusals::check_hold(channel, decided, &Context::today())?;
    if reason.trim().is_empty() {
        return Err(Error::invalid("--reason: expected a reason, found none"));
    }
    let reference = Reference::parse(reference)?;
    let documents = context.source()?;
    let credentials = Context::credentials(pinning.authfile.clone());
    let registries = Registries::new(&documents, &credentials);
    let mut stored = look_up::pin(&registries, &reference, policy, pinning.allow_expiring)?;
    stored.pin.reason = Some(reason.clone());
    stored.text = stored.pin.to_text();
    if !pinning.no_guard {
        guards::make(&registries, &stored)?;
    }
    let changed = write(&dir, &[(builder, channel, stored.clone())])?;
    Ok(said(context, &[(channel, builder, stored, changed)]))
}

pub(crate) fn update(context: &Context, arguments: &Update) -> Result<Output, Error> {
    let Update { channels, builder, dry_run, pinning } = arguments;
    let dir = context.pins_dir()?;
    let builders = Builders::read(&dir)?;
    for channel in channels {
        let decided = builders.channel(channel)?;
        if !decided.promotes_from.is_empty() || decided.floats {
            let what = if decided.floats {
                "floats: nothing is pinned for it"
            } else {
                "gets its pins by promotion"
            };
            return Err(Error::refused(format!("channel `{channel}` {what}"))
                .help("use `coreos-pins promote`, or `coreos-pins set` for a hot fix"));
        }
    }
    let documents = context.source()?;
    let credentials = Context::credentials(pinning.authfile.clone());
    let registries = Registries::new(&documents, &credentials);
    let mut results = Vec::new();
    for (builder, policy) in builders.chosen(builder.as_deref())? {
        for (channel, decided) in builders.policy.channels.iter() {
            let old = Stored::read(&dir, builder, channel, None)?;
            let is_asked = channels.iter().any(|asked| asked == channel);
            let is_development = decided.promotes_from.is_empty() && !decided.floats;
            if !(is_asked || channels.is_empty() && is_development && old.is_some()) {
                continue;
            }
            refusals::check_hold(channel, decided, &Context::today())?;
            let reference = Reference::parse(&format!("{}:{}", policy.image, policy.tag))?;
            let stored = look_up::pin(&registries, &reference, policy, pinning.allow_expiring)?;
            let changed = old.is_none_or(|old| old.text != stored.text || old.index != stored.index);
            results.push((channel, builder, stored, changed));
        }
    }
    if results.is_empty() {
        return Err(Error::refused("no channel that promotes from nowhere has a builder pin")
            .help("name one to pin it"));
    }
    if *dry_run {
        let would_change = results.iter().any(|(.., changed)| *changed);
        return Ok(said(context, &results).with_status(u8::from(would_change)));
    }
    for (_, _, stored, changed) in &results {
        if *changed && !pinning.no_guard {
            guards::make(&registries, stored)?;
        }
    }
    let pins: Vec<(&str, &str, Stored)> =
        results.iter().map(|(channel, builder, stored, _)| (*builder, *channel, stored.clone())).collect();
    write(&dir, &pins)?;
    Ok(said(context, &results))
}

fn said(context: &Context, results: &[(&str, &str, Stored, bool)]) -> Output {
    if context.json {
        let pins = results.iter().map(|(channel, builder, stored, changed)| {
            json!({ "channel": channel, "builder": builder, "new": stored.pin, "changed": changed })
        });
        let value = json!({ "version": 1, "pins": pins.collect::<Vec<_>>() });
        return Output::document(format!("{value}\n"));
    }
    let lines = results.iter().map(|(channel, builder, stored, changed)| {
        let end = if *changed { "" } else { ", as before" };
        format!("{channel}: {builder}: {}{end}\n", stored.pin.reference())
    });
    Output::ok(lines.collect::<String>())
}
