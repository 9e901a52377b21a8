//! `show`, `diff` and `builds`: what a person reads, and what a script gets.

mod harness;

use harness::server::Server;
use harness::{Folder, POLICY, Run, document};
use serde_json::{Value, json};

/// `stable` at 44.1, and `testing` at 44.2 where an AMI, a region and the qcow2 are others.
fn two_channels() -> Folder {
    let folder = Folder::new(&POLICY.replacen(
        "\"stable\": {",
        r#""testing": { "base-url": "https://example.com" }, "devel": { "floats": true }, "stable": {"#,
        1,
    ));
    folder.bump(&document("44.1")).said("stable: pinned build 44.1\n");
    let other = document("44.2").replace("ami-2", "ami-9").replace(
        "\"us-east-1\": { \"release\": \"44.2\", \"image\": \"ami-3\" }",
        "\"us-gov-1\": { \"release\": \"44.2\", \"image\": \"ami-4\" }",
    );
    folder.write("other.json", &other);
    folder
        .run_in(
            "",
            &["bump", "testing", "--from", "other.json", "--published-at", "https://example.com/o.json"],
            &[],
        )
        .said("testing: pinned build 44.2\n");
    folder
}

fn json_of(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).expect("JSON")
}

#[test]
fn all_channels_are_shown_with_build_and_standing() {
    let folder = two_channels();
    folder.run_in("", &["show"], &[]).said(
        "CHANNEL  BUILD       ARCHITECTURES   NOTES\n\
         devel    not pinned                  floats\n\
         stable   44.1        aarch64 x86_64  default\n\
         testing  44.2        aarch64 x86_64\n",
    );
    let value = json_of(&folder.run_in("", &["show", "--json"], &[]));
    assert_eq!(value["version"], 1);
    let names: Vec<&str> =
        value["channels"].as_array().unwrap().iter().map(|c| c["channel"].as_str().unwrap()).collect();
    assert_eq!(names, ["devel", "stable", "testing"]);
    assert_eq!(value["channels"][1]["default"], true);
    assert_eq!(value["channels"][1]["builds"], json!({ "aarch64": "44.1", "x86_64": "44.1" }));
    assert_eq!(value["channels"][0]["build"], Value::Null);
}

#[test]
fn one_value_comes_bare_for_scripts() {
    let folder = two_channels();
    let one = |arch: &str, region: &str| {
        folder.run_in("", &["show", "stable", "--arch", arch, "--platform", "aws", "--region", region], &[])
    };
    one("x86_64", "us-west-1").said("ami-2\n");
    one("amd64", "us-east-1").said("ami-1\n");
    one("arm64", "us-east-1").said("ami-3\n");
    let none = one("x86_64", "eu-west-1");
    assert_eq!((none.status, none.stdout.as_str()), (1, ""));
    assert_eq!(none.stderr, "error: no region `eu-west-1` there\nthere are `us-east-1`, `us-west-1`\n");
    for (arguments, status) in [
        (&["show", "stable", "--platform", "gcp"][..], 1),
        (&["show", "stable", "--arch", "riscv64"], 1),
        (&["show", "nope"], 2),
        (&["show", "devel"], 2),
        (&["show", "--platform", "aws"], 2),
    ] {
        let run = folder.run_in("", arguments, &[]);
        assert_eq!((run.status, run.stdout.as_str()), (status, ""), "{arguments:?} {}", run.stderr);
        assert!(run.stderr.lines().count() > 1, "says what there is: {}", run.stderr);
    }
}

#[test]
fn a_power_vs_object_is_bucket_and_object() {
    let folder = Folder::new(POLICY);
    let objects = r#""powervs": { "regions": { "us-south": { "release": "44.1", "object": "o.ova.gz", "bucket": "b",
        "url": "https://example.com/b/o.ova.gz" } } }, "aws": {"#;
    folder.bump(&document("44.1").replacen("\"aws\": {", objects, 1)).said("stable: pinned build 44.1\n");
    let arguments = ["show", "stable", "--arch", "x86_64", "--platform", "powervs", "--region", "us-south"];
    folder.run_in("", &arguments, &[]).said("b/o.ova.gz\n");
}

