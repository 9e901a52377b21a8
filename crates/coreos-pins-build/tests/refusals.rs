//! Broken, hostile and half-merged documents: each gives one error that names document and place. None gives a panic.

use coreos_pins_build::Error;
use coreos_pins_build::pin::Pin;
use coreos_pins_build::policy::Policy;
use coreos_pins_build::stream::Stream;

const SHA: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// A document whose `qemu` disk and `aws` region are as given.
fn document(disk: &str, region: &str) -> String {
    format!(
        r#"{{"stream": "s", "architectures": {{"x86_64": {{
"artifacts": {{"qemu": {{"release": "1", "formats": {{"qcow2.xz": {{"disk": {disk}}}}}}}}},
"images": {{"aws": {{"regions": {{{region}}}}}}}}}}}}}"#
    )
}

fn disk(members: &str) -> String {
    document(&format!("{{{members}}}"), "")
}

fn region(members: &str) -> String {
    document(&format!(r#"{{"location": "l", "sha256": "{SHA}"}}"#), members)
}

#[track_caller]
fn check(error: &Error) {
    let text = error.to_string();
    assert!(text.len() < 2_000, "{} characters", text.len());
    assert!(text.lines().all(|line| !line.contains(char::is_control)), "{text:?}");
}

#[track_caller]
fn refusal(text: impl AsRef<[u8]>) -> String {
    let error = Stream::read("pins/x.json", text.as_ref()).expect_err("a refusal");
    check(&error);
    error.to_string()
}

#[test]
fn each_fault_is_named_with_its_place() {
    const DISK: &str = "architectures.x86_64.artifacts.qemu.formats.\"qcow2.xz\".disk";
    const AWS: &str = "architectures.x86_64.images.aws.regions";
    let cases = [
        (disk(""), format!("{DISK}: missing field `location`")),
        (disk(r#""location": "l""#), format!("{DISK}: missing field `sha256`")),
        (
            disk(&format!(r#""location": "", "sha256": "{SHA}""#)),
            format!("{DISK}.location: invalid value: string \"\", expected text that is not empty"),
        ),
        (
            disk(r#""location": "l", "sha256": """#),
            format!("{DISK}.sha256: invalid value: string \"\", expected 64 hexadecimal digits"),
        ),
        (
            disk(&format!(r#""location": "l", "sha256": "{}""#, &SHA[1..])),
            format!("{DISK}.sha256: invalid value: string \"{}\", expected 64 hexadecimal digits", &SHA[1..]),
        ),
        (
            disk(&format!(r#""location": "l", "sha256": "{SHA}", "uncompressed-sha256": "zz""#)),
            format!(
                "{DISK}.uncompressed-sha256: invalid value: string \"zz\", expected 64 hexadecimal digits"
            ),
        ),
        (
            disk(&format!(r#""location": 7, "sha256": "{SHA}""#)),
            format!("{DISK}.location: invalid type: integer `7`, expected text that is not empty"),
        ),
        (
            disk(&format!(r#""location": null, "sha256": "{SHA}""#)),
            format!("{DISK}.location: invalid type: null, expected text that is not empty"),
        ),
        (document("[]", ""), format!("{DISK}: invalid type: sequence, expected an object")),
        (
            region(r#""r": {"release": "1", "image": "a"}, "r": {"release": "1", "image": "b"}"#),
            format!("{AWS}: the key `r` appears twice"),
        ),
        (
            region(r#""r": {"release": "1", "image": "a"}, "r": {"release": "1", "image": "a"}"#),
            format!("{AWS}: the key `r` appears twice"),
        ),
        (
            region(r#""r": {"release": "1", "image": "a", "image": "a"}"#),
            format!("{AWS}.r: the key `image` appears twice"),
        ),
        (
            region(r#""r": {"release": "1", "image": ""}"#),
            format!("{AWS}.r.image: invalid value: string \"\", expected text that is not empty"),
        ),
        (region(r#""r": "ami-1""#), format!("{AWS}.r: invalid type: string \"ami-1\", expected an object")),
        (
            r#"{"stream": "s", "architectures": {}}"#.into(),
            "architectures: expected at least one, found none".into(),
        ),
        (
            r#"{"stream": "s", "architectures": {"x86_64": {}}}"#.into(),
            "architectures.x86_64: expected artifacts or images of some release, found none".into(),
        ),
        (r#"{"stream": "s"}"#.into(), "missing field `architectures`".into()),
        (r#"{"architectures": {}}"#.into(), "missing field `stream`".into()),
        ("[]".into(), "invalid type: sequence, expected an object".into()),
        ("null".into(), "invalid type: null, expected an object".into()),
    ];
    for (text, expected) in cases {
        let found = refusal(&text);
        assert!(found.starts_with(&format!("pins/x.json: {expected}")), "{found}\n    expected {expected}");
    }
}

#[test]
fn a_schema_of_another_major_is_refused_and_one_of_ours_is_not() {
    let with = |version: &str| region("").replacen('{', &format!("{{\"schema-version\": {version}, "), 1);
    assert!(Stream::read("x", with("\"1.7.0\"").as_bytes()).is_ok());
    for version in ["\"2.0.0\"", "\"10.0\"", "2", "\"\""] {
        let text = refusal(with(version));
        assert!(text.starts_with("pins/x.json: schema-version: expected 1.x, found `"), "{text}");
        assert!(text.ends_with("help: update coreos-pins"), "{text}");
    }
}

#[test]
fn half_a_file_is_refused_wherever_it_ends() {
    let whole = region(r#""r": {"release": "1", "image": "a"}"#);
    assert!(Stream::read("x", whole.as_bytes()).is_ok());
    for end in 0..whole.len() {
        let text = refusal(&whole.as_bytes()[..end]);
        assert!(text.starts_with("pins/x.json: "), "{text}");
    }
}

#[test]
fn a_file_with_one_byte_changed_is_read_or_refused_but_never_a_panic() {
    let whole = region(r#""r": {"release": "1", "image": "a"}"#).into_bytes();
    for position in 0..whole.len() {
        for byte in [0, b'"', b'\\', b'{', b'}', b',', b'\n', b'<', 0xff] {
            let mut broken = whole.clone();
            broken[position] = byte;
            if let Err(error) = Stream::read("pins/x.json", &broken) {
                check(&error);
            }
        }
    }
}

#[test]
fn bytes_that_are_no_text_and_escapes_that_are_no_character_are_refused() {
    refusal(b"{\"stream\": \"\xff\"}");
    refusal(r#"{"stream": "\ud800"}"#);
    refusal("{\u{feff}}");
    refusal(b"{\"stream\": \"a\0b\"}");
}

#[test]
fn text_without_end_and_nesting_without_end_are_refused_shortly() {
    refusal(format!(r#"{{"stream": "s", "architectures": "{}"}}"#, "x".repeat(10_000_000)));
    refusal(format!(r#"{{"stream": {}"#, "[".repeat(1_000_000)));
    refusal("{\"k\":".repeat(1_000_000));
}

#[test]
fn an_unfinished_merge_is_called_that_in_every_kind_of_file() {
    let merge = "{\n<<<<<<< HEAD\n\"a\": 1\n=======\n\"a\": 2\n>>>>>>> other\n}";
    let expected = "x.json: line 2 is the marker of an unfinished merge";
    for error in [
        Stream::read("x.json", merge.as_bytes()).unwrap_err(),
        Pin::read("x.json", merge.as_bytes()).unwrap_err(),
        Policy::read("x.json", merge.as_bytes()).unwrap_err(),
    ] {
        assert_eq!(error.to_string().lines().next(), Some(expected));
        assert_eq!(error.exit_status(), 2);
    }
}

#[test]
fn a_typo_in_the_policy_names_the_key_and_what_there_is() {
    for (text, expected) in [
        (
            r#"{"version": 1, "defualt": "s"}"#,
            "defualt: unknown field `defualt`, expected one of `version`, `default`",
        ),
        (
            r#"{"version": 1, "channels": {"s": {"layuot": "flat"}}}"#,
            "channels.s.layuot: unknown field `layuot`, expected one of `base-url`, `layout`",
        ),
        (
            r#"{"version": 1, "channels": {"s": {"layout": "flatt"}}}"#,
            "channels.s.layout: unknown variant `flatt`, expected one of `stream`, `builds`, `arch`, `flat`, `auto`",
        ),
        (
            r#"{"version": 1, "channels": {"s": {"hold": {"reason": "r", "untill": "2026-01-01"}}}}"#,
            "channels.s.hold.untill: unknown field `untill`, expected `reason` or `until`",
        ),
        (
            r#"{"version": 1, "builders": {"b": {"image": "i", "tag": "t", "arches": []}}}"#,
            "builders.b.arches: unknown field `arches`, expected one of `image`, `tag`",
        ),
        (r#"{"version": 1, "channels": {"s": {}, "s": {}}}"#, "channels: the key `s` appears twice"),
        (
            r#"{"version": 1, "channels": {"s": {"require": "aws"}}}"#,
            "channels.s.require: invalid type: string",
        ),
    ] {
        let error = Policy::read("pins/channels.json", text.as_bytes()).expect_err("a refusal");
        check(&error);
        let found = error.to_string();
        assert!(found.starts_with(&format!("pins/channels.json: {expected}")), "{found}");
    }
}
