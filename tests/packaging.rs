//! The packages, as they would be published, are whole; and what the manifests promise is so.
// What this builds has features of its own: once is enough.
#![cfg(feature = "embed")]

mod harness;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use harness::{Project, clean, root};

const PACKAGES: [&str; 3] = ["coreos-pins", "coreos-pins-build", "coreos-pins-cli"];

fn cargo(dir: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO"));
    clean(&mut command);
    let output = command.args(arguments).current_dir(dir).output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Every file below `dir` with its content, but for `.git` and the target folder.
fn tree(dir: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in fs::read_dir(dir).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.file_name().and_then(|name| name.to_str()) {
            Some(".git" | "target") => {}
            _ if path.is_dir() => tree(&path, files),
            _ => files.push((path.clone(), fs::read(&path).expect("a file"))),
        }
    }
}

#[test]
fn the_unpacked_packages_build_offline_outside_the_repository_and_write_nothing_into_their_sources() {
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("package");
    let target_dir = format!("--target-dir={}", target.display());
    // What is built below is the packed files: verifying them here too would build everything twice.
    cargo(
        root(),
        &["package", "--workspace", "--allow-dirty", "--no-verify", "--offline", "-q", &target_dir],
    );

    let project = Project::empty();
    let mut patches = String::new();
    for name in PACKAGES {
        let archive = target.join("package").join(format!("{name}-0.1.0.crate"));
        let unpacked = Command::new("tar").arg("-xzf").arg(archive).current_dir(project.path("")).status();
        assert!(unpacked.expect("tar runs").success());
        patches += &format!("{name} = {{ path = {:?} }}\n", project.path(&format!("{name}-0.1.0")));
    }
    let listed: BTreeSet<String> = fs::read_dir(project.path("coreos-pins-0.1.0/pins"))
        .expect("pins are packed")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    let committed = fs::read_dir(root().join("pins")).expect("pins");
    assert_eq!(
        listed,
        committed.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
    );

    project.manifest("from-package", "coreos-pins = \"0.1.0\"", &format!("[patch.crates-io]\n{patches}"));
    project.write("src/main.rs", "fn main() { println!(\"{}\", coreos_pins::PINS_SHA256); }");
    let mut before = Vec::new();
    tree(&project.path("coreos-pins-0.1.0"), &mut before);
    // Root may write anyway; anybody else is held to it.
    let read_only =
        Command::new("chmod").args(["-R", "a-w", "coreos-pins-0.1.0"]).current_dir(project.path("")).status();
    assert!(read_only.expect("chmod runs").success());
    let printed = project.run(&[]).stdout();
    let mut after = Vec::new();
    tree(&project.path("coreos-pins-0.1.0"), &mut after);
    let writable =
        Command::new("chmod").args(["-R", "u+w", "coreos-pins-0.1.0"]).current_dir(project.path("")).status();
    assert!(writable.expect("chmod runs").success());
    assert_eq!(before, after);

    let repository =
        Project::installer("from-package", "fn main() { println!(\"{}\", coreos_pins::PINS_SHA256); }");
    assert_eq!(printed, repository.run(&[]).stdout());
}

#[test]
fn a_build_writes_nothing_but_its_target_folder() {
    let project = Project::own_pins("writes-nothing", "fn main() {}").with_own_target();
    project.write("pins/maipo.json", &harness::stream("1", "us-east-1", "ami-1"));
    let mut before = Vec::new();
    project.run(&[]).stdout();
    tree(&project.path(""), &mut before);
    project.write("src/main.rs", "fn main() { println!(); }");
    project.run(&[]).stdout();
    let mut after = Vec::new();
    tree(&project.path(""), &mut after);
    let names = |files: &[(PathBuf, Vec<u8>)]| files.iter().map(|(path, _)| path.clone()).collect::<Vec<_>>();
    assert_eq!(names(&before), names(&after));
}

#[test]
fn a_dependent_compiles_sixteen_crates_at_most() {
    let project = Project::empty();
    project.manifest(
        "counted",
        &format!("coreos-pins = {{ path = {:?}, default-features = false, features = [\"embed\"] }}", root()),
        "",
    );
    project.write("src/main.rs", "fn main() {}");
    let tree =
        project.cargo(&["tree", "-e", "normal,build", "--prefix", "none", "--format", "{p}"], &[]).stdout();
    let crates: BTreeSet<String> =
        tree.lines().map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect();
    assert!(
        crates.contains("coreos-pins v0.1.0") && crates.contains("coreos-pins-build v0.1.0"),
        "{crates:?}"
    );
    let added = crates.iter().filter(|name| !name.is_empty() && !name.starts_with("counted ")).count();
    assert!((2..=16).contains(&added), "{added}: {crates:?}");
}

#[test]
fn without_embed_nothing_is_compiled_but_the_crate() {
    let project = Project::empty();
    project.manifest(
        "types-only",
        &format!("coreos-pins = {{ path = {:?}, default-features = false }}", root()),
        "",
    );
    project.write("src/main.rs", "fn main() {}");
    let tree = project.cargo(&["tree", "-e", "normal,build", "--prefix", "none"], &[]).stdout();
    assert_eq!(tree.lines().filter(|line| !line.is_empty()).count(), 2, "{tree}");
}

#[test]
fn our_crates_have_one_version_bound_exactly_and_noted_in_the_changelog() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    assert!(manifest.contains(&format!("[workspace.package]\nversion = \"{version}\"")));
    assert!(manifest.contains(&format!(
        "coreos-pins-build = {{ path = \"crates/coreos-pins-build\", version = \"={version}\" }}"
    )));
    assert!(fs::read_to_string(root().join("CHANGELOG.md")).unwrap().contains(&format!("## {version}")));
    for name in &PACKAGES[1..] {
        let folder = root().join("crates").join(name);
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            assert_eq!(fs::read(folder.join(licence)).unwrap(), fs::read(root().join(licence)).unwrap());
        }
    }
}