#[test]
fn a_channel_is_shown_item_by_item() {
    let folder = two_channels();
    folder.run_in("", &["show", "stable", "--arch", "x86_64"], &[]).said(
        "ARCHITECTURE  PLATFORM  NAME       VALUE\n\
         x86_64        aws       us-east-1  ami-1\n\
         x86_64        aws       us-west-1  ami-2\n\
         x86_64        qemu      qcow2.xz   https://example.com/44.1/qemu\n",
    );
    let value = json_of(&folder.run_in("", &["show", "stable", "--platform", "qemu", "--json"], &[]));
    assert_eq!(
        value,
        json!({ "version": 1, "channel": "stable", "build": "44.1", "items": [ {
            "architecture": "x86_64", "platform": "qemu", "format": "qcow2.xz", "kind": "disk", "release": "44.1",
            "location": "https://example.com/44.1/qemu", "sha256": "a".repeat(64),
            "value": "https://example.com/44.1/qemu" } ] })
    );
}

#[test]
fn a_difference_names_the_region_and_both_ids() {
    let folder = two_channels();
    let run = folder.run_in("", &["diff", "stable", "testing"], &[]);
    assert_eq!((run.status, run.stderr.as_str()), (1, ""));
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(
        lines[..5],
        [
            "build 44.1, now 44.2",
            "aarch64 aws us-east-1: removed ami-3",
            "aarch64 aws us-gov-1: added ami-4",
            "x86_64 aws us-east-1: of build 44.1, now 44.2",
            "x86_64 aws us-west-1: image ami-2, now ami-9",
        ]
    );
    assert!(lines.contains(&"x86_64 qemu qcow2.xz: of build 44.1, now 44.2"));
    folder.run_in("", &["diff", "stable", "stable"], &[]).said("the same: build 44.1\n");
    let value = json_of(&folder.run_in("", &["diff", "stable", "testing", "--json"], &[]));
    assert_eq!((value["same"].clone(), value["version"].clone()), (json!(false), json!(1)));
    assert_eq!(
        value["changes"][3],
        json!({ "architecture": "x86_64", "platform": "aws", "name": "us-west-1", "change": "changed",
                "old": { "image": "ami-2", "release": "44.1" }, "new": { "image": "ami-9", "release": "44.2" } })
    );
}

#[test]
fn what_no_file_and_no_image_has_is_a_difference_too() {
    let folder = two_channels();
    let pin = folder.pin();
    for (old, new, said) in [
        (
            "\"base-url\": \"https://example.com\"",
            "\"base-url\": \"https://m.example.com\"",
            "pin.base-url: https://example.com, now https://m.example.com",
        ),
        ("\"stream\": \"stable\"", "\"stream\": \"s\"", "stream: stable, now s"),
        (
            "\"stream\": \"stable\"",
            "\"stream\": \"stable\", \"novel\": {\"a\": [1, 2]}",
            "novel.a: none, now [ 1, 2 ]",
        ),
        (
            "\"aws\": {\n          \"regions\"",
            "\"aws\": {\n          \"novel\": 1, \"regions\"",
            "images.aws.novel: none, now 1",
        ),
    ] {
        assert!(pin.contains(old), "{old} in {pin}");
        folder.write("other.json", &pin.replacen(old, new, 1));
        let run = folder.run_in("", &["diff", "stable", "other.json"], &[]);
        assert_eq!(run.status, 1, "{said}");
        let lines: Vec<&str> = run.stdout.lines().collect();
        assert!(lines.len() == 2 && lines[1].ends_with(said), "{said}: {}", run.stdout);
    }
    folder.write("other.json", &pin.replace('\n', "\r\n"));
    folder.run_in("", &["diff", "stable", "other.json"], &[]).said("the same: build 44.1\n");
}

