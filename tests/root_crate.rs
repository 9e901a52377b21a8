//! The crate itself as a dependency: when it is built again, and that its pins can be changed from outside.
// The packages that are built here choose their features themselves: one run is enough.
#![cfg(feature = "embed")]

mod harness;

use harness::{Project, stream};

const MAIN: &str = r#"fn main() { println!("{} {:?}", coreos_pins::BUILD_NAME, coreos_pins::CHANNELS); }"#;

fn is_fresh(run: &str, package: &str) -> bool {
    run.lines().any(|line| line.trim_start().starts_with(&format!("Fresh {package} v")))
}

#[test]
fn a_second_build_of_a_dependent_runs_no_script_and_compiles_nothing() {
    let project = Project::installer("root-fresh", MAIN);
    let first = project.run(&[]).stdout();
    for _ in 0..2 {
        let again = project.cargo(&["build", "-v"], &[]);
        assert!(again.succeeded, "{}", again.stderr);
        for package in ["coreos-pins", "coreos-pins-build", "root-fresh"] {
            assert!(is_fresh(&again.stderr, package), "{package}: {}", again.stderr);
        }
        assert!(!again.stderr.contains("Running"), "{}", again.stderr);
    }
    assert_eq!(project.run(&[]).stdout(), first);
}

#[test]
fn the_pins_folder_of_the_whole_build_is_watched_and_left_again() {
    let project = Project::installer("root-folder", MAIN);
    let own = project.run(&[]).stdout();
    project.write("images/maipo.json", &stream("1", "us-east-1", "ami-1"));
    let folder = project.path("images").display().to_string();
    let env = [("COREOS_PINS_DIR", &*folder)];
    assert_eq!(project.run(&env).stdout(), "1 [\"maipo\"]\n");
    assert!(is_fresh(&project.cargo(&["build", "-v"], &env).stderr, "coreos-pins"));
    project.write("images/maipo.json", &stream("2", "us-east-1", "ami-1"));
    project.write("images/next.json", &stream("3", "us-east-1", "ami-1"));
    assert_eq!(project.run(&env).stdout(), "2 [\"maipo\", \"next\"]\n");
    project.remove("images/next.json");
    assert_eq!(project.run(&env).stdout(), "2 [\"maipo\"]\n");
    assert_eq!(project.run(&[]).stdout(), own);
}

/// `check`, `build`, `test` and `doc` embed the same, whichever comes first.
#[test]
fn every_profile_and_command_embeds_the_same() {
    let test = "#[test] fn same() { assert_eq!(coreos_pins::PINS_SHA256, env!(\"EXPECTED\")); }";
    let main = "fn main() { println!(\"{}\", coreos_pins::PINS_SHA256); }";
    let project = Project::installer("root-commands", &format!("{main}\n{test}\n"));
    project.cargo(&["check"], &[("EXPECTED", "")]).stdout();
    let debug = project.run(&[("EXPECTED", "")]).stdout();
    project.cargo(&["test", "-q"], &[("EXPECTED", debug.trim())]).stdout();
    let optimized = project.cargo(&["run", "-q", "--config", "profile.dev.opt-level=1"], &[("EXPECTED", "")]);
    assert_eq!(optimized.stdout(), debug);
}
