//! `--keyring`: a file is kept only with a good signature by a key of it.

use std::fs;
use std::process::Command;

use pgp::composed::{ArmorOptions, Deserializable, DetachedSignature, KeyType};
use pgp::crypto::hash::HashAlgorithm;
use pgp::packet::{SignatureType, Subpacket, SubpacketData};
use pgp::types::{Duration, KeyVersion};

use crate::harness::Folder;
use crate::keys::{Signer, armored, binary, patched};
use crate::server::Server;
use crate::{content, download, files, names, refused, sha256, with_disk, with_qcow2};

const KEYRING: [&str; 3] = ["qemu", "--keyring", "keys"];

fn image() -> Vec<u8> {
    content(300_000)
}

/// A pin of an image, and of a signature that is served as `signature`, with `keyring` in the file `keys`.
fn signed(signature: &[u8], keyring: &[u8]) -> (Server, Folder) {
    let server = files(&[("/x", &image()), ("/x.sig", signature)]);
    let folder = with_disk(&format!(
        r#"{{ "location": "{}", "sha256": "{}", "signature": "{}" }}"#,
        server.url("/x"),
        sha256(&image()),
        server.url("/x.sig")
    ));
    fs::write(folder.path("keys"), keyring).unwrap();
    (server, folder)
}

#[track_caller]
fn is_good(signature: &[u8], keyring: &[u8], key: &Signer) {
    let (_, folder) = signed(signature, keyring);
    download(&folder, &KEYRING).said(&format!(
        "x: downloaded, 300000 bytes, sha256 {}, signed by {}\n",
        sha256(&image()),
        key.fingerprint()
    ));
    assert_eq!(names(&folder), ["keys", "x"]);
}

#[test]
fn a_good_signature_is_told_with_its_key() {
    let key = Signer::new();
    let signature = key.sign(&image());
    is_good(&signature, key.armored().as_bytes(), &key);
    is_good(&key.sign_with_subkey(&image()), key.armored().as_bytes(), &key);
    // Expires some day.
    is_good(&signature, armored(&key.expiring_after(101)).as_bytes(), &key);

    let (_, folder) = signed(&signature, key.armored().as_bytes());
    for _ in 0..2 {
        let run = download(&folder, &["qemu", "--json", "--keyring", "keys"]);
        let value: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!((&value["signature"], &value["signed-by"]), (&"good".into(), &key.fingerprint().into()));
    }
}

#[test]
fn keyrings_and_signatures_have_any_form() {
    let (one, two) = (Signer::new(), Signer::new());
    let both = format!("# release keys\n{}\n{}", one.armored(), two.armored());
    is_good(&two.sign(&image()), both.as_bytes(), &two);
    is_good(&two.sign(&image()), &binary(&[one.public(), two.public()]), &two);
    let detached = DetachedSignature::from_bytes(two.sign(&image()).as_slice()).unwrap();
    is_good(detached.to_armored_string(ArmorOptions::default()).unwrap().as_bytes(), both.as_bytes(), &two);
    // Two signatures in one file, the first by nobody we know.
    let signatures = [Signer::new().sign(&image()), two.sign(&image())].concat();
    is_good(&signatures, both.as_bytes(), &two);

    let modern = Signer::of(KeyVersion::V6, KeyType::Ed25519);
    is_good(&modern.sign_with_subkey(&image()), modern.armored().as_bytes(), &modern);
}

#[test]
fn a_signature_of_another_file_leaves_nothing() {
    let key = Signer::new();
    let mut other = image();
    other[200_000] ^= 1;
    let (server, folder) = signed(&key.sign(&other), key.armored().as_bytes());
    let error = refused(&folder, &KEYRING, 1);
    let expected = format!("error: the signature `{}` is not of this file\n", server.url("/x.sig"));
    assert!(error.starts_with(&expected), "{error}");
    assert!(error.contains(&key.fingerprint()), "{error}");

    // One that was there before is not ours to remove; the status tells.
    fs::write(folder.path("x"), image()).unwrap();
    assert_eq!(refused(&folder, &KEYRING, 1), error);
}

