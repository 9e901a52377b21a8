//! A pinned build at another base URL: the same build, or none.

use crate::stream::{
    Architecture, Artifact, AzureDisk, Extensions, Images, RegionImage, RegionObject, Regions, Stream,
};
use crate::url::Base;

/// Most differences that are listed; there may be one for every file and region.
const LISTED: usize = 20;

/// Returns `pinned` with the URLs that its files have at the mirror.
///
/// Every checksum, image id and URL path of the pin must be at the mirror, and equal; what the mirror has besides is
/// left out. Paths are those below the base URLs; where the mirror is one document, those at the end of its URLs. Marketplace offers are in no document of a build, and stay as pinned.
///
/// # Errors
///
/// The differences, a line each: where, what is pinned, what the mirror has.
pub fn at_mirror(
    pinned: &Stream,
    pinned_base: &str,
    mirror: &Stream,
    mirror_base: &Base,
) -> Result<Stream, Vec<String>> {
    let mut stream = pinned.clone();
    let is_document = mirror_base.is_document();
    let mirror_base = &mirror_base.public();
    let mut compared = Comparison { pinned_base, mirror_base, is_document, differences: Vec::new() };
    for (name, architecture) in &mut stream.architectures {
        match mirror.architectures.get(name) {
            Some(found) => compared.architecture(name, architecture, found),
            None => compared.missing(name),
        }
    }
    let mut differences = compared.differences;
    if differences.is_empty() {
        return Ok(stream);
    }
    if let Some(more) = differences.len().checked_sub(LISTED).filter(|more| *more > 0) {
        differences.truncate(LISTED);
        differences.push(format!("and {more} more"));
    }
    Err(differences)
}

struct Comparison<'a> {
    pinned_base: &'a str,
    mirror_base: &'a str,
    /// The mirror is one document, which may have its files anywhere.
    is_document: bool,
    differences: Vec<String>,
}

