use crate::text::{equal, find_sorted};
use crate::{Artifact, AzureDisk, ContainerImage, GcpImage, MarketplaceImage, RegionImage, RegionObject};

/// What a build has for one architecture. Every table is sorted by its keys.
///
/// Lookups return `None` for what is not there. There is no fallback to another region, partition or architecture:
/// an image of one does not boot in the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Architecture {
    /// The architecture, as RPM spells it: `x86_64`, `aarch64`, `ppc64le`, `s390x`.
    pub name: &'static str,
    /// The build that most artifacts are of.
    pub build_name: &'static str,
    /// Downloadable files, by platform, format and kind.
    pub artifacts: &'static [Artifact],
    /// Amazon machine images, by region.
    pub aws: &'static [RegionImage],
    /// Machine images for Windows License Included instances, by AWS region.
    pub aws_winli: &'static [RegionImage],
    /// Alibaba Cloud images, by region.
    pub aliyun: &'static [RegionImage],
    /// The Google Compute Engine image.
    pub gcp: Option<GcpImage>,
    /// The KubeVirt container disk.
    pub kubevirt: Option<ContainerImage>,
    /// IBM Power Virtual Server objects, by region.
    pub powervs: &'static [RegionObject],
    /// IBM Cloud objects, by region.
    pub ibmcloud: &'static [RegionObject],
    /// The Azure disk blob.
    pub azure_disk: Option<AzureDisk>,
    /// Azure marketplace images, by plan and generation.
    pub azure_marketplace: &'static [MarketplaceImage],
}

impl Architecture {
    /// Returns the Amazon machine image for `region`, or `None` if the build has none there.
    ///
    /// ```
    /// # #[cfg(feature = "embed")] {
    /// const X86_64: &coreos_pins::Architecture = coreos_pins::DEFAULT.architecture("x86_64").unwrap();
    /// // A region that is not there stops the compiler here.
    /// const AMI: &str = X86_64.ami("us-east-1").unwrap();
    /// assert_eq!(AMI, coreos_pins::x86_64::AMI_US_EAST_1);
    /// assert_eq!(X86_64.ami("nope-1"), None);
    /// # }
    /// ```
    #[must_use]
    #[inline]
    pub const fn ami(&self, region: &str) -> Option<&'static str> {
        image_in(self.aws, region)
    }

    /// Returns the machine image for Windows License Included instances in the AWS region `region`, or `None`.
    #[must_use]
    #[inline]
    pub const fn winli_ami(&self, region: &str) -> Option<&'static str> {
        image_in(self.aws_winli, region)
    }

    /// Returns the Alibaba Cloud image for `region`, or `None`.
    #[must_use]
    #[inline]
    pub const fn aliyun_image(&self, region: &str) -> Option<&'static str> {
        image_in(self.aliyun, region)
    }

    /// Returns the IBM Power Virtual Server object for `region`, or `None`.
    #[must_use]
    #[inline]
    pub const fn powervs_object(&self, region: &str) -> Option<&'static RegionObject> {
        find_sorted!(self.powervs, region, region)
    }

    /// Returns the IBM Cloud object for `region`, or `None`.
    #[must_use]
    #[inline]
    pub const fn ibmcloud_object(&self, region: &str) -> Option<&'static RegionObject> {
        find_sorted!(self.ibmcloud, region, region)
    }

    /// Returns the Azure marketplace image of purchase plan `plan` for hypervisor generation `generation`
    /// (`hyperVGen1`, `hyperVGen2`), or `None`.
    #[must_use]
    #[inline]
    pub const fn marketplace_image(&self, plan: &str, generation: &str) -> Option<&'static MarketplaceImage> {
        let mut index = 0;
        while index < self.azure_marketplace.len() {
            let image = &self.azure_marketplace[index];
            if equal(image.plan, plan) && equal(image.generation, generation) {
                return Some(image);
            }
            index += 1;
        }
        None
    }

    /// Returns the only disk of `platform`, or `None` if it has none, or more than one to choose from: then
    /// [`artifact`](Self::artifact) takes the format too.
    #[must_use]
    #[inline]
    pub const fn disk(&self, platform: &str) -> Option<&'static Artifact> {
        let mut found = None;
        let mut index = 0;
        while index < self.artifacts.len() {
            let artifact = &self.artifacts[index];
            if equal(artifact.kind, "disk") && equal(artifact.platform, platform) {
                if found.is_some() {
                    return None;
                }
                found = Some(artifact);
            }
            index += 1;
        }
        found
    }

    /// Returns the file of `platform` in `format` (`qcow2.xz`, `pxe`, …) of kind `kind` (`disk`, `kernel`, `initramfs`,
    /// `rootfs`), or `None`.
    #[must_use]
    #[inline]
    pub const fn artifact(&self, platform: &str, format: &str, kind: &str) -> Option<&'static Artifact> {
        let mut index = 0;
        while index < self.artifacts.len() {
            let artifact = &self.artifacts[index];
            if equal(artifact.platform, platform)
                && equal(artifact.format, format)
                && equal(artifact.kind, kind)
            {
                return Some(artifact);
            }
            index += 1;
        }
        None
    }

    /// Returns the regions in which `platform` has images or objects, sorted: of `aws`, `aws-winli`, `aliyun`,
    /// `powervs` and `ibmcloud`. Nothing for any other platform.
    #[inline]
    pub fn regions(&self, platform: &str) -> impl Iterator<Item = &'static str> + use<> {
        let images = match platform {
            "aws" => self.aws,
            "aws-winli" | "aws_winli" => self.aws_winli,
            "aliyun" => self.aliyun,
            _ => &[],
        };
        let objects = match platform {
            "powervs" => self.powervs,
            "ibmcloud" => self.ibmcloud,
            _ => &[],
        };
        images.iter().map(|image| image.region).chain(objects.iter().map(|object| object.region))
    }
}

