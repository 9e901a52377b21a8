//! `diff`: what differs between two pins.

use clap::Args;
use coreos_pins_build::Error;
use coreos_pins_build::build_name::BuildName;
use coreos_pins_build::json::{self, Value};
use coreos_pins_build::pin::Pin;
use serde_json::json;

use crate::context::Context;
use crate::difference::Difference;
use crate::output::Output;
use crate::pins;

/// Show what differs between two pins
///
/// Exit status: 0 they are the same, 1 they differ.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  coreos-pins diff testing stable\n  coreos-pins diff HEAD~1:stable stable\n  \
                        coreos-pins diff pins/stable.json /tmp/stable.json"
)]
pub(crate) struct Arguments {
    /// A channel, a file, or `REV:CHANNEL` for a pin in another revision of git
    old: String,

    /// The same
    new: String,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Output, Error> {
    let old = pins::named(|| context.pins_dir(), &arguments.old)?;
    let new = pins::named(|| context.pins_dir(), &arguments.new)?;
    let difference = Difference::between(&old.stream, &new.stream);
    let others = other_members(&old, &new);
    let same = difference.is_empty() && others.is_empty();
    let [from, to] = [&old, &new].map(|pin| BuildName::of(&pin.stream.build_names()).to_string());
    let text = if context.json {
        let value = json!({ "version": 1, "same": same, "old": from, "new": to, "changes": difference.to_json(),
                            "other": others });
        format!("{value}\n")
    } else if same {
        format!("the same: build {to}\n")
    } else {
        let head = if from == to { format!("build {to} in both") } else { format!("build {from}, now {to}") };
        let lines = [head].into_iter().chain(difference.lines()).chain(others);
        lines.map(|line| line + "\n").collect()
    };
    Ok(if same { Output::ok(text) } else { Output::no(text) })
}

/// Returns a line for each value that differs and belongs to no file and no image that is compared: where a pin is
/// from, and what the model does not know.
fn other_members(old: &Pin, new: &Pin) -> Vec<String> {
    let tree = |pin: &Pin| json::read::<Value>("pin", pin.to_text().as_bytes()).unwrap_or(Value::Null);
    let mut lines = Vec::new();
    compare(&tree(old), &tree(new), "", &mut lines);
    lines
}

fn compare(old: &Value, new: &Value, path: &str, lines: &mut Vec<String>) {
    if old == new || is_item(path) {
        return;
    }
    let join = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}/{key}") };
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            for (key, old) in old.iter() {
                compare(old, new.get(key).unwrap_or(&Value::Null), &join(key), lines);
            }
            for (key, new) in new.iter().filter(|(key, _)| !old.contains_key(key)) {
                compare(&Value::Null, new, &join(key), lines);
            }
        }
        // What is below may be an item.
        (Value::Null, Value::Object(map)) => {
            map.iter().for_each(|(key, new)| compare(&Value::Null, new, &join(key), lines));
        }
        (Value::Object(map), Value::Null) => {
            map.iter().for_each(|(key, old)| compare(old, &Value::Null, &join(key), lines));
        }
        _ => {
            let [old, new] = [old, new].map(|value| match value {
                Value::Null => "none".to_owned(),
                Value::String(text) => text.clone(),
                other => json::print(other).split_whitespace().collect::<Vec<_>>().join(" "),
            });
            lines.push(format!("{}: {old}, now {new}", path.replace('/', ".")));
        }
    }
}

/// Tells whether the value at `path` is one that [`Difference`] compares.
fn is_item(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        ["architectures", _, "artifacts", _, "release"] => true,
        ["architectures", _, "artifacts", _, "formats", _, _, member] => {
            ["location", "sha256", "uncompressed-sha256", "signature"].contains(member)
        }
        ["architectures", _, "images", "gcp", member] => {
            ["release", "project", "family", "name"].contains(member)
        }
        ["architectures", _, "images", "kubevirt", member] => {
            ["release", "image", "digest-ref"].contains(member)
        }
        ["architectures", _, "images", cloud, "regions", _, member] => match *cloud {
            "aws" | "aliyun" => ["release", "image"].contains(member),
            "powervs" | "ibmcloud" => ["release", "bucket", "object", "url"].contains(member),
            _ => false,
        },
        ["architectures", _, "rhel-coreos-extensions", "aws-winli", "regions", _, member] => {
            ["release", "image"].contains(member)
        }
        ["architectures", _, "rhel-coreos-extensions", "azure-disk", member] => {
            ["release", "url"].contains(member)
        }
        ["architectures", _, "rhel-coreos-extensions", "marketplace", "azure", _, _, member] => {
            ["publisher", "offer", "sku", "version"].contains(member)
        }
        _ => false,
    }
}
