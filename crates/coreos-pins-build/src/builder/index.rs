//! An index: the manifest that names one manifest an architecture.

use crate::Error;
use crate::build_name::rpm_architecture;
use crate::json::{self, Map, Value};
use crate::reference::is_digest;

/// What indexes are served as: that of OCI, and docker's manifest list.
pub const MEDIA_TYPES: [&str; 2] =
    ["application/vnd.oci.image.index.v1+json", "application/vnd.docker.distribution.manifest.list.v2+json"];

/// An index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    /// What it names, in its order.
    pub children: Vec<Child>,
}

/// A manifest that an index names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Child {
    /// Its digest.
    pub digest: String,
    /// What it is served as.
    pub media_type: String,
    /// Its architecture, by RPM name; `unknown` for what is no image, such as an attestation.
    pub architecture: String,
    /// Its operating system: `linux`.
    pub os: String,
}

impl Index {
    /// Reads an index that was served as `media_type`. `document` is how errors name it.
    ///
    /// # Errors
    ///
    /// What is no index, or says that it is of another media type.
    pub fn read(document: &str, bytes: &[u8], media_type: &str) -> Result<Self, Error> {
        let members: Map<Value> = json::read(document, bytes)?;
        let fault = |what: String| Error::invalid(format!("{document}: {what}"));
        if let Some(Value::String(own)) = members.get("mediaType")
            && own != media_type
        {
            return Err(fault(format!("mediaType: expected `{media_type}`, found `{own}`")));
        }
        let Some(Value::Array(manifests)) = members.get("manifests") else {
            return Err(fault("manifests: expected a list".to_owned()));
        };
        let children = manifests.iter().enumerate().map(|(at, manifest)| {
            let get = |keys: &[&str]| {
                let value = keys.iter().try_fold(manifest, |value, key| match value {
                    Value::Object(map) => map.get(key),
                    _ => None,
                });
                match value {
                    Some(Value::String(text)) if !text.is_empty() => Ok(text.clone()),
                    _ => Err(fault(format!(
                        "manifests[{at}].{}: expected text that is not empty",
                        keys.join(".")
                    ))),
                }
            };
            let digest = get(&["digest"])?;
            if !is_digest(&digest) {
                return Err(fault(format!("manifests[{at}].digest: expected a digest, found `{digest}`")));
            }
            Ok(Child {
                digest,
                media_type: get(&["mediaType"])?,
                architecture: rpm_architecture(&get(&["platform", "architecture"])?).to_owned(),
                os: get(&["platform", "os"])?,
            })
        });
        Ok(Self { children: children.collect::<Result<_, _>>()? })
    }

    /// Returns the digest of each architecture's image, by RPM name.
    ///
    /// # Errors
    ///
    /// Two images for one architecture, or none at all.
    pub fn architectures(&self, document: &str) -> Result<Map<String>, Error> {
        let mut architectures = Map::default();
        for child in self.children.iter().filter(|child| child.architecture != "unknown") {
            if let Some(other) = architectures.insert(child.architecture.clone(), child.digest.clone())
                && other != child.digest
            {
                return Err(Error::invalid(format!(
                    "{document}: two images for `{}`: `{other}` and `{}`",
                    child.architecture, child.digest
                )));
            }
        }
        match architectures.is_empty() {
            true => Err(Error::invalid(format!("{document}: names no image"))),
            false => Ok(architectures),
        }
    }
}
