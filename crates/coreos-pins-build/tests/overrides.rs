//! Builds that the variables ask for: every row of the table, in every layout, from a mirror on disk.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use coreos_pins_build::Error;
use coreos_pins_build::pins::Pins;
use coreos_pins_build::resolve::{Origin, Resolved, resolve};
use coreos_pins_build::settings::{Network, Settings};
use coreos_pins_build::source::Source;

const SHA: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// A mirror and a pins folder.
struct World {
    dir: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let world = Self { dir: tempfile::tempdir().expect("a temporary folder") };
        fs::create_dir_all(world.path("pins")).expect("a pins folder");
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> &Self {
        fs::create_dir_all(self.path(name).parent().expect("a folder")).expect("a folder");
        fs::write(self.path(name), text).expect("a file");
        self
    }

    fn base(&self, folder: &str) -> String {
        format!("file://{}", self.path(folder).display())
    }

    fn resolve(&self, variables: &[(&str, &str)]) -> Result<Resolved, Error> {
        let settings = Settings::from_variables(variables.iter().map(|(n, v)| ((*n).into(), (*v).into())))?;
        let pins = Pins::load(Path::new(&self.path("pins")))?;
        resolve(&settings, pins, || Ok(Source::new(&Network::default())))
    }

    #[track_caller]
    fn refusal(&self, variables: &[(&str, &str)]) -> Vec<String> {
        let here = self.base("");
        let error = self.resolve(variables).expect_err("a refusal");
        error.lines().map(|line| line.replace(here.trim_end_matches('/'), "BASE")).collect()
    }
}

/// A build record of 2018: no architecture, a list of AMIs.
fn record_2018(build: &str, ami: &str) -> String {
    format!(
        r#"{{ "buildid": "{build}", "ostree-version": "{build}", "amis": [ {{ "name": "us-east-1", "hvm": "{ami}" }} ],
            "images": {{ "qemu": {{ "path": "redhat-coreos-maipo-{build}-qemu.qcow2", "sha256": "{SHA}",
                                    "size": "674214400" }} }} }}"#
    )
}

/// A build record of today.
fn record(build: &str, architecture: &str, ami: &str) -> String {
    format!(
        r#"{{ "buildid": "{build}", "name": "rhcos", "coreos-assembler.basearch": "{architecture}",
            "amis": [ {{ "name": "us-east-1", "hvm": "{ami}", "snapshot": "snap-1" }} ],
            "images": {{ "qemu": {{ "path": "rhcos-{build}-qemu.{architecture}.qcow2.gz", "sha256": "{SHA}",
                                    "uncompressed-sha256": "{SHA}", "size": 1 }} }} }}"#
    )
}

fn stream(build: &str, ami: &str, base: &str) -> String {
    format!(
        r#"{{ "stream": "stable", "architectures": {{ "x86_64": {{
            "artifacts": {{ "qemu": {{ "release": "{build}", "formats": {{ "qcow2.gz": {{ "disk": {{
                "location": "{base}/rhel-9/builds/{build}/x86_64/rhcos-{build}-qemu.x86_64.qcow2.gz",
                "sha256": "{SHA}", "uncompressed-sha256": "{SHA}" }} }} }} }} }},
            "images": {{ "aws": {{ "regions": {{ "us-east-1": {{ "release": "{build}", "image": "{ami}" }} }} }} }} }} }} }}"#
    )
}

/// (origin, base URL, builds, AMI in us-east-1 of the first architecture, qcow2 URL) of the default channel.
fn chosen(resolved: &Resolved) -> (Origin, String, String, String, String) {
    let channel = &resolved.channels[&resolved.default];
    let (_, architecture) = channel.pin.stream.architectures.iter().next().unwrap();
    let ami = architecture.images.as_ref().unwrap().aws.as_ref().unwrap().regions["us-east-1"].image.clone();
    let url = architecture.all_artifacts().next().unwrap().4.location.clone();
    let builds: Vec<String> =
        channel.pin.stream.build_names().iter().map(|(name, build)| format!("{name}={build}")).collect();
    (channel.origin, channel.base_url.clone(), builds.join(","), ami, url)
}

