//! OpenPGP keys, and what they sign.

use pgp::composed::{
    ArmorOptions, DetachedSignature, KeyType, SecretKeyParamsBuilder, SignedKeyDetails, SignedPublicKey,
    SignedPublicSubKey, SignedSecretKey, SubkeyParamsBuilder,
};
use pgp::crypto::hash::HashAlgorithm;
use pgp::packet::{KeyFlags, Signature, SignatureConfig, SignatureType, Subpacket, SubpacketData};
use pgp::ser::Serialize;
use pgp::types::{Duration, KeyDetails, KeyVersion, Password, SignedUser, SigningKey, Tag, Timestamp};
use rand::rngs::OsRng;

const DAY: u32 = 86400;

/// A key with a subkey, each of which may sign.
pub(crate) struct Signer {
    pub(crate) secret: SignedSecretKey,
}

/// Returns when that was, `days` ago.
fn ago(days: u32) -> Timestamp {
    Timestamp::from_secs(Timestamp::now().as_secs() - days * DAY)
}

fn flags(signs: bool) -> SubpacketData {
    let mut flags = KeyFlags::default();
    flags.set_certify(true);
    flags.set_sign(signs);
    SubpacketData::KeyFlags(flags)
}

/// A signature of `kind` that is yet to be made, of a day ago.
fn config(key: &impl SigningKey, kind: SignatureType, more: Vec<SubpacketData>) -> SignatureConfig {
    let mut config = SignatureConfig::v4(kind, key.algorithm(), HashAlgorithm::Sha256);
    let data =
        [SubpacketData::SignatureCreationTime(ago(1)), SubpacketData::IssuerFingerprint(key.fingerprint())];
    let data = data.into_iter().chain(more);
    config.hashed_subpackets = data.map(|data| Subpacket::regular(data).unwrap()).collect();
    config
}

impl Signer {
    pub(crate) fn new() -> Self {
        Self::of(KeyVersion::V4, KeyType::Ed25519Legacy)
    }

    pub(crate) fn of(version: KeyVersion, key_type: KeyType) -> Self {
        let subkey = SubkeyParamsBuilder::default()
            .version(version)
            .key_type(key_type.clone())
            .can_sign(true)
            .created_at(ago(100))
            .build()
            .unwrap();
        let mut params = SecretKeyParamsBuilder::default();
        params
            .version(version)
            .key_type(key_type)
            .can_certify(true)
            .can_sign(true)
            .created_at(ago(100))
            .primary_user_id("Test <test@example.com>".to_owned())
            .subkey(subkey);
        Self { secret: params.build().unwrap().generate(OsRng).unwrap() }
    }

    pub(crate) fn public(&self) -> SignedPublicKey {
        self.secret.to_public_key()
    }

    pub(crate) fn fingerprint(&self) -> String {
        format!("{:X}", self.secret.fingerprint())
    }

    pub(crate) fn armored(&self) -> String {
        armored(&self.public())
    }

    /// Signs `content` with the primary key.
    pub(crate) fn sign(&self, content: &[u8]) -> Vec<u8> {
        self.sign_with(vec![], content)
    }

    pub(crate) fn sign_with(&self, more: Vec<Subpacket>, content: &[u8]) -> Vec<u8> {
        let key = &self.secret.primary_key;
        let mut config = config(key, SignatureType::Binary, vec![]);
        config.hashed_subpackets.extend(more);
        bytes(config.sign(key, &Password::empty(), content).unwrap())
    }

    pub(crate) fn sign_with_subkey(&self, content: &[u8]) -> Vec<u8> {
        let key = &self.secret.secret_subkeys[0].key;
        let signed = DetachedSignature::sign_binary_data(
            OsRng,
            key,
            &Password::empty(),
            HashAlgorithm::Sha512,
            content,
        );
        bytes(signed.unwrap().signature)
    }

