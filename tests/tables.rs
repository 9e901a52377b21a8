//! The tables, member by member: what they hold of a pin is all that the pin has, and nothing else. The pins are read
//! here as plain JSON.
#![cfg(feature = "embed")]

mod harness;

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use coreos_pins::{Architecture, RegionImage, RegionObject};
use harness::{Project, root};
use serde_json::{Map, Value, json};

/// Leaves out what is absent: a pin does not spell it.
fn object<const N: usize>(members: [(&str, Option<&str>); N]) -> Value {
    let present = members.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?.into())));
    Value::Object(present.collect())
}

/// Puts `entries` one under the other: each is a path of keys, and a value.
fn nested<const N: usize>(entries: impl IntoIterator<Item = ([&'static str; N], Value)>) -> Value {
    let mut tree = json!({});
    for (path, value) in entries {
        let mut place = &mut tree;
        for key in path {
            place = &mut place[key];
        }
        assert!(place.is_null(), "{path:?} is in the table twice");
        *place = value;
    }
    tree
}

fn images(table: &'static [RegionImage]) -> Value {
    let entries =
        table.iter().map(|i| ([i.region], object([("release", Some(i.release)), ("image", Some(i.image))])));
    nested(entries)
}

fn objects(table: &'static [RegionObject]) -> Value {
    nested(table.iter().map(|o| {
        let RegionObject { region, release, object, bucket, url, .. } = *o;
        ([region], json!({ "release": release, "object": object, "bucket": bucket, "url": url }))
    }))
}

/// What the tables of `architecture` say, in the shape of stream metadata.
fn embedded(architecture: &'static Architecture) -> Value {
    let artifacts = architecture.artifacts.iter().map(|a| {
        let members = [
            ("release", Some(a.release)),
            ("location", Some(a.url)),
            ("sha256", Some(a.sha256)),
            ("uncompressed-sha256", a.uncompressed_sha256),
            ("signature", a.signature_url),
        ];
        ([a.platform, a.format, a.kind], object(members))
    });
    json!({
        "artifacts": nested(artifacts),
        "aws": images(architecture.aws),
        "aws-winli": images(architecture.aws_winli),
        "aliyun": images(architecture.aliyun),
        "powervs": objects(architecture.powervs),
        "ibmcloud": objects(architecture.ibmcloud),
        "gcp": architecture.gcp.map(|i| object([("release", i.release), ("project", Some(i.project)),
            ("name", Some(i.name)), ("family", i.family)])),
        "kubevirt": architecture.kubevirt.map(|i| object([("release", Some(i.release)), ("image", Some(i.image)),
            ("digest-ref", i.digest_ref)])),
        "azure-disk": architecture.azure_disk.map(|d| json!({ "release": d.release, "url": d.url })),
        "marketplace": nested(architecture.azure_marketplace.iter().map(|m| ([m.plan, m.generation], json!({
            "publisher": m.publisher, "offer": m.offer, "sku": m.sku, "version": m.version })))),
    })
}

/// What `architecture` of a pin has, in the same shape.
fn pinned(architecture: &Value) -> Value {
    let mut artifacts = Map::new();
    for (platform, files) in architecture["artifacts"].as_object().expect("artifacts") {
        let mut formats = files["formats"].clone();
        for kinds in formats.as_object_mut().expect("formats").values_mut() {
            for file in kinds.as_object_mut().expect("kinds").values_mut() {
                file["release"] = files["release"].clone();
            }
        }
        artifacts.insert(platform.clone(), formats);
    }
    let at = |pointer: &str| architecture.pointer(pointer).cloned();
    let table = |pointer: &str| at(pointer).unwrap_or_else(|| json!({}));
    json!({
        "artifacts": artifacts,
        "aws": table("/images/aws/regions"),
        "aws-winli": table("/rhel-coreos-extensions/aws-winli/regions"),
        "aliyun": table("/images/aliyun/regions"),
        "powervs": table("/images/powervs/regions"),
        "ibmcloud": table("/images/ibmcloud/regions"),
        "gcp": at("/images/gcp"),
        "kubevirt": at("/images/kubevirt"),
        "azure-disk": at("/rhel-coreos-extensions/azure-disk"),
        "marketplace": table("/rhel-coreos-extensions/marketplace/azure"),
    })
}

#[test]
fn tables_and_committed_pins_say_the_same_to_the_last_member() {
    for channel in coreos_pins::ALL {
        let text = fs::read_to_string(root().join(format!("pins/{}.json", channel.name))).expect("a pin");
        let pin: Value = serde_json::from_str(&text).expect("JSON");
        let architectures = pin["architectures"].as_object().expect("architectures");
        assert_eq!(architectures.len(), channel.architectures.len(), "{}", channel.name);
        for architecture in channel.architectures {
            let expected = pinned(&architectures[architecture.name]);
            assert_eq!(embedded(architecture), expected, "{} {}", channel.name, architecture.name);
        }
        assert_eq!(pin["pin"]["base-url"], channel.base_url);
        assert_eq!(pin["pin"].get("release-image").and_then(Value::as_str), channel.release_image);
    }
}

#[test]
fn pins_sha256_is_what_sha256sum_makes_of_the_files() {
    let mut names: Vec<String> = coreos_pins::CHANNELS.iter().map(|name| format!("{name}.json")).collect();
    names.sort();
    let mut tool = Command::new("sha256sum");
    let mut tool = tool.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("sha256sum runs");
    let mut input = tool.stdin.take().expect("a pipe");
    for name in names {
        writeln!(input, "{name}").expect("a pipe");
        // The committed pins are in canonical form: their bytes are what is hashed.
        input.write_all(&fs::read(root().join("pins").join(name)).expect("a pin")).expect("a pipe");
    }
    drop(input);
    let output = tool.wait_with_output().expect("sha256sum ends");
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{}  -\n", coreos_pins::PINS_SHA256));
}

/// The clouds that no committed pin has images of.
#[test]
fn every_kind_of_image_has_its_table_its_lookup_and_its_regions() {
    let project = Project::own_pins(
        "tables-clouds",
        r#"fn main() {
            const X: &coreos_pins::Architecture = pins::DEFAULT.architecture("x86_64").unwrap();
            assert_eq!(X.ami("r1"), Some("aws-1"));
            assert_eq!(X.aliyun_image("r1"), Some("aliyun-1"));
            assert_eq!(X.winli_ami("r1"), Some("winli-1"));
            assert_eq!(X.powervs_object("r1").map(|o| (o.object, o.bucket, o.url)), Some(("o", "b", "u-powervs")));
            assert_eq!(X.ibmcloud_object("r1").map(|o| (o.object, o.bucket, o.url)), Some(("o", "b", "u-ibmcloud")));
            let offers: Vec<_> = X.azure_marketplace.iter().map(|m| (m.plan, m.generation, m.sku)).collect();
            assert_eq!(offers, [("a", "hyperVGen1", "a1"), ("a", "hyperVGen2", "a2"), ("b", "hyperVGen2", "b2")]);
            assert_eq!(X.marketplace_image("b", "hyperVGen2"), Some(&X.azure_marketplace[2]));
            assert_eq!(X.marketplace_image("b", "hyperVGen1"), None);
            for platform in ["aws", "aliyun", "aws-winli", "powervs", "ibmcloud"] {
                assert_eq!(X.regions(platform).collect::<Vec<_>>(), ["r1", "r10", "r2"], "{platform}");
            }
            // An image of a kind that nobody knew is there for tools; a file of such a platform is there for all.
            assert!(pins::DEFAULT.stream_json().contains("\"novel-1\""));
            assert_eq!(X.disk("novel").unwrap().url, pins::x86_64::NOVEL_IMG_URL);
            println!("as expected");
        }"#,
    );
    let regions =
        |of: &dyn Fn(&str) -> Value| json!({ "regions": { "r10": of("10"), "r2": of("2"), "r1": of("1") } });
    let image = |cloud: &'static str| {
        regions(&move |digit| json!({ "release": "1", "image": format!("{cloud}-{digit}") }))
    };
    let object = |cloud: &'static str| {
        regions(
            &move |_| json!({ "release": "1", "object": "o", "bucket": "b", "url": format!("u-{cloud}") }),
        )
    };
    let offer = |sku: &str| json!({ "publisher": "p", "offer": "o", "sku": sku, "version": "1" });
    let pin = json!({ "stream": "s", "architectures": { "x86_64": {
        "artifacts": { "novel": { "release": "1", "formats": { "img": { "disk": {
            "location": "https://example.com/novel.img", "sha256": "0".repeat(64) } } } } },
        "images": { "aws": image("aws"), "aliyun": image("aliyun"), "powervs": object("powervs"),
            "ibmcloud": object("ibmcloud"), "novel": { "id": "novel-1" } },
        "rhel-coreos-extensions": { "aws-winli": image("winli"), "marketplace": { "azure": {
            "b": { "hyperVGen2": offer("b2") },
            "a": { "hyperVGen2": offer("a2"), "hyperVGen1": offer("a1") } } } } } } });
    project.write("pins/maipo.json", &pin.to_string());
    assert_eq!(project.run(&[]).stdout(), "as expected\n");
}
