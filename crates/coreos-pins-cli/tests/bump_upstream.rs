//! `bump` of what upstream has, at a server on this machine: newest, by name, all at once.

mod harness;

use harness::server::Server;
use harness::{Folder, document};

const SHA: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const LOCAL: [&str; 2] = ["--allow-host", "127.0.0.1"];

const LIST: &str = r#"{ "schema-version": "1.0.0", "builds": [
    { "id": "9.2", "arches": ["x86_64", "aarch64"] }, { "id": "9.1", "arches": ["x86_64", "aarch64"] } ] }"#;

/// A record of `build` for `architecture`, with an AMI in each of `regions`.
fn record(build: &str, architecture: &str, regions: &[&str]) -> String {
    let amis: Vec<String> = regions
        .iter()
        .map(|region| format!(r#"{{ "name": "{region}", "hvm": "ami-{architecture}-{region}-{build}" }}"#))
        .collect();
    format!(
        r#"{{ "buildid": "{build}", "coreos-assembler.basearch": "{architecture}", "amis": [{}],
            "images": {{ "qemu": {{ "path": "x-{build}-qemu.{architecture}.qcow2.gz", "sha256": "{SHA}",
                                    "uncompressed-sha256": "{SHA}" }} }} }}"#,
        amis.join(", ")
    )
}

/// A channel `rhel` in the layout `builds` with builds 9.2 and 9.1, and a channel `stable` in the layout `stream`.
fn upstream() -> (Server, Folder) {
    let server = Server::start();
    server.put("/prod/rhel-9/builds/builds.json", LIST);
    for build in ["9.1", "9.2"] {
        for architecture in ["x86_64", "aarch64"] {
            let path = format!("/prod/rhel-9/builds/{build}/{architecture}/meta.json");
            server.put(&path, record(build, architecture, &["r-1", "r-2"]));
        }
    }
    server.put("/streams/stable.json", document("44.1"));
    let policy = format!(
        r#"{{ "version": 1, "default": "rhel", "channels": {{
            "rhel": {{ "base-url": "{0}/prod", "layout": "builds", "upstream": "rhel-9", "require": ["aws", "qemu"] }},
            "stable": {{ "base-url": "{0}", "layout": "stream" }},
            "held": {{ "base-url": "{0}", "layout": "stream", "hold": {{ "reason": "a bug" }} }},
            "devel": {{ "base-url": "{0}", "layout": "builds", "floats": true }} }} }}"#,
        server.base
    );
    let folder = Folder::new(&policy);
    (server, folder)
}

fn bump(folder: &Folder, arguments: &[&str]) -> harness::Run {
    folder.run_in("", &[&["bump"], arguments, &LOCAL].concat(), &[])
}

#[track_caller]
fn pin_9_1(folder: &Folder) {
    bump(folder, &["rhel", "--build", "9.1"]).said("rhel: pinned build 9.1\n");
}

#[test]
fn a_build_that_was_cleaned_up_is_said_to_be_and_not_pinned_where_that_is_required() {
    let (server, folder) = upstream();
    let cleaned =
        |what: &str| LIST.replace("\"9.1\",", &format!("\"9.1\", \"policy-cleanup\": {{ {what} }},"));
    server.put("/prod/rhel-9/builds/builds.json", cleaned("\"cloud-uploads\": true"));
    let run = bump(&folder, &["rhel", "--build", "9.1"]);
    assert_eq!((run.status, folder.pins().len()), (1, 1));
    assert!(
        run.stderr
            .starts_with("error: build `9.1` was cleaned up: `aws` is gone, which the channel requires\n"),
        "{}",
        run.stderr
    );
    server.put("/prod/rhel-9/builds/builds.json", cleaned("\"images-kept\": [\"qemu\", \"aws\"]"));
    let run = bump(&folder, &["rhel", "--build", "9.1"]);
    assert_eq!((run.status, run.stdout.as_str()), (0, "rhel: pinned build 9.1\n"));
    assert!(run.stderr.contains("of its files, only `qemu`, `aws` are left"), "{}", run.stderr);
}

