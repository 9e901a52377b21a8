//! Whatever is put in, readers read or refuse, what is printed reads back equal, and names become Rust or an error.

mod harness;

use coreos_pins_build::Error;
use coreos_pins_build::pin::Pin;
use coreos_pins_build::policy::Policy;
use coreos_pins_build::stream::Stream;
use harness::{check, document, generated, text_of};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Text that may be empty or hostile.
fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z0-9.-]{1,8}", "\\PC{0,8}", "[\\x00-\\x7f\u{85}\u{202e}\u{feff}]{0,8}"]
}

/// Text where there must be some.
fn some_text() -> impl Strategy<Value = String> {
    text().prop_filter("not empty", |text| !text.is_empty())
}

/// Any JSON, a few levels deep.
fn any_json() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        // Numbers as people write them; those of any size have a test of their own.
        any::<i32>().prop_map(|n| Value::from(f64::from(n) / 8.0)),
        text().prop_map(Value::from),
    ];
    scalar.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(text(), inner, 0..4).prop_map(|map| Value::from(Map::from_iter(map))),
        ]
    })
}

/// Members that no model knows: their keys have a mark of their own.
fn unknown() -> impl Strategy<Value = Map<String, Value>> {
    let entries = prop::collection::btree_map(text().prop_map(|key| format!("{key}\u{1}")), any_json(), 0..3);
    entries.prop_map(Map::from_iter)
}

/// An object with `known` members and some unknown ones.
fn object(known: Value, unknown: Map<String, Value>) -> Value {
    let Value::Object(mut map) = known else { unreachable!("only objects are given") };
    map.extend(unknown);
    Value::Object(map)
}

/// A file, with or without the members that it may lack.
fn file() -> impl Strategy<Value = Value> {
    let optional = (prop::option::of(some_text()), prop::option::of("[0-9a-f]{64}"));
    (some_text(), "[0-9a-f]{64}", optional, unknown()).prop_map(
        |(location, sha256, (signature, uncompressed), unknown)| {
            let mut file = json!({ "location": location, "sha256": sha256 });
            if let Some(signature) = signature {
                file["signature"] = signature.into();
            }
            if let Some(uncompressed) = uncompressed {
                file["uncompressed-sha256"] = uncompressed.into();
            }
            object(file, unknown)
        },
    )
}

/// A map of `values` by any name.
fn by_name(values: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    prop::collection::btree_map(text(), values, 0..4).prop_map(|map| Value::from(Map::from_iter(map)))
}

/// A sound document with unknown members at every level, in the form in which it is printed.
fn stream() -> impl Strategy<Value = Value> {
    let kinds = prop::sample::subsequence(vec!["disk", "initramfs", "kernel", "rootfs"], 0..4);
    let format = (kinds, prop::collection::vec(file(), 4), unknown()).prop_map(|(kinds, files, unknown)| {
        let files = kinds.into_iter().map(str::to_owned).zip(files);
        object(Value::from(Map::from_iter(files)), unknown)
    });
    let platform = (some_text(), by_name(format), unknown()).prop_map(|(release, formats, unknown)| {
        object(json!({ "release": release, "formats": formats }), unknown)
    });
    let image = (some_text(), some_text(), unknown())
        .prop_map(|(release, image, unknown)| object(json!({ "release": release, "image": image }), unknown));
    let architecture = (by_name(platform), by_name(image), some_text(), unknown(), unknown()).prop_map(
        |(artifacts, regions, release, in_images, unknown)| {
            // One image is always there, so that there is a release.
            let kubevirt = json!({ "release": release, "image": "i" });
            let images = object(json!({ "aws": { "regions": regions }, "kubevirt": kubevirt }), in_images);
            object(json!({ "artifacts": artifacts, "images": images }), unknown)
        },
    );
    let architectures = prop::collection::btree_map(text(), architecture, 1..3);
    (some_text(), architectures, unknown()).prop_map(|(name, architectures, unknown)| {
        let architectures = Value::from(Map::from_iter(architectures));
        object(json!({ "stream": name, "architectures": architectures }), unknown)
    })
}

fn read_or_refuse<T>(result: &Result<T, Error>) -> Result<(), TestCaseError> {
    if let Err(error) = result {
        check(error);
        prop_assert!(error.to_string().starts_with("test: "), "{}", error);
    }
    Ok(())
}

