//! A first builder pin, of the files that people name builders in: `.cosa-ref`, `build-args.conf`, a pipeline's
//! configuration.

use std::collections::BTreeSet;
use std::path::Path;

use coreos_pins_build::Error;
use coreos_pins_build::reference::Reference;

use super::{Builders, Stored, look_up, write};
use crate::context::Context;
use crate::output::Output;
use crate::registry::Registries;

/// Returns the one reference that `text` names by digest; of a file with one line only, also by tag.
///
/// # Errors
///
/// None, or several.
fn reference_in(file: &str, text: &str) -> Result<Reference, Error> {
    let lines: Vec<&str> =
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    // `BUILDER_IMG=REF`, `cosa_img: REF`, or the reference itself.
    let value = |line: &str| {
        let value = match (line.split_once('='), line.split_once(": ")) {
            (Some((name, value)), _) if !name.contains(['/', '@']) => value,
            (_, Some((_, value))) => value,
            _ => line,
        };
        value.trim().trim_matches(['"', '\'']).to_owned()
    };
    let by_digest: BTreeSet<String> =
        lines.iter().map(|line| value(line)).filter(|value| value.contains("@sha256:")).collect();
    match (by_digest.len(), lines.as_slice()) {
        (1, _) => Reference::parse(&by_digest.into_iter().next().unwrap_or_default()),
        (0, [line]) => Reference::parse(&value(line)),
        (0, _) => Err(Error::invalid(format!("`{file}` names no image by digest"))),
        (several, _) => Err(Error::invalid(format!("`{file}` names {several} images by digest"))
            .help("name the one that is meant: coreos-pins set CHANNEL REF --reason …")),
    }
}

/// Makes the builder pin of `channel` that `file` names, if there is none yet. Its guard is made by `coreos-pins guard`.
///
/// # Errors
///
/// No answer, no reference, what would be refused by a promotion, or a pin that is there.
pub(crate) fn run(context: &Context, file: &Path, text: &str, channel: &str) -> Result<Output, Error> {
    let dir = context.pins_dir()?;
    let builders = Builders::read(&dir)?;
    let decided = builders.channel(channel)?;
    let (builder, policy) = builders.one(None)?;
    if decided.floats {
        return Err(Error::refused(format!("channel `{channel}` floats: nothing is pinned for it")));
    }
    if Stored::read(&dir, builder, channel, None)?.is_some() {
        return Err(Error::refused(format!("builder `{builder}` is pinned for channel `{channel}` already"))
            .help("replace it: coreos-pins promote, or coreos-pins set"));
    }
    let reference = reference_in(&file.display().to_string(), text)?;
    let documents = context.source()?;
    let credentials = Context::credentials(None);
    let registries = Registries::new(&documents, &credentials);
    let stored = look_up::pin(&registries, &reference, policy, false)?;
    let said = stored.pin.reference();
    write(&dir, &[(builder, channel, stored)])?;
    Ok(match context.json {
        true => {
            let value = serde_json::json!({ "version": 1, "channel": channel, "builder": builder, "reference": said, "changed": true });
            Output::document(format!("{value}\n"))
        }
        false => Output::ok(format!("{channel}: {builder}: {said}\n")),
    })
}

#[cfg(test)]
mod tests {
    use super::reference_in;

    #[test]
    fn the_reference_is_found_however_it_is_written() {
        let by_digest = format!("quay.io/a/b@sha256:{}", "0".repeat(64));
        for text in [
            format!("{by_digest}\n"),
            format!("# builder\nSTREAM=stable\nBUILDER_IMG={by_digest}\n"),
            format!("streams:\n  stable:\n    cosa_img: \"{by_digest}\"\n"),
            format!("COREOS_ASSEMBLER_IMAGE='{by_digest}'\n"),
            format!("{by_digest}\nX={by_digest}\n"),
        ] {
            assert_eq!(reference_in("f", &text).unwrap().to_string(), by_digest, "{text}");
        }
        assert_eq!(
            reference_in("f", "quay.io/a/b:fcos-0123456789\n").unwrap().tag(),
            Some("fcos-0123456789")
        );
        let other = by_digest.replace('0', "1");
        for text in ["", "a b", "X=1\nY=2\n", &format!("{by_digest}\n{other}\n")] {
            assert!(reference_in("f", text).is_err(), "{text}");
        }
    }
}
