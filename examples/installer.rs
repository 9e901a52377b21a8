//! An installer in miniature: prints what it would boot. Everything it knows was decided when it was built.
//!
//! ```text
//! installer                                   a table of the default channel
//! installer --json                            everything that is embedded
//! installer image --platform aws --arch x86_64 --region us-east-1 [--channel C] [--generation hyperVGen1]
//!                                             the one value that a platform's installer needs
//! installer print-stream-json [CHANNEL]       the stream metadata, for other tools
//! ```

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;

use coreos_pins::{Architecture, Artifact, Channel, MarketplaceImage, RegionImage, RegionObject};
use lexopt::prelude::*;
use serde_json::{Value, json};

const USAGE: &str = "usage: installer [--json]
       installer image --platform P --arch A [--region R] [--channel C] [--generation hyperVGen1]
       installer print-stream-json [CHANNEL]";

fn main() -> ExitCode {
    match run(lexopt::Parser::from_env()) {
        // A reader that has gone away is no fault.
        Ok(text) => match std::io::stdout().write_all(text.as_bytes()) {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => fail(&error.to_string(), 2),
            _ => ExitCode::SUCCESS,
        },
        Err(Failure::Usage(text)) => fail(&format!("{text}\n{USAGE}"), 2),
        Err(Failure::NotThere(text)) => fail(&text, 1),
    }
}

fn fail(text: &str, status: u8) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "error: {text}");
    ExitCode::from(status)
}

enum Failure {
    Usage(String),
    NotThere(String),
}

impl From<lexopt::Error> for Failure {
    fn from(error: lexopt::Error) -> Self {
        Self::Usage(error.to_string())
    }
}

impl From<OsString> for Failure {
    fn from(text: OsString) -> Self {
        Self::Usage(format!("`{}` is no UTF-8", text.display()))
    }
}

fn run(mut arguments: lexopt::Parser) -> Result<String, Failure> {
    let mut command = None;
    let mut as_json = false;
    let mut image = Image { generation: "hyperVGen2".into(), ..Image::default() };
    let mut channel = None;
    while let Some(argument) = arguments.next()? {
        match (argument, command.as_deref()) {
            (Long("help") | Short('h'), _) => return Ok(format!("{USAGE}\n")),
            (Long("json"), None) => as_json = true,
            (Long("platform"), Some("image")) => image.platform = Some(arguments.value()?.into_string()?),
            (Long("arch"), Some("image")) => image.architecture = Some(arguments.value()?.into_string()?),
            (Long("region"), Some("image")) => image.region = Some(arguments.value()?.into_string()?),
            (Long("generation"), Some("image")) => match arguments.value()?.into_string()? {
                known if known == "hyperVGen1" || known == "hyperVGen2" => image.generation = known,
                other => {
                    return Err(Failure::Usage(format!(
                        "no generation `{other}` (have hyperVGen1, hyperVGen2)"
                    )));
                }
            },
            (Long("channel"), Some("image")) => channel = Some(arguments.value()?.into_string()?),
            (lexopt::Arg::Value(name), None) if !as_json => command = Some(name.into_string()?),
            (lexopt::Arg::Value(name), Some("print-stream-json")) if channel.is_none() => {
                channel = Some(name.into_string()?);
            }
            (argument, _) => return Err(argument.unexpected().into()),
        }
    }
    match command.as_deref() {
        None if as_json => Ok(format!("{:#}\n", everything())),
        None => Ok(table(coreos_pins::DEFAULT)),
        Some("image") => image.value(find_channel(channel.as_deref())?).map(|value| value + "\n"),
        Some("print-stream-json") => Ok(find_channel(channel.as_deref())?.stream_json().to_owned()),
        Some(other) => Err(Failure::Usage(format!("no command `{other}`"))),
    }
}

fn find_channel(name: Option<&str>) -> Result<&'static Channel, Failure> {
    let Some(name) = name else { return Ok(coreos_pins::DEFAULT) };
    coreos_pins::channel(name).ok_or_else(|| {
        Failure::NotThere(format!("no channel `{name}` (have {})", coreos_pins::CHANNELS.join(", ")))
    })
}

/// Which image is asked for.
#[derive(Default)]
struct Image {
    platform: Option<String>,
    architecture: Option<String>,
    region: Option<String>,
    generation: String,
}

