//! `export` and `import`: from and to what people have; and the command's own pages.

mod harness;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use coreos_pins_build::stream::Stream;
use harness::{Folder, POLICY, URL, document};
use serde_json::Value;

const SHA: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

fn pinned() -> Folder {
    let folder = Folder::new(POLICY);
    folder.bump(&document("44.1")).said("stable: pinned build 44.1\n");
    folder
}

#[test]
fn a_stream_is_the_pin_without_its_key_and_pins_the_same_again() {
    let folder = pinned();
    let run = folder.run_in("", &["export", "stable", "--as", "stream"], &[]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    let stream = Stream::read("s", run.stdout.as_bytes()).unwrap();
    assert!(!stream.extra.contains_key("pin"));
    assert_eq!(stream.to_text(), run.stdout);
    let mut pin: Value = serde_json::from_str(&folder.pin()).unwrap();
    pin.as_object_mut().unwrap().remove("pin");
    assert_eq!(serde_json::from_str::<Value>(&run.stdout).unwrap(), pin);
    folder.run_in("", &["export", "stable", "--as", "stream", "--output", "out.json"], &[]).said("");
    assert_eq!(folder.read("out.json"), run.stdout);
    assert_eq!(folder.run_in("", &["export", "nope", "--as", "stream"], &[]).status, 2);
}

#[test]
fn a_shell_takes_the_assignments() {
    let folder = pinned();
    let run = folder.run_in("", &["export", "stable", "--as", "env"], &[]);
    assert_eq!(run.stdout, "DEFAULT_CHANNEL=stable\nBUILD_NAME=44.1\nBASE_URL=https://example.com\n");
    // Whatever upstream calls its builds.
    folder.write("odd.json", &document("it's $(touch x); *"));
    let arguments = ["bump", "stable", "--from", "odd.json", "--published-at", URL, "--allow-downgrade"];
    assert_eq!(folder.run_in("", &arguments, &[]).status, 0);
    let exported = folder.run_in("", &["export", "stable", "--as", "env"], &[]).stdout;
    let shell = Command::new("sh")
        .args(["-c", "eval \"$1\"; printf '%s|%s' \"$DEFAULT_CHANNEL\" \"$BUILD_NAME\"", "sh", &exported])
        .current_dir(folder.path(""))
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(shell.stdout).unwrap(), "stable|it's $(touch x); *");
    assert!(!folder.path("x").exists());
}

#[test]
fn a_configmap_holds_the_stream_as_a_block() {
    let folder = Folder::new(POLICY);
    let odd = document("44.1")
        .replace("\"stream\"", "\"novel\": \"\\u0085\\u007f\\u2028\\ud83d\\ude00 \u{e9}\\ttab\", \"stream\"");
    folder.bump(&odd).said("stable: pinned build 44.1\n");
    let run = folder.run_in("", &["export", "stable", "--as", "configmap"], &[]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    let (head, block) = run.stdout.split_once("  stream: |\n").unwrap();
    assert!(head.contains("kind: ConfigMap\n") && head.contains("  name: coreos-bootimages\n"), "{head}");
    // By the rule of YAML: a literal block is its lines without their indentation.
    let text: String =
        block.lines().map(|line| line.strip_prefix("    ").expect("indented").to_owned() + "\n").collect();
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "YAML has none of them");
    let exported = folder.run_in("", &["export", "stable", "--as", "stream"], &[]).stdout;
    assert_eq!(
        serde_json::from_str::<Value>(&text).unwrap(),
        serde_json::from_str::<Value>(&exported).unwrap()
    );
    assert_eq!(Stream::read("s", text.as_bytes()).unwrap().to_text(), exported);
}

fn import(folder: &Folder, arguments: &[&str]) -> harness::Run {
    folder.run_in("", &[&["import"], arguments].concat(), &[])
}

