//! The module of one architecture: its tables, and its flat constants.

use std::fmt::Display;

use crate::Error;
use crate::stream::{Architecture, RegionImage, RegionObject, Regions};

use super::CRATE;
use super::code::{Code, Literal, New};
use super::names::{Ident, Original, Scope, constant, short_formats};

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
    code.doc("What there is for this architecture.");
    code.line("#[allow(missing_docs)]");
    code.open(format_args!("pub mod {module}"));
    code.line(format_args!("use super::{CRATE};"));
    code.doc("The build that most artifacts are of.");
    code.line(format_args!("pub const BUILD_NAME: &str = {};", Literal(build_name)));
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

    let artifacts = content.all_artifacts().map(|(platform, release, format, kind, artifact)| New {
        name: "Artifact",
        texts: [platform, format, kind, release, &artifact.location, &artifact.sha256],
        options: [artifact.uncompressed_sha256.as_deref(), artifact.signature.as_deref()],
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
        let texts = [&*gcp.project, &gcp.name];
        let image = New { name: "GcpImage", texts, options: [gcp.release.as_deref(), gcp.family.as_deref()] };
        with.push(format!(".with_gcp({image})"));
    }
    if let Some(kubevirt) = images.and_then(|images| images.kubevirt.as_ref()) {
        let texts = [&*kubevirt.release, &kubevirt.image];
        let image = New { name: "ContainerImage", texts, options: [kubevirt.digest_ref.as_deref()] };
        with.push(format!(".with_kubevirt({image})"));
    }
    if let Some(disk) = extensions.and_then(|extensions| extensions.azure_disk.as_ref()) {
        let disk = New { name: "AzureDisk", texts: [&*disk.release, &disk.url], options: [] };
        with.push(format!(".with_azure_disk({disk})"));
    }

    code.doc("The architecture's tables.");
    code.line(format_args!(
        "pub const ARCHITECTURE: {CRATE}::Architecture = {CRATE}::Architecture::new({}, BUILD_NAME)",
        Literal(name)
    ));
    for call in with {
        code.line(format_args!("    {call}"));
    }
    code.line("    ;");
}

/// Prints the table of `field`, if it has entries, and notes the call that puts it in its place.
fn table<T: Display>(
    code: &mut Code,
    with: &mut Vec<String>,
    field: &str,
    entry: &str,
    entries: impl IntoIterator<Item = T>,
) {
    let table = field.to_ascii_uppercase();
    if code.table(format_args!("static {table}: &[{CRATE}::{entry}]"), entries) {
        with.push(format!(".with_{field}({table})"));
    }
}

fn region_images(regions: Option<&Regions<RegionImage>>) -> impl Iterator<Item = New<'_, 3, 0>> {
    regions.into_iter().flat_map(|regions| &regions.regions).map(|(region, image)| New {
        name: "RegionImage",
        texts: [region, &image.release, &image.image],
        options: [],
    })
}

fn region_objects(regions: Option<&Regions<RegionObject>>) -> impl Iterator<Item = New<'_, 5, 0>> {
    regions.into_iter().flat_map(|regions| &regions.regions).map(|(region, object)| New {
        name: "RegionObject",
        texts: [region, &object.release, &object.object, &object.bucket, &object.url],
        options: [],
    })
}

fn marketplace_images(content: &Architecture) -> impl Iterator<Item = New<'_, 6, 0>> {
    let marketplace = content.extensions.as_ref().and_then(|extensions| extensions.marketplace.as_ref());
    let plans = marketplace.and_then(|marketplace| marketplace.azure.as_ref());
    plans.into_iter().flatten().flat_map(|(plan, images)| {
        let generations = [("hyperVGen1", &images.gen1), ("hyperVGen2", &images.gen2)];
        generations.into_iter().filter_map(move |(generation, image)| {
            let image = image.as_ref()?;
            let texts = [plan, generation, &image.publisher, &image.offer, &image.sku, &image.version];
            Some(New { name: "MarketplaceImage", texts, options: [] })
        })
    })
}

/// Prints the flat constants: each a literal of its own, which is cheaper to compile than one that looks into a table.
fn constants(code: &mut Code, place: &str, content: &Architecture) -> Result<(), Error> {
    let mut scope = Scope::new(place, &OWN_CONSTANTS);
    let mut constant_of = |name: String, original, value: &str| -> Result<(), Error> {
        let ident = scope.claim(name, original)?;
        code.line(format_args!("pub const {ident}: &str = {};", Literal(value)));
        Ok(())
    };

    let aws = content.images.as_ref().and_then(|images| images.aws.as_ref());
    for (region, image) in aws.into_iter().flat_map(|aws| &aws.regions) {
        constant_of(constant(&["AMI", region]), Original::Ami { region }, &image.image)?;
    }
    for (platform, files) in &content.artifacts {
        let short = short_formats(files.formats.keys());
        for (format, kind, artifact) in files.artifacts() {
            let short = short.get(format).copied().unwrap_or(format);
            let name = match kind {
                "disk" => constant(&[platform, short]),
                _ => constant(&[platform, short, kind]),
            };
            let values = [
                ("URL", Some(&artifact.location)),
                ("SHA256", Some(&artifact.sha256)),
                ("UNCOMPRESSED_SHA256", artifact.uncompressed_sha256.as_ref()),
                ("SIGNATURE_URL", artifact.signature.as_ref()),
            ];
            for (what, value) in values {
                let Some(value) = value else { continue };
                constant_of(
                    format!("{name}_{what}"),
                    Original::File { platform, format, kind, what },
                    value,
                )?;
            }
        }
    }
    Ok(())
}
