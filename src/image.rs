//! What clouds already hold.

/// An image in one region of a cloud.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct RegionImage {
    /// The cloud's name for the region. Clouds share names: `us-east-1` is one of AWS and one of Alibaba Cloud.
    pub region: &'static str,
    /// The build that the image is of. One region may carry an older one than the rest.
    pub release: &'static str,
    /// The image's id: `ami-…` on AWS, `m-…` on Alibaba Cloud.
    pub image: &'static str,
}

/// A Google Compute Engine image, good in every region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct GcpImage {
    /// The build that the image is of; older documents do not say.
    pub release: Option<&'static str>,
    /// The project that owns the image.
    pub project: &'static str,
    /// The image's name in the project. The whole reference is `projects/{project}/global/images/{name}`.
    pub name: &'static str,
    /// The image family, whose newest member moves: not what was pinned.
    pub family: Option<&'static str>,
}

/// A container image in a registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ContainerImage {
    /// The build that the image is of.
    pub release: &'static str,
    /// The reference by tag, which moves.
    pub image: &'static str,
    /// The reference by digest, which does not.
    pub digest_ref: Option<&'static str>,
}

/// An object in a cloud's object store, in one region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct RegionObject {
    /// The cloud's name for the region.
    pub region: &'static str,
    /// The build that the object is of.
    pub release: &'static str,
    /// The object's name in the bucket.
    pub object: &'static str,
    /// The bucket.
    pub bucket: &'static str,
    /// The object's URL.
    pub url: &'static str,
}

/// The Azure disk blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct AzureDisk {
    /// The build that the blob is of.
    pub release: &'static str,
    /// The blob's URL.
    pub url: &'static str,
}

/// An Azure marketplace image. Its URN is `publisher:offer:sku:version`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct MarketplaceImage {
    /// The purchase plan: `no-purchase-plan`, `ocp`, …
    pub plan: &'static str,
    /// The hypervisor's generation: `hyperVGen1` or `hyperVGen2`.
    pub generation: &'static str,
    /// Who publishes the image.
    pub publisher: &'static str,
    /// The offer.
    pub offer: &'static str,
    /// The plan within the offer.
    pub sku: &'static str,
    /// The version. It follows what the marketplace has, not the pinned build.
    pub version: &'static str,
}

impl RegionImage {
    #[doc(hidden)]
    #[must_use]
    pub const fn new([region, release, image]: [&'static str; 3]) -> Self {
        Self { region, release, image }
    }
}

impl GcpImage {
    #[doc(hidden)]
    #[must_use]
    pub const fn new(
        [project, name]: [&'static str; 2],
        release: Option<&'static str>,
        family: Option<&'static str>,
    ) -> Self {
        Self { release, project, name, family }
    }
}

impl ContainerImage {
    #[doc(hidden)]
    #[must_use]
    pub const fn new([release, image]: [&'static str; 2], digest_ref: Option<&'static str>) -> Self {
        Self { release, image, digest_ref }
    }
}

impl RegionObject {
    #[doc(hidden)]
    #[must_use]
    pub const fn new([region, release, object, bucket, url]: [&'static str; 5]) -> Self {
        Self { region, release, object, bucket, url }
    }
}

impl AzureDisk {
    #[doc(hidden)]
    #[must_use]
    pub const fn new([release, url]: [&'static str; 2]) -> Self {
        Self { release, url }
    }
}

impl MarketplaceImage {
    #[doc(hidden)]
    #[must_use]
    pub const fn new([plan, generation, publisher, offer, sku, version]: [&'static str; 6]) -> Self {
        Self { plan, generation, publisher, offer, sku, version }
    }
}
