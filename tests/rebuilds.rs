//! When cargo runs the build script again, and when it does not.
// What this builds has features of its own: once is enough.
#![cfg(feature = "embed")]

mod harness;

use std::process::Command;

use harness::{Project, clean, root, stream};

const MAIN: &str = r#"fn main() { println!("{} {:?}", pins::BUILD_NAME, pins::CHANNELS); }"#;

fn project(name: &str) -> Project {
    let project = Project::own_pins(name, MAIN);
    project.write("pins/maipo.json", &stream("1", "us-east-1", "ami-1"));
    project
}

/// Whether a build had nothing to do for the package `name`.
fn is_fresh(project: &Project, name: &str) -> bool {
    let run = project.cargo(&["build", "-v"], &[]);
    let fresh = format!("Fresh {name} v0.0.0");
    assert!(run.succeeded, "{}", run.stderr);
    run.stderr.lines().any(|line| line.trim_start().starts_with(&fresh))
}

#[test]
fn a_second_build_has_nothing_to_do_and_foreign_files_change_nothing() {
    let project = project("rebuild-fresh");
    project.write("pins/README.md", "not a pin");
    assert_eq!(project.run(&[]).stdout(), "1 [\"maipo\"]\n");
    assert!(is_fresh(&project, "rebuild-fresh"));
    project.write("README.md", "beside the pins");
    project.write("src/unused.txt", "beside the code");
    assert!(is_fresh(&project, "rebuild-fresh"));
    // A pins folder without policy must not be watched for one: cargo takes a missing path for a changed one.
    assert!(is_fresh(&project, "rebuild-fresh"));
}

#[test]
fn a_commit_changes_nothing() {
    let project = project("rebuild-commit");
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=t", "-c", "user.email=t@example.com"]).args(arguments);
        assert!(command.current_dir(project.path("")).output().expect("git runs").status.success());
    };
    git(&["init", "-q"]);
    assert_eq!(project.run(&[]).stdout(), "1 [\"maipo\"]\n");
    git(&["commit", "-q", "--allow-empty", "-m", "empty"]);
    assert!(is_fresh(&project, "rebuild-commit"));
}

