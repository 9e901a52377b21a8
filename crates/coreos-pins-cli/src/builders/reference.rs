//! `ref`: the container to run, always by digest.

use clap::Args;
use coreos_pins_build::Error;
use coreos_pins_build::build_name::rpm_architecture;
use coreos_pins_build::builder::Index;
use coreos_pins_build::quoted;
use coreos_pins_build::reference::Reference;
use serde_json::json;

use super::{Builders, Stored, look_up};
use crate::context::Context;
use crate::output::{Output, say};
use crate::registry::Registries;

/// The variable of pipelines that names another container than the pinned one.
pub(super) const OVERRIDE: &str = "COREOS_ASSEMBLER_IMAGE";

/// Print the container that builds a channel, by digest
///
/// Ask once, and give the answer to the jobs of all architectures: a tag may move while they run.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  coreos-pins ref stable\n  podman run $(coreos-pins ref testing --arch arm64) …"
)]
pub(crate) struct Arguments {
    /// The channel
    channel: String,

    /// Only this builder, where there are several
    #[arg(long, value_name = "NAME")]
    builder: Option<String>,

    /// The image of one architecture, in place of the index
    #[arg(long)]
    arch: Option<String>,

    /// Another container, for a hot fix [default: COREOS_ASSEMBLER_IMAGE, if it is set]
    #[arg(long = "override", value_name = "REF")]
    other: Option<String>,

    /// Credentials for registries, in place of those that skopeo and podman go by
    #[arg(long, value_name = "FILE")]
    authfile: Option<std::path::PathBuf>,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Output, Error> {
    let dir = context.pins_dir()?;
    let builders = Builders::read(&dir)?;
    let channel = builders.channel(&arguments.channel)?;
    let (builder, policy) = builders.one(arguments.builder.as_deref())?;
    let documents = context.source()?;
    let credentials = Context::credentials(arguments.authfile.clone());
    let registries = Registries::new(&documents, &credentials);
    let variable = Context::variable(OVERRIDE)?;
    let (other, by) = match (&arguments.other, &variable) {
        (Some(other), _) => (Some(other), "--override"),
        (None, other) => (other.as_ref(), OVERRIDE),
    };
    let (reference, index, media_type, origin) = if let Some(other) = other {
        let reference = Reference::parse(other).map_err(|error| error.note(format!("asked for by {by}")))?;
        let manifest = look_up::index(&registries, &reference)?;
        say(&format!(
            "warning: `{}` builds channel `{}`, not its pin (asked for by {by})",
            reference, arguments.channel
        ));
        (
            format!("{}@{}", reference.image(), manifest.digest),
            manifest.bytes,
            manifest.media_type,
            "override",
        )
    } else if let Some(Stored { pin, index, .. }) = Stored::read(&dir, builder, &arguments.channel, None)? {
        (pin.reference(), index.into_bytes(), pin.media_type, "pin")
    } else if channel.floats {
        let reference = Reference::parse(&format!("{}:{}", policy.image, policy.tag))?;
        let manifest = look_up::index(&registries, &reference)?;
        (
            format!("{}@{}", reference.image(), manifest.digest),
            manifest.bytes,
            manifest.media_type,
            "floating",
        )
    } else {
        return Err(Error::refused(format!(
            "channel `{}` has no pin of builder `{builder}`, and does not float",
            arguments.channel
        ))
        .help(format!("promote to it: coreos-pins promote SOURCE {}", arguments.channel)));
    };
    let architectures = Index::read(&reference, &index, &media_type)?.architectures(&reference)?;
    let reference = match arguments.arch.as_deref().map(rpm_architecture) {
        None => reference,
        Some(name) => match (architectures.get(name), reference.split_once('@')) {
            (Some(digest), Some((image, _))) => format!("{image}@{digest}"),
            _ => {
                return Err(Error::refused(format!("`{reference}` has nothing for `{name}`"))
                    .note(format!("it has {}", quoted(architectures.keys()))));
            }
        },
    };
    Ok(if context.json {
        let value = json!({ "version": 1, "channel": arguments.channel, "builder": builder, "reference": reference,
                            "origin": origin, "architectures": architectures });
        Output::document(format!("{value}\n"))
    } else {
        Output::ok(format!("{reference}\n"))
    })
}
