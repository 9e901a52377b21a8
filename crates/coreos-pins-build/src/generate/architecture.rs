//! The module of one architecture: its tables, and its flat constants.

use proc_macro2::Ident;

use crate::Error;
use crate::stream::{Architecture, MarketplaceImage, RegionImage, RegionObject, Regions};

use super::CRATE;
use super::code::{Code, literal, literals, option};
use super::names::{Scope, constant, short_format};

/// What the module has besides flat constants made from upstream's names.
const OWN_CONSTANTS: [&str; 10] = [
    "ARCHITECTURE",
    "BUILD_NAME",
    "ARTIFACTS",
    "AWS",
    "AWS_WINLI",
    "ALIYUN",
    "POWERVS",
    "IBMCLOUD",
    "AZURE_MARKETPLACE",
    CRATE,
];

/// Prints the module. `place` is how errors name it.
pub(super) fn module(
    code: &mut Code,
    place: &str,
    name: &str,
    module: &Ident,
    content: &Architecture,
) -> Result<(), Error> {
    let build_name = content.build_name().unwrap_or_default();
    code.doc(format_args!("What there is for `{name}`: build `{build_name}`."));
    code.line("#[allow(missing_docs)]");
    code.open(format_args!("pub mod {module}"));
    code.line(format_args!("use super::{CRATE};"));
    code.doc("The build that most artifacts are of.");
    code.line(format_args!("pub const BUILD_NAME: &str = {};", literal(build_name)));
    tables(code, name, content);
    constants(code, place, content)?;
    code.close();
    Ok(())
}

/// Prints a `static` for each table that has entries, and the `ARCHITECTURE` that holds them all.
fn tables(code: &mut Code, name: &str, content: &Architecture) {
    let images = content.images.as_ref();
    let extensions = content.extensions.as_ref();
    let mut with = Vec::new();

    let artifacts = content.all_artifacts().map(|(platform, release, format, kind, artifact)| {
        let texts = literals([platform, format, kind, release, &artifact.location, &artifact.sha256]);
        let uncompressed = option(artifact.uncompressed_sha256.as_deref());
        format!("{CRATE}::Artifact::new({texts}, {uncompressed}, {})", option(artifact.signature.as_deref()))
    });
    table(code, &mut with, "artifacts", "Artifact", artifacts);
    let by_region = [
        ("aws", images.and_then(|images| images.aws.as_ref())),
        ("aws_winli", extensions.and_then(|extensions| extensions.aws_winli.as_ref())),
        ("aliyun", images.and_then(|images| images.aliyun.as_ref())),
    ];
    for (field, regions) in by_region {
        table(code, &mut with, field, "RegionImage", region_images(regions));
    }
    let objects = [
        ("powervs", images.and_then(|images| images.powervs.as_ref())),
        ("ibmcloud", images.and_then(|images| images.ibmcloud.as_ref())),
    ];
    for (field, regions) in objects {
        table(code, &mut with, field, "RegionObject", region_objects(regions));
    }
    table(code, &mut with, "azure_marketplace", "MarketplaceImage", marketplace_images(content));

    if let Some(gcp) = images.and_then(|images| images.gcp.as_ref()) {
        let (release, family) = (option(gcp.release.as_deref()), option(gcp.family.as_deref()));
        let texts = literals([&*gcp.project, &gcp.name]);
        with.push(format!(".with_gcp({CRATE}::GcpImage::new({texts}, {release}, {family}))"));
    }
    if let Some(kubevirt) = images.and_then(|images| images.kubevirt.as_ref()) {
        let texts = literals([&*kubevirt.release, &kubevirt.image]);
        let digest_ref = option(kubevirt.digest_ref.as_deref());
        with.push(format!(".with_kubevirt({CRATE}::ContainerImage::new({texts}, {digest_ref}))"));
    }
    if let Some(disk) = extensions.and_then(|extensions| extensions.azure_disk.as_ref()) {
        let texts = literals([&*disk.release, &disk.url]);
        with.push(format!(".with_azure_disk({CRATE}::AzureDisk::new({texts}))"));
    }

    code.doc("The architecture's tables.");
    code.line(format_args!(
        "pub const ARCHITECTURE: {CRATE}::Architecture = {CRATE}::Architecture::new({}, BUILD_NAME)",
        literal(name)
    ));
    for call in with {
        code.line(format_args!("    {call}"));
    }
    code.line("    ;");
}

