//! What `bump --from FILE` writes: a canonical pin of the document, once, and nothing else.

mod harness;

use coreos_pins_build::pin::{Pin, Source};
use coreos_pins_build::sha256;
use harness::{Folder, POLICY, URL, document, policy_with};
use serde_json::{Value, json};

#[test]
fn a_pin_is_the_document_and_where_it_came_from_in_canonical_form() {
    let folder = Folder::new(POLICY);
    folder.bump(&document("44.1")).said("stable: pinned build 44.1\n");
    let text = folder.pin();
    let pin = Pin::read("pin", text.as_bytes()).unwrap();
    assert_eq!(pin.to_text(), text);
    let header = pin.header.unwrap();
    assert_eq!((header.base_url.as_str(), header.build.as_str()), ("https://example.com", "44.1"));
    assert_eq!((header.version, header.release_image), (1, None));
    let source = Source { sha256: sha256::hex([document("44.1").as_bytes()]), url: URL.into() };
    assert_eq!(header.sources, [source]);

    let mut expected: Value = serde_json::from_str(&document("44.1")).unwrap();
    expected["architectures"]["aarch64"]["artifacts"] = json!({});
    let mut found: Value = serde_json::from_str(&text).unwrap();
    found.as_object_mut().unwrap().remove("pin");
    assert_eq!(found, expected);
    assert_eq!(folder.pins(), ["channels.json", "stable.json"]);
}

#[test]
fn the_same_document_again_changes_no_byte_and_no_time() {
    let folder = Folder::new(POLICY);
    folder.bump(&document("44.1")).said("stable: pinned build 44.1\n");
    let before = folder.files();
    let arguments = ["bump", "stable", "--from", "in.json", "--published-at", URL];
    for _ in 0..2 {
        folder.run_in("", &arguments, &[]).said("stable: up to date, build 44.1\n");
        assert!(folder.files() == before);
    }
}

#[test]
fn another_build_says_from_which_to_which() {
    let folder = Folder::new(POLICY);
    folder.bump(&document("44.1")).said("stable: pinned build 44.1\n");
    folder.bump(&document("44.2")).said(
        "stable: build 44.1 is now 44.2\n  aarch64 aws: 1 region changed\n  x86_64 aws: 2 regions changed\n  \
         x86_64: other files under the same names: qemu\n",
    );
    let other = document("44.2").replace("\"stream\"", "\"novel\": 1, \"stream\"");
    folder.bump(&other).said("stable: still build 44.2, its pin written anew\n");
    assert!(folder.pin().contains("\"novel\": 1"));
    // What goes away beside files and images is named.
    let run = folder.bump(&document("44.2"));
    assert_eq!(run.stderr, "warning: channel `stable`: the pin no longer has `novel`\n");
}

#[test]
fn one_ami_that_changed_is_one_line_and_that_of_its_source() {
    let folder = Folder::new(POLICY);
    folder.bump(&document("44.1"));
    folder.git(&["init", "-q"]);
    folder.git(&["add", "pins"]);
    folder.git(&["commit", "-qm", "pins"]);
    let document_now = document("44.1").replace("ami-2", "ami-9");
    folder.refused(&document_now, 1);
    let run = folder.bump_with(&document_now, &["--allow-republished"]);
    run.said("stable: still build 44.1, its pin written anew\n  x86_64 aws: 1 region changed\n");
    assert_eq!(folder.git(&["diff", "--numstat"]), "2\t2\tpins/stable.json\n");
    let difference = folder.git(&["diff", "-U0"]);
    let added: Vec<&str> = difference.lines().filter(|line| line.starts_with("+ ")).collect();
    assert!(added[0].contains(&sha256::hex([document("44.1").replace("ami-2", "ami-9").as_bytes()])));
    assert_eq!(
        added[1].trim_start_matches(['+', ' ']),
        r#""us-west-1": { "image": "ami-9", "release": "44.1" }"#
    );
}

#[test]
fn another_layout_of_the_document_gives_the_same_pin_but_for_the_hash_of_its_source() {
    let folder = Folder::new(POLICY);
    folder.bump(&document("44.1"));
    let (before, hash) = (folder.pin(), sha256::hex([document("44.1").as_bytes()]));
    let other = format!("\u{feff}{}", document("44.1").replace('\n', "\r\n"));
    assert_eq!(folder.bump(&other).status, 0);
    let other_hash = sha256::hex([other.as_bytes()]);
    assert_ne!(other_hash, hash);
    assert_eq!(folder.pin(), before.replace(&hash, &other_hash));
}

#[test]
fn a_pin_that_was_laid_out_by_hand_is_laid_out_anew_once() {
    let folder = Folder::new(POLICY);
    folder.bump(&document("44.1"));
    let canonical = folder.pin();
    for by_hand in [
        canonical.replace('\n', "\r\n").replace("  ", "\t"),
        format!("\u{feff}{}", canonical.trim_end()),
        serde_json::from_str::<Value>(&canonical).unwrap().to_string(),
    ] {
        assert_ne!(by_hand, canonical);
        folder.write("pins/stable.json", &by_hand);
        folder.bump(&document("44.1")).said("stable: still build 44.1, its pin written anew\n");
        assert_eq!(folder.pin(), canonical);
        folder.bump(&document("44.1")).said("stable: up to date, build 44.1\n");
    }
}

