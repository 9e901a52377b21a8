//! Repositories in temporary folders, on which the built `coreos-pins` is run with no variable that happens to be
//! exported.

#![allow(dead_code, unreachable_pub, reason = "each test file uses a part")]

pub mod server;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where documents are said to be published.
pub const URL: &str = "https://example.com/stable.json";

/// A policy with one channel.
pub const POLICY: &str = r#"{ "version": 1, "default": "stable", "channels": { "stable": {
    "base-url": "https://example.com", "require": ["aws", "qemu"] } } }"#;

/// [`POLICY`] with more `members` in its channel.
pub fn policy_with(members: &str) -> String {
    POLICY.replace("\"require\"", &format!("{members}, \"require\""))
}

/// A document with two AMIs and a qcow2 for x86_64, and an AMI for aarch64.
pub fn document(build: &str) -> String {
    let sha256 = "a".repeat(64);
    format!(
        r#"{{ "stream": "stable", "architectures": {{
            "x86_64": {{
                "artifacts": {{ "qemu": {{ "release": "{build}", "formats": {{ "qcow2.xz": {{ "disk": {{
                    "location": "https://example.com/{build}/qemu", "sha256": "{sha256}" }} }} }} }} }},
                "images": {{ "aws": {{ "regions": {{
                    "us-east-1": {{ "release": "{build}", "image": "ami-1" }},
                    "us-west-1": {{ "release": "{build}", "image": "ami-2" }} }} }} }} }},
            "aarch64": {{ "images": {{ "aws": {{ "regions": {{
                "us-east-1": {{ "release": "{build}", "image": "ami-3" }} }} }} }} }} }} }}"#
    )
}

/// A folder with `pins/channels.json`.
pub struct Folder {
    dir: tempfile::TempDir,
}

/// What a run said.
pub struct Run {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Run {
    /// Checks that it succeeded, said `stdout`, and had nothing else to say.
    #[track_caller]
    pub fn said(&self, stdout: &str) {
        assert_eq!((self.status, self.stdout.as_str(), self.stderr.as_str()), (0, stdout, ""));
    }
}

impl Folder {
    pub fn new(policy: &str) -> Self {
        let folder = Self { dir: tempfile::tempdir().expect("a temporary folder") };
        folder.write("pins/channels.json", policy);
        folder
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a file, and the folders that lead to it.
    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("a text")
    }

    /// The pin of `stable`.
    #[track_caller]
    pub fn pin(&self) -> String {
        self.read("pins/stable.json")
    }

    pub fn run_in(&self, dir: &str, arguments: &[&str], env: &[(&str, &str)]) -> Run {
        const OURS: [&str; 4] = ["BASE_URL", "BUILD_NAME", "DEFAULT_CHANNEL", "RELEASE_IMAGE"];
        let mut command = Command::new(env!("CARGO_BIN_EXE_coreos-pins"));
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(|name| name.starts_with("COREOS_PINS_") || OURS.contains(&name)) {
                command.env_remove(name);
            }
        }
        command.args(arguments).current_dir(self.path(dir)).envs(env.iter().copied());
        let output = command.output().expect("coreos-pins runs");
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Run {
            status: output.status.code().expect("a status"),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// Bumps `stable` to `document`, which is in the file `in.json`.
    pub fn bump(&self, document: &str) -> Run {
        self.write("in.json", document);
        self.run_in("", &["bump", "stable", "--from", "in.json", "--published-at", URL], &[])
    }

    /// Bumps `stable` to `document`, which is in the file `in.json`, with further `arguments`.
    pub fn bump_with(&self, document: &str, arguments: &[&str]) -> Run {
        self.write("in.json", document);
        let all = ["bump", "stable", "--from", "in.json", "--published-at", URL];
        self.run_in("", &[&all, arguments].concat(), &[])
    }

    /// Bumps `stable` to `document`, which must be refused with `status` and leave every file as it was.
    #[track_caller]
    pub fn refused(&self, document: &str, status: i32) -> String {
        self.write("in.json", document);
        self.refuses(&["bump", "stable", "--from", "in.json", "--published-at", URL], status)
    }

    /// Runs with `arguments`, which must be refused with `status` and leave every file as it was.
    #[track_caller]
    pub fn refuses(&self, arguments: &[&str], status: i32) -> String {
        let before = self.files();
        let run = self.run_in("", arguments, &[]);
        assert_eq!((run.status, run.stdout.as_str()), (status, ""), "{arguments:?}\n{}", run.stderr);
        assert!(self.files() == before, "{arguments:?} changed a file");
        assert!(run.stderr.starts_with("error: "), "{}", run.stderr);
        run.stderr
    }

    /// Every file below the folder: path, content, and when it was changed. Folders have no content.
    pub fn files(&self) -> BTreeMap<PathBuf, (Vec<u8>, std::time::SystemTime)> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.dir.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                let modified = fs::symlink_metadata(&path).expect("metadata").modified().expect("a time");
                let content = if path.is_dir() {
                    folders.push(path.clone());
                    Vec::new()
                } else {
                    fs::read(&path).expect("content")
                };
                files.insert(path, (content, modified));
            }
        }
        files
    }

    /// The names of what is in `pins/`, sorted.
    pub fn pins(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path("pins")).expect("a folder");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8")).collect();
        names.sort();
        names
    }

    /// Runs git, which must succeed, and returns what it printed.
    #[track_caller]
    pub fn git(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "core.autocrlf=false"]);
        let output = command.args(arguments).current_dir(self.dir.path()).output().expect("git runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8")
    }
}

/// The pins folder of this repository.
pub fn committed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../pins")
}
