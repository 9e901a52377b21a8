//! The generated code has the names that the interface promises, and names that Rust cannot tell apart stop the build.

mod harness;

use std::fs;

use coreos_pins_build::Config;
use coreos_pins_build::generate::FILE;
use harness::{SHA, constants, document, generated, items, names, text_of};

/// The names of the public constants of a document's only architecture.
#[track_caller]
fn flat_names(files: &[(&str, &str, &str)], regions: &[&str]) -> std::collections::BTreeSet<String> {
    let code = generated(&[("s", &document(&["x86_64"], files, regions))]).unwrap();
    let mut found = constants(&code, &["channels", "s", "x86_64"]);
    assert!(found.remove("ARCHITECTURE") && found.remove("BUILD_NAME"), "{found:?}");
    found
}

#[test]
fn flat_names_follow_the_rule() {
    let files = [
        ("qemu", "qcow2.xz", "disk"),
        ("metal", "4k.raw.gz", "disk"),
        ("metal", "pxe", "kernel"),
        ("metal", "pxe", "initramfs"),
        ("metal", "pxe", "rootfs"),
        ("gcp", "tar.gz.xz", "disk"),
        ("hyperv", "vhdx.zip", "disk"),
        ("new", "raw.zst", "disk"),
        ("old", "raw.bz2", "disk"),
        ("odd", "raw.lz4", "disk"),
        ("3par", "img", "disk"),
    ];
    let stems = [
        "QEMU_QCOW2",
        "METAL_4K_RAW",
        "METAL_PXE_KERNEL",
        "METAL_PXE_INITRAMFS",
        "METAL_PXE_ROOTFS",
        "GCP_TAR_GZ",
        "HYPERV_VHDX",
        "NEW_RAW",
        "OLD_RAW",
        "ODD_RAW_LZ4",
        "_3PAR_IMG",
    ];
    let mut expected = names(&["AMI_US_EAST_1", "AMI_9_ZZ"]);
    expected.extend(stems.iter().flat_map(|stem| [format!("{stem}_URL"), format!("{stem}_SHA256")]));
    assert_eq!(flat_names(&files, &["us-east-1", "9-zz"]), expected);
}

#[test]
fn two_formats_that_would_share_a_name_both_keep_their_suffix() {
    for (formats, expected) in [
        (["qcow2", "qcow2.gz"], ["N_QCOW2", "N_QCOW2_GZ"]),
        (["qcow2.xz", "qcow2.gz"], ["N_QCOW2_XZ", "N_QCOW2_GZ"]),
        // Nothing is shared: both lose it.
        (["raw.xz", "4k.raw.xz"], ["N_RAW", "N_4K_RAW"]),
    ] {
        let expected: Vec<String> =
            expected.iter().flat_map(|stem| [format!("{stem}_SHA256"), format!("{stem}_URL")]).collect();
        let files = formats.map(|format| ("n", format, "disk"));
        assert_eq!(flat_names(&files, &[]), expected.into_iter().collect(), "{formats:?}");
    }
    // Formats of other platforms do not count.
    let files = [("a", "qcow2.gz", "disk"), ("b", "qcow2.xz", "disk")];
    assert!(flat_names(&files, &[]).is_superset(&names(&["A_QCOW2_URL", "B_QCOW2_URL"])));
}

#[test]
fn each_constant_has_the_value_of_its_member_and_is_there_only_if_that_is() {
    let other = SHA.replace('0', "f");
    let text = document(&["x86_64"], &[("qemu", "qcow2.xz", "disk"), ("metal", "iso", "disk")], &[]);
    let sound = |sha: &str| format!("\"location\":\"https://example.com/f\",\"sha256\":\"{sha}\"");
    let position = text.rfind(&sound(SHA)).unwrap();
    let members = format!(
        "{},\"signature\":\"https://example.com/f.sig\",\"uncompressed-sha256\":\"{other}\"",
        sound(SHA)
    );
    let text = format!("{}{members}{}", &text[..position], &text[position + sound(SHA).len()..]);

    let code = generated(&[("s", &text)]).unwrap();
    let path = ["channels", "s", "x86_64"];
    let value = |name: &str| text_of(&code, &path, name);
    assert_eq!(value("QEMU_QCOW2_URL"), "https://example.com/f");
    assert_eq!(value("QEMU_QCOW2_SHA256"), SHA);
    assert_eq!(value("QEMU_QCOW2_UNCOMPRESSED_SHA256"), other);
    assert_eq!(value("QEMU_QCOW2_SIGNATURE_URL"), "https://example.com/f.sig");
    let metal = constants(&code, &path).into_iter().filter(|name| name.starts_with("METAL"));
    assert_eq!(metal.collect::<Vec<_>>(), ["METAL_ISO_SHA256", "METAL_ISO_URL"]);
}

