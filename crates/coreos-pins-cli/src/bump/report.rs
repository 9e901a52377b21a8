//! What `bump` says of what it did.

use std::fmt::Write;

use coreos_pins_build::build_name::BuildName;
use coreos_pins_build::json::{self, Map, Value};
use coreos_pins_build::pin::Pin;
use serde_json::json;

use crate::difference::Difference;
use crate::output::warn;

/// What a bump did, or would do, to one channel.
pub(crate) struct Report<'a> {
    pub(crate) channel: &'a str,
    pub(crate) old: Option<&'a Pin>,
    pub(crate) new: Pin,
    pub(crate) changed: bool,
}

impl Report<'_> {
    fn builds(&self) -> (Option<BuildName>, BuildName) {
        let build = |pin: &Pin| BuildName::of(&pin.stream.build_names());
        (self.old.map(build), build(&self.new))
    }

    fn difference(&self) -> Option<Difference<'_>> {
        self.old.map(|old| Difference::between(&old.stream, &self.new.stream))
    }

    fn headline(&self, is_trial: bool) -> String {
        let channel = self.channel;
        let [is_now, pinned, written] = match is_trial {
            false => ["is now", "pinned", "its pin written anew"],
            true => ["would be", "would be pinned:", "its pin would be written anew"],
        };
        match self.builds() {
            (_, new) if !self.changed => format!("{channel}: up to date, build {new}"),
            (None, new) => format!("{channel}: {pinned} build {new}"),
            (Some(old), new) if old == new => format!("{channel}: still build {new}, {written}"),
            (Some(old), new) => format!("{channel}: build {old} {is_now} {new}"),
        }
    }

    /// Names the keys of the old pin that are gone, other than those of what the summary counts.
    pub(crate) fn say_dropped_keys(&self) {
        let Some(old) = self.old.filter(|_| self.changed) else { return };
        let tree = |pin: &Pin| json::read::<Value>("pin", pin.to_text().as_bytes()).unwrap_or(Value::Null);
        let mut dropped = Vec::new();
        dropped_keys(&tree(old), &tree(&self.new), "", &mut dropped);
        for key in dropped {
            warn(&format!("channel `{}`: the pin no longer has `{key}`", self.channel));
        }
    }
}

/// Collects the paths of keys that `old` has and `new` has not. The members of a table (regions, platforms, …) are no
/// keys.
fn dropped_keys(old: &Value, new: &Value, path: &str, dropped: &mut Vec<String>) {
    const TABLES: [&str; 5] = ["architectures", "artifacts", "formats", "regions", "azure"];
    let (Value::Object(old), Value::Object(new)): (_, _) = (old, new) else { return };
    let is_table = TABLES.contains(&path.rsplit('.').next().unwrap_or_default());
    let new: &Map<Value> = new;
    for (key, value) in old.iter() {
        let path = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        match new.get(key) {
            Some(found) => dropped_keys(value, found, &path, dropped),
            None if is_table => {}
            None => dropped.push(path),
        }
    }
}

/// Returns the summary for a person.
pub(crate) fn text(reports: &[Report<'_>], is_trial: bool, only_headlines: bool) -> String {
    let mut text = String::new();
    for report in reports {
        let _ = writeln!(text, "{}", report.headline(is_trial));
        if let Some(difference) = report.difference().filter(|_| !only_headlines) {
            for line in difference.summary().lines() {
                let _ = writeln!(text, "  {line}");
            }
        }
    }
    text
}

/// Returns the summary for a pull request; `command` is what made it.
pub(crate) fn markdown(reports: &[Report<'_>], command: &str) -> String {
    let mut text = String::new();
    for report in reports {
        let (old, new) = report.builds();
        let _ = match &old {
            _ if !report.changed => writeln!(text, "### {}: up to date, build `{new}`\n", report.channel),
            None => writeln!(text, "### {}: build `{new}`\n\nNot pinned before.\n", report.channel),
            Some(old) if *old == new => {
                writeln!(text, "### {}: build `{new}`, its pin written anew\n", report.channel)
            }
            Some(old) => writeln!(text, "### {}: build `{old}` → `{new}`\n", report.channel),
        };
        match report.difference() {
            Some(difference) if !difference.is_empty() => {
                text.push_str(&difference.summary().markdown());
            }
            Some(_) if report.changed => text.push_str("No image and no file changed.\n\n"),
            _ => {}
        }
    }
    let _ = writeln!(text, "Made by `{command}`.");
    text
}

/// Returns the summary for a program.
pub(crate) fn json(reports: &[Report<'_>], is_trial: bool) -> String {
    let channels = reports.iter().map(|report| {
        let (old, new) = report.builds();
        json!({
            "channel": report.channel,
            "old": old.as_ref().map(ToString::to_string),
            "new": new.to_string(),
            "changed": report.changed,
            "summary": report.difference().map(|difference| difference.summary().to_json()),
        })
    });
    let value = json!({ "version": 1, "written": !is_trial, "channels": channels.collect::<Vec<_>>() });
    format!("{value}\n")
}
