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
    begins(&text, "error: build `44.1` lacks what channel `stable` requires: aws on x86_64\nhelp: ");
    let text = folder.refused(&document("44.1").replace("\"qemu\"", "\"gone\""), 1);
    begins(&text, "error: build `44.1` lacks what channel `stable` requires: qemu on x86_64\nhelp: ");
    // A cloud's files are not its images.
    let files_only = document("44.1").replacen("\"aws\"", "\"gone\"", 1).replace("\"qemu\": {", "\"aws\": {");
    let text = folder.refused(&files_only, 1);
    begins(
        &text,
        "error: build `44.1` lacks what channel `stable` requires: aws on x86_64, qemu on x86_64\n",
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
    begins(&text, "error: build `44.2` lacks what channel `stable` requires: aws on aarch64\nhelp: ");
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
    begins(&text, "error: in.json, as channels.json selects from it: architectures: expected at least one");
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
    assert!(text.contains("--published-at <URL>"), "{text}");
    for url in [
        "http://example.com/s.json",
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