fn maipo() -> World {
    let world = World::new();
    let ids: Vec<String> = (30..60).rev().map(|n| format!("\"47.{n}\"")).collect();
    world.write("m/maipo/builds.json", &format!("{{ \"builds\": [ {} ] }}", ids.join(", ")));
    world.write("m/maipo/47.33/meta.json", &record_2018("47.33", "ami-33"));
    world.write("m/maipo/47.59/meta.json", &record_2018("47.59", "ami-59"));
    world
}

#[test]
fn a_named_build_of_2018_needs_its_record_only() {
    let world = maipo();
    fs::remove_file(world.path("m/maipo/builds.json")).unwrap();
    let base = world.base("m");
    let resolved = world.resolve(&[("BASE_URL", &base), ("BUILD_NAME", "47.33")]).unwrap();
    let url = format!("{base}/maipo/47.33/redhat-coreos-maipo-47.33-qemu.qcow2");
    assert_eq!(chosen(&resolved), (Origin::Named, base, "x86_64=47.33".into(), "ami-33".into(), url));
    assert_eq!(resolved.documents.len(), 1);
    assert_eq!(resolved.warnings.len(), 1);
    assert!(
        resolved.warnings[0].starts_with("channel `maipo`: build `47.33` at file:///"),
        "{:?}",
        resolved.warnings
    );
}

#[test]
fn the_newest_build_is_the_first_of_the_list_and_takes_two_documents() {
    let world = maipo();
    let base = world.base("m");
    for build_name in ["", "latest"] {
        let resolved = world.resolve(&[("BASE_URL", &base), ("BUILD_NAME", build_name)]).unwrap();
        let (origin, _, builds, ami, _) = chosen(&resolved);
        assert_eq!((origin, builds.as_str(), ami.as_str()), (Origin::Latest, "x86_64=47.59", "ami-59"));
        assert_eq!(resolved.documents.len(), 2);
    }
}

#[test]
fn a_build_that_is_not_there_is_explained_by_its_list() {
    let world = maipo();
    let base = world.base("m");
    let lines = world.refusal(&[("BASE_URL", &base), ("BUILD_NAME", "47.333")]);
    assert_eq!(lines[0], "no build `47.333` in channel `maipo` (asked for by BASE_URL and BUILD_NAME)");
    assert_eq!(lines[1], "looked at BASE/m/maipo/47.333/meta.json: no such file");
    assert!(
        lines.contains(
            &"nearest `47.33`, `47.53`; newest `47.59`, `47.58`, `47.57`, `47.56`, `47.55`, `47.54`, \
                             `47.53`, `47.52`, `47.51`, `47.50`, … (30 builds)"
                .to_owned()
        ),
        "{lines:#?}"
    );
    assert!(lines.last().unwrap().starts_with("help: "), "{lines:#?}");

    // The list may be missing, too.
    fs::remove_file(world.path("m/maipo/builds.json")).unwrap();
    let lines = world.refusal(&[("BASE_URL", &base), ("BUILD_NAME", "47.333")]);
    assert!(
        lines.contains(&"no list of builds is there: the channel may be another".to_owned()),
        "{lines:#?}"
    );
}

/// A channel of today: pinned by a stream document, its records at `m`.
fn rhel_9() -> World {
    let world = World::new();
    let policy = r#"{ "version": 1, "default": "rhel", "channels": { "rhel": {
        "base-url": "https://files.example/streams", "layout": "builds", "upstream": "rhel-9",
        "architectures": ["x86_64", "aarch64"] } } }"#;
    world.write("pins/channels.json", policy);
    let pin = stream("9.1", "ami-1", "https://files.example/streams");
    world.write("pins/rhel.json", &pin);
    world.write("m/rhel-9/builds/9.1/x86_64/meta.json", &record("9.1", "x86_64", "ami-1"));
    world.write("m/rhel-9/builds/9.2/x86_64/meta.json", &record("9.2", "x86_64", "ami-2"));
    world.write("m/rhel-9/builds/9.2/aarch64/meta.json", &record("9.2", "aarch64", "ami-a"));
    let list = r#"{ "schema-version": "1.0.0", "builds": [
        { "id": "9.2", "arches": ["x86_64", "aarch64", "s390x"] }, { "id": "9.1", "arches": ["x86_64"] } ] }"#;
    world.write("m/rhel-9/builds/builds.json", list);
    world
}

