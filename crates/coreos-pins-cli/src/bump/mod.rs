//! `bump`: moves pins to other builds.

use std::path::{Path, PathBuf};

use clap::Args;
use coreos_pins_build::Error;
use coreos_pins_build::build_name::BuildName;
use coreos_pins_build::documents::ListedBuild;
use coreos_pins_build::pin::Pin;
use coreos_pins_build::pins::read_file;
use coreos_pins_build::policy::{self, Policy};
use coreos_pins_build::source::Source;
use coreos_pins_build::url::Url;

use crate::context::Context;
use crate::output::{Output, say, say_error, warn};
use crate::shell::quote;
use crate::side_by_side::side_by_side;
use crate::upstream::{Channel, Document, Upstream, build_ids};
use crate::write::{Batch, File};

pub(crate) mod refusals;
mod report;

use refusals::Allowed;
use report::Report;

/// Pin other builds of channels
///
/// Looks up the newest build of each channel where `channels.json` says, or the one that is named, checks it, shows what
/// changes, and writes the pin. All named channels are pinned, or none.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  coreos-pins bump stable\n  coreos-pins bump --all --dry-run\n  coreos-pins bump \
                        rhel-9 --build 9.8.20260403-0\n  coreos-pins bump stable --from stable.json --published-at \
                        https://builds.coreos.fedoraproject.org/streams/stable.json"
)]
pub(crate) struct Arguments {
    /// Channels of channels.json
    #[arg(required_unless_present = "all", value_name = "CHANNEL")]
    channels: Vec<String>,

    /// Every channel that does not float; one that is on hold is skipped
    #[arg(long, conflicts_with = "channels")]
    all: bool,

    /// The build to pin: an id, or ids per architecture; without it, the newest
    #[arg(long, value_name = "ID", conflicts_with = "all")]
    build: Option<String>,

    /// A document to pin in place of what upstream has: stream metadata, release.json, meta.json
    #[arg(long, value_name = "FILE|URL", conflicts_with = "all")]
    from: Option<String>,

    /// Where FILE is published; the pin records it
    #[arg(long, value_name = "URL", requires = "from")]
    published_at: Option<String>,

    /// Show what would change, and write nothing; exit status 1 if anything would
    #[arg(long)]
    dry_run: bool,

    /// Do as --dry-run does, in one line a channel
    #[arg(long)]
    check: bool,

    /// Print the summary as Markdown, for a pull request
    #[arg(long)]
    markdown: bool,

    #[command(flatten)]
    allowed: Allowed,
}

/// A channel that is to be bumped.
struct Target<'a> {
    name: &'a str,
    policy: &'a policy::Channel,
    /// The pin file as it is.
    file: File,
    old: Option<Pin>,
}

/// What is to be pinned.
struct Candidate {
    pin: Pin,
    /// Upstream's list of builds, as far as it is known.
    listed: Vec<ListedBuild>,
    warnings: Vec<String>,
}

/// Bumps channels. Writes nothing on an error.
pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Output, Error> {
    let dir = context.pins_dir()?;
    let path = dir.join(policy::FILE);
    let bytes = read_file(&path)
        .map_err(|error| error.help("bump pins the channels of `channels.json` only: write one first"))?;
    let policy = Policy::read(&path.display().to_string(), &bytes)?;
    let request = Request::of(arguments)?;
    let targets = targets(&dir, &path, &policy, arguments)?;
    let source = context.source()?;
    let look_up = |target: &Target<'_>| candidate(target, &dir, &source, &request);
    let candidates: Result<Vec<Candidate>, Error> =
        side_by_side(&targets, "looking up builds", look_up).into_iter().collect();

    let is_trial = arguments.dry_run || arguments.check;
    let mut batch = Batch::new(&dir);
    let mut reports = Vec::new();
    let mut refused = None;
    for (target, candidate) in targets.iter().zip(candidates?) {
        let Target { name, policy, file, old } = target;
        for warning in &candidate.warnings {
            warn(&format!("channel `{name}`: {warning}"));
        }
        let new = candidate.pin;
        if let Err(error) =
            refusals::check(name, policy, old.as_ref(), &new, &candidate.listed, &arguments.allowed)
        {
            say_error(&error);
            refused = Some(error);
        }
        let changed = batch.replace(file, new.to_text());
        reports.push(Report { channel: name, old: old.as_ref(), new, changed });
    }
    // Each was said when it was found.
    if refused.is_some() {
        return Ok(Output::no(""));
    }
    for report in &reports {
        report.say_dropped_keys();
    }
    let would_change = is_trial && reports.iter().any(|report| report.changed);
    if !is_trial {
        batch.write()?;
    }
    let text = if context.json {
        report::json(&reports, is_trial)
    } else if arguments.markdown {
        report::markdown(&reports, &command_line(arguments))
    } else {
        report::text(&reports, is_trial, arguments.check)
    };
    Ok(if would_change { Output::no(text) } else { Output::ok(text) })
}

