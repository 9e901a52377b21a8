//! `release.json`: one Fedora CoreOS release, for all architectures.
//!
//! It is stream metadata in another outline, and is turned into that as stream-metadata-go's `ToStreamArchitectures`
//! does. Differences: unknown platforms are taken along, and a platform without a file is not there.

use super::node::Node;
use super::record::azure_disk;
use super::regions;
use crate::Error;
use crate::json::{self, Map};
use crate::stream::{
    Architecture, ContainerImage, Extensions, Format, GcpImage, Images, Metadata, Platform, Stream,
};

/// A release.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Release {
    /// The build's id.
    pub release: String,
    /// The release as stream metadata: everything in it is of [`release`](Release::release).
    pub stream: Stream,
}

impl Release {
    pub(super) fn of(top: &Node<'_>) -> Result<Self, Error> {
        let release = top.get("release")?.text()?;
        let mut architectures = Map::default();
        for (name, node) in top.get("architectures")?.entries()? {
            architectures.insert(name.to_owned(), architecture(&node, &release)?);
        }
        let metadata = top.get("metadata")?;
        let stream = Stream {
            stream: top.get("stream")?.text()?,
            metadata: (!metadata.is_absent()).then(|| read::<Metadata>(&metadata)).transpose()?,
            architectures,
            extra: Map::default(),
        };
        stream.check(top.document())?;
        Ok(Self { release, stream })
    }
}

fn read<T: serde::de::DeserializeOwned>(node: &Node<'_>) -> Result<T, Error> {
    json::read_value(node.document(), node.path(), node.value())
}

fn architecture(node: &Node<'_>, release: &str) -> Result<Architecture, Error> {
    let media = node.get("media")?;
    let image = |platform: &str| media.get(platform)?.get("image");
    let regional = |platform: &str| media.get(platform)?.get("images");
    let images = Images {
        aws: regions::images(&regional("aws")?, "image", release)?,
        aliyun: regions::images(&regional("aliyun")?, "image", release)?,
        gcp: gcp_image(&image("gcp")?, release)?,
        kubevirt: container(&image("kubevirt")?, release)?,
        ibmcloud: regions::objects(&regional("ibmcloud")?, release)?,
        powervs: regions::objects(&regional("powervs")?, release)?,
        extra: Map::default(),
    };
    let rhel = node.get("rhel-coreos-extensions")?;
    let extensions = Extensions {
        azure_disk: azure_disk(&rhel.get("azure-disk")?, release)?,
        aws_winli: regions::images(&rhel.get("aws-winli")?.get("images")?, "image", release)?,
        marketplace: None,
        extra: Map::default(),
    };
    let mut artifacts = Map::default();
    for (name, platform) in media.entries()? {
        let files = platform.get("artifacts")?;
        if files.entries()?.len() == 0 {
            continue;
        }
        let formats: Map<Format> = read(&files)?;
        artifacts.insert(
            name.to_owned(),
            Platform { release: release.to_owned(), formats, extra: Map::default() },
        );
    }
    Ok(Architecture {
        artifacts,
        images: Some(images).filter(|images| *images != Images::default()),
        extensions: Some(extensions).filter(|extensions| *extensions != Extensions::default()),
        extra: Map::default(),
    })
}

fn gcp_image(image: &Node<'_>, release: &str) -> Result<Option<GcpImage>, Error> {
    if image.is_absent() {
        return Ok(None);
    }
    Ok(Some(GcpImage {
        release: Some(release.to_owned()),
        project: image.get("project")?.text()?,
        family: image.get("family")?.optional_text()?.map(str::to_owned),
        name: image.get("name")?.text()?,
        extra: Map::default(),
    }))
}

fn container(image: &Node<'_>, release: &str) -> Result<Option<ContainerImage>, Error> {
    if image.is_absent() {
        return Ok(None);
    }
    Ok(Some(ContainerImage {
        release: release.to_owned(),
        image: image.get("image")?.text()?,
        digest_ref: image.get("digest-ref")?.optional_text()?.map(str::to_owned),
        extra: Map::default(),
    }))
}

#[cfg(test)]
mod tests {
    use super::super::Document;
    use super::*;
    use crate::stream::{RegionImage, Regions};

    fn read_text(text: &str) -> Result<Release, Error> {
        match Document::read("release.json", text.as_bytes())? {
            Document::Release(release) => Ok(release),
            other => panic!("{}", other.kind()),
        }
    }

    fn read(architecture: &str) -> Result<Release, Error> {
        read_text(&format!(
            r#"{{"release": "44.1", "stream": "stable", "architectures": {{"x86_64": {architecture}}}}}"#
        ))
    }

    fn translate(architecture: &str) -> Architecture {
        read(architecture).unwrap().stream.architectures["x86_64"].clone()
    }

