//! The same pins give the same bytes, however they are laid out and wherever they are; `PINS_SHA256` says which they were.

mod harness;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use coreos_pins_build::Config;
use coreos_pins_build::generate::FILE;
use coreos_pins_build::pin::Pin;
use harness::{SHA, document, text_of};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Our fixture with every kind of entry.
fn every_kind() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/every-kind.json");
    fs::read_to_string(path).unwrap()
}

/// A pins folder with these files.
fn folder<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(dir.path().join(name), text).unwrap();
    }
    dir
}

/// What is generated of the pins folder `dir`, with default channel `channel`.
fn generated(dir: &Path, channel: &str) -> BTreeMap<String, String> {
    Config::new(dir).default_channel(channel).generate().unwrap()
}

fn pins_sha256(dir: &Path, channel: &str) -> String {
    text_of(&generated(dir, channel)[FILE], &[], "PINS_SHA256")
}

/// The rule of the interface, told by another SHA-256: each file's name, a newline, its canonical text.
fn expected_sha256(files: &[(&str, &str)]) -> String {
    let mut sha256 = Sha256::new();
    for (name, text) in files {
        sha256.update(format!("{name}\n{text}"));
    }
    sha256.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Prints `value` with the keys of each object in reverse order, and blanks where none are needed.
fn reversed(value: &Value, text: &mut String) {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by(|(a, _), (b, _)| b.cmp(a));
            text.push('{');
            for (index, (key, value)) in entries.into_iter().enumerate() {
                text.push_str(if index > 0 { "\t,\n" } else { "\n\n" });
                text.push_str(&serde_json::to_string(key).unwrap());
                text.push_str(" :\t");
                reversed(value, text);
            }
            text.push('}');
        }
        Value::Array(values) => {
            text.push('[');
            for (index, value) in values.iter().enumerate() {
                text.push_str(if index > 0 { "," } else { "" });
                reversed(value, text);
            }
            text.push_str("\n]");
        }
        scalar => text.push_str(&scalar.to_string()),
    }
}

/// The SHA-256 that a pin of ours has of its source.
const SOURCE_SHA: &str = "5555555555555555555555555555555555555555555555555555555555555555";

/// A pin with a `pin` key, in canonical form, of the only build `build`.
fn canonical_pin(build: &str) -> String {
    let text = document(&["x86_64"], &[("qemu", "qcow2.xz", "disk")], &["r"])
        .replace("\"release\":\"1\"", &format!("\"release\":\"{build}\""));
    let header = format!(
        r#"{{"pin": {{"version": 1, "base-url": "https://example.com", "build": "{build}", "sources": [
            {{"url": "https://example.com/s.json", "sha256": "{SOURCE_SHA}"}}]}}, "#
    );
    Pin::read("pin", text.replacen('{', &header, 1).as_bytes()).unwrap().to_text()
}

#[test]
fn order_of_keys_line_ends_blanks_and_a_byte_order_mark_change_no_byte() {
    let text = every_kind();
    let expected = generated(folder([("s.json", text.as_str())]).path(), "s");
    let mut shuffled = String::new();
    reversed(&serde_json::from_str(&text).unwrap(), &mut shuffled);
    assert!(shuffled.find("\"x86_64\"") < shuffled.find("\"aarch64\""), "{shuffled}");
    let canonical = Pin::read("s", text.as_bytes()).unwrap().to_text();
    for other in [
        text.replace('\n', "\r\n"),
        format!("\u{feff}{text}"),
        text.replace("  ", "\t"),
        text.trim_end().to_owned(),
        canonical,
        format!("\u{feff}{}", shuffled.replace('\n', "\r\n")),
        shuffled,
    ] {
        assert_ne!(other, text);
        assert!(generated(folder([("s.json", other.as_str())]).path(), "s") == expected, "{other}");
    }
}

#[test]
fn another_folder_and_another_run_change_no_byte_and_no_path_is_in_it() {
    let text = every_kind();
    let (one, other) = (folder([("s.json", text.as_str())]), folder([("s.json", text.as_str())]));
    let files = generated(one.path(), "s");
    assert_eq!(generated(other.path(), "s"), files);
    assert_eq!(generated(one.path(), "s"), files);
    let path = one.path().display().to_string();
    assert!(files.values().all(|text| !text.contains(&path) && !text.contains(env!("CARGO_MANIFEST_DIR"))));
}