impl Comparison<'_> {
    fn missing(&mut self, place: &str) {
        self.differences.push(format!("{place}: pinned, and not there"));
    }

    fn text(&mut self, place: &str, pinned: &str, found: &str) {
        if pinned != found {
            self.differences.push(format!("{place}: pinned is `{pinned}`, found `{found}`"));
        }
    }

    /// A member that the pin may not have: then the mirror need not.
    fn optional(&mut self, place: &str, pinned: Option<&String>, found: Option<&String>) {
        match (pinned, found) {
            (None, _) => {}
            (Some(_), None) => self.missing(place),
            (Some(pinned), Some(found)) => self.text(place, pinned, found),
        }
    }

    fn architecture(&mut self, name: &str, pinned: &mut Architecture, found: &Architecture) {
        for (platform, files) in &mut pinned.artifacts {
            let place = format!("{name} {platform}");
            let Some(found) = found.artifacts.get(platform) else {
                self.missing(&place);
                continue;
            };
            self.text(&format!("{place} release"), &files.release, &found.release);
            for (format, kinds) in &mut files.formats {
                let found = found.formats.get(format);
                for (kind, pinned) in kinds.files_mut() {
                    let place = format!("{place} {format} {kind}");
                    match found.and_then(|found| found.file(kind)) {
                        Some(found) => self.artifact(&place, pinned, found),
                        None => self.missing(&place),
                    }
                }
            }
        }
        if let Some(images) = &pinned.images {
            self.images(name, images, found.images.as_ref().unwrap_or(&Images::default()));
        }
        if let Some(extensions) = &pinned.extensions {
            self.extensions(name, extensions, found.extensions.as_ref().unwrap_or(&Extensions::default()));
        }
    }

    fn artifact(&mut self, place: &str, pinned: &mut Artifact, found: &Artifact) {
        self.text(&format!("{place} sha256"), &pinned.sha256, &found.sha256);
        let (place_of_unpacked, unpacked) =
            (format!("{place} uncompressed-sha256"), &pinned.uncompressed_sha256);
        self.optional(&place_of_unpacked, unpacked.as_ref(), found.uncompressed_sha256.as_ref());
        let path = below(&pinned.location, self.pinned_base);
        let is_there = self.is_document && found.location.ends_with(&format!("/{path}"));
        if !is_there && pinned.location != found.location {
            self.text(&format!("{place} path"), path, below(&found.location, self.mirror_base));
        }
        pinned.location.clone_from(&found.location);
        // A signature is of the same bytes, wherever it lies; records name none.
        pinned.signature = match (&pinned.signature, &found.signature) {
            (Some(_), Some(found)) => Some(found.clone()),
            (Some(pinned), None) => Some(at(pinned, self.pinned_base, self.mirror_base)),
            (None, _) => None,
        };
    }

    fn images(&mut self, name: &str, pinned: &Images, found: &Images) {
        self.region_images(&format!("{name} aws"), pinned.aws.as_ref(), found.aws.as_ref());
        self.region_images(&format!("{name} aliyun"), pinned.aliyun.as_ref(), found.aliyun.as_ref());
        self.region_objects(&format!("{name} powervs"), pinned.powervs.as_ref(), found.powervs.as_ref());
        self.region_objects(&format!("{name} ibmcloud"), pinned.ibmcloud.as_ref(), found.ibmcloud.as_ref());
        match (&pinned.gcp, &found.gcp) {
            (None, _) => {}
            (Some(_), None) => self.missing(&format!("{name} gcp")),
            (Some(pinned), Some(found)) => {
                self.text(&format!("{name} gcp project"), &pinned.project, &found.project);
                self.text(&format!("{name} gcp name"), &pinned.name, &found.name);
            }
        }
        match (&pinned.kubevirt, &found.kubevirt) {
            (None, _) => {}
            (Some(_), None) => self.missing(&format!("{name} kubevirt")),
            (Some(pinned), Some(found)) => self.optional(
                &format!("{name} kubevirt digest-ref"),
                pinned.digest_ref.as_ref(),
                found.digest_ref.as_ref(),
            ),
        }
    }

    fn extensions(&mut self, name: &str, pinned: &Extensions, found: &Extensions) {
        self.region_images(&format!("{name} aws-winli"), pinned.aws_winli.as_ref(), found.aws_winli.as_ref());
        let url = |disk: &AzureDisk| disk.url.clone();
        let (pinned, found) = (pinned.azure_disk.as_ref().map(url), found.azure_disk.as_ref().map(url));
        self.optional(&format!("{name} azure-disk"), pinned.as_ref(), found.as_ref());
    }

    fn region_images(
        &mut self,
        place: &str,
        pinned: Option<&Regions<RegionImage>>,
        found: Option<&Regions<RegionImage>>,
    ) {
        for (region, image) in pinned.into_iter().flat_map(|pinned| &pinned.regions) {
            let found = found.and_then(|found| found.regions.get(region)).map(|found| &found.image);
            self.optional(&format!("{place} {region}"), Some(&image.image), found);
        }
    }

    fn region_objects(
        &mut self,
        place: &str,
        pinned: Option<&Regions<RegionObject>>,
        found: Option<&Regions<RegionObject>>,
    ) {
        for (region, object) in pinned.into_iter().flat_map(|pinned| &pinned.regions) {
            let found = found.and_then(|found| found.regions.get(region)).map(|found| &found.url);
            self.optional(&format!("{place} {region}"), Some(&object.url), found);
        }
    }
}

/// Returns the part of `url` below `base`; the whole of it where it is not below.
fn below<'a>(url: &'a str, base: &str) -> &'a str {
    url.strip_prefix(base).map_or(url, |rest| rest.trim_start_matches('/'))
}

/// Returns where what is at `url`, below `base`, is at the mirror.
fn at(url: &str, base: &str, mirror: &str) -> String {
    match url.strip_prefix(base) {
        Some(rest) if !base.is_empty() => format!("{mirror}/{}", rest.trim_start_matches('/')),
        _ => url.to_owned(),
    }
}