#[test]
fn a_revision_of_git_has_pins_too() {
    let folder = two_channels();
    folder.git(&["init", "-q"]);
    folder.git(&["add", "pins"]);
    folder.git(&["commit", "-qm", "first"]);
    folder.bump(&document("44.3"));
    let run = folder.run_in("", &["diff", "HEAD:stable", "stable"], &[]);
    assert!(
        run.status == 1 && run.stdout.starts_with("build 44.1, now 44.3\n"),
        "{}{}",
        run.stdout,
        run.stderr
    );
    folder.run_in("", &["diff", "HEAD:stable", "HEAD:stable"], &[]).said("the same: build 44.1\n");
    // From anywhere below, and with a named folder.
    folder.write("a/b/x", "");
    assert_eq!(folder.run_in("a/b", &["diff", "HEAD:stable", "stable"], &[]).status, 1);
    assert_eq!(
        folder.run_in("a", &["--pins-dir", "../pins", "diff", "HEAD:stable", "stable"], &[]).status,
        1
    );
    for (name, said) in [
        ("nope:stable", "error: no revision `nope` in the git repository of `pins`"),
        ("--help:stable", ""),
        (
            "HEAD:nope",
            "error: no `nope.json` in `pins` at revision `HEAD`\npinned there are `stable`, `testing`",
        ),
        (
            "nope",
            "error: `nope` is no pinned channel, no file and no `REV:CHANNEL`\npinned are `stable`, `testing`",
        ),
        ("channels", "error: `channels` is no pinned channel"),
    ] {
        let run = folder.run_in("", &["diff", name, "stable"], &[]);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{name}");
        assert!(run.stderr.starts_with(said), "{}", run.stderr);
    }
}

#[test]
fn builds_are_listed_newest_first_with_what_became_of_them() {
    let server = Server::start();
    server.put(
        "/stable/builds/builds.json",
        r#"{ "schema-version": "1.0.0", "builds": [ { "id": "44.2", "arches": ["x86_64"] },
            { "id": "44.1", "arches": ["x86_64", "aarch64"], "policy-cleanup": { "cloud-uploads": true,
              "images-kept": ["qemu"] } } ], "tombstone-builds": [ { "id": "44.0", "arches": ["x86_64"] } ] }"#,
    );
    let folder = two_channels();
    let policy = folder.read("pins/channels.json").replace(
        "https://example.com\", \"require",
        &format!("{}\", \"layout\": \"builds\", \"require", server.base),
    );
    folder.write("pins/channels.json", &policy);
    let run = folder.run_in("", &["builds", "stable"], &[]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    assert_eq!(
        run.stdout,
        "BUILD  ARCHITECTURES   CLEANED UP\n\
         44.2   x86_64\n\
         44.1   x86_64 aarch64  cloud images; files but qemu  pinned\n"
    );
    let value = json_of(&folder.run_in("", &["builds", "stable", "--json", "--limit", "1"], &[]));
    let newest = json!({ "id": "44.2", "architectures": ["x86_64"], "pinned": false, "cleaned-up": false });
    assert_eq!(value, json!({ "version": 1, "channel": "stable", "builds": [newest] }));
    folder.bump_with(&document("44.0"), &["--allow-downgrade", "--allow-host", "127.0.0.1"]);
    let run = folder.run_in("", &["builds", "stable"], &[]);
    assert_eq!(run.stderr, "warning: the pinned build `44.0` has been removed upstream\n");
    server.remove("/stable/builds/builds.json");
    let run = folder.run_in("", &["builds", "stable"], &[]);
    assert_eq!((run.status, run.stdout.as_str()), (1, ""));
    assert!(
        run.stderr.contains(&format!("looked at {}/stable/builds/builds.json: 404", server.base)),
        "{}",
        run.stderr
    );
    assert_eq!(folder.run_in("", &["builds", "nope"], &[]).status, 2);
}

#[test]
fn upstreams_control_characters_are_shown_and_not_obeyed() {
    let folder = Folder::new(POLICY);
    let evil = "us-west-1\\u001b[31m\\u202e";
    folder.bump(&document("44.1").replace("us-west-1", evil));
    for arguments in
        [&["show", "stable"][..], &["show", "stable", "--region", "x"], &["diff", "stable", "in2.json"]]
    {
        folder.write("in2.json", &document("44.2"));
        let run = folder.run_in("", arguments, &[]);
        let all = format!("{}{}", run.stdout, run.stderr);
        assert!(
            all.contains("us-west-1\\u{1b}[31m\\u{202e}")
                && !all.contains('\u{1b}')
                && !all.contains('\u{202e}'),
            "{all:?}"
        );
    }
}
