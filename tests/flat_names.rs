//! What flat constants and modules are called.
#![cfg(feature = "embed")]

mod harness;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use harness::{Project, root};
use serde_json::{Value, json};

const GENERATED: &str = include_str!(concat!(env!("OUT_DIR"), "/coreos_pins.rs"));

/// The public string constants of generated code, by module: `channels::stable::x86_64`.
fn constants_by_module(code: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut modules: Vec<String> = Vec::new();
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in code.lines() {
        let depth = (line.len() - line.trim_start().len()) / 4;
        let line = line.trim_start();
        if let Some(name) = line.strip_prefix("pub mod ") {
            modules.truncate(depth);
            modules.push(name.trim_end_matches(" {").to_owned());
        } else if let Some(constant) = line.strip_prefix("pub const ").filter(|l| l.contains(": &str = ")) {
            let name = constant.split(':').next().expect("a name").to_owned();
            assert!(
                found.entry(modules[..depth].join("::")).or_default().insert(name),
                "{line} is there twice"
            );
        }
    }
    found
}

/// The rule of names, once more, from its description.
fn upper(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect()
}

fn without_compression(format: &str) -> &str {
    [".gz", ".xz", ".zst", ".zip", ".bz2"].iter().find_map(|s| format.strip_suffix(s)).unwrap_or(format)
}

/// The flat constants that `architecture` of a pin makes.
fn expected(architecture: &Value) -> BTreeSet<String> {
    let mut names = BTreeSet::from(["BUILD_NAME".to_owned()]);
    let regions = architecture.pointer("/images/aws/regions").and_then(Value::as_object);
    names.extend(regions.into_iter().flatten().map(|(region, _)| format!("AMI_{}", upper(region))));
    for (platform, files) in architecture["artifacts"].as_object().expect("artifacts") {
        let formats = files["formats"].as_object().expect("formats");
        let short = |format: &str| upper(without_compression(format));
        for (format, kinds) in formats {
            let shared = formats.keys().filter(|other| short(other) == short(format)).count() > 1;
            let format = if shared { upper(format) } else { short(format) };
            for (kind, file) in kinds.as_object().expect("kinds") {
                let kind = if kind == "disk" { String::new() } else { format!("_{}", upper(kind)) };
                let name = format!("{}_{format}{kind}", upper(platform));
                names.extend([format!("{name}_URL"), format!("{name}_SHA256")]);
                names.extend(file.get("uncompressed-sha256").map(|_| format!("{name}_UNCOMPRESSED_SHA256")));
                names.extend(file.get("signature").map(|_| format!("{name}_SIGNATURE_URL")));
            }
        }
    }
    names
}

#[test]
fn the_committed_pins_make_these_constants_and_no_others() {
    let found = constants_by_module(GENERATED);
    let mut modules = BTreeSet::from([String::new()]);
    for channel in coreos_pins::CHANNELS {
        let text = fs::read_to_string(root().join(format!("pins/{channel}.json"))).expect("a pin");
        let pin: Value = serde_json::from_str(&text).expect("JSON");
        let module = format!("channels::{}", upper(channel).to_lowercase());
        for (name, architecture) in pin["architectures"].as_object().expect("architectures") {
            let module = format!("{module}::{name}");
            assert_eq!(found.get(&module), Some(&expected(architecture)), "{module}");
            modules.insert(module);
        }
        modules.insert(module);
    }
    assert_eq!(found.into_keys().collect::<BTreeSet<_>>(), modules);
}

#[test]
fn the_root_has_the_architectures_of_the_default_channel() {
    let files = fs::read_to_string(root().join("pins/stable.json")).expect("a pin");
    let pin: Value = serde_json::from_str(&files).expect("JSON");
    for (found, pointer) in [
        (coreos_pins::x86_64::AMI_US_EAST_1, "/architectures/x86_64/images/aws/regions/us-east-1/image"),
        (coreos_pins::aarch64::AMI_US_EAST_1, "/architectures/aarch64/images/aws/regions/us-east-1/image"),
        (coreos_pins::s390x::BUILD_NAME, "/architectures/s390x/artifacts/qemu/release"),
        (coreos_pins::ppc64le::BUILD_NAME, "/architectures/ppc64le/artifacts/qemu/release"),
    ] {
        assert_eq!(pin.pointer(pointer).and_then(Value::as_str), Some(found), "{pointer}");
    }
}

