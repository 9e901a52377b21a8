//! One file: fetched, or found to be there.

use std::path::PathBuf;

use coreos_pins_build::Error;
use coreos_pins_build::source::{Download, Source};
use coreos_pins_build::url::Url;

use super::part::{self, Part};
use super::progress;
use super::signature::Signatures;

/// What is to be where.
pub(super) struct Job<'a> {
    pub(super) url: Url,
    pub(super) sha256: &'a str,
    pub(super) target: PathBuf,
    /// Where they are to be verified.
    pub(super) signatures: Option<Signatures<'a>>,
}

/// What is there now.
pub(super) struct Done {
    pub(super) bytes: u64,
    /// It was not there before.
    pub(super) fetched: bool,
    /// The fingerprint of the key, where a signature was verified.
    pub(super) signed_by: Option<String>,
}

pub(super) fn fetch(job: &Job<'_>, source: &Source) -> Result<Done, Error> {
    if let Some(done) = existing(job)? {
        return Ok(done);
    }
    let mut part = Part::open(&job.target, job.sha256)?;
    // Another run may have finished before this one got the lock.
    if let Some(done) = existing(job).transpose() {
        part.leave();
        return done;
    }
    // What an earlier run got whole, and did not come to name, is not asked for.
    if part.sha256() != job.sha256 {
        part = receive(job, source, part)?;
    }
    let found = part.sha256();
    if found != job.sha256 {
        let error = Error::refused(format!("`{}` is not the file that is pinned", job.url))
            .note(format!("expected sha256 {}", job.sha256))
            .note(format!("found    sha256 {found}, of {} bytes", part.length()));
        let error = match part.is_resumed {
            true => error.help("its beginning was of an earlier run; run this again to fetch all of it"),
            false => error,
        };
        part.remove();
        return Err(error);
    }
    let signed_by = match job.signatures.as_ref().map(|signatures| signatures.verify(part.path())) {
        None => None,
        Some(Ok(key)) => Some(key),
        Some(Err(error)) => {
            part.remove();
            return Err(error);
        }
    };
    let bytes = part.length();
    part.keep_as(&job.target)?;
    Ok(Done { bytes, fetched: true, signed_by })
}

/// Returns what is there under the file's name, if that is the file. Anything else is left alone, and an error.
fn existing(job: &Job<'_>) -> Result<Option<Done>, Error> {
    let Some((bytes, found)) = part::sum_of(&job.target)? else { return Ok(None) };
    if found != job.sha256 {
        return Err(Error::refused(format!("`{}` is there, and is another file", job.target.display()))
            .note(format!("expected sha256 {}", job.sha256))
            .note(format!("found    sha256 {found}, of {bytes} bytes"))
            .help("remove it, or name another with --output"));
    }
    let signed_by = job.signatures.as_ref().map(|signatures| signatures.verify(&job.target)).transpose()?;
    Ok(Some(Done { bytes, fetched: false, signed_by }))
}

fn receive(job: &Job<'_>, source: &Source, mut part: Part) -> Result<Part, Error> {
    let name = job.target.file_name().unwrap_or_default().to_string_lossy();
    let bar = progress::bar(&name);
    let received = source.download(&job.url, part.length(), &mut |piece| part.take(piece, &bar));
    bar.finish_and_clear();
    match received {
        Ok(Download::Done) => Ok(part),
        Ok(Download::NotThere { why }) => {
            part.leave();
            Err(Error::refused(format!("`{}` is not there: {why}", job.url))
                .help("old builds are deleted upstream; pin a newer one with `coreos-pins bump`"))
        }
        Err(error) => {
            part.leave();
            Err(error)
        }
    }
}
