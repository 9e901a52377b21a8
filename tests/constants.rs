//! What is embedded is what the committed pins say: every file and image, by constant and by lookup. The pins are read
//! here by `coreos-stream-metadata` and `serde_json`, not by our own reader.
#![cfg(feature = "embed")]

mod harness;

use std::fmt::Write;
use std::fs;

use coreos_pins::{Architecture, Channel};
use coreos_stream_metadata::Stream;
use harness::{Project, root};
use serde_json::Value;

/// The committed pins: name, as `coreos-stream-metadata` reads them, and as plain JSON.
fn committed() -> Vec<(String, Stream, Value)> {
    let mut pins = Vec::new();
    for entry in fs::read_dir(root().join("pins")).expect("the pins") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().and_then(|name| name.to_str()).expect("a name").to_owned();
        if path.extension().is_some_and(|extension| extension == "json") && name != "channels" {
            let text = fs::read_to_string(&path).expect("a pin");
            pins.push((
                name,
                serde_json::from_str(&text).expect("a stream"),
                serde_json::from_str(&text).unwrap(),
            ));
        }
    }
    pins.sort_by(|(a, ..), (b, ..)| a.cmp(b));
    pins
}

fn embedded(channel: &str, architecture: &str) -> &'static Architecture {
    let channel = coreos_pins::channel(channel).expect("every pin is embedded");
    channel.architecture(architecture).expect("every architecture is embedded")
}

/// Every string at `pointer/<key>/member`, by key.
fn members<'a>(value: &'a Value, pointer: &str, member: &str) -> Vec<(&'a str, &'a str)> {
    let entries = value.pointer(pointer).and_then(Value::as_object).into_iter().flatten();
    entries.map(|(key, entry)| (key.as_str(), entry[member].as_str().expect("a text"))).collect()
}

#[test]
fn every_channel_is_there_and_no_other() {
    let names: Vec<String> = committed().into_iter().map(|(name, ..)| name).collect();
    assert_eq!(names, coreos_pins::CHANNELS);
    assert_eq!(names, coreos_pins::ALL.iter().map(|channel| channel.name).collect::<Vec<_>>());
    assert_eq!(names, ["c10s", "next", "rhel-10", "rhel-9", "stable", "testing"]);
    assert_eq!((coreos_pins::DEFAULT_CHANNEL, coreos_pins::DEFAULT.name), ("stable", "stable"));
}

#[test]
fn every_file_of_every_pin_is_found_by_lookup_with_both_checksums_and_signature() {
    let mut count = 0;
    for (channel, stream, json) in committed() {
        for (name, architecture) in &stream.architectures {
            let found = embedded(&channel, name);
            let mut of_architecture = 0;
            for (platform, files) in &architecture.artifacts {
                let release = &json["architectures"][name]["artifacts"][platform]["release"];
                for (format, kinds) in &files.formats {
                    for (kind, file) in kinds {
                        let artifact = found.artifact(platform, format, kind).expect("a file");
                        assert_eq!(artifact.url, file.location);
                        assert_eq!(artifact.sha256, file.sha256);
                        assert_eq!(artifact.uncompressed_sha256, file.uncompressed_sha256.as_deref());
                        assert_eq!(artifact.signature_url, file.signature.as_deref());
                        assert_eq!(release, artifact.release);
                        of_architecture += 1;
                    }
                }
            }
            assert_eq!(found.artifacts.len(), of_architecture, "{channel} {name}");
            count += of_architecture;
        }
    }
    assert!(count > 250, "{count}");
}

