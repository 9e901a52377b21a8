//! A whole build script, as a process of its own with the limits of a real build, against servers that misbehave.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use coreos_pins_build::Config;

use crate::answers::gzip;
use crate::proxies::tunnel;
use crate::server::{Server, ok, response};
use crate::tls::Authority;

const MIB: usize = 1024 * 1024;
const SHA: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

#[test]
#[ignore = "the build script, which the other tests run"]
fn is_a_build_script() {
    Config::from_env().compile();
    if let Ok(status) = fs::read_to_string("/proc/self/status") {
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        println!("peak={}", peak.trim().trim_end_matches(" kB"));
    }
}

/// A package whose build script is run. It has a pin of `stable`, and none of `maipo`.
struct Package {
    dir: tempfile::TempDir,
}

/// What a run said and left.
struct Run {
    errors: Vec<String>,
    /// Everything that it printed.
    said: String,
    files: BTreeMap<PathBuf, String>,
    /// MiB.
    peak: usize,
    time: Duration,
}

impl Package {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("pins")).unwrap();
        let pin = r#"{"stream": "stable", "architectures": {"x86_64": {"images": {"aws": {"regions": {
            "r-1": {"release": "44.1", "image": "ami-pinned"}}}}}}}"#;
        fs::write(dir.path().join("pins/stable.json"), pin).unwrap();
        let policy = r#"{"version": 1, "default": "stable", "channels": {"stable": {}}}"#;
        fs::write(dir.path().join("pins/channels.json"), policy).unwrap();
        Self { dir }
    }

    fn start(&self, env: &[(&str, &str)]) -> Child {
        let out = self.dir.path().join("out");
        fs::create_dir_all(&out).unwrap();
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "script::is_a_build_script", "--ignored", "--nocapture"])
            .current_dir(self.dir.path())
            .env_clear()
            .env("OUT_DIR", out)
            .envs(env.iter().copied())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    fn run(&self, env: &[(&str, &str)]) -> Run {
        let start = Instant::now();
        let output = self.start(env).wait_with_output().unwrap();
        let time = start.elapsed();
        assert!(output.status.success(), "a build script says what is wrong, and ends well");
        let said =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(!said.contains("panicked"), "{said}");
        let lines = |start: &str| {
            said.lines().filter_map(|line| Some(line.split_once(start)?.1.to_owned())).collect::<Vec<_>>()
        };
        let peak = lines("peak=").first().map_or(0, |kb| kb.parse::<usize>().unwrap() / 1024);
        Run { errors: lines("cargo::error="), files: self.files(), peak, time, said }
    }

    /// Runs with build 47.33 of `maipo` at `base`.
    fn named(&self, base: &str, env: &[(&str, &str)]) -> Run {
        let all = [("BASE_URL", base), ("DEFAULT_CHANNEL", "maipo"), ("BUILD_NAME", "47.33")];
        self.run(&[&all, env].concat())
    }

    fn files(&self) -> BTreeMap<PathBuf, String> {
        let mut folders = vec![self.dir.path().join("out")];
        let mut files = BTreeMap::new();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    files.insert(path.clone(), fs::read_to_string(&path).unwrap());
                }
            }
        }
        files
    }
}

impl Run {
    /// Checks that the build has the AMI `ami`.
    #[track_caller]
    fn has(&self, ami: &str) {
        assert_eq!(self.errors, [""; 0]);
        assert!(
            self.files.values().any(|text| text.contains(&format!("\"{ami}\""))),
            "{:?}",
            self.files.keys()
        );
    }

    /// Checks that it stopped with an error that says all of `words`, in bounded memory, and left nothing.
    #[track_caller]
    fn stopped(&self, words: &[&str]) {
        let text = self.errors.join("\n");
        assert!(!self.errors.is_empty(), "{}", self.said);
        for word in words {
            assert!(text.contains(word), "{word}: {text}");
        }
        assert!(self.errors.last().unwrap().starts_with("help: "), "{text}");
        assert!(self.peak < 150, "{} MiB", self.peak);
        assert!(self.files.is_empty(), "{:?}", self.files.keys());
    }
}

fn record(ami: &str) -> String {
    format!(
        r#"{{ "buildid": "47.33", "amis": [ {{ "name": "r-1", "hvm": "{ami}" }} ],
            "images": {{ "qemu": {{ "path": "x-47.33-qemu.qcow2", "sha256": "{SHA}" }} }} }}"#
    )
}

