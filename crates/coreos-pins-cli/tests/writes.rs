//! Pins are whole at every moment: killed half way, on a full disk, with somebody else writing too.
#![cfg(unix)]

mod harness;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use coreos_pins_build::pin::Pin;
use harness::{Folder, POLICY, URL, document};

/// A document with an AMI in each of so many regions.
fn large(build: &str, regions_of_it: u32) -> String {
    let mut regions = String::new();
    for index in 0..regions_of_it {
        regions += &format!(r#""r-{index}": {{ "release": "{build}", "image": "ami-{index:017x}" }}, "#);
    }
    document(build).replacen("\"us-east-1\"", &format!("{regions}\"us-east-1\""), 1)
}

fn bump(folder: &Path, channel: &str, from: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coreos-pins"));
    command.args(["bump", channel, "--from", from, "--published-at", URL, "--allow-downgrade"]);
    command.current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn two_builds() -> (Folder, [String; 2]) {
    let folder = Folder::new(&POLICY.replacen(
        "\"stable\": {",
        "\"next\": { \"base-url\": \"https://example.com\" }, \"stable\": {",
        1,
    ));
    let texts = ["44.1", "44.2"].map(|build| {
        folder.write(&format!("{build}.json"), &large(build, 400));
        let run = bump(&folder.path(""), "stable", &format!("{build}.json")).status().unwrap();
        assert!(run.success());
        folder.pin()
    });
    (folder, texts)
}

/// Kills `child` if it still runs, and tells whether it did.
fn kill(mut child: Child) -> bool {
    let runs = child.try_wait().unwrap().is_none();
    let _ = child.kill();
    child.wait().unwrap();
    runs
}

#[test]
fn a_run_that_is_killed_at_any_moment_leaves_a_whole_pin_old_or_new() {
    let (folder, texts) = two_builds();
    let time = std::time::Instant::now();
    assert!(bump(&folder.path(""), "stable", "44.1.json").status().unwrap().success());
    let whole = time.elapsed();
    let (mut killed, mut changed) = (0, 0);
    for round in 0..2000_u32 {
        if round >= 300 && killed > 100 && changed > 20 {
            break;
        }
        let before = folder.pin();
        let from = ["44.1.json", "44.2.json"][(round % 2) as usize];
        let child = bump(&folder.path(""), "stable", from).spawn().unwrap();
        // Moments from the start to far behind the end: a busy machine is slower than it was.
        std::thread::sleep(whole.mul_f64(f64::from(round * 37 % 300) / 120.0));
        killed += u32::from(kill(child));
        let after = folder.pin();
        assert!(texts.contains(&after), "round {round}: {} bytes", after.len());
        changed += u32::from(after != before);
        let json = folder.pins().into_iter().filter(|name| name.ends_with(".json")).collect::<Vec<_>>();
        assert_eq!(json, ["channels.json", "stable.json"], "round {round}");
    }
    assert!(killed > 100 && changed > 20, "{killed} killed, {changed} changed: the moments were no good");
    assert!(bump(&folder.path(""), "stable", "44.1.json").status().unwrap().success());
    assert_eq!(folder.pin(), texts[0]);
}

#[test]
fn two_writers_of_two_channels_both_have_their_way() {
    let (folder, texts) = two_builds();
    for _ in 0..20 {
        let _ = fs::remove_file(folder.path("pins/next.json"));
        let children = [("stable", "44.1.json"), ("next", "44.2.json")]
            .map(|(channel, from)| bump(&folder.path(""), channel, from).spawn().unwrap());
        for mut child in children {
            assert!(child.wait().unwrap().success());
        }
        assert_eq!((folder.pin(), folder.read("pins/next.json")), (texts[0].clone(), texts[1].clone()));
        assert!(bump(&folder.path(""), "stable", "44.2.json").status().unwrap().success());
    }
}

#[test]
fn two_writers_of_one_channel_leave_a_whole_pin_and_the_loser_says_so() {
    let (folder, texts) = two_builds();
    for round in 0..20 {
        let children =
            ["44.1.json", "44.2.json"].map(|from| bump(&folder.path(""), "stable", from).spawn().unwrap());
        let codes = children.map(|mut child| child.wait().unwrap().code());
        assert!(texts.contains(&folder.pin()), "round {round}");
        assert!(codes.iter().all(|code| [Some(0), Some(1)].contains(code)), "{codes:?}");
        assert!(codes.contains(&Some(0)), "{codes:?}");
        assert_eq!(folder.pins(), ["channels.json", "stable.json"]);
    }
}

#[test]
fn a_full_disk_leaves_the_old_pin_and_no_part_of_the_new() {
    let (folder, _) = two_builds();
    fs::create_dir(folder.path("disk")).unwrap();
    let disk = folder.path("disk");
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=64k", "none"]).arg(&disk).output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: this user may mount nothing");
        return;
    }
    let unmount = Unmount(&disk);
    folder.write("disk/pins/channels.json", POLICY);
    folder.write("small.json", &document("44.0"));
    folder.write("large.json", &large("44.1", 2000));
    assert!(bump(&disk, "stable", "../small.json").status().unwrap().success());
    let before = folder.read("disk/pins/stable.json");
    let output = bump(&disk, "stable", "../large.json").stderr(Stdio::piped()).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.starts_with("error: failed to write `pins/stable.json`: "), "{stderr}");
    assert_eq!(folder.read("disk/pins/stable.json"), before);
    assert_eq!(fs::read_dir(disk.join("pins")).unwrap().count(), 2);
    assert!(Pin::read("p", before.as_bytes()).is_ok());
    drop(unmount);
}

struct Unmount<'a>(&'a Path);

impl Drop for Unmount<'_> {
    fn drop(&mut self) {
        // Nothing in it may be open; it is not, but a slow kernel may think so.
        for _ in 0..50 {
            if Command::new("umount").arg(self.0).status().is_ok_and(|status| status.success()) {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}