    fn refusal(media: &str) -> String {
        read(&format!(r#"{{"media": {media}}}"#)).unwrap_err().to_string()
    }

    #[test]
    fn everything_is_of_the_documents_release() {
        let sum = "a".repeat(64);
        let architecture = translate(&format!(
            r#"{{"commit": "c", "media": {{
            "qemu": {{"artifacts": {{"qcow2.xz": {{"disk": {{"location": "l", "signature": "", "sha256": "{sum}",
                "uncompressed-sha256": null}}}}}}}},
            "novel": {{"artifacts": {{"raw": {{"disk": {{"location": "n", "signature": "s", "sha256": "{sum}"}}}}}}}},
            "metal": {{"artifacts": {{}}}},
            "aws": {{"images": {{"us-east-1": {{"image": "ami-1"}}}}}},
            "aliyun": {{"images": {{"us-east-1": {{"image": "m-1"}}}}}},
            "powervs": {{"images": {{"dal": {{"object": "o", "bucket": "b", "url": "u"}}}}}},
            "ibmcloud": {{"images": {{}}}},
            "gcp": {{"image": {{"project": "p", "name": "n", "family": ""}}}},
            "kubevirt": {{"image": {{"image": "q/r:stable", "digest-ref": "q/r@sha256:1"}}}}}},
            "rhel-coreos-extensions": {{"azure-disk": {{"url": "u"}},
                "aws-winli": {{"images": {{"r": {{"image": "ami-2"}}}}}}}}}}"#
        ));
        assert_eq!(architecture.artifacts.keys().collect::<Vec<_>>(), ["novel", "qemu"]);
        let qemu = &architecture.artifacts["qemu"];
        let disk = qemu.formats["qcow2.xz"].disk.as_ref().unwrap();
        assert_eq!((qemu.release.as_str(), disk.location.as_str()), ("44.1", "l"));
        assert_eq!((&disk.signature, &disk.uncompressed_sha256), (&None, &None));
        let novel = architecture.artifacts["novel"].formats["raw"].disk.as_ref().unwrap();
        assert_eq!(novel.signature.as_deref(), Some("s"));

        let images = architecture.images.unwrap();
        let region = |table: Option<Regions<RegionImage>>| {
            let image = &table.unwrap().regions["us-east-1"];
            (image.image.clone(), image.release.clone())
        };
        assert_eq!(region(images.aws), ("ami-1".to_owned(), "44.1".to_owned()));
        assert_eq!(region(images.aliyun), ("m-1".to_owned(), "44.1".to_owned()));
        let powervs = &images.powervs.unwrap().regions["dal"];
        assert_eq!(
            (powervs.release.as_str(), powervs.object.as_str(), powervs.bucket.as_str()),
            ("44.1", "o", "b")
        );
        assert_eq!(images.ibmcloud, None);
        let gcp = images.gcp.unwrap();
        assert_eq!((gcp.release.as_deref(), gcp.name.as_str(), gcp.family), (Some("44.1"), "n", None));
        let kubevirt = images.kubevirt.unwrap();
        assert_eq!(
            (kubevirt.image.as_str(), kubevirt.digest_ref.as_deref()),
            ("q/r:stable", Some("q/r@sha256:1"))
        );

        let extensions = architecture.extensions.unwrap();
        assert_eq!(extensions.azure_disk.unwrap().url, "u");
        assert_eq!(extensions.aws_winli.unwrap().regions["r"].image, "ami-2");
    }

    #[test]
    fn an_image_with_a_missing_or_empty_member_is_named() {
        assert_eq!(
            refusal(r#"{"aws": {"images": {"us-east-1": {"image": ""}}}}"#),
            "release.json: architectures.x86_64.media.aws.images.us-east-1.image: expected text that is not empty, found an empty text"
        );
        assert!(
            refusal(r#"{"powervs": {"images": {"r": {"object": "o", "bucket": "b"}}}}"#)
                .contains("powervs.images.r.url")
        );
        assert!(refusal(r#"{"gcp": {"image": {"name": "n"}}}"#).contains("media.gcp.image.project"));
        assert!(refusal(r#"{"kubevirt": {"image": {}}}"#).contains("media.kubevirt.image.image"));
        let disk = r#"{"qemu": {"artifacts": {"qcow2": {"disk": {"location": "l", "sha256": "1"}}}}}"#;
        assert!(
            refusal(disk).starts_with("release.json: architectures.x86_64.media.qemu.artifacts.qcow2.disk")
        );
    }

    #[test]
    fn a_release_with_nothing_in_it_is_refused() {
        let expected =
            "release.json: architectures.x86_64: expected artifacts or images of some release, found none";
        assert_eq!(refusal(r#"{"metal": {"artifacts": {}}}"#), expected);
        let text = r#"{"release": "1", "stream": "s", "architectures": {}}"#;
        let refusal = read_text(text).unwrap_err().to_string();
        assert_eq!(refusal, "release.json: architectures: expected at least one, found none");
    }
}
