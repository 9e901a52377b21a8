//! Crates with pins of their own, really built: by `include_pins!()`, and by `COREOS_PINS_DIR`.
// What this builds has features of its own: once is enough.
#![cfg(feature = "embed")]

mod harness;

use harness::{Project, root, stream};

#[test]
fn a_plain_stream_document_without_policy_is_embedded() {
    let project = Project::own_pins(
        "own-plain",
        r#"fn main() {
            const AMI: &str = pins::DEFAULT.architecture("amd64").unwrap().ami("zz-test-9").unwrap();
            assert_eq!(AMI, pins::x86_64::AMI_ZZ_TEST_9);
            let regions: Vec<&str> = pins::DEFAULT.architecture("x86_64").unwrap().regions("aws").collect();
            println!("{} {} {AMI} {regions:?} {:?}", pins::DEFAULT_CHANNEL, pins::BUILD_NAME, pins::BASE_URL);
        }"#,
    );
    // Without a policy the default is `maipo`; the region is one that no cloud has.
    project.write("pins/maipo.json", &stream("47.1", "zz-test-9", "ami-1"));
    assert_eq!(project.run(&[]).stdout(), "maipo 47.1 ami-1 [\"zz-test-9\"] \"\"\n");
}

#[test]
fn a_strict_crate_that_renames_the_dependency_has_no_warning() {
    let project = Project::own_pins("own-strict", "");
    project.manifest(
        "own-strict",
        &format!("images = {{ package = \"coreos-pins\", path = {:?}, default-features = false }}", root()),
        &format!(
            "[build-dependencies]\ncoreos-pins-build = {{ path = {:?} }}",
            root().join("crates/coreos-pins-build")
        ),
    );
    project.write(
        "src/main.rs",
        r"//! Strict.
        #![deny(warnings, missing_docs, unreachable_pub, unused_qualifications)]
        #![deny(clippy::all, clippy::pedantic, clippy::nursery)]
        mod pins { images::include_pins!(); }
        fn main() { println!(concat!({}, {}), pins::BUILD_NAME, pins::channels::test::x86_64::QEMU_QCOW2_URL); }"
            .replace("concat!({}, {})", "\"{} {}\"")
            .as_str(),
    );
    project.write("pins/test.json", &stream("47.1", "us-east-1", "ami-1"));
    let env = [("DEFAULT_CHANNEL", "test")];
    assert_eq!(project.run(&env).stdout(), "47.1 https://example.com/47.1/qemu.qcow2.xz\n");
    let clippy = project.cargo(&["clippy", "-q"], &env);
    assert!(clippy.succeeded && clippy.stderr.is_empty(), "{}", clippy.stderr);
}

#[test]
fn names_that_a_crate_defines_itself_do_not_get_in_the_way() {
    let project = Project::own_pins("own-shadows", "fn main() { println!(\"{}\", one::BUILD_NAME); }");
    project.write(
        "src/main.rs",
        r#"#![allow(unused_macros, dead_code)]
        macro_rules! include_str { ($($t:tt)*) => { compile_error!("shadowed") } }
        macro_rules! include { ($($t:tt)*) => { compile_error!("shadowed") } }
        macro_rules! concat { ($($t:tt)*) => { compile_error!("shadowed") } }
        enum Option { None }
        mod str {}
        mod channels { pub const MINE: u8 = 1; }
        mod one { coreos_pins::include_pins!(); }
        mod two { pub mod deep { coreos_pins::include_pins!(); } }
        fn main() { println!("{} {} {}", one::BUILD_NAME, two::deep::x86_64::BUILD_NAME, channels::MINE); }"#,
    );
    project.write("pins/maipo.json", &stream("47.1", "us-east-1", "ami-1"));
    assert_eq!(project.run(&[]).stdout(), "47.1 47.1 1\n");
}

