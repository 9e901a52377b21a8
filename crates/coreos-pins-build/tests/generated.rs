//! The generated code: its names, what stops it, and that text from upstream is data in it and nothing else.

use std::collections::{BTreeMap, BTreeSet};

use coreos_pins_build::generate::{FILE, generate};
use coreos_pins_build::pin::Pin;
use coreos_pins_build::resolve::{Channel, Origin, Resolved};
use coreos_pins_build::{Config, Error};
use proptest::prelude::*;

const SHA: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// A document for each architecture with the files (platform, format, kind) and the AMI regions that are given.
fn document(architectures: &[&str], files: &[(&str, &str, &str)], regions: &[&str]) -> String {
    let mut artifacts: BTreeMap<&str, BTreeMap<&str, BTreeMap<&str, serde_json::Value>>> = BTreeMap::new();
    for (platform, format, kind) in files {
        let file = serde_json::json!({ "location": "https://example.com/f", "sha256": SHA });
        artifacts.entry(platform).or_default().entry(format).or_default().insert(kind, file);
    }
    let artifacts: BTreeMap<_, _> = artifacts
        .into_iter()
        .map(|(platform, formats)| (platform, serde_json::json!({ "release": "1", "formats": formats })))
        .collect();
    let regions: BTreeMap<_, _> = regions
        .iter()
        .map(|region| (*region, serde_json::json!({ "release": "1", "image": "ami-1" })))
        .collect();
    let architecture =
        serde_json::json!({ "artifacts": artifacts, "images": { "aws": { "regions": regions } } });
    let architectures: BTreeMap<_, _> = architectures.iter().map(|name| (*name, &architecture)).collect();
    serde_json::json!({ "stream": "s", "architectures": architectures }).to_string()
}

fn generated(channels: &[(&str, &str)]) -> Result<String, Error> {
    let channel = |text: &str| Channel {
        base_url: "https://example.com".into(),
        origin: Origin::Pinned,
        release_image: None,
        pin: Pin::read("test", text.as_bytes()).expect("a pin"),
    };
    let channels: BTreeMap<String, Channel> =
        channels.iter().map(|(name, text)| ((*name).to_owned(), channel(text))).collect();
    let default = channels.keys().next().expect("a channel").clone();
    Ok(generate(&Resolved::new(default, channels))?.remove(FILE).expect("the code"))
}

/// The names of the constants in the module at `path`.
fn constants(code: &str, path: &[&str]) -> BTreeSet<String> {
    let mut items = syn::parse_file(code).expect("Rust").items;
    for name in path {
        let module = items.into_iter().find_map(|item| match item {
            syn::Item::Mod(module) if module.ident == name => module.content,
            _ => None,
        });
        items = module.unwrap_or_else(|| panic!("no module {name}")).1;
    }
    let public = |item: syn::Item| match item {
        syn::Item::Const(item) if matches!(item.vis, syn::Visibility::Public(_)) => {
            Some(item.ident.to_string())
        }
        _ => None,
    };
    items.into_iter().filter_map(public).collect()
}

