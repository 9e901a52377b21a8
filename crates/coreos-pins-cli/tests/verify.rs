//! `verify`: what it finds in pins that are not what they should be, and what it asks upstream.

mod harness;

use std::fs;

use harness::server::Server;
use harness::{Folder, POLICY, Run, committed, document};
use serde_json::{Value, json};

const SHA: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const OTHER: &str = "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210";

fn pinned() -> Folder {
    let folder = Folder::new(POLICY);
    folder.bump(&document("44.1")).said("stable: pinned build 44.1\n");
    folder
}

fn verify(folder: &Folder, arguments: &[&str]) -> Run {
    folder.run_in("", &[&["verify"], arguments].concat(), &[])
}

/// Puts `new` in place of `old` in the pin, which must then be found wanting for `said`.
#[track_caller]
fn finds(old: &str, new: &str, said: &str) {
    let folder = pinned();
    let pin = folder.pin();
    assert!(pin.contains(old), "{old}");
    folder.write("pins/stable.json", &pin.replace(old, new));
    let run = verify(&folder, &[]);
    assert_eq!((run.status, run.stderr.as_str()), (1, ""), "{said}");
    assert!(
        run.stdout.lines().any(|line| line.starts_with("stable: ") && line.contains(said)),
        "{said}: {}",
        run.stdout
    );
}

#[test]
fn pins_that_are_as_they_should_be_are_said_to_be() {
    let folder = pinned();
    verify(&folder, &[]).said("stable: ok\n");
    let value: Value = serde_json::from_str(&verify(&folder, &["--json"]).stdout).unwrap();
    assert_eq!(
        value,
        json!({ "version": 1, "ok": true, "channels": ["stable"], "faults": [], "unanswered": [] })
    );
    let run = verify(&folder, &["nope"]);
    assert_eq!(
        (run.status, run.stderr.as_str()),
        (2, "error: no pin of channel `nope` in `pins`\npinned are `stable`\n")
    );
}

