//! The command and the engine, packed and unpacked elsewhere, are whole.
// The packages that are built here choose their features themselves: one run is enough.
#![cfg(feature = "embed")]

mod harness;

use std::path::PathBuf;
use std::process::Command;

use harness::{Project, clean, root};

const VERSION: &str = env!("CARGO_PKG_VERSION");

#[test]
fn the_unpacked_command_and_engine_compile_offline_outside_the_repository() {
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("package-members");
    let mut command = Command::new(env!("CARGO"));
    clean(&mut command);
    let packed = command
        .args(["package", "--workspace", "--allow-dirty", "--no-verify", "--offline", "--target-dir"])
        .arg(&target)
        .current_dir(root())
        .output()
        .expect("cargo runs");
    let stderr = String::from_utf8_lossy(&packed.stderr);
    assert!(packed.status.success(), "{stderr}");

    let project = Project::empty();
    let unpacked = |name: &str| {
        let archive = target.join(format!("package/{name}-{VERSION}.crate"));
        let tar = Command::new("tar").arg("-xzf").arg(archive).current_dir(project.path("")).status();
        assert!(tar.expect("tar runs").success());
        let folder = project.path(&format!("{name}-{VERSION}"));
        for file in ["LICENSE-MIT", "LICENSE-APACHE", "README.md", "Cargo.toml"] {
            assert!(folder.join(file).is_file(), "{name} has no {file}");
        }
        folder
    };
    let (engine, cli) = (unpacked("coreos-pins-build"), unpacked("coreos-pins-cli"));
    // Inside the package as a user has it: its own manifest and lock file, and the engine from beside it.
    let mut check = Command::new(env!("CARGO"));
    clean(&mut check);
    let checked = check
        .args(["check", "--offline", "--target-dir"])
        .arg(concat!(env!("CARGO_TARGET_TMPDIR"), "/projects"))
        .arg("--config")
        .arg(format!("patch.crates-io.coreos-pins-build.path={engine:?}"))
        .current_dir(&cli)
        .output()
        .expect("cargo runs");
    let stderr = String::from_utf8_lossy(&checked.stderr);
    assert!(checked.status.success() && !stderr.contains("warning"), "{stderr}");
    assert!(stderr.contains(&*engine.display().to_string()), "{stderr}");
}