/// Puts `bytes` before every reader.
fn all_readers(bytes: &[u8]) -> Result<(), TestCaseError> {
    read_or_refuse(&Stream::read("test", bytes))?;
    read_or_refuse(&Policy::read("test", bytes))?;
    let pin = Pin::read("test", bytes);
    read_or_refuse(&pin)?;
    if let Ok(pin) = pin {
        let again = Pin::read("test", pin.to_text().as_bytes());
        prop_assert!(again.is_ok_and(|again| again == pin), "{}", pin.to_text());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_stream_reads_back_equal_prints_the_same_and_loses_nothing(document in stream()) {
        let stream = Stream::read("test", document.to_string().as_bytes()).unwrap();
        let text = stream.to_text();
        let again = Stream::read("test", text.as_bytes()).unwrap();
        prop_assert_eq!(&again, &stream);
        prop_assert_eq!(again.to_text(), text.as_str());
        prop_assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), document);
    }

    #[test]
    fn a_whole_number_of_64_bits_reads_back_exactly(number in any::<i64>(), unsigned in any::<u64>()) {
        let novel = format!("{{\"novel\": [{number}, {unsigned}], ");
        let text = document(&["x86_64"], &[], &["r"]).replacen('{', &novel, 1);
        let stream = Stream::read("test", text.as_bytes()).unwrap();
        let printed = stream.to_text();
        let expected = format!("[ {number}, {unsigned} ]");
        prop_assert!(printed.contains(&expected), "{}", printed);
    }

    #[test]
    fn a_pin_of_any_stream_reads_back_equal(document in stream(), base_url in "https://[a-z]{1,8}\\.example\\.com(/[a-z0-9.-]{1,8}){0,2}") {
        let stream = Stream::read("test", document.to_string().as_bytes()).unwrap();
        let pin = Pin::new(stream, base_url, Vec::new());
        let text = pin.to_text();
        prop_assert!(text.starts_with("{\n  \"pin\": {"), "{}", text);
        prop_assert_eq!(Pin::read("test", text.as_bytes()).unwrap(), pin);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        all_readers(&bytes)?;
    }

    #[test]
    fn any_json_is_read_or_refused(value in any_json(), key in "stream|architectures|pin|version|channels|builders") {
        all_readers(value.to_string().as_bytes())?;
        all_readers(json!({ "version": 1, key: value }).to_string().as_bytes())?;
    }

    #[test]
    fn a_sound_document_with_a_hole_is_read_or_refused(
        document in stream(),
        start in any::<prop::sample::Index>(),
        length in 0..40_usize,
        filling in prop::collection::vec(any::<u8>(), 0..6),
    ) {
        let mut bytes = document.to_string().into_bytes();
        let start = start.index(bytes.len());
        let end = (start + length).min(bytes.len());
        bytes.splice(start..end, filling);
        all_readers(&bytes)?;
    }

    #[test]
    fn any_names_give_rust_or_an_error(
        channels in prop::collection::btree_set("\\PC{1,6}|[a-z0-9._-]{1,6}", 1..4),
        architecture in "\\PC{1,6}|[a-z0-9_]{1,6}",
        platform in "\\PC{0,6}|[a-z0-9-]{1,6}",
        format in "\\PC{0,6}|[a-z0-9.]{1,6}(\\.gz)?",
        region in "\\PC{0,6}|[a-z0-9-]{1,6}",
    ) {
        let text = document(&[&architecture], &[(&platform, &format, "disk")], &[&region]);
        let channels: Vec<(&str, &str)> = channels.iter().map(|name| (name.as_str(), text.as_str())).collect();
        match generated(&channels) {
            Ok(code) => prop_assert!(syn::parse_file(&code).is_ok(), "{}", code),
            Err(error) => {
                check(&error);
                prop_assert!(error.to_string().contains(" would both be `"), "{}", error);
            }
        }
    }

    #[test]
    fn any_text_is_a_literal_of_its_value(text in some_text()) {
        let quoted = serde_json::to_string(&text).unwrap();
        let document = document(&["x86_64"], &[], &["r"]).replace("\"ami-1\"", &quoted);
        let code = generated(&[("s", &document)]).unwrap();
        prop_assert_eq!(text_of(&code, &["channels", "s", "x86_64"], "AMI_R"), text);
    }
}
