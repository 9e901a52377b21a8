//! The console blocks of the README say what really happens.

mod harness;

use std::fs;
use std::process::Command;

use harness::committed;

/// A command of a block, and what the block says that it prints.
struct Step {
    block: usize,
    command: String,
    output: String,
}

/// The steps of every ```` ```console ```` block that begin with `$ coreos-pins`; other programs have tests of their own.
fn steps(readme: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let (mut block, mut inside) = (0, false);
    for line in readme.lines() {
        if line.starts_with("```") {
            inside = line == "```console";
            block += usize::from(inside);
        } else if inside && let Some(command) = line.strip_prefix("$ ") {
            steps.push(Step { block, command: command.to_owned(), output: String::new() });
        } else if inside {
            let step = steps.last_mut().expect("a block begins with a command");
            step.output += line;
            step.output += "\n";
        }
    }
    steps.retain(|step| step.command.starts_with("coreos-pins "));
    steps
}

/// Tells whether `text` is `pattern`, in which a line `…` stands for any lines, and `…` in a line for any text.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('…');
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut parts: Vec<&str> = parts.map(|part| part.strip_prefix('\n').unwrap_or(part)).collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[test]
fn an_ellipsis_stands_for_any_text() {
    assert!(matches("a\n…\nd\n", "a\nb\nc\nd\n") && matches("a …\n", "a bcd\n") && matches("a\n", "a\n"));
    assert!(!matches("a\n…\nd\n", "a\nb\n") && !matches("a\n", "a\nb\n") && !matches("a …\nb\n", "x 1\nb\n"));
}

#[test]
fn every_command_of_the_readme_prints_what_the_readme_says() {
    let readme = fs::read_to_string(committed().join("../README.md")).unwrap();
    let steps = steps(&readme);
    assert!(steps.len() > 3, "{} commands", steps.len());
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("pins")).unwrap();
    for entry in fs::read_dir(committed()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            fs::copy(&path, dir.path().join("pins").join(path.file_name().unwrap())).unwrap();
        }
    }
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_coreos-pins")).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    for Step { block, command, output } in steps {
        let run = Command::new("sh")
            .args(["-c", &format!("{command} 2>&1")])
            .current_dir(dir.path())
            .env("PATH", &path)
            .env_remove("COREOS_PINS_DIR")
            .output()
            .unwrap();
        let printed = String::from_utf8(run.stdout).unwrap();
        assert!(matches(&output, &printed), "console block {block}: $ {command}\n{printed}");
    }
}
