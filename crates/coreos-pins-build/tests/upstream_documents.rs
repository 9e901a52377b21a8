//! Every real document in the shared collection is read, or refused for a reason that is written down here; and what
//! is read is compared with a second reading of the same file, by `serde_json::Value`, which knows nothing of the first.
//!
//! The collection is no part of the repository: it is looked for as `shared/data` beside the checkout, or where
//! `UPSTREAM_DOCUMENTS` says. Without it these tests say so on stderr and check nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{env, fs};

use coreos_pins_build::documents::{Document, MarketplaceFile, Record};
use coreos_pins_build::stream::{Architecture, Stream};
use serde_json::Value;

/// Which kind each family's files are of; files that are another, or none, have a row of their own.
const FAMILIES: [(&str, &str); 8] = [
    ("builds-json", "a build list"),
    ("cosa-meta", "a build record"),
    ("installer-legacy", "a build record"),
    ("marketplace", "refused: this is no document that tells of builds"),
    ("release-index", "a release"),
    ("stream-fcos", "stream metadata"),
    ("stream-okd", "stream metadata"),
    ("stream-rhcos", "stream metadata"),
];

const EXCEPTIONS: [(&str, &str); 6] = [
    // The JSON Schema of meta.json, kept beside the records.
    ("cosa-meta/v1.schema.json", "refused: this is no document that tells of builds"),
    ("release-index/fcos-stable-releases-2021-01.json", "a release index"),
    ("release-index/fcos-stable-releases-2021-11.json", "a release index"),
    ("release-index/tracker-stream-sample.json", "stream metadata"),
    ("updates-fcos/stable-2026-07-21.json", "refused: releases[0].metadata: expected the URL of a release"),
    ("updates-fcos/testing-2026-07-21.json", "refused: releases[0].metadata: expected the URL of a release"),
];

/// Keys of a record's `images` that stream metadata does not have.
const LEFT_OUT: [&str; 3] = ["ostree", "legacy-oscontainer", "extensions-container"];

fn data() -> Option<PathBuf> {
    let named = env::var_os("UPSTREAM_DOCUMENTS").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|dir| dir.join("shared/data"));
    let found = named.into_iter().chain(beside).find(|dir| dir.join("cosa-meta").is_dir());
    if found.is_none() {
        eprintln!("skipped: no collection of upstream documents; set UPSTREAM_DOCUMENTS to its folder");
    }
    found
}

/// Returns every JSON file of the collection, as (family/name, bytes).
fn files() -> Vec<(String, Vec<u8>)> {
    let Some(data) = data() else { return Vec::new() };
    let mut files = Vec::new();
    for family in fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir())
    {
        for path in fs::read_dir(&family).unwrap().map(|entry| entry.unwrap().path()) {
            if path.extension().is_some_and(|extension| extension == "json") {
                let name = path.strip_prefix(&data).unwrap().to_str().unwrap().replace('\\', "/");
                files.push((name, fs::read(&path).unwrap()));
            }
        }
    }
    files.sort();
    assert!(files.len() > 40, "the collection in {} is not whole", data.display());
    files
}

fn file(name: &str) -> Option<Vec<u8>> {
    data().map(|data| fs::read(data.join(name)).unwrap())
}

fn records() -> Vec<(String, Record, Value)> {
    let read = |(name, bytes): (String, Vec<u8>)| match Document::read(&name, &bytes) {
        Ok(Document::Record(record)) => Some((name, record, serde_json::from_slice(&bytes).unwrap())),
        _ => None,
    };
    files().into_iter().filter_map(read).collect()
}

/// What can be compared of an architecture: what it is called, its value.
type Facts = BTreeMap<String, String>;

