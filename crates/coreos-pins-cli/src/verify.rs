//! `verify`: whether the pins are what they should be, and still what upstream has.

use std::collections::BTreeMap;
use std::path::Path;

use clap::Args;
use coreos_pins_build::build_name::BuildName;
use coreos_pins_build::generate::generate;
use coreos_pins_build::mirror::at_mirror;
use coreos_pins_build::pin::Pin;
use coreos_pins_build::pins::{Pins, read_file};
use coreos_pins_build::policy::{self, Policy};
use coreos_pins_build::resolve::resolve;
use coreos_pins_build::settings::{Setting, Settings};
use coreos_pins_build::source::{Probe, Source};
use coreos_pins_build::url::Url;
use coreos_pins_build::{Error, quoted};
use serde_json::json;

use crate::builders::{self, Stored};
use crate::context::Context;
use crate::hosts;
use crate::items::{self, Kind};
use crate::output::{Output, say, warn};
use crate::pins::policy as read_policy;
use crate::registry::Registries;
use crate::side_by_side::side_by_side;
use crate::upstream::Channel;

/// Check the pins: their form, hosts and policy; with --online, that upstream still has them
///
/// Exit status: 0 all is well, 1 something is not, 3 upstream gave no answer.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  coreos-pins verify\n  coreos-pins verify --online stable\n  coreos-pins verify \
                        --embedded $(./installer --pins-sha256)"
)]
pub(crate) struct Arguments {
    /// Channels; without any, all that are pinned
    channels: Vec<String>,

    /// Resolve each pinned build again, and ask for every file and signature
    #[arg(long)]
    online: bool,

    /// The PINS_SHA256 of a binary: check that it was built from these very pins
    #[arg(long, value_name = "HEX")]
    embedded: Option<String>,

    /// Credentials for registries, in place of those that skopeo and podman go by
    #[arg(long, value_name = "FILE")]
    authfile: Option<std::path::PathBuf>,

    /// A host that is fine although it is private, or by plain http; may be repeated
    #[arg(long, value_name = "HOST")]
    allow_host: Vec<String>,
}

/// What was found wanting, by channel or file.
#[derive(Default)]
struct Findings {
    faults: Vec<(String, String)>,
    /// What could not be asked.
    unanswered: Vec<(String, String)>,
}

impl Findings {
    fn fault(&mut self, of: &str, what: impl Into<String>) {
        self.faults.push((of.to_owned(), what.into()));
    }