#[test]
fn the_newest_build_is_pinned_once() {
    let (server, folder) = upstream();
    bump(&folder, &["rhel"]).said("rhel: pinned build 9.2\n");
    assert_eq!(
        server.requests(),
        [
            "GET /prod/rhel-9/builds/9.2/aarch64/meta.json",
            "GET /prod/rhel-9/builds/9.2/x86_64/meta.json",
            "GET /prod/rhel-9/builds/builds.json"
        ]
    );
    let pin = folder.read("pins/rhel.json");
    let base = &server.base;
    // The list is no source: it changes with every other build.
    assert_eq!(pin.matches("\"url\": ").count(), 2);
    assert!(pin.contains(&format!("{base}/prod/rhel-9/builds/9.2/x86_64/meta.json")), "{pin}");
    assert!(
        pin.contains(&format!("{base}/prod/rhel-9/builds/9.2/x86_64/x-9.2-qemu.x86_64.qcow2.gz")),
        "{pin}"
    );
    let before = folder.files();
    bump(&folder, &["rhel"]).said("rhel: up to date, build 9.2\n");
    assert!(folder.files() == before);
}

#[test]
fn a_build_that_is_named_is_pinned_with_its_own_direction() {
    let (server, folder) = upstream();
    pin_9_1(&folder);
    bump(&folder, &["rhel"]).said(
        "rhel: build 9.1 is now 9.2\n  aarch64 aws: 2 regions changed\n  x86_64 aws: 2 regions changed\n  aarch64: other \
         files under the same names: qemu\n  x86_64: other files under the same names: qemu\n",
    );
    server.put("/prod/rhel-9/builds/builds.json", LIST);
    let back = bump(&folder, &["rhel", "--build", "9.1"]);
    assert_eq!((back.status, back.stdout.as_str()), (1, ""));
    assert!(back.stderr.ends_with("pass --allow-downgrade\n"), "{}", back.stderr);
    // By the place in upstream's list, whatever the numbers say.
    server.put(
        "/prod/rhel-9/builds/builds.json",
        r#"{ "schema-version": "1.0.0", "builds": [ { "id": "9.1", "arches": ["x86_64", "aarch64"] },
             { "id": "9.2", "arches": ["x86_64", "aarch64"] } ] }"#,
    );
    assert_eq!(bump(&folder, &["rhel", "--build", "9.1"]).status, 0);
}

