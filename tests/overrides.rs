//! Builds that the variables ask for, looked up by a real build script at a local server that counts its requests.

// What this builds has features of its own: once is enough.
#![cfg(feature = "embed")]

mod harness;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use harness::Project;

const SHA: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// Who looks at what is built next must have the target folder for itself.
static ALONE: Mutex<()> = Mutex::new(());

/// A server of files, which remembers what it was asked for.
struct Server {
    base: String,
    log: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn new(files: &[(&str, String)]) -> Self {
        let files: BTreeMap<String, String> =
            files.iter().map(|(path, text)| ((*path).to_owned(), text.clone())).collect();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let base = format!("http://{}/releases", listener.local_addr().expect("an address"));
        let log = Arc::new(Mutex::new(Vec::new()));
        let seen = log.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.expect("a connection");
                let mut request = String::new();
                let mut reader = BufReader::new(stream.try_clone().expect("a reader"));
                reader.read_line(&mut request).expect("a request");
                let mut line = String::new();
                while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                    line.clear();
                }
                let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
                seen.lock().expect("the log").push(path.clone());
                let (status, body) = match files.get(&path) {
                    Some(text) => ("200 OK", text.as_str()),
                    None => ("404 Not Found", "{}"),
                };
                let head = format!(
                    "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                    body.len()
                );
                stream.write_all(format!("{head}{body}").as_bytes()).expect("an answer");
            }
        });
        Self { base, log }
    }

    fn requests(&self) -> Vec<String> {
        let mut requests = std::mem::take(&mut *self.log.lock().expect("the log"));
        requests.sort();
        requests
    }
}

fn record(build: &str, ami: &str) -> String {
    format!(
        r#"{{ "buildid": "{build}", "amis": [ {{ "name": "us-east-1", "hvm": "{ami}" }} ],
            "images": {{ "qemu": {{ "path": "redhat-coreos-maipo-{build}-qemu.qcow2", "sha256": "{SHA}" }} }} }}"#
    )
}

fn maipo() -> Server {
    Server::new(&[
        ("/releases/maipo/builds.json", r#"{ "builds": [ "47.59", "47.33" ] }"#.into()),
        ("/releases/maipo/47.33/meta.json", record("47.33", "ami-33")),
        ("/releases/maipo/47.59/meta.json", record("47.59", "ami-59")),
    ])
}

const MAIN: &str = r#"fn main() {
    use coreos_pins::*;
    println!("{DEFAULT_CHANNEL} {BUILD_NAME} {ORIGIN} {BASE_URL} {}", CHANNELS.len());
    println!("{:?}", DEFAULT.architecture("x86_64").and_then(|x| x.ami("us-east-1")));
    println!("{:?}", DEFAULT.architecture("x86_64").and_then(|x| x.disk("qemu")).map(|disk| disk.url));
}"#;

#[test]
fn a_named_build_of_2018_takes_exactly_one_request() {
    let server = maipo();
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let project = Project::installer("override-named", MAIN).with_target("overrides");
    let env = [("BASE_URL", server.base.as_str()), ("DEFAULT_CHANNEL", "maipo"), ("BUILD_NAME", "47.33")];
    let printed = project.run(&env).stdout();
    let base = &server.base;
    assert_eq!(
        printed,
        format!(
            "maipo 47.33 named {base} 7\nSome(\"ami-33\")\n\
             Some(\"{base}/maipo/47.33/redhat-coreos-maipo-47.33-qemu.qcow2\")\n"
        )
    );
    assert_eq!(server.requests(), ["/releases/maipo/47.33/meta.json"]);
    // Nothing changed: the script does not run, and nobody is asked.
    assert_eq!(project.run(&env).stdout(), printed);
    assert_eq!(server.requests(), [""; 0]);
    // Back to the pins, with the server's answer forgotten.
    assert!(project.run(&[]).stdout().starts_with("stable 44.20260707.3.1 pinned https://builds."));
    assert_eq!(server.requests(), [""; 0]);
}

#[test]
fn the_newest_build_takes_two_requests_and_is_called_latest() {
    let server = maipo();
    let project = Project::installer("override-latest", MAIN);
    let printed = project.run(&[("BASE_URL", &server.base), ("DEFAULT_CHANNEL", "maipo")]).stdout();
    assert!(printed.starts_with("maipo 47.59 latest http://127.0.0.1:"), "{printed}");
    assert_eq!(server.requests(), ["/releases/maipo/47.59/meta.json", "/releases/maipo/builds.json"]);
}