    /// Takes an error of the network for what it is.
    fn error(&mut self, of: &str, error: &Error) {
        let text = error.lines().collect::<Vec<_>>().join("; ");
        let to = if error.exit_status() == 3 { &mut self.unanswered } else { &mut self.faults };
        to.push((of.to_owned(), text));
    }
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Output, Error> {
    let dir = context.pins_dir()?;
    let policy = read_policy(&dir)?;
    let mut findings = Findings::default();
    let names = names(&dir, &arguments.channels)?;
    let mut pins: BTreeMap<String, Pin> = BTreeMap::new();
    for name in &names {
        let path = dir.join(format!("{name}.json"));
        // A channel may have builder pins only.
        if !path.exists() {
            continue;
        }
        let bytes = read_file(&path)?;
        match Pin::read(&path.display().to_string(), &bytes) {
            Ok(pin) => {
                if pin.to_text().as_bytes() != bytes {
                    findings.fault(name, "not in canonical form: `coreos-pins bump` would write it anew");
                }
                pins.insert(name.clone(), pin);
            }
            Err(error) => findings.error(name, &error),
        }
    }
    for (name, pin) in &pins {
        offline(name, pin, policy.as_ref(), &arguments.allow_host, &mut findings);
    }
    let mut builder_pins: Vec<(String, Stored)> = Vec::new();
    for (channel, builder) in builders::there(&dir)? {
        if !names.contains(&channel) {
            continue;
        }
        match Stored::read(&dir, &builder, &channel, None) {
            Ok(stored) => builder_pins.extend(stored.map(|stored| (channel, stored))),
            Err(error) => findings.error(&channel, &error),
        }
    }
    if let Some(embedded) = &arguments.embedded {
        check_embedded(&dir, embedded, &mut findings)?;
    }
    if findings.faults.is_empty()
        && let Some(channel) = pins.keys().next()
    {
        check_buildable(&dir, channel, &mut findings);
    }
    if arguments.online {
        let source = context.source()?;
        online(&pins, policy.as_ref(), &source, &mut findings);
        let credentials = Context::credentials(arguments.authfile.clone());
        let registries = Registries::new(&source, &credentials);
        let answers = side_by_side(&builder_pins, "asking for builders", |(_, stored)| {
            builders::lost(&registries, stored)
        });
        for ((channel, _), answer) in builder_pins.iter().zip(answers) {
            match answer {
                Ok(lost) => lost.into_iter().for_each(|line| findings.fault(channel, line)),
                Err(error) => findings.error(channel, &error),
            }
        }
    }
    Ok(report(&names, &findings, context.json))
}

/// Returns the channels to check.
fn names(dir: &Path, asked: &[String]) -> Result<Vec<String>, Error> {
    let mut there: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(|error| Error::io("read", dir, error))? {
        let entry = entry.map_err(|error| Error::io("read", dir, error))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name != policy::FILE && !name.starts_with('.') && !entry.path().is_dir() {
            there.extend(name.strip_suffix(".json").map(str::to_owned));
        }
    }
    there.extend(builders::there(dir)?.into_iter().map(|(channel, _)| channel));
    there.sort();
    there.dedup();
    if let Some(unknown) = asked.iter().find(|name| !there.contains(name)) {
        return Err(Error::invalid(format!("no pin of channel `{unknown}` in `{}`", dir.display()))
            .note(format!("pinned are {}", quoted(there.iter().map(String::as_str)))));
    }
    there.retain(|name| asked.is_empty() || asked.contains(name));
    Ok(there)
}

/// Checks what needs no network.
fn offline(name: &str, pin: &Pin, policy: Option<&Policy>, allowed: &[String], findings: &mut Findings) {
    for fault in hosts::faults(pin, allowed) {
        findings.fault(name, fault.line());
    }
    for item in items::of(&pin.stream) {
        let unpacked = item.get("uncompressed-sha256");
        if unpacked.is_some() && unpacked == item.get("sha256") {
            findings.fault(name, format!("{}: the same checksum packed and unpacked", item.key));
        }
    }
    let Some(policy) = policy.and_then(|policy| policy.channels.get(name)) else { return };
    if policy.floats {
        warn(&format!("channel `{name}` floats: its pin is not embedded"));
    }
    for platform in &policy.require {
        if !pin.stream.architectures.get("x86_64").is_some_and(|x86_64| x86_64.has_platform(platform)) {
            findings.fault(name, format!("lacks what channels.json requires: {platform} on x86_64"));
        }
    }
    let mut selected = pin.stream.clone();
    policy.select(&mut selected);
    if selected != pin.stream {
        findings.fault(name, "has architectures or platforms that channels.json does not select");
    }
    if let (Some(header), Some(base_url)) = (&pin.header, &policy.base_url) {
        if header.base_url.trim_end_matches('/') != base_url.trim_end_matches('/') {
            let old = &header.base_url;
            findings.fault(name, format!("base-url is `{old}`, and channels.json has `{base_url}`"));
        }
        stale_hosts(name, pin, [&header.base_url, base_url], allowed, findings);
    }
}

/// Files at another host than the channel's: of a mirror that was in use once.
fn stale_hosts(name: &str, pin: &Pin, bases: [&String; 2], allowed: &[String], findings: &mut Findings) {
    let host = |url: &str| Url::parse(url).ok().map(|url| url.host().to_owned());
    let mut expected: Vec<String> = bases.iter().filter_map(|url| host(url)).collect();
    expected.dedup();
    let mut stale: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for item in items::of(&pin.stream).iter().filter(|item| item.is_file()) {
        if let Some(found) = item.get("location").and_then(host)
            && !expected.contains(&found)
            && !allowed.contains(&found)
        {
            stale.entry(found).or_insert_with(|| (0, item.key.to_string())).0 += 1;
        }
    }
    for (host, (count, first)) in stale {
        let of = expected.join("` or `");
        findings
            .fault(name, format!("{count} of its files at `{host}`, not at `{of}`; the first is {first}"));
    }
}

/// Checks that constants can be made of the pins: names of channels may become the same in Rust.
fn check_buildable(dir: &Path, channel: &str, findings: &mut Findings) {
    let setting = Setting { variable: "verify", value: channel.to_owned() };
    let settings = Settings { default_channel: Some(setting), ..Settings::default() };
    let none = || Err(Error::no_answer("no build is looked up"));
    let generated =
        Pins::load(dir).and_then(|pins| resolve(&settings, pins, none)).and_then(|all| generate(&all));
    if let Err(error) = generated {
        findings.error("all", &error);
    }
}

/// Compares a binary's hash with that of the pins on disk.
fn check_embedded(dir: &Path, embedded: &str, findings: &mut Findings) -> Result<(), Error> {
    let embedded = embedded.trim();
    if embedded.len() != 64 || !embedded.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(Error::invalid(format!("--embedded: expected 64 hex digits, found `{embedded}`")));
    }
    let none = || Err(Error::no_answer("no build is looked up"));
    match Pins::load(dir).and_then(|pins| resolve(&Settings::default(), pins, none)) {
        Ok(resolved) => {
            let found = resolved.pins_sha256();
            if !found.eq_ignore_ascii_case(embedded) {
                findings.fault(
                    "PINS_SHA256",
                    format!("the binary has {embedded}, the pins on disk have {found}"),
                );
            }
        }
        Err(error) => findings.error("PINS_SHA256", &error),
    }
    Ok(())
}

