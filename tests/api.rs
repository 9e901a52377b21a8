//! The types of what an installer can name. If this does not compile, installers break.
#![cfg(feature = "embed")]

use coreos_pins::{
    Architecture, Artifact, AzureDisk, Builder, Channel, ContainerImage, GcpImage, MarketplaceImage, Origin,
    RegionImage, RegionObject,
};

const BASE_URL: &str = coreos_pins::BASE_URL;
const DEFAULT_CHANNEL: &str = coreos_pins::DEFAULT_CHANNEL;
const BUILD_NAME: &str = coreos_pins::BUILD_NAME;
const RELEASE_IMAGE: Option<&str> = coreos_pins::RELEASE_IMAGE;
const ORIGIN: Origin = coreos_pins::ORIGIN;
const CHANNELS: &[&str] = coreos_pins::CHANNELS;
const PINS_SHA256: &str = coreos_pins::PINS_SHA256;
const DEFAULT: &Channel = coreos_pins::DEFAULT;
const ALL: &[Channel] = coreos_pins::ALL;
const RHEL_9: &Channel = coreos_pins::channel("rhel-9").unwrap();
const X86_64: &Architecture = DEFAULT.architecture("amd64").unwrap();
const AARCH64: &Architecture = DEFAULT.architecture("arm64").unwrap();
const PPC64LE: &Architecture = RHEL_9.architecture("ppc64le").unwrap();

#[test]
fn everything_is_usable_in_constants() {
    const AMI: &str = X86_64.ami("us-east-1").unwrap();
    const DISK: &Artifact = X86_64.disk("qemu").unwrap();
    const KERNEL: &Artifact = X86_64.artifact("metal", "pxe", "kernel").unwrap();
    const WINLI: &str = RHEL_9.architecture("x86_64").unwrap().winli_ami("us-east-1").unwrap();
    const POWERVS: &RegionObject = PPC64LE.powervs_object("us-south").unwrap();
    const JSON: &str = DEFAULT.stream_json();
    const NONE: [bool; 5] = [
        X86_64.aliyun_image("us-east-1").is_none(),
        X86_64.ibmcloud_object("us-south").is_none(),
        X86_64.marketplace_image("ocp", "hyperVGen2").is_none(),
        DEFAULT.builder("coreos-assembler").is_none(),
        coreos_pins::channel("no-such-channel").is_none(),
    ];
    assert_eq!(AMI, coreos_pins::x86_64::AMI_US_EAST_1);
    assert_eq!(DISK.url, coreos_pins::x86_64::QEMU_QCOW2_URL);
    assert_eq!(KERNEL.sha256, coreos_pins::x86_64::METAL_PXE_KERNEL_SHA256);
    assert!(WINLI.starts_with("ami-") && POWERVS.url.starts_with("https://") && JSON.starts_with('{'));
    assert_eq!(NONE, [true; 5]);
}

#[test]
fn fields_have_their_types() {
    let Channel { name, base_url, build_name, origin, release_image, architectures, builders, .. } = *DEFAULT;
    let _: (&str, &str, &str, Origin, Option<&str>) = (name, base_url, build_name, origin, release_image);
    let _: (&'static [Architecture], &'static [Builder]) = (architectures, builders);
    assert_eq!((name, base_url, build_name), (DEFAULT_CHANNEL, BASE_URL, BUILD_NAME));
    assert_eq!((origin, release_image), (ORIGIN, RELEASE_IMAGE));

    let architecture: &'static Architecture = X86_64;
    let _: (&'static str, &'static str) = (architecture.name, architecture.build_name);
    let _: [&'static [RegionImage]; 3] = [architecture.aws, architecture.aws_winli, architecture.aliyun];
    let _: [&'static [RegionObject]; 2] = [architecture.powervs, architecture.ibmcloud];
    let _: (Option<GcpImage>, Option<ContainerImage>) = (architecture.gcp, architecture.kubevirt);
    let _: (Option<AzureDisk>, &'static [MarketplaceImage]) =
        (architecture.azure_disk, architecture.azure_marketplace);

    let Artifact { platform, format, kind, release, url, sha256, uncompressed_sha256, signature_url, .. } =
        architecture.artifacts[0];
    let _: [&'static str; 6] = [platform, format, kind, release, url, sha256];
    let _: [Option<&'static str>; 2] = [uncompressed_sha256, signature_url];

    let RegionImage { region, release, image, .. } = architecture.aws[0];
    let _: [&'static str; 3] = [region, release, image];
    let GcpImage { release, project, name, family, .. } = architecture.gcp.unwrap();
    let _: (Option<&'static str>, &'static str, &'static str, Option<&'static str>) =
        (release, project, name, family);
    let ContainerImage { release, image, digest_ref, .. } = architecture.kubevirt.unwrap();
    let _: (&'static str, &'static str, Option<&'static str>) = (release, image, digest_ref);
    let RegionObject { region, release, object, bucket, url, .. } = PPC64LE.powervs[0];
    let _: [&'static str; 5] = [region, release, object, bucket, url];
    let AzureDisk { release, url, .. } = RHEL_9.architectures[0].azure_disk.unwrap();
    let _: [&'static str; 2] = [release, url];
    let marketplace = |image: MarketplaceImage| -> [&'static str; 6] {
        [image.plan, image.generation, image.publisher, image.offer, image.sku, image.version]
    };
    let builder = |b: Builder| -> ([&'static str; 4], Option<&'static str>, &'static [&'static str]) {
        ([b.name, b.image, b.digest, b.reference], b.revision, b.architectures)
    };
    let _ = (marketplace, builder);
}

#[test]
fn tables_are_sorted_and_both_spellings_of_an_architecture_are_understood() {
    for channel in ALL {
        assert!(channel.architectures.is_sorted_by_key(|architecture| architecture.name));
        for architecture in channel.architectures {
            assert!(architecture.aws.is_sorted_by_key(|image| image.region));
            assert!(architecture.artifacts.is_sorted_by_key(|a| (a.platform, a.format, a.kind)));
        }
    }
    assert!(CHANNELS.is_sorted());
    assert_eq!((X86_64.name, AARCH64.name), ("x86_64", "aarch64"));
    assert_eq!(DEFAULT.architecture("aarch64"), Some(AARCH64));
    assert_eq!(ORIGIN.to_string(), "pinned");
    assert_eq!(PINS_SHA256.len(), 64);
}

#[test]
fn what_is_not_there_is_none_and_never_something_else() {
    for region in ["cn-north-1", "us-gov-east-1", "us-iso-east-1", "nope-1", "", "US-EAST-1", "us-east-11"] {
        assert_eq!(X86_64.ami(region), None, "{region}");
        assert!(X86_64.regions("aws").all(|known| known != region));
    }
    // GovCloud is there where the pin has it.
    assert!(RHEL_9.architectures.iter().any(|architecture| architecture.ami("us-gov-east-1").is_some()));
    assert_eq!(DEFAULT.architecture("s390x").unwrap().ami("us-east-1"), None);
    assert_eq!(DEFAULT.architecture("i686"), None);
    // Three disks to choose from, and no platform of that name.
    assert_eq!((X86_64.disk("metal"), X86_64.disk("nope")), (None, None));
    assert_eq!(X86_64.artifact("qemu", "qcow2.gz", "disk"), None);
    assert_eq!(X86_64.regions("qemu").count(), 0);
}
