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

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::build_name;
use crate::field::{optional_sha256, optional_text, sha256, text};
use crate::json::{self, Map, Value};

/// A stream document: the artifacts and images of one release, or of a few.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stream {
    /// The stream's own name for itself, such as `stable` or `rhcos-4.21`. It need not be the channel's name.
    #[serde(deserialize_with = "text")]
    pub stream: String,
    /// When and by what the document was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// By RPM architecture: `x86_64`, `aarch64`, `ppc64le`, `s390x`.
    pub architectures: Map<Architecture>,
    /// Top-level keys that this model does not know.
    #[serde(flatten)]
    pub extra: Map<Value>,
}

/// When and by what a document was made. Neither member can be relied on for order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Metadata {
    /// RFC 3339, UTC.
    #[serde(rename = "last-modified", default, skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "optional_text")]
    pub last_modified: Option<String>,
    /// The tool that made the document, such as `plume cosa2stream b23d8cf`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_text")]
    pub generator: Option<String>,
    /// Unknown keys.
    #[serde(flatten)]
    pub extra: Map<Value>,
}

/// What there is for one architecture.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Architecture {
    /// Downloadable files, by platform: `aws`, `metal`, `qemu`, …
    #[serde(default)]
    pub artifacts: Map<Platform>,
    /// What clouds already hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub images: Option<Images>,
    /// What only RHEL CoreOS and SCOS streams have.
    #[serde(rename = "rhel-coreos-extensions", default, skip_serializing_if = "Option::is_none")]
    pub extensions: Option<Extensions>,
    /// Unknown keys.
    #[serde(flatten)]
    pub extra: Map<Value>,
}

/// The files of one platform.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Platform {
    /// The build that these files are of.
    #[serde(deserialize_with = "text")]
    pub release: String,
    /// By format: `qcow2.xz`, `4k.raw.gz`, `pxe`, … The key is a name, not just the ending of a file name.
    pub formats: Map<Format>,
    /// Unknown keys.
    #[serde(flatten)]
    pub extra: Map<Value>,
}

/// The files of one format: a `disk`, or the parts that a network boot takes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Format {
    /// A disk image, or an ISO.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<Artifact>,
    /// The kernel of a `pxe` format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<Artifact>,
    /// The initial RAM file system of a `pxe` format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initramfs: Option<Artifact>,
    /// The root file system of a `pxe` format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rootfs: Option<Artifact>,
    /// Unknown keys.
    #[serde(flatten)]
    pub extra: Map<Value>,
}

/// One downloadable file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Artifact {
    /// The file's URL.
    #[serde(deserialize_with = "text")]
    pub location: String,
    /// Where the detached OpenPGP signature of the file as stored is.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_text")]
    pub signature: Option<String>,
    /// SHA-256 of the file as stored at `location` (compressed, where its name says so): 64 lower-case hex digits.
    #[serde(deserialize_with = "sha256")]
    pub sha256: String,
    /// SHA-256 of what the file unpacks to: 64 lower-case hex digits. Absent where the file is not compressed.
    #[serde(rename = "uncompressed-sha256", default, skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "optional_sha256")]
    pub uncompressed_sha256: Option<String>,
    /// Unknown keys.
    #[serde(flatten)]
    pub extra: Map<Value>,
}

/// What clouds already hold. A cloud this model does not know is in `extra`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Images {
    /// Amazon machine images, by region.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aws: Option<Regions<RegionImage>>,
    /// Alibaba Cloud images, by region. Their region names overlap with those of AWS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aliyun: Option<Regions<RegionImage>>,
    /// The Google Compute Engine image, good in every region.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gcp: Option<GcpImage>,
    /// The KubeVirt container disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kubevirt: Option<ContainerImage>,
    /// IBM Cloud objects, by region.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ibmcloud: Option<Regions<RegionObject>>,
    /// IBM Power Virtual Server objects, by region.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub powervs: Option<Regions<RegionObject>>,
    /// Unknown keys.
    #[serde(flatten)]
    pub extra: Map<Value>,
}

/// What a cloud holds per region.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Regions<T> {
    /// By the cloud's own name for the region.
    #[serde(bound(deserialize = "T: Deserialize<'de>"))]
    pub regions: Map<T>,
    /// Unknown keys.
    #[serde(flatten)]
    pub extra: Map<Value>,
}

/// An image in one region of a cloud.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RegionImage {
    /// The build that the image is of; it may differ from one region to another.
    #[serde(deserialize_with = "text")]
    pub release: String,
    /// The image's id, such as `ami-0fd0205c3c81d0412`.
    #[serde(deserialize_with = "text")]
    pub image: String,
    /// Unknown keys.
    #[serde(flatten)]
    pub extra: Map<Value>,
}