impl Image {
    /// Returns what the installer of the platform hands on: an id, a reference, or a URL with the checksum that its
    /// cache checks.
    fn value(&self, channel: &'static Channel) -> Result<String, Failure> {
        let platform =
            self.platform.as_deref().ok_or_else(|| Failure::Usage("--platform is missing".into()))?;
        let name = self.architecture.as_deref().ok_or_else(|| Failure::Usage("--arch is missing".into()))?;
        let architecture = channel.architecture(name).ok_or_else(|| {
            let have: Vec<&str> =
                channel.architectures.iter().map(|architecture| architecture.name).collect();
            Failure::NotThere(format!(
                "no architecture `{name}` in {} (have {})",
                channel.name,
                have.join(", ")
            ))
        })?;
        let not_there = || {
            let place = format!("{} in {} {}", architecture.name, channel.name, architecture.build_name);
            let files = architecture.artifacts.iter().filter(|artifact| artifact.platform == platform);
            let formats: Vec<String> = files.map(|file| format!("{} {}", file.format, file.kind)).collect();
            Failure::NotThere(match formats.as_slice() {
                [] => format!("no {platform} image for {place}"),
                _ => format!("no single {platform} image for {place} (have {})", formats.join(", ")),
            })
        };
        match platform {
            "aws" => {
                self.in_region(architecture, platform, |region| architecture.ami(region).map(str::to_owned))
            }
            "aws-winli" => self.in_region(architecture, platform, |region| {
                architecture.winli_ami(region).map(str::to_owned)
            }),
            "aliyun" => self.in_region(architecture, platform, |region| {
                architecture.aliyun_image(region).map(str::to_owned)
            }),
            "powervs" => self.in_region(architecture, platform, |region| {
                architecture
                    .powervs_object(region)
                    .map(|object| format!("{}/{}", object.bucket, object.object))
            }),
            "gcp" => architecture
                .gcp
                .as_ref()
                .ok_or_else(not_there)
                .map(|image| format!("projects/{}/global/images/{}", image.project, image.name)),
            "kubevirt" => (architecture.kubevirt.as_ref().ok_or_else(not_there))
                .map(|image| image.digest_ref.unwrap_or(image.image).to_owned()),
            "azure" => self.azure(architecture).ok_or_else(|| {
                Failure::NotThere(format!(
                    "no azure image of generation {} for {} in {} {}",
                    self.generation, architecture.name, channel.name, architecture.build_name
                ))
            }),
            "vsphere" | "vmware" => (architecture.artifact("vmware", "ova", "disk").ok_or_else(not_there))
                .map(|ova| format!("{}?sha256={}", ova.url, ova.sha256)),
            _ => {
                let disk = architecture.disk(match platform {
                    "libvirt" | "baremetal" => "qemu",
                    "ovirt" | "powervc" => "openstack",
                    other => other,
                });
                disk.ok_or_else(not_there).map(url_with_checksum)
            }
        }
    }

    /// Looks up a region; one that is not there has no substitute.
    fn in_region(
        &self,
        architecture: &Architecture,
        platform: &str,
        lookup: impl Fn(&str) -> Option<String>,
    ) -> Result<String, Failure> {
        let region = self.region.as_deref().ok_or_else(|| Failure::Usage("--region is missing".into()))?;
        lookup(region).ok_or_else(|| {
            let have: Vec<&str> = architecture.regions(platform).collect();
            let have = if have.is_empty() { "none".to_owned() } else { have.join(", ") };
            Failure::NotThere(format!(
                "no {platform} image for {} in region `{region}` (have {have})",
                architecture.name
            ))
        })
    }

    /// The marketplace offer without a purchase plan, as a URN; for machines of generation 2, else the disk's URL.
    fn azure(&self, architecture: &Architecture) -> Option<String> {
        match architecture.marketplace_image("no-purchase-plan", &self.generation) {
            Some(image) => Some(urn(image)),
            None if self.generation == "hyperVGen1" => None,
            None => architecture.azure_disk.map(|disk| disk.url.to_owned()),
        }
    }
}

fn urn(image: &MarketplaceImage) -> String {
    [image.publisher, image.offer, image.sku, image.version].join(":")
}

/// The checksum is of what the cache keeps, which is unpacked.
fn url_with_checksum(disk: &Artifact) -> String {
    format!("{}?sha256={}", disk.url, disk.uncompressed_sha256.unwrap_or(disk.sha256))
}