#[test]
fn the_hash_is_over_each_pins_name_and_canonical_text_in_order_of_file_names() {
    let (one, two, three) = (canonical_pin("1"), canonical_pin("2"), canonical_pin("3"));
    // `a-b.json` comes before `a.json`, though `a` comes before `a-b`.
    let dir =
        folder([("a.json", one.as_str()), ("a-b.json", &two), ("B.json", &three.replace('\n', "\r\n"))]);
    let expected = expected_sha256(&[("B.json", &three), ("a-b.json", &two), ("a.json", &one)]);
    for default in ["a", "B"] {
        assert_eq!(pins_sha256(dir.path(), default), expected);
    }
}

#[test]
fn the_hash_covers_the_pin_key_and_every_value() {
    let pin = canonical_pin("1");
    let expected = pins_sha256(folder([("s.json", pin.as_str())]).path(), "s");
    assert_eq!(expected, expected_sha256(&[("s.json", &pin)]));
    for (old, new) in [
        (SOURCE_SHA, "f".repeat(64).as_str()),
        (SHA, "f".repeat(64).as_str()),
        ("https://example.com/s.json", "https://example.com/t.json"),
        ("\"base-url\": \"https://example.com\"", "\"base-url\": \"https://example.org\""),
        ("ami-1", "ami-2"),
        ("\"stream\": \"s\"", "\"stream\": \"t\""),
    ] {
        assert!(pin.contains(old), "{old}");
        let other = pin.replacen(old, new, 1);
        assert_ne!(pins_sha256(folder([("s.json", other.as_str())]).path(), "s"), expected, "{old}");
    }
}

#[test]
fn the_hash_covers_what_is_embedded_and_nothing_else() {
    let pin = canonical_pin("1");
    let policy = r#"{"version": 1, "channels": {"s": {}, "f": {"floats": true}}}"#;
    let expected = expected_sha256(&[("s.json", &pin)]);
    let dir = folder([
        ("s.json", pin.as_str()),
        ("f.json", &pin),
        ("channels.json", policy),
        ("README.md", "about"),
        (".s.json", "{"),
        (".pin-x.part", "{"),
    ]);
    // A channel that floats has no constants, unless it is asked for.
    assert_eq!(pins_sha256(dir.path(), "s"), expected);
    assert_eq!(pins_sha256(dir.path(), "f"), expected_sha256(&[("f.json", &pin), ("s.json", &pin)]));
}

#[test]
fn the_document_that_is_embedded_does_not_depend_on_where_it_came_from() {
    let pin = canonical_pin("1");
    let other = pin.replace(SOURCE_SHA, &"f".repeat(64)).replace("/s.json", "/t.json");
    assert_ne!(other, pin);
    let embedded = |pin: &str| generated(folder([("s.json", pin)]).path(), "s")["coreos_pins/s.json"].clone();
    assert_eq!(embedded(&pin), embedded(&other));
    let mut expected: Value = serde_json::from_str(&pin).unwrap();
    expected.as_object_mut().unwrap().remove("pin").expect("a pin key");
    assert_eq!(serde_json::from_str::<Value>(&embedded(&pin)).unwrap(), expected);
}

#[test]
fn a_thousand_channels_are_all_there_and_in_the_hash() {
    let pin = canonical_pin("1");
    let names: Vec<String> = (0..1000).map(|index| format!("c{index}.json")).collect();
    let dir = folder(names.iter().map(|name| (name.as_str(), pin.as_str())));
    let files = generated(dir.path(), "c7");
    assert_eq!(files.len(), 1001);
    let mut expected: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), pin.as_str())).collect();
    expected.sort_unstable();
    // Not parsed: it is long.
    let sha256 = expected_sha256(&expected);
    assert!(files[FILE].contains(&format!("\npub const PINS_SHA256: &str = \"{sha256}\";\n")));
    assert!(files[FILE].contains("        pub const NAME: &str = \"c999\";\n"));
}
