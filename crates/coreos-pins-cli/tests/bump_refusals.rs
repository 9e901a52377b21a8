//! What `bump` refuses, with which exit status, and that every file is then as it was.

mod harness;

use harness::{Folder, POLICY, URL, document, policy_with};

#[track_caller]
fn begins(text: &str, expected: &str) {
    assert!(text.starts_with(expected), "{text}\n    expected {expected}");
}

#[test]
fn a_build_without_a_required_platform_is_refused() {
    let folder = Folder::new(POLICY);
    let text = folder.refused(&document("44.1").replacen("\"aws\"", "\"gone\"", 1), 1);
    begins(
        &text,
        "error: channel `stable`: build `44.1` is not pinned\nit lacks what the channel requires: aws on x86_64\nhelp: ",
    );
    let text = folder.refused(&document("44.1").replace("\"qemu\"", "\"gone\""), 1);
    begins(
        &text,
        "error: channel `stable`: build `44.1` is not pinned\nit lacks what the channel requires: qemu on x86_64\nhelp: ",
    );
    // A cloud's files are not its images.
    let files_only = document("44.1").replacen("\"aws\"", "\"gone\"", 1).replace("\"qemu\": {", "\"aws\": {");
    let text = folder.refused(&files_only, 1);
    begins(
        &text,
        "error: channel `stable`: build `44.1` is not pinned\nit lacks what the channel requires: aws on x86_64, qemu on x86_64\n",
    );
}

