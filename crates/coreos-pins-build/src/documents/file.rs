//! A file of a build record: which platform, format and kind it is, and its URL.
//!
//! A record knows its files by a key (`qemu`, `metal4k`, `live-kernel`) and a name
//! (`rhcos-413.86.202212021619-0-qemu.x86_64.qcow2.gz`); stream metadata by platform, format and kind. The rules are
//! those of [COSA's translator], and a few more for files that it never met, from before there was stream metadata.
//! A format is always the end of the file's name: compression cannot be told from the platform.
//!
//! [COSA's translator]: https://github.com/coreos/coreos-assembler/blob/main/src/cmd-generate-release-meta

use std::fmt::Write;

/// Architectures that a file's name may hold.
const ARCHITECTURES: [&str; 5] = ["x86_64", "aarch64", "ppc64le", "s390x", "riscv64"];

const COMPRESSIONS: [&str; 5] = ["gz", "xz", "zst", "zip", "bz2"];

/// Where a file is put in stream metadata.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Slot {
    pub(super) platform: String,
    pub(super) format: String,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Disk,
    Kernel,
    Initramfs,
    Rootfs,
}

impl Slot {
    fn new(platform: &str, format: impl Into<String>, kind: Kind) -> Self {
        Self { platform: platform.to_owned(), format: format.into(), kind }
    }

    /// Returns where the file `name` goes, whose key is `key`; `None` where its name has no ending, so that there is no
    /// format.
    ///
    /// # Errors
    ///
    /// The architecture that the name says, where it is not `architecture`.
    pub(super) fn of(key: &str, name: &str, build: &str, architecture: &str) -> Result<Option<Self>, String> {
        let is_installer = name.contains("-installer");
        let installer = |kind| {
            let format = if is_installer { "installer-pxe" } else { "pxe" };
            Ok(Some(Self::new("metal", format, kind)))
        };
        let (platform, prefix) = match key {
            "live-iso" => return Ok(Some(Self::new("metal", "iso", Kind::Disk))),
            "live-kernel" => return Ok(Some(Self::new("metal", "pxe", Kind::Kernel))),
            "live-initramfs" => return Ok(Some(Self::new("metal", "pxe", Kind::Initramfs))),
            "live-rootfs" => return Ok(Some(Self::new("metal", "pxe", Kind::Rootfs))),
            // For a while, live media had these keys too; only the file's name tells.
            "iso" if is_installer => return Ok(Some(Self::new("metal", "installer.iso", Kind::Disk))),
            "iso" => return Ok(Some(Self::new("metal", "iso", Kind::Disk))),
            "kernel" => return installer(Kind::Kernel),
            "initramfs" => return installer(Kind::Initramfs),
            "metal4k" => ("metal", "4k"),
            "dasd" => ("metal", "dasd"),
            _ => match key.strip_prefix("metal-") {
                Some(variant) => ("metal", variant),
                None => (key, ""),
            },
        };
        let Some(ending) = ending(key, name, build, architecture)? else { return Ok(None) };
        let dot = if prefix.is_empty() { "" } else { "." };
        Ok(Some(Self::new(platform, format!("{prefix}{dot}{ending}"), Kind::Disk)))
    }
}

/// Tells whether stream metadata leaves out the files of `key`: what is no image of the system, but a part of its making
/// or a container. Where there are live media, older installer media are left out too.
pub(super) fn is_left_out(key: &str, has_live_media: bool) -> bool {
    match key {
        "ostree" | "oci-manifest" | "ignition-gpg-key" => true,
        "iso" | "kernel" | "initramfs" => has_live_media,
        _ => key.ends_with("container"),
    }
}

