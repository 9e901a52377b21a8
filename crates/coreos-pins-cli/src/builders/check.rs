//! `check`: whether a build was made with the pinned container.

use std::path::PathBuf;

use clap::Args;
use coreos_pins_build::Error;
use coreos_pins_build::documents::Document;
use coreos_pins_build::pins::read_file;
use coreos_pins_build::reference::Reference;
use serde_json::json;

use super::{Builders, Stored};
use crate::context::Context;
use crate::output::{Output, say};

/// Check that a build was made with the pinned container
///
/// By the image that was run, or by the build's meta.json, which says the commit of the container. Sends no request.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  coreos-pins check stable --image \"$COREOS_ASSEMBLER_IMAGE\"\n  coreos-pins check \
                        stable --meta builds/latest/x86_64/meta.json"
)]
pub(crate) struct Arguments {
    /// The channel
    channel: String,

    /// The image that was run, by digest: the index, or that of an architecture
    #[arg(long, value_name = "REF", required_unless_present = "meta", conflicts_with = "meta")]
    image: Option<String>,

    /// The record of the build
    #[arg(long, value_name = "FILE")]
    meta: Option<PathBuf>,

    /// Only this builder, where there are several
    #[arg(long, value_name = "NAME")]
    builder: Option<String>,

    /// Another container is said, and is no fault
    #[arg(long)]
    allow_override: bool,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Output, Error> {
    let dir = context.pins_dir()?;
    let builders = Builders::read(&dir)?;
    builders.channel(&arguments.channel)?;
    let (builder, _) = builders.one(arguments.builder.as_deref())?;
    let channel = &arguments.channel;
    let Some(Stored { pin, .. }) = Stored::read(&dir, builder, channel, None)? else {
        return Err(Error::refused(format!("channel `{channel}` has no pin of builder `{builder}`")));
    };
    let fault = match (&arguments.image, &arguments.meta) {
        (Some(image), _) => {
            let reference = Reference::parse(image)?;
            match reference.digest() {
                None => Some(format!("`{image}` names no digest: what a tag was then cannot be told")),
                Some(digest) if digest == pin.digest => None,
                Some(digest) if pin.architectures.values().any(|child| child == digest) => None,
                Some(digest) => Some(format!("the build used {digest}, pinned is {}", pin.digest)),
            }
        }
        (None, Some(meta)) => from_record(meta, pin.revision.as_deref())?,
        (None, None) => None,
    };
    let is_pinned = fault.is_none();
    if let Some(fault) = &fault {
        say(&format!(
            "{}: channel `{channel}`: {fault}",
            if arguments.allow_override { "warning" } else { "error" }
        ));
    }
    let text = match (context.json, is_pinned) {
        (true, _) => format!(
            "{}\n",
            json!({ "version": 1, "channel": channel, "builder": builder, "pinned": is_pinned, "fault": fault })
        ),
        (false, true) => format!("{channel}: built with the pinned {builder}\n"),
        (false, false) => String::new(),
    };
    Ok(if is_pinned || arguments.allow_override { Output::ok(text) } else { Output::no(text) })
}

/// Says how the record in `meta` is not of a container of the commit `revision`.
fn from_record(meta: &std::path::Path, revision: Option<&str>) -> Result<Option<String>, Error> {
    let name = meta.display().to_string();
    let record = match Document::read(&name, &read_file(meta)?)? {
        Document::Record(record) => record,
        other => {
            return Err(Error::invalid(format!("{name}: expected a build record, found {}", other.kind())));
        }
    };
    let Some(revision) = revision else {
        return Ok(Some("the pin has no revision that could be compared".to_owned()));
    };
    Ok(match record.builder_git() {
        None => Some(format!("{name} does not say what it was built with")),
        Some(git) if git.commit != revision => {
            Some(format!("the build used commit {}, that of the pinned container is {revision}", git.commit))
        }
        Some(git) if git.is_dirty => {
            Some(format!("the build used commit {revision} with changes of somebody's own"))
        }
        Some(_) => None,
    })
}
