//! Documents that are small for what they become: memory stays bounded, and so does time.
#![cfg(target_os = "linux")]

use std::fmt::Write;
use std::fs;
use std::process::Command;

use coreos_pins_build::documents::Document;
use coreos_pins_build::pin::Pin;

/// Reads the file in this variable, in a process of its own, whose memory is nobody else's.
const READ: &str = "MEMORY_TEST_READ";

const MIB: usize = 1024 * 1024;

#[test]
#[ignore = "what other tests run in a process of its own"]
fn reads_one_document() {
    let bytes = fs::read(std::env::var(READ).unwrap()).unwrap();
    let document = Document::read("d", &bytes).map(drop).map_err(|error| error.to_string());
    let pin = Pin::read("d", &bytes).map(drop).map_err(|error| error.to_string());
    for read in [document, pin] {
        // Either it fits, or it is refused for its size or its contents; it must never be taken whole, whatever it is.
        println!("{}", read.err().unwrap_or("fits".to_owned()).lines().next().unwrap_or_default());
    }
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: usize = peak.trim().trim_end_matches(" kB").parse().unwrap();
    println!("peak {} MB", peak / 1024);
    assert!(peak < 150 * 1024, "{peak} kB");
}

/// Reads `text` and returns what is said of it.
fn said_of(text: &str) -> String {
    assert!(text.len() <= 64 * MIB, "no server could send it");
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), text).unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "reads_one_document", "--ignored", "--nocapture"])
        .env(READ, file.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    text
}

/// `count` members `"KEY": value`, each with a key of its own.
fn members(count: usize, value: &str) -> String {
    (0..count).fold(String::new(), |mut text, index| {
        let _ = write!(text, "{}\"{index:x}\":{value}", if index == 0 { "" } else { "," });
        text
    })
}

const TOO_MANY: &str = "the document has more values than fit into memory";

#[test]
fn lists_of_nothing_are_refused_before_they_fill_the_memory() {
    let list = |element: &str| {
        format!("{{\"builds\":[{}]}}", vec![element; 24 * MIB / (element.len() + 1)].join(","))
    };
    for element in ["[]", "\"\""] {
        assert!(said_of(&list(element)).contains(TOO_MANY), "{element}");
    }
    // What fits is taken, and what is then wrong with it is told, in bounded memory too.
    let short = format!("{{\"builds\":[{}]}}", vec!["[]"; 2 * MIB].join(","));
    assert!(said_of(&short).contains("builds[0]: expected a build's id"));
}

#[test]
fn objects_of_nothing_are_refused_before_they_fill_the_memory() {
    let stream = |member: &str, value: &str| {
        let start = format!(
            "{{\"stream\":\"s\",\"architectures\":{{\"x86_64\":{{\"artifacts\":{{\"p\":{{\"release\":\"1\",{member}:{{"
        );
        format!("{start}{}}}}}}}}}}}}}", members(2 * MIB, value))
    };
    // Unknown keys of a known object.
    let unknown = format!("{{\"stream\":\"s\",{}}}", members(2 * MIB, "0"));
    assert!(said_of(&unknown).contains(TOO_MANY));
    for (member, value) in [("\"formats\"", "{}"), ("\"novel\"", "0")] {
        assert!(said_of(&stream(member, value)).contains(TOO_MANY), "{member} {value}");
    }
}

#[test]
fn one_text_without_end_is_refused() {
    let text = format!("{{\"builds\":[\"1\"],\"x\":\"{}\"}}", "a".repeat(60 * MIB));
    assert!(said_of(&text).contains(TOO_MANY));
}

#[test]
fn a_list_of_twelve_megabytes_is_read() {
    let mut list = String::new();
    for index in 0..121_000 {
        let _ = write!(
            list,
            "{{\"id\": \"9.8.20260403-{index}\", \"arches\": [\"x86_64\", \"aarch64\", \"ppc64le\", \"s390x\"], \"novel\": \"some more\"}},"
        );
    }
    let text = format!("{{\"builds\": [{}]}}", list.trim_end_matches(','));
    assert!(text.len() > 12 * MIB - MIB / 2, "{}", text.len());
    assert!(said_of(&text).contains("fits"));
}
