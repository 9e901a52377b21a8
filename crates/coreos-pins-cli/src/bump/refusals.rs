//! What `bump` and `import` do not pin unless told to.

use std::collections::{BTreeMap, BTreeSet};

use coreos_pins_build::build_name::BuildName;
use coreos_pins_build::documents::ListedBuild;
use coreos_pins_build::pin::Pin;
use coreos_pins_build::policy;
use coreos_pins_build::stream::{Architecture, Stream};
use coreos_pins_build::{Error, quoted};

use crate::difference::Difference;
use crate::{hosts, items, order};

/// What is pinned although it would be refused.
#[derive(clap::Args, Debug, Default)]
pub(crate) struct Allowed {
    /// Pin a build that lacks regions, architectures, platforms, files, signatures or checksums of the pinned one
    #[arg(long)]
    pub(crate) allow_loss: bool,

    /// Pin a build that is older than the pinned one
    #[arg(long)]
    pub(crate) allow_downgrade: bool,

    /// Pin other contents under the id of the pinned build
    #[arg(long)]
    pub(crate) allow_republished: bool,

    /// Pin a build whose regions or files are of several releases
    #[arg(long)]
    pub(crate) allow_mixed: bool,

    /// Pin URLs at a host that is private, or by plain http; may be repeated
    #[arg(long, value_name = "HOST")]
    pub(crate) allow_host: Vec<String>,
}

/// A reason not to pin a build.
struct Refusal {
    /// What is wrong with the build, as the rest of a sentence.
    what: String,
    lines: Vec<String>,
    /// The flag that lifts it, or what to do where none does.
    lifted_by: Result<String, &'static str>,
}

/// Most lines that are shown for one reason.
const SHOWN: usize = 20;

/// Refuses what should not become the pin of `channel` in place of `old`. `listed` is upstream's list, as far as it is
/// known.
///
/// # Errors
///
/// All reasons at once, and the flags that lift them.
pub(crate) fn check(
    channel: &str,
    policy: &policy::Channel,
    old: Option<&Pin>,
    new: &Pin,
    listed: &[ListedBuild],
    allowed: &Allowed,
) -> Result<(), Error> {
    let mut refusals = Vec::new();
    refusals.extend(missing(policy, &new.stream, old.map(|pin| &pin.stream)));
    if let Some(old) = old {
        let difference = Difference::between(&old.stream, &new.stream);
        if !allowed.allow_loss {
            refusals.extend(loss(&difference, old, new));
        }
        if !allowed.allow_downgrade {
            refusals.extend(downgrade(old, new, listed));
        }
        if !allowed.allow_republished {
            refusals.extend(republished(&difference, old, new));
        }
    }
    if !allowed.allow_mixed {
        refusals.extend(mixed(&new.stream));
    }
    refusals.extend(bad_hosts(new, &allowed.allow_host));
    if refusals.is_empty() {
        return Ok(());
    }
    let build = BuildName::of(&new.stream.build_names());
    let mut error = Error::refused(format!("channel `{channel}`: build `{build}` is not pinned"));
    for Refusal { what, lines, .. } in &refusals {
        error = error.note(format!("it {what}"));
        error = lines.iter().take(SHOWN).fold(error, |error, line| error.note(format!("  {line}")));
        if lines.len() > SHOWN {
            error = error.note(format!("  and {} more", lines.len() - SHOWN));
        }
    }
    let flags: Result<Vec<String>, &str> = refusals.into_iter().map(|refusal| refusal.lifted_by).collect();
    Err(match flags {
        Ok(flags) => error.help(format!("if that is meant, pass {}", flags.join(" "))),
        Err(help) => error.help(help),
    })
}

/// A platform that the policy requires: on x86_64, and wherever the old pin has it.
fn missing(policy: &policy::Channel, new: &Stream, old: Option<&Stream>) -> Option<Refusal> {
    let has = |architecture: Option<&Architecture>, platform: &str| {
        architecture.is_some_and(|architecture| architecture.has_platform(platform))
    };
    let mut missing = Vec::new();
    for platform in &policy.require {
        let old_architectures = old.into_iter().flat_map(|old| &old.architectures);
        let wanted = old_architectures.filter(|(_, old)| has(Some(old), platform)).map(|(name, _)| name);
        let wanted: BTreeSet<&str> = wanted.chain(["x86_64"]).collect();
        let lacking = wanted.into_iter().filter(|name| !has(new.architectures.get(name), platform));
        missing.extend(lacking.map(|name| format!("{platform} on {name}")));
    }
    (!missing.is_empty()).then(|| Refusal {
        what: format!("lacks what the channel requires: {}", missing.join(", ")),
        lines: Vec::new(),
        lifted_by: Err("pin a complete build with `--build`, or change `require` in channels.json"),
    })
}