#[test]
fn every_row_of_the_table_has_its_build_and_origin() {
    let world = rhel_9();
    let base = world.base("m");
    let pinned_url = "https://files.example/streams/rhel-9/builds/9.1/x86_64/rhcos-9.1-qemu.x86_64.qcow2.gz";
    let mirror_url = format!("{base}/rhel-9/builds/9.1/x86_64/rhcos-9.1-qemu.x86_64.qcow2.gz");
    let both = "aarch64=9.2,x86_64=9.2";
    for (variables, origin, builds, ami, url) in [
        (vec![], Origin::Pinned, "x86_64=9.1", "ami-1", Some(pinned_url)),
        (vec![("BUILD_NAME", "9.1")], Origin::Pinned, "x86_64=9.1", "ami-1", Some(pinned_url)),
        (vec![("BASE_URL", &*base)], Origin::Named, "x86_64=9.1", "ami-1", Some(&*mirror_url)),
        (
            vec![("BASE_URL", &*base), ("BUILD_NAME", "9.1")],
            Origin::Named,
            "x86_64=9.1",
            "ami-1",
            Some(&*mirror_url),
        ),
        (vec![("BASE_URL", &*base), ("BUILD_NAME", "9.2")], Origin::Named, both, "ami-a", None),
        (
            vec![("BASE_URL", &*base), ("BUILD_NAME", "x86_64=9.2")],
            Origin::Named,
            "x86_64=9.2",
            "ami-2",
            None,
        ),
        (vec![("BASE_URL", &*base), ("BUILD_NAME", "latest")], Origin::Latest, both, "ami-a", None),
    ] {
        let resolved = world.resolve(&variables).unwrap_or_else(|error| panic!("{variables:?}: {error}"));
        let found = chosen(&resolved);
        assert_eq!((found.0, found.2.as_str(), found.3.as_str()), (origin, builds, ami), "{variables:?}");
        assert!(url.is_none_or(|url| found.4 == url), "{found:?}");
        let expected = if variables.iter().any(|(name, _)| *name == "BASE_URL") { &base } else { "" };
        let policy_base = if expected.is_empty() { "https://files.example/streams" } else { expected };
        assert_eq!(found.1, policy_base, "{variables:?}");
        assert_eq!(resolved.warnings.is_empty(), origin == Origin::Pinned, "{:?}", resolved.warnings);
    }
}

#[test]
fn a_mirror_that_differs_stops_the_build_with_each_difference() {
    let world = rhel_9();
    let base = world.base("m");
    let other = record("9.1", "x86_64", "ami-9").replacen(SHA, &SHA.replace('0', "f"), 1);
    world.write("m/rhel-9/builds/9.1/x86_64/meta.json", &other);
    let lines = world.refusal(&[("BASE_URL", &base)]);
    assert_eq!(lines[0], "BASE/m has another build than the pin of channel `rhel` (asked for by BASE_URL)");
    let expected =
        format!("x86_64 qemu qcow2.gz disk sha256: pinned is `{SHA}`, found `{}`", SHA.replace('0', "f"));
    assert!(lines.contains(&expected), "{lines:#?}");
    assert!(
        lines.contains(&"x86_64 aws us-east-1: pinned is `ami-1`, found `ami-9`".to_owned()),
        "{lines:#?}"
    );
    assert_eq!(lines.last().unwrap(), "help: unset BASE_URL to build from the committed pin");
}

#[test]
fn an_architecture_that_was_asked_for_by_name_must_be_there() {
    let world = rhel_9();
    let base = world.base("m");
    let lines = world.refusal(&[("BASE_URL", &base), ("BUILD_NAME", "x86_64=9.1,aarch64=9.1")]);
    assert_eq!(
        lines[0],
        "no build `aarch64=9.1,x86_64=9.1` in channel `rhel` (asked for by BASE_URL and BUILD_NAME)"
    );
    assert!(lines.contains(&"looked at BASE/m/rhel-9/builds/9.1/aarch64/meta.json: no such file".to_owned()));
}