/// Prints the table of `field`, if it has entries, and notes the call that puts it in its place.
fn table(
    code: &mut Code,
    with: &mut Vec<String>,
    field: &str,
    entry: &str,
    entries: impl IntoIterator<Item = String>,
) {
    let table = field.to_ascii_uppercase();
    if code.table(format_args!("static {table}: &[{CRATE}::{entry}]"), entries) {
        with.push(format!(".with_{field}({table})"));
    }
}

fn region_images(regions: Option<&Regions<RegionImage>>) -> impl Iterator<Item = String> {
    regions.into_iter().flat_map(|regions| &regions.regions).map(|(region, image)| {
        let texts = literals([&**region, &image.release, &image.image]);
        format!("{CRATE}::RegionImage::new({texts})")
    })
}

fn region_objects(regions: Option<&Regions<RegionObject>>) -> impl Iterator<Item = String> {
    regions.into_iter().flat_map(|regions| &regions.regions).map(|(region, object)| {
        let texts = literals([&**region, &object.release, &object.object, &object.bucket, &object.url]);
        format!("{CRATE}::RegionObject::new({texts})")
    })
}

fn marketplace_images(content: &Architecture) -> impl Iterator<Item = String> {
    let marketplace = content.extensions.as_ref().and_then(|extensions| extensions.marketplace.as_ref());
    let plans = marketplace.and_then(|marketplace| marketplace.azure.as_ref());
    plans.into_iter().flatten().flat_map(|(plan, images)| {
        let image = |generation: &str, image: &MarketplaceImage| {
            let texts =
                literals([&**plan, generation, &image.publisher, &image.offer, &image.sku, &image.version]);
            format!("{CRATE}::MarketplaceImage::new({texts})")
        };
        let gen1 = images.gen1.as_ref().map(|gen1| image("hyperVGen1", gen1));
        let gen2 = images.gen2.as_ref().map(|gen2| image("hyperVGen2", gen2));
        gen1.into_iter().chain(gen2)
    })
}

/// Prints the flat constants: each a literal of its own, which is cheaper to compile than one that looks into a table.
fn constants(code: &mut Code, place: &str, content: &Architecture) -> Result<(), Error> {
    let mut scope = Scope::new(place.to_owned(), &OWN_CONSTANTS);
    let mut constant_of = |parts: &[&str], original: String, value: &str| -> Result<(), Error> {
        let ident = scope.claim(constant(parts.iter().copied()), original)?;
        code.line(format_args!("pub const {ident}: &str = {};", literal(value)));
        Ok(())
    };

    let aws = content.images.as_ref().and_then(|images| images.aws.as_ref());
    for (region, image) in aws.into_iter().flat_map(|aws| &aws.regions) {
        constant_of(&["AMI", region], format!("the AMI of region `{region}`"), &image.image)?;
    }
    for (platform, _, format, kind, artifact) in content.all_artifacts() {
        let formats = content.artifacts[platform].formats.keys().map(String::as_str);
        let mut parts = vec![platform, short_format(format, formats)];
        if kind != "disk" {
            parts.push(kind);
        }
        let values = [
            ("URL", Some(&artifact.location)),
            ("SHA256", Some(&artifact.sha256)),
            ("UNCOMPRESSED_SHA256", artifact.uncompressed_sha256.as_ref()),
            ("SIGNATURE_URL", artifact.signature.as_ref()),
        ];
        for (what, value) in values {
            let Some(value) = value else { continue };
            parts.push(what);
            let original = format!("the {what} of platform `{platform}`, format `{format}`, {kind}");
            constant_of(&parts, original, value)?;
            parts.pop();
        }
    }
    Ok(())
}