#[test]
fn servers_that_say_nothing_or_drip_end_within_the_minute_that_is_promised() {
    let silent = Server::start(|_, _| std::thread::sleep(Duration::from_secs(100)));
    let dripping = Server::start(|_, out| {
        let _ = out.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n");
        while out.write_all(b" ").and_then(|()| out.flush()).is_ok() {
            std::thread::sleep(Duration::from_secs(5));
        }
    });
    // It may be unreachable at once, or swallow everything.
    let bases = [silent.url("/b"), dripping.url("/b"), "http://192.0.2.1/b".to_owned()];
    let runs = std::thread::scope(|scope| {
        let threads = bases.each_ref().map(|base| scope.spawn(move || Package::new().named(base, &[])));
        threads.map(|thread| thread.join().unwrap())
    });
    for (run, base) in runs.iter().zip(&bases) {
        run.stopped(&[
            "build `47.33` of channel `maipo` could not be looked up (asked for by BASE_URL and BUILD_NAME)",
            base,
        ]);
        assert!(run.time < Duration::from_secs(65), "{:?}", run.time);
    }
    for run in &runs[..2] {
        assert!(run.errors.join("\n").contains("timed out after 60 s"), "{:?}", run.errors);
        assert!(run.time > Duration::from_secs(55), "{:?}", run.time);
    }
}

#[test]
fn broken_answers_are_errors_that_name_the_url_and_the_next_run_is_good() {
    let sound = record("ami-33");
    let cut =
        format!("HTTP/1.1 200 OK\r\nContent-Length: 10000\r\nConnection: close\r\n\r\n{}", &sound[..50]);
    let half = format!("HTTP/1.0 200 OK\r\n\r\n{}", &sound[..50]);
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"bui\r\n".to_owned();
    let page = response("200 OK", "Content-Type: text/html\r\n", "<!doctype html><title>Log in</title>");
    let duplicate = sound.replace("[ {", "[ { \"name\": \"r-1\", \"hvm\": \"ami-9\" }, {");
    let json = |old: &str, new: &str| ok(&sound.replace(old, new));
    let directive = "\\ncargo::rustc-cfg=pwned\\ncargo:rustc-cfg=pwned";
    let cases: Vec<(String, &[&str])> = vec![
        (cut, &["expected 10000 bytes, got 50", "gave up after 4 tries"]),
        (chunked, &["the connection ended too early", "gave up after 4 tries"]),
        (half, &["line 1, column"]),
        (page, &["expected JSON, found what looks like an HTML page: `<!doctype html>"]),
        (response("404 X", "", &sound), &["no build `47.33` in channel `maipo`", "404"]),
        (response("403 X", "", ""), &["403", "these servers answer 403 for what is not there"]),
        (response("500 X", "", ""), &["status 200, got 500", "gave up after 4 tries"]),
        (
            response("429 X", "Retry-After: 86400\r\n", ""),
            &["the server asks to wait 86400 s, the limit is 60 s"],
        ),
        (
            response("301 X", "Location: file:///etc/passwd\r\n", ""),
            &["refused to be redirected to `file:///etc/passwd`"],
        ),
        (response("301 X", "Location: /maipo/47.33/meta.json\r\n", ""), &["redirected more than 10 times"]),
        (ok(&duplicate), &["region `r-1` has `ami-33` here, and `ami-9` in"]),
        (json(SHA, &SHA[1..]), &["images.qemu.sha256: expected 64 hex"]),
        (json(&format!("\"{SHA}\""), "12"), &["images.qemu.sha256: expected 64 hex"]),
        (json(&format!("\"{SHA}\""), "null"), &["images.qemu.sha256: expected 64 hex"]),
        (json("x-47.33-qemu.qcow2", "../x-47.33-qemu.qcow2"), &["images.qemu.path"]),
        (json("x-47.33-qemu.qcow2", "https://evil.example/x"), &["images.qemu.path"]),
        (
            json("{ \"buildid\"", "{ \"schema-version\": \"2.0.0\", \"buildid\""),
            &["schema-version: expected 1.x, found `2.0.0`"],
        ),
        (json("\"47.33\"", "\"47.34\""), &["expected build `47.33`, found `47.34`"]),
        (
            json("\"47.33\"", &format!("\"47.33{directive}\"")),
            &["expected build `47.33`, found `47.33\\ncargo::rustc-cfg"],
        ),
        (ok(&format!("{{\"x\": {}", "[".repeat(100_000))), &["recursion limit"]),
        (ok(""), &["the file is empty"]),
    ];
    for (answer, words) in cases {
        let package = Package::new();
        let server = Server::saying(answer.clone());
        let base = server.url("/b");
        let run = package.named(&base, &[]);
        run.stopped(words);
        let url = server.url("/b/maipo/47.33/meta.json");
        assert!(run.errors.iter().any(|line| line.contains(&url)), "{words:?}: {:#?}", run.errors);
        assert!(
            !run.said.lines().any(|line| line.starts_with("cargo::rustc") || line.starts_with("cargo:rustc")),
            "{}",
            run.said
        );
        // Nothing of it is left for the next run: with a server that is well, and without any.
        package.named(&Server::saying(ok(&record("ami-33"))).url("/b"), &[]).has("ami-33");
        package.run(&[]).has("ami-pinned");
    }
}

