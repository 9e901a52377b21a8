//! The compiled build script, run by hand: what it says to cargo, what it writes, and what it goes by.
// The packages that are built here choose their features themselves: one run is enough.
#![cfg(feature = "embed")]

mod harness;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use harness::{Project, clean, root, stream};

/// The variables that users are told of.
const DOCUMENTED: [&str; 9] = [
    "BASE_URL",
    "DEFAULT_CHANNEL",
    "BUILD_NAME",
    "RELEASE_IMAGE",
    "COREOS_PINS_BASE_URL",
    "COREOS_PINS_DEFAULT_CHANNEL",
    "COREOS_PINS_BUILD_NAME",
    "COREOS_PINS_RELEASE_IMAGE",
    "COREOS_PINS_DIR",
];

const MAIN: &str = "fn main() { println!(\"{}\", pins::x86_64::AMI_US_EAST_1); }";

/// A package that has been built once: the script, the library it is for, and the package itself.
struct Built {
    script: PathBuf,
    library: PathBuf,
    package: Project,
}

static BUILT: LazyLock<Built> = LazyLock::new(|| {
    let package = Project::own_pins("script-runs", MAIN);
    package.write("pins/maipo.json", &stream("1", "us-east-1", "ami-1"));
    package.write("pins/next.json", &stream("2", "us-east-1", "ami-2"));
    let messages = package.cargo(&["build", "--message-format=json"], &[]).stdout();
    let messages: Vec<serde_json::Value> =
        messages.lines().map(|line| serde_json::from_str(line).expect("a message of cargo")).collect();
    let file = |target: &str, package: &str| {
        let of = |message: &&serde_json::Value| {
            message["target"]["name"] == target
                && message["package_id"].as_str().is_some_and(|id| id.contains(package))
        };
        let message = messages.iter().find(of).unwrap_or_else(|| panic!("no {target}"));
        PathBuf::from(message["filenames"][0].as_str().expect("a file"))
    };
    let (script, library) = (file("build-script-build", "script-runs"), file("coreos_pins", "coreos-pins"));
    Built { script, library, package }
});

/// Runs the script in `folder`, which has `pins/`, with `out` as its OUT_DIR. `shell` comes before it.
fn run(folder: &Path, out: &Path, shell: &str, env: &[(&str, &str)]) -> Output {
    fs::create_dir_all(out).expect("an OUT_DIR");
    let mut command = Command::new("sh");
    clean(&mut command);
    command.arg("-c").arg(format!("{shell} exec \"$0\"")).arg(&BUILT.script).current_dir(folder);
    command.env("OUT_DIR", out).envs(env.iter().copied());
    let output = command.output().expect("sh runs");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    output
}

fn lines(output: &Output) -> Vec<String> {
    String::from_utf8(output.stdout.clone()).expect("UTF-8").lines().map(str::to_owned).collect()
}

fn errors(output: &Output) -> Vec<String> {
    lines(output).iter().filter_map(|line| line.strip_prefix("cargo::error=")).map(str::to_owned).collect()
}

/// Every file below `folder`, by path from there.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut files, mut folders) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.insert(path.strip_prefix(folder).unwrap().to_owned(), fs::read(&path).expect("a file"));
            }
        }
    }
    files
}

/// What the script writes for the package's own pins.
fn written(shell: &str, env: &[(&str, &str)]) -> BTreeMap<PathBuf, Vec<u8>> {
    let out = tempfile::tempdir().expect("a temporary folder");
    let output = run(&BUILT.package.path(""), out.path(), shell, env);
    assert_eq!(errors(&output), [""; 0], "{env:?}");
    files(out.path())
}

