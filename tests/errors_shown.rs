//! What a user sees of an error in the crate that they depend on: each line once, with cargo's own start, and no more.
// The packages that are built here choose their features themselves: one run is enough.
#![cfg(feature = "embed")]

mod harness;

use std::collections::BTreeSet;
use std::process::Command;

use harness::{Project, clean};

/// Builds `project` with `variable` set, backtraces asked for, and returns what cargo said.
fn build(project: &Project, variable: &str, value: &str) -> (bool, String) {
    let mut command = Command::new(env!("CARGO"));
    clean(&mut command);
    let output = command
        .args(["build", "--offline", "--target-dir", concat!(env!("CARGO_TARGET_TMPDIR"), "/projects")])
        .current_dir(project.path(""))
        .env(variable, value)
        .env("RUST_BACKTRACE", "full")
        .output()
        .expect("cargo runs");
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// What `stderr` says beside cargo's own progress; each line must begin as cargo lets ours begin.
#[track_caller]
fn ours(stderr: &str) -> Vec<&str> {
    let progress = |line: &&str| line.starts_with(' ') || line.starts_with("warning: build failed, waiting");
    let mut lines: Vec<_> = stderr.lines().filter(|line| !progress(line)).collect();
    assert_eq!(lines.pop(), Some("error: build script logged errors"), "{stderr}");
    let start = concat!("error: coreos-pins@", env!("CARGO_PKG_VERSION"), ": ");
    lines.iter().map(|line| line.strip_prefix(start).expect(stderr)).collect()
}

#[test]
fn each_fault_is_shown_once_line_by_line_and_names_its_variable() {
    let project = Project::installer("errors-shown", "fn main() {}");
    for (variable, value, first) in [
        ("DEFAULT_CHANNEL", "stabel", "no pin for channel `stabel` (asked for by DEFAULT_CHANNEL)"),
        (
            "COREOS_PINS_DEFAULT_CHANNEL",
            "x",
            "no pin for channel `x` (asked for by COREOS_PINS_DEFAULT_CHANNEL)",
        ),
        ("BUILD_NAME", "ci-1234", "build `ci-1234` of channel `stable`"),
        ("BASE_URL", "/", "BASE_URL: `/` is no URL for documents: expected `https://…`"),
        (
            "BASE_URL",
            "https://app.invalid",
            "the pinned build of channel `stable` could not be looked up at BASE_URL",
        ),
        ("RELEASE_IMAGE", "quay.io/o/r:4.22", "RELEASE_IMAGE: "),
        ("COREOS_PINS_DIR", "/nowhere/pins", "no folder `/nowhere/pins` (asked for by COREOS_PINS_DIR)"),
        ("COREOS_PINS_DIR", "x\ny", "the value of COREOS_PINS_DIR holds a control character"),
        (
            "COREOS_PINS_BUILDNAME",
            "1",
            "unknown variable `COREOS_PINS_BUILDNAME`, did you mean `COREOS_PINS_BUILD_NAME`?",
        ),
        ("COREOS_PINS_RELEASE_IMGAE", "", "unknown variable `COREOS_PINS_RELEASE_IMGAE`, did you mean"),
        ("BUILD_NAME", "x\ncargo::rustc-cfg=pwned", "the value of BUILD_NAME holds a control character"),
    ] {
        let (succeeded, stderr) = build(&project, variable, value);
        assert!(!succeeded, "{variable}={value:?}");
        let lines = ours(&stderr);
        assert!(lines[0].starts_with(first), "{variable}={value:?}: {stderr}");
        assert!(stderr.contains(variable), "{stderr}");
        assert_eq!(lines.iter().collect::<BTreeSet<_>>().len(), lines.len(), "{stderr}");
        assert!(lines.iter().all(|line| !line.is_empty() && !line.ends_with('.')), "{stderr}");
    }
    let (succeeded, stderr) = build(&project, "DEFAULT_CHANNEL", "stable");
    assert!(succeeded, "{stderr}");
}

#[test]
fn a_password_and_a_token_are_in_no_message_and_in_no_file_that_is_written() {
    let project = Project::installer("errors-secret", "fn main() {}");
    for url in [
        "https://bob:s3cr3t@mirror.example/x?token=s3cr3t",
        "https://s3cr3t@mirror.example/x#s3cr3t",
        "bob:s3cr3t@mirror.example",
        "https://mirror.example/?a=1&X-Amz-Signature=s3cr3t",
        "HTTPS://bob:s3cr3t@[::1]:8443/",
    ] {
        for variable in ["BASE_URL", "COREOS_PINS_BASE_URL"] {
            let (succeeded, stderr) = build(&project, variable, url);
            assert!(!succeeded && !stderr.contains("s3cr3t"), "{url}: {stderr}");
            assert!(ours(&stderr)[0].contains(variable), "{url}: {stderr}");
        }
    }
    let mut folders = vec![concat!(env!("CARGO_TARGET_TMPDIR"), "/projects/debug/build").into()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path: std::path::PathBuf = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.components().any(|part| part.as_os_str() == "out")
                || path.ends_with("output")
                || path.ends_with("stderr")
            {
                let bytes = std::fs::read(&path).expect("a file");
                assert!(!bytes.windows(6).any(|window| window == b"s3cr3t"), "{}", path.display());
            }
        }
    }
}
