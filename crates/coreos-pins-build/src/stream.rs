//! CoreOS stream metadata: the one model of this project.
//!
//! Every document becomes a [`Stream`], pins are written as one, constants are generated from one. The types follow
//! [stream-metadata-go], which is what upstream's own tools write with, and keep what they do not know: each has the
//! unknown keys of its object in `extra`. Maps are sorted. An optional member that is an empty string is absent; a
//! required one that is empty is an error.
//!
//! [stream-metadata-go]: https://github.com/coreos/stream-metadata-go

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::Error;
use crate::build_name;
use crate::json::{self, Map, Value};
use crate::object::object;

object! {
    /// A stream document: the artifacts and images of one release, or of a few.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Stream {
        /// By RPM architecture: `x86_64`, `aarch64`, `ppc64le`, `s390x`.
        "architectures" => pub architectures: value Map<Architecture>,
        /// When and by what the document was made.
        "metadata" => pub metadata: optional Option<Metadata>,
        /// The stream's own name for itself, such as `stable` or `rhcos-4.21`. It need not be the channel's name.
        "stream" => pub stream: text String,
    }
}

object! {
    /// When and by what a document was made. Neither member can be relied on for order.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Metadata {
        /// The tool that made the document, such as `plume cosa2stream b23d8cf`.
        "generator" => pub generator: optional_text Option<String>,
        /// RFC 3339, UTC.
        "last-modified" => pub last_modified: optional_text Option<String>,
    }
}

object! {
    /// What there is for one architecture.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Architecture {
        /// Downloadable files, by platform: `aws`, `metal`, `qemu`, …
        "artifacts" => pub artifacts: default Map<Platform>,
        /// What clouds already hold.
        "images" => pub images: optional Option<Images>,
        /// What only RHEL CoreOS and SCOS streams have.
        "rhel-coreos-extensions" => pub extensions: optional Option<Extensions>,
    }
}

object! {
    /// The files of one platform.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Platform {
        /// By format: `qcow2.xz`, `4k.raw.gz`, `pxe`, … The key is a name, not just the ending of a file name.
        "formats" => pub formats: value Map<Format>,
        /// The build that these files are of.
        "release" => pub release: text String,
    }
}

object! {
    /// The files of one format: a `disk`, or the parts that a network boot takes.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Format {
        /// A disk image, or an ISO.
        "disk" => pub disk: optional Option<Artifact>,
        /// The initial RAM file system of a `pxe` format.
        "initramfs" => pub initramfs: optional Option<Artifact>,
        /// The kernel of a `pxe` format.
        "kernel" => pub kernel: optional Option<Artifact>,
        /// The root file system of a `pxe` format.
        "rootfs" => pub rootfs: optional Option<Artifact>,
    }
}

object! {
    /// One downloadable file.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Artifact {
        /// The file's URL.
        "location" => pub location: text String,
        /// SHA-256 of the file as stored at `location` (compressed, where its name says so): 64 lower-case hex digits.
        "sha256" => pub sha256: sha256 String,
        /// Where the detached OpenPGP signature of the file as stored is.
        "signature" => pub signature: optional_text Option<String>,
        /// SHA-256 of what the file unpacks to: 64 lower-case hex digits. Absent where the file is not compressed.
        "uncompressed-sha256" => pub uncompressed_sha256: optional_sha256 Option<String>,
    }
}

object! {
    /// What clouds already hold. A cloud this model does not know is in `extra`.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Images {
        /// Alibaba Cloud images, by region. Their region names overlap with those of AWS.
        "aliyun" => pub aliyun: optional Option<Regions<RegionImage>>,
        /// Amazon machine images, by region.
        "aws" => pub aws: optional Option<Regions<RegionImage>>,
        /// The Google Compute Engine image, good in every region.
        "gcp" => pub gcp: optional Option<GcpImage>,
        /// IBM Cloud objects, by region.
        "ibmcloud" => pub ibmcloud: optional Option<Regions<RegionObject>>,
        /// The KubeVirt container disk.
        "kubevirt" => pub kubevirt: optional Option<ContainerImage>,
        /// IBM Power Virtual Server objects, by region.
        "powervs" => pub powervs: optional Option<Regions<RegionObject>>,
    }
}

object! {
    /// What a cloud holds per region.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Regions<T> {
        /// By the cloud's own name for the region.
        "regions" => pub regions: value Map<T>,
    }
}

object! {
    /// An image in one region of a cloud.
    #[derive(Clone, Debug, PartialEq)]
    pub struct RegionImage {
        /// The image's id, such as `ami-0fd0205c3c81d0412`.
        "image" => pub image: text String,
        /// The build that the image is of; it may differ from one region to another.
        "release" => pub release: text String,
    }
}

