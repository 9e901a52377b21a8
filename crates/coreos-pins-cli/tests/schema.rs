//! The JSON Schemas that are committed: fresh, true of the pins, and not of mistakes.

mod harness;

use std::fs;
use std::path::Path;

use harness::{Folder, POLICY, committed};
use serde_json::{Value, json};

/// What `coreos-pins schema` prints, which is what is committed. `BLESS=1` writes it.
fn schema(kind: &str, file: &str) -> Value {
    let run = Folder::new(POLICY).run_in("", &["schema", kind], &[]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema").join(file);
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &run.stdout).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), run.stdout, "{file} is stale: run this test with BLESS=1");
    serde_json::from_str(&run.stdout).unwrap()
}

fn json_of(name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(committed().join(name)).unwrap()).unwrap()
}

#[test]
fn the_policy_is_as_its_schema_says_and_typos_are_not() {
    let schema = jsonschema::validator_for(&schema("policy", "channels.schema.json")).unwrap();
    let policy = json_of("channels.json");
    assert!(schema.is_valid(&policy));
    for (pointer, key, value) in [
        ("", "chanels", json!({})),
        ("/channels/stable", "base_url", json!("https://example.com")),
        ("/channels/stable", "layout", json!("builds2")),
        ("/channels/stable", "require", json!("aws")),
        ("/channels/stable", "hold", json!({ "until": "2026-12-31" })),
        ("", "version", json!("1")),
    ] {
        let mut wrong = policy.clone();
        wrong.pointer_mut(pointer).unwrap().as_object_mut().unwrap().insert(key.to_owned(), value);
        assert!(!schema.is_valid(&wrong), "{pointer} {key}");
        // What the schema refuses, the reader does too.
        assert!(coreos_pins_build::policy::Policy::read("p", wrong.to_string().as_bytes()).is_err(), "{key}");
    }
    let mut with_schema = policy;
    with_schema["$schema"] = json!("../schema/channels.schema.json");
    assert!(schema.is_valid(&with_schema));
    assert!(coreos_pins_build::policy::Policy::read("p", with_schema.to_string().as_bytes()).is_ok());
}

#[test]
fn every_pin_is_as_its_schema_says_and_mistakes_are_not() {
    let schema = jsonschema::validator_for(&schema("pin", "pin.schema.json")).unwrap();
    for channel in ["stable", "testing", "next", "rhel-9", "rhel-10", "c10s"] {
        let pin = json_of(&format!("{channel}.json"));
        let errors: Vec<String> = schema.iter_errors(&pin).map(|error| error.to_string()).collect();
        assert_eq!(errors, [""; 0], "{channel}");
    }
    let pin = json_of("stable.json");
    let disk = "/architectures/x86_64/artifacts/qemu/formats/qcow2.xz/disk";
    for (pointer, key, value) in [
        (disk, "sha256", json!("abc")),
        (disk, "sha256", json!(1)),
        (disk, "location", json!("")),
        ("/architectures/x86_64/images/aws/regions/us-east-1", "image", json!(null)),
        ("/pin", "versoin", json!(1)),
        ("/pin", "build", json!(44)),
        ("", "architectures", json!([])),
    ] {
        let mut wrong = pin.clone();
        wrong.pointer_mut(pointer).unwrap().as_object_mut().unwrap().insert(key.to_owned(), value);
        assert!(!schema.is_valid(&wrong), "{pointer} {key}");
        assert!(coreos_pins_build::pin::Pin::read("p", wrong.to_string().as_bytes()).is_err(), "{key}");
    }
    // Upstream's new keys are fine.
    let mut more = pin;
    more["architectures"]["x86_64"]["novel"] = json!({ "a": 1 });
    assert!(schema.is_valid(&more));
}

#[test]
fn a_builder_pin_has_a_schema_too() {
    let schema = jsonschema::validator_for(&schema("builder-pin", "builder-pin.schema.json")).unwrap();
    let digest = format!("sha256:{}", "a".repeat(64));
    let pin = json!({ "version": 1, "image": "quay.io/a/b", "digest": digest, "media-type": "m", "architectures": {} });
    assert!(schema.is_valid(&pin));
    let mut wrong = pin;
    wrong["arches"] = json!({});
    assert!(!schema.is_valid(&wrong));
}
