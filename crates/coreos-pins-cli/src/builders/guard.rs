//! `guard`: makes the tags that keep pinned containers alive, or checks that they are there.

use clap::Args;
use coreos_pins_build::Error;
use serde_json::json;

use super::{Builders, Stored, guards};
use crate::context::Context;
use crate::output::Output;
use crate::registry::Registries;

/// Make the guard tags of builder pins that are not there
///
/// They are made of the bytes that are stored beside the pins, so that they can also be made anew. This is the step that
/// needs leave to push.
#[derive(Args)]
#[command(after_help = "Examples:\n  coreos-pins guard\n  coreos-pins guard --check stable")]
pub(crate) struct Arguments {
    /// Channels; without any, all that have builder pins
    channels: Vec<String>,

    /// Only this builder
    #[arg(long, value_name = "NAME")]
    builder: Option<String>,

    /// Push nothing; exit status 1 if a guard is missing
    #[arg(long)]
    check: bool,

    /// Credentials for registries, in place of those that skopeo and podman go by
    #[arg(long, value_name = "FILE")]
    authfile: Option<std::path::PathBuf>,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Output, Error> {
    let dir = context.pins_dir()?;
    let builders = Builders::read(&dir)?;
    for channel in &arguments.channels {
        builders.channel(channel)?;
    }
    let documents = context.source()?;
    let credentials = Context::credentials(arguments.authfile.clone());
    let registries = Registries::new(&documents, &credentials);
    let (mut lines, mut missing, mut pins) = (Vec::new(), 0, 0);
    for (builder, _) in builders.chosen(arguments.builder.as_deref())? {
        for channel in builders.policy.channels.keys() {
            let asked =
                arguments.channels.is_empty() || arguments.channels.iter().any(|asked| asked == channel);
            let Some(stored) =
                asked.then(|| Stored::read(&dir, builder, channel, None)).transpose()?.flatten()
            else {
                continue;
            };
            pins += 1;
            if arguments.check {
                let gone = guards::missing(&registries, &stored)?;
                missing += gone.len();
                lines.extend(gone.into_iter().map(|line| format!("{channel}: {builder}: {line}")));
            } else {
                let made = guards::make(&registries, &stored)?;
                let what = if made.is_empty() {
                    "guarded already".to_owned()
                } else {
                    format!("made {}", made.join(", "))
                };
                lines.push(format!("{channel}: {builder}: {what}"));
            }
        }
    }
    if pins == 0 {
        return Err(
            Error::refused("no builder pins are there").help("make one: coreos-pins promote SOURCE TARGET")
        );
    }
    if arguments.check && missing == 0 {
        lines.push(format!("{pins} pins, all guarded"));
    }
    let text = if context.json {
        format!("{}\n", json!({ "version": 1, "pins": pins, "missing": missing, "lines": lines }))
    } else {
        lines.iter().map(|line| format!("{line}\n")).collect()
    };
    Ok(if missing > 0 { Output::no(text) } else { Output::ok(text) })
}