#[test]
fn every_documented_variable_is_watched_once_and_so_is_the_folder() {
    let out = tempfile::tempdir().expect("a temporary folder");
    for env in [&[][..], &[("BUILD_NAME", "no-such-build")], &[("COREOS_PINS_TYPO", "1")]] {
        // Also when the run ends in an error: it must run again once the fault is mended.
        let said = lines(&run(&BUILT.package.path(""), out.path(), "", env));
        for variable in DOCUMENTED {
            let directive = format!("cargo::rerun-if-env-changed={variable}");
            assert_eq!(said.iter().filter(|line| **line == directive).count(), 1, "{directive} in {said:?}");
        }
        let paths: Vec<&String> = said.iter().filter(|line| line.contains("rerun-if-changed")).collect();
        assert_eq!(paths, ["cargo::rerun-if-changed=pins"]);
        let known = ["cargo::rerun-if-env-changed=", "cargo::rerun-if-changed=", "cargo::error="];
        assert!(said.iter().all(|line| known.iter().any(|start| line.starts_with(start))), "{said:?}");
        assert_eq!(said.iter().any(|line| line.starts_with("cargo::error=")), !env.is_empty());
    }
}

#[test]
fn the_engine_reads_the_environment_in_one_module_only() {
    let mut readers = Vec::new();
    for (name, bytes) in files(&root().join("crates/coreos-pins-build/src")) {
        let text = String::from_utf8(bytes).expect("UTF-8");
        // Cargo's OUT_DIR is where the answer goes, and no part of the question.
        let text = text.replace("std::env::var_os(\"OUT_DIR\")", "");
        if text.contains("env::var") {
            readers.push(name);
        }
    }
    assert_eq!(readers, [PathBuf::from("settings.rs")]);
}

#[test]
fn runs_in_any_surroundings_write_the_same_bytes() {
    let first = written("", &[]);
    assert_eq!(first.len(), 3, "{:?}", first.keys());
    for (shell, env) in [
        ("", &[][..]),
        ("umask 077;", &[("TZ", "Asia/Kathmandu"), ("LC_ALL", "tr_TR.UTF-8"), ("LANG", "C")]),
        (
            "umask 000;",
            &[("USER", "nobody"), ("HOME", "/nonexistent"), ("TERM", "dumb"), ("SOURCE_DATE_EPOCH", "1")],
        ),
        (
            "",
            &[
                ("TARGET", "aarch64-apple-darwin"),
                ("HOST", "s390x-unknown-linux-gnu"),
                ("PROFILE", "release"),
            ],
        ),
        ("ulimit -v 500000;", &[]),
    ] {
        assert_eq!(written(shell, env), first, "{shell} {env:?}");
    }
}

#[test]
fn a_copy_elsewhere_gives_the_same_bytes_and_no_path_gets_into_them() {
    let copy = Project::empty();
    for name in ["pins/next.json", "pins/maipo.json"] {
        copy.write(name, &fs::read_to_string(BUILT.package.path(name)).expect("a pin"));
    }
    let out = copy.path("deep/er/out");
    run(&copy.path(""), &out, "", &[]);
    assert_eq!(files(&out), written("", &[]));
    for (name, bytes) in files(&out) {
        let text = String::from_utf8(bytes).expect("UTF-8");
        for path in [copy.path(""), BUILT.package.path(""), std::env::temp_dir(), root().to_owned()] {
            let path = path.display().to_string();
            assert!(!text.contains(path.trim_end_matches('/')), "{} holds {path}", name.display());
        }
    }
}

#[test]
fn a_blank_variable_gives_the_bytes_of_an_unset_one() {
    let unset = written("", &[]);
    for variable in DOCUMENTED {
        for blank in ["", " ", "\t", "\n", " \r\n"] {
            assert_eq!(written("", &[(variable, blank)]), unset, "{variable} {blank:?}");
        }
    }
    for value in ["next", "next ", " next", "next\n"] {
        let expected = written("", &[("DEFAULT_CHANNEL", "next")]);
        assert_eq!(written("", &[("DEFAULT_CHANNEL", value)]), expected, "{value:?}");
        assert_ne!(expected, unset);
    }
}