#[inline]
const fn image_in(table: &'static [RegionImage], region: &str) -> Option<&'static str> {
    match find_sorted!(table, region, region) {
        Some(found) => Some(found.image),
        None => None,
    }
}

/// What generated code builds the type with: it is in another crate, and the fields may grow.
#[doc(hidden)]
impl Architecture {
    #[must_use]
    pub const fn new(name: &'static str, build_name: &'static str) -> Self {
        Self {
            name,
            build_name,
            artifacts: &[],
            aws: &[],
            aws_winli: &[],
            aliyun: &[],
            gcp: None,
            kubevirt: None,
            powervs: &[],
            ibmcloud: &[],
            azure_disk: None,
            azure_marketplace: &[],
        }
    }

    #[must_use]
    pub const fn with_artifacts(mut self, artifacts: &'static [Artifact]) -> Self {
        self.artifacts = artifacts;
        self
    }

    #[must_use]
    pub const fn with_aws(mut self, images: &'static [RegionImage]) -> Self {
        self.aws = images;
        self
    }

    #[must_use]
    pub const fn with_aws_winli(mut self, images: &'static [RegionImage]) -> Self {
        self.aws_winli = images;
        self
    }

    #[must_use]
    pub const fn with_aliyun(mut self, images: &'static [RegionImage]) -> Self {
        self.aliyun = images;
        self
    }

    #[must_use]
    pub const fn with_gcp(mut self, image: GcpImage) -> Self {
        self.gcp = Some(image);
        self
    }

    #[must_use]
    pub const fn with_kubevirt(mut self, image: ContainerImage) -> Self {
        self.kubevirt = Some(image);
        self
    }

    #[must_use]
    pub const fn with_powervs(mut self, objects: &'static [RegionObject]) -> Self {
        self.powervs = objects;
        self
    }

    #[must_use]
    pub const fn with_ibmcloud(mut self, objects: &'static [RegionObject]) -> Self {
        self.ibmcloud = objects;
        self
    }

    #[must_use]
    pub const fn with_azure_disk(mut self, disk: AzureDisk) -> Self {
        self.azure_disk = Some(disk);
        self
    }

    #[must_use]
    pub const fn with_azure_marketplace(mut self, images: &'static [MarketplaceImage]) -> Self {
        self.azure_marketplace = images;
        self
    }
}