    /// The public key with another signature over itself: `signs`, and `more`.
    pub(crate) fn certified(&self, signs: bool, more: Vec<SubpacketData>) -> SignedPublicKey {
        let key = &self.secret.primary_key;
        let id = self.secret.details.users[0].id.clone();
        let data = [flags(signs)].into_iter().chain(more).collect();
        let signature = config(key, SignatureType::CertPositive, data)
            .sign_certification(key, key.public_key(), &Password::empty(), Tag::UserId, &id)
            .unwrap();
        let users = vec![SignedUser::new(id, vec![signature])];
        let details = SignedKeyDetails::new(vec![], vec![], users, vec![]);
        SignedPublicKey::new(key.public_key().clone(), details, self.public().public_subkeys)
    }

    /// The public key, which expires after `days`; it is 100 days old.
    pub(crate) fn expiring_after(&self, days: u32) -> SignedPublicKey {
        self.certified(true, vec![SubpacketData::KeyExpirationTime(Duration::from_secs(days * DAY))])
    }

    pub(crate) fn revoked(&self) -> SignedPublicKey {
        let key = &self.secret.primary_key;
        let mut public = self.public();
        let revocation = config(key, SignatureType::KeyRevocation, vec![])
            .sign_key(key, &Password::empty(), key.public_key())
            .unwrap();
        public.details.revocation_signatures.push(revocation);
        public
    }

    /// The public key with other signatures over its subkey.
    fn with_subkey(&self, signatures: impl FnOnce(&Signature) -> Vec<Signature>) -> SignedPublicKey {
        let mut public = self.public();
        let sub = &public.public_subkeys[0];
        let signatures = signatures(&sub.signatures[0]);
        public.public_subkeys = vec![SignedPublicSubKey { key: sub.key.clone(), signatures }];
        public
    }

    fn bind(&self, kind: SignatureType, more: Vec<SubpacketData>) -> Signature {
        let key = &self.secret.primary_key;
        let sub = self.public().public_subkeys[0].key.clone();
        config(key, kind, more).sign_subkey_binding(key, key.public_key(), &Password::empty(), &sub).unwrap()
    }

    pub(crate) fn with_revoked_subkey(&self) -> SignedPublicKey {
        self.with_subkey(|binding| vec![binding.clone(), self.bind(SignatureType::SubkeyRevocation, vec![])])
    }

    /// The subkey never said that it belongs to this key.
    pub(crate) fn with_captured_subkey(&self) -> SignedPublicKey {
        self.with_subkey(|_| vec![self.bind(SignatureType::SubkeyBinding, vec![flags(true)])])
    }

    /// The primary key never said that this subkey belongs to it.
    pub(crate) fn with_foreign_subkey(&self) -> SignedPublicKey {
        let mut public = Self::new().public();
        public.public_subkeys = self.public().public_subkeys;
        public
    }

    pub(crate) fn with_expired_subkey(&self) -> SignedPublicKey {
        let back = self.public().public_subkeys[0].signatures[0].embedded_signature().unwrap().clone();
        let more = vec![
            flags(true),
            SubpacketData::EmbeddedSignature(Box::new(back)),
            SubpacketData::KeyExpirationTime(Duration::from_secs(DAY)),
        ];
        self.with_subkey(|_| vec![self.bind(SignatureType::SubkeyBinding, more)])
    }
}

pub(crate) fn armored(key: &SignedPublicKey) -> String {
    key.to_armored_string(ArmorOptions::default()).unwrap()
}

pub(crate) fn binary(keys: &[SignedPublicKey]) -> Vec<u8> {
    keys.iter().flat_map(|key| key.to_bytes().unwrap()).collect()
}

fn bytes(signature: Signature) -> Vec<u8> {
    DetachedSignature::new(signature).to_bytes().unwrap()
}

/// The signature with the byte of its type or its hash changed: what its makers would do, and ours refuses to.
pub(crate) fn patched(mut signature: Vec<u8>, kind: SignatureType, hash: HashAlgorithm) -> Vec<u8> {
    // Two bytes of the packet's head, then version, type, key algorithm, hash algorithm.
    assert_eq!(signature[2..4], [4, SignatureType::Binary.into()]);
    signature[3] = kind.into();
    signature[5] = hash.into();
    signature
}