/// What is asked of upstream.
enum Request {
    Build { name: BuildName, asked_by: &'static str },
    File { path: PathBuf, published_at: Url },
    Url(Url),
}

impl Request {
    fn of(arguments: &Arguments) -> Result<Self, Error> {
        if arguments.channels.len() > 1 && (arguments.build.is_some() || arguments.from.is_some()) {
            return Err(
                Error::invalid("--build and --from are for one channel").help("bump the channels one by one")
            );
        }
        match (&arguments.from, &arguments.build) {
            (Some(_), Some(_)) => {
                Err(Error::invalid("--from names a document, and with it the build")
                    .help("leave --build out"))
            }
            (None, None) => Ok(Self::Build { name: BuildName::Latest, asked_by: "channels.json" }),
            (None, Some(id)) => Ok(Self::Build { name: BuildName::parse(id)?, asked_by: "--build" }),
            (Some(from), None) if from.contains("://") => match &arguments.published_at {
                None => Ok(Self::Url(Url::parse(from)?)),
                Some(_) => {
                    Err(Error::invalid("--published-at is for a FILE: a URL is where it is published"))
                }
            },
            (Some(from), None) => match &arguments.published_at {
                Some(url) => Ok(Self::File { path: from.into(), published_at: published_at(url)? }),
                None => Err(Error::invalid(format!("`{from}` is a file of this machine"))
                    .help("say with `--published-at URL` where everybody can fetch it from")),
            },
        }
    }
}

/// Reads the address that a pin is to record.
pub(crate) fn published_at(url: &str) -> Result<Url, Error> {
    let is_plain = !url.contains(['@', '?', '#']);
    let has_odd_character = |c: char| c.is_control() || c.is_whitespace() || !c.is_ascii();
    let parsed = Url::parse(url).ok().filter(|url| !url.host().is_empty());
    parsed.filter(|_| is_plain && !url.contains(has_odd_character)).ok_or_else(|| {
        Error::invalid("--published-at: expected an https URL without user, query and fragment")
            .help("give the address that everybody can fetch the file from")
    })
}

fn targets<'a>(
    dir: &Path,
    path: &Path,
    policy: &'a Policy,
    arguments: &'a Arguments,
) -> Result<Vec<Target<'a>>, Error> {
    let today = Context::today();
    let mut named: Vec<(&str, &policy::Channel)> = Vec::new();
    if arguments.all {
        for (name, policy) in policy.channels.iter().filter(|(_, policy)| !policy.floats) {
            match refusals::check_hold(name, policy, &today) {
                Ok(()) => named.push((name, policy)),
                Err(error) => say(&format!("skipped: {}", error.lines().next().unwrap_or_default())),
            }
        }
    }
    for name in &arguments.channels {
        let policy = refusals::policy_of(policy, path, name)?;
        if named.iter().any(|(named, _)| named == name) {
            return Err(Error::invalid(format!("channel `{name}` is named twice")));
        }
        refusals::check_floats(name, policy)?;
        named.push((name, policy));
    }
    let mut targets = Vec::new();
    for (name, policy) in named {
        let file = File::read(&dir.join(format!("{name}.json")))?;
        let old =
            file.bytes().map(|bytes| Pin::read(&file.path().display().to_string(), bytes)).transpose()?;
        refusals::check_hold(name, policy, &today)?;
        targets.push(Target { name, policy, file, old });
    }
    Ok(targets)
}