/// Returns the end of `name` behind platform and architecture: `qcow2.gz`.
fn ending<'a>(key: &str, name: &'a str, build: &str, architecture: &str) -> Result<Option<&'a str>, String> {
    let key_dot = format!("{key}.");
    let is_start = |at: usize| !name[..at].ends_with(|c: char| c.is_ascii_alphanumeric());
    let behind_key = name.rmatch_indices(&key_dot).find(|(at, _)| is_start(*at));
    let rest = match (behind_key, name.split_once(build)) {
        (Some((at, _)), _) => &name[at + key_dot.len()..],
        // The name has another platform in it, or none: `rhcos-42.80.20191002.0.vhd`.
        (None, Some((_, rest))) => rest.split_once('.').map_or("", |(_, ending)| ending),
        (None, None) => last_ending(name),
    };
    let (first, behind_first) = rest.split_once('.').unwrap_or((rest, ""));
    let ending = match first {
        _ if first == architecture => behind_first,
        other if ARCHITECTURES.contains(&other) => return Err(other.to_owned()),
        _ => rest,
    };
    Ok(Some(ending).filter(|ending| !ending.is_empty()))
}

/// Returns what is behind the last dot of `name`, or the last but one where it is compressed.
fn last_ending(name: &str) -> &str {
    let Some((stem, last)) = name.rsplit_once('.') else { return "" };
    match stem.rsplit_once('.') {
        Some((_, format)) if COMPRESSIONS.contains(&last) => {
            &name[name.len() - format.len() - last.len() - 1..]
        }
        _ => last,
    }
}

/// Checks that `name` is the bare name of a file, which cannot lead out of the folder that it is in.
///
/// # Errors
///
/// Says what is in it that may not be.
pub(super) fn check_name(name: &str) -> Result<(), &'static str> {
    let is_forbidden = |c: char| matches!(c, '/' | '\\' | ':' | '?' | '#') || c.is_control();
    if name.contains(is_forbidden) || name.contains("..") || name == "." {
        return Err("the bare name of a file");
    }
    Ok(())
}

