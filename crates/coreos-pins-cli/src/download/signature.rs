//! Detached OpenPGP signatures of files.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use coreos_pins_build::Error;
use coreos_pins_build::source::{Answer, Source};
use coreos_pins_build::stream::Artifact;
use coreos_pins_build::url::Url;
use pgp::composed::{Deserializable, DetachedSignature};
use pgp::crypto::hash::HashAlgorithm;
use pgp::packet::{Signature, SignatureType, SignatureVersion, SubpacketData};
use pgp::types::Timestamp;

use super::keyring::{Key, Keyring, is_over};

/// The signatures of a file that keys of a keyring say they made.
pub(super) struct Signatures<'a> {
    url: Url,
    candidates: Vec<(Signature, Key<'a>)>,
}

impl<'a> Signatures<'a> {
    /// Fetches the signatures of `artifact`, which is at `file`. Those that could not be good, whatever the file holds,
    /// are an error at once.
    pub(super) fn fetch(
        artifact: &Artifact,
        file: &Url,
        keyring: &'a Keyring,
        source: &Source,
    ) -> Result<Self, Error> {
        let Some(url) = &artifact.signature else {
            return Err(Error::refused(format!("the pin has no signature for `{file}`"))
                .help("leave out --keyring to rely on the pin's sha256 alone"));
        };
        let url = Url::parse(url)?;
        let bytes = match source.get(&url)? {
            Answer::Found(fetched) => fetched.bytes,
            Answer::NotThere { why } => {
                return Err(Error::refused(format!("the signature `{url}` is not there: {why}"))
                    .help("leave out --keyring to rely on the pin's sha256 alone"));
            }
        };
        let signatures = read(&bytes)
            .map_err(|what| Error::refused(format!("`{url}` is no OpenPGP signature: {what}")))?;
        let mut candidates = Vec::new();
        let mut reasons = Vec::new();
        for signature in signatures {
            match usable(&signature, keyring) {
                Ok(key) => candidates.push((signature, key)),
                Err(reason) => reasons.push(reason),
            }
        }
        if candidates.is_empty() {
            let error = Error::refused(format!("the signature `{url}` does not count"));
            let error = reasons.into_iter().fold(error, Error::note);
            return Err(error.note(format!("keys in {keyring} are {}", keyring.names().join(", "))));
        }
        Ok(Self { url, candidates })
    }

    /// Checks that one of the signatures is of the file at `path`, and returns whose it is.
    pub(super) fn verify(&self, path: &Path) -> Result<String, Error> {
        let mut reasons = Vec::new();
        for (signature, key) in &self.candidates {
            let file = File::open(path).map_err(|error| Error::io("read", path, error))?;
            match key.verify(signature, BufReader::with_capacity(256 * 1024, file)) {
                Ok(()) => return Ok(key.name()),
                Err(error) => reasons.push(format!("key {}: {error}", key.name())),
            }
        }
        let error = Error::refused(format!("the signature `{}` is not of this file", self.url));
        Err(reasons.into_iter().fold(error, Error::note))
    }
}

/// Reads all signatures, armored or not.
fn read(bytes: &[u8]) -> Result<Vec<Signature>, String> {
    let (found, _) = DetachedSignature::from_reader_many(bytes).map_err(|error| error.to_string())?;
    let signatures: Result<Vec<_>, _> = found.map(|found| found.map(|found| found.signature)).collect();
    match signatures {
        Err(error) => Err(error.to_string()),
        Ok(signatures) if signatures.is_empty() => Err("there is none in it".to_owned()),
        Ok(signatures) => Ok(signatures),
    }
}

/// Returns the key that `signature` says it is by, if both may be relied on.
fn usable<'a>(signature: &Signature, keyring: &'a Keyring) -> Result<Key<'a>, String> {
    let (Some(config), Some(created)) = (signature.config(), signature.created()) else {
        return Err("a signature is of an unknown form".to_owned());
    };
    let ids = signature.issuer_fingerprint().into_iter().map(|fingerprint| format!("{fingerprint:X}"));
    let ids = ids.chain(signature.issuer_key_id().into_iter().map(|id| id.to_string().to_uppercase()));
    let Some(issuer) = ids.into_iter().next() else {
        return Err("a signature does not say which key it is by".to_owned());
    };
    // Of the other types some cover one byte of the file, or none.
    if config.typ() != SignatureType::Binary
        || !matches!(signature.version(), SignatureVersion::V4 | SignatureVersion::V6)
    {
        return Err(format!("the one by key {issuer} is no signature of a file"));
    }
    let is_strong = matches!(
        config.hash_alg,
        HashAlgorithm::Sha256
            | HashAlgorithm::Sha384
            | HashAlgorithm::Sha512
            | HashAlgorithm::Sha3_256
            | HashAlgorithm::Sha3_512
    );
    if !is_strong {
        return Err(format!("the one by key {issuer} is over a {} hash, which is weak", config.hash_alg));
    }
    let is_unknown = |data: &SubpacketData| {
        matches!(
            data,
            SubpacketData::Experimental(..) | SubpacketData::Other(..) | SubpacketData::Notation(_)
        )
    };
    if config.hashed_subpackets().any(|subpacket| subpacket.is_critical && is_unknown(&subpacket.data)) {
        return Err(format!("the one by key {issuer} has a condition that is not understood"));
    }
    let now = Timestamp::now();
    if is_over(signature, now) {
        return Err(format!("the one by key {issuer} has expired"));
    }
    let keys = keyring.signers(signature);
    let Some(&key) = keys.first() else {
        return Err(format!("it is by key {issuer}, which is not in {keyring}"));
    };
    if created < key.created() {
        return Err(format!("the one by key {issuer} says that it is older than the key"));
    }
    // Of several copies one may know of a revocation that the others do not.
    match keys.iter().find_map(|key| key.check(now).err()) {
        None => Ok(key),
        Some(reason) => Err(format!("its key {} {reason}", key.name())),
    }
}