#[test]
fn no_value_gives_cargo_a_directive() {
    let out = tempfile::tempdir().expect("a temporary folder");
    let texts =
        ["x\ncargo::rustc-cfg=pwned", "x\r\ncargo:rustc-cfg=pwned", "\u{1b}[31mx\u{85}y", "x\u{202e}y"];
    for variable in DOCUMENTED {
        for text in texts {
            let output = run(&BUILT.package.path(""), out.path(), "", &[(variable, text)]);
            let said = String::from_utf8(output.stdout.clone()).expect("UTF-8");
            let errors = errors(&output);
            let named = errors.first().is_some_and(|e| e.contains(variable) || e.contains("`x\\u{202e}y`"));
            assert!(named, "{variable} {text:?}: {said}");
            assert!(
                !said.lines().any(|line| line.starts_with("cargo") && line.contains("rustc-cfg=")),
                "{said}"
            );
            assert!(!said.contains(['\u{1b}', '\u{85}', '\u{202e}', '\r']), "{said:?}");
        }
    }
    assert_eq!(files(out.path()).len(), 0);
}

#[cfg(unix)]
#[test]
fn a_value_that_is_no_utf8_is_an_error_that_names_its_variable() {
    let out = tempfile::tempdir().expect("a temporary folder");
    for variable in DOCUMENTED {
        let shell = format!("export {variable}=$(printf 'x\\377');");
        let output = run(&BUILT.package.path(""), out.path(), &shell, &[]);
        assert_eq!(errors(&output), [format!("the value of {variable} is no UTF-8")]);
    }
}

#[test]
fn the_script_writes_into_its_out_dir_only() {
    let copy = Project::empty();
    copy.write("pins/maipo.json", &stream("1", "us-east-1", "ami-1"));
    copy.write("pins/channels.json", r#"{"version":1,"default":"maipo","channels":{"maipo":{}}}"#);
    let before = files(&copy.path(""));
    let (home, out) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let elsewhere = home.path().to_str().expect("UTF-8");
    let env = [
        ("HOME", elsewhere),
        ("TMPDIR", elsewhere),
        ("XDG_CACHE_HOME", elsewhere),
        ("CARGO_HOME", elsewhere),
    ];
    run(&copy.path(""), out.path(), "", &env);
    assert_eq!(files(&copy.path("")), before);
    assert_eq!(files(home.path()).len(), 0);
    assert_eq!(files(out.path()).len(), 2);
}

#[test]
fn what_an_earlier_run_left_is_overwritten_where_it_differs_and_not_touched_where_it_does_not() {
    let out = tempfile::tempdir().expect("a temporary folder");
    let folder = BUILT.package.path("");
    run(&folder, out.path(), "", &[("DEFAULT_CHANNEL", "next")]);
    let constants = out.path().join("coreos_pins.rs");
    let next = fs::read_to_string(&constants).expect("constants");
    assert!(next.contains("pub const BUILD_NAME: &str = \"2\";"));
    // A run that fails must not put the old answer in place of the one it owes.
    assert!(!errors(&run(&folder, out.path(), "", &[("BUILD_NAME", "3")])).is_empty());
    run(&folder, out.path(), "", &[]);
    assert_eq!(files(out.path()), written("", &[]));

    let age = |path: &Path| fs::metadata(path).and_then(|data| data.modified()).expect("an age");
    let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    for name in files(out.path()).keys() {
        let file = fs::File::options().write(true).open(out.path().join(name)).expect("a file");
        file.set_modified(old).expect("an older file");
    }
    run(&folder, out.path(), "", &[]);
    for name in files(out.path()).keys() {
        assert_eq!(age(&out.path().join(name)), old, "{}", name.display());
    }
}

#[cfg(unix)]
#[test]
fn an_out_dir_with_odd_characters_is_included_by_the_macro() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("a\\b\"c {d} 'e' \u{e9}");
    run(&BUILT.package.path(""), &out, "", &[]);
    let program = folder.path().join("program");
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    clean(&mut rustc);
    let compiled = rustc
        .args(["--edition=2024", "--crate-name=odd", "-o"])
        .arg(&program)
        .arg(format!("--extern=coreos_pins={}", BUILT.library.display()))
        .arg(BUILT.package.path("src/main.rs"))
        .env("OUT_DIR", &out)
        .output()
        .expect("rustc runs");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let output = Command::new(program).output().expect("the program runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "ami-1\n");
}
