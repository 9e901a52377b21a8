//! The keys that somebody trusts, and which of them count today.

use std::fmt;
use std::path::{Path, PathBuf};

use coreos_pins_build::Error;
use coreos_pins_build::pins::read_file;
use pgp::composed::{PublicOrSecret, SignedPublicKey, SignedPublicSubKey};
use pgp::crypto::hash::HashAlgorithm;
use pgp::packet::{Signature, SignatureConfig, SignatureType, SubpacketData};
use pgp::types::{Fingerprint, KeyDetails, KeyId, KeyVersion, SignedUser, Tag, Timestamp};

/// The keys of a file.
pub(super) struct Keyring {
    path: PathBuf,
    keys: Vec<SignedPublicKey>,
}

/// A key that may have made a signature.
#[derive(Clone, Copy)]
pub(super) struct Key<'a> {
    primary: &'a SignedPublicKey,
    /// Where it is no primary key itself.
    sub: Option<&'a SignedPublicSubKey>,
}

impl Keyring {
    /// Reads the keys of `path`: binary, or any number of armored blocks.
    pub(super) fn read(path: &Path) -> Result<Self, Error> {
        let bytes = read_file(path)?;
        let fault = |what: &str| {
            Error::invalid(format!("`{}` is no keyring: {what}", path.display()))
                .help("make one with `gpg --export --armor KEY > FILE`")
        };
        let mut keys = Vec::new();
        for block in blocks(&bytes) {
            let (found, _) =
                PublicOrSecret::from_reader_many(block).map_err(|error| fault(&error.to_string()))?;
            for key in found {
                keys.push(match key.map_err(|error| fault(&error.to_string()))? {
                    PublicOrSecret::Public(key) => key,
                    PublicOrSecret::Secret(key) => key.to_public_key(),
                });
            }
        }
        if keys.is_empty() {
            return Err(fault("there is no OpenPGP key in it"));
        }
        Ok(Self { path: path.to_owned(), keys })
    }

    /// Returns the keys that `signature` says it is by: one, or several copies of it.
    pub(super) fn signers(&self, signature: &Signature) -> Vec<Key<'_>> {
        let (ids, fingerprints) = (signature.issuer_key_id(), signature.issuer_fingerprint());
        let is_issuer =
            |id: KeyId, fingerprint: &Fingerprint| ids.contains(&&id) || fingerprints.contains(&fingerprint);
        let mut keys = Vec::new();
        for primary in &self.keys {
            if is_issuer(primary.legacy_key_id(), &primary.fingerprint()) {
                keys.push(Key { primary, sub: None });
            }
            for sub in &primary.public_subkeys {
                if is_issuer(sub.key.legacy_key_id(), &sub.key.fingerprint()) {
                    keys.push(Key { primary, sub: Some(sub) });
                }
            }
        }
        keys
    }

    /// Returns the fingerprints of the keys, for an error.
    pub(super) fn names(&self) -> Vec<String> {
        self.keys.iter().map(|key| format!("{:X}", key.fingerprint())).collect()
    }
}

impl fmt::Display for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.path.display())
    }
}

impl Key<'_> {
    /// Returns the fingerprint of the primary key: the one that people compare.
    pub(super) fn name(&self) -> String {
        format!("{:X}", self.primary.fingerprint())
    }

    pub(super) fn created(&self) -> Timestamp {
        self.sub.map_or(self.primary.primary_key.created_at(), |sub| sub.key.created_at())
    }

    /// Checks that `signature` over `data` is by this key.
    pub(super) fn verify(&self, signature: &Signature, data: impl std::io::Read) -> pgp::errors::Result<()> {
        match self.sub {
            Some(sub) => signature.verify(&sub.key, data),
            None => signature.verify(&self.primary.primary_key, data),
        }
    }

    /// Says why the key does not count at `now`. What it signed before it expired or was revoked does not count either:
    /// only the signature itself says when it was made.
    pub(super) fn check(&self, now: Timestamp) -> Result<(), String> {
        let own = own_signature(self.primary, now)?;
        let primary = &self.primary.primary_key;
        check_expiry(primary.created_at(), own, now)?;
        let Some(sub) = self.sub else {
            return if may_sign(own) { Ok(()) } else { Err("is not for signing".to_owned()) };
        };
        let of_type = |kind| {
            sub.signatures.iter().filter(move |signature| {
                signature.typ() == Some(kind) && signature.verify_subkey_binding(primary, &sub.key).is_ok()
            })
        };
        if of_type(SignatureType::SubkeyRevocation).next().is_some() {
            return Err("has a revoked subkey, which made the signature".to_owned());
        }
        let binding = newest(of_type(SignatureType::SubkeyBinding), now)
            .ok_or("has a subkey that it does not acknowledge, which made the signature")?;
        let is_acknowledged = binding
            .embedded_signature()
            .is_some_and(|back| back.verify_primary_key_binding(&sub.key, primary).is_ok());
        if !states_flags(binding) || !may_sign(binding) || !is_acknowledged {
            return Err("has a subkey that is not for signing, which made the signature".to_owned());
        }
        check_expiry(sub.key.created_at(), binding, now)
    }
}