/// A Google Compute Engine image.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GcpImage {
    /// The build that the image is of; documents before November 2021 do not say.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_text")]
    pub release: Option<String>,
    /// The project that owns the image.
    #[serde(deserialize_with = "text")]
    pub project: String,
    /// The image family, whose newest member this was; only Fedora CoreOS has one.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_text")]
    pub family: Option<String>,
    /// The image's name in the project.
    #[serde(deserialize_with = "text")]
    pub name: String,
    /// Unknown keys.
    #[serde(flatten)]
    pub extra: Map<Value>,
}

/// A container image in a registry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContainerImage {
    /// The build that the image is of.
    #[serde(deserialize_with = "text")]
    pub release: String,
    /// The reference by tag, which moves.
    #[serde(deserialize_with = "text")]
    pub image: String,
    /// The reference by digest, which does not.
    #[serde(rename = "digest-ref", default, skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "optional_text")]
    pub digest_ref: Option<String>,
    /// Unknown keys.
    #[serde(flatten)]
    pub extra: Map<Value>,
}

/// An object in a cloud's object store, in one region.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RegionObject {
    /// The build that the object is of.
    #[serde(deserialize_with = "text")]
    pub release: String,
    /// The object's name in the bucket.
    #[serde(deserialize_with = "text")]
    pub object: String,
    /// The bucket.
    #[serde(deserialize_with = "text")]
    pub bucket: String,
    /// The object's URL.
    #[serde(deserialize_with = "text")]
    pub url: String,
    /// Unknown keys.
    #[serde(flatten)]
    pub extra: Map<Value>,
}

/// What only RHEL CoreOS and SCOS streams have.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Extensions {
    /// The Azure disk blob.
    #[serde(rename = "azure-disk", default, skip_serializing_if = "Option::is_none")]
    pub azure_disk: Option<AzureDisk>,
    /// Machine images for Windows License Included instances, by AWS region.
    #[serde(rename = "aws-winli", default, skip_serializing_if = "Option::is_none")]
    pub aws_winli: Option<Regions<RegionImage>>,
    /// Marketplace offers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marketplace: Option<Marketplace>,
    /// Unknown keys.
    #[serde(flatten)]
    pub extra: Map<Value>,
}

/// The Azure disk blob.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AzureDisk {
    /// The build that the blob is of.
    #[serde(deserialize_with = "text")]
    pub release: String,
    /// The blob's URL.
    #[serde(deserialize_with = "text")]
    pub url: String,
    /// Unknown keys.
    #[serde(flatten)]
    pub extra: Map<Value>,
}

/// Marketplace offers, merged in from a side file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Marketplace {
    /// Azure, by purchase plan: `no-purchase-plan`, `ocp`, `opp-emea`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub azure: Option<Map<MarketplacePlan>>,
    /// Unknown keys.
    #[serde(flatten)]
    pub extra: Map<Value>,
}

/// The images of one purchase plan, by generation of the hypervisor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MarketplacePlan {
    /// For virtual machines of generation 1.
    #[serde(rename = "hyperVGen1", default, skip_serializing_if = "Option::is_none")]
    pub gen1: Option<MarketplaceImage>,
    /// For virtual machines of generation 2.
    #[serde(rename = "hyperVGen2", default, skip_serializing_if = "Option::is_none")]
    pub gen2: Option<MarketplaceImage>,
    /// Unknown keys.
    #[serde(flatten)]
    pub extra: Map<Value>,
}

/// An Azure marketplace image; its URN is `publisher:offer:sku:version`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MarketplaceImage {
    /// Who publishes it.
    #[serde(deserialize_with = "text")]
    pub publisher: String,
    /// The offer.
    #[serde(deserialize_with = "text")]
    pub offer: String,
    /// The plan within the offer.
    #[serde(deserialize_with = "text")]
    pub sku: String,
    /// The version; not the build's id.
    #[serde(deserialize_with = "text")]
    pub version: String,
    /// Unknown keys.
    #[serde(flatten)]
    pub extra: Map<Value>,
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
        match self.extra.get("schema-version") {
            None => {}
            Some(Value::String(version)) if version.split('.').next() == Some("1") => {}
            Some(version) => {
                let version = json::print(version);
                return Err(Error::invalid(format!(
                    "{document}: schema-version: expected 1.x, found `{}`",
                    version.trim().trim_matches('"')
                ))
                .help("update coreos-pins"));
            }
        }
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
            .filter_map(|(name, architecture)| Some((name.as_str(), architecture.build_name()?)))
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
                (name.as_str(), platform.release.as_str(), format, kind, artifact)
            })
        })
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
            .filter_map(move |(kind, artifact)| Some((name.as_str(), kind, artifact.as_ref()?)))
        })
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
