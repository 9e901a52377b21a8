//! `hold` and `unhold`: a channel that stays where it is.

use clap::Args;
use coreos_pins_build::Error;
use coreos_pins_build::policy::{self, Policy};
use serde_json::json;

use crate::bump::refusals::policy_of;
use crate::context::Context;
use crate::edit;
use crate::output::Output;
use crate::write::{Batch, File};

/// Keep a channel where it is: bump and promote then refuse
#[derive(Args)]
#[command(
    after_help = "Example:\n  coreos-pins hold stable --reason https://example.com/issue/1 --until 2026-12-31"
)]
pub(crate) struct Hold {
    /// The channel
    channel: String,

    /// Why; often a URL
    #[arg(long)]
    reason: String,

    /// The last day that it holds, UTC [default: for ever]
    #[arg(long, value_name = "YYYY-MM-DD")]
    until: Option<String>,
}

/// Let a channel that is on hold move again
#[derive(Args)]
#[command(after_help = "Example:\n  coreos-pins unhold stable")]
pub(crate) struct Unhold {
    /// The channel
    channel: String,
}

pub(crate) fn hold(context: &Context, arguments: &Hold) -> Result<Output, Error> {
    let Hold { channel, reason, until } = arguments;
    let text = |text: &str| serde_json::Value::from(text).to_string();
    let until_member =
        until.as_ref().map(|until| format!(", \"until\": {}", text(until))).unwrap_or_default();
    let value = format!("{{ \"reason\": {}{until_member} }}", text(reason));
    change(context, channel, |file| edit::put(file, &["channels", channel], "hold", &value))?;
    let until = until.as_ref().map(|until| format!(" until {until}")).unwrap_or_default();
    Ok(said(context, channel, true, format!("{channel}: on hold{until}: {reason}\n")))
}

pub(crate) fn unhold(context: &Context, arguments: &Unhold) -> Result<Output, Error> {
    let Unhold { channel } = arguments;
    let changed = change(context, channel, |file| {
        edit::take(file, &["channels", channel], "hold").or(Some(file.to_owned()))
    })?;
    let text = if changed { "free to move" } else { "not on hold" };
    Ok(said(context, channel, false, format!("{channel}: {text}\n")))
}

fn said(context: &Context, channel: &str, on_hold: bool, text: String) -> Output {
    match context.json {
        true => {
            Output::document(format!("{}\n", json!({ "version": 1, "channel": channel, "on-hold": on_hold })))
        }
        false => Output::ok(text),
    }
}

/// Changes `channels.json` by `edit`, if what comes of it is a policy.
fn change(
    context: &Context,
    channel: &str,
    edit: impl FnOnce(&str) -> Option<String>,
) -> Result<bool, Error> {
    let dir = context.pins_dir()?;
    let file = File::read(&dir.join(policy::FILE))?;
    let document = file.path().display().to_string();
    let Some(bytes) = file.bytes() else {
        return Err(
            Error::invalid(format!("no file `{document}`")).help("holds are kept in it: write one first")
        );
    };
    let policy = Policy::read(&document, bytes)?;
    policy_of(&policy, file.path(), channel)?;
    let text = std::str::from_utf8(bytes).ok().map(|text| text.trim_start_matches('\u{feff}'));
    let changed =
        text.and_then(edit).ok_or_else(|| Error::invalid(format!("`{document}` could not be changed")))?;
    Policy::read(&format!("{document}, as it would be"), changed.as_bytes())?;
    let mut batch = Batch::new(&dir);
    let changes = batch.replace(&file, changed);
    batch.write()?;
    Ok(changes)
}