#[test]
fn other_files_among_the_pins_are_left_alone() {
    let folder = Folder::new(POLICY);
    for name in [
        "README.md",
        ".stable.json",
        ".pin-old.part",
        "testing.json",
        "stable.json~",
        "builders/a/stable.json",
    ] {
        folder.write(&format!("pins/{name}"), "{ not JSON");
    }
    let mut before = folder.files();
    folder.bump(&document("44.1")).said("stable: pinned build 44.1\n");
    let mut after = folder.files();
    assert!(after.remove(&folder.path("pins/stable.json")).is_some());
    assert!(after.remove(&folder.path("in.json")).is_some());
    // The folder itself has a new entry.
    for files in [&mut before, &mut after] {
        files.remove(&folder.path("pins"));
    }
    assert!(after == before);
}

#[test]
fn json_says_the_same_in_the_same_shape() {
    let folder = Folder::new(POLICY);
    let run = |build: &str, arguments: &[&str]| -> Value {
        folder.write("in.json", &document(build));
        let all = ["bump", "stable", "--from", "in.json", "--published-at", URL];
        let run = folder.run_in("", &[&all, arguments].concat(), &[]);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""));
        assert!(run.stdout.ends_with("}\n") && run.stdout.lines().count() == 1, "{}", run.stdout);
        serde_json::from_str(&run.stdout).unwrap()
    };
    let expected = |old: Option<&str>, new: &str, changed: bool, summary: Value| {
        let channel =
            json!({ "channel": "stable", "old": old, "new": new, "changed": changed, "summary": summary });
        json!({ "version": 1, "written": true, "channels": [channel] })
    };
    let counts = |changed: u64| json!({ "added": [], "removed": [], "changed": changed });
    let row = |architecture: &str, platform: &str, images: u64, files: u64| json!({ "architecture": architecture, "platform": platform, "images": counts(images), "files": counts(files) });
    assert_eq!(run("44.1", &["--json"]), expected(None, "44.1", true, Value::Null));
    assert_eq!(run("44.1", &["--json"]), expected(Some("44.1"), "44.1", false, json!([])));
    let rows = json!([row("aarch64", "aws", 1, 0), row("x86_64", "aws", 2, 0), row("x86_64", "qemu", 0, 1)]);
    assert_eq!(run("44.2", &["--json"]), expected(Some("44.1"), "44.2", true, rows));

    // A global flag goes before the command, too.
    folder.write("in.json", &document("44.2"));
    let before =
        folder.run_in("", &["--json", "bump", "stable", "--from", "in.json", "--published-at", URL], &[]);
    let value: Value = serde_json::from_str(&before.stdout).unwrap();
    assert_eq!(value, expected(Some("44.2"), "44.2", false, json!([])));
}

#[test]
fn builds_that_differ_by_architecture_are_recorded_sorted() {
    let folder = Folder::new(POLICY);
    let mixed = document("44.1").replace(
        r#""us-east-1": { "release": "44.1", "image": "ami-3" }"#,
        r#""us-east-1": { "release": "44.0", "image": "ami-3" }"#,
    );
    folder.bump(&mixed).said("stable: pinned build aarch64=44.0,x86_64=44.1\n");
    assert!(folder.pin().contains("\"build\": \"aarch64=44.0,x86_64=44.1\""));
}

#[test]
fn only_the_platforms_and_architectures_of_the_policy_are_pinned() {
    let select = r#""architectures": ["amd64"], "platforms": ["aws"]"#;
    let folder = Folder::new(&policy_with(select).replace(", \"qemu\"", ""));
    folder.bump(&document("44.1")).said("stable: pinned build 44.1\n");
    let pin = Pin::read("pin", folder.pin().as_bytes()).unwrap();
    assert_eq!(pin.stream.architectures.keys().collect::<Vec<_>>(), ["x86_64"]);
    let x86_64 = &pin.stream.architectures["x86_64"];
    assert!(x86_64.artifacts.is_empty());
    assert_eq!(x86_64.images.as_ref().unwrap().aws.as_ref().unwrap().regions.len(), 2);

    let folder = Folder::new(&policy_with(r#""platforms": ["qemu"]"#).replace("\"aws\", ", ""));
    folder.bump(&document("44.1")).said("stable: pinned build 44.1\n");
    // Nothing of aarch64 is left.
    assert!(!folder.pin().contains("ami-") && !folder.pin().contains("aarch64"));
}

#[test]
fn a_pin_can_be_the_document_of_another() {
    let folder = Folder::new(&POLICY.replacen(
        "\"stable\": {",
        "\"testing\": { \"base-url\": \"https://t.example.com\" }, \"stable\": {",
        1,
    ));
    folder.bump(&document("44.1"));
    let arguments = ["bump", "testing", "--from", "pins/stable.json", "--published-at", URL];
    folder.run_in("", &arguments, &[]).said("testing: pinned build 44.1\n");
    // One `pin` key, which is its own.
    let pin = Pin::read("testing", folder.read("pins/testing.json").as_bytes()).unwrap();
    assert_eq!(pin.header.unwrap().base_url, "https://t.example.com");
    folder.run_in("", &arguments, &[]).said("testing: up to date, build 44.1\n");
}