/// Resolves each pinned build again, and asks for every file.
fn online(pins: &BTreeMap<String, Pin>, policy: Option<&Policy>, source: &Source, findings: &mut Findings) {
    let unknown = policy::Channel::default();
    let channels: Vec<Channel<'_>> = pins
        .iter()
        .map(|(name, pin)| {
            let policy = policy.and_then(|policy| policy.channels.get(name)).unwrap_or(&unknown);
            Channel { name, policy, pin: Some(pin) }
        })
        .collect();
    let answers = side_by_side(&channels, "resolving pinned builds", |channel| again(channel, source));
    for (channel, answer) in channels.iter().zip(answers) {
        match answer {
            Ok(differences) => {
                differences.into_iter().for_each(|difference| findings.fault(channel.name, difference));
            }
            Err(error) => findings.error(channel.name, &error),
        }
        for warning in channel.pin.map(|pin| channel.update_warnings(source, &pin.stream)).unwrap_or_default()
        {
            warn(&format!("channel `{}`: {warning}", channel.name));
        }
    }
    // A file that several pins name is asked for once.
    let mut urls: BTreeMap<&str, Vec<(&str, String)>> = BTreeMap::new();
    for (name, pin) in pins {
        for item in items::of(&pin.stream).iter().filter(|item| item.is_file()) {
            let members =
                item.members.iter().filter(|member| matches!(member.kind, Kind::Url | Kind::Signature));
            for member in members {
                urls.entry(member.value).or_default().push((name, format!("{} {}", item.key, member.name)));
            }
        }
    }
    let urls: Vec<(&str, Vec<(&str, String)>)> = urls.into_iter().collect();
    let probes = side_by_side(&urls, "asking for files", |(url, _)| source.probe(&Url::parse(url)?));
    for ((url, places), probe) in urls.iter().zip(probes) {
        match probe {
            Ok(Probe::Found { .. }) => {}
            Ok(Probe::NotThere { why }) => {
                for (name, place) in places {
                    findings.fault(name, format!("{place} is gone: {url}: {why}"));
                }
            }
            Err(error) => places.iter().take(1).for_each(|(name, _)| findings.error(name, &error)),
        }
    }
}

/// Resolves the pinned build of `channel` again, and returns how it differs.
fn again(channel: &Channel<'_>, source: &Source) -> Result<Vec<String>, Error> {
    let Some(pin) = channel.pin else { return Ok(Vec::new()) };
    let base = channel.base()?;
    let build = BuildName::of(&pin.stream.build_names());
    let found = channel.find(source, &build, &format!("{}.json", channel.name))?;
    let pinned_base = pin.header.as_ref().map_or_else(|| base.public(), |header| header.base_url.clone());
    Ok(match at_mirror(&pin.stream, &pinned_base, &found.stream, &base) {
        Ok(_) => Vec::new(),
        Err(differences) => differences,
    })
}

fn report(names: &[String], findings: &Findings, as_json: bool) -> Output {
    let status = match (findings.faults.is_empty(), findings.unanswered.is_empty()) {
        (false, _) => 1,
        (true, false) => 3,
        (true, true) => 0,
    };
    if as_json {
        let list = |list: &[(String, String)]| -> Vec<serde_json::Value> {
            list.iter().map(|(channel, what)| json!({ "channel": channel, "what": what })).collect()
        };
        let value = json!({ "version": 1, "ok": status == 0, "channels": names, "faults": list(&findings.faults),
                            "unanswered": list(&findings.unanswered) });
        return Output::document(format!("{value}\n")).with_status(status);
    }
    let mut text = String::new();
    for (channel, what) in &findings.faults {
        text += &format!("{channel}: {what}\n");
    }
    for (channel, what) in &findings.unanswered {
        say(&format!("error: {channel}: {what}"));
    }
    if status == 0 {
        for name in names {
            text += &format!("{name}: ok\n");
        }
    }
    Output::ok(text).with_status(status)
}