object! {
    /// A Google Compute Engine image.
    #[derive(Clone, Debug, PartialEq)]
    pub struct GcpImage {
        /// The image family, whose newest member this was; only Fedora CoreOS has one.
        "family" => pub family: optional_text Option<String>,
        /// The image's name in the project.
        "name" => pub name: text String,
        /// The project that owns the image.
        "project" => pub project: text String,
        /// The build that the image is of; documents before November 2021 do not say.
        "release" => pub release: optional_text Option<String>,
    }
}

object! {
    /// A container image in a registry.
    #[derive(Clone, Debug, PartialEq)]
    pub struct ContainerImage {
        /// The reference by digest, which does not.
        "digest-ref" => pub digest_ref: optional_text Option<String>,
        /// The reference by tag, which moves.
        "image" => pub image: text String,
        /// The build that the image is of.
        "release" => pub release: text String,
    }
}

object! {
    /// An object in a cloud's object store, in one region.
    #[derive(Clone, Debug, PartialEq)]
    pub struct RegionObject {
        /// The bucket.
        "bucket" => pub bucket: text String,
        /// The object's name in the bucket.
        "object" => pub object: text String,
        /// The build that the object is of.
        "release" => pub release: text String,
        /// The object's URL.
        "url" => pub url: text String,
    }
}

object! {
    /// What only RHEL CoreOS and SCOS streams have.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Extensions {
        /// Machine images for Windows License Included instances, by AWS region.
        "aws-winli" => pub aws_winli: optional Option<Regions<RegionImage>>,
        /// The Azure disk blob.
        "azure-disk" => pub azure_disk: optional Option<AzureDisk>,
        /// Marketplace offers.
        "marketplace" => pub marketplace: optional Option<Marketplace>,
    }
}

object! {
    /// The Azure disk blob.
    #[derive(Clone, Debug, PartialEq)]
    pub struct AzureDisk {
        /// The build that the blob is of.
        "release" => pub release: text String,
        /// The blob's URL.
        "url" => pub url: text String,
    }
}

object! {
    /// Marketplace offers, merged in from a side file.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Marketplace {
        /// Azure, by purchase plan: `no-purchase-plan`, `ocp`, `opp-emea`, …
        "azure" => pub azure: optional Option<Map<MarketplacePlan>>,
    }
}

object! {
    /// The images of one purchase plan, by generation of the hypervisor.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct MarketplacePlan {
        /// For virtual machines of generation 1.
        "hyperVGen1" => pub gen1: optional Option<MarketplaceImage>,
        /// For virtual machines of generation 2.
        "hyperVGen2" => pub gen2: optional Option<MarketplaceImage>,
    }
}

object! {
    /// An Azure marketplace image; its URN is `publisher:offer:sku:version`.
    #[derive(Clone, Debug, PartialEq)]
    pub struct MarketplaceImage {
        /// The offer.
        "offer" => pub offer: text String,
        /// Who publishes it.
        "publisher" => pub publisher: text String,
        /// The plan within the offer.
        "sku" => pub sku: text String,
        /// The version; not the build's id.
        "version" => pub version: text String,
    }
}

impl Stream {
    /// Reads a stream document. `document` is how errors name it.
    ///
    /// # Errors
    ///
    /// What is not stream metadata is an error that names the document, the place in it and what was expected; so are
    /// a `schema-version` of another major than 1, and a document without an architecture or with one that has no
    /// release.
    ///
    /// # Examples
    ///
    /// ```
    /// use coreos_pins_build::stream::Stream;
    ///
    /// let text = br#"{"stream": "stable", "architectures": {"x86_64": {"images": {"aws": {"regions": {
    ///     "us-east-1": {"release": "44.1", "image": "ami-1"}}}}}}}"#;
    /// let stream = Stream::read("stable.json", text)?;
    /// let aws = stream.architectures["x86_64"].images.as_ref().unwrap().aws.as_ref().unwrap();
    /// assert_eq!(aws.regions["us-east-1"].image, "ami-1");
    /// # Ok::<(), coreos_pins_build::Error>(())
    /// ```
    pub fn read(document: &str, bytes: &[u8]) -> Result<Self, Error> {
        let stream: Self = json::read(document, bytes)?;
        stream.check(document)?;
        Ok(stream)
    }

    /// Checks what the types cannot say. [`Stream::read`] does; after a change by hand, it is for the caller to do.
    ///
    /// # Errors
    ///
    /// As [`Stream::read`].
    pub fn check(&self, document: &str) -> Result<(), Error> {
        check_schema_version(document, self.extra.get("schema-version"))?;
        if self.architectures.is_empty() {
            return Err(Error::invalid(format!(
                "{document}: architectures: expected at least one, found none"
            )));
        }
        match self.architectures.iter().find(|(_, architecture)| architecture.build_name().is_none()) {
            None => Ok(()),
            Some((name, _)) => Err(Error::invalid(format!(
                "{document}: architectures.{name}: expected artifacts or images of some release, found none"
            ))),
        }
    }