/// Returns the URL of the file `name` in the folder at `folder_url`.
pub(super) fn url(folder_url: &str, name: &str) -> String {
    let slash = if folder_url.ends_with('/') { "" } else { "/" };
    let mut url = format!("{folder_url}{slash}");
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => url.push(byte.into()),
            b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'=' | b'@' => {
                url.push(byte.into());
            }
            _ => write!(url, "%{byte:02X}").unwrap_or_default(),
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(key: &str, name: &str) -> String {
        match Slot::of(key, name, "47.1", "x86_64") {
            Ok(Some(Slot { platform, format, kind })) => format!("{platform} {format} {kind:?}"),
            Ok(None) => "none".to_owned(),
            Err(architecture) => format!("of {architecture}"),
        }
    }

    #[test]
    fn formats_are_the_end_of_the_name() {
        for (key, name, expected) in [
            ("qemu", "rhcos-47.1-qemu.x86_64.qcow2.gz", "qemu qcow2.gz Disk"),
            ("qemu", "redhat-coreos-maipo-47.1-qemu.qcow2", "qemu qcow2 Disk"),
            ("qemu-secex", "rhcos-47.1-qemu-secex.x86_64.qcow2.gz", "qemu-secex qcow2.gz Disk"),
            ("gcp", "rhcos-47.1-gcp.tar", "gcp tar Disk"),
            ("gcp", "fedora-coreos-47.1-gcp.x86_64.tar.gz", "gcp tar.gz Disk"),
            ("hyperv", "fedora-coreos-47.1-hyperv.x86_64.vhdx.zip", "hyperv vhdx.zip Disk"),
            ("kubevirt", "fedora-coreos-47.1-kubevirt.x86_64.ociarchive", "kubevirt ociarchive Disk"),
            ("azure", "rhcos-47.1.vhd", "azure vhd Disk"),
            ("azure", "rhcos-47.1-cloud.x86_64.vhd.gz", "azure vhd.gz Disk"),
            ("novel-cloud", "rhcos-47.1-novel-cloud.x86_64.img.zst", "novel-cloud img.zst Disk"),
            ("qemu", "qemu.qcow2.xz", "qemu qcow2.xz Disk"),
            ("qemu", "disk.v2.qcow2.xz", "qemu qcow2.xz Disk"),
            ("qemu", "disk.v2.qcow2", "qemu qcow2 Disk"),
        ] {
            assert_eq!(slot(key, name), expected, "{name}");
        }
    }

    #[test]
    fn metal_gathers_its_variants_and_media() {
        for (key, name, expected) in [
            ("metal", "rhcos-47.1-metal.x86_64.raw.gz", "metal raw.gz Disk"),
            ("metal4k", "rhcos-47.1-metal4k.x86_64.raw.gz", "metal 4k.raw.gz Disk"),
            ("metal-bios", "rhcos-47.1-metal-bios.raw", "metal bios.raw Disk"),
            ("metal-uefi", "rhcos-47.1-metal-uefi.raw.gz", "metal uefi.raw.gz Disk"),
            ("metal-dasd", "rhcos-47.1-metal-dasd.raw.gz", "metal dasd.raw.gz Disk"),
            ("dasd", "rhcos-47.1-dasd.x86_64.raw.gz", "metal dasd.raw.gz Disk"),
            ("live-iso", "rhcos-47.1-live.x86_64.iso", "metal iso Disk"),
            ("live-iso", "rhcos-47.1-live-iso.x86_64.iso", "metal iso Disk"),
            ("live-kernel", "rhcos-47.1-live-kernel-x86_64", "metal pxe Kernel"),
            ("live-kernel", "rhcos-47.1-live-kernel.x86_64", "metal pxe Kernel"),
            ("live-initramfs", "rhcos-47.1-live-initramfs.x86_64.img", "metal pxe Initramfs"),
            ("live-rootfs", "rhcos-47.1-live-rootfs.x86_64.img", "metal pxe Rootfs"),
            ("iso", "rhcos-47.1-installer.iso", "metal installer.iso Disk"),
            ("kernel", "rhcos-47.1-installer-kernel", "metal installer-pxe Kernel"),
            ("initramfs", "rhcos-47.1-installer-initramfs.img", "metal installer-pxe Initramfs"),
            ("iso", "fedora-coreos-47.1-live.x86_64.iso", "metal iso Disk"),
            ("kernel", "fedora-coreos-47.1-live-kernel-x86_64", "metal pxe Kernel"),
            ("initramfs", "fedora-coreos-47.1-live-initramfs.x86_64.img", "metal pxe Initramfs"),
        ] {
            assert_eq!(slot(key, name), expected, "{name}");
        }
    }

    #[test]
    fn a_name_of_another_architecture_is_told() {
        assert_eq!(slot("qemu", "rhcos-47.1-qemu.s390x.qcow2.gz"), "of s390x");
        // An architecture in a build id is none.
        assert_eq!(slot("qemu", "rhcos-42s390x.81-qemu.qcow2"), "qemu qcow2 Disk");
    }

    #[test]
    fn a_name_without_an_ending_has_no_format() {
        for name in
            ["rhcos-47.1-novel", "rhcos-47.1-novel.x86_64", "novel", "novel.", "rhcos-47.1-novel-x86_64"]
        {
            assert_eq!(slot("novel", name), "none", "{name}");
        }
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        for name in [
            "/x",
            "a/b",
            "..",
            ".",
            "a..b",
            "https://evil/x",
            "c:x",
            "x?y",
            "x#y",
            "a\\b",
            "x\n",
            "x\0",
            "x\u{85}",
        ] {
            assert!(check_name(name).is_err(), "{name:?}");
        }
        assert!(check_name("rhcos-413.86.202212021619-0-qemu.x86_64.qcow2.gz").is_ok());
    }

    #[test]
    fn a_url_is_the_folder_and_the_name_with_what_must_be_encoded() {
        let name = "rhcos-47.1-qemu.x86_64.qcow2.gz";
        assert_eq!(url("https://b/47.1/", name), format!("https://b/47.1/{name}"));
        assert_eq!(url("file:///srv/47.1", name), format!("file:///srv/47.1/{name}"));
        assert_eq!(url("https://b/", "a b%2e\"<é>+~@"), "https://b/a%20b%252e%22%3C%C3%A9%3E+~@");
    }
}