#[test]
fn a_build_that_is_not_there_says_what_there_is() {
    let (_server, folder) = upstream();
    let run = bump(&folder, &["rhel", "--build", "9.3"]);
    assert_eq!((run.status, run.stdout.as_str()), (1, ""));
    assert!(
        run.stderr.starts_with("error: no build `9.3` in channel `rhel` (asked for by --build)\n"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("nearest `9.2`, `9.1`; newest `9.2`, `9.1` (2 builds)\n"), "{}", run.stderr);
    assert_eq!(folder.pins(), ["channels.json"]);
}

#[test]
fn a_newest_build_that_is_not_complete_is_refused_and_no_older_one_takes_its_place() {
    for (what, text) in [
        ("no AMIs", record("9.2", "x86_64", &[])),
        ("no list of AMIs", record("9.2", "x86_64", &[]).replace("\"amis\": [],", "")),
        ("no qcow2", record("9.2", "x86_64", &["r-1"]).replace("\"qemu\"", "\"openstack\"")),
    ] {
        let (server, folder) = upstream();
        pin_9_1(&folder);
        let before = folder.files();
        server.put("/prod/rhel-9/builds/9.2/x86_64/meta.json", text);
        let run = bump(&folder, &["rhel"]);
        assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{what}");
        assert!(run.stderr.contains("it lacks what the channel requires: "), "{what}: {}", run.stderr);
        assert!(folder.files() == before, "{what}");
    }
}

#[test]
fn a_listed_architecture_that_does_not_answer_stops_the_bump() {
    let (server, folder) = upstream();
    server.remove("/prod/rhel-9/builds/9.2/aarch64/meta.json");
    let run = bump(&folder, &["rhel"]);
    assert_eq!((run.status, run.stdout.as_str()), (1, ""));
    assert!(
        run.stderr.contains("the newest build `9.2` is listed, but not all of it is there"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.ends_with("help: name an older build with --build\n"), "{}", run.stderr);
    server.answer("/prod/rhel-9/builds/9.2/aarch64/meta.json", 401, "");
    let run = bump(&folder, &["rhel"]);
    assert_eq!((run.status, run.stdout.as_str()), (3, ""), "{}", run.stderr);
    assert_eq!(folder.pins(), ["channels.json"]);
}

#[test]
fn all_channels_are_bumped_or_none() {
    let (server, folder) = upstream();
    let run = bump(&folder, &["--all"]);
    assert_eq!((run.status, run.stdout.as_str()), (0, "rhel: pinned build 9.2\nstable: pinned build 44.1\n"));
    assert_eq!(run.stderr, "skipped: channel `held` is on hold: a bug\n");
    let before = folder.files();
    // One is newer, the other broken.
    server.put("/streams/stable.json", document("44.2"));
    server.answer("/prod/rhel-9/builds/builds.json", 401, "");
    assert_eq!(bump(&folder, &["stable", "rhel"]).status, 3);
    assert!(folder.files() == before);
    // One is newer, the other would be refused.
    server.put(
        "/prod/rhel-9/builds/builds.json",
        r#"{ "builds": [ { "id": "9.1", "arches": ["x86_64", "aarch64"] } ] }"#,
    );
    assert_eq!(bump(&folder, &["stable", "rhel"]).status, 1);
    assert!(folder.files() == before);
    let named = bump(&folder, &["stable", "held"]);
    assert_eq!(
        (named.status, named.stderr.starts_with("error: channel `held` is on hold: a bug\n")),
        (1, true)
    );
    assert!(folder.files() == before);
    let devel = bump(&folder, &["devel"]);
    assert_eq!((devel.status, devel.stderr.starts_with("error: channel `devel` floats")), (1, true));
}

#[test]
fn a_trial_says_what_would_be_and_writes_nothing() {
    let (server, folder) = upstream();
    let run = bump(&folder, &["stable", "--dry-run"]);
    assert_eq!((run.status, run.stdout.as_str()), (1, "stable: would be pinned: build 44.1\n"));
    assert_eq!(folder.pins(), ["channels.json"]);
    bump(&folder, &["stable"]).said("stable: pinned build 44.1\n");
    bump(&folder, &["stable", "--dry-run"]).said("stable: up to date, build 44.1\n");
    bump(&folder, &["stable", "--check"]).said("stable: up to date, build 44.1\n");
    server.put("/streams/stable.json", document("44.2"));
    let before = folder.files();
    let run = bump(&folder, &["stable", "--dry-run"]);
    assert_eq!(run.status, 1);
    assert!(
        run.stdout.starts_with("stable: build 44.1 would be 44.2\n  aarch64 aws: 1 region changed\n"),
        "{}",
        run.stdout
    );
    let run = bump(&folder, &["stable", "--check"]);
    assert_eq!((run.status, run.stdout.as_str()), (1, "stable: build 44.1 would be 44.2\n"));
    server.put("/streams/stable.json", document("44.0"));
    let run = bump(&folder, &["stable", "--check"]);
    assert_eq!((run.status, run.stdout.as_str()), (1, ""), "would be refused");
    assert!(folder.files() == before);
    // Only the form.
    server.put("/streams/stable.json", document("44.1"));
    folder.write("pins/stable.json", &folder.read("pins/stable.json").replace('\n', "\r\n"));
    let run = bump(&folder, &["stable", "--check"]);
    assert_eq!(
        (run.status, run.stdout.as_str()),
        (1, "stable: still build 44.1, its pin would be written anew\n")
    );
}

#[test]
fn the_summary_for_a_pull_request_has_builds_regions_and_the_command() {
    let (server, folder) = upstream();
    bump(&folder, &["stable"]).said("stable: pinned build 44.1\n");
    server.put("/streams/stable.json", document("44.2").replace("us-west-1", "us-west-2"));
    let run = bump(&folder, &["stable", "--markdown", "--allow-loss"]);
    assert_eq!(
        (run.status, run.stdout.as_str(), run.stderr.as_str()),
        (
            0,
            "### stable: build `44.1` → `44.2`\n\n\
             | architecture | platform | added | removed | changed |\n|---|---|---|---|---|\n\
             | aarch64 | aws | – | – | 1 region |\n\
             | x86_64 | aws | 1 region: us-west-2 | 1 region: us-west-1 | 1 region |\n\n\
             Other files under the same names, x86_64: qemu.\n\n\
             Made by `coreos-pins bump stable --allow-loss --allow-host 127.0.0.1`.\n",
            ""
        )
    );
}

#[test]
fn dead_ends_and_barriers_are_warned_of() {
    let (server, folder) = upstream();
    server.put(
        "/updates/stable.json",
        r#"{ "stream": "stable", "releases": [ { "version": "44.1", "metadata": {
            "deadend": { "reason": "https://example.com/why" } } } ] }"#,
    );
    let run = bump(&folder, &["stable"]);
    assert_eq!((run.status, run.stdout.as_str()), (0, "stable: pinned build 44.1\n"));
    assert_eq!(
        run.stderr,
        "warning: channel `stable`: build `44.1` is a dead end: no update leads away from it (https://example.com/why)\n"
    );
    assert_eq!(server.requests(), ["GET /streams/stable.json", "GET /updates/stable.json"]);
}