#[test]
fn what_passes_in_a_moment_is_waited_for() {
    let busy = response("503 X", "", "");
    let later = response("429 X", "Retry-After: 1\r\n", "");
    let server = Server::saying_in_turn(&[&busy, &later, &ok(&record("ami-33"))]);
    let run = Package::new().named(&server.url("/b"), &[]);
    run.has("ami-33");
    assert!(run.time > Duration::from_millis(1400) && server.count() == 3, "{:?}", run.time);
}

#[test]
fn floods_and_bombs_stop_in_bounded_memory() {
    let mut bomb = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n".to_vec();
    let member = gzip(&vec![b' '; 4 * MIB]);
    (0..MIB / member.len()).for_each(|_| bomb.extend_from_slice(&member));
    Package::new()
        .named(&Server::saying(bomb).url("/b"), &[])
        .stopped(&["expected at most 64 MiB, got more"]);
    let flood = Server::start(|_, out| {
        let _ = out.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        while out.write_all(&[b'x'; 64 * 1024]).is_ok() {}
    });
    Package::new().named(&flood.url("/b"), &[]).stopped(&["expected at most 64 MiB, got more"]);
    let values = format!("{{\"buildid\": \"47.33\", \"x\": [{}]}}", vec!["[]"; 8 * MIB].join(","));
    Package::new()
        .named(&Server::saying(ok(&values)).url("/b"), &[])
        .stopped(&["more values than fit into memory"]);
    // A large one that is sound is taken.
    let more = format!("\"pkgdiff\": \"{}\", \"amis\"", "x".repeat(12 * MIB));
    let run = Package::new()
        .named(&Server::saying(ok(&record("ami-33").replace("\"amis\"", &more))).url("/b"), &[]);
    run.has("ami-33");
    assert!(run.peak < 150, "{} MiB", run.peak);
}

#[test]
fn an_authority_of_ones_own_is_trusted_where_ssl_cert_file_says_so() {
    let ca = Authority::new();
    let server = ca.server(ok(&record("ami-33")));
    let base = format!("https://localhost:{}/b", server.address.port());
    let file = ca.file();
    Package::new().named(&base, &[("SSL_CERT_FILE", file.path().to_str().unwrap())]).has("ami-33");
    Package::new().named(&base, &[]).stopped(&["no secure connection", &base]);
    let package = Package::new();
    let run = package.named(&base, &[("SSL_CERT_FILE", "/nonexistent.pem")]);
    run.stopped(&["SSL_CERT_FILE", "/nonexistent.pem"]);
    // What nobody needs is not looked at.
    package.run(&[("SSL_CERT_FILE", "/nonexistent.pem"), ("HTTP_PROXY", "nonsense:://")]).has("ami-pinned");
}

