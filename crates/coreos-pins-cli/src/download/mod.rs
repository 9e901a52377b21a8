//! `download`: fetches the files of a pin, each whole and as pinned, or not at all.

use std::path::{Path, PathBuf};

use clap::Args;
use coreos_pins_build::Error;
use coreos_pins_build::pins::Pins;
use coreos_pins_build::url::Url;
use serde_json::json;

use crate::context::Context;
use crate::output::Output;

mod fetch;
mod keyring;
mod part;
mod progress;
mod select;
mod signature;

use fetch::{Done, Job};
use keyring::Keyring;
use signature::Signatures;

/// Fetch the pinned image, and verify it
///
/// The file is kept as it is stored, compressed or not. It has its name only when it is whole and its SHA-256 is the pin's;
/// until then its bytes are in a `.part` file beside it, from which another run goes on. A file that is there and has the
/// right sum is not fetched again; one with another sum is not replaced.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  coreos-pins download qemu\n  coreos-pins download metal --channel rhel-9 \
                        --arch arm64 --format iso --output images/\n  coreos-pins download qemu --keyring \
                        fedora.gpg\n\n`--format pxe` fetches all files of a network boot: kernel, initramfs, rootfs."
)]
pub(crate) struct Arguments {
    /// What the image is for: `qemu`, `metal`, `aws`, …
    platform: String,

    /// The channel [default: that of channels.json]
    #[arg(long)]
    channel: Option<String>,

    /// The architecture; `amd64` and `arm64` are understood
    #[arg(long, default_value = "x86_64")]
    arch: String,

    /// Which of the platform's formats; a compression may be left out: `qcow2` for `qcow2.xz`
    #[arg(long)]
    format: Option<String>,

    /// Where to [default: the name in the URL, in the working folder]
    #[arg(long, value_name = "FILE|DIR")]
    output: Option<PathBuf>,

    /// OpenPGP keys, armored or not: the file must be signed by one of them
    #[arg(long, value_name = "FILE")]
    keyring: Option<PathBuf>,
}

/// Downloads what `arguments` choose.
pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Output, Error> {
    let pins = Pins::load(&context.pins_dir()?)?;
    let files = select::select(&pins, arguments)?;
    let keyring = arguments.keyring.as_deref().map(Keyring::read).transpose()?;
    let source = context.source()?;
    let mut jobs = Vec::new();
    for file in &files {
        let url = Url::parse(&file.artifact.location)?;
        let target = target(arguments.output.as_deref(), &url, files.len() > 1)?;
        // Before the file, which is large: what cannot be verified need not be fetched.
        let signatures = match &keyring {
            Some(keyring) => Some(Signatures::fetch(file.artifact, &url, keyring, &source)?),
            None => None,
        };
        jobs.push((file.kind, Job { url, sha256: &file.artifact.sha256, target, signatures }));
    }
    let mut text = String::new();
    for (kind, job) in &jobs {
        let done = fetch::fetch(job, &source)?;
        text.push_str(&if context.json { as_json(kind, job, &done) } else { as_text(job, &done) });
    }
    Ok(Output::ok(text))
}

fn as_text(job: &Job<'_>, done: &Done) -> String {
    let what = if done.fetched { "downloaded" } else { "up to date" };
    let signed = done.signed_by.as_ref().map(|key| format!(", signed by {key}")).unwrap_or_default();
    format!("{}: {what}, {} bytes, sha256 {}{signed}\n", job.target.display(), done.bytes, job.sha256)
}

/// One object a line: a format may have several files.
fn as_json(kind: &str, job: &Job<'_>, done: &Done) -> String {
    let signature = if done.signed_by.is_some() { "good" } else { "not-checked" };
    let value = json!({
        "version": 1, "kind": kind, "path": job.target.to_string_lossy(), "url": job.url.to_string(),
        "sha256": job.sha256, "bytes": done.bytes, "downloaded": done.fetched, "signature": signature,
        "signed-by": done.signed_by,
    });
    format!("{value}\n")
}

/// Returns where the file at `url` goes.
fn target(output: Option<&Path>, url: &Url, is_one_of_several: bool) -> Result<PathBuf, Error> {
    let public = url.public();
    let path = public.split('?').next().and_then(|url| url.split_once("://")?.1.split_once('/'));
    let name = path.and_then(|(_, path)| path.rsplit('/').next());
    let name = name.filter(|name| !matches!(*name, "" | "." | ".."));
    let name = name.ok_or_else(|| {
        Error::invalid(format!("`{url}` ends in no file name")).help("name the file with --output FILE")
    });
    let Some(output) = output else { return name.map(PathBuf::from) };
    let missing = |folder: &Path| {
        Error::invalid(format!("--output: no folder `{}`", folder.display())).help("make it first")
    };
    if output.is_dir() {
        return name.map(|name| output.join(name));
    }
    if output.as_os_str().as_encoded_bytes().ends_with(b"/") {
        return Err(missing(output));
    }
    if is_one_of_several {
        return Err(Error::invalid(format!(
            "--output: `{}` is no folder, and there are several files",
            output.display()
        ))
        .help("name a folder that is there"));
    }
    match output.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => Err(missing(folder)),
        _ => Ok(output.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_gives_its_file_a_name_that_stays_in_the_folder() {
        let name = |url: &str| target(None, &Url::parse(url).unwrap(), false);
        for (url, expected) in [
            ("https://m/a/x.qcow2.xz", "x.qcow2.xz"),
            ("https://m/x?token=a/b", "x"),
            ("https://m/a/..%2fetc", "..%2fetc"),
            ("https://m/a/b\\..\\c", "b%5C..%5Cc"),
        ] {
            assert_eq!(name(url).unwrap(), Path::new(expected), "{url}");
        }
        for url in ["https://m", "https://m/", "https://m/a/..", "https://m/.", "https://m/a/?x"] {
            let error = name(url).unwrap_err().to_string();
            assert!(
                error.ends_with("ends in no file name\nhelp: name the file with --output FILE"),
                "{error}"
            );
        }
    }
}