#[test]
fn a_document_becomes_a_first_pin_and_never_replaces_one() {
    let folder = Folder::new(POLICY);
    folder.write("s.json", &document("44.1"));
    import(&folder, &["s.json", "--published-at", URL]).said("stable: pinned build 44.1\n");
    let imported = folder.pin();
    assert!(imported.contains(&format!("\"url\": \"{URL}\"")));
    // The same as bump makes of it.
    folder.bump(&document("44.1")).said("stable: up to date, build 44.1\n");
    folder.write("s.json", &document("44.2"));
    let run = import(&folder, &["s.json", "--published-at", URL]);
    assert_eq!((run.status, run.stdout.as_str()), (1, ""));
    assert!(run.stderr.starts_with(
        "error: channel `stable` is pinned already\nhelp: move the pin: coreos-pins bump stable"
    ));
    assert_eq!(folder.pin(), imported);
    // Another name, without a source.
    import(&folder, &["s.json", "--channel", "mine", "--base-url", "https://example.com/"])
        .said("mine: pinned build 44.2\n");
    assert!(
        folder.read("pins/mine.json").contains("\"base-url\": \"https://example.com\"")
            && !folder.read("pins/mine.json").contains(URL)
    );
    let run = import(&folder, &["s.json", "--channel", "other"]);
    assert_eq!((run.status, folder.path("pins/other.json").exists()), (2, false));
    assert!(run.stderr.contains("help: pass --base-url URL"), "{}", run.stderr);
    for name in ["../x", "channels", ".x", ""] {
        assert_eq!(
            import(&folder, &["s.json", "--channel", name, "--base-url", "https://e.com"]).status,
            2,
            "{name}"
        );
    }
    assert_eq!(folder.pins(), ["channels.json", "mine.json", "stable.json"]);
}

