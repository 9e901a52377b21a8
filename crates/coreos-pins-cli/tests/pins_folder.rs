//! Which pins folder a command works on, and which variables have a say in that: ours, and no developer's override.

mod harness;

use std::fs;

use harness::{Folder, POLICY, URL, document};

const BUMP: [&str; 6] = ["bump", "stable", "--from", "in.json", "--published-at", URL];

/// A folder with a document, and a second pins folder `other`.
fn folder() -> Folder {
    let folder = Folder::new(POLICY);
    folder.write("in.json", &document("44.1"));
    folder.write("other/channels.json", POLICY);
    folder
}

/// Tells in which of the two pins folders there is a pin now, and takes it away.
#[track_caller]
fn pinned_in(folder: &Folder) -> &'static str {
    let both =
        ["pins", "other"].map(|dir| fs::remove_file(folder.path(&format!("{dir}/stable.json"))).is_ok());
    match both {
        [true, false] => "pins",
        [false, true] => "other",
        _ => panic!("a pin in {both:?}"),
    }
}

#[test]
fn pins_here_are_found_and_pins_above_from_anywhere_below() {
    let folder = folder();
    folder.run_in("", &BUMP, &[]).said("stable: pinned build 44.1\n");
    assert_eq!(pinned_in(&folder), "pins");
    folder.write("a/b/in.json", &document("44.1"));
    folder.run_in("a/b", &BUMP, &[]).said("stable: pinned build 44.1\n");
    assert_eq!(pinned_in(&folder), "pins");
    // The nearest counts.
    folder.write("a/pins/channels.json", POLICY);
    folder.run_in("a/b", &BUMP, &[]).said("stable: pinned build 44.1\n");
    assert!(folder.path("a/pins/stable.json").exists() && !folder.path("pins/stable.json").exists());
}

#[test]
fn no_pins_anywhere_says_how_to_name_them() {
    let folder = folder();
    fs::rename(folder.path("pins"), folder.path("elsewhere")).unwrap();
    let text = folder.refuses(&BUMP, 2);
    assert!(text.starts_with("error: no folder `pins` in `") && text.contains("--pins-dir"), "{text}");
}

#[test]
fn the_variable_names_the_folder_and_the_flag_comes_before_it() {
    let folder = folder();
    folder.run_in("", &BUMP, &[("COREOS_PINS_DIR", "other")]).said("stable: pinned build 44.1\n");
    assert_eq!(pinned_in(&folder), "other");
    let absolute = folder.path("other").display().to_string();
    folder.run_in("", &BUMP, &[("COREOS_PINS_DIR", &absolute)]).said("stable: pinned build 44.1\n");
    assert_eq!(pinned_in(&folder), "other");

    // Before and after the command.
    let flag = ["--pins-dir", "other"];
    for arguments in [[&flag[..], &BUMP].concat(), [&BUMP[..], &flag].concat()] {
        let run = folder.run_in("", &arguments, &[("COREOS_PINS_DIR", "nowhere")]);
        run.said("stable: pinned build 44.1\n");
        assert_eq!(pinned_in(&folder), "other");
    }
}

#[test]
fn a_blank_variable_is_unset() {
    let folder = folder();
    for blank in ["", " ", "\t\n"] {
        folder.run_in("", &BUMP, &[("COREOS_PINS_DIR", blank)]).said("stable: pinned build 44.1\n");
        assert_eq!(pinned_in(&folder), "pins");
    }
}

#[test]
fn the_variables_value_is_trimmed_as_when_building() {
    let folder = folder();
    folder.run_in("", &BUMP, &[("COREOS_PINS_DIR", " other\n")]).said("stable: pinned build 44.1\n");
    assert_eq!(pinned_in(&folder), "other");
}

#[test]
fn a_folder_that_is_missing_is_an_error_that_says_who_asked_for_it() {
    let folder = folder();
    let text = folder.refuses(&[&["--pins-dir", "nowhere"], &BUMP[..]].concat(), 2);
    assert_eq!(text, "error: no folder `nowhere` (asked for by --pins-dir)\n");
    let run = folder.run_in("", &BUMP, &[("COREOS_PINS_DIR", "in.json")]);
    assert_eq!(run.status, 2);
    assert_eq!(run.stderr, "error: no folder `in.json` (asked for by COREOS_PINS_DIR)\n");
    assert_eq!(folder.pins(), ["channels.json"]);
}

#[test]
fn a_developers_overrides_change_nothing() {
    let folder = folder();
    let run = |env: &[(&str, &str)]| {
        folder.run_in("", &BUMP, env).said("stable: pinned build 44.1\n");
        let pin = folder.pin();
        fs::remove_file(folder.path("pins/stable.json")).unwrap();
        pin
    };
    let expected = run(&[]);
    let digest = format!("quay.io/r@sha256:{}", "b".repeat(64));
    let overrides = [
        ("BASE_URL", "http://127.0.0.1:1"),
        ("BUILD_NAME", "44.0"),
        ("DEFAULT_CHANNEL", "next"),
        ("RELEASE_IMAGE", &digest),
    ];
    assert_eq!(run(&overrides), expected);
    let prefixed: Vec<(String, &str)> =
        overrides.iter().map(|(name, value)| (format!("COREOS_PINS_{name}"), *value)).collect();
    let prefixed: Vec<(&str, &str)> = prefixed.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    assert_eq!(run(&prefixed), expected);
}

#[test]
fn a_misspelled_variable_is_an_error_with_a_guess_and_writes_nothing() {
    let folder = folder();
    for (name, expected) in [
        ("COREOS_PINS_DRI", "error: unknown variable `COREOS_PINS_DRI`, did you mean `COREOS_PINS_DIR`?\n"),
        ("COREOS_PINS_X", "error: unknown variable `COREOS_PINS_X`"),
    ] {
        for value in ["pins", ""] {
            let run = folder.run_in("", &BUMP, &[(name, value)]);
            assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{}", run.stderr);
            assert!(run.stderr.starts_with(expected), "{}", run.stderr);
        }
    }
    assert_eq!(folder.pins(), ["channels.json"]);
    // Others are none of our business.
    folder
        .run_in("", &BUMP, &[("COREOS_PIN_X", "1"), ("XCOREOS_PINS_X", "1")])
        .said("stable: pinned build 44.1\n");
}