/// Returns the newest signature that `key` made over itself: it says what the key is for, and how long.
fn own_signature(key: &SignedPublicKey, now: Timestamp) -> Result<&Signature, String> {
    let primary = &key.primary_key;
    if !matches!(primary.version(), KeyVersion::V4 | KeyVersion::V6) {
        return Err("is of a form that is no longer safe".to_owned());
    }
    if key.details.revocation_signatures.iter().any(|signature| signature.verify_key(primary).is_ok()) {
        return Err("is revoked".to_owned());
    }
    let direct = key.details.direct_signatures.iter();
    let direct = direct.filter(|signature| signature.verify_key(primary).is_ok());
    let by_user = |user: &SignedUser, signature: &Signature| {
        signature.typ() != Some(SignatureType::CertRevocation)
            && signature.verify_certification(primary, Tag::UserId, &user.id).is_ok()
    };
    let users = key.details.users.iter();
    let users =
        users.flat_map(|user| user.signatures.iter().filter(move |signature| by_user(user, signature)));
    newest(direct.chain(users), now).ok_or_else(|| "is not signed by itself".to_owned())
}

/// Returns the newest of `signatures` that holds at `now`; of several, one that says when the key expires.
fn newest<'a>(signatures: impl Iterator<Item = &'a Signature>, now: Timestamp) -> Option<&'a Signature> {
    signatures
        .filter(|signature| signature.hash_alg() != Some(HashAlgorithm::Md5) && !is_over(signature, now))
        .filter(|signature| signature.created().is_some_and(|created| created <= now))
        .max_by_key(|signature| (signature.created(), signature.key_expiration_time().is_some()))
}

/// Tells whether `signature` itself has expired.
pub(super) fn is_over(signature: &Signature, now: Timestamp) -> bool {
    let created = signature.created();
    created.zip(signature.signature_expiration_time()).is_some_and(|(created, duration)| {
        duration.as_secs() != 0 && end(created, duration) <= u64::from(now.as_secs())
    })
}

fn check_expiry(created: Timestamp, own: &Signature, now: Timestamp) -> Result<(), String> {
    let Some(duration) = own.key_expiration_time().filter(|duration| duration.as_secs() != 0) else {
        return Ok(());
    };
    let end = end(created, duration);
    if end > u64::from(now.as_secs()) {
        return Ok(());
    }
    let date = i64::try_from(end).ok().and_then(|end| jiff::Timestamp::from_second(end).ok());
    let date = date.map(|date| date.to_zoned(jiff::tz::TimeZone::UTC).date().to_string());
    Err(format!("has expired on {}", date.unwrap_or_default()))
}

fn end(created: Timestamp, duration: pgp::types::Duration) -> u64 {
    u64::from(created.as_secs()) + u64::from(duration.as_secs())
}

fn may_sign(own: &Signature) -> bool {
    !states_flags(own) || own.key_flags().sign()
}

fn states_flags(own: &Signature) -> bool {
    let mut subpackets = own.config().into_iter().flat_map(SignatureConfig::hashed_subpackets);
    subpackets.any(|subpacket| matches!(subpacket.data, SubpacketData::KeyFlags(_)))
}

/// Returns the armored blocks of `bytes`, which people concatenate; or all of it, where it is binary.
fn blocks(bytes: &[u8]) -> Vec<&[u8]> {
    const BEGIN: &[u8] = b"-----BEGIN PGP ";
    if bytes.first().is_some_and(|first| first & 0x80 != 0) {
        return vec![bytes];
    }
    let is_start = |at: &usize| bytes[*at..].starts_with(BEGIN) && (*at == 0 || bytes[*at - 1] == b'\n');
    let starts: Vec<usize> = (0..bytes.len()).filter(is_start).collect();
    let ends = starts.iter().skip(1).copied().chain([bytes.len()]);
    starts.iter().zip(ends).map(|(&start, end)| &bytes[start..end]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn concatenated_blocks_are_told_apart() {
        let one = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nx\n-----END PGP PUBLIC KEY BLOCK-----\n";
        let text = format!("a comment\n{one}\n{one}");
        let found = blocks(text.as_bytes());
        assert_eq!(found, [format!("{one}\n").as_bytes(), one.as_bytes()]);
        assert_eq!(blocks(&[0x99, b'x']), [[0x99, b'x']]);
        assert!(blocks(b"").is_empty() && blocks(b"no key").is_empty());
    }
}
