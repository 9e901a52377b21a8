//! What the build-time variables do, and what they say when they ask for what is not there.
// What this builds has features of its own: once is enough.
#![cfg(feature = "embed")]

mod harness;

use harness::{Project, stream};

const MAIN: &str = r#"fn main() {
    println!("{} {} {:?} {}", pins::DEFAULT_CHANNEL, pins::BUILD_NAME, pins::RELEASE_IMAGE, pins::ORIGIN);
    assert!(!cfg!(pwned));
}"#;

fn project(name: &str) -> Project {
    let project = Project::own_pins(name, MAIN);
    project.write("pins/stable.json", &stream("44.1", "us-east-1", "ami-1"));
    project.write("pins/next.json", &stream("44.2", "us-east-1", "ami-2"));
    project.write(
        "pins/channels.json",
        r#"{ "version": 1, "default": "stable", "channels": { "stable": {}, "next": {} } }"#,
    );
    project
}

const PINNED: &str = "stable 44.1 None pinned\n";

#[test]
fn blank_is_unset_for_every_variable() {
    let project = project("vars-blank");
    for variable in coreos_pins_build::settings::watched() {
        for blank in ["", " ", "\n"] {
            assert_eq!(project.run(&[(variable, blank)]).stdout(), PINNED, "{variable} {blank:?}");
        }
    }
}

#[test]
fn channel_build_and_payload_select_among_pins() {
    let project = project("vars-select");
    let digest = format!("quay.io/o/r@sha256:{}", "a".repeat(64));
    for (env, expected) in [
        (vec![("DEFAULT_CHANNEL", "next ")], "next 44.2 None pinned\n".to_owned()),
        (vec![("BUILD_NAME", "44.1")], PINNED.to_owned()),
        (vec![("BUILD_NAME", "amd64=44.1")], PINNED.to_owned()),
        (vec![("DEFAULT_CHANNEL", "next"), ("BUILD_NAME", "44.2")], "next 44.2 None pinned\n".to_owned()),
        (vec![("RELEASE_IMAGE", &*digest)], format!("stable 44.1 Some({digest:?}) pinned\n")),
    ] {
        assert_eq!(project.run(&env).stdout(), expected, "{env:?}");
    }
}

#[test]
fn one_prefixed_name_keeps_the_plain_ones_out() {
    let project = project("vars-sealed");
    let foreign = [("BASE_URL", "/"), ("BUILD_NAME", "ci-1234"), ("DEFAULT_CHANNEL", "nope")];
    for (name, value, expected) in [
        ("COREOS_PINS_BASE_URL", "", PINNED),
        ("COREOS_PINS_DEFAULT_CHANNEL", "next", "next 44.2 None pinned\n"),
        ("COREOS_PINS_BUILD_NAME", "44.1", PINNED),
    ] {
        let env: Vec<_> = foreign.into_iter().chain([(name, value)]).collect();
        assert_eq!(project.run(&env).stdout(), expected, "{name}");
    }
}

#[test]
fn what_no_pin_answers_is_one_clear_error() {
    let project = project("vars-errors");
    for (env, expected) in [
        (
            vec![("DEFAULT_CHANNEL", "stabel")],
            vec![
                "no pin for channel `stabel` (asked for by DEFAULT_CHANNEL), did you mean `stable`?",
                "`https://releases-rhcos.svc.ci.openshift.org/storage/releases/stabel/builds.json` needs the network, and \
                 feature `fetch` is off",
                "turn on feature `fetch` of `coreos-pins`, for pins of your own that of `coreos-pins-build`; or use a \
                 `file://` URL",
                "pinned are `next`, `stable`",
                "help: set DEFAULT_CHANNEL to a pinned channel, or unset it",
            ],
        ),
        (
            vec![("BUILD_NAME", "44.9")],
            vec![
                "channel `stable` has no base URL to look builds up at (asked for by BUILD_NAME)",
                "help: set BASE_URL, or give the channel a `base-url` in channels.json",
            ],
        ),
        (
            vec![("BASE_URL", "/"), ("BUILD_NAME", "44.1")],
            vec![
                "BASE_URL: `/` is no URL for documents: expected `https://…`, `http://…` or `file:///…`",
                "help: unset BASE_URL and BUILD_NAME to build from the committed pin",
            ],
        ),
        (
            vec![("RELEASE_IMAGE", "quay.io/o/r:4.22")],
            vec![
                "RELEASE_IMAGE: `quay.io/o/r:4.22` names no digest, and a tag moves",
                "help: take the digest that `coreos-pins resolve quay.io/o/r:4.22` prints",
            ],
        ),
        (
            vec![("COREOS_PINS_BUILDNAME", "44.1")],
            vec![
                "unknown variable `COREOS_PINS_BUILDNAME`, did you mean `COREOS_PINS_BUILD_NAME`?",
                "variables that begin with `COREOS_PINS_` are `COREOS_PINS_BASE_URL`, `COREOS_PINS_DEFAULT_CHANNEL`, \
                 `COREOS_PINS_BUILD_NAME`, `COREOS_PINS_RELEASE_IMAGE`, `COREOS_PINS_DIR`, `COREOS_PINS_CHECKOUT`",
                "help: unset COREOS_PINS_BUILDNAME",
            ],
        ),
        (
            vec![("BUILD_NAME", "x\ncargo::rustc-cfg=pwned")],
            vec!["the value of BUILD_NAME holds a control character"],
        ),
    ] {
        assert_eq!(project.run(&env).errors_of("vars-errors@0.0.0"), expected, "{env:?}");
    }
    assert_eq!(project.run(&[]).stdout(), PINNED);
}
