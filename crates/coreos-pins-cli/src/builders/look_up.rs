//! What a tag or digest of a builder is, asked of its registry and checked as far as can be.

use std::collections::BTreeSet;

use coreos_pins_build::build_name::rpm_architecture;
use coreos_pins_build::builder::{BuilderPin, Index};
use coreos_pins_build::json::{self, Map, Value};
use coreos_pins_build::policy;
use coreos_pins_build::reference::Reference;
use coreos_pins_build::{Error, quoted};

use super::Stored;
use crate::registry::{Manifest, Registries};

/// Most bytes of a config: labels and history.
const CONFIG_LIMIT: u64 = 8 * 1024 * 1024;

/// The label and annotation by which quay.io removes tags after a while, also those that are made later.
const EXPIRES: &str = "quay.expires-after";

/// Fetches the index that `reference` names.
///
/// # Errors
///
/// There is none, or a single image, which is no pin for several architectures.
pub(super) fn index(registries: &Registries<'_>, reference: &Reference) -> Result<Manifest, Error> {
    let Some(manifest) = registries.manifest(reference)? else {
        return Err(Error::refused(format!("no image `{reference}`"))
            .help("check the tag: `skopeo list-tags` lists them"));
    };
    if !manifest.is_index() {
        return Err(Error::refused(format!("`{reference}` is an image of one architecture, not an index"))
            .note(format!("it is `{}`, served as `{}`", manifest.digest, manifest.media_type))
            .help("name the index, which has an image an architecture"));
    }
    Ok(manifest)
}

/// Looks up what `reference` names, and makes a pin of it, of the builder that `policy` is for.
///
/// # Errors
///
/// No answer; an index that lacks an architecture, whose images are of different commits, or that expires; an image that
/// the index names and the registry has not.
pub(super) fn pin(
    registries: &Registries<'_>,
    reference: &Reference,
    policy: &policy::Builder,
    allow_expiring: bool,
) -> Result<Stored, Error> {
    let manifest = index(registries, reference)?;
    let document = format!("{}@{}", reference.image(), manifest.digest);
    let index = Index::read(&document, &manifest.bytes, &manifest.media_type)?;
    let architectures = index.architectures(&document)?;
    let wanted = policy.architectures.iter().map(|name| rpm_architecture(name));
    let missing: Vec<&str> = wanted.filter(|name| !architectures.contains_key(name)).collect();
    if !missing.is_empty() {
        return Err(Error::refused(format!("`{document}` has nothing for {}", quoted(missing)))
            .note(format!("it has {}", quoted(architectures.keys())))
            .help(
                "wait until it is pushed whole, or change `architectures` of the builder in channels.json",
            ));
    }
    let mut facts: Vec<(&str, Facts)> = Vec::new();
    for (name, digest) in architectures.iter() {
        let child = Reference::parse(&format!("{}@{digest}", reference.image()))?;
        facts.push((name, Facts::of(registries, &child, name, &document)?));
    }
    let expiring = facts.iter().find_map(|(name, facts)| Some((*name, facts.expires.clone()?)));
    let expiring =
        expiring.or_else(|| annotation(&manifest.bytes, EXPIRES).map(|after| ("the index", after)));
    if let Some((name, after)) = expiring.filter(|_| !allow_expiring) {
        return Err(Error::refused(format!(
            "`{document}` expires after {after}, and so would every tag that guards it"
        ))
        .note(format!("`{EXPIRES}` is set on {name}"))
        .help("pin an image without it, or pass --allow-expiring"));
    }
    let revisions: BTreeSet<Option<&str>> =
        facts.iter().map(|(_, facts)| facts.revision.as_deref()).collect();
    if revisions.len() > 1 {
        let error = Error::refused(format!("`{document}` has images of different commits"));
        return Err(facts.iter().fold(error, |error, (name, facts)| {
            error.note(format!("{name}: {}", facts.revision.as_deref().unwrap_or("no revision label")))
        }));
    }
    let first = facts.iter().find(|(name, _)| *name == "x86_64").or(facts.first()).map(|(_, facts)| facts);
    let pin = BuilderPin {
        guard: guard_tag(policy.guard.as_deref(), &manifest.digest)?,
        guard_architectures: policy.guard_architectures,
        image: reference.image(),
        media_type: manifest.media_type.clone(),
        tag: reference.tag().map(str::to_owned),
        created: first.and_then(|facts| facts.created.clone()),
        revision: first.and_then(|facts| facts.revision.clone()),
        source: first.and_then(|facts| facts.source.clone()),
        reason: None,
        version: policy::VERSION,
        digest: manifest.digest,
        architectures,
    };
    let index = String::from_utf8(manifest.bytes)
        .map_err(|_| Error::no_answer(format!("`{document}`: the index is no UTF-8")))?;
    Ok(Stored { text: pin.to_text(), pin, index })
}

