//! `export`: pins in the forms that other tools take.

use std::fmt::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use coreos_pins_build::build_name::BuildName;
use coreos_pins_build::pin::Pin;
use coreos_pins_build::pins::Pins;
use coreos_pins_build::{Error, quoted};

use crate::context::Context;
use crate::output::Output;
use crate::pins::pin_of;
use crate::shell::quote;

/// Print a pin in a form that another tool takes
#[derive(Args)]
#[command(
    after_help = "Examples:\n  coreos-pins export stable --as stream > stable.json\n  eval \"$(coreos-pins export \
                        stable --as env)\"\n  coreos-pins export rhel-9 --as configmap | kubectl apply -f -"
)]
pub(crate) struct Arguments {
    /// The channel
    channel: String,

    /// The form
    #[arg(long = "as", value_name = "FORM")]
    form: Form,

    /// Which builder, where several are pinned
    #[arg(long, value_name = "NAME")]
    builder: Option<String>,

    /// What `build-args` calls the builder
    #[arg(long, value_name = "NAME", default_value = "BUILDER_IMG")]
    name: String,

    /// Write to this file in place of standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Form {
    /// Stream metadata, without the pin's own key
    Stream,
    /// Assignments for a shell: DEFAULT_CHANNEL, BUILD_NAME, BASE_URL; where they are pinned, RELEASE_IMAGE and
    /// COREOS_ASSEMBLER_IMAGE
    Env,
    /// The ConfigMap `coreos-bootimages` that OpenShift clusters have
    Configmap,
    /// The builder, as `.cosa-ref` has it: `image@digest`
    CosaRef,
    /// The builder, as `build-args.conf` has it: `BUILDER_IMG=image@digest`
    BuildArgs,
    /// The builder, as the configuration of Fedora CoreOS's pipeline has it
    Pipecfg,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Output, Error> {
    let dir = context.pins_dir()?;
    let pins = Pins::load(&dir)?;
    let channel = arguments.channel.as_str();
    let pin = || pin_of(&pins, &dir, channel);
    let text = match arguments.form {
        Form::Stream => pin()?.stream.to_text(),
        Form::Env => {
            // A channel may have builder pins only.
            let pin = if pins.builders.contains_key(channel) { pin().ok() } else { Some(pin()?) };
            let policy = pins.policy_of(channel).and_then(|policy| policy.base_url.as_deref());
            env(channel, pin, policy) + &builder_variables(&pins, channel)
        }
        Form::Configmap => configmap(pin()?),
        Form::CosaRef => format!("{}\n", builder(&pins, arguments)?),
        Form::BuildArgs => format!("{}={}\n", arguments.name, builder(&pins, arguments)?),
        Form::Pipecfg => {
            format!("streams:\n  {channel}:\n    cosa_img: {}\n", builder(&pins, arguments)?)
        }
    };
    match &arguments.output {
        None => Ok(Output::document(text)),
        Some(path) => {
            std::fs::write(path, text).map_err(|error| Error::io("write", path, error))?;
            Ok(Output::ok(""))
        }
    }
}

/// Returns the reference of the pinned builder.
fn builder(pins: &Pins, arguments: &Arguments) -> Result<String, Error> {
    let Arguments { channel, builder, .. } = arguments;
    let pinned: Vec<_> = pins.builders.get(channel).into_iter().flatten().collect();
    let names = || quoted(pinned.iter().map(|(name, _)| name.as_str()));
    let chosen: Vec<_> =
        pinned.iter().filter(|(name, _)| builder.as_ref().is_none_or(|builder| builder == *name)).collect();
    match chosen.as_slice() {
        [(_, pin)] => Ok(pin.reference()),
        [] if pinned.is_empty() => Err(Error::refused(format!("channel `{channel}` has no builder pin"))
            .help(format!("make one: coreos-pins promote SOURCE {channel}"))),
        [] => Err(Error::invalid("no such builder is pinned").note(format!("pinned are {}", names()))),
        _ => Err(Error::invalid("several builders are pinned")
            .note(format!("they are {}", names()))
            .help("name one with --builder")),
    }
}

/// Returns an assignment for each pinned builder: `COREOS_ASSEMBLER_IMAGE`.
fn builder_variables(pins: &Pins, channel: &str) -> String {
    let name = |builder: &str| {
        let upper = builder.to_uppercase().replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        format!("{upper}_IMAGE")
    };
    let pinned = pins.builders.get(channel).into_iter().flatten();
    pinned.map(|(builder, pin)| format!("{}={}\n", name(builder), quote(&pin.reference()))).collect()
}

/// Returns assignments for a shell. They are not exported: a build that sees `BASE_URL` looks the build up there.
fn env(channel: &str, pin: Option<&Pin>, policy_base_url: Option<&str>) -> String {
    let Some(pin) = pin else { return format!("DEFAULT_CHANNEL={}\n", quote(channel)) };
    let build = BuildName::of(&pin.stream.build_names()).to_string();
    let header = pin.header.as_ref();
    let base_url = header.map(|header| header.base_url.as_str()).or(policy_base_url);
    let release_image = header.and_then(|header| header.release_image.as_deref());
    let variables = [
        ("DEFAULT_CHANNEL", Some(channel)),
        ("BUILD_NAME", Some(build.as_str())),
        ("BASE_URL", base_url),
        ("RELEASE_IMAGE", release_image),
    ];
    let lines = variables.into_iter().filter_map(|(name, value)| Some(format!("{name}={}\n", quote(value?))));
    lines.collect()
}

/// Returns the ConfigMap that a release payload carries, with the stream as a literal block.
fn configmap(pin: &Pin) -> String {
    let mut text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: coreos-bootimages\n  namespace: \
                    openshift-machine-config-operator\ndata:\n  releaseVersion: 0.0.1-snapshot\n  stream: |\n"
        .to_owned();
    for line in pin.stream.to_text().lines() {
        text.push_str("    ");
        // YAML takes fewer characters than JSON; inside a string, which they are, JSON has a spelling for them.
        for c in line.chars() {
            let is_plain = matches!(c, ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}');
            match c {
                '\u{10000}'.. => text.push(c),
                _ if is_plain && !matches!(c, '\u{2028}' | '\u{2029}') => text.push(c),
                _ => {
                    let _ = write!(text, "\\u{:04x}", u32::from(c));
                }
            }
        }
        text.push('\n');
    }
    text
}
