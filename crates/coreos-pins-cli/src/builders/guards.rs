//! Guard tags: what keeps a digest alive. They are made of the very bytes, and never moved.

use coreos_pins_build::Error;
use coreos_pins_build::builder::{BuilderPin, go_architecture};
use coreos_pins_build::reference::Reference;

use super::Stored;
use crate::registry::{Manifest, Registries};

/// A tag that should hold a digest.
struct Guard {
    tag: String,
    digest: String,
    /// Whose it is; `None` of the index.
    architecture: Option<String>,
}

fn guards(pin: &BuilderPin) -> Vec<Guard> {
    let Some(tag) = &pin.guard else { return Vec::new() };
    let mut guards = vec![Guard { tag: tag.clone(), digest: pin.digest.clone(), architecture: None }];
    if pin.guard_architectures {
        guards.extend(pin.architectures.iter().map(|(name, digest)| Guard {
            tag: format!("{tag}-{}", go_architecture(name)),
            digest: digest.clone(),
            architecture: Some(name.to_owned()),
        }));
    }
    guards
}

/// Returns the tags that guard `pin`.
pub(super) fn tags(pin: &BuilderPin) -> impl Iterator<Item = String> {
    guards(pin).into_iter().map(|guard| guard.tag)
}

/// Returns the guards of `stored` that are not there, each as a line.
///
/// # Errors
///
/// No answer; a tag that holds another digest.
pub(super) fn missing(registries: &Registries<'_>, stored: &Stored) -> Result<Vec<String>, Error> {
    let mut missing = Vec::new();
    for guard in guards(&stored.pin) {
        let reference = Reference::parse(&format!("{}:{}", stored.pin.image, guard.tag))?;
        if !is_there(registries, &reference, &guard)? {
            missing.push(format!("`{reference}` is not there; it should hold {}", guard.digest));
        }
    }
    Ok(missing)
}

/// Makes the guards of `stored` that are not there, and returns their tags. `index` are the bytes of the index.
///
/// # Errors
///
/// No answer; a tag that holds another digest, which is not moved; a registry that does not take it.
pub(super) fn make(registries: &Registries<'_>, stored: &Stored) -> Result<Vec<String>, Error> {
    let mut made = Vec::new();
    let pin = &stored.pin;
    let guards = guards(pin);
    // Whatever holds another digest is found before anything is made.
    let mut wanted = Vec::new();
    for guard in guards {
        let reference = Reference::parse(&format!("{}:{}", pin.image, guard.tag))?;
        if !is_there(registries, &reference, &guard)? {
            wanted.push((reference, guard));
        }
    }
    for (reference, guard) in wanted {
        let manifest = match &guard.architecture {
            None => Manifest {
                bytes: stored.index.clone().into_bytes(),
                media_type: pin.media_type.clone(),
                digest: pin.digest.clone(),
            },
            Some(name) => {
                let child = Reference::parse(&format!("{}@{}", pin.image, guard.digest))?;
                registries.manifest(&child)?.ok_or_else(|| {
                    Error::refused(format!("the image for `{name}` is not there any more: `{child}`"))
                        .help("it cannot be guarded: pin another index")
                })?
            }
        };
        registries.put(&reference, &guard.tag, &manifest)?;
        if !is_there(registries, &reference, &guard)? {
            return Err(Error::no_answer(format!("`{reference}` was put, and is not there")));
        }
        made.push(guard.tag);
    }
    Ok(made)
}

/// Tells whether `guard` is there, and holds what it should.
fn is_there(registries: &Registries<'_>, reference: &Reference, guard: &Guard) -> Result<bool, Error> {
    match registries.digest_of(reference)? {
        None => Ok(false),
        Some(found) if found == guard.digest => Ok(true),
        Some(found) => {
            Err(Error::refused(format!("`{reference}` holds another digest, and a guard is never moved"))
                .note(format!("it should hold {}", guard.digest))
                .note(format!("it holds       {found}"))
                .help("find out who moved it; then choose a longer `guard` in channels.json"))
        }
    }
}
