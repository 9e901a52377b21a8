//! Packages in temporary folders, built by the very cargo that runs the tests: offline, with the versions of our own
//! lock file, and with none of the variables that happen to be exported.

#![allow(dead_code, unreachable_pub, reason = "each test file uses a part")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// This repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A stream document with one AMI and one qcow2 for x86_64, of build `build`.
pub fn stream(build: &str, region: &str, ami: &str) -> String {
    let digit = build.bytes().map(u32::from).sum::<u32>() % 10;
    let sha256 = digit.to_string().repeat(64);
    format!(
        r#"{{
  "stream": "test",
  "architectures": {{ "x86_64": {{
    "artifacts": {{ "qemu": {{ "release": "{build}", "formats": {{ "qcow2.xz": {{ "disk": {{
      "location": "https://example.com/{build}/qemu.qcow2.xz", "sha256": "{sha256}" }} }} }} }} }},
    "images": {{ "aws": {{ "regions": {{ "{region}": {{ "release": "{build}", "image": "{ami}" }} }} }} }}
  }} }}
}}
"#
    )
}

/// A package in a folder of its own.
pub struct Project {
    dir: tempfile::TempDir,
    target: PathBuf,
}

/// What cargo, or a program, did.
pub struct Run {
    pub succeeded: bool,
    pub stdout: String,
    pub stderr: String,
}

impl Run {
    fn of(output: &Output) -> Self {
        Self {
            succeeded: output.status.success(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Returns standard output of a run that must have succeeded.
    #[track_caller]
    pub fn stdout(self) -> String {
        assert!(self.succeeded, "{}\n{}", self.stdout, self.stderr);
        self.stdout
    }

    /// Returns standard error of a run that must have failed.
    #[track_caller]
    pub fn refusal(self) -> String {
        assert!(!self.succeeded, "expected a failure\n{}\n{}", self.stdout, self.stderr);
        self.stderr
    }

    /// Returns the lines that our build script had to say, without what cargo puts in front.
    #[track_caller]
    pub fn errors_of(self, package: &str) -> Vec<String> {
        let prefix = format!("error: {package}: ");
        let stderr = self.refusal();
        assert!(!stderr.contains("panicked") && !stderr.contains("RUST_BACKTRACE"), "{stderr}");
        stderr.lines().filter_map(|line| line.strip_prefix(&prefix)).map(str::to_owned).collect()
    }
}

impl Project {
    /// A binary that depends on the crate as most installers do, and prints what `main` prints.
    pub fn installer(name: &str, main: &str) -> Self {
        let project = Self::empty();
        project.manifest(name, &format!("coreos-pins = {{ path = {:?} }}", root()), "");
        project.write("src/main.rs", main);
        project
    }

    /// A binary with pins of its own, by the main door, that prints what `main` prints; `pins` is the module.
    pub fn own_pins(name: &str, main: &str) -> Self {
        let project = Self::empty();
        let features = "default-features = false";
        let engine = root().join("crates/coreos-pins-build");
        project.manifest(
            name,
            &format!("coreos-pins = {{ path = {:?}, {features} }}", root()),
            &format!("[build-dependencies]\ncoreos-pins-build = {{ path = {engine:?} }}"),
        );
        project.write("build.rs", "fn main() { coreos_pins_build::Config::from_env().compile(); }\n");
        project.write("src/main.rs", &format!("mod pins {{ coreos_pins::include_pins!(); }}\n{main}"));
        project
    }

    /// A folder with our lock file, so that cargo has nothing to choose.
    pub fn empty() -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        fs::copy(root().join("Cargo.lock"), dir.path().join("Cargo.lock")).expect("our lock file");
        Self { dir, target: PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("projects") }
    }

    /// Writes `Cargo.toml`. `more` is put at its end.
    pub fn manifest(&self, name: &str, dependencies: &str, more: &str) {
        self.write(
            "Cargo.toml",
            &format!(
                "[package]\nname = {name:?}\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
                 [dependencies]\n{dependencies}\n\n{more}\n"
            ),
        );
    }

    /// Gives the package a target folder of its own: what is built before is built again.
    pub fn with_own_target(mut self) -> Self {
        self.target = self.path("target");
        self
    }

    /// Gives the package the target folder `name`, which other tests may share; one at a time.
    pub fn with_target(mut self, name: &str) -> Self {
        self.target = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        self
    }

    /// The target folder.
    pub fn target(&self) -> &Path {
        &self.target
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(&path, text).expect("a file");
    }

    pub fn remove(&self, name: &str) {
        fs::remove_file(self.path(name)).expect("a file to remove");
    }

    /// Runs cargo with `arguments` and the variables `env`.
    pub fn cargo(&self, arguments: &[&str], env: &[(&str, &str)]) -> Run {
        let mut command = Command::new(env!("CARGO"));
        clean(&mut command);
        command
            .args(arguments)
            .arg("--offline")
            .current_dir(self.dir.path())
            .env("CARGO_TARGET_DIR", &self.target);
        command.envs(env.iter().copied());
        Run::of(&command.output().expect("cargo runs"))
    }

    /// Builds and runs the binary with the variables `env`, which only the build sees.
    pub fn run(&self, env: &[(&str, &str)]) -> Run {
        self.cargo(&["run", "-q"], env)
    }

    /// Returns the folder that the build script of the newest build of `package` wrote to.
    pub fn out_dir(&self, package: &str) -> PathBuf {
        let build = self.target.join("debug/build");
        let prefix = format!("{package}-");
        let outs = fs::read_dir(&build).expect("a build folder").filter_map(|entry| {
            let path = entry.expect("an entry").path();
            let name = path.file_name()?.to_str()?.strip_prefix(&prefix)?.to_owned();
            let file = path.join("out/coreos_pins.rs");
            let is_ours = name.len() == 16 && name.bytes().all(|b| b.is_ascii_hexdigit());
            Some((fs::metadata(&file).ok().filter(|_| is_ours)?.modified().ok()?, path.join("out")))
        });
        outs.max().expect("a folder that was written to").1
    }

    /// Returns the files that the build script of `package` wrote, by name.
    pub fn generated(&self, package: &str) -> std::collections::BTreeMap<String, Vec<u8>> {
        let mut files = std::collections::BTreeMap::new();
        let out = self.out_dir(package);
        files.insert(
            "coreos_pins.rs".to_owned(),
            fs::read(out.join("coreos_pins.rs")).expect("the constants"),
        );
        for entry in fs::read_dir(out.join("coreos_pins")).expect("the documents") {
            let entry = entry.expect("an entry");
            let name = entry.file_name().to_string_lossy().into_owned();
            files.insert(name, fs::read(entry.path()).expect("a document"));
        }
        files
    }
}

/// Takes away every variable that would change what is built.
pub fn clean(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let Some(name) = name.to_str() else { continue };
        let ours =
            ["BASE_URL", "DEFAULT_CHANNEL", "BUILD_NAME", "RELEASE_IMAGE", "RUSTFLAGS", "RUST_BACKTRACE"];
        let kept = ["CARGO_HOME", "CARGO_NET_GIT_FETCH_WITH_CLI"];
        let cargos = name.starts_with("CARGO") && !kept.contains(&name);
        if ours.contains(&name) || name.starts_with("COREOS_PINS_") || cargos {
            command.env_remove(name);
        }
    }
}
