//! `show`: the pins as a person or a script wants them.

use clap::Args;
use coreos_pins_build::build_name::{BuildName, rpm_architecture};
use coreos_pins_build::pins::Pins;
use coreos_pins_build::{Error, quoted};
use serde_json::{Map, Value, json};

use crate::context::Context;
use crate::items::{self, Item, Name};
use crate::output::Output;
use crate::pins::{default_channel, pin_of};
use crate::table::table;

/// Show the pins, or the files and images of one
#[derive(Args)]
#[command(
    after_help = "Examples:\n  coreos-pins show\n  coreos-pins show stable --platform aws\n  coreos-pins show stable \
                        --arch x86_64 --platform aws --region us-east-1"
)]
pub(crate) struct Arguments {
    /// The channel; without it, all
    channel: Option<String>,

    /// Only this architecture: x86_64, aarch64, …
    #[arg(long, value_name = "ARCH")]
    arch: Option<String>,

    /// Only this platform: aws, qemu, …
    #[arg(long)]
    platform: Option<String>,

    /// Only this region. With channel, architecture and platform: one bare value, for scripts
    #[arg(long)]
    region: Option<String>,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Output, Error> {
    let dir = context.pins_dir()?;
    let pins = Pins::load(&dir)?;
    let Some(channel) = &arguments.channel else {
        if arguments.arch.is_some() || arguments.platform.is_some() || arguments.region.is_some() {
            return Err(Error::invalid("--arch, --platform and --region are for one channel")
                .help("name the channel: coreos-pins show CHANNEL …"));
        }
        return Ok(if context.json { all_json(&pins) } else { all_text(&pins) });
    };
    let pin = pin_of(&pins, &dir, channel)?;
    let all = items::of(&pin.stream);
    let mut items: Vec<&Item<'_>> = all.iter().collect();
    let arch = arguments.arch.as_deref().map(rpm_architecture);
    narrow(&mut items, "architecture", arch, |item| Some(item.key.architecture))?;
    narrow(&mut items, "platform", arguments.platform.as_deref(), |item| Some(item.key.platform))?;
    narrow(&mut items, "region", arguments.region.as_deref(), |item| match item.key.name {
        Name::Region(region) => Some(region),
        _ => None,
    })?;
    if context.json {
        let build = BuildName::of(&pin.stream.build_names()).to_string();
        let items: Vec<Value> = items.iter().map(|item| item_json(item)).collect();
        let value = json!({ "version": 1, "channel": channel, "build": build, "items": items });
        return Ok(Output::document(format!("{value}\n")));
    }
    let is_complete = arch.is_some() && arguments.platform.is_some() && arguments.region.is_some();
    if let ([item], true) = (items.as_slice(), is_complete) {
        return Ok(Output::ok(format!("{}\n", item.value())));
    }
    let rows = items.into_iter().map(|item| {
        let key = item.key;
        vec![key.architecture.to_owned(), key.platform.to_owned(), key.name.to_string(), item.value()]
    });
    Ok(Output::ok(table(&["ARCHITECTURE", "PLATFORM", "NAME", "VALUE"], rows)))
}

/// Leaves the items whose `what` is `wanted`.
fn narrow<'a>(
    items: &mut Vec<&'a Item<'a>>,
    what: &str,
    wanted: Option<&str>,
    get: impl Fn(&'a Item<'a>) -> Option<&'a str>,
) -> Result<(), Error> {
    let Some(wanted) = wanted else { return Ok(()) };
    let mut there: Vec<&str> = items.iter().filter_map(|item| get(item)).collect();
    there.sort_unstable();
    there.dedup();
    items.retain(|item| get(item) == Some(wanted));
    if !items.is_empty() {
        return Ok(());
    }
    let error = Error::refused(format!("no {what} `{wanted}` there"));
    Err(match there.is_empty() {
        true => error.note(format!("there is no {what} at all")),
        false => error.note(format!("there are {}", quoted(there))),
    })
}

/// The channels of policy and pins, sorted.
fn channels(pins: &Pins) -> Vec<&str> {
    let of_policy = pins.policy.iter().flat_map(|policy| policy.channels.keys());
    let mut names: Vec<&str> = pins.names().chain(of_policy).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn all_text(pins: &Pins) -> Output {
    let default = default_channel(pins.policy.as_ref());
    let rows = channels(pins).into_iter().map(|name| {
        let policy = pins.policy_of(name);
        let mut notes = Vec::new();
        notes.extend((name == default).then(|| "default".to_owned()));
        notes.extend(policy.filter(|policy| policy.floats).map(|_| "floats".to_owned()));
        notes.extend(policy.and_then(|policy| policy.hold.as_ref()).map(|hold| match &hold.until {
            Some(until) => format!("on hold until {until}"),
            None => "on hold".to_owned(),
        }));
        let (build, architectures) = match pins.pins.get(name) {
            None => ("not pinned".to_owned(), String::new()),
            Some(pin) => {
                let names: Vec<&str> = pin.stream.architectures.keys().collect();
                (BuildName::of(&pin.stream.build_names()).to_string(), names.join(" "))
            }
        };
        vec![name.to_owned(), build, architectures, notes.join(", ")]
    });
    Output::ok(table(&["CHANNEL", "BUILD", "ARCHITECTURES", "NOTES"], rows))
}

fn all_json(pins: &Pins) -> Output {
    let default = default_channel(pins.policy.as_ref());
    let channels = channels(pins).into_iter().map(|name| {
        let (policy, pin) = (pins.policy_of(name), pins.pins.get(name));
        let header = pin.and_then(|pin| pin.header.as_ref());
        let base_url =
            header.map(|header| &header.base_url).or(policy.and_then(|policy| policy.base_url.as_ref()));
        json!({
            "channel": name,
            "default": name == default,
            "floats": policy.is_some_and(|policy| policy.floats),
            "hold": policy.and_then(|policy| policy.hold.as_ref()),
            "base-url": base_url,
            "build": pin.map(|pin| BuildName::of(&pin.stream.build_names()).to_string()),
            "builds": pin.map(|pin| pin.stream.build_names()),
            "release-image": header.and_then(|header| header.release_image.as_ref()),
        })
    });
    let value = json!({ "version": 1, "channels": channels.collect::<Vec<_>>() });
    Output::document(format!("{value}\n"))
}

fn item_json(item: &Item<'_>) -> Value {
    let mut object = Map::new();
    let mut put = |key: &str, value: &str| {
        object.insert(key.to_owned(), value.into());
    };
    put("architecture", item.key.architecture);
    put("platform", item.key.platform);
    match item.key.name {
        Name::Region(region) => put("region", region),
        Name::Image => {}
        Name::Offer { plan, generation } => {
            put("plan", plan);
            put("generation", generation);
        }
        Name::File { format, kind } => {
            put("format", format);
            put("kind", kind);
        }
    }
    item.release.iter().for_each(|release| put("release", release));
    item.members.iter().for_each(|member| put(member.name, member.value));
    put("value", &item.value());
    Value::Object(object)
}
