//! `import`: a first pin, from a document that people have already.

use std::path::PathBuf;

use clap::Args;
use coreos_pins_build::Error;
use coreos_pins_build::build_name::{BuildName, rpm_architecture};
use coreos_pins_build::pin::Pin;
use coreos_pins_build::pins::read_file;
use coreos_pins_build::policy;
use coreos_pins_build::url::{Base, Url};
use serde_json::json;

use crate::builders;
use crate::bump::published_at;
use crate::bump::refusals::{self, Allowed};
use crate::context::Context;
use crate::output::Output;
use crate::pins::policy as read_policy;
use crate::upstream::{Channel, Document};
use crate::write::{Batch, File};

/// Make a pin that is not there yet, of a document that you have
///
/// Stream metadata, release.json, meta.json and the installer's old rhcos.json are read. With --channel, so are
/// `.cosa-ref`, `build-args.conf` and a pipeline's configuration: the image that they name becomes the channel's builder
/// pin. A pin that is there is never replaced.
#[derive(Args)]
#[command(after_help = "Example:\n  coreos-pins import rhcos.json --channel rhel-9 --published-at \
                        https://raw.githubusercontent.com/openshift/installer/COMMIT/data/data/coreos/coreos-rhel-9.json")]
pub(crate) struct Arguments {
    /// The document
    file: PathBuf,

    /// The channel to pin [default: the document's `stream`]
    #[arg(long, value_name = "NAME")]
    channel: Option<String>,

    /// The architecture of a document that does not say [default: x86_64]
    #[arg(long)]
    arch: Option<String>,

    /// Where the document is published; the pin records it
    #[arg(long, value_name = "URL")]
    published_at: Option<String>,

    /// Where the channel's documents are, if channels.json does not say
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,

    #[command(flatten)]
    allowed: Allowed,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Output, Error> {
    // What is no JSON may be one of the files that name builders.
    let bytes = read_file(&arguments.file)?;
    if let (Ok(text), Some(channel)) = (std::str::from_utf8(&bytes), &arguments.channel)
        && !text.trim_start_matches('\u{feff}').trim_start().starts_with(['{', '[', '<'])
    {
        return builders::import::run(context, &arguments.file, text, channel);
    }
    let dir = context.pins_dir()?;
    let policy = read_policy(&dir)?;
    let published = arguments.published_at.as_deref().map(published_at).transpose()?;
    let document = Document::read(&arguments.file)?;
    let name = match (&arguments.channel, document.stream_name()) {
        (Some(name), _) => name.clone(),
        (None, Some(name)) => name.to_owned(),
        (None, None) => {
            let file = arguments.file.display();
            return Err(Error::invalid(format!("`{file}` does not say which channel it is of"))
                .help("name it with --channel"));
        }
    };
    if !policy::is_file_name(&name) {
        return Err(
            Error::invalid(format!("`{name}` is no name for a channel")).help("name it with --channel")
        );
    }
    let file = File::read(&dir.join(format!("{name}.json")))?;
    if file.bytes().is_some() {
        return Err(Error::refused(format!("channel `{name}` is pinned already"))
            .help(format!("move the pin: coreos-pins bump {name} --from FILE --published-at URL")));
    }
    let unknown = policy::Channel::default();
    let policy = policy.as_ref().and_then(|policy| policy.channels.get(&name)).unwrap_or(&unknown);
    refusals::check_floats(&name, policy)?;
    let base_url = match (&arguments.base_url, &policy.base_url, document.pinned_base_url()) {
        (Some(url), ..) => Base::parse("--base-url", url)?.public(),
        (None, Some(url), _) => url.clone(),
        (None, None, Some(url)) => url.to_owned(),
        (None, None, None) => {
            return Err(Error::invalid(format!("nothing says where the documents of channel `{name}` are"))
                .help("pass --base-url URL, or give the channel a `base-url` in channels.json"));
        }
    };
    let channel = Channel { name: &name, policy, pin: None };
    let arch = arguments.arch.as_deref().map(rpm_architecture);
    // A file that is published nowhere has nothing beside it.
    let nowhere = Url::parse("file:///")?;
    let mut upstream = channel.take(document, published.as_ref().unwrap_or(&nowhere), arch)?;
    if published.is_none() {
        upstream.sources.clear();
    }
    let pin = Pin::new(upstream.stream, base_url, upstream.sources);
    refusals::check(&name, policy, None, &pin, &[], &arguments.allowed)?;
    let mut batch = Batch::new(&dir);
    batch.replace(&file, pin.to_text());
    batch.write()?;
    let build = BuildName::of(&pin.stream.build_names()).to_string();
    Ok(if context.json {
        Output::document(format!(
            "{}\n",
            json!({ "version": 1, "channel": name, "new": build, "changed": true })
        ))
    } else {
        Output::ok(format!("{name}: pinned build {build}\n"))
    })
}