fn facts(architecture: &Architecture) -> Facts {
    let mut facts = Facts::new();
    for (platform, release, format, kind, artifact) in architecture.all_artifacts() {
        let mut add = |what: &str, value: &str| {
            facts.insert(format!("{platform} {format} {kind} {what}"), value.to_owned());
        };
        add("release", release);
        add("location", &artifact.location);
        add("sha256", &artifact.sha256);
        artifact.signature.iter().for_each(|signature| add("signature", signature));
        artifact.uncompressed_sha256.iter().for_each(|sum| add("uncompressed-sha256", sum));
    }
    let images = architecture.images.clone().unwrap_or_default();
    let extensions = architecture.extensions.clone().unwrap_or_default();
    let tables = [("aws", images.aws), ("aliyun", images.aliyun), ("aws-winli", extensions.aws_winli)];
    for (cloud, table) in tables {
        for (region, image) in table.iter().flat_map(|table| table.regions.iter()) {
            facts.insert(format!("{cloud} {region}"), format!("{} {}", image.release, image.image));
        }
    }
    for (cloud, table) in [("powervs", images.powervs), ("ibmcloud", images.ibmcloud)] {
        for (region, object) in table.iter().flat_map(|table| table.regions.iter()) {
            let value = format!("{} {} {} {}", object.release, object.bucket, object.object, object.url);
            facts.insert(format!("{cloud} {region}"), value);
        }
    }
    if let Some(gcp) = images.gcp {
        let family = gcp.family.unwrap_or_default();
        let release = gcp.release.unwrap_or_default();
        facts.insert("gcp".to_owned(), format!("{release} {} {} {family}", gcp.project, gcp.name));
    }
    if let Some(kubevirt) = images.kubevirt {
        let digest = kubevirt.digest_ref.unwrap_or_default();
        facts.insert("kubevirt".to_owned(), format!("{} {} {digest}", kubevirt.release, kubevirt.image));
    }
    if let Some(disk) = extensions.azure_disk {
        facts.insert("azure-disk".to_owned(), format!("{} {}", disk.release, disk.url));
    }
    facts
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

#[test]
fn every_file_is_of_its_kind_or_refused_for_its_reason() {
    for (name, bytes) in files() {
        let exception = EXCEPTIONS.iter().find(|(file, _)| *file == name);
        let family = || FAMILIES.iter().find(|(family, _)| name.split('/').next() == Some(family));
        let (_, expected) =
            exception.or_else(family).unwrap_or_else(|| panic!("{name} is of no known family"));
        let found = match Document::read(&name, &bytes) {
            Ok(document) => document.kind().to_owned(),
            Err(error) => error.to_string().replace(&format!("{name}: "), "refused: "),
        };
        assert!(found.starts_with(expected), "{name}: expected {expected}, found {found}");
    }
}

#[test]
fn records_hold_what_a_second_reading_finds_and_nothing_else() {
    const FOLDER: &str = "https://example.com/builds/1/";
    for (name, record, value) in records() {
        let build = text(&value, "buildid");
        assert_eq!(record.build_id(), build, "{name}");
        assert_eq!(record.architecture(), value["coreos-assembler.basearch"].as_str(), "{name}");
        assert_eq!(record.base_uri(), value["baseURI"].as_str(), "{name}");
        let is_fedora = name.contains("/fcos-");
        assert_eq!(record.name(), Some(if is_fedora { "fedora-coreos" } else { "rhcos" }), "{name}");

        let folder = record.base_uri().unwrap_or(FOLDER).to_owned();
        let architecture = ["aarch64", "ppc64le", "s390x"].into_iter().find(|a| name.contains(a));
        let architecture =
            record.into_architecture(&name, &folder, architecture.unwrap_or("x86_64")).unwrap();
        let mut found = facts(&architecture);

        // Files: by location, because a file's place among the formats is compared elsewhere.
        let mut files = BTreeMap::new();
        for (_, release, _, _, artifact) in architecture.all_artifacts() {
            assert_eq!(release, build, "{name}");
            assert!(files.insert(artifact.location.clone(), artifact.clone()).is_none(), "{name}");
        }
        found
            .retain(|what, _| !what.contains(" disk ") && !what.contains(" pxe ") && !what.contains("-pxe "));
        let has_live_media = value["images"].get("live-iso").is_some();
        for (key, image) in value["images"].as_object().unwrap() {
            let is_old_medium = has_live_media && ["iso", "kernel", "initramfs"].contains(&key.as_str());
            if LEFT_OUT.contains(&key.as_str()) || is_old_medium {
                continue;
            }
            let location = format!("{folder}{}", text(image, "path"));
            let artifact = files.remove(&location).unwrap_or_else(|| panic!("{name}: no {location}"));
            assert_eq!(artifact.sha256, text(image, "sha256"), "{name}: {key}");
            let uncompressed = image["uncompressed-sha256"].as_str();
            assert_eq!(artifact.uncompressed_sha256.as_deref(), uncompressed, "{name}: {key}");
            let signature = is_fedora.then(|| format!("{location}.sig"));
            assert_eq!(artifact.signature, signature, "{name}: {key}");
        }
        assert_eq!(files.keys().collect::<Vec<_>>(), Vec::<&String>::new(), "{name}");

        // Images.
        let mut expected = Facts::new();
        let of_list = value["amis"].as_array().into_iter().flatten();
        let of_list = of_list.map(|ami| (text(ami, "name"), text(ami, "hvm")));
        let of_map = value["amis"].as_object().into_iter().flatten();
        let of_map = of_map.map(|(region, ami)| (region.as_str(), text(ami, "hvm")));
        for (region, ami) in of_list.chain(of_map) {
            expected.insert(format!("aws {region}"), format!("{build} {ami}"));
        }
        for image in value["aliyun"].as_array().into_iter().flatten() {
            expected
                .insert(format!("aliyun {}", text(image, "name")), format!("{build} {}", text(image, "id")));
        }
        if let Some(gcp) = value.get("gcp").filter(|gcp| gcp.get("project").is_some()) {
            let image =
                format!("{build} {} {} {}", text(gcp, "project"), text(gcp, "image"), text(gcp, "family"));
            expected.insert("gcp".to_owned(), image);
        }
        if let Some(azure) = value.get("azure") {
            expected.insert("azure-disk".to_owned(), format!("{build} {}", text(azure, "url")));
        }
        assert_eq!(found, expected, "{name}");
    }
}

/// The slots of each old file that no stream file ever had, spelled out.
#[test]
fn files_from_before_stream_metadata_have_formats_of_their_own() {
    let slots = |name: &str, architecture: &str| -> Option<BTreeSet<String>> {
        let bytes = file(name)?;
        let Document::Record(record) = Document::read(name, &bytes).unwrap() else { panic!("{name}") };
        let architecture = record.into_architecture(name, "https://b/", architecture).unwrap();
        let slot = |(platform, _, format, kind, _)| format!("{platform} {format} {kind}");
        Some(architecture.all_artifacts().map(slot).collect())
    };
    let expect = |name: &str, architecture: &str, expected: &[&str]| {
        if let Some(found) = slots(name, architecture) {
            let expected: BTreeSet<String> = expected.iter().map(|slot| (*slot).to_owned()).collect();
            assert_eq!(found, expected, "{name}");
        }
    };
    expect(
        "installer-legacy/rhcos-4.2-42.80.20191002.0.json",
        "x86_64",
        &[
            "aws vmdk disk",
            "azure vhd disk",
            "gcp tar disk",
            "metal bios.raw.gz disk",
            "metal installer-pxe initramfs",
            "metal installer-pxe kernel",
            "metal installer.iso disk",
            "metal uefi.raw.gz disk",
            "openstack qcow2 disk",
            "qemu qcow2 disk",
            "vmware ova disk",
        ],
    );
    expect(
        "installer-legacy/rhcos-4.2-s390x-42s390x.81.20191224.0.json",
        "s390x",
        &[
            "metal dasd.raw.gz disk",
            "metal installer-pxe initramfs",
            "metal installer-pxe kernel",
            "metal installer.iso disk",
            "metal zfcp.raw.gz disk",
            "openstack qcow2 disk",
            "qemu qcow2 disk",
        ],
    );
    expect(
        "installer-legacy/rhcos-4.6-s390x-46.82.202106161139-0.json",
        "s390x",
        &[
            "metal 4k.raw.gz disk",
            "metal dasd.raw.gz disk",
            "metal iso disk",
            "metal pxe initramfs",
            "metal pxe kernel",
            "metal pxe rootfs",
            "metal raw.gz disk",
            "openstack qcow2.gz disk",
            "qemu qcow2.gz disk",
        ],
    );
    // The keys are those of installer media, the files are live media.
    expect(
        "installer-legacy/fcos-stable-amd64-32.20200726.3.1.json",
        "x86_64",
        &[
            "aws vmdk.xz disk",
            "azure vhd.xz disk",
            "gcp tar.gz disk",
            "metal iso disk",
            "metal pxe initramfs",
            "metal pxe kernel",
            "metal raw.xz disk",
            "openstack qcow2.xz disk",
            "qemu qcow2.xz disk",
            "vmware ova disk",
        ],
    );
}

/// Upstream's translator made the stream file of another 4.13 build of the same weeks: every name must be the same, and
/// every location, once the build's id is taken out of it.
#[test]
fn a_4_13_record_has_the_platforms_formats_and_urls_of_a_4_13_stream() {
    let Some(bytes) = file("cosa-meta/rhcos-4.13-413.86.202212021619-0-x86_64.meta.json") else { return };
    let Document::Record(record) = Document::read("meta.json", &bytes).unwrap() else { panic!() };
    let record_build = record.build_id().to_owned();
    let folder = "https://rhcos.mirror.openshift.com/art/storage/prod/streams/4.13/builds/";
    let folder = format!("{folder}{record_build}/x86_64/");
    let ours = facts(&record.into_architecture("meta.json", &folder, "x86_64").unwrap());

    let bytes = file("stream-rhcos/rhcos-4.13-qemu-secex-format.json").unwrap();
    let stream = Stream::read("stream.json", &bytes).unwrap();
    let theirs = &stream.architectures["x86_64"];
    let theirs_build = theirs.build_name().unwrap().to_owned();
    let theirs = facts(theirs);

    // The record is from before the AMIs were copied to other regions.
    let is_region = |what: &str| {
        what.starts_with("aws ") && what.split(' ').count() == 2
            || what.starts_with("aliyun ") && what.split(' ').count() == 2
    };
    let regions =
        |facts: &Facts| facts.keys().filter(|what| is_region(what)).cloned().collect::<BTreeSet<_>>();
    assert!(regions(&ours).is_subset(&regions(&theirs)) && regions(&ours).contains("aws us-gov-west-1"));

    let comparable = |facts: &Facts, build: &str| -> Facts {
        let dashed = build.replace('.', "-");
        let same = |(what, value): (&String, &String)| {
            let value = if what.contains("sha256") {
                "sum".to_owned()
            } else {
                value.replace(build, "ID").replace(&dashed, "ID")
            };
            (what.clone(), value)
        };
        facts.iter().filter(|(what, _)| !is_region(what)).map(same).collect()
    };
    assert_eq!(comparable(&ours, &record_build), comparable(&theirs, &theirs_build));
}

/// No stream file of this build is known, so only names are compared, with a stream of five months later.
#[test]
fn a_record_of_fedora_has_formats_that_its_streams_have() {
    let Some(bytes) = file("cosa-meta/fcos-testing-devel-31.20200310.20.0.meta.json") else { return };
    let Document::Record(record) = Document::read("meta.json", &bytes).unwrap() else { panic!() };
    let ours = record.into_architecture("meta.json", "https://b/", "x86_64").unwrap();
    let bytes = file("stream-fcos/next-2020-08-11-two-releases.json").unwrap();
    let theirs = Stream::read("next.json", &bytes).unwrap();
    let slots = |architecture: &Architecture| -> BTreeSet<String> {
        let slot = |(platform, _, format, kind, artifact): (
            &str,
            &str,
            &str,
            &str,
            &coreos_pins_build::stream::Artifact,
        )| { format!("{platform} {format} {kind} {}", artifact.signature.is_some()) };
        architecture.all_artifacts().map(slot).collect()
    };
    let (ours, theirs) = (slots(&ours), slots(&theirs.architectures["x86_64"]));
    let only = |a: &BTreeSet<String>, b: &BTreeSet<String>| a.difference(b).cloned().collect::<Vec<_>>();
    // Upstream put a `live-rootfs` into this fixture later; the stream is from just before there was one.
    assert_eq!(only(&ours, &theirs), ["metal pxe rootfs true"]);
    let newer = ["digitalocean qcow2.gz disk true", "metal 4k.raw.xz disk true", "vultr raw.xz disk true"];
    assert_eq!(only(&theirs, &ours), newer);
}

#[test]
fn releases_hold_what_a_second_reading_finds_and_nothing_else() {
    for (name, bytes) in files() {
        let Ok(Document::Release(release)) = Document::read(&name, &bytes) else { continue };
        let value: Value = serde_json::from_slice(&bytes).unwrap();
        let build = text(&value, "release");
        assert_eq!(
            (release.release.as_str(), release.stream.stream.as_str()),
            (build, text(&value, "stream")),
            "{name}"
        );
        for (architecture, node) in value["architectures"].as_object().unwrap() {
            let mut expected = Facts::new();
            for (platform, medium) in node["media"].as_object().unwrap() {
                for (format, kinds) in medium["artifacts"].as_object().into_iter().flatten() {
                    for (kind, artifact) in kinds.as_object().unwrap() {
                        let mut add = |what: &str, value: &str| {
                            if !value.is_empty() {
                                expected
                                    .insert(format!("{platform} {format} {kind} {what}"), value.to_owned());
                            }
                        };
                        add("release", build);
                        for what in ["location", "sha256", "signature", "uncompressed-sha256"] {
                            add(what, text(artifact, what));
                        }
                    }
                }
                for (region, image) in medium["images"].as_object().into_iter().flatten() {
                    assert!(["aws", "aliyun"].contains(&platform.as_str()), "{name}: {platform}");
                    expected
                        .insert(format!("{platform} {region}"), format!("{build} {}", text(image, "image")));
                }
                if let Some(image) = medium.get("image") {
                    let fact = match platform.as_str() {
                        "gcp" => format!(
                            "{} {} {}",
                            text(image, "project"),
                            text(image, "name"),
                            text(image, "family")
                        ),
                        "kubevirt" => format!("{} {}", text(image, "image"), text(image, "digest-ref")),
                        other => panic!("{name}: {other}"),
                    };
                    expected.insert(platform.clone(), format!("{build} {fact}"));
                }
            }
            assert!(!expected.is_empty(), "{name}");
            assert_eq!(facts(&release.stream.architectures[architecture.as_str()]), expected, "{name}");
        }
    }
}

#[test]
fn a_release_index_keeps_upstreams_order_and_urls() {
    for (name, bytes) in files() {
        let Ok(Document::ReleaseIndex(index)) = Document::read(&name, &bytes) else { continue };
        let value: Value = serde_json::from_slice(&bytes).unwrap();
        let releases = value["releases"].as_array().unwrap();
        assert_eq!(index.stream.as_deref(), value["stream"].as_str(), "{name}");
        assert_eq!(index.releases.len(), releases.len(), "{name}");
        for (found, expected) in index.releases.iter().zip(releases) {
            assert_eq!(found.version, text(expected, "version"), "{name}");
            assert_eq!(found.metadata_url.as_deref(), expected["metadata"].as_str(), "{name}");
            let commits =
                expected["commits"].as_array().unwrap().iter().map(|commit| text(commit, "architecture"));
            assert_eq!(
                found.architectures,
                commits.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>(),
                "{name}"
            );
        }
    }
}

#[test]
fn a_build_list_keeps_upstreams_order_and_architectures() {
    let Some(bytes) = file("builds-json/cosa-1.0.0-test-literal.json") else { return };
    let Document::BuildList(list) = Document::read("builds.json", &bytes).unwrap() else { panic!() };
    assert!(list.has_architectures && list.tombstones.is_empty() && list.builds.len() == 1);
    assert_eq!(
        (list.builds[0].id.as_str(), list.builds[0].architectures.as_slice()),
        ("32.20201030.dev.0", ["x86_64".to_owned()].as_slice())
    );
}

#[test]
fn marketplace_files_are_merged_whole_into_the_architectures_that_are_there() {
    for (name, bytes) in files().into_iter().filter(|(name, _)| name.starts_with("marketplace/")) {
        let side: Value = serde_json::from_slice(&bytes).unwrap();
        let marketplace = MarketplaceFile::read(&name, &bytes).unwrap();
        let stream_bytes = file("stream-rhcos/coreos-rhel-9-9.8.20260403.json").unwrap();
        let before = Stream::read("stream.json", &stream_bytes).unwrap();
        let mut after = before.clone();
        marketplace.merge_into(&mut after);
        let printed: Value = serde_json::from_str(&after.to_text()).unwrap();
        for (architecture, node) in printed["architectures"].as_object().unwrap() {
            let merged = &node["rhel-coreos-extensions"]["marketplace"];
            assert_eq!(merged, &side[architecture], "{name}: {architecture}");
        }
        // And nothing else is touched.
        for (_, architecture) in after.architectures.iter_mut() {
            if let Some(extensions) = &mut architecture.extensions {
                extensions.marketplace = None;
            }
        }
        assert_eq!(after, before, "{name}");
    }
}

#[test]
fn the_assembler_of_each_record_is_known() {
    for (name, record, value) in records() {
        let git = &value["coreos-assembler.container-image-git"];
        let found = record.builder_git().map(|git| (git.commit, git.is_dirty));
        assert_eq!(found, git["commit"].as_str().map(|commit| (commit, git["dirty"] == "true")), "{name}");
    }
}

/// Unknown keys are ignored wherever upstream may add one.
#[test]
fn unknown_members_change_nothing() {
    fn sprinkle(value: &mut Value, is_keyed_by_name: bool) {
        match value {
            Value::Object(members) => {
                for (key, member) in members.iter_mut() {
                    let keyed =
                        ["images", "amis", "regions", "architectures", "media", "artifacts", "formats"];
                    sprinkle(member, keyed.contains(&key.as_str()));
                }
                if !is_keyed_by_name {
                    members.insert("x-unknown".to_owned(), serde_json::json!({"a": [1, null, {"b": true}]}));
                }
            }
            Value::Array(values) => values.iter_mut().for_each(|value| sprinkle(value, false)),
            _ => {}
        }
    }
    let read = |name: &str, bytes: &[u8]| -> Option<Vec<Facts>> {
        match Document::read(name, bytes).ok()? {
            Document::Record(record) => {
                let architecture = ["aarch64", "ppc64le", "s390x"].into_iter().find(|a| name.contains(a));
                let architecture =
                    record.into_architecture(name, "https://b/", architecture.unwrap_or("x86_64"));
                Some(vec![facts(&architecture.unwrap())])
            }
            Document::Release(release) => Some(release.stream.architectures.values().map(facts).collect()),
            Document::Stream(stream) => Some(stream.architectures.values().map(facts).collect()),
            Document::BuildList(list) => Some(vec![Facts::from([("list".to_owned(), format!("{list:?}"))])]),
            Document::ReleaseIndex(index) => {
                Some(vec![Facts::from([("index".to_owned(), format!("{index:?}"))])])
            }
        }
    };
    for (name, bytes) in files() {
        let Some(before) = read(&name, &bytes) else { continue };
        let mut value: Value = serde_json::from_slice(&bytes).unwrap();
        sprinkle(&mut value, false);
        assert_eq!(read(&name, &serde_json::to_vec(&value).unwrap()), Some(before), "{name}");
    }
}