#[test]
fn the_newest_build_must_have_what_its_list_says_and_what_the_policy_requires() {
    let world = rhel_9();
    let base = world.base("m");
    let latest = [("BASE_URL", base.as_str()), ("BUILD_NAME", "latest")];
    fs::remove_file(world.path("m/rhel-9/builds/9.2/aarch64/meta.json")).unwrap();
    let lines = world.refusal(&latest);
    assert!(lines[0].contains("the newest build `9.2` is listed, but not all of it is there"), "{lines:#?}");

    let world = rhel_9();
    let base = world.base("m");
    let latest = [("BASE_URL", base.as_str()), ("BUILD_NAME", "latest")];
    let list = fs::read_to_string(world.path("m/rhel-9/builds/builds.json")).unwrap();
    let cleaned =
        list.replacen(r#""id": "9.2","#, r#""id": "9.2", "policy-cleanup": { "cloud-uploads": true },"#, 1);
    world.write("m/rhel-9/builds/builds.json", &cleaned);
    let warnings = world.resolve(&latest).unwrap().warnings;
    assert!(
        warnings.iter().any(|line| line.contains("was cleaned up: its cloud images are deleted")),
        "{warnings:?}"
    );
    let policy = fs::read_to_string(world.path("pins/channels.json")).unwrap();
    world.write("pins/channels.json", &policy.replace("\"layout\"", "\"require\": [\"aws\"], \"layout\""));
    let lines = world.refusal(&latest);
    assert!(lines[0].contains("build `9.2` was cleaned up: `aws` is gone"), "{lines:#?}");
}

#[test]
fn a_record_of_another_build_or_architecture_is_refused() {
    let world = rhel_9();
    let base = world.base("m");
    let named = [("BASE_URL", base.as_str()), ("BUILD_NAME", "x86_64=9.2")];
    world.write("m/rhel-9/builds/9.2/x86_64/meta.json", &record("9.1", "x86_64", "ami-1"));
    assert!(world.refusal(&named).iter().any(|line| line.ends_with("expected build `9.2`, found `9.1`")));
    world.write("m/rhel-9/builds/9.2/x86_64/meta.json", &record("9.2", "s390x", "ami-1"));
    let lines = world.refusal(&named);
    assert!(
        lines.iter().any(|line| line.ends_with("expected the record of `x86_64`, found that of `s390x`")),
        "{lines:#?}"
    );
}

#[test]
fn a_base_that_is_a_document_is_the_build_that_is_asked_for_or_refused() {
    let world = rhel_9();
    let mirror = world.base("m");
    world.write("doc/stream.json", &stream("9.1", "ami-1", &mirror));
    world.write("doc/meta.json", &record("9.2", "x86_64", "ami-2"));
    let (document, meta) = (world.base("doc/stream.json"), world.base("doc/meta.json"));
    let found = chosen(&world.resolve(&[("BASE_URL", &meta), ("BUILD_NAME", "9.2")]).unwrap());
    assert_eq!((found.0, found.2.as_str(), found.3.as_str()), (Origin::Named, "x86_64=9.2", "ami-2"));
    assert_eq!(found.4, format!("{}/rhcos-9.2-qemu.x86_64.qcow2.gz", world.base("doc")));
    let lines = world.refusal(&[("BASE_URL", &document), ("BUILD_NAME", "9.7")]);
    assert!(lines[0].ends_with("doc/stream.json: expected build `9.7`, found `9.1`"), "{lines:#?}");
}

#[test]
fn the_stream_layout_reads_a_release_for_a_name_and_the_stream_for_the_newest() {
    let world = World::new();
    world.write(
        "pins/channels.json",
        r#"{ "version": 1, "default": "stable", "channels": { "stable": { "layout": "stream" } } }"#,
    );
    let media = format!(
        r#"{{ "aws": {{ "artifacts": {{}}, "images": {{ "us-east-1": {{ "image": "ami-5" }} }} }},
            "qemu": {{ "artifacts": {{ "qcow2.xz": {{ "disk": {{ "location": "https://f.example/q", "sha256": "{SHA}",
                "signature": "", "uncompressed-sha256": null }} }} }} }} }}"#
    );
    let release = format!(
        r#"{{ "release": "44.5", "stream": "stable", "architectures": {{ "x86_64": {{ "media": {media} }} }} }}"#
    );
    world.write("m/prod/streams/stable/builds/44.5/release.json", &release);
    world.write("m/streams/stable.json", &stream("44.6", "ami-6", "https://f.example"));
    world.write(
        "m/prod/streams/stable/releases.json",
        r#"{ "stream": "stable", "releases": [ { "version": "44.4" }, { "version": "44.5" }, { "version": "44.6" } ] }"#,
    );
    let base = world.base("m");
    let named = chosen(&world.resolve(&[("BASE_URL", &base), ("BUILD_NAME", "44.5")]).unwrap());
    assert_eq!((named.0, named.2.as_str(), named.3.as_str()), (Origin::Named, "x86_64=44.5", "ami-5"));
    let newest = chosen(&world.resolve(&[("BASE_URL", &base)]).unwrap());
    assert_eq!((newest.0, newest.2.as_str(), newest.3.as_str()), (Origin::Latest, "x86_64=44.6", "ami-6"));
    let lines = world.refusal(&[("BASE_URL", &base), ("BUILD_NAME", "44.7")]);
    assert!(
        lines.iter().any(|line| line.ends_with("newest `44.6`, `44.5`, `44.4` (3 builds)")),
        "{lines:#?}"
    );
}