fn names(list: &[&str]) -> BTreeSet<String> {
    list.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn flat_names_follow_the_rule() {
    let files = [
        ("qemu", "qcow2.xz", "disk"),
        ("metal", "4k.raw.gz", "disk"),
        ("metal", "pxe", "kernel"),
        ("gcp", "tar.gz.xz", "disk"),
        ("nutanix", "qcow2", "disk"),
        ("nutanix", "qcow2.gz", "disk"),
        ("3par", "img", "disk"),
    ];
    let code = generated(&[("4.16-9.4", &document(&["x86_64"], &files, &["us-east-1", "9-zz"]))]).unwrap();
    let expected = [
        "ARCHITECTURE",
        "BUILD_NAME",
        "AMI_US_EAST_1",
        "AMI_9_ZZ",
        "QEMU_QCOW2_URL",
        "QEMU_QCOW2_SHA256",
        "METAL_4K_RAW_URL",
        "METAL_4K_RAW_SHA256",
        "METAL_PXE_KERNEL_URL",
        "METAL_PXE_KERNEL_SHA256",
        "GCP_TAR_GZ_URL",
        "GCP_TAR_GZ_SHA256",
        "NUTANIX_QCOW2_URL",
        "NUTANIX_QCOW2_SHA256",
        "NUTANIX_QCOW2_GZ_URL",
        "NUTANIX_QCOW2_GZ_SHA256",
        "_3PAR_IMG_URL",
        "_3PAR_IMG_SHA256",
    ];
    assert_eq!(constants(&code, &["channels", "_4_16_9_4", "x86_64"]), names(&expected));
    assert_eq!(
        constants(&code, &["channels", "_4_16_9_4"]),
        names(&["NAME", "BASE_URL", "BUILD_NAME", "CHANNEL"])
    );
    assert_eq!(
        constants(&code, &[]),
        names(&[
            "BASE_URL",
            "DEFAULT_CHANNEL",
            "BUILD_NAME",
            "RELEASE_IMAGE",
            "ORIGIN",
            "CHANNELS",
            "PINS_SHA256",
            "DEFAULT"
        ])
    );
}

#[test]
fn names_that_would_be_the_same_in_rust_stop_the_build_and_are_both_named() {
    let plain = document(&["x86_64"], &[], &["us-east-1"]);
    let one = |architectures: &[&str], files: &[(&str, &str, &str)], regions: &[&str]| {
        generated(&[("s", &document(architectures, files, regions))]).unwrap_err().to_string()
    };
    let secex = [("qemu", "secex.qcow2.gz", "disk"), ("qemu-secex", "qcow2.gz", "disk")];
    for (error, expected) in [
        (
            generated(&[("rhel-9", &plain), ("rhel.9", &plain)]).unwrap_err().to_string(),
            "pins: channel `rhel-9` and channel `rhel.9` would both be `rhel_9` in Rust",
        ),
        (
            generated(&[("Next", &plain), ("next", &plain)]).unwrap_err().to_string(),
            "pins: channel `Next` and channel `next` would both be `next` in Rust",
        ),
        (
            one(&["x86-64", "x86_64"], &[], &["r"]),
            "channel `s`: architecture `x86-64` and architecture `x86_64` would both be `x86_64` in Rust",
        ),
        (
            one(&["channels"], &[], &["r"]),
            "channel `s`: the name `channels`, which the generated code needs itself and architecture `channels` would",
        ),
        (
            one(&["x86_64"], &secex, &[]),
            "channel `s`, architecture `x86_64`: URL of platform `qemu`, format `secex.qcow2.gz`, disk and URL of \
             platform `qemu-secex`, format `qcow2.gz`, disk would both be `QEMU_SECEX_QCOW2_URL` in Rust",
        ),
        (
            one(&["x86_64"], &[("ami", "r", "disk")], &["r-url"]),
            "channel `s`, architecture `x86_64`: the AMI of region `r-url` and URL of platform `ami`, format `r`, disk",
        ),
        (
            one(&["x86_64"], &[], &["us-east-1", "us_east-1"]),
            "channel `s`, architecture `x86_64`: the AMI of region `us-east-1` and the AMI of region `us_east-1`",
        ),
    ] {
        assert!(error.starts_with(expected), "{error}");
        assert!(error.lines().count() == 2 && error.contains("\nhelp: "), "{error}");
    }
}

#[test]
fn a_thousand_channels_are_generated_and_sorted_by_file_name_in_the_hash() {
    let dir = tempfile::tempdir().unwrap();
    let plain = document(&["x86_64"], &[("qemu", "qcow2.xz", "disk")], &["us-east-1"]);
    for index in 0..1000 {
        std::fs::write(dir.path().join(format!("c{index}.json")), &plain).unwrap();
    }
    // `a-b.json` comes before `a.json`, though `a` comes before `a-b`.
    for name in ["a", "a-b"] {
        std::fs::write(dir.path().join(format!("{name}.json")), &plain).unwrap();
    }
    let files = Config::new(dir.path()).default_channel("c7").generate().unwrap();
    assert_eq!(files.len(), 1003);
    let mut names: Vec<String> =
        files.keys().filter_map(|name| name.strip_prefix("coreos_pins/")).map(Into::into).collect();
    names.sort();
    assert_eq!(names[..2], ["a-b.json", "a.json"]);
    let text: String =
        names.iter().map(|name| format!("{name}\n{}", files[&format!("coreos_pins/{name}")])).collect();
    let expected = coreos_pins_build::sha256::hex([text.as_bytes()]);
    assert!(files[FILE].contains(&format!("pub const PINS_SHA256: &str = \"{expected}\";")));
}

#[test]
fn config_reads_no_variable_and_writes_only_what_changed() {
    let (pins, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(pins.path().join("maipo.json"), document(&["x86_64"], &[], &["r"])).unwrap();
    let mut config = Config::new(pins.path());
    config.out_dir(out.path()).try_compile().unwrap();
    let modified = |name: &str| std::fs::metadata(out.path().join(name)).unwrap().modified().unwrap();
    let before = (modified(FILE), modified("coreos_pins/maipo.json"));
    config.try_compile().unwrap();
    assert_eq!((modified(FILE), modified("coreos_pins/maipo.json")), before);
    let error = Config::new("/nowhere").try_compile().unwrap_err().to_string();
    assert!(error.starts_with("no folder `/nowhere`\nhelp: "), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_names_give_rust_or_an_error(
        channels in prop::collection::btree_set("\\PC{1,6}|[a-z0-9._-]{1,6}", 1..4),
        architecture in "\\PC{1,6}|[a-z0-9_]{1,6}",
        platform in "\\PC{1,6}|[a-z0-9-]{1,6}",
        format in "\\PC{1,6}|[a-z0-9.]{1,6}(\\.gz)?",
        region in "\\PC{1,6}|[a-z0-9-]{1,6}",
    ) {
        let text = document(&[&architecture], &[(&platform, &format, "disk")], &[&region]);
        let channels: Vec<(&str, &str)> = channels.iter().map(|name| (name.as_str(), text.as_str())).collect();
        match generated(&channels) {
            Ok(code) => prop_assert!(syn::parse_file(&code).is_ok(), "{}", code),
            Err(error) => prop_assert!(error.to_string().contains("in Rust"), "{}", error),
        }
    }

    #[test]
    fn any_text_reads_back_as_itself_from_json_and_from_rust(text in "\\PC*|[\\x00-\\x7f]{1,20}", key in "\\PC{0,8}") {
        prop_assume!(!text.is_empty());
        let quoted = serde_json::to_string(&text).unwrap();
        let extra = serde_json::to_string(&format!("{key}\u{1}")).unwrap();
        let document = format!(
            r#"{{"stream": {quoted}, {extra}: [{{{extra}: {quoted}}}], "architectures": {{"x86_64": {{"artifacts": {{}}, "images": {{
                "aws": {{"regions": {{"r": {{"release": "1", "image": {quoted}}}}}}}}}}}}}}}"#
        );
        let pin = Pin::read("test", document.as_bytes()).unwrap();
        prop_assert_eq!(&Pin::read("test", pin.to_text().as_bytes()).unwrap(), &pin);
        let value: serde_json::Value = serde_json::from_str(&pin.to_text()).unwrap();
        prop_assert_eq!(value, serde_json::from_str::<serde_json::Value>(&document).unwrap());

        let code = generated(&[("s", &document)]).unwrap();
        let line = code.lines().find_map(|line| line.trim().strip_prefix("pub const AMI_R: &str = ")).unwrap();
        let literal: syn::LitStr = syn::parse_str(line.strip_suffix(';').unwrap()).unwrap();
        prop_assert_eq!(literal.value(), text);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Err(error) = Pin::read("test", &bytes) {
            prop_assert!(error.to_string().starts_with("test: "));
        }
    }
}