/// How many regions the table shows of each architecture.
const SOME_REGIONS: usize = 4;

fn table(channel: &Channel) -> String {
    let mut text = String::new();
    let mut row = |name: &str, value: &str| writeln!(text, "{name:<24} {value}").expect("a String takes all");
    row("channel", channel.name);
    row("build", channel.build_name);
    row("origin", &channel.origin.to_string());
    row("base URL", channel.base_url);
    if let Some(image) = channel.release_image {
        row("release image", image);
    }
    row("other channels", &coreos_pins::CHANNELS.join(", "));
    row("pins sha256", coreos_pins::PINS_SHA256);
    for architecture in channel.architectures {
        row("", "");
        row(architecture.name, architecture.build_name);
        for image in architecture.aws.iter().take(SOME_REGIONS) {
            row(&format!("  AMI {}", image.region), image.image);
        }
        if let Some(more) = architecture.aws.len().checked_sub(SOME_REGIONS).filter(|more| *more > 0) {
            row("", &format!("and in {more} more regions"));
        }
        if let Some(disk) = architecture.disk("qemu") {
            row("  qcow2", disk.url);
            row("    sha256 as stored", disk.sha256);
            row("    sha256 unpacked", disk.uncompressed_sha256.unwrap_or("-"));
        }
    }
    text.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

fn everything() -> Value {
    json!({
        "version": 1,
        "default-channel": coreos_pins::DEFAULT_CHANNEL,
        "pins-sha256": coreos_pins::PINS_SHA256,
        "channels": coreos_pins::ALL.iter().map(channel_json).collect::<Vec<_>>(),
    })
}

fn channel_json(channel: &Channel) -> Value {
    let architectures = channel.architectures.iter().map(|a| (a.name.to_owned(), architecture_json(a)));
    json!({
        "name": channel.name,
        "build-name": channel.build_name,
        "origin": channel.origin.to_string(),
        "base-url": channel.base_url,
        "release-image": channel.release_image,
        "builders": channel.builders.iter().map(|builder| builder.reference).collect::<Vec<_>>(),
        "architectures": architectures.collect::<serde_json::Map<_, _>>(),
    })
}

fn architecture_json(architecture: &Architecture) -> Value {
    let artifact = |artifact: &Artifact| {
        json!({
            "platform": artifact.platform,
            "format": artifact.format,
            "kind": artifact.kind,
            "release": artifact.release,
            "url": artifact.url,
            "sha256": artifact.sha256,
            "uncompressed-sha256": artifact.uncompressed_sha256,
            "signature-url": artifact.signature_url,
        })
    };
    let images = |images: &[RegionImage]| -> serde_json::Map<String, Value> {
        let image =
            |i: &RegionImage| (i.region.to_owned(), json!({ "release": i.release, "image": i.image }));
        images.iter().map(image).collect()
    };
    let objects = |objects: &[RegionObject]| -> serde_json::Map<String, Value> {
        let object = |o: &RegionObject| {
            let value = json!({ "release": o.release, "object": o.object, "bucket": o.bucket, "url": o.url });
            (o.region.to_owned(), value)
        };
        objects.iter().map(object).collect()
    };
    let marketplace = architecture.azure_marketplace.iter().map(|image| {
        json!({
            "plan": image.plan,
            "generation": image.generation,
            "urn": urn(image),
        })
    });
    json!({
        "build-name": architecture.build_name,
        "artifacts": architecture.artifacts.iter().map(artifact).collect::<Vec<_>>(),
        "aws": images(architecture.aws),
        "aws-winli": images(architecture.aws_winli),
        "aliyun": images(architecture.aliyun),
        "gcp": architecture.gcp.map(|gcp| json!({
            "release": gcp.release, "project": gcp.project, "name": gcp.name, "family": gcp.family,
        })),
        "kubevirt": architecture.kubevirt.map(|kubevirt| json!({
            "release": kubevirt.release, "image": kubevirt.image, "digest-ref": kubevirt.digest_ref,
        })),
        "powervs": objects(architecture.powervs),
        "ibmcloud": objects(architecture.ibmcloud),
        "azure-disk": architecture.azure_disk.map(|disk| json!({ "release": disk.release, "url": disk.url })),
        "azure-marketplace": marketplace.collect::<Vec<_>>(),
    })
}