#[test]
fn proxies_are_used_by_scheme_and_no_proxy_is_read_as_people_write_it() {
    let proxy = Server::saying(ok(&record("ami-proxy")));
    let server = Server::saying(ok(&record("ami-server")));
    let (base, via) = (server.url("/b"), proxy.url(""));
    let port = server.address.port();
    let with_port = format!("127.0.0.1:{port}");
    for (variables, ami) in [
        (&[("HTTP_PROXY", via.as_str())][..], "ami-proxy"),
        (&[("http_proxy", &via)], "ami-proxy"),
        (&[("ALL_PROXY", &via)], "ami-proxy"),
        (&[("HTTPS_PROXY", &via)], "ami-server"),
        (&[("HTTP_PROXY", &via), ("NO_PROXY", "127.0.0.1")], "ami-server"),
        (&[("HTTP_PROXY", &via), ("NO_PROXY", "localhost, 127.0.0.1,10.0.0.0/8")], "ami-server"),
        (&[("HTTP_PROXY", &via), ("no_proxy", "127.0.0.0/8")], "ami-server"),
        (&[("HTTP_PROXY", &via), ("NO_PROXY", &with_port)], "ami-server"),
        (&[("HTTP_PROXY", &via), ("NO_PROXY", "*")], "ami-server"),
        (&[("HTTP_PROXY", &via), ("NO_PROXY", "127.0.0.1:1, example.com, 10.0.0.0/8")], "ami-proxy"),
    ] {
        let run = Package::new().named(&base, variables);
        run.has(ami);
        assert!(!run.files.values().any(|text| text.contains(&via)), "a proxy is no part of a pin");
    }
    assert!(
        proxy
            .requests()
            .iter()
            .all(|request| request.line == format!("GET {base}/maipo/47.33/meta.json HTTP/1.1"))
    );
    Package::new().named(&base, &[("HTTP_PROXY", "ftp://x:y")]).stopped(&["HTTP_PROXY"]);
    // https goes through a tunnel.
    let (ca, tunnel) = (Authority::new(), tunnel());
    let secure = ca.server(ok(&record("ami-33")));
    let base = format!("https://localhost:{}/b", secure.address.port());
    let file = ca.file();
    let variables =
        [("HTTPS_PROXY", tunnel.url("")), ("SSL_CERT_FILE", file.path().to_str().unwrap().to_owned())];
    let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
    Package::new().named(&base, &variables).has("ami-33");
    assert_eq!(tunnel.only_request().line, format!("CONNECT localhost:{} HTTP/1.1", secure.address.port()));
}

#[test]
fn no_secret_is_said_or_written_however_it_ends() {
    let ca = Authority::new();
    let secure = ca.server(ok(&record("ami-33")));
    let answers = [
        ok(&record("ami-33")),
        response("404 X", "", ""),
        ok("{"),
        response("301 X", "Location: http://127.0.0.1:1/\r\n", ""),
    ];
    let mut bases: Vec<String> =
        answers.iter().map(|answer| Server::saying(answer.clone()).url("/b")).collect();
    bases.push("http://127.0.0.1:1/b".to_owned());
    bases.push(format!("https://localhost:{}/b", secure.address.port()));
    for base in &bases {
        let base = base.replacen("://", "://bob:s3cr3t@", 1);
        for (base, proxy) in [
            (base.clone(), None),
            (format!("{base}?token=s3cr3t"), None),
            (base, Some("http://eve:s3cr3t@127.0.0.1:1")),
        ] {
            let env: Vec<(&str, &str)> = proxy.map(|proxy| ("ALL_PROXY", proxy)).into_iter().collect();
            let run = Package::new().named(&base, &env);
            assert!(!run.said.contains("s3cr3t"), "{}", run.said);
            assert!(run.files.values().all(|text| !text.contains("s3cr3t") && !text.contains("bob")));
            assert!(proxy.is_none() || !run.errors.is_empty());
        }
    }
}

#[test]
fn a_run_that_is_killed_half_way_leaves_nothing_that_misleads_the_next() {
    let slow = Server::start(|_, out| {
        for byte in ok(&record("ami-33")).bytes() {
            let _ = out.write_all(&[byte]).and_then(|()| out.flush());
            std::thread::sleep(Duration::from_millis(3));
        }
    });
    let (package, other) = (Package::new(), Package::new());
    let base = slow.url("/b");
    let env = [("BASE_URL", base.as_str()), ("DEFAULT_CHANNEL", "maipo"), ("BUILD_NAME", "47.33")];
    for moment in [50, 300, 600] {
        let mut child = package.start(&env);
        let beside = other.start(&env);
        std::thread::sleep(Duration::from_millis(moment));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(beside.wait_with_output().unwrap().status.success());
        assert!(
            other.files().values().any(|text| text.contains("\"ami-33\"")),
            "the other run is not affected"
        );
        assert!(package.files().is_empty());
    }
    package.named(&Server::saying(ok(&record("ami-33"))).url("/b"), &[]).has("ami-33");
    // And an override that is taken back is forgotten.
    package.run(&[]).has("ami-pinned");
    let run = package.named("http://127.0.0.1:1/b", &[]);
    assert!(!run.errors.is_empty(), "what was fetched before is not used again");
}
