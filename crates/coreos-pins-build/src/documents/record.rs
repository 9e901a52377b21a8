//! `meta.json`, the record that coreos-assembler makes of a build, and the installer's `rhcos.json` of 2019 to 2023,
//! which is one with less in it, its AMIs by region and its folder's URL in `baseURI`.
//!
//! It is made into stream metadata as upstream does, by the rules of coreos-assembler's `generate-release-meta` and
//! stream-metadata-go's `ToStreamArchitectures`, with these differences: unknown platforms are taken along, a platform
//! without a file is not there, and two AMIs for one region are an error.
//!
//! Signatures: upstream writes `<location>.sig` for each file, unless told otherwise. RHCOS and SCOS streams have been
//! made with `--no-signatures` since 4.8, because nobody signs their files; each file of each Fedora CoreOS stream has
//! one. So it is here: signed is what is called `fedora-coreos`.

use std::collections::BTreeMap;

use super::file::{self, Kind, Slot};
use super::node::Node;
use super::regions;
use crate::Error;
use crate::json::{Map, Value};
use crate::pin::check_digest_reference;
use crate::stream::{
    Architecture, Artifact, AzureDisk, ContainerImage, Extensions, GcpImage, Images, Platform,
};

const ARCHITECTURE: &str = "coreos-assembler.basearch";
const BUILDER: &str = "coreos-assembler.container-image-git";

/// The name of the one system whose files are signed.
const FEDORA: &str = "fedora-coreos";

/// Where Fedora CoreOS images are, if a record does not say; none did before April 2020.
const FEDORA_GCP_PROJECT: &str = "fedora-coreos-cloud";

/// The record of one build for one architecture.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    build_id: String,
    value: Value,
}

/// What coreos-assembler was when it made a build: the state of its own repository in the container that ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BuilderGit<'a> {
    /// The commit.
    pub commit: &'a str,
    /// Whether files differed from it.
    pub is_dirty: bool,
}

impl Record {
    pub(super) fn of(document: &str, value: Value) -> Result<Self, Error> {
        let top = Node::top(document, &value);
        for key in ["name", ARCHITECTURE, "baseURI"] {
            top.get(key)?.optional_text()?;
        }
        let images = top.get("images")?;
        if !images.is_object() {
            return Err(images.fault("an object"));
        }
        Ok(Self { build_id: top.get("buildid")?.text()?, value })
    }

    /// Returns the build's id.
    pub fn build_id(&self) -> &str {
        &self.build_id
    }

    /// Returns the architecture that the build is for, by RPM name, if the record says it; none did before 2020.
    pub fn architecture(&self) -> Option<&str> {
        self.text(&[ARCHITECTURE])
    }

    /// Returns the URL of the folder where the files are. Only the installer's old files say it.
    pub fn base_uri(&self) -> Option<&str> {
        self.text(&["baseURI"])
    }

    /// Returns the name of the system: `rhcos`, `fedora-coreos`, `scos`. Where the record does not say it, it is what the
    /// names of the files begin with.
    pub fn name(&self) -> Option<&str> {
        let separator = format!("-{}", self.build_id);
        let from_files = || {
            let Some(Value::Object(images)) = self.member(&["images"]) else { return None };
            let mut keys = images.keys();
            keys.find_map(|key| Some(self.text(&["images", key, "path"])?.split_once(&separator)?.0))
        };
        self.text(&["name"]).or_else(from_files)
    }

