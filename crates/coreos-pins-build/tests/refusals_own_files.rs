//! The files that are ours, `channels.json` and the `pin` key: a typo, a wrong type or a newer version gives one error
//! that names document and place, and what belongs there.

mod harness;

use coreos_pins_build::Error;
use coreos_pins_build::pin::Pin;
use coreos_pins_build::policy::Policy;
use harness::{SHA, check, document};

#[track_caller]
fn first_line(error: &Error) -> String {
    check(error);
    error.lines().next().expect("a line")
}

/// The first line of the refusal of a policy with these members beside its version.
#[track_caller]
fn policy(members: &str) -> String {
    let text = format!("{{\"version\": 1, {members}}}");
    first_line(&Policy::read("channels.json", text.as_bytes()).expect_err(members))
}

/// The first line of the refusal of a policy whose channel `s` has these members.
#[track_caller]
fn channel(members: &str) -> String {
    policy(&format!("\"channels\": {{\"s\": {{{members}}}}}"))
}

/// Reads a pin whose `pin` key has this value. Its document is of build `1`.
fn pin(value: &str) -> Result<Pin, Error> {
    let document = document(&["x86_64"], &[("qemu", "qcow2.xz", "disk")], &["r"]);
    Pin::read("s.json", document.replacen('{', &format!("{{\"pin\": {value}, "), 1).as_bytes())
}