#[test]
fn the_pins_of_this_repository_are_as_they_should_be() {
    let folder = Folder::new(POLICY);
    let run = folder.run_in("", &["--pins-dir", committed().to_str().unwrap(), "verify"], &[]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{}", run.stdout);
    assert!(run.stdout.contains("stable: ok\n") && run.stdout.contains("rhel-9: ok\n"));
}

#[test]
fn form_hosts_and_policy_are_checked() {
    finds("\n", "\r\n", "not in canonical form");
    finds("\"version\": 1", "\"version\": 9", "pin.version: 9 is newer than this coreos-pins");
    finds(
        "\"build\": \"44.1\"",
        "\"build\": \"44.0\"",
        "pin.build is `44.0`, but the artifacts are of `44.1`",
    );
    finds("{\n  \"pin\"", "<<<<<<< ours\n{\n  \"pin\"", "line 1 is the marker of an unfinished merge");
    finds("https://example.com/44.1", "http://example.com/44.1", "is at `example.com`, by plain http");
    finds(
        "https://example.com/44.1",
        "https://mirror.corp/44.1",
        "is at `mirror.corp`, a name of a private network",
    );
    finds(
        "https://example.com/44.1",
        "https://old.example.com/44.1",
        "1 of its files at `old.example.com`, not at `example.com`",
    );
    finds(
        "\"base-url\": \"https://example.com\"",
        "\"base-url\": \"https://old.example.com\"",
        "base-url is `https://old.example.com`, and channels.json has `https://example.com`",
    );
    finds("\"qemu\"", "\"openstack\"", "lacks what channels.json requires: qemu on x86_64");
    let a = "a".repeat(64);
    finds(
        &format!("\"sha256\": \"{a}\" }}\n"),
        &format!("\"sha256\": \"{a}\", \"uncompressed-sha256\": \"{a}\" }}\n"),
        "the same checksum packed and unpacked",
    );
    // A host that is meant.
    let folder = pinned();
    folder.write(
        "pins/stable.json",
        &folder.pin().replace("https://example.com/44.1", "https://mirror.corp/44.1"),
    );
    verify(&folder, &["--allow-host", "mirror.corp"]).said("stable: ok\n");
    // What the policy does not select.
    let folder = pinned();
    folder.write(
        "pins/channels.json",
        &POLICY.replace("\"require\"", "\"architectures\": [\"x86_64\"], \"require\""),
    );
    let run = verify(&folder, &[]);
    assert!(
        run.stdout.contains("has architectures or platforms that channels.json does not select"),
        "{}",
        run.stdout
    );
}

#[test]
fn pins_that_no_constants_can_be_made_of_are_found() {
    let folder = pinned();
    for name in ["sta-ble", "sta_ble"] {
        folder.write(&format!("pins/{name}.json"), &folder.pin());
    }
    let run = verify(&folder, &[]);
    assert_eq!(run.status, 1);
    assert!(
        run.stdout.starts_with(
            "all: pins: channel `sta-ble` and channel `sta_ble` would both be `sta_ble` in Rust"
        ),
        "{}",
        run.stdout
    );
}

#[test]
fn every_fault_of_every_file_is_listed() {
    let folder = pinned();
    folder.write("pins/next.json", "{");
    folder
        .write("pins/other.json", &folder.pin().replace("https://example.com/44.1", "https://10.0.0.1/44.1"));
    folder.write("pins/stable.json", &folder.pin().replace('\n', "\n\n"));
    let run = verify(&folder, &[]);
    assert_eq!(run.status, 1);
    let channels: Vec<&str> = run.stdout.lines().map(|line| line.split(':').next().unwrap()).collect();
    for channel in ["next", "other", "stable"] {
        assert!(channels.contains(&channel), "{}", run.stdout);
    }
    let value: Value = serde_json::from_str(&verify(&folder, &["--json"]).stdout).unwrap();
    assert_eq!(
        (value["ok"].clone(), value["faults"].as_array().unwrap().len()),
        (json!(false), run.stdout.lines().count())
    );
    // Of those that are named only.
    assert_eq!(verify(&folder, &["next"]).stdout.lines().count(), 1);
}

#[test]
fn the_hash_of_a_binary_is_compared_with_the_pins_on_disk() {
    let folder = pinned();
    let text = format!("stable.json\n{}", folder.pin());
    let hash = coreos_pins_build::sha256::hex([text.as_bytes()]);
    verify(&folder, &["--embedded", &hash]).said("stable: ok\n");
    let run = verify(&folder, &["--embedded", SHA]);
    assert_eq!(run.status, 1);
    assert_eq!(run.stdout, format!("PINS_SHA256: the binary has {SHA}, the pins on disk have {hash}\n"));
    assert_eq!(verify(&folder, &["--embedded", "abc"]).status, 2);
}

/// `stable` in the layout `builds`, pinned at a server.
fn upstream() -> (Server, Folder) {
    let server = Server::start();
    server.put("/stable/builds/builds.json", r#"{ "builds": [ { "id": "44.1", "arches": ["x86_64"] } ] }"#);
    server.put("/stable/builds/44.1/x86_64/meta.json", record());
    server.put("/stable/builds/44.1/x86_64/q.qcow2.gz", "the qcow2");
    let policy = format!(
        r#"{{ "version": 1, "default": "stable", "channels": {{ "stable": {{ "base-url": "{}", "layout": "builds" }} }} }}"#,
        server.base
    );
    let folder = Folder::new(&policy);
    folder
        .run_in("", &["bump", "stable", "--allow-host", "127.0.0.1"], &[])
        .said("stable: pinned build 44.1\n");
    server.requests();
    (server, folder)
}

fn record() -> String {
    format!(
        r#"{{ "buildid": "44.1", "coreos-assembler.basearch": "x86_64", "amis": [ {{ "name": "r-1", "hvm": "ami-1" }} ],
            "images": {{ "qemu": {{ "path": "q.qcow2.gz", "sha256": "{SHA}", "uncompressed-sha256": "{OTHER}" }} }} }}"#
    )
}

fn online(folder: &Folder) -> Run {
    verify(folder, &["--online", "--allow-host", "127.0.0.1"])
}

