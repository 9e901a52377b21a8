//! `coreos-pins download`, against servers on this machine that misbehave on purpose.

#[path = "../harness/mod.rs"]
mod harness;
#[allow(dead_code, reason = "the engine's tests use all of it")]
#[path = "../../../coreos-pins-build/tests/network/server.rs"]
mod server;

mod choice;
mod keys;
mod signatures;
mod transfers;

use std::io::Write;
use std::process::Command;

use harness::{Folder, Run};
use server::{Request, Server, response};
use sha2::{Digest, Sha256};

/// A policy that keeps the network out of it.
const POLICY: &str = r#"{ "version": 1, "default": "stable", "channels": { "stable": {}, "next": {},
    "devel": { "floats": true } } }"#;

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A file of a pin, as JSON.
fn artifact(url: &str, content: &[u8]) -> String {
    format!(r#"{{ "location": "{url}", "sha256": "{}" }}"#, sha256(content))
}

/// A folder with a pin of `stable` that has `platforms` on x86_64.
fn pinned(platforms: &str) -> Folder {
    let folder = Folder::new(POLICY);
    folder.write(
        "pins/stable.json",
        &format!(
            r#"{{ "stream": "stable", "architectures": {{ "x86_64": {{ "artifacts": {{ {platforms} }} }} }} }}"#
        ),
    );
    folder
}

/// A folder with a pin of one qcow2, at `url`.
fn with_qcow2(url: &str, content: &[u8]) -> Folder {
    with_disk(&artifact(url, content))
}

fn with_disk(disk: &str) -> Folder {
    pinned(&format!(r#""qemu": {{ "release": "1", "formats": {{ "qcow2.xz": {{ "disk": {disk} }} }} }}"#))
}

/// Runs `coreos-pins download` with `arguments`.
fn download(folder: &Folder, arguments: &[&str]) -> Run {
    let arguments: Vec<&str> = ["download"].into_iter().chain(arguments.iter().copied()).collect();
    folder.run_in("", &arguments, &[("no_proxy", "*"), ("NO_PROXY", "*")])
}

/// Runs `coreos-pins download` with `arguments`, which must end with `status` and an error, and leave every file as it
/// was.
#[track_caller]
fn refused(folder: &Folder, arguments: &[&str], status: i32) -> String {
    let before = folder.files();
    let run = download(folder, arguments);
    assert_eq!((run.status, run.stdout.as_str()), (status, ""), "{}", run.stderr);
    assert!(run.stderr.starts_with("error: "), "{}", run.stderr);
    assert!(folder.files() == before, "{arguments:?} changed a file");
    run.stderr
}

/// The command, to be started in another way.
fn command(folder: &Folder, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coreos-pins"));
    command.arg("download").args(arguments).current_dir(folder.path("")).env("no_proxy", "*");
    command.env_remove("COREOS_PINS_DIR");
    command
}

/// The names of what is beside `pins/`, sorted.
fn names(folder: &Folder) -> Vec<String> {
    let entries = std::fs::read_dir(folder.path("")).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name != "pins");
    names.sort();
    names
}

/// Something that is no repetition of anything.
fn content(length: u32) -> Vec<u8> {
    (0..length.div_ceil(4)).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect()
}

/// Answers as a server of static files does that knows ranges, but stops after `at_once` bytes.
fn serve(request: &Request, out: &mut dyn Write, file: &[u8], at_once: usize) {
    let range = request.header("range").and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-'));
    let from: usize = range.map_or(0, |from| from.parse().unwrap());
    let length = file.len();
    let head = match range {
        None => "HTTP/1.1 200 OK\r\n".to_owned(),
        Some(_) => {
            let last = length - 1;
            format!("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {from}-{last}/{length}\r\n")
        }
    };
    let head = format!("{head}Content-Length: {}\r\n\r\n", length - from);
    let _ = out.write_all(head.as_bytes());
    let _ = out.write_all(&file[from..length.min(from.saturating_add(at_once))]);
}

/// Serves the files of `files` by their paths.
fn files(files: &[(&str, &[u8])]) -> Server {
    let files: Vec<(String, Vec<u8>)> =
        files.iter().map(|(path, file)| ((*path).to_owned(), file.to_vec())).collect();
    Server::start(move |request, out| match files.iter().find(|(path, _)| path == request.path()) {
        Some((_, file)) => serve(request, out, file, usize::MAX),
        None => {
            let _ = out.write_all(response("404 Not Found", "", "<html>no such file</html>").as_bytes());
        }
    })
}

/// The `Range` of each request, in order.
fn ranges(server: &Server) -> Vec<Option<String>> {
    server.requests().iter().map(|request| request.header("range").map(str::to_owned)).collect()
}