#[test]
fn a_pin_that_is_edited_added_or_removed_is_seen() {
    let project = project("rebuild-pins");
    assert_eq!(project.run(&[]).stdout(), "1 [\"maipo\"]\n");
    project.write("pins/maipo.json", &stream("2", "us-east-1", "ami-1"));
    assert_eq!(project.run(&[]).stdout(), "2 [\"maipo\"]\n");
    project.write("pins/next.json", &stream("3", "us-east-1", "ami-1"));
    assert_eq!(project.run(&[]).stdout(), "2 [\"maipo\", \"next\"]\n");
    project.remove("pins/next.json");
    assert_eq!(project.run(&[]).stdout(), "2 [\"maipo\"]\n");
    project.write("pins/channels.json", r#"{ "version": 1, "channels": { "maipo": {} } }"#);
    assert_eq!(project.run(&[]).stdout(), "2 [\"maipo\"]\n");
}

#[test]
fn a_broken_pin_stops_the_build_and_a_mended_one_lets_it_go_on() {
    let project = project("rebuild-broken");
    assert_eq!(project.run(&[]).stdout(), "1 [\"maipo\"]\n");
    project.write("pins/maipo.json", "{\n<<<<<<< HEAD\n}");
    let errors = project.run(&[]).errors_of("rebuild-broken@0.0.0");
    assert_eq!(errors[0], "pins/maipo.json: line 2 is the marker of an unfinished merge");
    project.write("pins/maipo.json", &stream("2", "us-east-1", "ami-1"));
    assert_eq!(project.run(&[]).stdout(), "2 [\"maipo\"]\n");
}

#[test]
fn every_variable_is_followed_through_good_and_bad_values() {
    let project = project("rebuild-variables");
    project.write("pins/next.json", &stream("3", "us-east-1", "ami-3"));
    project.write("other/maipo.json", &stream("4", "us-east-1", "ami-4"));
    let digest = |digit: &str| format!("q/r@sha256:{}", digit.repeat(64));
    let pinned = "1 [\"maipo\", \"next\"]\n";
    assert_eq!(project.run(&[]).stdout(), pinned);
    for (variable, good, shown, bad) in [
        ("DEFAULT_CHANNEL", "next", "3 [\"maipo\", \"next\"]\n", "nope"),
        ("COREOS_PINS_DEFAULT_CHANNEL", "next", "3 [\"maipo\", \"next\"]\n", "nope"),
        ("BUILD_NAME", "1", pinned, "9"),
        ("COREOS_PINS_BUILD_NAME", "1", pinned, "9"),
        ("BASE_URL", "", pinned, "https://example.com"),
        ("COREOS_PINS_BASE_URL", "", pinned, "https://example.com"),
        ("RELEASE_IMAGE", &digest("a"), pinned, "q/r:tag"),
        ("COREOS_PINS_RELEASE_IMAGE", &digest("a"), pinned, "q/r:tag"),
        ("COREOS_PINS_DIR", "other", "4 [\"maipo\"]\n", "nowhere"),
    ] {
        assert_eq!(project.run(&[(variable, good)]).stdout(), shown, "{variable}");
        assert!(!project.run(&[(variable, bad)]).succeeded, "{variable}");
        assert_eq!(project.run(&[(variable, good)]).stdout(), shown, "{variable}");
        assert_eq!(project.run(&[]).stdout(), pinned, "{variable}");
    }
}

#[test]
fn two_checkouts_that_share_a_target_folder_each_show_their_own_pins() {
    let (one, two) = (project("rebuild-shared"), project("rebuild-shared"));
    two.write("pins/maipo.json", &stream("2", "us-east-1", "ami-1"));
    for checkout in [&one, &two] {
        checkout.write(
            ".cargo/config.toml",
            &std::fs::read_to_string(root().join(".cargo/config.toml")).unwrap(),
        );
    }
    for _ in 0..2 {
        assert_eq!(one.run(&[]).stdout(), "1 [\"maipo\"]\n");
        assert_eq!(two.run(&[]).stdout(), "2 [\"maipo\"]\n");
    }
}

#[test]
fn the_script_reads_the_folder_it_runs_in_not_the_one_it_was_compiled_in() {
    let project = project("rebuild-moved").with_own_target();
    assert_eq!(project.run(&[]).stdout(), "1 [\"maipo\"]\n");
    let out = project.out_dir("rebuild-moved");
    let scripts = std::fs::read_dir(project.path("target/debug/build")).unwrap().filter_map(|entry| {
        let script = entry.unwrap().path().join("build-script-build");
        let name = script.parent()?.file_name()?.to_str()?.to_owned();
        (name.starts_with("rebuild-moved-") && script.exists()).then_some(script)
    });
    let script = scripts.last().expect("a compiled script");

    let copy = Project::empty();
    copy.write("pins/maipo.json", &stream("7", "us-east-1", "ami-7"));
    copy.write("out/.keep", "");
    let mut command = Command::new(script);
    clean(&mut command);
    let output = command
        .current_dir(copy.path(""))
        .env("CARGO_MANIFEST_DIR", copy.path(""))
        .env("OUT_DIR", copy.path("out"))
        .output()
        .expect("the script runs");
    assert!(output.status.success());
    let generated = std::fs::read_to_string(copy.path("out/coreos_pins.rs")).unwrap();
    assert!(generated.contains("pub const BUILD_NAME: &str = \"7\";"));
    assert!(
        std::fs::read_to_string(out.join("coreos_pins.rs"))
            .unwrap()
            .contains("pub const BUILD_NAME: &str = \"1\";")
    );
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.lines().all(|line| line.starts_with("cargo::rerun-if-")), "{said}");
    assert!(said.contains("cargo::rerun-if-changed=pins\n"), "{said}");
}