#[test]
fn a_record_is_of_the_architecture_that_it_says_or_that_is_said() {
    let record = |members: &str, name: &str| {
        format!(
            r#"{{ "buildid": "44.1", {members} "amis": [ {{ "name": "r", "hvm": "ami-1" }} ],
                "images": {{ "qemu": {{ "path": "{name}", "sha256": "{SHA}" }} }} }}"#
        )
    };
    let published = "https://example.com/44.1/meta.json";
    for (members, arguments, expected) in [
        ("", &[][..], "x86_64"),
        ("", &["--arch", "arm64"], "aarch64"),
        (r#""coreos-assembler.basearch": "s390x","#, &[], "s390x"),
        (r#""baseURI": "https://example.com/44.1/ppc64le/","#, &["--arch", "x86_64"], "ppc64le"),
    ] {
        let folder = Folder::new(&POLICY.replace(", \"require\": [\"aws\", \"qemu\"]", ""));
        folder.write("meta.json", &record(members, "x-44.1-qemu.qcow2"));
        let all = [&["meta.json", "--channel", "stable", "--published-at", published], arguments].concat();
        let run = import(&folder, &all);
        assert_eq!(run.status, 0, "{expected}: {}", run.stderr);
        let stream = Stream::read("p", folder.pin().as_bytes()).unwrap();
        assert_eq!(stream.architectures.keys().collect::<Vec<_>>(), [expected]);
    }
    let folder = Folder::new(POLICY);
    folder.write("meta.json", &record(r#""coreos-assembler.basearch": "s390x","#, "x.qcow2"));
    let run = import(
        &folder,
        &["meta.json", "--channel", "stable", "--arch", "x86_64", "--published-at", published],
    );
    assert!(
        run.status == 2 && run.stderr.contains("expected the record of `x86_64`, found that of `s390x`"),
        "{}",
        run.stderr
    );
    folder.write("meta.json", &record("", "x.qcow2"));
    let run = import(&folder, &["meta.json"]);
    assert!(run.status == 2 && run.stderr.contains("does not say which channel it is of"), "{}", run.stderr);
    // Its files lie beside it, wherever that is: of a file that is published nowhere, that is this machine.
    let run = import(&folder, &["meta.json", "--channel", "stable"]);
    assert_eq!(run.status, 1);
    assert!(
        run.stderr.contains("is a file of one machine") && run.stderr.contains("--published-at"),
        "{}",
        run.stderr
    );
}

#[test]
fn hosts_and_requirements_are_checked_as_by_bump() {
    let folder = Folder::new(POLICY);
    folder.write("s.json", &document("44.1").replace("https://example.com/44.1", "https://mirror.corp/44.1"));
    let run = import(&folder, &["s.json", "--published-at", URL]);
    assert!(run.status == 1 && run.stderr.ends_with("pass --allow-host mirror.corp\n"), "{}", run.stderr);
    assert_eq!(import(&folder, &["s.json", "--published-at", URL, "--allow-host", "mirror.corp"]).status, 0);
    let folder = Folder::new(POLICY);
    folder.write("s.json", &document("44.1").replace("\"qemu\"", "\"gone\""));
    let run = import(&folder, &["s.json", "--published-at", URL]);
    assert!(
        run.status == 1 && run.stderr.contains("it lacks what the channel requires: qemu on x86_64"),
        "{}",
        run.stderr
    );
}

/// Real documents, where they lie beside this repository.
fn documents() -> Option<Vec<PathBuf>> {
    let data = harness::committed().join("../../shared/data");
    let families = [
        "stream-fcos",
        "stream-okd",
        "stream-rhcos",
        "cosa-meta",
        "installer-legacy",
        "release-index",
        "builds-json",
        "marketplace",
        "updates-fcos",
    ];
    let files = families.iter().flat_map(|family| fs::read_dir(data.join(family)).into_iter().flatten());
    let files: Vec<PathBuf> = files
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .collect();
    (!files.is_empty()).then_some(files)
}

/// Every text in `value` that is an image id, a checksum or a file's place.
fn facts(value: &Value, facts: &mut Vec<String>) {
    match value {
        Value::String(text) if text.starts_with("ami-") => facts.push(text.clone()),
        Value::String(text) if text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit()) => {
            facts.push(text.clone());
        }
        Value::Array(values) => values.iter().for_each(|value| self::facts(value, facts)),
        Value::Object(map) => map.values().for_each(|value| self::facts(value, facts)),
        _ => {}
    }
}

#[test]
fn every_real_document_is_imported_with_its_own_values_or_refused_for_a_reason() {
    let Some(files) = documents() else {
        eprintln!("skipped: no documents of upstream beside this repository");
        return;
    };
    let (mut imported, mut refused) = (0, Vec::new());
    for path in &files {
        let folder = Folder::new(r#"{ "version": 1 }"#);
        let name = path.file_name().unwrap().to_str().unwrap();
        let published = format!("https://example.com/builds/{name}");
        let arguments = [
            path.to_str().unwrap(),
            "--channel",
            "c",
            "--base-url",
            "https://example.com",
            "--published-at",
            &published,
            "--allow-mixed",
        ];
        let run = import(&folder, &arguments);
        if run.status != 0 {
            refused.push((name.to_owned(), run.status, run.stderr));
            assert!(!folder.path("pins/c.json").exists());
            continue;
        }
        imported += 1;
        let original: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        let pin = folder.read("pins/c.json");
        let mut pin_value: Value = serde_json::from_str(&pin).unwrap();
        pin_value.as_object_mut().unwrap().remove("pin");
        let (mut here, mut there) = (Vec::new(), Vec::new());
        facts(&pin_value, &mut here);
        facts(&original, &mut there);
        assert!(!here.is_empty(), "{name}");
        let foreign: Vec<&String> = here.iter().filter(|fact| !there.contains(fact)).collect();
        assert!(foreign.is_empty(), "{name}: {foreign:?} are not upstream's");
        assert_eq!(folder.run_in("", &["verify"], &[]).status, 0, "{name}");
    }
    for (name, status, reason) in &refused {
        let expected = match name.as_str() {
            "v1.schema.json" => "this is no document that tells of builds",
            _ if name.contains("releases-") => "expected a document of one build, found a release index",
            _ if name.contains("test-literal") => "expected a document of one build, found a build list",
            _ if name.starts_with("marketplace") || name.starts_with("coreos-rhel") => {
                "this is no document that tells of builds"
            }
            "stable-2026-07-21.json" | "testing-2026-07-21.json" => "as an updates document has here",
            other => panic!("{other}: {reason}"),
        };
        assert!(*status == 2 && reason.contains(expected), "{name}: {reason}");
    }
    assert!(imported > 30, "{imported} of {}", files.len());
}

#[test]
fn the_command_completes_and_explains_itself() {
    let folder = Folder::new(POLICY);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = folder.run_in("", &["completions", shell], &[]);
        assert!(
            run.status == 0 && run.stdout.contains("coreos-pins") && run.stdout.contains("bump"),
            "{shell}"
        );
    }
    let page = folder.run_in("", &["man"], &[]);
    assert!(page.status == 0 && page.stdout.contains(".TH coreos-pins 1"), "{}", page.stdout);
    folder.run_in("", &["man", "man1"], &[]).said("");
    for page in ["coreos-pins.1", "coreos-pins-bump.1", "coreos-pins-verify.1"] {
        assert!(folder.path("man1").join(page).exists(), "{page}");
    }
    folder.write("file", "");
    assert_eq!(folder.run_in("", &["man", "file"], &[]).status, 2);
}
