//! Broken and hostile documents: each gives one error that names document, place and what was expected. None gives a
//! panic.

mod harness;

use coreos_pins_build::stream::Stream;
use harness::{SHA, check};

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
        (
            disk(&format!(r#""location": "l", "sha256": "{}g""#, &SHA[1..])),
            format!(
                "{DISK}.sha256: invalid value: string \"{}g\", expected 64 hexadecimal digits",
                &SHA[1..]
            ),
        ),
        (
            disk(&format!(r#""location": "l", "sha256": "{SHA}", "signature": 1"#)),
            format!("{DISK}.signature: invalid type: integer `1`, expected a string"),
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
        (
            r#"{"stream": "s", "architectures": {"x86_64": {"artifacts": {"qemu": {"formats": {}}}}}}"#
                .into(),
            "architectures.x86_64.artifacts.qemu: missing field `release`".into(),
        ),
        (
            r#"{"stream": "s", "architectures": {"a": {"images": {}}, "a": {"images": {}}}}"#.into(),
            "architectures: the key `a` appears twice".into(),
        ),
        (
            r#"{"stream": "s", "architectures": {"x86_64": {"images": {"gcp": {"project": "p"}}}}}"#.into(),
            "architectures.x86_64.images.gcp: missing field `name`".into(),
        ),
        (
            r#"{"stream": "s", "architectures": ["x86_64"]}"#.into(),
            "architectures: invalid type: sequence, expected an object".into(),
        ),
        (
            r#"{"stream": "", "architectures": {}}"#.into(),
            "stream: invalid value: string \"\", expected text that is not empty".into(),
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
    for (bytes, expected) in [
        (b"{\"stream\": \"\xff\"}".as_slice(), "stream: invalid unicode code point"),
        (br#"{"stream": "\ud800"}"#, "stream: unexpected end of hex escape"),
        (br#"{"stream": "\udc00"}"#, "stream: lone leading surrogate in hex escape"),
        (br#"{"stream": "\ud800\ud800"}"#, "stream: lone leading surrogate in hex escape"),
        (
            b"{\"stream\": \"a\0b\"}",
            "stream: control character (\\u0000-\\u001F) found while parsing a string",
        ),
        (b"\0", "expected value"),
        ("{\u{feff}}".as_bytes(), "key must be a string"),
        ("\u{feff}\u{feff}{}".as_bytes(), "expected value"),
    ] {
        let found = refusal(bytes);
        assert!(found.starts_with(&format!("pins/x.json: {expected}")), "{found}\n    expected {expected}");
    }
}

#[test]
fn text_without_end_and_nesting_without_end_are_refused_shortly() {
    let endless = "x".repeat(10_000_000);
    let found = refusal(disk(&format!(r#""location": "l", "sha256": "{endless}""#)));
    assert!(
        found.contains(".disk.sha256: invalid value: string \"xxxx") && found.contains("more characters")
    );
    let found = refusal(format!(r#"{{"stream": "s", "architectures": {{"{endless}": 1}}}}"#));
    assert!(found.starts_with("pins/x.json: architectures.xxxx") && found.contains("more characters"));
    for nested in ["[".repeat(1_000_000), "{\"k\":".repeat(1_000_000)] {
        let found = refusal(format!(r#"{{"novel": {nested}"#));
        assert!(found.contains("recursion limit exceeded"), "{found}");
    }
}

#[test]
fn a_page_or_nothing_in_place_of_a_document_is_called_that() {
    let page = refusal(format!("\u{feff}\r\n <!DOCTYPE html><p>\u{1b}[31m\u{202e}{}", "x".repeat(1000)));
    assert_eq!(
        page,
        format!(
            "pins/x.json: expected JSON, found what looks like an HTML page: `<!DOCTYPE html><p>\\u{{1b}}[31m\\u{{202e}}{}`",
            "x".repeat(36)
        )
    );
    for nothing in ["", "\u{feff}", " \r\n\t"] {
        assert_eq!(refusal(nothing), "pins/x.json: the file is empty; expected JSON");
    }
}

#[test]
fn hostile_text_is_shown_and_not_obeyed() {
    let hostile = "a\\ncargo::rustc-cfg=pwned\\u001b[31m\\u202e";
    for text in [
        disk(&format!(r#""location": "l", "sha256": "{hostile}""#)),
        region(&format!(r#""{hostile}": 7"#)),
        region(&format!(
            r#""{hostile}": {{"release": "1", "image": "a"}}, "{hostile}": {{"release": "1", "image": "a"}}"#
        )),
        region("").replacen('{', &format!(r#"{{"schema-version": "{hostile}", "#), 1),
        format!(r#"{{"stream": "s", "architectures": {{"{hostile}": {{}}}}}}"#),
    ] {
        let found = refusal(&text);
        assert!(found.lines().all(|line| !line.starts_with("cargo::")) && found.contains("pwned"), "{found}");
    }
    let error = Stream::read("a\nb\u{202e}.json", b"").unwrap_err();
    assert_eq!(error.to_string(), "a\\nb\\u{202e}.json: the file is empty; expected JSON");
}