/// Looks up what is to be pinned of `target`.
fn candidate(
    target: &Target<'_>,
    dir: &Path,
    source: &Source,
    request: &Request,
) -> Result<Candidate, Error> {
    let Target { name, policy, old, .. } = target;
    let channel = Channel { name, policy, pin: old.as_ref() };
    let Some(base_url) = policy.base_url.clone() else {
        return Err(Error::invalid(format!("channel `{name}` has no `base-url` in channels.json"))
            .help("add it: the URL that its documents are below"));
    };
    let Upstream { mut stream, mut sources, mut warnings } = match request {
        Request::Build { name, asked_by } => channel.find(source, name, asked_by)?,
        Request::Url(url) => channel.document(source, url)?,
        Request::File { path, published_at } => {
            let is_the_pin = |file: &Path| {
                file.canonicalize().is_ok_and(|file| path.canonicalize().is_ok_and(|p| p == file))
            };
            if is_the_pin(target.file.path()) {
                return Err(Error::invalid(format!(
                    "`{}` is the pin of channel `{name}` itself",
                    path.display()
                ))
                .help("give the document that it was made from"));
            }
            channel.take(Document::read(path)?, published_at, None)?
        }
    };
    sources.extend(channel.merge_marketplace(source, dir, &mut stream)?);
    let asks_upstream = !matches!(request, Request::File { .. });
    if asks_upstream {
        warnings.extend(channel.update_warnings(source, &stream));
    }
    let mut pin = Pin::new(stream, base_url, sources);
    if let Some(old) = old {
        let (from, to) = (&old.stream.stream, &pin.stream.stream);
        if from != to && ![*name, channel.upstream_name()].contains(&to.as_str()) {
            warnings.push(format!("the document is of the stream `{to}`, and the pinned one of `{from}`"));
        }
        // The payload that names this very build goes on naming it.
        if let (Some(old_header), Some(header), true) =
            (&old.header, &mut pin.header, old.stream == pin.stream)
        {
            header.release_image.clone_from(&old_header.release_image);
        }
    }
    // The list tells which build is older, and what of a build was deleted since.
    let is_other = old.as_ref().is_some_and(|old| old.stream.build_names() != pin.stream.build_names());
    let is_named = matches!(request, Request::Build { name, .. } if *name != BuildName::Latest);
    let mut listed = Vec::new();
    if asks_upstream && (is_other || is_named) {
        match channel.listing(source) {
            Ok(Ok(listing)) => {
                if is_named {
                    warnings.extend(channel.cleanup_warnings(&listing, &build_ids(&pin.stream))?);
                }
                listed = listing.builds;
            }
            // There is none: numbers tell.
            Ok(Err(_)) => {}
            Err(error) => {
                warnings.push(format!("no list of builds: {}", error.lines().next().unwrap_or_default()));
            }
        }
    }
    Ok(Candidate { pin, listed, warnings })
}

/// Returns the command that does the same again, without what only shows.
fn command_line(arguments: &Arguments) -> String {
    let mut words = vec!["coreos-pins".to_owned(), "bump".to_owned()];
    words.extend(arguments.channels.iter().cloned());
    let mut option = |name: &str, value: &Option<String>| {
        words.extend(value.iter().flat_map(|value| [name.to_owned(), value.clone()]));
    };
    option("--build", &arguments.build);
    option("--from", &arguments.from);
    option("--published-at", &arguments.published_at);
    let Allowed { allow_loss, allow_downgrade, allow_republished, allow_mixed, allow_host } =
        &arguments.allowed;
    for (flag, is_set) in [
        ("--all", arguments.all),
        ("--allow-loss", *allow_loss),
        ("--allow-downgrade", *allow_downgrade),
        ("--allow-republished", *allow_republished),
        ("--allow-mixed", *allow_mixed),
    ] {
        words.extend(is_set.then(|| flag.to_owned()));
    }
    words.extend(allow_host.iter().flat_map(|host| ["--allow-host".to_owned(), host.clone()]));
    words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")
}