#[test]
fn names_that_would_lead_out_of_the_base_are_refused() {
    let world = maipo();
    let base = world.base("m/maipo");
    for name in ["../47.33", "..", "a/../../b"] {
        let lines = world.refusal(&[("BASE_URL", &base), ("BUILD_NAME", name), ("DEFAULT_CHANNEL", "maipo")]);
        assert!(lines.iter().any(|line| line.contains("would lead elsewhere")), "{lines:#?}");
    }
}

#[test]
fn without_the_network_an_override_stops_at_once_and_says_why() {
    let world = rhel_9();
    let lines = world.refusal(&[("BUILD_NAME", "9.2")]);
    assert_eq!(lines[0], "build `9.2` of channel `rhel` could not be looked up (asked for by BUILD_NAME)");
    let feature = cfg!(feature = "fetch");
    assert!(feature || lines[1].ends_with("needs the network, and feature `fetch` is off"), "{lines:#?}");
    assert_eq!(lines.last().unwrap(), "help: unset BUILD_NAME to build from the committed pin");
}

#[test]
fn other_channels_are_embedded_from_their_pins_whatever_is_overridden() {
    let world = rhel_9();
    world.write("pins/next.json", &stream("1.0", "ami-n", "https://f.example"));
    let base = world.base("m");
    let resolved = world.resolve(&[("BASE_URL", &base), ("BUILD_NAME", "9.2")]).unwrap();
    let origins: BTreeMap<&str, Origin> =
        resolved.channels.iter().map(|(name, c)| (name.as_str(), c.origin)).collect();
    assert_eq!(origins, BTreeMap::from([("next", Origin::Pinned), ("rhel", Origin::Named)]));
    assert_ne!(resolved.pins_sha256(), world.resolve(&[]).unwrap().pins_sha256());
}

#[test]
fn a_sealed_build_says_which_variables_it_does_not_read() {
    let world = World::new();
    world.write("pins/stable.json", &stream("1", "ami-1", "https://example.com"));
    world.write("pins/channels.json", r#"{ "version": 1, "channels": { "maipo": {} } }"#);
    let errors = world.refusal(&[("DEFAULT_CHANNEL", "stable"), ("COREOS_PINS_BUILD_NAME", "")]);
    assert_eq!(
        errors[errors.len() - 2],
        "DEFAULT_CHANNEL is not read, because a variable with the prefix `COREOS_PINS_` is there"
    );
    assert!(errors[errors.len() - 1].starts_with("help: "), "{errors:#?}");
    assert!(world.resolve(&[("DEFAULT_CHANNEL", "stable")]).is_ok());
}

#[test]
fn two_ids_by_architecture_do_not_bring_the_architecture_of_the_other() {
    let world = World::new();
    world.write("m/maipo/builds.json", r#"{ "builds": [ "9.3", "9.2" ] }"#);
    world.write("m/maipo/9.2/meta.json", &record("9.2", "aarch64", "ami-a"));
    world.write("m/maipo/9.3/meta.json", &record("9.3", "x86_64", "ami-x"));
    let base = world.base("m");
    let swapped = world.refusal(&[("BASE_URL", &base), ("BUILD_NAME", "x86_64=9.2,aarch64=9.3")]);
    assert!(
        swapped.iter().any(|line| line.contains("expected the record of `x86_64`, found that of `aarch64`")),
        "{swapped:#?}"
    );
    assert!(world.resolve(&[("BASE_URL", &base), ("BUILD_NAME", "aarch64=9.2,x86_64=9.3")]).is_ok());
}
