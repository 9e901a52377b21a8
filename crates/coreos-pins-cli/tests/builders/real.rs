//! The same against a registry of others, with skopeo as the second opinion; where both are installed.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use coreos_pins_build::sha256;
use serde_json::json;

use super::{Folder, done, guard, pin, run};

const NAME: &str = "coreos-assembler/coreos-assembler";
const ARCHES: [&str; 4] = ["amd64", "arm64", "ppc64le", "s390x"];

/// A docker-registry of its own, which is stopped when it goes.
struct Real {
    dir: tempfile::TempDir,
    child: Option<Child>,
    address: String,
}

impl Real {
    /// `None` where it is not installed.
    fn start() -> Option<Self> {
        let is_there = |program: &str| {
            Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
        };
        if !is_there("docker-registry") || !is_there("skopeo") {
            eprintln!("skipped: docker-registry and skopeo are not installed");
            return None;
        }
        let dir = tempfile::tempdir().unwrap();
        let mut real = Self { dir, child: None, address: String::new() };
        real.serve("127.0.0.1:0");
        Some(real)
    }

    fn serve(&mut self, address: &str) {
        let config = format!(
            "version: 0.1\nlog: {{level: info}}\nstorage: {{filesystem: {{rootdirectory: {}}}, delete: {{enabled: true}}}}\nhttp: {{addr: \"{address}\"}}\n",
            self.dir.path().join("data").display()
        );
        fs::write(self.dir.path().join("config.yml"), config).unwrap();
        let log = fs::File::create(self.dir.path().join("log")).unwrap();
        let child = Command::new("docker-registry")
            .args(["serve".as_ref(), self.dir.path().join("config.yml").as_os_str()])
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        self.child = Some(child);
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(20) {
            let log = fs::read_to_string(self.dir.path().join("log")).unwrap();
            if let Some((_, rest)) = log.split_once("listening on ") {
                let end =
                    rest.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ':').unwrap_or(rest.len());
                rest[..end].clone_into(&mut self.address);
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("docker-registry does not start");
    }

    fn stop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Deletes what no tag holds, as administrators do, with the registry stopped.
    fn collect_garbage(&mut self) {
        self.stop();
        let output = Command::new("docker-registry")
            .args(["garbage-collect".as_ref(), "-m".as_ref(), self.dir.path().join("config.yml").as_os_str()])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let address = self.address.clone();
        self.serve(&address);
    }

    fn untag(&mut self, tag: &str) {
        let tags =
            self.dir.path().join(format!("data/docker/registry/v2/repositories/{NAME}/_manifests/tags"));
        fs::remove_dir_all(tags.join(tag)).unwrap();
    }

    fn image(&self) -> String {
        format!("{}/{NAME}", self.address)
    }

    /// Makes an index with an image of each architecture, and pushes it with skopeo under the tag `main`.
    fn push(&self, revision: &str) {
        let layout = self.dir.path().join(revision);
        let blobs = layout.join("blobs/sha256");
        fs::create_dir_all(&blobs).unwrap();
        let write = |bytes: &[u8]| {
            let hex = sha256::hex([bytes]);
            fs::write(blobs.join(&hex), bytes).unwrap();
            json!({ "digest": format!("sha256:{hex}"), "size": bytes.len() })
        };
        let with = |mut object: serde_json::Value, members: serde_json::Value| {
            for (key, value) in members.as_object().unwrap() {
                object[key] = value.clone();
            }
            object
        };
        let mut children = Vec::new();
        for architecture in ARCHES {
            // A tar of nothing is 1024 zeros.
            let mut tar = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            tar.write_all(&[0; 1024]).unwrap();
            let layer = with(
                write(&tar.finish().unwrap()),
                json!({ "mediaType": "application/vnd.oci.image.layer.v1.tar+gzip" }),
            );
            let config = json!({ "architecture": architecture, "os": "linux", "created": "2026-07-20T09:14:03Z",
                "config": { "Labels": { "org.opencontainers.image.revision": revision } },
                "rootfs": { "type": "layers", "diff_ids": [format!("sha256:{}", sha256::hex([[0_u8; 1024].as_slice()]))] } });
            let config = with(
                write(config.to_string().as_bytes()),
                json!({ "mediaType": "application/vnd.oci.image.config.v1+json" }),
            );
            let manifest = json!({ "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": config, "layers": [layer] });
            children.push(with(
                write(manifest.to_string().as_bytes()),
                json!({ "mediaType": "application/vnd.oci.image.manifest.v1+json",
                "platform": { "architecture": architecture, "os": "linux" } }),
            ));
        }
        let index = json!({ "schemaVersion": 2, "mediaType": super::OCI_INDEX, "manifests": children });
        let index = with(
            write(index.to_string().as_bytes()),
            json!({ "mediaType": super::OCI_INDEX,
            "annotations": { "org.opencontainers.image.ref.name": "main" } }),
        );
        fs::write(layout.join("index.json"), json!({ "schemaVersion": 2, "manifests": [index] }).to_string())
            .unwrap();
        fs::write(layout.join("oci-layout"), r#"{"imageLayoutVersion": "1.0.0"}"#).unwrap();
        let from = format!("oci:{}:main", layout.display());
        let to = format!("docker://{}:main", self.image());
        let copied = skopeo(&["copy", "--all", "--preserve-digests", "--dest-tls-verify=false", &from, &to]);
        assert!(copied.is_ok(), "{copied:?}");
    }

    /// Pulls `reference` whole, all architectures.
    fn pull(&self, reference: &str, to: &Path) -> Result<String, String> {
        let _ = fs::remove_dir_all(to);
        skopeo(&[
            "copy",
            "--all",
            "--preserve-digests",
            "--src-tls-verify=false",
            &format!("docker://{reference}"),
            &format!("dir:{}", to.display()),
        ])
    }
}

impl Drop for Real {
    fn drop(&mut self) {
        self.stop();
    }
}

fn skopeo(arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("skopeo").args(arguments).stdin(Stdio::null()).output().unwrap();
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

fn folder(real: &Real) -> Folder {
    Folder::new(&format!(
        r#"{{ "version": 1, "channels": {{ "testing-devel": {{ "floats": true }},
            "testing": {{ "promotes-from": ["testing-devel"] }}, "stable": {{ "promotes-from": ["testing"] }} }},
          "builders": {{ "coreos-assembler": {{ "image": "{}", "tag": "main", "guard": "fcos-{{digest:10}}",
            "guard-architectures": true, "architectures": ["x86_64", "aarch64", "ppc64le", "s390x"] }} }} }}"#,
        real.image()
    ))
}