/// The `pin` key of a sound pin, with `members` behind it.
fn header(members: &str) -> String {
    format!(r#"{{"version": 1, "base-url": "https://example.com", "build": "1"{members}}}"#)
}

#[track_caller]
fn pin_refusal(value: &str) -> String {
    first_line(&pin(value).expect_err(value))
}

#[test]
fn a_typo_in_the_policy_names_the_key_and_what_there_is_at_every_level() {
    for (found, expected) in [
        (
            policy(r#""defualt": "s""#),
            "defualt: unknown field `defualt`, expected one of `version`, `default`, `channels`, `builders`",
        ),
        (
            channel(r#""layuot": "flat""#),
            "channels.s.layuot: unknown field `layuot`, expected one of `base-url`, `layout`, `upstream`, `require`",
        ),
        (
            channel(r#""hold": {"reason": "r", "untill": "2026-01-01"}"#),
            "channels.s.hold.untill: unknown field `untill`, expected `reason` or `until`",
        ),
        (
            policy(r#""builders": {"b": {"image": "i", "tag": "t", "arches": []}}"#),
            "builders.b.arches: unknown field `arches`, expected one of `image`, `tag`, `guard`",
        ),
        (
            channel(r#""layout": "flatt""#),
            "channels.s.layout: unknown variant `flatt`, expected one of `stream`, `builds`, `arch`, `flat`, `auto`",
        ),
    ] {
        assert!(found.starts_with(&format!("channels.json: {expected}")), "{found}\n    expected {expected}");
    }
}

#[test]
fn a_wrong_type_or_value_in_the_policy_is_named_with_its_place() {
    for (found, expected) in [
        (policy(r#""default": 1"#), "default: invalid type: integer `1`, expected a string"),
        (policy(r#""channels": []"#), "channels: invalid type: sequence, expected an object"),
        (policy(r#""channels": {"s": "t"}"#), "channels.s: invalid type: string \"t\", expected "),
        (policy(r#""channels": {"s": {}, "s": {}}"#), "channels: the key `s` appears twice"),
        (policy(r#""version": 1"#), "the key `version` appears twice"),
        (channel(r#""floats": true, "floats": true"#), "channels.s: the key `floats` appears twice"),
        (channel(r#""base-url": 7"#), "channels.s.base-url: invalid type: integer `7`, expected a string"),
        (channel(r#""base-url": """#), "channels.s.base-url: expected text that is not empty"),
        (channel(r#""upstream": """#), "channels.s.upstream: expected text that is not empty"),
        (
            channel(r#""require": "aws""#),
            "channels.s.require: invalid type: string \"aws\", expected a sequence",
        ),
        (
            channel(r#""floats": "true""#),
            "channels.s.floats: invalid type: string \"true\", expected a boolean",
        ),
        (channel(r#""platforms": []"#), "channels.s.platforms: expected at least one name, found none"),
        (
            channel(r#""architectures": []"#),
            "channels.s.architectures: expected at least one name, found none",
        ),
        (
            channel(r#""hold": "kernel bug""#),
            "channels.s.hold: invalid type: string \"kernel bug\", expected ",
        ),
        (channel(r#""hold": {}"#), "channels.s.hold: missing field `reason`"),
        (channel(r#""hold": {"reason": " "}"#), "channels.s.hold.reason: expected a reason, found none"),
        (
            channel(r#""hold": {"reason": "r", "until": "2026-02-30"}"#),
            "channels.s.hold.until: expected a date `YYYY-MM-DD`, found `2026-02-30`",
        ),
        (channel(r#""promotes-from": ["t"]"#), "channels.s.promotes-from: no channel `t` (have `s`)"),
        (policy(r#""default": "t", "channels": {"s": {}}"#), "default: no channel `t` (have `s`)"),
        (policy(r#""builders": {"b": {"image": "i"}}"#), "builders.b: missing field `tag`"),
    ] {
        assert!(found.starts_with(&format!("channels.json: {expected}")), "{found}\n    expected {expected}");
    }
}

#[test]
fn a_newer_version_says_update_and_no_version_is_taken_for_ours() {
    let newer = Policy::read("channels.json", br#"{"version": 2, "novel": 1}"#).unwrap_err();
    let newer_pin = pin(r#"{"version": 2, "novel": 1}"#).unwrap_err();
    for (error, place) in [(newer, "channels.json: version"), (newer_pin, "s.json: pin.version")] {
        assert_eq!(
            error.to_string(),
            format!("{place}: 2 is newer than this coreos-pins, which reads 1\nhelp: update coreos-pins")
        );
    }
    for (version, found) in
        [("0", "`0`"), ("1.0", "`1.0`"), ("-1", "`-1`"), ("\"1\"", "`\"1\"`"), ("null", "`null`")]
    {
        let error = Policy::read("c", format!("{{\"version\": {version}}}").as_bytes()).unwrap_err();
        assert_eq!(first_line(&error), format!("c: version: expected 1, found {found}"));
        let header = format!(r#"{{"version": {version}, "base-url": "b", "build": "1"}}"#);
        assert_eq!(pin_refusal(&header), format!("s.json: pin.version: expected 1, found {found}"));
    }
}

#[test]
fn a_fault_in_the_pin_key_is_named_with_its_place() {
    assert_eq!(pin(&header("")).unwrap().header.unwrap().build, "1");
    let source = |members: &str| header(&format!(r#", "sources": [{{{members}}}]"#));
    for (value, expected) in [
        ("null".into(), "pin: expected an object"),
        ("\"1\"".into(), "pin: expected an object"),
        (r#"{"base-url": "b", "build": "1"}"#.into(), "pin.version: expected 1, found nothing"),
        (r#"{"version": 1, "build": "1"}"#.into(), "pin: missing field `base-url`"),
        (r#"{"version": 1, "base-url": "b"}"#.into(), "pin: missing field `build`"),
        (
            r#"{"version": 1, "base-url": "", "build": "1"}"#.into(),
            "pin.base-url: invalid value: string \"\", expected text that is not empty",
        ),
        (
            header(r#", "baseurl": "b""#),
            "pin.baseurl: unknown field `baseurl`, expected one of `base-url`, `build`",
        ),
        (source(r#""sha": "x""#), "pin.sources[0].sha: unknown field `sha`, expected `sha256` or `url`"),
        (
            source(r#""sha256": "abc", "url": "u""#),
            "pin.sources[0].sha256: invalid value: string \"abc\", expected 64 hexadecimal digits",
        ),
        (
            source(&format!(r#""sha256": "{SHA}", "url": """#)),
            "pin.sources[0].url: invalid value: string \"\", expected text that is not empty",
        ),
        (source(&format!(r#""sha256": "{SHA}""#)), "pin.sources[0]: missing field `url`"),
        (header(r#", "sources": {}"#), "pin.sources: invalid type: map, expected a sequence"),
        (
            header("").replace("\"build\": \"1\"", "\"build\": \"2\""),
            "pin.build is `2`, but the artifacts are of `1`",
        ),
        (
            header("").replace("\"build\": \"1\"", "\"build\": \"x86_64=1\""),
            "pin.build is `x86_64=1`, but the artifacts are of `1`",
        ),
    ] {
        let found = pin_refusal(&value);
        assert!(found.starts_with(&format!("s.json: {expected}")), "{found}\n    expected {expected}");
    }
}

#[test]
fn a_release_payload_is_named_by_a_whole_lower_case_digest_or_refused() {
    let image = |image: &str| header(&format!(", \"release-image\": \"{image}\""));
    let sound = format!("quay.io/openshift/release@sha256:{SHA}");
    assert_eq!(pin(&image(&sound)).unwrap().header.unwrap().release_image, Some(sound.clone()));
    for tag in ["quay.io/openshift/release:4.22", "release"] {
        let expected = format!("s.json: pin.release-image: `{tag}` names no digest, and a tag moves");
        assert_eq!(pin_refusal(&image(tag)), expected);
    }
    for broken in [
        sound[..sound.len() - 1].to_owned(),
        sound.replace("abcdef", "ABCDEF"),
        sound.replace("abcdef", "abcdeg"),
        format!("@sha256:{SHA}"),
        format!("{sound}0"),
    ] {
        let found = pin_refusal(&image(&broken));
        let expected =
            "s.json: pin.release-image: expected `IMAGE@sha256:` and 64 lower-case hex digits, found `";
        assert!(found.starts_with(expected), "{found}");
    }
}

#[test]
fn an_unfinished_merge_html_and_nothing_at_all_are_called_that_in_our_files_too() {
    for (text, expected) in [
        ("{\n<<<<<<< HEAD\n}", "x.json: line 2 is the marker of an unfinished merge"),
        ("<html>", "x.json: expected JSON, found what looks like an HTML page: `<html>`"),
        ("", "x.json: the file is empty; expected JSON"),
        ("\u{feff}", "x.json: the file is empty; expected JSON"),
        ("[]", "x.json: invalid type: sequence, expected an object (line 1, column 0)"),
    ] {
        assert_eq!(first_line(&Policy::read("x.json", text.as_bytes()).unwrap_err()), expected);
        assert_eq!(first_line(&Pin::read("x.json", text.as_bytes()).unwrap_err()), expected);
    }
}
