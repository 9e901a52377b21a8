//! `builds`: what upstream has of a channel.

use clap::Args;
use coreos_pins_build::documents::Cleanup;
use coreos_pins_build::pins::Pins;
use coreos_pins_build::{Error, quoted};
use serde_json::json;

use crate::context::Context;
use crate::output::{Output, warn};
use crate::pins::policy;
use crate::table::table;
use crate::upstream::Channel;

/// List the builds that upstream has of a channel, newest first
#[derive(Args)]
#[command(after_help = "Example:\n  coreos-pins builds rhel-9 --limit 10")]
pub(crate) struct Arguments {
    /// A channel of channels.json
    channel: String,

    /// Most builds to list
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Output, Error> {
    let dir = context.pins_dir()?;
    let name = &arguments.channel;
    let pins = Pins { policy: policy(&dir)?, ..Pins::load(&dir)? };
    let pin = pins.pins.get(name);
    let policy = match pins.policy_of(name) {
        Some(policy) => policy.clone(),
        None if pin.is_some() => coreos_pins_build::policy::Channel::default(),
        None => {
            let mut names: Vec<&str> =
                pins.policy.iter().flat_map(|policy| policy.channels.keys()).chain(pins.names()).collect();
            names.sort_unstable();
            names.dedup();
            return Err(Error::invalid(format!("no channel `{name}` in `{}`", dir.display()))
                .note(format!("channels are {}", quoted(names))));
        }
    };
    let channel = Channel { name, policy: &policy, pin };
    let listing = channel.listing(&context.source()?)?.map_err(|miss| {
        let error = Error::refused(format!("no list of the builds of channel `{name}`"));
        miss.lines().into_iter().fold(error, Error::note)
    })?;
    let pinned: Vec<&str> = pin.iter().flat_map(|pin| pin.stream.build_names().into_values()).collect();
    for build in listing.tombstones.iter().filter(|build| pinned.contains(&build.id.as_str())) {
        warn(&format!("the pinned build `{}` has been removed upstream", build.id));
    }
    let missing =
        |id: &&&str| !listing.builds.iter().chain(&listing.tombstones).any(|build| build.id == **id);
    let mut unlisted: Vec<&str> = pinned.iter().filter(missing).copied().collect();
    unlisted.dedup();
    unlisted.iter().for_each(|id| warn(&format!("the pinned build `{id}` is not listed upstream")));
    let is_pinned = |id: &str| pinned.contains(&id);
    let shown = listing.builds.iter().take(arguments.limit.unwrap_or(usize::MAX));
    if context.json {
        let builds = shown.map(|build| {
            json!({ "id": build.id, "architectures": build.architectures, "pinned": is_pinned(&build.id),
                    "cleaned-up": build.cleanup.is_any() })
        });
        let value = json!({ "version": 1, "channel": name, "builds": builds.collect::<Vec<_>>() });
        return Ok(Output::document(format!("{value}\n")));
    }
    let rows = shown.map(|build| {
        let pinned = if is_pinned(&build.id) { "pinned" } else { "" };
        vec![build.id.clone(), build.architectures.join(" "), cleaned_up(&build.cleanup), pinned.to_owned()]
    });
    Ok(Output::ok(table(&["BUILD", "ARCHITECTURES", "CLEANED UP", ""], rows)))
}

/// Says what of a build was deleted.
fn cleaned_up(cleanup: &Cleanup) -> String {
    let mut gone = Vec::new();
    gone.extend(cleanup.build.then(|| "all".to_owned()));
    gone.extend(cleanup.cloud_uploads.then(|| "cloud images".to_owned()));
    gone.extend(cleanup.images_kept.as_ref().map(|kept| match kept.is_empty() {
        true => "files".to_owned(),
        false => format!("files but {}", kept.join(", ")),
    }));
    gone.extend(cleanup.containers.then(|| "containers".to_owned()));
    gone.join("; ")
}
