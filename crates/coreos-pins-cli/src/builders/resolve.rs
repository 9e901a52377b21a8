//! `resolve`: what a tag is right now, by digest.

use clap::Args;
use coreos_pins_build::Error;
use coreos_pins_build::builder::Index;
use coreos_pins_build::reference::Reference;
use serde_json::json;

use super::Builders;
use crate::context::Context;
use crate::output::Output;
use crate::registry::Registries;

/// Print what a reference to an image is now, by digest
#[derive(Args)]
#[command(
    after_help = "Examples:\n  coreos-pins resolve quay.io/coreos-assembler/coreos-assembler:main\n  coreos-pins \
                        resolve --builder coreos-assembler"
)]
pub(crate) struct Arguments {
    /// The image [default: image and tag of the builder in channels.json]
    reference: Option<String>,

    /// Which builder, where there are several
    #[arg(long, value_name = "NAME")]
    builder: Option<String>,

    /// Credentials for registries, in place of those that skopeo and podman go by
    #[arg(long, value_name = "FILE")]
    authfile: Option<std::path::PathBuf>,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Output, Error> {
    let reference = match &arguments.reference {
        Some(reference) => Reference::parse(reference)?,
        None => {
            let builders = Builders::read(&context.pins_dir()?)?;
            let (_, policy) = builders.one(arguments.builder.as_deref())?;
            Reference::parse(&format!("{}:{}", policy.image, policy.tag))?
        }
    };
    let documents = context.source()?;
    let credentials = Context::credentials(arguments.authfile.clone());
    let registries = Registries::new(&documents, &credentials);
    let Some(manifest) = registries.manifest(&reference)? else {
        return Err(Error::refused(format!("no image `{reference}`")));
    };
    let resolved = format!("{}@{}", reference.image(), manifest.digest);
    if !context.json {
        return Ok(Output::ok(format!("{resolved}\n")));
    }
    let architectures = match manifest.is_index() {
        true => {
            Some(Index::read(&resolved, &manifest.bytes, &manifest.media_type)?.architectures(&resolved)?)
        }
        false => None,
    };
    let value = json!({ "version": 1, "reference": resolved, "digest": manifest.digest,
                        "media-type": manifest.media_type, "architectures": architectures });
    Ok(Output::document(format!("{value}\n")))
}
