/// One downloadable file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Artifact {
    /// The platform: `aws`, `metal`, `qemu`, … It may be one that this version of the crate has never heard of.
    pub platform: &'static str,
    /// The format: `qcow2.xz`, `4k.raw.gz`, `pxe`, … A name, not just the ending of the file's name.
    pub format: &'static str,
    /// `disk`, or for network boot `kernel`, `initramfs`, `rootfs`.
    pub kind: &'static str,
    /// The build that the file is of.
    pub release: &'static str,
    /// Where the file is.
    pub url: &'static str,
    /// SHA-256 of the file as stored at `url`, before anything is unpacked: 64 lower-case hex digits.
    pub sha256: &'static str,
    /// SHA-256 of what the file unpacks to: 64 lower-case hex digits. `None` where it is not compressed, or upstream
    /// does not say.
    pub uncompressed_sha256: Option<&'static str>,
    /// Where the detached OpenPGP signature of the file as stored is.
    pub signature_url: Option<&'static str>,
}

impl Artifact {
    #[doc(hidden)]
    #[must_use]
    pub const fn new(
        [platform, format, kind, release, url, sha256]: [&'static str; 6],
        uncompressed_sha256: Option<&'static str>,
        signature_url: Option<&'static str>,
    ) -> Self {
        Self { platform, format, kind, release, url, sha256, uncompressed_sha256, signature_url }
    }
}
