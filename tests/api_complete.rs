//! `tests/api.rs` leaves nothing out that an installer can name.
#![cfg(feature = "embed")]

use std::collections::BTreeSet;

use coreos_pins::{Architecture, Channel};

const GENERATED: &str = include_str!(concat!(env!("OUT_DIR"), "/coreos_pins.rs"));
const API: &str = include_str!("api.rs");

/// The items of the modules that the root does not show: a channel's, and an architecture's.
const NAME: &str = coreos_pins::channels::rhel_9::NAME;
const BASE_URL: &str = coreos_pins::channels::rhel_9::BASE_URL;
const BUILD_NAME: &str = coreos_pins::channels::rhel_9::BUILD_NAME;
const CHANNEL: Channel = coreos_pins::channels::rhel_9::CHANNEL;
const ARCHITECTURE: Architecture = coreos_pins::channels::rhel_9::aarch64::ARCHITECTURE;
const OF_ARCHITECTURE: [&str; 5] = [
    coreos_pins::channels::rhel_9::aarch64::BUILD_NAME,
    coreos_pins::channels::rhel_9::aarch64::AMI_US_EAST_1,
    coreos_pins::channels::rhel_9::aarch64::QEMU_QCOW2_URL,
    coreos_pins::channels::rhel_9::aarch64::QEMU_QCOW2_SHA256,
    coreos_pins::channels::rhel_9::aarch64::QEMU_QCOW2_UNCOMPRESSED_SHA256,
];

#[test]
fn modules_and_tables_are_of_the_same_build() {
    const TABLE: &Channel = coreos_pins::channel(NAME).unwrap();
    const AARCH64: &Architecture = CHANNEL.architecture("arm64").unwrap();
    assert_eq!((TABLE.name, TABLE.base_url, TABLE.build_name), (NAME, BASE_URL, BUILD_NAME));
    assert_eq!((TABLE, AARCH64), (&CHANNEL, &ARCHITECTURE));
    let disk = AARCH64.disk("qemu").expect("a disk");
    let uncompressed = disk.uncompressed_sha256.expect("a compressed file");
    let ami = AARCH64.ami("us-east-1").expect("an AMI");
    assert_eq!(OF_ARCHITECTURE, [AARCH64.build_name, ami, disk.url, disk.sha256, uncompressed]);
}

/// The name that `line` of Rust code makes public: of a constant, static, function or field.
fn public(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("pub ")?;
    let rest =
        ["const fn ", "const ", "static ", "fn "].iter().find_map(|k| rest.strip_prefix(k)).unwrap_or(rest);
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    let is_field_or_item = matches!(&rest[end..end + 1], ":" | "(") && !rest[end..].starts_with("::");
    is_field_or_item.then_some(&rest[..end])
}

fn words(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').collect()
}

#[test]
fn every_generated_item_that_is_not_made_from_a_pin_is_bound() {
    let flat = |name: &&str| {
        let file = ["_URL", "_SHA256"].iter().any(|end| name.ends_with(end));
        name.starts_with("AMI_") || file && !["BASE_URL", "PINS_SHA256"].contains(name)
    };
    let names: BTreeSet<&str> = GENERATED.lines().filter_map(public).filter(|name| !flat(name)).collect();
    assert!(names.contains("DEFAULT") && names.contains("channel") && names.len() >= 13, "{names:?}");
    let (here, there) = (words(include_str!("api_complete.rs")), words(API));
    let missing: Vec<_> =
        names.iter().filter(|name| !here.contains(*name) && !there.contains(*name)).collect();
    assert!(missing.is_empty(), "bind these: {missing:?}");
}

#[test]
fn every_field_and_lookup_is_bound() {
    let sources = [
        include_str!("../src/architecture.rs"),
        include_str!("../src/artifact.rs"),
        include_str!("../src/builder.rs"),
        include_str!("../src/channel.rs"),
        include_str!("../src/image.rs"),
    ];
    // What is hidden from the documentation is for generated code.
    let hidden = |name: &&str| *name == "new" || name.starts_with("with_") || *name == "find_channel";
    let names: BTreeSet<&str> = sources
        .iter()
        .flat_map(|text| text.lines())
        .filter_map(public)
        .filter(|name| !hidden(name))
        .collect();
    assert!(
        names.contains("uncompressed_sha256") && names.contains("winli_ami") && names.len() > 40,
        "{names:?}"
    );
    let bound = words(API);
    let missing: Vec<_> = names.iter().filter(|name| !bound.contains(*name)).collect();
    assert!(missing.is_empty(), "bind these: {missing:?}");
}
