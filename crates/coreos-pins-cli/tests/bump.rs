//! `coreos-pins bump --from FILE`: what it writes, and what it refuses with nothing written.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use coreos_pins_build::pin::Pin;

const URL: &str = "https://example.com/stable.json";
const POLICY: &str = r#"{ "version": 1, "default": "stable", "channels": { "stable": {
    "base-url": "https://example.com", "require": ["aws", "qemu"] } } }"#;

/// A document with two AMIs and a qcow2 for x86_64, and an AMI for aarch64.
fn document(build: &str) -> String {
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

struct Folder {
    dir: tempfile::TempDir,
}

struct Run {
    status: i32,
    stdout: String,
    stderr: String,
}

impl Folder {
    fn new(policy: &str) -> Self {
        let folder = Self { dir: tempfile::tempdir().expect("a temporary folder") };
        fs::create_dir(folder.path("pins")).expect("a pins folder");
        folder.write("pins/channels.json", policy);
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("a file");
    }

    fn pin(&self) -> String {
        fs::read_to_string(self.path("pins/stable.json")).unwrap_or_default()
    }

    fn run_in(&self, dir: &str, arguments: &[&str], env: &[(&str, &str)]) -> Run {
        let mut command = Command::new(env!("CARGO_BIN_EXE_coreos-pins"));
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(|name| name.starts_with("COREOS_PINS_")) {
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

    fn bump(&self, document: &str) -> Run {
        self.write("in.json", document);
        self.run_in("", &["bump", "stable", "--from", "in.json", "--published-at", URL], &[])
    }

    /// Bumps to `document`, which must be refused with `status` and leave every file as it was.
    #[track_caller]
    fn refused(&self, document: &str, status: i32) -> String {
        let before = self.files();
        let run = self.bump(document);
        assert_eq!((run.status, run.stdout.as_str()), (status, ""), "{}", run.stderr);
        assert_eq!(self.files(), before);
        run.stderr
    }

    fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let entries = fs::read_dir(self.path("pins")).expect("a pins folder");
        let mut files: Vec<_> = entries
            .map(|entry| entry.expect("an entry").path())
            .map(|path| (path.clone(), fs::read(&path).unwrap_or_default()))
            .collect();
        files.sort();
        files
    }
}

#[test]
fn a_pin_is_written_and_the_same_document_writes_nothing() {
    let folder = Folder::new(POLICY);
    let run = folder.bump(&document("44.1"));
    assert_eq!((run.status, run.stdout.as_str()), (0, "stable: pinned build 44.1\n"), "{}", run.stderr);
    let pin = Pin::read("pin", folder.pin().as_bytes()).unwrap();
    assert_eq!(pin.to_text(), folder.pin());
    let header = pin.header.unwrap();
    assert_eq!((header.base_url.as_str(), header.build.as_str()), ("https://example.com", "44.1"));
    assert_eq!(header.sources[0].url, URL);
    assert_eq!(header.sources[0].sha256, coreos_pins_build::sha256::hex([document("44.1").as_bytes()]));

    let modified = || fs::metadata(folder.path("pins/stable.json")).unwrap().modified().unwrap();
    let (before, text) = (modified(), folder.pin());
    let run = folder.bump(&document("44.1"));
    assert_eq!((run.status, run.stdout.as_str()), (0, "stable: up to date, build 44.1\n"));
    assert_eq!((modified(), folder.pin()), (before, text));

    let run = folder.bump(&document("44.2"));
    assert_eq!(run.stdout, "stable: build 44.1 is now 44.2\n");
    assert_eq!(folder.files().len(), 2);
}

#[test]
fn one_ami_that_changed_is_one_line_and_that_of_its_source() {
    let folder = Folder::new(POLICY);
    folder.bump(&document("44.1"));
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=t", "-c", "user.email=t@example.com"]).args(arguments);
        let output = command.current_dir(folder.path("")).output().expect("git runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    git(&["init", "-q"]);
    git(&["add", "pins"]);
    git(&["commit", "-qm", "pins"]);
    folder.bump(&document("44.1").replace("ami-2", "ami-9"));
    assert_eq!(git(&["diff", "--numstat"]), "2\t2\tpins/stable.json\n");
}

#[test]
fn other_layout_of_the_document_gives_the_same_pin_but_for_the_hash_of_its_source() {
    let folder = Folder::new(POLICY);
    let without_sources = |text: String| {
        let mut pin = Pin::read("pin", text.as_bytes()).unwrap();
        pin.header.as_mut().unwrap().sources.clear();
        pin
    };
    folder.bump(&document("44.1"));
    let expected = without_sources(folder.pin());
    folder.bump(&format!("\u{feff}{}", document("44.1").replace('\n', "\r\n")));
    assert_eq!(without_sources(folder.pin()), expected);
}

#[test]
fn a_pin_that_was_laid_out_by_hand_is_laid_out_anew_once() {
    let folder = Folder::new(POLICY);
    folder.bump(&document("44.1"));
    let canonical = folder.pin();
    folder.write("pins/stable.json", &canonical.replace('\n', "\r\n").replace("  ", "\t"));
    assert_eq!(folder.bump(&document("44.1")).stdout, "stable: still build 44.1, its pin written anew\n");
    assert_eq!(folder.pin(), canonical);
    assert_eq!(folder.bump(&document("44.1")).stdout, "stable: up to date, build 44.1\n");
}

#[test]
fn a_build_without_a_required_platform_is_refused() {
    let folder = Folder::new(POLICY);
    let text = folder.refused(&document("44.1").replacen("\"aws\"", "\"gone\"", 1), 1);
    assert!(
        text.starts_with("error: build `44.1` lacks what channel `stable` requires: aws on x86_64\nhelp: "),
        "{text}"
    );

    // Where the pin has a platform, the next build must have it too.
    folder.bump(&document("44.1"));
    let without =
        document("44.2").replace(r#""aarch64": { "images": { "aws""#, r#""aarch64": { "images": { "gone""#);
    let with_files = without.replace(
        r#""aarch64": {"#,
        &format!(
            r#""aarch64": {{ "artifacts": {{ "qemu": {{ "release": "44.2", "formats": {{ "qcow2.xz": {{ "disk": {{
                "location": "l", "sha256": "{}" }} }} }} }} }},"#,
            "b".repeat(64)
        ),
    );
    let text = folder.refused(&with_files, 1);
    assert!(text.contains("requires: aws on aarch64"), "{text}");
}

