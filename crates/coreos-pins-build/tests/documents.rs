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

/// The documents, by name: our fixture, and upstream's where the folder `shared` is beside the repository.
fn documents() -> Vec<(String, Vec<u8>)> {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let mut paths = vec![fixtures().join("every-kind.json")];
    match fs::read_dir(&shared) {
        Err(_) => eprintln!("only our own fixture is read: there is no {}", shared.display()),
        Ok(families) => {
            let families = families.map(|family| family.expect("an entry").path());
            let is_stream =
                |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with("stream-");
            for family in families.filter(is_stream) {
                let files = fs::read_dir(family).expect("a folder");
                paths.extend(files.map(|file| file.expect("an entry").path()));
            }
            assert!(paths.len() > 20, "{} documents", paths.len());
            paths.push(shared.join("release-index/tracker-stream-sample.json"));
        }
    }
    paths.sort();
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    paths.iter().map(|path| (name(path), fs::read(path).expect("a document"))).collect()
}

/// The object at `key`, if there is one.
fn object<'a>(value: &'a mut Value, key: &str) -> Option<&'a mut Value> {
    value.get_mut(key).filter(|value| value.is_object())
}

/// The values of the object at `key`.
fn values<'a>(value: &'a mut Value, key: &str) -> Vec<&'a mut Value> {
    let map = value.get_mut(key).and_then(Value::as_object_mut);
    map.into_iter().flat_map(|map| map.values_mut()).collect()
}

/// Takes away those of the optional `keys` that are `null` or empty.
fn drop_empty(value: &mut Value, keys: &[&str]) {
    if let Value::Object(map) = value {
        map.retain(|key, value| {
            !(keys.contains(&key.as_str()) && (value.is_null() || *value == Value::String(String::new())))
        });
    }
}

/// Does to a document what the model is documented to do, member by member, and nothing else: optional members that are
/// empty or `null` go, `artifacts` is always there, hashes are in lower case.
fn normalise(document: &mut Value) {
    const CLOUDS: [&str; 6] = ["aliyun", "aws", "gcp", "ibmcloud", "kubevirt", "powervs"];
    drop_empty(document, &["metadata"]);
    if let Some(metadata) = object(document, "metadata") {
        drop_empty(metadata, &["generator", "last-modified"]);
    }
    for architecture in values(document, "architectures") {
        drop_empty(architecture, &["images", "rhel-coreos-extensions"]);
        architecture.as_object_mut().unwrap().entry("artifacts").or_insert_with(|| serde_json::json!({}));
        for platform in values(architecture, "artifacts") {
            for format in values(platform, "formats") {
                let kinds = ["disk", "initramfs", "kernel", "rootfs"];
                drop_empty(format, &kinds);
                for kind in kinds {
                    let Some(file) = object(format, kind) else { continue };
                    drop_empty(file, &["signature", "uncompressed-sha256"]);
                    for key in ["sha256", "uncompressed-sha256"] {
                        if let Some(Value::String(sha256)) = file.get_mut(key) {
                            sha256.make_ascii_lowercase();
                        }
                    }
                }
            }
        }
        if let Some(images) = object(architecture, "images") {
            drop_empty(images, &CLOUDS);
            for (cloud, optional) in
                [("gcp", ["family", "release"]), ("kubevirt", ["digest-ref", "digest-ref"])]
            {
                if let Some(image) = object(images, cloud) {
                    drop_empty(image, &optional);
                }
            }
        }
        if let Some(marketplace) = object(architecture, "rhel-coreos-extensions")
            .and_then(|extensions| object(extensions, "marketplace"))
        {
            values(marketplace, "azure")
                .into_iter()
                .for_each(|plan| drop_empty(plan, &["hyperVGen1", "hyperVGen2"]));
        }
    }
}

/// Takes away the unknown members of our fixture, and the `null` that only it has.
fn without_novelties(value: &mut Value) {
    if let Value::Object(map) = value {
        map.retain(|key, value| key != "novel" && !(key == "powervs" && value.is_null()));
        map.values_mut().for_each(without_novelties);
    }
}

#[test]
fn every_document_reads_prints_canonically_and_reads_back_equal() {
    for (name, bytes) in documents() {
        let stream = Stream::read(&name, &bytes).unwrap();
        let text = stream.to_text();
        let again = Stream::read(&name, text.as_bytes()).unwrap();
        assert_eq!(again, stream, "{name}");
        assert!(again.to_text() == text, "{name} prints differently the second time");
    }
}

