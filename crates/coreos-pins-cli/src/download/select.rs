//! Which files of which pin.

use coreos_pins_build::build_name::rpm_architecture;
use coreos_pins_build::pin::Pin;
use coreos_pins_build::pins::Pins;
use coreos_pins_build::settings::FALLBACK_CHANNEL;
use coreos_pins_build::stream::{Artifact, Platform};
use coreos_pins_build::{Error, quoted};

use super::Arguments;

/// A file of a pin.
pub(super) struct File<'a> {
    /// `disk`, `kernel`, `initramfs`, `rootfs`.
    pub(super) kind: &'static str,
    pub(super) artifact: &'a Artifact,
}

/// Returns the files that `arguments` choose: one, or those of a network boot.
pub(super) fn select<'a>(pins: &'a Pins, arguments: &Arguments) -> Result<Vec<File<'a>>, Error> {
    let default = pins.policy.as_ref().and_then(|policy| policy.default.as_deref());
    let channel = arguments.channel.as_deref().or(default).unwrap_or(FALLBACK_CHANNEL);
    let pin = pin(pins, channel)?;
    let name = rpm_architecture(&arguments.arch);
    let architectures = &pin.stream.architectures;
    let architecture = architectures.get(name).ok_or_else(|| {
        Error::refused(format!("channel `{channel}` has nothing for `{name}`"))
            .note(format!("architectures are {}", quoted(architectures.keys())))
    })?;
    let place = format!("platform `{}` of channel `{channel}` on {name}", arguments.platform);
    let platform = architecture.artifacts.get(&arguments.platform).ok_or_else(|| {
        Error::refused(format!("there are no files for {place}"))
            .note(format!("platforms with files are {}", quoted(architecture.artifacts.keys())))
    })?;
    let format = match &arguments.format {
        Some(format) => named(platform, format, &place)?,
        None => only(platform, &place)?,
    };
    Ok(platform
        .artifacts()
        .filter(|(name, ..)| *name == format)
        .map(|(_, kind, artifact)| File { kind, artifact })
        .collect())
}

fn pin<'a>(pins: &'a Pins, channel: &str) -> Result<&'a Pin, Error> {
    if let Some(pin) = pins.pins.get(channel) {
        return Ok(pin);
    }
    let there_is = format!("pinned channels are {}", quoted(pins.names()));
    Err(match pins.policy_of(channel) {
        Some(policy) if policy.floats => {
            Error::refused(format!("channel `{channel}` floats: no image of it is pinned")).note(there_is)
        }
        Some(_) => Error::refused(format!("channel `{channel}` is not pinned"))
            .note(there_is)
            .help(format!("pin it with `coreos-pins bump {channel}`")),
        None => Error::invalid(format!("no channel `{channel}`"))
            .note(there_is)
            .help("name one of them with --channel"),
    })
}

/// Returns the formats that have files, each once.
fn formats(platform: &Platform) -> Vec<&str> {
    let mut names: Vec<&str> = platform.artifacts().map(|(format, ..)| format).collect();
    names.dedup();
    names
}

/// Returns the format called `wanted`, or the only one that is called so when its compression is left out.
fn named<'a>(platform: &'a Platform, wanted: &str, place: &str) -> Result<&'a str, Error> {
    const COMPRESSIONS: [&str; 5] = [".gz", ".xz", ".zst", ".zip", ".bz2"];
    let formats = formats(platform);
    if let Some(format) = formats.iter().find(|format| **format == wanted) {
        return Ok(format);
    }
    let unpacked = |format: &&&str| COMPRESSIONS.iter().any(|end| format.strip_suffix(end) == Some(wanted));
    let mut near = formats.iter().filter(unpacked);
    match (near.next(), near.next()) {
        (Some(format), None) => Ok(format),
        _ => Err(Error::refused(format!("{place} has no format `{wanted}`"))
            .note(format!("formats are {}", quoted(formats)))),
    }
}

/// Returns the format of the platform's only disk; without a disk, the only format.
fn only<'a>(platform: &'a Platform, place: &str) -> Result<&'a str, Error> {
    let disks: Vec<&str> =
        platform.artifacts().filter(|(_, kind, _)| *kind == "disk").map(|(format, ..)| format).collect();
    let formats = formats(platform);
    match (disks.as_slice(), formats.as_slice()) {
        ([format], _) | ([], [format]) => Ok(format),
        (_, []) => Err(Error::refused(format!("there are no files for {place}"))),
        _ => Err(Error::invalid(format!("{place} has several formats: {}", quoted(formats.iter().copied())))
            .help(format!("choose one, as in --format {}", disks.first().unwrap_or(&formats[0])))),
    }
}