    /// Returns what coreos-assembler was when it made the build, if the record says it.
    pub fn builder_git(&self) -> Option<BuilderGit<'_>> {
        let is_dirty = match self.member(&[BUILDER, "dirty"]) {
            Some(Value::Bool(dirty)) => *dirty,
            Some(Value::String(dirty)) => dirty == "true",
            _ => false,
        };
        Some(BuilderGit { commit: self.text(&[BUILDER, "commit"])?, is_dirty })
    }

    fn member(&self, path: &[&str]) -> Option<&Value> {
        path.iter().try_fold(&self.value, |value, key| match value {
            Value::Object(members) => members.get(key),
            _ => None,
        })
    }

    fn text(&self, path: &[&str]) -> Option<&str> {
        match self.member(path) {
            Some(Value::String(text)) if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    /// Makes stream metadata of the record. `folder_url` is where the files are, and `architecture` what the build is for.
    ///
    /// # Errors
    ///
    /// A record of another architecture; a file without a name or checksum, or whose name leads out of the folder; two
    /// files that are the same format of a platform; an image without an id, or different ones in one region. Each error
    /// names the document and the place.
    pub fn into_architecture(
        self,
        document: &str,
        folder_url: &str,
        architecture: &str,
    ) -> Result<Architecture, Error> {
        let top = Node::top(document, &self.value);
        if self.architecture().is_some_and(|found| found != architecture) {
            return Err(top.get(ARCHITECTURE)?.fault(&format!("`{architecture}`")));
        }
        let release = &self.build_id;
        let images = Images {
            aws: regions::images(&top.get("amis")?, "hvm", release)?,
            aliyun: regions::images(&top.get("aliyun")?, "id", release)?,
            gcp: self.gcp_image(&top.get("gcp")?)?,
            kubevirt: self.container(&top.get("kubevirt")?)?,
            ibmcloud: regions::objects(&top.get("ibmcloud")?, release)?,
            powervs: regions::objects(&top.get("powervs")?, release)?,
            extra: Map::default(),
        };
        let extensions = Extensions {
            azure_disk: azure_disk(&top.get("azure")?, release)?,
            aws_winli: regions::images(&top.get("aws-winli")?, "hvm", release)?,
            marketplace: None,
            extra: Map::default(),
        };
        Ok(Architecture {
            artifacts: self.artifacts(&top.get("images")?, folder_url, architecture)?,
            images: Some(images).filter(|images| *images != Images::default()),
            extensions: Some(extensions).filter(|extensions| *extensions != Extensions::default()),
            extra: Map::default(),
        })
    }

    fn artifacts(
        &self,
        images: &Node<'_>,
        folder_url: &str,
        architecture: &str,
    ) -> Result<Map<Platform>, Error> {
        let is_signed = self.name() == Some(FEDORA);
        let has_live_media = images.entries()?.any(|(key, _)| key.starts_with("live-"));
        let mut taken: BTreeMap<Slot, &str> = BTreeMap::new();
        let mut platforms: Map<Platform> = Map::default();
        for (key, file) in images.entries()? {
            if file::is_left_out(key, has_live_media) {
                continue;
            }
            let path = file.get("path")?;
            let name = path.text()?;
            file::check_name(&name).map_err(|expected| path.fault(expected))?;
            let slot = Slot::of(key, &name, &self.build_id, architecture)
                .map_err(|_| path.fault(&format!("a file for `{architecture}`")))?;
            let Some(slot) = slot else { continue };
            if let Some(other) = taken.insert(slot.clone(), key) {
                let Slot { platform, format, .. } = &slot;
                return Err(
                    images.error(&format!("`{other}` and `{key}` are both `{format}` of `{platform}`"))
                );
            }
            let location = file::url(folder_url, &name);
            let artifact = Artifact {
                signature: is_signed.then(|| format!("{location}.sig")),
                location,
                sha256: file.get("sha256")?.sha256()?,
                uncompressed_sha256: file.get("uncompressed-sha256")?.optional_sha256()?,
                extra: Map::default(),
            };
            let platform = platforms.get_or_insert_with(&slot.platform, || Platform {
                release: self.build_id.clone(),
                formats: Map::default(),
                extra: Map::default(),
            });
            let format = platform.formats.get_or_insert_with(&slot.format, Default::default);
            let place = match slot.kind {
                Kind::Disk => &mut format.disk,
                Kind::Kernel => &mut format.kernel,
                Kind::Initramfs => &mut format.initramfs,
                Kind::Rootfs => &mut format.rootfs,
            };
            *place = Some(artifact);
        }
        Ok(platforms)
    }

    /// An image whose project is not known cannot be named, and is left out: before April 2020, RHCOS was published for
    /// GCP as a file (`gcp.url`) only.
    fn gcp_image(&self, gcp: &Node<'_>) -> Result<Option<GcpImage>, Error> {
        let assumed = (self.name() == Some(FEDORA)).then_some(FEDORA_GCP_PROJECT);
        let project = gcp.get("project")?.optional_text()?.or(assumed);
        let Some(project) = project.filter(|_| !gcp.is_absent()) else { return Ok(None) };
        Ok(Some(GcpImage {
            release: Some(self.build_id.clone()),
            project: project.to_owned(),
            family: gcp.get("family")?.optional_text()?.map(str::to_owned),
            name: gcp.get("image")?.text()?,
            extra: Map::default(),
        }))
    }

    /// Before April 2023 `image` had the digest; since then it is a repository, and digest and tags are beside it. The
    /// tag that moves is the one without the build's id; which of several it is cannot be told.
    fn container(&self, container: &Node<'_>) -> Result<Option<ContainerImage>, Error> {
        if container.is_absent() {
            return Ok(None);
        }
        let image = container.get("image")?.text()?;
        let digest = container.get("digest")?.optional_text()?;
        let digest_ref = match digest {
            _ if image.contains('@') => Some(image.clone()),
            Some(digest) => Some(format!("{image}@{digest}")),
            None => None,
        };
        if let Some(reference) = &digest_ref {
            check_digest_reference(reference).map_err(|fault| container.error(&fault))?;
        }
        let mut moving = container.get("tags")?.texts()?;
        moving.retain(|tag| !tag.contains(&self.build_id));
        let image = match moving.as_slice() {
            [tag] if !image.contains('@') => format!("{image}:{tag}"),
            _ => image,
        };
        Ok(Some(ContainerImage { release: self.build_id.clone(), image, digest_ref, extra: Map::default() }))
    }
}

pub(super) fn azure_disk(azure: &Node<'_>, release: &str) -> Result<Option<AzureDisk>, Error> {
    if azure.is_absent() {
        return Ok(None);
    }
    let url = azure.get("url")?.text()?;
    Ok(Some(AzureDisk { release: release.to_owned(), url, extra: Map::default() }))
}

#[cfg(test)]
mod tests {
    use super::super::Document;
    use super::*;

    const FOLDER: &str = "https://b/47.1/x86_64/";

    fn a() -> String {
        "a".repeat(64)
    }

    fn read_text(text: &str) -> Result<Record, Error> {
        match Document::read("meta.json", text.as_bytes())? {
            Document::Record(record) => Ok(record),
            other => panic!("{}", other.kind()),
        }
    }

    fn read(members: &str) -> Result<Record, Error> {
        read_text(&format!(r#"{{"buildid": "47.1", {members}}}"#))
    }

    fn translate(members: &str) -> Result<Architecture, Error> {
        read(members)?.into_architecture("meta.json", FOLDER, "x86_64")
    }

    fn refusal(members: &str) -> String {
        translate(members).unwrap_err().to_string()
    }

    fn images(members: &str) -> Images {
        translate(&format!(r#""images": {{}}, {members}"#)).unwrap().images.unwrap_or_default()
    }

    fn qemu(members: &str) -> Architecture {
        let path = "rhcos-47.1-qemu.x86_64.qcow2.gz";
        translate(&format!(r#""images": {{"qemu": {{"path": "{path}", "sha256": "{}"}}}}, {members}"#, a()))
            .unwrap()
    }

    fn signature(architecture: &Architecture) -> Option<&str> {
        architecture.artifacts["qemu"].formats["qcow2.gz"].disk.as_ref().unwrap().signature.as_deref()
    }

    #[test]
    fn a_record_of_2018_is_read_with_less() {
        let text = format!(
            r#"{{"buildid": "47.33", "ostree-version": "47.33", "coreos-assembler.image-genver": "0",
            "amis": [{{"name": "us-east-1", "hvm": "ami-0fd0205c3c81d0412"}}],
            "images": {{"qemu": {{"path": "redhat-coreos-maipo-47.33-qemu.qcow2", "size": "7", "sha256": "{}"}}}}}}"#,
            "A".repeat(64)
        );
        let record = read_text(&text).unwrap();
        assert_eq!((record.build_id(), record.architecture(), record.base_uri()), ("47.33", None, None));
        assert_eq!(record.name(), Some("redhat-coreos-maipo"));
        assert_eq!(record.builder_git(), None);
        let architecture = record.into_architecture("meta.json", "https://b/maipo/47.33/", "x86_64").unwrap();
        let disk = architecture.artifacts["qemu"].formats["qcow2"].disk.as_ref().unwrap();
        assert_eq!(disk.location, "https://b/maipo/47.33/redhat-coreos-maipo-47.33-qemu.qcow2");
        assert_eq!(disk.sha256, a());
        assert_eq!((&disk.signature, &disk.uncompressed_sha256), (&None, &None));
        assert_eq!(architecture.artifacts["qemu"].release, "47.33");
        let aws = architecture.images.unwrap().aws.unwrap().regions;
        assert_eq!(
            (aws["us-east-1"].image.as_str(), aws["us-east-1"].release.as_str()),
            ("ami-0fd0205c3c81d0412", "47.33")
        );
        assert_eq!(architecture.extensions, None);
    }

    #[test]
    fn only_fedora_coreos_is_signed() {
        assert_eq!(signature(&qemu(r#""name": "rhcos""#)), None);
        assert_eq!(signature(&qemu(r#""name": """#)), None);
        let signed = qemu(r#""name": "fedora-coreos""#);
        assert_eq!(signature(&signed), Some("https://b/47.1/x86_64/rhcos-47.1-qemu.x86_64.qcow2.gz.sig"));
        // Without a name, the files tell.
        let members = format!(
            r#""images": {{"qemu": {{"path": "fedora-coreos-47.1-qemu.x86_64.qcow2.gz", "sha256": "{}"}}}}"#,
            a()
        );
        assert!(signature(&translate(&members).unwrap()).is_some());
    }

    #[test]
    fn parts_containers_and_old_media_beside_live_ones_are_left_out() {
        let keys = [
            "ostree",
            "oci-manifest",
            "legacy-oscontainer",
            "extensions-container",
            "ignition-gpg-key",
            "iso",
            "kernel",
            "initramfs",
            "live-iso",
            "live-kernel",
        ];
        let file =
            |key: &&str| format!(r#""{key}": {{"path": "rhcos-47.1-{key}.x86_64.x", "sha256": "{}"}}"#, a());
        let files: Vec<String> = keys.iter().map(file).collect();
        let architecture = translate(&format!(r#""images": {{{}}}"#, files.join(","))).unwrap();
        let found: Vec<_> = architecture
            .all_artifacts()
            .map(|(platform, _, format, kind, _)| (platform, format, kind))
            .collect();
        assert_eq!(found, [("metal", "iso", "disk"), ("metal", "pxe", "kernel")]);
        // What is left out need not be sound.
        assert!(translate(r#""images": {"ostree": {"path": "../x", "size": "1"}}"#).is_ok());
    }

    #[test]
    fn a_path_that_leads_elsewhere_and_a_missing_checksum_are_named() {
        let image = |path: &str, rest: &str| format!(r#""images": {{"qemu": {{"path": "{path}"{rest}}}}}"#);
        let sum = format!(r#", "sha256": "{}""#, a());
        assert_eq!(
            refusal(&image("../47.2/x-qemu.qcow2", &sum)),
            "meta.json: images.qemu.path: expected the bare name of a file, found `../47.2/x-qemu.qcow2`"
        );
        assert!(
            refusal(&image("", &sum))
                .contains("images.qemu.path: expected text that is not empty, found an empty text")
        );
        assert!(
            refusal(&image("x-47.1-qemu.s390x.qcow2", &sum))
                .contains("images.qemu.path: expected a file for `x86_64`, found `x-47.1-qemu.s390x.qcow2`")
        );
        for (rest, expected) in [
            ("", "sha256: expected 64 hexadecimal digits, found none"),
            (r#", "sha256": """#, "sha256: expected 64 hexadecimal digits, found an empty text"),
            (r#", "sha256": null"#, "sha256: expected 64 hexadecimal digits, found none"),
            (r#", "sha256": "abc""#, "sha256: expected 64 hexadecimal digits, found `abc`"),
            (r#", "sha256": 7"#, "sha256: expected 64 hexadecimal digits, found `7`"),
            (
                &format!(r#"{sum}, "uncompressed-sha256": "abc""#),
                "uncompressed-sha256: expected 64 hexadecimal digits, found `abc`",
            ),
        ] {
            assert_eq!(
                refusal(&image("x-47.1-qemu.qcow2", rest)),
                format!("meta.json: images.qemu.{expected}")
            );
        }
        assert!(refusal(r#""name": "rhcos""#).contains("meta.json: images: expected an object, found none"));
    }

    #[test]
    fn two_files_of_one_format_are_named_both() {
        let file =
            |key: &str| format!(r#""{key}": {{"path": "rhcos-47.1-{key}.raw.gz", "sha256": "{}"}}"#, a());
        assert_eq!(
            refusal(&format!(r#""images": {{{}, {}}}"#, file("metal-dasd"), file("dasd"))),
            "meta.json: images: `dasd` and `metal-dasd` are both `dasd.raw.gz` of `metal`"
        );
    }

    #[test]
    fn amis_that_cannot_be_told_are_refused_with_their_place() {
        let amis = |amis: &str| refusal(&format!(r#""images": {{}}, "amis": {amis}"#));
        let (one, two) =
            (r#"{"name": "us-east-1", "hvm": "ami-1"}"#, r#"{"name": "us-east-1", "hvm": "ami-2"}"#);
        assert_eq!(
            amis(&format!("[{one}, {two}]")),
            "meta.json: amis[1]: region `us-east-1` has `ami-2` here, and `ami-1` in amis[0]"
        );
        assert_eq!(images(&format!(r#""amis": [{one}, {one}]"#)).aws.unwrap().regions.len(), 1);
        for none in ["[]", "{}", "null"] {
            assert_eq!(images(&format!(r#""amis": {none}"#)), Images::default());
        }
    }

    #[test]
    fn clouds_are_translated_each_by_its_shape() {
        let object = r#"{"object": "o", "bucket": "b", "region": "r", "url": "u", "image": "unknown"}"#;
        let found = images(&format!(
            r#""aliyun": [{{"name": "cn-x", "id": "m-1"}}], "powervs": [{object}], "ibmcloud": {object},
            "gcp": {{"image": "n", "url": "u", "project": "p", "family": "f"}}"#
        ));
        assert_eq!(found.aliyun.unwrap().regions["cn-x"].image, "m-1");
        let powervs = &found.powervs.unwrap().regions["r"];
        assert_eq!((powervs.object.as_str(), powervs.bucket.as_str(), powervs.url.as_str()), ("o", "b", "u"));
        assert_eq!(&found.ibmcloud.unwrap().regions["r"], powervs);
        let gcp = found.gcp.unwrap();
        assert_eq!((gcp.project.as_str(), gcp.name.as_str(), gcp.family.as_deref()), ("p", "n", Some("f")));
        assert_eq!(gcp.release.as_deref(), Some("47.1"));

        let members = r#""images": {}, "azure": {"image": "i", "url": "u"}, "aws-winli": [{"name": "r", "hvm": "ami-1"}]"#;
        let extensions = translate(members).unwrap().extensions.unwrap();
        assert_eq!(extensions.azure_disk.unwrap().url, "u");
        assert_eq!(extensions.aws_winli.unwrap().regions["r"].image, "ami-1");

        let other = r#"{"object": "o", "bucket": "b", "region": "r", "url": "v"}"#;
        assert!(
            refusal(&format!(r#""images": {{}}, "powervs": [{object}, {other}]"#))
                .contains("powervs[1]: region `r` has `v` here, and `u` in powervs[0]")
        );
        assert!(
            refusal(r#""images": {}, "azure": {"url": ""}"#)
                .starts_with("meta.json: azure.url: expected text that is not empty")
        );
    }

    #[test]
    fn a_gcp_image_without_a_project_is_in_that_of_fedora_or_not_to_be_named() {
        let gcp = r#""gcp": {"image": "n", "url": "u", "project": ""}"#;
        assert_eq!(images(&format!(r#""name": "rhcos", {gcp}"#)).gcp, None);
        assert_eq!(
            images(&format!(r#""name": "fedora-coreos", {gcp}"#)).gcp.unwrap().project,
            "fedora-coreos-cloud"
        );
    }

    #[test]
    fn containers_have_a_moving_tag_and_a_digest() {
        let kubevirt = |members: &str| {
            let image = images(&format!(r#""kubevirt": {{{members}}}"#)).kubevirt.unwrap();
            (image.image, image.digest_ref)
        };
        let digest = format!("sha256:{}", a());
        let by_digest = Some(format!("q/r@{digest}"));
        let with_tags =
            |tags: &str| kubevirt(&format!(r#""image": "q/r", "digest": "{digest}", "tags": {tags}"#));
        assert_eq!(with_tags(r#"["47.1-x86_64", "stable"]"#), ("q/r:stable".to_owned(), by_digest.clone()));
        for untold in ["[]", "null", r#"["a", "b"]"#, r#"["47.1"]"#] {
            assert_eq!(with_tags(untold), ("q/r".to_owned(), by_digest.clone()), "{untold}");
        }
        let old = format!("q/r@{digest}");
        assert_eq!(kubevirt(&format!(r#""image": "{old}""#)), (old, by_digest));
        assert_eq!(kubevirt(r#""image": "q/r", "digest": """#), ("q/r".to_owned(), None));
        assert!(
            refusal(r#""images": {}, "kubevirt": {"image": "q/r", "digest": "sha256:1"}"#)
                .starts_with("meta.json: kubevirt: expected `IMAGE@sha256:` and 64 lower-case hex digits")
        );
    }

    #[test]
    fn a_record_of_another_architecture_is_refused() {
        assert_eq!(
            refusal(r#""images": {}, "coreos-assembler.basearch": "s390x""#),
            "meta.json: \"coreos-assembler.basearch\": expected `x86_64`, found `s390x`"
        );
    }

    #[test]
    fn the_assembler_is_known_by_its_commit() {
        let git = |git: &str| {
            let record =
                read(&format!(r#""images": {{}}, "coreos-assembler.container-image-git": {git}"#)).unwrap();
            record.builder_git().map(|git| (git.commit.to_owned(), git.is_dirty))
        };
        assert_eq!(
            git(r#"{"commit": "c", "dirty": "false", "branch": "HEAD"}"#),
            Some(("c".to_owned(), false))
        );
        assert_eq!(git(r#"{"commit": "c", "dirty": "true"}"#), Some(("c".to_owned(), true)));
        assert_eq!(git(r#"{"commit": "c", "dirty": true}"#), Some(("c".to_owned(), true)));
        assert_eq!(git(r#"{"commit": "c"}"#), Some(("c".to_owned(), false)));
        assert_eq!(git(r#"{"commit": ""}"#), None);
        assert_eq!(git("null"), None);
    }
}