#[test]
fn stable_gets_the_container_that_baked_in_testing_and_it_outlives_garbage_collection() {
    let Some(mut real) = Real::start() else { return };
    real.push("1111");
    let folder = folder(&real);
    done(&folder, &["promote", "testing-devel", "testing"]);
    let testing = pin(&folder, "testing");
    let reference = done(&folder, &["ref", "testing"]).trim().to_owned();
    let digest = reference.split_once('@').unwrap().1.to_owned();
    // skopeo is of the same opinion, of the tag and of the guard.
    for tag in ["main".to_owned(), guard(&digest)] {
        let raw =
            skopeo(&["inspect", "--raw", "--tls-verify=false", &format!("docker://{}:{tag}", real.image())])
                .unwrap();
        assert_eq!(format!("sha256:{}", sha256::hex([raw.as_bytes()])), digest, "{tag}");
    }
    // The tag moves on, and what no tag holds is deleted.
    real.push("2222");
    done(&folder, &["promote", "testing", "stable"]);
    assert_eq!(pin(&folder, "stable"), testing);
    real.collect_garbage();
    let pulled = folder.path("pulled");
    assert!(real.pull(&reference, &pulled).is_ok(), "the pinned container is whole");
    assert_eq!(done(&folder, &["guard", "--check"]), "2 pins, all guarded\n");
    // Without guards it is lost, and said to be.
    let tags =
        ["", "-amd64", "-arm64", "-ppc64le", "-s390x"].map(|suffix| format!("{}{suffix}", guard(&digest)));
    tags.iter().for_each(|tag| real.untag(tag));
    real.collect_garbage();
    assert!(real.pull(&reference, &pulled).is_err());
    let check = run(&folder, &["guard", "--check", "stable"]);
    assert_eq!((check.status, check.stdout.lines().count()), (1, 5), "{}{}", check.stdout, check.stderr);
    let verified = run(&folder, &["verify", "stable", "--online"]);
    assert_eq!((verified.status, verified.stderr.as_str()), (1, ""));
    assert!(verified.stdout.contains(&format!("{digest}` is gone: no tag holds it")), "{}", verified.stdout);
    assert!(verified.stdout.contains("the image for `s390x` is gone"), "{}", verified.stdout);
    // What is gone for good cannot be made again: nothing pretends that it could.
    let heal = run(&folder, &["guard"]);
    assert_ne!(heal.status, 0, "{}", heal.stdout);
}

#[test]
fn a_guard_that_was_lost_is_made_of_the_stored_bytes() {
    let Some(mut real) = Real::start() else { return };
    real.push("1111");
    let folder = folder(&real);
    done(&folder, &["promote", "testing-devel", "testing"]);
    let digest = done(&folder, &["ref", "testing"]).trim().split_once('@').unwrap().1.to_owned();
    real.push("2222");
    // Only that of the index: its images are kept by theirs.
    real.untag(&guard(&digest));
    real.collect_garbage();
    let gone =
        skopeo(&["inspect", "--raw", "--tls-verify=false", &format!("docker://{}@{digest}", real.image())]);
    assert!(gone.is_err(), "the registry has forgotten the index");
    assert_eq!(done(&folder, &["guard"]), format!("testing: coreos-assembler: made {}\n", guard(&digest)));
    assert!(real.pull(&format!("{}@{digest}", real.image()), &folder.path("pulled")).is_ok());
}