#[test]
fn root_and_channels_have_the_items_of_the_interface_and_no_others() {
    let text = document(&["x86_64", "s390x"], &[("qemu", "qcow2.xz", "disk")], &["r"]);
    let code = generated(&[("stable", &text), ("4.16-9.4", &text)]).unwrap();
    assert!(code.starts_with("// @generated "), "{code}");
    let root = [
        "BASE_URL",
        "BUILD_NAME",
        "CHANNELS",
        "DEFAULT",
        "DEFAULT_CHANNEL",
        "ORIGIN",
        "PINS_SHA256",
        "RELEASE_IMAGE",
    ];
    assert_eq!(constants(&code, &[]), names(&root));
    let mut others = Vec::new();
    for item in items(&code, &[]) {
        others.push(match item {
            syn::Item::Const(_) => continue,
            syn::Item::Static(item) => format!("static {}", item.ident),
            syn::Item::Fn(item) => format!("fn {} {}", item.sig.ident, item.sig.constness.is_some()),
            syn::Item::Mod(item) => format!("mod {}", item.ident),
            syn::Item::Use(_) => "use".to_owned(),
            _ => panic!("another item"),
        });
    }
    others.sort();
    assert_eq!(others, ["fn channel true", "mod channels", "static ALL", "use"]);
    assert!(code.contains("\npub use channels::_4_16_9_4::{s390x, x86_64};\n"), "{code}");
    assert_eq!(text_of(&code, &[], "DEFAULT_CHANNEL"), "4.16-9.4");

    for (module, name) in [("stable", "stable"), ("_4_16_9_4", "4.16-9.4")] {
        let path = ["channels", module];
        assert_eq!(constants(&code, &path), names(&["BASE_URL", "BUILD_NAME", "CHANNEL", "NAME"]));
        assert_eq!(text_of(&code, &path, "NAME"), name);
        let modules = items(&code, &path).into_iter().filter_map(|item| match item {
            syn::Item::Mod(item) => Some(item.ident.to_string()),
            _ => None,
        });
        assert_eq!(modules.collect::<Vec<_>>(), ["s390x", "x86_64"]);
    }
}

#[test]
fn modules_are_lower_case_and_avoid_digits_and_keywords() {
    let plain = document(&["x86_64"], &[], &["r"]);
    for (channel, module) in [
        ("rhel-9.8", "rhel_9_8"),
        ("9", "_9"),
        ("Next", "next"),
        ("dyn", "dyn_"),
        ("Self", "self_"),
        ("gen", "gen_"),
        ("try", "try_"),
        ("union", "union"),
        ("é", "__"),
    ] {
        let code = generated(&[(channel, &plain)]).unwrap();
        assert_eq!(text_of(&code, &["channels", module], "NAME"), channel);
        let code = generated(&[("s", &document(&[channel], &[], &["r"]))]).unwrap();
        assert_eq!(text_of(&code, &["channels", "s", module], "BUILD_NAME"), "1", "{channel}");
    }
}

#[test]
fn names_that_would_be_the_same_in_rust_stop_the_build_and_are_both_named() {
    let plain = document(&["x86_64"], &[], &["us-east-1"]);
    let one = |architectures: &[&str], files: &[(&str, &str, &str)], regions: &[&str]| {
        generated(&[("s", &document(architectures, files, regions))]).unwrap_err()
    };
    let secex = [("qemu", "secex.qcow2.gz", "disk"), ("qemu-secex", "qcow2.gz", "disk")];
    for (error, expected) in [
        (
            generated(&[("rhel-9", &plain), ("rhel.9", &plain)]).unwrap_err(),
            "pins: channel `rhel-9` and channel `rhel.9` would both be `rhel_9` in Rust",
        ),
        (
            generated(&[("Next", &plain), ("next", &plain)]).unwrap_err(),
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
            one(&["x86_64"], &[("m", "pxe", "kernel"), ("m", "pxe-kernel", "disk")], &[]),
            "channel `s`, architecture `x86_64`: URL of platform `m`, format `pxe`, kernel and URL of platform `m`, \
             format `pxe-kernel`, disk would both be `M_PXE_KERNEL_URL` in Rust",
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
        harness::check(&error);
        let lines: Vec<String> = error.lines().collect();
        assert!(lines[0].starts_with(expected), "{error}");
        assert!(lines.len() == 2 && lines[1].starts_with("help: "), "{error}");
    }
}

#[test]
fn config_writes_only_what_changed_and_names_a_folder_that_is_missing() {
    let (pins, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(pins.path().join("maipo.json"), document(&["x86_64"], &[], &["r"])).unwrap();
    let mut config = Config::new(pins.path());
    config.out_dir(out.path()).try_compile().unwrap();
    let modified = |name: &str| fs::metadata(out.path().join(name)).unwrap().modified().unwrap();
    let before = (modified(FILE), modified("coreos_pins/maipo.json"));
    config.try_compile().unwrap();
    assert_eq!((modified(FILE), modified("coreos_pins/maipo.json")), before);
    fs::write(pins.path().join("maipo.json"), document(&["x86_64"], &[], &["q"])).unwrap();
    config.try_compile().unwrap();
    assert!(modified(FILE) > before.0 && modified("coreos_pins/maipo.json") > before.1);
    let error = Config::new("/nowhere").try_compile().unwrap_err().to_string();
    assert!(error.starts_with("no folder `/nowhere`\nhelp: "), "{error}");
}