#[test]
fn where_the_pin_has_a_platform_the_next_build_must_have_it_too() {
    let folder = Folder::new(POLICY);
    folder.bump(&document("44.1")).said("stable: pinned build 44.1\n");
    let other =
        r#""aarch64": { "images": { "gcp": { "release": "44.2", "project": "p", "name": "n" }, "gone""#;
    let without = document("44.2").replace(r#""aarch64": { "images": { "aws""#, other);
    let text = folder.refused(&without, 1);
    begins(
        &text,
        "error: channel `stable`: build `44.2` is not pinned\nit lacks what the channel requires: aws on aarch64\n",
    );
    // Where the pin has none, it need not.
    assert_eq!(Folder::new(POLICY).bump(&without).status, 0);
}

#[test]
fn a_channel_on_hold_stays_where_it_is_until_the_day_after() {
    let hold =
        |until: &str| Folder::new(&policy_with(&format!(r#""hold": {{ "reason": "kernel bug"{until} }}"#)));
    let text = hold(r#", "until": "2999-12-31""#).refused(&document("44.1"), 1);
    begins(&text, "error: channel `stable` is on hold until 2999-12-31: kernel bug\nhelp: ");
    let text = hold("").refused(&document("44.1"), 1);
    begins(&text, "error: channel `stable` is on hold: kernel bug\nhelp: ");
    hold(r#", "until": "2020-12-31""#).bump(&document("44.1")).said("stable: pinned build 44.1\n");
}

#[test]
fn a_channel_that_floats_is_not_pinned() {
    let text = Folder::new(&policy_with(r#""floats": true"#)).refused(&document("44.1"), 1);
    begins(&text, "error: channel `stable` floats: it is not pinned\nhelp: ");
    assert_eq!(Folder::new(&policy_with(r#""floats": false"#)).bump(&document("44.1")).status, 0);
}

#[test]
fn a_pin_that_cannot_be_read_is_left_for_a_person_to_mend() {
    let folder = Folder::new(POLICY);
    folder.bump(&document("44.1"));
    let whole = folder.pin();
    for (broken, expected) in [
        ("{\n<<<<<<< HEAD\n}".to_owned(), "line 2 is the marker of an unfinished merge\n"),
        (whole[..whole.len() / 2].to_owned(), "architectures"),
        (String::new(), "the file is empty; expected JSON\n"),
        (whole.replace("\"version\": 1", "\"version\": 2"), "pin.version: 2 is newer than this coreos-pins"),
        (
            whole.replace("\"build\": \"44.1\"", "\"build\": \"44.0\""),
            "pin.build is `44.0`, but the artifacts are",
        ),
        (whole.replace("\"base-url\"", "\"base_url\""), "pin.base_url: unknown field `base_url`"),
    ] {
        folder.write("pins/stable.json", &broken);
        begins(&folder.refused(&document("44.2"), 2), &format!("error: pins/stable.json: {expected}"));
    }
}

#[test]
fn a_policy_that_cannot_be_read_is_an_error_and_so_is_none() {
    for (policy, expected) in [
        (r#"{ "version": 9 }"#.to_owned(), "version: 9 is newer than this coreos-pins"),
        (POLICY.replace("base-url", "base_url"), "channels.stable.base_url: unknown field `base_url`"),
        (policy_with(r#""hold": { "until": "2026-12-31" }"#), "channels.stable.hold: missing field `reason`"),
        ("{\n=======\n}".to_owned(), "line 2 is the marker of an unfinished merge"),
    ] {
        let text = Folder::new(&policy).refused(&document("44.1"), 2);
        begins(&text, &format!("error: pins/channels.json: {expected}"));
    }
    let folder = Folder::new(POLICY);
    std::fs::remove_file(folder.path("pins/channels.json")).unwrap();
    begins(&folder.refused(&document("44.1"), 2), "error: failed to read `pins/channels.json`: ");
    let without = POLICY.replace("\"base-url\": \"https://example.com\", ", "");
    let text = Folder::new(&without).refused(&document("44.1"), 2);
    begins(&text, "error: channel `stable` has no `base-url` in channels.json");
}

#[test]
fn a_document_that_cannot_be_read_is_named_as_it_was_given() {
    let folder = Folder::new(POLICY);
    let twice = document("44.1").replace("us-west-1", "us-east-1");
    let at = "architectures.x86_64.images.aws.regions: the key `us-east-1` appears twice";
    for (text, expected) in [
        ("<html>login</html>", "expected JSON, found what looks like an HTML page: `<html>login</html>`"),
        ("", "the file is empty"),
        (twice.as_str(), at),
        (&document("44.1").replace(&"a".repeat(64), "abc"), "architectures.x86_64.artifacts.qemu.formats"),
        (r#"{"stream": "s", "architectures": {}}"#, "architectures: expected at least one, found none"),
    ] {
        begins(&folder.refused(text, 2), &format!("error: in.json: {expected}"));
    }
    let arguments = ["bump", "stable", "--from", "no.json", "--published-at", URL];
    begins(&folder.refuses(&arguments, 2), "error: failed to read `no.json`: ");
}

#[test]
fn a_policy_that_selects_nothing_of_the_document_is_told_so() {
    let folder = Folder::new(&policy_with(r#""architectures": ["riscv64"]"#));
    let text = folder.refused(&document("44.1"), 2);
    begins(
        &text,
        "error: channel `stable`, as channels.json selects from it: architectures: expected at least one",
    );
}

#[test]
fn an_unknown_channel_lists_the_channels_and_makes_no_pin() {
    let folder = Folder::new(&POLICY.replacen("\"stable\": {", "\"next\": {}, \"stable\": {", 1));
    folder.write("in.json", &document("44.1"));
    let arguments = ["bump", "stabel", "--from", "in.json", "--published-at", URL];
    begins(
        &folder.refuses(&arguments, 2),
        "error: no channel `stabel` in `pins/channels.json`\nchannels are `next`, `stable`\nhelp: ",
    );
}

#[test]
fn where_a_file_is_published_must_be_said_as_an_https_url_and_no_secret_is_shown() {
    let folder = Folder::new(POLICY);
    folder.write("in.json", &document("44.1"));
    let text = folder.refuses(&["bump", "stable", "--from", "in.json"], 2);
    assert!(text.contains("`--published-at URL`"), "{text}");
    for url in [
        "file:///s.json",
        "example.com/s.json",
        "",
        "https://user:s3cret@example.com/s.json",
        "https://example.com/s.json?token=s3cret",
        "https://example.com/s.json#s3cret",
    ] {
        let text = folder.refuses(&["bump", "stable", "--from", "in.json", "--published-at", url], 2);
        begins(&text, "error: --published-at: expected an https URL");
        assert!(!text.contains("s3cret"), "{text}");
    }
    begins(&folder.refuses(&["bmup"], 2), "error: unrecognized subcommand");
}

#[test]
fn an_https_url_has_a_host_and_no_blank_or_line_end() {
    let folder = Folder::new(POLICY);
    folder.write("in.json", &document("44.1"));
    for url in ["https://", "https:///s.json", "https://a b/s.json", "https://example.com/s\n.json"] {
        let text = folder.refuses(&["bump", "stable", "--from", "in.json", "--published-at", url], 2);
        begins(&text, "error: --published-at: expected an https URL");
    }
}

#[test]
fn a_channel_is_a_file_of_the_pins_folder_and_no_other() {
    for channel in ["../evil", ".hidden", "sub/channel", "/tmp/evil", "channels"] {
        let folder = Folder::new(&POLICY.replace("\"stable\"", &format!("\"{channel}\"")));
        folder.write("in.json", &document("44.1"));
        let text = folder.refuses(&["bump", channel, "--from", "in.json", "--published-at", URL], 2);
        begins(
            &text,
            &format!("error: pins/channels.json: channels: `{channel}` is no name for a channel\nhelp: "),
        );
    }
}

#[test]
fn user_password_and_query_of_a_base_url_get_into_no_pin() {
    for url in ["https://user:s3cret@example.com", "https://example.com/x?token=s3cret"] {
        let folder = Folder::new(&POLICY.replace("https://example.com", url));
        let text = folder.refused(&document("44.1"), 2);
        assert!(text.contains("base-url") && !text.contains("s3cret"), "{text}");
    }
}

#[test]
fn a_folder_in_the_pins_place_is_an_error_and_leaves_nothing_behind() {
    let folder = Folder::new(POLICY);
    folder.write("pins/stable.json/inside", "");
    let text = folder.refused(&document("44.1"), 2);
    assert!(text.contains("`pins/stable.json`"), "{text}");
}

#[cfg(unix)]
#[test]
fn a_write_that_fails_half_way_leaves_the_old_pin_and_no_part_of_the_new() {
    let folder = Folder::new(POLICY);
    folder.bump(&document("44.1")).said("stable: pinned build 44.1\n");
    folder.write("in.json", &document("44.2"));
    let before = folder.pin();
    // No file may get longer than one block. That binds root too.
    let limited = "trap '' XFSZ; ulimit -f 1; exec \"$@\"";
    let output = std::process::Command::new("sh")
        .args(["-c", limited, "sh", env!("CARGO_BIN_EXE_coreos-pins")])
        .args(["--pins-dir", "pins", "bump", "stable", "--from", "in.json", "--published-at", URL])
        .current_dir(folder.path(""))
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{stderr}");
    begins(&stderr, "error: failed to write `pins/stable.json`: ");
    assert_eq!(folder.pins(), ["channels.json", "stable.json"]);
    assert!(folder.pin() == before && before.len() > 1024);
}

#[cfg(unix)]
#[test]
fn a_read_only_folder_is_an_error_and_leaves_nothing_behind() {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new(POLICY);
    folder.bump(&document("44.1"));
    set_permissions(folder.path("pins"), Permissions::from_mode(0o555)).unwrap();
    if std::fs::write(folder.path("pins/probe"), "").is_ok() {
        eprintln!("skipped: permissions do not bind this user");
        return;
    }
    begins(&folder.refused(&document("44.2"), 2), "error: failed to write `pins/stable.json`: ");
    set_permissions(folder.path("pins"), Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_bump_loses_nothing_unless_told_to() {
    let folder = Folder::new(POLICY);
    folder.bump(&document("44.1"));
    let fewer = document("44.2").replace("us-west-1", "us-west-2");
    let text = folder.refused(&fewer, 1);
    assert_eq!(
        text,
        "error: channel `stable`: build `44.2` is not pinned\nit lacks 1 of what the pinned build has\n  x86_64 aws \
         us-west-1\nhelp: if that is meant, pass --allow-loss\n"
    );
    let gone = document("44.2").replace("\"aarch64\"", "\"s390x\"");
    assert!(folder.refused(&gone, 1).contains("  architecture aarch64\n"));
    let run = folder.bump_with(&fewer, &["--allow-loss"]);
    assert!(
        run.status == 0 && run.stdout.contains("1 region added (us-west-2), 1 region removed (us-west-1)")
    );
}

#[test]
fn a_signature_or_a_checksum_is_not_lost_unnoticed() {
    let folder = Folder::new(POLICY);
    let with = |more: &str| document("44.1").replace("\"sha256\":", &format!("{more} \"sha256\":"));
    let sum = format!("\"uncompressed-sha256\": \"{}\",", "b".repeat(64));
    folder.bump(&with(&format!("\"signature\": \"https://example.com/x.sig\", {sum}")));
    let text = folder.refused(&document("44.1"), 1);
    for lost in ["x86_64 qemu qcow2.xz uncompressed-sha256", "x86_64 qemu qcow2.xz signature"] {
        assert!(text.contains(&format!("  {lost}\n")), "{text}");
    }
}

#[test]
fn a_bump_goes_forward_unless_told_to() {
    let folder = Folder::new(POLICY);
    folder.bump(&document("44.10"));
    let text = folder.refused(&document("44.9"), 1);
    assert_eq!(
        text,
        "error: channel `stable`: build `44.9` is not pinned\nit is older than the pinned build, or nothing tells that \
         it is newer\n  aarch64, x86_64: 44.9, pinned is 44.10\nhelp: if that is meant, pass --allow-downgrade\n"
    );
    assert!(folder.refused(&document("devel"), 1).contains("44.10\nhelp: "), "nothing tells");
    assert_eq!(folder.bump_with(&document("44.9"), &["--allow-downgrade"]).status, 0);
}

#[test]
fn the_same_build_has_the_same_contents_unless_told_otherwise() {
    let folder = Folder::new(POLICY);
    folder.bump(&document("44.1"));
    for (old, new, said) in [
        ("ami-1", "ami-9", "x86_64 aws us-east-1: image ami-1, now ami-9".to_owned()),
        (
            "/44.1/qemu",
            "/44.1/other",
            "x86_64 qemu qcow2.xz: location https://example.com/44.1/qemu".to_owned(),
        ),
        ("aaaa\"", "bbbb\"", format!("x86_64 qemu qcow2.xz: sha256 {}", "a".repeat(64))),
    ] {
        let text = folder.refused(&document("44.1").replace(old, new), 1);
        assert!(text.contains("it has the id of the pinned build and other contents\n"), "{text}");
        assert!(text.contains(&format!("  {said}")) && text.ends_with("--allow-republished\n"), "{text}");
    }
    // What is added, and metadata, is not republished.
    let more = document("44.1")
        .replace(
            "\"us-west-1\"",
            "\"us-west-9\": { \"release\": \"44.1\", \"image\": \"ami-7\" }, \"us-west-1\"",
        )
        .replace(
            "\"stream\": \"stable\"",
            "\"stream\": \"stable\", \"metadata\": { \"last-modified\": \"x\" }",
        );
    assert_eq!(folder.bump(&more).status, 0);
}

#[test]
fn regions_of_several_releases_are_refused_unless_told_otherwise() {
    let folder = Folder::new(POLICY);
    let stale = document("44.2").replacen(
        "\"release\": \"44.2\", \"image\": \"ami-2\"",
        "\"release\": \"44.1\", \"image\": \"ami-2\"",
        1,
    );
    let text = folder.refused(&stale, 1);
    assert!(
        text.contains("it is of several releases\n  x86_64 aws: 44.1: us-west-1; 44.2: us-east-1\n"),
        "{text}"
    );
    assert_eq!(folder.bump_with(&stale, &["--allow-mixed"]).status, 0);
    assert!(folder.pin().contains(r#""us-west-1": { "image": "ami-2", "release": "44.1" }"#));
}

#[test]
fn private_hosts_and_plain_http_get_into_no_pin_unless_they_are_named() {
    for (url, host) in [
        ("http://example.com", "example.com"),
        ("https://127.0.0.1:8000", "127.0.0.1"),
        ("https://10.0.0.1", "10.0.0.1"),
        ("https://mirror.corp", "mirror.corp"),
        ("https://[::1]:8000", "::1"),
        ("https://mirror", "mirror"),
    ] {
        for place in ["base-url", "document", "source"] {
            let policy =
                if place == "base-url" { POLICY.replace("https://example.com", url) } else { POLICY.into() };
            let folder = Folder::new(&policy);
            let mut text = document("44.1");
            if place == "document" {
                text = text.replace("https://example.com", url);
            }
            folder.write("in.json", &text);
            let published = if place == "source" { format!("{url}/s.json") } else { URL.to_owned() };
            let arguments = ["bump", "stable", "--from", "in.json", "--published-at", &published];
            let refusal = folder.refuses(&arguments, 1);
            assert!(refusal.ends_with(&format!("pass --allow-host {host}\n")), "{refusal}");
            assert!(!folder.path("pins/stable.json").exists());
            let run = folder.run_in("", &[&arguments[..], &["--allow-host", host]].concat(), &[]);
            assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{url} {place}");
        }
    }
    let folder = Folder::new(POLICY);
    let text =
        folder.refused(&document("44.1").replace("https://example.com/44.1/qemu", "file:///tmp/qemu"), 1);
    assert!(
        text.contains("x86_64 qemu qcow2.xz location is a file of one machine") && !text.contains("--allow"),
        "{text}"
    );
}

#[test]
fn every_reason_is_told_at_once_with_all_flags() {
    let folder = Folder::new(POLICY);
    folder.bump(&document("44.2"));
    let bad = document("44.1")
        .replace("us-west-1", "us-west-2")
        .replace("https://example.com/44.1", "http://example.com/44.1");
    let text = folder.refused(&bad, 1);
    assert!(
        text.ends_with(
            "help: if that is meant, pass --allow-loss --allow-downgrade --allow-host example.com\n"
        ),
        "{text}"
    );
}

#[test]
fn the_pin_itself_is_no_document_to_pin() {
    let folder = Folder::new(POLICY);
    folder.bump(&document("44.1"));
    let text = folder.refuses(&["bump", "stable", "--from", "pins/stable.json", "--published-at", URL], 2);
    begins(&text, "error: `pins/stable.json` is the pin of channel `stable` itself\nhelp: ");
}

#[test]
fn a_user_or_a_query_in_a_files_url_gets_into_no_pin_and_no_message() {
    let folder = Folder::new(POLICY);
    for url in ["https://u:s3cr3t@example.com/44.1/qemu", "https://example.com/44.1/qemu?token=s3cr3t"] {
        let text = folder.refused(&document("44.1").replace("https://example.com/44.1/qemu", url), 1);
        assert!(
            text.contains("has a user name, a query or a fragment") && !text.contains("s3cr3t"),
            "{text}"
        );
    }
    folder.bump(&document("44.1"));
    let text = folder.refused(
        &document("44.1").replace("https://example.com/44.1/qemu", "https://u:s3cr3t@example.com/44.1/qemu"),
        1,
    );
    assert!(
        text.contains("it has the id of the pinned build and other contents") && !text.contains("s3cr3t"),
        "{text}"
    );
}