#[test]
fn what_cannot_be_verified_is_not_fetched() {
    let key = Signer::new();
    let good = key.sign(&image());
    let patched = |kind, hash| patched(good.clone(), kind, hash);
    let own = key.armored();
    let over = SubpacketData::SignatureExpirationTime(Duration::from_secs(60));
    let over = vec![Subpacket::regular(over).unwrap()];
    let condition = SubpacketData::Experimental(101, (&b"x"[..]).into());
    let condition = vec![Subpacket::critical(condition).unwrap()];
    for (signature, keyring, expected) in [
        (good.clone(), Signer::new().armored(), "which is not in `keys`"),
        (good.clone(), armored(&key.expiring_after(99)), "has expired on 20"),
        (good.clone(), armored(&key.revoked()), "is revoked"),
        (good.clone(), format!("{own}\n{}", armored(&key.revoked())), "is revoked"),
        (good.clone(), armored(&key.certified(false, vec![])), "is not for signing"),
        (key.sign_with_subkey(&image()), armored(&key.revoked()), "is revoked"),
        (key.sign_with_subkey(&image()), armored(&key.expiring_after(99)), "has expired on 20"),
        (key.sign_with_subkey(&image()), armored(&key.with_revoked_subkey()), "has a revoked subkey"),
        (key.sign_with_subkey(&image()), armored(&key.with_expired_subkey()), "has expired on 20"),
        (key.sign_with_subkey(&image()), armored(&key.with_captured_subkey()), "not for signing"),
        (key.sign_with_subkey(&image()), armored(&key.with_foreign_subkey()), "does not acknowledge"),
        (patched(SignatureType::Binary, HashAlgorithm::Sha1), own.clone(), "SHA1 hash, which is weak"),
        (patched(SignatureType::Binary, HashAlgorithm::Md5), own.clone(), "MD5 hash, which is weak"),
        (patched(SignatureType::Timestamp, HashAlgorithm::Sha256), own.clone(), "no signature of a file"),
        (patched(SignatureType::Standalone, HashAlgorithm::Sha256), own.clone(), "no signature of a file"),
        (patched(SignatureType::Text, HashAlgorithm::Sha256), own.clone(), "no signature of a file"),
        (key.sign_with(over, &image()), own.clone(), "has expired"),
        (key.sign_with(condition, &image()), own.clone(), "a condition that is not understood"),
        (b"<html>".to_vec(), own.clone(), "is no OpenPGP signature"),
        (b"".to_vec(), own.clone(), "is no OpenPGP signature"),
        (good[..good.len() - 9].to_vec(), own.clone(), "is no OpenPGP signature"),
        (binary(&[key.public()]), own.clone(), "is no OpenPGP signature"),
    ] {
        let (server, folder) = signed(&signature, keyring.as_bytes());
        let error = refused(&folder, &KEYRING, 1);
        assert!(error.contains(expected), "{expected}: {error}");
        assert_eq!(server.only_request().path(), "/x.sig");
    }
}

#[test]
fn a_missing_signature_is_refused_before_the_file_is_asked_for() {
    let key = Signer::new();
    let server = files(&[("/x", b"x")]);
    let folder = with_qcow2(&server.url("/x"), b"x");
    folder.write("keys", &key.armored());
    assert_eq!(
        refused(&folder, &KEYRING, 1),
        format!(
            "error: the pin has no signature for `{}`\n\
             help: leave out --keyring to rely on the pin's sha256 alone\n",
            server.url("/x")
        )
    );
    assert_eq!(server.count(), 0);

    let folder = with_disk(&format!(
        r#"{{ "location": "{}", "sha256": "{}", "signature": "{}" }}"#,
        server.url("/x"),
        sha256(b"x"),
        server.url("/x.sig")
    ));
    folder.write("keys", &key.armored());
    let error = refused(&folder, &KEYRING, 1);
    assert!(
        error.starts_with(&format!("error: the signature `{}` is not there: 404\n", server.url("/x.sig"))),
        "{error}"
    );
    assert_eq!(server.only_request().path(), "/x.sig");
}

