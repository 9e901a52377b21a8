//! A stream document as a flat, sorted list of what it names: files and images. What `show` prints, `diff` compares and
//! `verify` asks for is all read off this list.

use std::fmt;

use coreos_pins_build::json::Map;
use coreos_pins_build::stream::{
    Architecture, Artifact, Extensions, Images, MarketplaceImage, RegionImage, RegionObject, Regions, Stream,
};

/// A file, or an image that a cloud holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item<'a> {
    pub(crate) key: Key<'a>,
    /// The build that it is of, where the document says so.
    pub(crate) release: Option<&'a str>,
    pub(crate) members: Vec<Member<'a>>,
}

/// What tells an item from the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key<'a> {
    pub(crate) architecture: &'a str,
    /// As stream metadata has it: `aws`, `qemu`, …; `azure` for the disk blob, `azure-marketplace` for its offers.
    pub(crate) platform: &'a str,
    pub(crate) name: Name<'a>,
}

/// An item among those of its platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Name<'a> {
    /// The image in a region.
    Region(&'a str),
    /// The image that is the same everywhere.
    Image,
    /// A marketplace offer.
    Offer { plan: &'a str, generation: &'a str },
    /// A file: `disk`, `kernel`, `initramfs` or `rootfs` of a format.
    File { format: &'a str, kind: &'a str },
}

/// A value of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Member<'a> {
    /// The key in stream metadata.
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) value: &'a str,
}

/// What a value is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Names an image.
    Id,
    /// Where something is.
    Url,
    /// Where the signature of it is.
    Signature,
    /// SHA-256.
    Checksum,
    /// Anything else.
    Text,
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Region(region) => f.write_str(region),
            Self::Image => f.write_str("image"),
            Self::Offer { plan, generation } => write!(f, "{plan} {generation}"),
            Self::File { format, kind: "disk" } => f.write_str(format),
            Self::File { format, kind } => write!(f, "{format} {kind}"),
        }
    }
}

impl fmt::Display for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.architecture, self.platform, self.name)
    }
}

impl Item<'_> {
    /// Returns the value that a person takes from here: an image's id, a file's URL.
    pub(crate) fn value(&self) -> String {
        let get = |name| self.get(name).unwrap_or_default();
        match (self.key.platform, self.key.name) {
            ("gcp", Name::Image) => format!("projects/{}/global/images/{}", get("project"), get("name")),
            ("kubevirt", Name::Image) => self.get("digest-ref").unwrap_or(get("image")).to_owned(),
            (_, Name::Offer { .. }) => ["publisher", "offer", "sku", "version"].map(get).join(":"),
            (_, Name::Region(_)) => match self.get("bucket") {
                Some(bucket) => format!("{bucket}/{}", get("object")),
                None => get("image").to_owned(),
            },
            (_, Name::Image) => get("url").to_owned(),
            (_, Name::File { .. }) => get("location").to_owned(),
        }
    }

    /// Returns the value of the member `name`.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.members.iter().find(|member| member.name == name).map(|member| member.value)
    }

    pub(crate) fn is_file(&self) -> bool {
        matches!(self.key.name, Name::File { .. })
    }
}

/// Returns all items of `stream`, sorted. Images of a cloud that the model does not know are not among them.
pub(crate) fn of(stream: &Stream) -> Vec<Item<'_>> {
    let mut items = Vec::new();
    for (name, architecture) in stream.architectures.iter() {
        Collector { items: &mut items, architecture: name }.architecture(architecture);
    }
    items.sort_by(|a, b| a.key.cmp(&b.key));
    items
}

struct Collector<'a, 'i> {
    items: &'i mut Vec<Item<'a>>,
    architecture: &'a str,
}

