//! A file has its name when it is whole and has the right sum, and at no other time.

use std::fs;
use std::io::{Read, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::server::{Server, response};
use crate::{
    command, content, download, files, names, ranges, refused, serve, sha256, with_disk, with_qcow2,
};

const LENGTH: u32 = 800_000;

/// The name of the part file of `x`.
fn part_of(content: &[u8]) -> String {
    format!("x.{}.part", &sha256(content)[..16])
}

fn some(range: &str) -> Option<String> {
    Some(range.to_owned())
}

#[test]
fn a_file_is_fetched_once() {
    let content = content(LENGTH);
    let server = files(&[("/x", &content)]);
    let folder = with_qcow2(&server.url("/x"), &content);
    let hash = sha256(&content);
    download(&folder, &["qemu"]).said(&format!("x: downloaded, 800000 bytes, sha256 {hash}\n"));
    assert!(fs::read(folder.path("x")).unwrap() == content);
    assert_eq!(names(&folder), ["x"]);

    let before = folder.files();
    download(&folder, &["qemu"]).said(&format!("x: up to date, 800000 bytes, sha256 {hash}\n"));
    assert!(folder.files() == before);
    assert_eq!(server.count(), 1);
}

#[test]
fn a_file_that_is_there_with_another_sum_is_left_alone() {
    let server = files(&[("/x", b"x")]);
    let folder = with_qcow2(&server.url("/x"), b"x");
    folder.write("x", "mine");
    assert_eq!(
        refused(&folder, &["qemu"], 1),
        format!(
            "error: `x` is there, and is another file\nexpected sha256 {}\nfound    sha256 {}, of 4 bytes\n\
             help: remove it, or name another with --output\n",
            sha256(b"x"),
            sha256(b"mine")
        )
    );
    assert_eq!(server.count(), 0);
}

#[test]
fn a_transfer_that_breaks_goes_on_in_the_same_run() {
    let content = content(LENGTH);
    let file = content.clone();
    let server = Server::start(move |request, out| serve(request, out, &file, 500_000));
    let folder = with_qcow2(&server.url("/x"), &content);
    assert_eq!(download(&folder, &["qemu"]).status, 0);
    assert!(fs::read(folder.path("x")).unwrap() == content);
    assert_eq!(ranges(&server), [None, some("bytes=500000-")]);
    assert_eq!(names(&folder), ["x"]);
}

#[test]
fn a_later_run_goes_on_where_an_earlier_one_stopped() {
    let content = content(LENGTH);
    let file = content.clone();
    // The first run gets 1000 bytes, and then nothing but refusals.
    let server = Server::start(move |request, out| match request.number {
        0 => serve(request, out, &file, 1000),
        1 => {
            let _ = out.write_all(response("400 Bad Request", "", "").as_bytes());
        }
        _ => serve(request, out, &file, usize::MAX),
    });
    let folder = with_qcow2(&server.url("/x"), &content);
    let run = download(&folder, &["qemu"]);
    assert_eq!((run.status, run.stdout.as_str()), (3, ""), "{}", run.stderr);
    assert_eq!(names(&folder), [part_of(&content)]);
    assert_eq!(fs::metadata(folder.path(&part_of(&content))).unwrap().len(), 1000);

    assert_eq!(download(&folder, &["qemu"]).status, 0);
    assert!(fs::read(folder.path("x")).unwrap() == content);
    assert_eq!(names(&folder), ["x"]);
    assert_eq!(ranges(&server)[2..], [some("bytes=1000-")]);
}

#[test]
fn what_a_killed_run_leaves_has_not_the_files_name_and_is_used() {
    let content = content(LENGTH);
    let file = content.clone();
    let server = Server::start(move |request, out| {
        if request.number == 0 {
            serve(request, out, &file, 300_000);
            std::thread::sleep(Duration::from_secs(60));
        } else {
            serve(request, out, &file, usize::MAX);
        }
    });
    let folder = with_qcow2(&server.url("/x"), &content);
    let part = folder.path(&part_of(&content));
    let mut run = command(&folder, &["qemu"]).spawn().unwrap();
    let start = Instant::now();
    while fs::metadata(&part).map_or(0, |part| part.len()) < 300_000 {
        assert!(start.elapsed() < Duration::from_secs(30));
        std::thread::sleep(Duration::from_millis(10));
    }
    // Nobody else may write there meanwhile.
    let error = download(&folder, &["qemu"]);
    assert_eq!(error.status, 1);
    assert!(error.stderr.starts_with("error: another run is writing `x."), "{}", error.stderr);
    run.kill().unwrap();
    run.wait().unwrap();
    assert_eq!(names(&folder), [part_of(&content)]);

    assert_eq!(download(&folder, &["qemu"]).status, 0);
    assert!(fs::read(folder.path("x")).unwrap() == content);
    assert_eq!(ranges(&server), [None, some("bytes=300000-")]);
}

#[test]
fn a_part_that_is_whole_is_not_asked_for_again() {
    let folder = with_qcow2("http://127.0.0.1:1/x", b"whole");
    folder.write(&part_of(b"whole"), "whole");
    assert_eq!(download(&folder, &["qemu"]).status, 0);
    assert_eq!(folder.read("x"), "whole");
    assert_eq!(names(&folder), ["x"]);
}

#[test]
fn a_part_of_another_file_is_not_used() {
    let (old, new) = (content(LENGTH), b"new".as_slice());
    let server = files(&[("/x", new)]);
    let folder = with_qcow2(&server.url("/x"), new);
    folder.write(&part_of(&old), "a part of the old");
    assert_eq!(download(&folder, &["qemu"]).status, 0);
    assert_eq!(folder.read("x"), "new");
    assert_eq!(ranges(&server), [None]);
    assert_eq!(names(&folder), ["x".to_owned(), part_of(&old)]);
}

#[test]
fn a_part_that_is_damaged_is_found_out_and_removed() {
    let content = content(LENGTH);
    let server = files(&[("/x", &content)]);
    let folder = with_qcow2(&server.url("/x"), &content);
    folder.write(&part_of(&content), "zeros after a power cut");
    let run = download(&folder, &["qemu"]);
    assert_eq!((run.status, run.stdout.as_str()), (1, ""));
    assert!(run.stderr.ends_with("run this again to fetch all of it\n"), "{}", run.stderr);
    assert!(names(&folder).is_empty());
    assert_eq!(download(&folder, &["qemu"]).status, 0);
    assert_eq!(ranges(&server), [some("bytes=23-"), None]);
}

#[test]
fn a_server_without_ranges_starts_anew() {
    let content = content(LENGTH);
    let file = content.clone();
    let server = Server::start(move |_, out| {
        let _ = write!(out, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", file.len());
        let _ = out.write_all(&file);
    });
    let folder = with_qcow2(&server.url("/x"), &content);
    folder.write(&part_of(&content), "whatever this is");
    assert_eq!(download(&folder, &["qemu"]).status, 0);
    assert!(fs::read(folder.path("x")).unwrap() == content);
    assert_eq!(ranges(&server), [some("bytes=16-")]);
}

#[test]
fn a_wrong_checksum_is_told_with_both_sums_and_leaves_nothing() {
    let server = files(&[("/x", b"an error page, say")]);
    let folder = with_qcow2(&server.url("/x"), b"the image");
    assert_eq!(
        refused(&folder, &["qemu"], 1),
        format!(
            "error: `{}` is not the file that is pinned\nexpected sha256 {}\nfound    sha256 {}, of 18 bytes\n",
            server.url("/x"),
            sha256(b"the image"),
            sha256(b"an error page, say")
        )
    );
}

#[test]
fn a_file_that_is_not_there_leaves_nothing() {
    let server = files(&[]);
    let folder = with_qcow2(&server.url("/x"), b"x");
    let error = refused(&folder, &["qemu"], 1);
    assert!(error.starts_with(&format!("error: `{}` is not there: 404\n", server.url("/x"))), "{error}");

    let folder = with_qcow2("file:///nonexistent/x", b"x");
    let error = refused(&folder, &["qemu"], 1);
    assert!(error.starts_with("error: `file:///nonexistent/x` is not there: no such file\n"), "{error}");

    let closed = with_qcow2("http://127.0.0.1:1/x", b"x");
    refused(&closed, &["qemu"], 3);
}

#[test]
fn what_is_compressed_is_kept_compressed() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(b"the image").unwrap();
    let packed = encoder.finish().unwrap();
    for header in ["", "Content-Encoding: gzip\r\n", "Content-Encoding: x-gzip\r\n"] {
        let stored = packed.clone();
        let server = Server::start(move |_, out| {
            let _ = write!(out, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n{header}\r\n", stored.len());
            let _ = out.write_all(&stored);
        });
        let url = server.url("/x.qcow2.gz");
        let disk = format!(
            r#"{{ "location": "{url}", "sha256": "{}", "uncompressed-sha256": "{}" }}"#,
            sha256(&packed),
            sha256(b"the image")
        );
        let folder = with_disk(&disk);
        assert_eq!(download(&folder, &["qemu"]).status, 0);
        assert_eq!(fs::read(folder.path("x.qcow2.gz")).unwrap(), packed, "{header}");
        assert_eq!(server.only_request().header("accept-encoding"), Some("identity"));

        // The two sums are not taken for one another.
        let swapped = disk.replace("\"sha256\"", "\"x\"").replace("uncompressed-sha256", "sha256");
        let swapped = swapped.replace("\"x\"", "\"uncompressed-sha256\"");
        refused(&with_disk(&swapped), &["qemu"], 1);
    }
}

#[test]
fn a_redirect_is_followed_and_the_name_is_that_of_the_pin() {
    let mirror = files(&[("/elsewhere/y?token=t0k", b"x")]);
    let to = mirror.url("/elsewhere/y?token=t0k");
    let server = Server::saying(response("302 Found", &format!("Location: {to}\r\n"), ""));
    let folder = with_qcow2(&server.url("/x"), b"x");
    let run = download(&folder, &["qemu", "--json"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    assert!(!run.stdout.contains("t0k"), "{}", run.stdout);
    assert_eq!(names(&folder), ["x"]);
}

#[test]
fn no_secret_is_shown() {
    let server = files(&[("/x?token=t0k", b"x"), ("/x.sig?token=t0k", b"no signature")]);
    let url = |path: &str| format!("http://bob:s3cr3t@{}/{path}?token=t0k", server.address);
    let disk = |hash: &str, path: &str| {
        format!(r#"{{ "location": "{}", "sha256": "{hash}", "signature": "{}" }}"#, url(path), url("x.sig"))
    };
    let good = with_disk(&disk(&sha256(b"x"), "x"));
    let bad_sum = with_disk(&disk(&"0".repeat(64), "x"));
    let missing = with_disk(&disk(&sha256(b"x"), "y"));
    let keyring = crate::keys::Signer::new().armored();
    good.write("keys.asc", &keyring);
    for (folder, arguments, status) in [
        (&missing, &["qemu"][..], 1),
        (&bad_sum, &["qemu"], 1),
        (&good, &["qemu", "--keyring", "keys.asc"], 1),
        (&good, &["qemu"], 0),
        (&good, &["qemu", "--json"], 0),
    ] {
        let run = download(folder, arguments);
        assert_eq!(run.status, status, "{}", run.stderr);
        let text = format!("{}{}", run.stdout, run.stderr);
        for secret in ["bob", "s3cr3t", "t0k"] {
            assert!(!text.contains(secret), "{text}");
        }
    }
    for request in server.requests() {
        assert_eq!(request.header("authorization"), Some("Basic Ym9iOnMzY3IzdA=="));
    }
}

#[cfg(unix)]
#[test]
fn a_part_that_is_a_link_is_not_followed() {
    let server = files(&[("/x", b"x")]);
    let folder = with_qcow2(&server.url("/x"), b"x");
    folder.write("victim", "precious");
    std::os::unix::fs::symlink(folder.path("victim"), folder.path(&part_of(b"x"))).unwrap();
    let error = refused(&folder, &["qemu"], 2);
    assert!(error.contains("is no regular file"), "{error}");
    fs::create_dir(folder.path("x")).unwrap();
    // A folder of that name is no file.
    let error = refused(&folder, &["qemu", "--output", "../x/../x"], 2);
    assert!(error.contains("no folder"), "{error}");
}

/// A file system of its own, of 256 KiB.
#[cfg(target_os = "linux")]
struct Small(tempfile::TempDir);

#[cfg(target_os = "linux")]
impl Small {
    fn mount() -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let mount = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=256k", "tmpfs"])
            .arg(dir.path())
            .stderr(Stdio::null())
            .status();
        mount.is_ok_and(|status| status.success()).then_some(Self(dir))
    }
}

#[cfg(target_os = "linux")]
impl Drop for Small {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(self.0.path()).status();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_and_no_file() {
    let Some(small) = Small::mount() else {
        eprintln!("skipped: only root may mount a small file system");
        return;
    };
    let content = content(LENGTH);
    let server = files(&[("/x", &content)]);
    let folder = with_qcow2(&server.url("/x"), &content);
    let to = small.0.path();
    let run = download(&folder, &["qemu", "--output", to.to_str().unwrap()]);
    assert_eq!((run.status, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.starts_with("error: failed to write `"), "{}", run.stderr);
    assert!(run.stderr.contains("No space left on device"), "{}", run.stderr);
    assert!(!to.join("x").exists());
    // What is there is a beginning, which a run with more room can use.
    let left = fs::read(to.join(part_of(&content))).unwrap();
    assert!(!left.is_empty() && content.starts_with(&left));
    assert_eq!(server.count(), 1);
}

#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_the_file() {
    // 256 MiB, where the command itself takes some 10.
    const SIZE: usize = 256 * 1024 * 1024;
    let chunk = content(1024 * 1024);
    let server = Server::start(move |_, out| {
        let _ = write!(out, "HTTP/1.1 200 OK\r\nContent-Length: {SIZE}\r\n\r\n");
        for _ in 0..SIZE / chunk.len() - 1 {
            let _ = out.write_all(&chunk);
        }
        std::thread::sleep(Duration::from_secs(60));
    });
    let folder = with_qcow2(&server.url("/x"), b"never whole");
    let mut run = command(&folder, &["qemu"]).spawn().unwrap();
    let part = folder.path(&part_of(b"never whole"));
    let start = Instant::now();
    while fs::metadata(&part).map_or(0, |part| part.len()) < (SIZE - 2 * 1024 * 1024) as u64 {
        assert!(start.elapsed() < Duration::from_secs(120));
        std::thread::sleep(Duration::from_millis(20));
    }
    let mut status = String::new();
    fs::File::open(format!("/proc/{}/status", run.id())).unwrap().read_to_string(&mut status).unwrap();
    run.kill().unwrap();
    run.wait().unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: usize = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak < 64 * 1024, "{peak} kB");
}