#[test]
fn a_wrong_sum_is_refused_whatever_the_signature_says() {
    let key = Signer::new();
    let (_, folder) = signed(&key.sign(&image()), key.armored().as_bytes());
    let pin = folder.pin().replace(&sha256(&image()), &sha256(b"another"));
    folder.write("pins/stable.json", &pin);
    let error = refused(&folder, &KEYRING, 1);
    assert!(error.contains("is not the file that is pinned"), "{error}");
}

#[test]
fn what_is_no_keyring_is_a_usage_error() {
    let key = Signer::new();
    let armored = key.armored();
    for keyring in [&b""[..], b"no key", b"KBXf", &key.sign(b"x"), &armored.as_bytes()[..armored.len() / 2]] {
        let (server, folder) = signed(b"", keyring);
        let error = refused(&folder, &KEYRING, 2);
        assert!(error.starts_with("error: `keys` is no keyring: "), "{error}");
        assert_eq!(server.count(), 0);
    }
    let (_, folder) = signed(b"", b"");
    let error = refused(&folder, &["qemu", "--keyring", "nowhere"], 2);
    assert!(error.starts_with("error: failed to read `nowhere`"), "{error}");
}

#[test]
fn gnupg_is_of_the_same_opinion() {
    let home = tempfile::tempdir().unwrap();
    let gpg = |arguments: &[&str]| {
        let mut command = Command::new("gpg");
        command.args(["--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase", "", "--homedir"]);
        command.arg(home.path()).args(arguments).output()
    };
    if gpg(&["--version"]).is_err() {
        eprintln!("skipped: gpg is not installed");
        return;
    }
    let run = |arguments: &[&str]| {
        let output = gpg(arguments).unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(home.path(), PermissionsExt::from_mode(0o700)).unwrap();
    }
    let file = home.path().join("x");
    fs::write(&file, image()).unwrap();
    for (kind, name) in
        [("rsa4096", "rsa@example.com"), ("ed25519", "ed@example.com"), ("nistp256", "p@example.com")]
    {
        run(&["--quick-gen-key", name, kind, "sign,cert", "1y"]);
        let signature = run(&["-u", name, "--detach-sign", "--output", "-", file.to_str().unwrap()]);
        for keys in [run(&["--export", name]), run(&["--export", "--armor", name])] {
            let (_, folder) = signed(&signature, &keys);
            let run = download(&folder, &KEYRING);
            assert_eq!(run.status, 0, "{kind}: {}", run.stderr);
        }
    }
    // Expired since, and revoked.
    run(&[
        "--faked-system-time",
        "20200101T000000",
        "--quick-gen-key",
        "old@example.com",
        "ed25519",
        "sign,cert",
        "1y",
    ]);
    let old =
        ["--faked-system-time", "20200201T000000", "-u", "old@example.com", "--detach-sign", "--output", "-"];
    let signature = run(&[&old[..], &[file.to_str().unwrap()]].concat());
    let (_, folder) = signed(&signature, &run(&["--export", "old@example.com"]));
    let error = refused(&folder, &KEYRING, 1);
    assert!(
        error.contains("has expired on 2020-12-31") || error.contains("has expired on 2021-01-01"),
        "{error}"
    );

    let listed = String::from_utf8(run(&["--list-keys", "--with-colons", "ed@example.com"])).unwrap();
    let fingerprint = listed.lines().find_map(|line| line.strip_prefix("fpr:")).unwrap().trim_matches(':');
    let revocation = home.path().join(format!("openpgp-revocs.d/{fingerprint}.rev"));
    // It has a colon in front, so that nobody imports it by mistake.
    let armor = fs::read_to_string(&revocation).unwrap().replace(":-----BEGIN", "-----BEGIN");
    fs::write(&revocation, armor).unwrap();
    let signature = run(&["-u", "ed@example.com", "--detach-sign", "--output", "-", file.to_str().unwrap()]);
    run(&["--import", revocation.to_str().unwrap()]);
    let (_, folder) = signed(&signature, &run(&["--export", "ed@example.com"]));
    assert!(refused(&folder, &KEYRING, 1).contains("is revoked"));

    let _ = Command::new("gpgconf").arg("--homedir").arg(home.path()).args(["--kill", "all"]).status();
}