    /// Returns the build of each architecture. See [`Architecture::build_name`].
    pub fn build_names(&self) -> BTreeMap<&str, &str> {
        self.architectures
            .iter()
            .filter_map(|(name, architecture)| Some((name, architecture.build_name()?)))
            .collect()
    }

    /// Returns the canonical text of this document: what [`json::print`] makes of it.
    pub fn to_text(&self) -> String {
        json::print(self)
    }
}

impl Architecture {
    /// Returns the release that most artifacts carry, on a tie the newest; without artifacts, the one that most images
    /// carry. `None` where there is neither.
    pub fn build_name(&self) -> Option<&str> {
        let artifacts = self.artifacts.values();
        most_common(artifacts.flat_map(|p| p.artifacts().map(|_| p.release.as_str())))
            .or_else(|| most_common(self.image_releases()))
    }

    fn image_releases(&self) -> impl Iterator<Item = &str> {
        let images = self.images.as_ref();
        let extensions = self.extensions.as_ref();
        let by_region = [
            images.and_then(|images| images.aws.as_ref()),
            images.and_then(|images| images.aliyun.as_ref()),
            extensions.and_then(|extensions| extensions.aws_winli.as_ref()),
        ];
        let objects = [
            images.and_then(|images| images.powervs.as_ref()),
            images.and_then(|images| images.ibmcloud.as_ref()),
        ];
        let single = [
            images.and_then(|images| images.gcp.as_ref()?.release.as_deref()),
            images.and_then(|images| Some(images.kubevirt.as_ref()?.release.as_str())),
            extensions.and_then(|extensions| Some(extensions.azure_disk.as_ref()?.release.as_str())),
        ];
        (by_region.into_iter().flatten().flat_map(|r| r.regions.values().map(|image| image.release.as_str())))
            .chain(objects.into_iter().flatten().flat_map(|r| r.regions.values().map(|o| o.release.as_str())))
            .chain(single.into_iter().flatten())
    }

    /// Returns every artifact as (platform, release, format, kind, artifact), in that order.
    pub fn all_artifacts(&self) -> impl Iterator<Item = (&str, &str, &str, &'static str, &Artifact)> {
        self.artifacts.iter().flat_map(|(name, platform)| {
            platform.artifacts().map(move |(format, kind, artifact)| {
                (name, platform.release.as_str(), format, kind, artifact)
            })
        })
    }
}

impl Format {
    /// Returns the file of `kind`: `disk`, `kernel`, `initramfs`, `rootfs`.
    pub fn file(&self, kind: &str) -> Option<&Artifact> {
        match kind {
            "disk" => self.disk.as_ref(),
            "kernel" => self.kernel.as_ref(),
            "initramfs" => self.initramfs.as_ref(),
            "rootfs" => self.rootfs.as_ref(),
            _ => None,
        }
    }

    /// Returns each file with its kind, to change it.
    pub fn files_mut(&mut self) -> impl Iterator<Item = (&'static str, &mut Artifact)> {
        let files = [
            ("disk", &mut self.disk),
            ("initramfs", &mut self.initramfs),
            ("kernel", &mut self.kernel),
            ("rootfs", &mut self.rootfs),
        ];
        files.into_iter().filter_map(|(kind, file)| Some((kind, file.as_mut()?)))
    }
}

impl Platform {
    /// Returns every artifact as (format, kind, artifact), sorted.
    pub fn artifacts(&self) -> impl Iterator<Item = (&str, &'static str, &Artifact)> {
        self.formats.iter().flat_map(|(name, format)| {
            [
                ("disk", &format.disk),
                ("initramfs", &format.initramfs),
                ("kernel", &format.kernel),
                ("rootfs", &format.rootfs),
            ]
            .into_iter()
            .filter_map(move |(kind, artifact)| Some((name, kind, artifact.as_ref()?)))
        })
    }
}

/// Checks the `schema-version` of a document of any kind: a missing one is fine, another major than 1 is not.
///
/// # Errors
///
/// Another major.
pub(crate) fn check_schema_version(document: &str, version: Option<&Value>) -> Result<(), Error> {
    match version {
        None => Ok(()),
        Some(Value::String(version)) if version.split('.').next() == Some("1") => Ok(()),
        Some(version) => {
            let version = json::print(version);
            Err(Error::invalid(format!(
                "{document}: schema-version: expected 1.x, found `{}`",
                version.trim().trim_matches('"')
            ))
            .help("update coreos-pins"))
        }
    }
}

fn most_common<'a>(releases: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut counts = BTreeMap::new();
    for release in releases {
        *counts.entry(release).or_insert(0) += 1;
    }
    counts
        .into_iter()
        .max_by(|(a, count_a), (b, count_b)| {
            count_a.cmp(count_b).then_with(|| build_name::compare(a, b).unwrap_or(Ordering::Equal))
        })
        .map(|(release, _)| release)
}