#[test]
fn every_image_of_every_cloud_is_found_by_lookup() {
    let mut count = 0;
    for (channel, stream, json) in committed() {
        for (name, architecture) in &stream.architectures {
            let (found, json) = (embedded(&channel, name), &json["architectures"][name]);
            let amis: Vec<(&str, &str)> = members(json, "/images/aws/regions", "image");
            assert_eq!(
                found.regions("aws").collect::<Vec<_>>(),
                amis.iter().map(|(r, _)| *r).collect::<Vec<_>>()
            );
            let oracle = architecture.images.as_ref().and_then(|images| images.aws.as_ref());
            assert_eq!(oracle.map_or(0, |aws| aws.regions.len()), amis.len());
            for (region, ami) in amis {
                assert_eq!(found.ami(region), Some(ami));
                assert_eq!(oracle.unwrap().regions[region].image, ami);
                count += 1;
            }
            let winli = members(json, "/rhel-coreos-extensions/aws-winli/regions", "image");
            assert_eq!(found.aws_winli.len(), winli.len());
            for (region, ami) in winli {
                assert_eq!(found.winli_ami(region), Some(ami));
            }
            let powervs = members(json, "/images/powervs/regions", "object");
            assert_eq!(found.powervs.len(), powervs.len());
            for (region, object) in powervs {
                let image = found.powervs_object(region).expect("an object");
                let regions = &json["images"]["powervs"]["regions"][region];
                assert_eq!(
                    (image.object, &regions["bucket"], &regions["url"]),
                    (object, &image.bucket.into(), &image.url.into())
                );
            }
            let text = |pointer: &str| json.pointer(pointer).and_then(Value::as_str);
            assert_eq!(found.gcp.map(|gcp| gcp.name), text("/images/gcp/name"));
            assert_eq!(found.gcp.map(|gcp| gcp.project), text("/images/gcp/project"));
            assert_eq!(found.gcp.and_then(|gcp| gcp.family), text("/images/gcp/family"));
            assert_eq!(found.kubevirt.map(|image| image.image), text("/images/kubevirt/image"));
            assert_eq!(
                found.kubevirt.and_then(|image| image.digest_ref),
                text("/images/kubevirt/digest-ref")
            );
            assert_eq!(found.azure_disk.map(|disk| disk.url), text("/rhel-coreos-extensions/azure-disk/url"));
        }
    }
    assert!(count > 300, "{count}");
}

#[test]
fn stream_json_is_the_pin_without_its_own_key() {
    for (name, _, mut json) in committed() {
        json.as_object_mut().unwrap().remove("pin").expect("a pin made by bump");
        let channel: &Channel = coreos_pins::channel(&name).unwrap();
        assert_eq!(serde_json::from_str::<Value>(channel.stream_json()).unwrap(), json);
    }
}

#[test]
fn the_hash_of_all_pins_is_that_of_the_files_on_disk() {
    // Committed pins are in canonical form, so that the files' bytes are the text that is hashed.
    let mut text = Vec::new();
    for (name, ..) in committed()
        .iter()
        .map(|pin| (format!("{}.json", pin.0), ()))
        .collect::<std::collections::BTreeMap<_, _>>()
    {
        text.extend(format!("{name}\n").bytes());
        text.extend(fs::read(root().join("pins").join(&name)).unwrap());
    }
    assert_eq!(coreos_pins::PINS_SHA256, coreos_pins_build::sha256::hex([&*text]));
}

#[test]
fn every_flat_constant_has_the_value_in_the_json() {
    let mut table = String::new();
    let mut count = 0;
    let mut expect = |path: String, value: &str| {
        writeln!(table, "    ({path:?}, coreos_pins::{path}, {value:?}),").unwrap();
        count += 1;
    };
    for (channel, stream, json) in committed() {
        let module = constant(&channel).to_lowercase();
        expect(format!("channels::{module}::NAME"), &channel);
        expect(format!("channels::{module}::BASE_URL"), json["pin"]["base-url"].as_str().unwrap());
        expect(format!("channels::{module}::BUILD_NAME"), json["pin"]["build"].as_str().unwrap());
        for (name, architecture) in &stream.architectures {
            let place = format!("channels::{module}::{name}");
            for (region, ami) in members(&json["architectures"][name], "/images/aws/regions", "image") {
                expect(format!("{place}::AMI_{}", constant(region)), ami);
            }
            for (platform, files) in &architecture.artifacts {
                for (format, kinds) in &files.formats {
                    let compression = [".gz", ".xz", ".zst", ".zip", ".bz2"];
                    let short =
                        compression.iter().find_map(|suffix| format.strip_suffix(suffix)).unwrap_or(format);
                    for (kind, file) in kinds {
                        let kind =
                            if kind == "disk" { String::new() } else { format!("_{}", constant(kind)) };
                        let name = format!("{place}::{}_{}{kind}", constant(platform), constant(short));
                        expect(format!("{name}_URL"), &file.location);
                        expect(format!("{name}_SHA256"), &file.sha256);
                        if let Some(sha256) = &file.uncompressed_sha256 {
                            expect(format!("{name}_UNCOMPRESSED_SHA256"), sha256);
                        }
                        if let Some(signature) = &file.signature {
                            expect(format!("{name}_SIGNATURE_URL"), signature);
                        }
                    }
                }
            }
        }
    }
    let main = format!(
        "static TABLE: &[(&str, &str, &str)] = &[\n{table}];\n\
         fn main() {{\n    for (name, found, expected) in TABLE {{ assert_eq!(found, expected, \"{{name}}\"); }}\n    \
         println!(\"{{}}\", TABLE.len());\n}}\n"
    );
    let project = Project::installer("flat-constants", &main);
    assert_eq!(project.run(&[]).stdout(), format!("{count}\n"));
    assert!(count > 1300, "{count}");
}

/// The rule for names, once more.
fn constant(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect()
}
