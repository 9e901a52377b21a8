//! The example installer, run as a user runs it.
#![cfg(feature = "embed")]

use std::path::Path;
use std::process::{Command, Output};

use coreos_pins::DEFAULT;
use serde_json::Value;

/// Runs the example. `cargo test` builds it before these tests; `cargo test --test installer` does not.
fn installer(arguments: &str) -> Output {
    let tests = std::env::current_exe().expect("this test");
    let built =
        tests.parent().and_then(|deps| deps.parent()).expect("a target folder").join("examples/installer");
    let modified = |path: &Path| std::fs::metadata(path).and_then(|file| file.modified()).ok();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/installer.rs");
    assert!(
        modified(&built) > modified(&source),
        "the example is not built: cargo build --example installer"
    );
    Command::new(built)
        .args(arguments.split(' ').filter(|word| !word.is_empty()))
        .output()
        .expect("the example runs")
}

#[track_caller]
fn prints(arguments: &str) -> String {
    let output = installer(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[track_caller]
fn refuses(arguments: &str, status: i32) -> String {
    let output = installer(arguments);
    assert_eq!((output.status.code(), output.stdout), (Some(status), Vec::new()), "{arguments}");
    String::from_utf8(output.stderr).expect("UTF-8")
}

#[test]
fn the_table_has_channel_build_origin_amis_and_both_checksums() {
    let table = prints("");
    let x86_64 = DEFAULT.architecture("x86_64").unwrap();
    let qemu = x86_64.disk("qemu").unwrap();
    let ami = x86_64.aws[0];
    for row in [
        format!("channel {:17}stable", ""),
        format!("build {:19}{}", "", DEFAULT.build_name),
        format!("origin {:18}pinned", ""),
        format!("  AMI {:<19}{}", ami.region, ami.image),
        format!("  qcow2 {:17}{}", "", qemu.url),
        format!("    sha256 as stored     {}", qemu.sha256),
        format!("    sha256 unpacked      {}", qemu.uncompressed_sha256.unwrap()),
    ] {
        assert!(table.lines().any(|line| line == row), "no `{row}` in\n{table}");
    }
}

#[test]
fn json_has_every_channel_and_file() {
    let json: Value = serde_json::from_str(&prints("--json")).unwrap();
    assert_eq!(json["default-channel"], "stable");
    let channels = json["channels"].as_array().unwrap();
    assert_eq!(channels.len(), coreos_pins::ALL.len());
    for (json, channel) in channels.iter().zip(coreos_pins::ALL) {
        for architecture in channel.architectures {
            let json = &json["architectures"][architecture.name];
            assert_eq!(json["artifacts"].as_array().unwrap().len(), architecture.artifacts.len());
            assert_eq!(json["aws"].as_object().unwrap().len(), architecture.aws.len());
        }
    }
}

#[test]
fn each_platform_has_the_value_its_installer_takes() {
    let x86_64 = DEFAULT.architecture("x86_64").unwrap();
    let gcp = x86_64.gcp.unwrap();
    let (qemu, nutanix) = (x86_64.disk("qemu").unwrap(), x86_64.disk("nutanix").unwrap());
    let ova = x86_64.artifact("vmware", "ova", "disk").unwrap();
    let rhel = coreos_pins::channel("rhel-9").unwrap();
    let azure = rhel.architecture("x86_64").unwrap().azure_disk.unwrap();
    let powervs = rhel.architecture("ppc64le").unwrap().powervs_object("us-south").unwrap();
    for (arguments, expected) in [
        ("--platform aws --arch x86_64 --region us-east-1", x86_64.ami("us-east-1").unwrap().to_owned()),
        ("--platform gcp --arch amd64", format!("projects/{}/global/images/{}", gcp.project, gcp.name)),
        (
            "--platform libvirt --arch x86_64",
            format!("{}?sha256={}", qemu.url, qemu.uncompressed_sha256.unwrap()),
        ),
        // Not packed, so that there is one checksum only.
        ("--platform nutanix --arch x86_64", format!("{}?sha256={}", nutanix.url, nutanix.sha256)),
        ("--platform vsphere --arch x86_64", format!("{}?sha256={}", ova.url, ova.sha256)),
        ("--platform azure --arch x86_64 --channel rhel-9", azure.url.to_owned()),
        (
            "--platform powervs --arch ppc64le --region us-south --channel rhel-9",
            format!("{}/{}", powervs.bucket, powervs.object),
        ),
        (
            "--platform kubevirt --arch s390x",
            DEFAULT.architecture("s390x").unwrap().kubevirt.unwrap().digest_ref.unwrap().into(),
        ),
    ] {
        assert_eq!(prints(&format!("image {arguments}")), format!("{expected}\n"), "{arguments}");
    }
}

#[test]
fn what_is_not_there_is_said_with_what_there_is() {
    let text = refuses("image --platform aws --arch x86_64 --region us-gov-west-1", 1);
    assert!(
        text.starts_with("error: no aws image for x86_64 in region `us-gov-west-1` (have af-south-1, "),
        "{text}"
    );
    let text = refuses("image --platform metal --arch x86_64", 1);
    assert!(text.contains("(have 4k.raw.xz disk, iso disk, pxe initramfs, "), "{text}");
    assert!(
        refuses("image --platform aws --arch i686 --region x", 1)
            .contains("(have aarch64, ppc64le, s390x, x86_64)")
    );
    assert!(
        refuses("image --platform aws --arch x86_64 --region r --channel x", 1)
            .contains("no channel `x` (have c10s, ")
    );
    assert!(
        refuses("image --platform azure --arch x86_64 --generation hyperVGen1 --channel rhel-9", 1)
            .contains("no azure")
    );
    for usage in [
        "image",
        "image --platform aws",
        "image --platform aws --arch x86_64",
        "nope",
        "--nope",
        "image --region",
    ] {
        assert!(refuses(usage, 2).contains("usage: installer"), "{usage}");
    }
}

#[test]
fn stream_json_is_printed_for_other_tools() {
    assert_eq!(prints("print-stream-json"), DEFAULT.stream_json());
    assert_eq!(prints("print-stream-json rhel-9"), coreos_pins::channel("rhel-9").unwrap().stream_json());
    assert!(refuses("print-stream-json nope", 1).contains("no channel `nope`"));
}