impl<'a> Collector<'a, '_> {
    fn push(
        &mut self,
        platform: &'a str,
        name: Name<'a>,
        release: Option<&'a str>,
        members: impl IntoIterator<Item = (&'static str, Kind, Option<&'a str>)>,
    ) {
        let key = Key { architecture: self.architecture, platform, name };
        let members =
            members.into_iter().filter_map(|(name, kind, value)| Some(Member { name, kind, value: value? }));
        self.items.push(Item { key, release, members: members.collect() });
    }

    fn architecture(&mut self, architecture: &'a Architecture) {
        for (platform, release, format, kind, artifact) in architecture.all_artifacts() {
            let Artifact { location, sha256, signature, uncompressed_sha256, extra: _ } = artifact;
            self.push(
                platform,
                Name::File { format, kind },
                Some(release),
                [
                    ("location", Kind::Url, Some(location.as_str())),
                    ("sha256", Kind::Checksum, Some(sha256)),
                    ("uncompressed-sha256", Kind::Checksum, uncompressed_sha256.as_deref()),
                    ("signature", Kind::Signature, signature.as_deref()),
                ],
            );
        }
        architecture.images.iter().for_each(|images| self.images(images));
        architecture.extensions.iter().for_each(|extensions| self.extensions(extensions));
    }

    fn images(&mut self, images: &'a Images) {
        let Images { aliyun, aws, gcp, ibmcloud, kubevirt, powervs, extra: _ } = images;
        self.region_images("aliyun", aliyun.as_ref());
        self.region_images("aws", aws.as_ref());
        self.region_objects("ibmcloud", ibmcloud.as_ref());
        self.region_objects("powervs", powervs.as_ref());
        if let Some(gcp) = gcp {
            self.push(
                "gcp",
                Name::Image,
                gcp.release.as_deref(),
                [
                    ("project", Kind::Id, Some(gcp.project.as_str())),
                    ("name", Kind::Id, Some(&gcp.name)),
                    ("family", Kind::Text, gcp.family.as_deref()),
                ],
            );
        }
        if let Some(kubevirt) = kubevirt {
            self.push(
                "kubevirt",
                Name::Image,
                Some(&kubevirt.release),
                [
                    ("image", Kind::Id, Some(kubevirt.image.as_str())),
                    ("digest-ref", Kind::Id, kubevirt.digest_ref.as_deref()),
                ],
            );
        }
    }

    fn extensions(&mut self, extensions: &'a Extensions) {
        let Extensions { aws_winli, azure_disk, marketplace, extra: _ } = extensions;
        self.region_images("aws-winli", aws_winli.as_ref());
        if let Some(disk) = azure_disk {
            self.push(
                "azure",
                Name::Image,
                Some(&disk.release),
                [("url", Kind::Url, Some(disk.url.as_str()))],
            );
        }
        let plans =
            marketplace.iter().filter_map(|marketplace| marketplace.azure.as_ref()).flat_map(Map::iter);
        for (plan, images) in plans {
            let images = [("hyperVGen1", images.gen1.as_ref()), ("hyperVGen2", images.gen2.as_ref())];
            for (generation, image) in images {
                let Some(MarketplaceImage { offer, publisher, sku, version, extra: _ }) = image else {
                    continue;
                };
                self.push(
                    "azure-marketplace",
                    Name::Offer { plan, generation },
                    None,
                    [
                        ("publisher", Kind::Id, Some(publisher.as_str())),
                        ("offer", Kind::Id, Some(offer)),
                        ("sku", Kind::Id, Some(sku)),
                        ("version", Kind::Id, Some(version)),
                    ],
                );
            }
        }
    }

    fn region_images(&mut self, platform: &'a str, regions: Option<&'a Regions<RegionImage>>) {
        for (region, image) in regions.into_iter().flat_map(|regions| regions.regions.iter()) {
            let members = [("image", Kind::Id, Some(image.image.as_str()))];
            self.push(platform, Name::Region(region), Some(&image.release), members);
        }
    }

    fn region_objects(&mut self, platform: &'a str, regions: Option<&'a Regions<RegionObject>>) {
        for (region, object) in regions.into_iter().flat_map(|regions| regions.regions.iter()) {
            self.push(
                platform,
                Name::Region(region),
                Some(&object.release),
                [
                    ("bucket", Kind::Id, Some(object.bucket.as_str())),
                    ("object", Kind::Id, Some(&object.object)),
                    ("url", Kind::Url, Some(&object.url)),
                ],
            );
        }
    }
}