#[test]
fn online_the_build_is_resolved_again_and_every_file_is_asked_for() {
    let (server, folder) = upstream();
    online(&folder).said("stable: ok\n");
    assert_eq!(
        server.requests(),
        ["GET /stable/builds/44.1/x86_64/meta.json", "HEAD /stable/builds/44.1/x86_64/q.qcow2.gz"]
    );
    // Being behind upstream is no fault of the pin.
    server.put("/stable/builds/builds.json", r#"{ "builds": [ { "id": "44.2", "arches": ["x86_64"] } ] }"#);
    online(&folder).said("stable: ok\n");
}

#[test]
fn a_swapped_pair_of_checksums_is_found_and_so_is_another_ami() {
    let (server, folder) = upstream();
    let pin = folder.pin();
    folder.write("pins/stable.json", &pin.replace(SHA, "X").replace(OTHER, SHA).replace('X', OTHER));
    verify(&folder, &["--allow-host", "127.0.0.1"]).said("stable: ok\n");
    let run = online(&folder);
    assert_eq!(run.status, 1);
    assert!(
        run.stdout.contains(&format!("x86_64 qemu qcow2.gz disk sha256: pinned is `{OTHER}`, found `{SHA}`")),
        "{}",
        run.stdout
    );
    folder.write("pins/stable.json", &pin);
    server.put("/stable/builds/44.1/x86_64/meta.json", record().replace("ami-1", "ami-9"));
    let run = online(&folder);
    assert!(run.status == 1 && run.stdout.contains("x86_64 aws r-1: pinned is `ami-1`"), "{}", run.stdout);
}

#[test]
fn gone_and_no_answer_are_told_apart() {
    let (server, folder) = upstream();
    for status in [404, 403] {
        server.answer("/stable/builds/44.1/x86_64/q.qcow2.gz", status, "");
        let run = online(&folder);
        assert_eq!((run.status, run.stderr.as_str()), (1, ""), "{}", run.stdout);
        assert!(
            run.stdout.contains(&format!(
                "x86_64 qemu qcow2.gz location is gone: {}/stable/builds/44.1/x86_64/q.qcow2.gz: {status}\n",
                server.base
            )),
            "{}",
            run.stdout
        );
    }
    server.answer("/stable/builds/44.1/x86_64/q.qcow2.gz", 401, "");
    let run = online(&folder);
    assert_eq!((run.status, run.stdout.as_str()), (3, ""), "{}", run.stderr);
    assert!(run.stderr.starts_with("error: stable: failed to fetch `"), "{}", run.stderr);
    server.remove("/stable/builds/44.1/x86_64/meta.json");
    let run = online(&folder);
    assert_eq!(run.status, 1, "what is gone counts, whatever else gave no answer");
    assert!(run.stdout.contains("no build `44.1` in channel `stable`"), "{}", run.stdout);
    // Nobody there at all.
    let policy = folder.read("pins/channels.json").replace(&server.base, "http://127.0.0.1:1");
    folder.write("pins/channels.json", &policy);
    folder.write("pins/stable.json", &folder.pin().replace(&server.base, "http://127.0.0.1:1"));
    let run = online(&folder);
    assert_eq!((run.status, run.stdout.as_str()), (3, ""), "{}", run.stderr);
    assert_eq!(fs::read_dir(folder.path("pins")).unwrap().count(), 2);
}

#[test]
fn dead_ends_of_pinned_builds_are_warned_of() {
    let server = Server::start();
    server.put("/streams/stable.json", document("44.1"));
    let policy = format!(
        r#"{{ "version": 1, "channels": {{ "stable": {{ "base-url": "{}", "layout": "stream" }} }} }}"#,
        server.base
    );
    let folder = Folder::new(&policy);
    assert_eq!(folder.run_in("", &["bump", "stable", "--allow-host", "127.0.0.1"], &[]).status, 0);
    let dead = r#"{ "releases": [ { "version": "44.1", "metadata": { "deadend": { "reason": "r" } } } ] }"#;
    server.put("/updates/stable.json", dead);
    let run = online(&folder);
    assert!(run.stderr.contains("warning: channel `stable`: build `44.1` is a dead end"), "{}", run.stderr);
}
