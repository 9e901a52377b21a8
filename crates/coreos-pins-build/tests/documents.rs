//! Stream documents go through the model and come out whole: all of upstream's that are at hand, and a fixture with
//! every kind of entry.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use coreos_pins_build::generate::{FILE, generate};
use coreos_pins_build::pin::{Pin, Source};
use coreos_pins_build::resolve::{Channel, Origin, Resolved};
use coreos_pins_build::stream::Stream;
use serde_json::Value;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// Upstream's stream documents, where the folder `shared` is beside the repository, and our fixture.
fn documents() -> Vec<(String, Vec<u8>)> {
    let mut paths = vec![fixtures().join("every-kind.json")];
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    for family in ["stream-fcos", "stream-okd", "stream-rhcos"] {
        match fs::read_dir(shared.join(family)) {
            Ok(entries) => paths.extend(entries.map(|entry| entry.expect("an entry").path())),
            Err(_) => eprintln!("skipped: no {family} in ../shared/data"),
        }
    }
    paths.push(shared.join("release-index/tracker-stream-sample.json"));
    paths.retain(|path| path.exists());
    paths.sort();
    paths.into_iter().map(|path| (path.display().to_string(), fs::read(&path).expect("a document"))).collect()
}

/// Takes away what the model takes away: optional members that are empty or `null`. Hashes are in lower case.
fn normalise(value: &mut Value) {
    const OPTIONAL: [&str; 6] =
        ["signature", "uncompressed-sha256", "digest-ref", "family", "generator", "last-modified"];
    match value {
        Value::Object(map) => {
            map.retain(|key, value| {
                !(OPTIONAL.contains(&key.as_str())
                    && (value.is_null() || *value == Value::String(String::new())))
            });
            if let Some(Value::String(sha256)) = map.get_mut("sha256") {
                sha256.make_ascii_lowercase();
            }
            map.values_mut().for_each(normalise);
        }
        Value::Array(values) => values.iter_mut().for_each(normalise),
        _ => {}
    }
}

/// Takes away the unknown members of our fixture.
fn remove_novel(value: &mut Value) {
    if let Value::Object(map) = value {
        map.remove("novel");
        map.values_mut().for_each(remove_novel);
    }
}

#[test]
fn every_document_reads_prints_canonically_and_reads_back_equal() {
    for (name, bytes) in documents() {
        let stream = Stream::read(&name, &bytes).unwrap();
        let text = stream.to_text();
        let again = Stream::read(&name, text.as_bytes()).unwrap();
        assert_eq!(again, stream, "{name}");
        assert_eq!(again.to_text(), text, "{name}");
    }
}

#[test]
fn nothing_that_upstream_has_is_lost() {
    for (name, bytes) in documents() {
        let text = Stream::read(&name, &bytes).unwrap().to_text();
        let mut expected: Value = serde_json::from_slice(&bytes).unwrap();
        normalise(&mut expected);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), expected, "{name}");
    }
}

#[test]
fn an_independent_reader_finds_the_same_files_and_amis() {
    for (name, bytes) in documents() {
        let stream = Stream::read(&name, &bytes).unwrap();
        // The other reader takes every member of a format for a file.
        let mut known: Value = serde_json::from_slice(&bytes).unwrap();
        remove_novel(&mut known);
        let oracle = serde_json::from_value::<coreos_stream_metadata::Stream>(known);
        let oracle = oracle.unwrap_or_else(|error| panic!("{name}: {error}"));
        for (architecture, oracle) in &oracle.architectures {
            let ours = &stream.architectures[architecture.as_str()];
            let files: BTreeMap<(&str, &str, &str), _> = ours
                .all_artifacts()
                .map(|(platform, _, format, kind, file)| ((platform, format, kind), file))
                .collect();
            let mut count = 0;
            for (platform, oracle) in &oracle.artifacts {
                for (format, oracle) in &oracle.formats {
                    for (kind, oracle) in oracle {
                        let file = files[&(platform.as_str(), format.as_str(), kind.as_str())];
                        assert_eq!(file.location, oracle.location);
                        assert_eq!(file.sha256, oracle.sha256.to_lowercase());
                        assert_eq!(file.uncompressed_sha256, oracle.uncompressed_sha256);
                        assert_eq!(file.signature, oracle.signature.clone().filter(|s| !s.is_empty()));
                        count += 1;
                    }
                }
            }
            assert_eq!(count, files.len(), "{name} {architecture}");
            let aws = oracle.images.as_ref().and_then(|images| images.aws.as_ref());
            for (region, image) in aws.into_iter().flat_map(|aws| &aws.regions) {
                let images = ours.images.as_ref().unwrap().aws.as_ref().unwrap();
                assert_eq!(images.regions[region.as_str()].image, image.image);
            }
        }
    }
}

#[test]
fn every_document_becomes_constants_that_are_rust() {
    for (name, bytes) in documents() {
        let files = generate(&resolved(&name, &bytes)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let code = &files[FILE];
        syn::parse_file(code).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(code.starts_with("// @generated by coreos-pins-build "));
        assert_eq!(files["coreos_pins/fixture.json"], Stream::read(&name, &bytes).unwrap().to_text());
    }
}

fn resolved(name: &str, bytes: &[u8]) -> Resolved {
    let stream = Stream::read(name, bytes).unwrap();
    let source = Source { sha256: "0".repeat(64), url: "https://example.com/stream.json".into() };
    let pin = Pin::new(stream, "https://example.com".into(), vec![source]);
    let base_url = "https://example.com".to_owned();
    let channel = Channel { base_url, origin: Origin::Pinned, release_image: None, pin };
    Resolved::new("fixture", BTreeMap::from([("fixture".into(), channel)]))
}

/// Compares `text` with the golden file `name`, or writes it where `BLESS=1`.
fn golden(name: &str, text: &str) {
    let path = fixtures().join(name);
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        fs::write(&path, text).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        text == expected,
        "{name} has changed. Is that what you want? BLESS=1 cargo test -p coreos-pins-build"
    );
}

#[test]
fn the_canonical_pin_is_as_it_was() {
    let bytes = fs::read(fixtures().join("every-kind.json")).unwrap();
    golden("every-kind.pin.json", &resolved("fixture", &bytes).channels["fixture"].pin.to_text());
}

#[test]
fn the_generated_code_is_as_it_was() {
    let bytes = fs::read(fixtures().join("every-kind.json")).unwrap();
    golden("every-kind.rs.txt", &generate(&resolved("fixture", &bytes)).unwrap()[FILE]);
}