#[test]
fn holds_and_floating_channels_are_refused() {
    let with = |key: &str| POLICY.replace("\"require\"", &format!("{key}, \"require\""));
    let held = Folder::new(&with(r#""hold": { "reason": "kernel bug", "until": "2999-12-31" }"#));
    let text = held.refused(&document("44.1"), 1);
    assert!(
        text.starts_with("error: channel `stable` is on hold until 2999-12-31: kernel bug\nhelp: "),
        "{text}"
    );
    let over = Folder::new(&with(r#""hold": { "reason": "kernel bug", "until": "2020-12-31" }"#));
    assert_eq!(over.bump(&document("44.1")).status, 0);
    let text = Folder::new(&with(r#""floats": true"#)).refused(&document("44.1"), 1);
    assert!(text.starts_with("error: channel `stable` floats: it is not pinned\n"), "{text}");
}

#[test]
fn files_that_cannot_be_read_are_refused_and_left_alone() {
    let folder = Folder::new(POLICY);
    folder.write("pins/stable.json", "{\n<<<<<<< HEAD\n}");
    let text = folder.refused(&document("44.1"), 2);
    assert!(
        text.starts_with("error: pins/stable.json: line 2 is the marker of an unfinished merge\n"),
        "{text}"
    );

    let text = Folder::new(r#"{ "version": 9 }"#).refused(&document("44.1"), 2);
    assert!(
        text.starts_with("error: pins/channels.json: version: 9 is newer than this coreos-pins"),
        "{text}"
    );
    let text = Folder::new(POLICY).refused("<html>login</html>", 2);
    assert!(text.starts_with("error: in.json: expected JSON, found what looks like an HTML page"), "{text}");
    let text = Folder::new(&POLICY.replace("base-url", "base_url")).refused(&document("44.1"), 2);
    assert!(text.contains("channels.stable.base_url: unknown field `base_url`"), "{text}");
}

#[test]
fn usage_is_checked() {
    let folder = Folder::new(POLICY);
    folder.write("in.json", &document("44.1"));
    for (arguments, expected) in [
        (
            vec!["bump", "stabel", "--from", "in.json", "--published-at", URL],
            "no channel `stabel` in `pins/channels.json`",
        ),
        (vec!["bump", "stable", "--from", "in.json"], "--published-at <URL>"),
        (
            vec!["bump", "stable", "--from", "in.json", "--published-at", "http://example.com"],
            "expected an https URL",
        ),
        (
            vec!["bump", "stable", "--from", "in.json", "--published-at", "https://u:p@example.com"],
            "expected an https URL",
        ),
        (vec!["bump", "stable", "--from", "no.json", "--published-at", URL], "failed to read `no.json`"),
        (vec!["bmup"], "unrecognized subcommand"),
    ] {
        let run = folder.run_in("", &arguments, &[]);
        assert_eq!(run.status, 2, "{arguments:?}");
        assert!(run.stderr.contains(expected), "{}", run.stderr);
        assert!(!run.stderr.contains("u:p@"));
    }
    assert_eq!(folder.files().len(), 1);
}

#[test]
fn a_developers_overrides_do_not_get_into_a_pin_and_a_misspelled_variable_is_an_error() {
    let folder = Folder::new(POLICY);
    folder.write("in.json", &document("44.1"));
    let arguments = ["bump", "stable", "--from", "in.json", "--published-at", URL];
    let env = [("BASE_URL", "http://127.0.0.1:1"), ("BUILD_NAME", "x"), ("DEFAULT_CHANNEL", "y")];
    assert_eq!(folder.run_in("", &arguments, &env).status, 0);
    assert!(folder.pin().contains("\"base-url\": \"https://example.com\""));
    let run = folder.run_in("", &arguments, &[("COREOS_PINS_DRI", "pins")]);
    assert_eq!(run.status, 2);
    assert!(
        run.stderr.contains("unknown variable `COREOS_PINS_DRI`, did you mean `COREOS_PINS_DIR`?"),
        "{}",
        run.stderr
    );
}

#[test]
fn the_pins_folder_is_found_by_flag_by_variable_and_above() {
    let folder = Folder::new(POLICY);
    folder.write("in.json", &document("44.1"));
    fs::create_dir_all(folder.path("a/b")).unwrap();
    fs::create_dir_all(folder.path("other")).unwrap();
    folder.write("other/channels.json", POLICY);
    let from = folder.path("in.json").display().to_string();
    let arguments = |more: &[&'static str]| -> Vec<String> {
        let all = ["bump", "stable", "--json", "--from", &from, "--published-at", URL];
        all.iter().map(ToString::to_string).chain(more.iter().map(ToString::to_string)).collect()
    };
    let run = |dir: &str, more: &[&'static str], env: &[(&str, &str)]| {
        let arguments = arguments(more);
        folder.run_in(dir, &arguments.iter().map(String::as_str).collect::<Vec<_>>(), env)
    };
    let found = run("a/b", &[], &[]);
    assert_eq!(
        found.stdout,
        "{\"version\":1,\"channel\":\"stable\",\"old\":null,\"new\":\"44.1\",\"changed\":true}\n".replace(
            "{\"version\":1,\"channel\":\"stable\",\"old\":null,\"new\":\"44.1\",\"changed\":true}",
            r#"{"changed":true,"channel":"stable","new":"44.1","old":null,"version":1}"#
        )
    );
    assert!(Path::new(&folder.path("pins/stable.json")).exists());
    assert_eq!(run("a", &[], &[("COREOS_PINS_DIR", "../other")]).status, 0);
    assert!(folder.path("other/stable.json").exists());
    fs::remove_file(folder.path("other/stable.json")).unwrap();
    assert_eq!(run("", &["--pins-dir", "other"], &[("COREOS_PINS_DIR", "nowhere")]).status, 0);
    assert!(folder.path("other/stable.json").exists());
    let missing = run("", &["--pins-dir", "nowhere"], &[]);
    assert_eq!(missing.status, 2);
    assert!(
        missing.stderr.starts_with("error: no folder `nowhere` (asked for by --pins-dir)"),
        "{}",
        missing.stderr
    );
}

#[test]
fn only_what_the_policy_selects_is_pinned() {
    let select = r#""architectures": ["amd64"], "platforms": ["aws"], "require""#;
    let folder = Folder::new(&POLICY.replace("\"require\"", select).replace(", \"qemu\"", ""));
    assert_eq!(folder.bump(&document("44.1")).status, 0);
    let pin = Pin::read("pin", folder.pin().as_bytes()).unwrap();
    assert_eq!(pin.stream.architectures.keys().collect::<Vec<_>>(), ["x86_64"]);
    assert!(pin.stream.architectures["x86_64"].artifacts.is_empty());
    let nothing =
        Folder::new(&POLICY.replace("\"require\": [\"aws\", \"qemu\"]", r#""architectures": ["riscv64"]"#));
    let text = nothing.refused(&document("44.1"), 2);
    assert!(
        text.contains("as channels.json selects from it: architectures: expected at least one"),
        "{text}"
    );
}

#[test]
fn the_committed_pins_are_canonical_and_name_public_https_hosts_only() {
    let pins = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../pins");
    let mut count = 0;
    for entry in fs::read_dir(pins).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        if path.file_name().unwrap() != "channels.json" {
            let pin = Pin::read("pin", text.as_bytes()).unwrap();
            assert!(pin.header.is_some() && pin.to_text() == text, "{} is not canonical", path.display());
            count += 1;
        }
        const HOSTS: [&str; 5] = [
            "builds.coreos.fedoraproject.org",
            "rhcos.mirror.openshift.com",
            "raw.githubusercontent.com",
            "rhcos.blob.core.windows.net",
            ".cloud-object-storage.appdomain.cloud",
        ];
        for url in text.split('"').filter(|text| text.contains("://")) {
            let host = url.strip_prefix("https://").expect("https").split('/').next().unwrap();
            assert!(HOSTS.iter().any(|known| host.ends_with(known)), "{url}");
        }
    }
    assert_eq!(count, 6);
}