#[test]
fn nothing_that_upstream_has_is_lost_or_changed_but_what_is_documented() {
    for (name, bytes) in documents() {
        let text = Stream::read(&name, &bytes).unwrap().to_text();
        let mut expected: Value = serde_json::from_slice(&bytes).unwrap();
        normalise(&mut expected);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), expected, "{name}");
    }
}

#[test]
fn an_independent_reader_finds_the_same_files_and_images() {
    for (name, bytes) in documents() {
        let stream = Stream::read(&name, &bytes).unwrap();
        // The other reader takes every member of a format for a file, and needs members that may be missing: those of
        // Fedora CoreOS, which it was made for.
        let mut known: Value = serde_json::from_slice(&bytes).unwrap();
        without_novelties(&mut known);
        for architecture in values(&mut known, "architectures") {
            architecture.as_object_mut().unwrap().entry("artifacts").or_insert_with(|| serde_json::json!({}));
        }
        let oracle = serde_json::from_value::<coreos_stream_metadata::Stream>(known);
        let oracle = oracle.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(stream.architectures.len(), oracle.architectures.len(), "{name}");
        for (architecture, oracle) in &oracle.architectures {
            let at = format!("{name}: {architecture}");
            let ours = &stream.architectures[architecture.as_str()];
            let files: BTreeMap<_, _> = ours
                .all_artifacts()
                .map(|(platform, _, format, kind, file)| ((platform, format, kind), file))
                .collect();
            let mut count = 0;
            for (platform, oracle) in &oracle.artifacts {
                for (format, oracles) in &oracle.formats {
                    for (kind, file) in oracles {
                        let ours = files[&(platform.as_str(), format.as_str(), kind.as_str())];
                        assert_eq!(ours.location, file.location, "{at}");
                        assert_eq!(ours.sha256, file.sha256.to_lowercase(), "{at}");
                        assert_eq!(ours.uncompressed_sha256, file.uncompressed_sha256, "{at}");
                        let signature = file.signature.clone().filter(|text| !text.is_empty());
                        assert_eq!(ours.signature, signature, "{at}");
                        count += 1;
                    }
                }
            }
            assert_eq!(count, files.len(), "{at}");

            let ours = ours.images.as_ref();
            let theirs = oracle.images.as_ref();
            let amis: BTreeMap<&str, (&str, &str)> =
                (ours.and_then(|images| images.aws.as_ref()).into_iter())
                    .flat_map(|aws| &aws.regions)
                    .map(|(region, image)| (region, (image.release.as_str(), image.image.as_str())))
                    .collect();
            let expected: BTreeMap<&str, (&str, &str)> = (theirs.and_then(|i| i.aws.as_ref()).into_iter())
                .flat_map(|aws| &aws.regions)
                .map(|(region, image)| (region.as_str(), (image.release.as_str(), image.image.as_str())))
                .collect();
            assert_eq!(amis, expected, "{at}");
            let gcp = ours.and_then(|images| images.gcp.as_ref()).map(|gcp| (&gcp.project, &gcp.name));
            let expected = theirs.and_then(|images| images.gcp.as_ref()).map(|gcp| (&gcp.project, &gcp.name));
            assert_eq!(gcp, expected, "{at}");
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
    let channel =
        Channel { base_url, origin: Origin::Pinned, release_image: None, pin, builders: BTreeMap::new() };
    Resolved::new("fixture", BTreeMap::from([("fixture".into(), channel)]))
}

/// Compares `text` with the golden file `name`, or writes it where `BLESS=1`.
#[track_caller]
fn golden(name: &str, text: &str) {
    let path = fixtures().join(name);
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        fs::write(&path, text).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    let differs = text.lines().zip(expected.lines()).position(|(new, old)| new != old);
    let line = differs.unwrap_or_else(|| text.lines().count().min(expected.lines().count()));
    assert!(
        text == expected,
        "{name} has changed, first in line {}. Is that what you want? BLESS=1 cargo test -p coreos-pins-build",
        line + 1
    );
}

#[test]
fn the_canonical_pin_is_as_it_was() {
    let bytes = fs::read(fixtures().join("every-kind.json")).unwrap();
    let text = resolved("fixture", &bytes).channels["fixture"].pin.to_text();
    golden("every-kind.pin.json", &text);
    // What is golden is a pin itself.
    assert_eq!(Pin::read("golden", text.as_bytes()).unwrap().to_text(), text);
}

#[test]
fn the_generated_code_is_as_it_was() {
    let bytes = fs::read(fixtures().join("every-kind.json")).unwrap();
    golden("every-kind.rs.txt", &generate(&resolved("fixture", &bytes)).unwrap()[FILE]);
}