fn loss(difference: &Difference<'_>, old: &Pin, new: &Pin) -> Option<Refusal> {
    let lines = difference.losses(&old.stream, &new.stream);
    (!lines.is_empty()).then(|| Refusal {
        what: format!("lacks {} of what the pinned build has", lines.len()),
        lines,
        lifted_by: Ok("--allow-loss".to_owned()),
    })
}

fn downgrade(old: &Pin, new: &Pin, listed: &[ListedBuild]) -> Option<Refusal> {
    let old = old.stream.build_names();
    let mut older: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for (architecture, new) in new.stream.build_names() {
        if let Some(old) = old.get(architecture).filter(|old| **old != new)
            && order::is_older(new, old, listed)
        {
            older.entry((new, old)).or_default().push(architecture);
        }
    }
    (!older.is_empty()).then(|| Refusal {
        what: "is older than the pinned build, or nothing tells that it is newer".to_owned(),
        lines: (older.iter())
            .map(|((new, old), of)| format!("{}: {new}, pinned is {old}", of.join(", ")))
            .collect(),
        lifted_by: Ok("--allow-downgrade".to_owned()),
    })
}

fn republished(difference: &Difference<'_>, old: &Pin, new: &Pin) -> Option<Refusal> {
    let (old, new) = (old.stream.build_names(), new.stream.build_names());
    let lines = difference.republished(|architecture| {
        old.get(architecture).is_some_and(|build| new.get(architecture) == Some(build))
    });
    (!lines.is_empty()).then(|| Refusal {
        what: "has the id of the pinned build and other contents".to_owned(),
        lines,
        lifted_by: Ok("--allow-republished".to_owned()),
    })
}

/// Different releases within one architecture and platform.
fn mixed(stream: &Stream) -> Option<Refusal> {
    let mut releases: BTreeMap<(&str, &str), BTreeMap<&str, Vec<String>>> = BTreeMap::new();
    let items = items::of(stream);
    for item in &items {
        if let Some(release) = item.release {
            let of = releases.entry((item.key.architecture, item.key.platform)).or_default();
            of.entry(release).or_default().push(item.key.name.to_string());
        }
    }
    let mixed = releases.iter().filter(|(_, by_release)| by_release.len() > 1);
    let lines: Vec<String> = mixed
        .map(|((architecture, platform), by_release)| {
            let parts = by_release.iter().map(|(release, names)| match names.as_slice() {
                [a, b, c, _, ..] => format!("{release}: {a}, {b}, {c}, … ({})", names.len()),
                few => format!("{release}: {}", few.join(", ")),
            });
            format!("{architecture} {platform}: {}", parts.collect::<Vec<_>>().join("; "))
        })
        .collect();
    (!lines.is_empty()).then(|| Refusal {
        what: "is of several releases".to_owned(),
        lines,
        lifted_by: Ok("--allow-mixed".to_owned()),
    })
}

fn bad_hosts(new: &Pin, allowed: &[String]) -> Option<Refusal> {
    let faults = hosts::faults(new, allowed);
    (!faults.is_empty()).then(|| Refusal {
        what: "names hosts that are not public, or not by https".to_owned(),
        lines: faults.iter().map(hosts::Fault::line).collect(),
        lifted_by: match faults.iter().all(|fault| !fault.host.is_empty()) {
            true => Ok(hosts::flags(&faults)),
            false => {
                Err("pin a document whose URLs are https, or say with `--published-at` where it is published")
            }
        },
    })
}

/// Refuses a channel that is not pinned at all.
///
/// # Errors
///
/// It floats.
pub(crate) fn check_floats(channel: &str, policy: &policy::Channel) -> Result<(), Error> {
    if !policy.floats {
        return Ok(());
    }
    Err(Error::refused(format!("channel `{channel}` floats: it is not pinned"))
        .help("take `floats` out of channels.json to pin it"))
}

/// Refuses a channel that is on hold on the day `today`.
///
/// # Errors
///
/// It is: why, and how long.
pub(crate) fn check_hold(channel: &str, policy: &policy::Channel, today: &str) -> Result<(), Error> {
    match policy.hold.as_ref().filter(|hold| hold.holds_on(today)) {
        None => Ok(()),
        Some(hold) => {
            let until = hold.until.as_ref().map(|until| format!(" until {until}")).unwrap_or_default();
            Err(Error::refused(format!("channel `{channel}` is on hold{until}: {}", hold.reason))
                .help(format!("lift it: coreos-pins unhold {channel}")))
        }
    }
}

/// Returns `names`, each a channel of the policy.
///
/// # Errors
///
/// One that is not: it names those there are.
pub(crate) fn policy_of<'p>(
    policy: &'p policy::Policy,
    path: &std::path::Path,
    channel: &str,
) -> Result<&'p policy::Channel, Error> {
    policy.channels.get(channel).ok_or_else(|| {
        Error::invalid(format!("no channel `{channel}` in `{}`", path.display()))
            .note(format!("channels are {}", quoted(policy.channels.keys())))
            .help("name one of them, or add the channel to the file")
    })
}