/// A pin whose names put every part of the rule to use.
fn odd_pin() -> Value {
    let file =
        |name: &str| json!({ "location": format!("https://example.com/{name}"), "sha256": "1".repeat(64) });
    let disk = |name: &str| json!({ "disk": file(name) });
    json!({ "stream": "s", "architectures": { "x86_64": {
        "images": { "aws": { "regions": {
            "us-east-1": { "release": "1", "image": "ami-1" }, "zz.test_9": { "release": "1", "image": "ami-2" } } } },
        "artifacts": {
            "metal": { "release": "1", "formats": { "4k.raw.gz": disk("4k"), "raw.xz": disk("raw"), "iso": disk("iso"),
                "pxe": { "kernel": file("kernel"), "initramfs": file("initramfs"), "rootfs": file("rootfs") } } },
            "qemu": { "release": "1", "formats": { "qcow2.gz": disk("gz"), "qcow2.xz": disk("xz") } },
            "plain": { "release": "1", "formats": { "img": disk("img"), "img.zip": disk("zip"), "vhd.bz2": disk("b") } },
            "3par": { "release": "1", "formats": { "tar.gz.zst": disk("3par") } } } } } })
}

#[test]
fn suffixes_kinds_digits_and_keywords_follow_the_rule() {
    let project = Project::own_pins(
        "names-rule",
        r#"use pins::channels::_4_16_9_4::x86_64 as x;
        fn main() {
            let table = [
                (x::AMI_US_EAST_1, "ami-1"), (x::AMI_ZZ_TEST_9, "ami-2"),
                (x::METAL_4K_RAW_URL, "4k"), (x::METAL_RAW_URL, "raw"), (x::METAL_ISO_URL, "iso"),
                (x::METAL_PXE_KERNEL_URL, "kernel"), (x::METAL_PXE_INITRAMFS_URL, "initramfs"),
                (x::METAL_PXE_ROOTFS_URL, "rootfs"),
                (x::QEMU_QCOW2_GZ_URL, "gz"), (x::QEMU_QCOW2_XZ_URL, "xz"),
                (x::PLAIN_IMG_URL, "img"), (x::PLAIN_IMG_ZIP_URL, "zip"), (x::PLAIN_VHD_URL, "b"),
                (x::_3PAR_TAR_GZ_URL, "3par"),
                (pins::channels::dyn_::NAME, "dyn"), (pins::channels::upper_case::NAME, "Upper Case"),
            ];
            for (found, expected) in table {
                assert_eq!(found.trim_start_matches("https://example.com/"), expected);
            }
            println!("{}", table.len());
        }"#,
    );
    for channel in ["4.16-9.4", "dyn", "Upper Case"] {
        project.write(&format!("pins/{channel}.json"), &odd_pin().to_string());
    }
    assert_eq!(project.run(&[("DEFAULT_CHANNEL", "dyn")]).stdout(), "16\n");

    let code = String::from_utf8(project.generated("names-rule")["coreos_pins.rs"].clone()).expect("UTF-8");
    let mut names = expected(&odd_pin()["architectures"]["x86_64"]);
    // The only one that would begin with a digit.
    for what in ["URL", "SHA256"] {
        assert!(names.remove(&format!("3PAR_TAR_GZ_{what}")));
        names.insert(format!("_3PAR_TAR_GZ_{what}"));
    }
    assert_eq!(constants_by_module(&code)["channels::_4_16_9_4::x86_64"], names);
}

#[test]
fn names_that_cannot_be_told_apart_stop_the_build_naming_both() {
    let project = Project::own_pins("names-same", "fn main() {}");
    let mut pin = odd_pin();
    let regions = &mut pin["architectures"]["x86_64"]["images"]["aws"]["regions"];
    regions["us_east.1"] = regions["us-east-1"].clone();
    project.write("pins/maipo.json", &pin.to_string());
    let errors = project.run(&[]).errors_of("names-same@0.0.0");
    assert_eq!(
        errors[0],
        "channel `maipo`, architecture `x86_64`: the AMI of region `us-east-1` and the AMI of region `us_east.1` would \
         both be `AMI_US_EAST_1` in Rust"
    );
    assert!(errors.len() == 2 && errors[1].starts_with("help: "), "{errors:?}");
}