#[test]
fn a_build_that_is_not_there_is_the_error_that_helps() {
    let server = maipo();
    let project = Project::installer("override-missing", MAIN);
    let env = [("BASE_URL", server.base.as_str()), ("DEFAULT_CHANNEL", "maipo"), ("BUILD_NAME", "47.34")];
    let errors = project.run(&env).errors_of("coreos-pins@0.1.0");
    assert_eq!(errors[0], "no build `47.34` in channel `maipo` (asked for by BASE_URL and BUILD_NAME)");
    assert_eq!(errors[1], format!("looked at {}/maipo/47.34/meta.json: 404", server.base));
    assert!(
        errors.contains(&"nearest `47.33`, `47.59`; newest `47.59`, `47.33` (2 builds)".to_owned()),
        "{errors:#?}"
    );
    assert_eq!(
        errors.last().unwrap(),
        "help: name a build that is there with BUILD_NAME, or set DEFAULT_CHANNEL to a pinned channel"
    );
}

#[test]
fn offline_nobody_is_asked() {
    let server = maipo();
    let project = Project::installer("override-offline", MAIN);
    let env = [
        ("BASE_URL", server.base.as_str()),
        ("DEFAULT_CHANNEL", "maipo"),
        ("BUILD_NAME", "47.33"),
        ("CARGO_NET_OFFLINE", "true"),
    ];
    let errors = project.run(&env).errors_of("coreos-pins@0.1.0");
    assert_eq!(
        errors[0],
        "build `47.33` of channel `maipo` could not be looked up (asked for by BASE_URL and BUILD_NAME)"
    );
    assert!(errors[1].contains("CARGO_NET_OFFLINE forbids it"), "{errors:#?}");
    assert_eq!(server.requests(), [""; 0]);
}

#[test]
fn http_and_a_file_url_of_the_same_tree_give_the_same_constants() {
    let server = maipo();
    let project = Project::installer("override-file", MAIN);
    project.write("mirror/maipo/47.33/meta.json", &record("47.33", "ami-33"));
    let file = format!("file://{}", project.path("mirror").display());
    let run = |base: &str| {
        let env = [("BASE_URL", base), ("DEFAULT_CHANNEL", "maipo"), ("BUILD_NAME", "47.33")];
        project.run(&env).stdout().replace(base, "BASE")
    };
    assert_eq!(run(&server.base), run(&file));
    // A mirror on disk is watched.
    project.write("mirror/maipo/47.33/meta.json", &record("47.33", "ami-34"));
    assert!(run(&file).contains("ami-34"));
}

#[test]
fn user_and_password_of_a_base_are_in_no_constant_and_no_message() {
    let server = maipo();
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let project = Project::installer("override-secret", MAIN).with_target("overrides");
    let base = server.base.replace("http://", "http://bob:s3cr3t@");
    let env = [("BASE_URL", base.as_str()), ("DEFAULT_CHANNEL", "maipo"), ("BUILD_NAME", "47.33")];
    let run = project.cargo(&["run", "-v"], &env);
    let shown = format!("{}{}", run.stdout, run.stderr);
    assert!(
        run.succeeded && shown.contains("channel `maipo`: build `47.33` at http://***@127.0.0.1:"),
        "{shown}"
    );
    assert!(!shown.contains("s3cr3t"), "{shown}");
    for (name, bytes) in project.generated("coreos-pins") {
        assert!(!String::from_utf8_lossy(&bytes).contains("s3cr3t"), "{name}");
    }
    // Nor in anything else that the build left, but for what cargo itself keeps of the variables that it watches.
    let (mut folders, mut looked_at) = (vec![project.target().to_owned()], 0);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.extend((path.file_name() != Some(".fingerprint".as_ref())).then_some(path));
            } else if let Ok(bytes) = std::fs::read(&path) {
                looked_at += 1;
                assert!(!bytes.windows(6).any(|part| part == b"s3cr3t"), "{}", path.display());
            }
        }
    }
    assert!(looked_at > 50, "{looked_at} files");
}