#[test]
fn a_url_is_a_document_to_pin_and_is_its_source() {
    let (server, folder) = upstream();
    let release = document("44.5").replace("\"stream\"", "\"release\": \"44.5\", \"stream\"");
    let media = r#""x86_64": { "media": { "qemu": { "artifacts": { "qcow2.xz": { "disk": {
        "location": "https://example.com/q", "sha256": "SHA" } } } } } }"#;
    let start = release.find("\"x86_64\"").unwrap();
    let release = format!("{}{} }} }}", &release[..start], media.replace("SHA", SHA));
    server.put("/r/release.json", release);
    let url = format!("{}/r/release.json", server.base);
    bump(&folder, &["stable", "--from", &url]).said("stable: pinned build 44.5\n");
    assert!(folder.pin().contains(&format!("\"url\": \"{url}\"")));
    let url = format!("{}/prod/rhel-9/builds/9.2/x86_64/meta.json", server.base);
    bump(&folder, &["rhel", "--from", &url]).said("rhel: pinned build 9.2\n");
    // A record's files lie beside where it is published.
    folder.write("meta.json", &record("9.1", "x86_64", &["r-1"]));
    let arguments = ["rhel", "--from", "meta.json", "--published-at", "https://example.com/9.1/meta.json"];
    let run = bump(&folder, &[&arguments[..], &["--allow-downgrade", "--allow-loss"]].concat());
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(folder.read("pins/rhel.json").contains("https://example.com/9.1/x-9.1-qemu.x86_64.qcow2.gz"));
    server.requests();
    let both = bump(&folder, &["rhel", "--from", &url, "--published-at", "https://example.com/x"]);
    assert_eq!((both.status, server.requests().len()), (2, 0));
}

#[test]
fn marketplace_images_are_merged_in_where_the_policy_says() {
    let (server, folder) = upstream();
    let image = r#"{ "x86_64": { "azure": { "ocp": { "hyperVGen2":
        { "publisher": "redhat", "offer": "rh-ocp", "sku": "s", "version": "9.2.1" } } } } }"#;
    server.put("/marketplace.json", image);
    let with = |place: &str| {
        let policy = folder.read("pins/channels.json");
        folder.write(
            "pins/channels.json",
            &policy.replace("\"upstream\"", &format!("\"marketplace\": \"{place}\", \"upstream\"")),
        );
        let run = bump(&folder, &["rhel"]);
        folder.write("pins/channels.json", &policy);
        run
    };
    let url = format!("{}/marketplace.json", server.base);
    with(&url).said("rhel: pinned build 9.2\n");
    let pin = folder.read("pins/rhel.json");
    assert!(pin.contains("\"sku\": \"s\"") && pin.contains(&format!("\"url\": \"{url}\"")), "{pin}");
    folder.write("pins/side/market.json", image);
    with("side/market.json").said("rhel: still build 9.2, its pin written anew\n");
    let missing = with(&format!("{}/nothing.json", server.base));
    assert_eq!(missing.status, 1, "{}", missing.stderr);
    assert!(missing.stderr.contains("channels.rhel.marketplace"), "{}", missing.stderr);
}

#[test]
fn a_developers_override_gets_into_no_pin() {
    let (_server, folder) = upstream();
    let env = [
        ("BASE_URL", "http://127.0.0.1:1"),
        ("BUILD_NAME", "1"),
        ("DEFAULT_CHANNEL", "x"),
        ("RELEASE_IMAGE", "y"),
    ];
    folder.run_in("", &["bump", "rhel", "--allow-host", "127.0.0.1"], &env).said("rhel: pinned build 9.2\n");
}
