//! What a platform is, seen from a policy that requires or selects it: its files, and what its cloud holds.

use crate::stream::{Architecture, Extensions, Images};

impl Architecture {
    /// Tells whether `platform` is there. A cloud whose images have ids (`aws`, `aliyun`, `gcp`, `kubevirt`, `powervs`,
    /// `aws-winli`) is there when one of them is; any other platform is when it has a file.
    pub fn has_platform(&self, platform: &str) -> bool {
        let images = self.images.as_ref();
        match platform {
            "aws" => images.and_then(|i| i.aws.as_ref()).is_some_and(|aws| !aws.regions.is_empty()),
            "aliyun" => {
                images.and_then(|i| i.aliyun.as_ref()).is_some_and(|aliyun| !aliyun.regions.is_empty())
            }
            "powervs" => images.and_then(|i| i.powervs.as_ref()).is_some_and(|p| !p.regions.is_empty()),
            "gcp" => images.is_some_and(|i| i.gcp.is_some()),
            "kubevirt" => images.is_some_and(|i| i.kubevirt.is_some()),
            "aws-winli" => (self.extensions.as_ref().and_then(|e| e.aws_winli.as_ref()))
                .is_some_and(|winli| !winli.regions.is_empty()),
            _ => self.artifacts.get(platform).is_some_and(|platform| platform.artifacts().next().is_some()),
        }
    }

    /// Leaves only the platforms that `wanted` says: their files and images. The Azure disk blob and the Azure
    /// marketplace belong to `azure`.
    pub fn retain_platforms(&mut self, wanted: impl Fn(&str) -> bool) {
        self.artifacts.retain(|name, _| wanted(name));
        if let Some(Images { aws, aliyun, gcp, kubevirt, ibmcloud, powervs, extra }) = &mut self.images {
            keep(aws, wanted("aws"));
            keep(aliyun, wanted("aliyun"));
            keep(gcp, wanted("gcp"));
            keep(kubevirt, wanted("kubevirt"));
            keep(ibmcloud, wanted("ibmcloud"));
            keep(powervs, wanted("powervs"));
            extra.retain(|name, _| wanted(name));
        }
        if let Some(Extensions { azure_disk, aws_winli, marketplace, extra }) = &mut self.extensions {
            keep(azure_disk, wanted("azure"));
            keep(aws_winli, wanted("aws-winli"));
            keep(marketplace, wanted("azure"));
            extra.retain(|name, _| wanted(name));
        }
    }
}

fn keep<T>(member: &mut Option<T>, wanted: bool) {
    if !wanted {
        *member = None;
    }
}

#[cfg(test)]
mod tests {
    use crate::stream::Stream;

    const STREAM: &[u8] = br#"{"stream": "s", "architectures": {"x86_64": {
        "artifacts": {
            "aws": {"release": "1", "formats": {"vmdk.gz": {"disk": {"location": "l", "sha256":
                "0123456789012345678901234567890123456789012345678901234567890123"}}}},
            "qemu": {"release": "1", "formats": {"qcow2.gz": {"disk": {"location": "l", "sha256":
                "0123456789012345678901234567890123456789012345678901234567890123"}}}},
            "metal": {"release": "1", "formats": {}}},
        "images": {"aws": {"regions": {}}, "gcp": {"project": "p", "name": "n"}, "novel": {}},
        "rhel-coreos-extensions": {"azure-disk": {"release": "1", "url": "u"}}}}}"#;

    #[test]
    fn a_cloud_is_there_by_its_images_and_the_rest_by_files() {
        let stream = Stream::read("s", STREAM).unwrap();
        let there = |platform| stream.architectures["x86_64"].has_platform(platform);
        assert!(there("qemu") && there("gcp"));
        assert!(!there("aws") && !there("metal") && !there("aws-winli") && !there("nope"));
    }

    #[test]
    fn only_wanted_platforms_stay() {
        let mut stream = Stream::read("s", STREAM).unwrap();
        let x86_64 = stream.architectures.get_mut("x86_64").unwrap();
        x86_64.retain_platforms(|name| name == "aws" || name == "azure");
        assert_eq!(x86_64.artifacts.keys().collect::<Vec<_>>(), ["aws"]);
        let images = x86_64.images.as_ref().unwrap();
        assert!(images.aws.is_some() && images.gcp.is_none() && images.extra.is_empty());
        assert!(x86_64.extensions.as_ref().unwrap().azure_disk.is_some());
    }
}