/// Returns what of the container that `pin` names is not there any more, a line each: the index, an image, a config; and
/// whether the images still say that they are of the pinned commit.
///
/// # Errors
///
/// No answer.
pub(super) fn lost(registries: &Registries<'_>, pin: &BuilderPin) -> Result<Vec<String>, Error> {
    let mut lost = Vec::new();
    if registries.manifest(&Reference::parse(&pin.reference())?)?.is_none() {
        lost.push(format!("`{}` is gone: no tag holds it", pin.reference()));
    }
    for (name, digest) in pin.architectures.iter() {
        let child = Reference::parse(&format!("{}@{digest}", pin.image))?;
        match Facts::of(registries, &child, name, &pin.digest) {
            Ok(facts) if facts.revision == pin.revision => {}
            Ok(facts) => lost.push(format!(
                "`{child}`, for `{name}`, is of commit {}, and the pin of {}",
                facts.revision.as_deref().unwrap_or("unknown"),
                pin.revision.as_deref().unwrap_or("unknown")
            )),
            Err(error) if error.exit_status() == 1 => {
                lost.push(format!("the image for `{name}` is gone: `{child}`"));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(lost)
}

/// What the image of one architecture says of itself.
struct Facts {
    revision: Option<String>,
    source: Option<String>,
    created: Option<String>,
    expires: Option<String>,
}

impl Facts {
    fn of(registries: &Registries<'_>, child: &Reference, name: &str, index: &str) -> Result<Self, Error> {
        let gone = || {
            Error::refused(format!("`{index}` names an image for `{name}` that is not there: `{child}`"))
                .help("it was removed: pin another index")
        };
        let manifest = registries.manifest(child)?.ok_or_else(gone)?;
        let document = child.to_string();
        let members: Map<Value> = json::read(&document, &manifest.bytes)?;
        let config = members.get("config").and_then(|config| text(config, "digest"));
        let Some(config) = config else {
            return Err(Error::no_answer(format!("`{document}` names no config")));
        };
        let config = registries.blob(child, config, CONFIG_LIMIT)?;
        let members = Value::Object(json::read(&document, &config)?);
        let labels = member(&members, "config").and_then(|config| member(config, "Labels"));
        let label = |key: &str| labels.and_then(|labels| text(labels, key)).map(str::to_owned);
        Ok(Self {
            revision: label("org.opencontainers.image.revision"),
            source: label("org.opencontainers.image.source"),
            created: text(&members, "created").map(str::to_owned),
            expires: label(EXPIRES).or_else(|| annotation(&manifest.bytes, EXPIRES)),
        })
    }
}

fn annotation(manifest: &[u8], key: &str) -> Option<String> {
    let members: Map<Value> = json::read("manifest", manifest).ok()?;
    members.get("annotations").and_then(|annotations| text(annotations, key)).map(str::to_owned)
}

fn member<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    match value {
        Value::Object(map) => map.get(key),
        _ => None,
    }
}

fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    match member(value, key) {
        Some(Value::String(text)) if !text.is_empty() => Some(text),
        _ => None,
    }
}

/// Returns the tag that guards `digest` by the pattern of the policy, which may have `{digest:N}` for its first `N` hex
/// digits.
fn guard_tag(pattern: Option<&str>, digest: &str) -> Result<Option<String>, Error> {
    let pattern = pattern.unwrap_or("fcos-{digest:10}");
    if pattern == "none" {
        return Ok(None);
    }
    let hex = digest.strip_prefix("sha256:").unwrap_or(digest);
    let fault = || {
        Error::invalid(format!("channels.json: builders: `{pattern}` is no pattern for guard tags"))
            .help("write letters, digits, `_`, `.` and `-`, with `{digest:10}` for the first ten digits of the digest")
    };
    let (before, rest) = pattern.split_once("{digest:").ok_or_else(fault)?;
    let (length, after) = rest.split_once('}').ok_or_else(fault)?;
    let length: usize = length.parse().ok().filter(|length| (7..=64).contains(length)).ok_or_else(fault)?;
    let tag = format!("{before}{}{after}", &hex[..length]);
    if coreos_pins_build::reference::is_tag(&tag) { Ok(Some(tag)) } else { Err(fault()) }
}

#[cfg(test)]
mod tests {
    use super::guard_tag;

    #[test]
    fn a_guard_tag_holds_as_much_of_the_digest_as_its_pattern_says() {
        let digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
        let tag = |pattern: Option<&str>| guard_tag(pattern, digest).ok().map(Option::unwrap_or_default);
        assert_eq!(tag(None).as_deref(), Some("fcos-0123456789"));
        assert_eq!(tag(Some("v{digest:12}-x")).as_deref(), Some("v0123456789ab-x"));
        assert_eq!(tag(Some("none")).as_deref(), Some(""));
        // A tag that another digest could have, too, guards nothing.
        for pattern in [
            "fixed",
            "{digest:6}",
            "{digest:65}",
            "{digest:x}",
            "{digest:10",
            "a b{digest:10}",
            "-{digest:10}",
        ] {
            assert_eq!(tag(Some(pattern)), None, "{pattern}");
        }
    }
}