#[test]
fn policy_names_the_default_and_keeps_floating_channels_out() {
    let project = Project::own_pins(
        "own-policy",
        r#"fn main() { println!("{} {:?} {}", pins::DEFAULT_CHANNEL, pins::CHANNELS, pins::BASE_URL); }"#,
    );
    project.write("pins/next.json", &stream("2", "us-east-1", "ami-2"));
    project.write("pins/stable.json", &stream("1", "us-east-1", "ami-1"));
    project.write("pins/devel.json", &stream("3", "us-east-1", "ami-3"));
    project.write(
        "pins/channels.json",
        r#"{ "version": 1, "default": "stable", "channels": {
            "stable": { "base-url": "https://example.com" }, "devel": { "floats": true } } }"#,
    );
    assert_eq!(project.run(&[]).stdout(), "stable [\"next\", \"stable\"] https://example.com\n");
    assert_eq!(project.run(&[("DEFAULT_CHANNEL", "next")]).stdout(), "next [\"next\", \"stable\"] \n");
}

#[test]
fn a_pins_folder_in_cargo_config_changes_the_crate_for_the_whole_build() {
    let project =
        Project::installer("own-config", "fn main() { println!(\"{}\", coreos_pins::x86_64::AMI_A_B_1); }");
    project.write("images/maipo.json", &stream("1", "a-b-1", "ami-1"));
    project.write(".cargo/config.toml", "[env]\nCOREOS_PINS_DIR = { value = \"images\", relative = true }\n");
    assert_eq!(project.run(&[]).stdout(), "ami-1\n");
}

#[test]
fn a_pins_folder_that_is_not_there_is_an_error_that_names_the_variable() {
    let project = Project::installer("own-missing", "fn main() {}");
    let errors = project.run(&[("COREOS_PINS_DIR", "/nowhere/pins")]).errors_of("coreos-pins@0.1.0");
    assert_eq!(errors[0], "no folder `/nowhere/pins` (asked for by COREOS_PINS_DIR)");
    assert!(errors[1].starts_with("help: "), "{errors:?}");
}

#[test]
fn a_builder_is_a_constant_of_its_channel_and_a_row_of_its_table() {
    let project = Project::own_pins(
        "own-builders",
        r#"fn main() {
            const DIGEST: &str = pins::DEFAULT.builder("coreos-assembler").unwrap().digest;
            let builder: &coreos_pins::Builder = &pins::DEFAULT.builders[0];
            assert_eq!(builder.reference, pins::channels::maipo::COREOS_ASSEMBLER_IMAGE);
            assert_eq!((builder.name, builder.digest, builder.revision), ("coreos-assembler", DIGEST, None));
            println!("{} {:?}", pins::channels::maipo::COREOS_ASSEMBLER_IMAGE, builder.architectures);
        }"#,
    );
    project.write("pins/maipo.json", &stream("47.1", "us-east-1", "ami-1"));
    let child = "a".repeat(64);
    let index = format!(
        r#"{{"manifests": [{{"mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": "sha256:{child}",
            "platform": {{"architecture": "amd64", "os": "linux"}}}}]}}"#
    );
    let digest = coreos_pins_build::sha256::hex([index.as_bytes()]);
    project.write(&format!("pins/manifests/sha256-{digest}.json"), &index);
    project.write(
        "pins/builders/coreos-assembler/maipo.json",
        &format!(
            r#"{{ "version": 1, "image": "quay.io/c/c", "digest": "sha256:{digest}",
                "media-type": "application/vnd.oci.image.index.v1+json",
                "architectures": {{ "x86_64": "sha256:{child}" }} }}"#
        ),
    );
    let printed = project.run(&[]).stdout();
    assert_eq!(printed, format!("quay.io/c/c@sha256:{digest} [\"x86_64\"]\n"));
    // Edited by hand: the build stops, and says which file it is.
    project.write(&format!("pins/manifests/sha256-{digest}.json"), &index.replace("amd64", "arm64"));
    let errors = project.run(&[]).errors_of("own-builders@0.0.0");
    assert!(
        errors[0].starts_with(&format!("pins/manifests/sha256-{digest}.json: its SHA-256 is ")),
        "{errors:#?}"
    );
}
