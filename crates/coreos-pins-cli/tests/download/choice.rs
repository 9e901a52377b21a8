//! Which file is fetched, and where to.

use crate::{artifact, download, files, names, pinned, refused, sha256, with_qcow2};

#[test]
fn several_disks_are_listed_and_one_must_be_chosen() {
    let server = files(&[("/x.iso", b"iso"), ("/x.raw.xz", b"raw")]);
    let disk = |path: &str, content| artifact(&server.url(path), content);
    let folder = pinned(&format!(
        r#""metal": {{ "release": "1", "formats": {{ "iso": {{ "disk": {} }}, "raw.xz": {{ "disk": {} }},
           "4k.raw.xz": {{ "disk": {} }} }} }}"#,
        disk("/x.iso", b"iso"),
        disk("/x.raw.xz", b"raw"),
        disk("/x.4k.raw.xz", b"4k"),
    ));
    assert_eq!(
        refused(&folder, &["metal"], 2),
        "error: platform `metal` of channel `stable` on x86_64 has several formats: `4k.raw.xz`, `iso`, `raw.xz`\n\
         help: choose one, as in --format 4k.raw.xz\n"
    );
    assert_eq!(
        refused(&folder, &["metal", "--format", "vmdk"], 1),
        "error: platform `metal` of channel `stable` on x86_64 has no format `vmdk`\n\
         formats are `4k.raw.xz`, `iso`, `raw.xz`\n"
    );
    assert_eq!(server.count(), 0);
    // The compression may be left out, which `4k.raw` is another format than.
    assert_eq!(download(&folder, &["metal", "--format", "raw"]).status, 0);
    assert_eq!(download(&folder, &["metal", "--format", "iso"]).status, 0);
    assert_eq!(folder.read("x.raw.xz"), "raw");
    assert_eq!(folder.read("x.iso"), "iso");
}

#[test]
fn the_parts_of_a_network_boot_come_together() {
    let server = files(&[("/k", b"kernel"), ("/i", b"initramfs"), ("/r", b"rootfs")]);
    let file = |path: &str, content| artifact(&server.url(path), content);
    let folder = pinned(&format!(
        r#""metal": {{ "release": "1", "formats": {{ "pxe": {{ "kernel": {}, "initramfs": {}, "rootfs": {} }} }} }}"#,
        file("/k", b"kernel"),
        file("/i", b"initramfs"),
        file("/r", b"rootfs"),
    ));
    let error = refused(&folder, &["metal", "--format", "pxe", "--output", "one"], 2);
    assert!(error.contains("`one` is no folder, and there are several files"), "{error}");
    let run = download(&folder, &["metal", "--json", "--format", "pxe"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    let kinds: Vec<String> = run
        .stdout
        .lines()
        .map(|line| {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(value["version"], 1);
            format!("{} {}", value["kind"], value["path"])
        })
        .collect();
    assert_eq!(kinds, [r#""initramfs" "i""#, r#""kernel" "k""#, r#""rootfs" "r""#]);
    assert_eq!(["k", "i", "r"].map(|name| folder.read(name)), ["kernel", "initramfs", "rootfs"]);
}

#[test]
fn what_is_not_pinned_is_refused_with_a_list_of_what_is() {
    let folder = with_qcow2("http://127.0.0.1:1/x", b"x");
    for (arguments, status, expected) in [
        (
            &["aws"][..],
            1,
            "error: there are no files for platform `aws` of channel `stable` on x86_64\n\
             platforms with files are `qemu`\n",
        ),
        (
            &["qemu", "--arch", "arm64"],
            1,
            "error: channel `stable` has nothing for `aarch64`\narchitectures are `x86_64`\n",
        ),
        (
            &["qemu", "--channel", "next"],
            1,
            "error: channel `next` is not pinned\npinned channels are `stable`\n\
             help: pin it with `coreos-pins bump next`\n",
        ),
        (
            &["qemu", "--channel", "devel"],
            1,
            "error: channel `devel` floats: no image of it is pinned\npinned channels are `stable`\n",
        ),
        (
            &["qemu", "--channel", "stabel"],
            2,
            "error: no channel `stabel`\npinned channels are `stable`\nhelp: name one of them with --channel\n",
        ),
    ] {
        assert_eq!(refused(&folder, arguments, status), expected);
    }
}

#[test]
fn the_default_channel_is_that_of_the_policy_and_without_one_maipo() {
    let server = files(&[("/x", b"x")]);
    let folder = with_qcow2(&server.url("/x"), b"x");
    std::fs::rename(folder.path("pins/stable.json"), folder.path("pins/maipo.json")).unwrap();
    assert!(refused(&folder, &["qemu"], 1).contains("channel `stable` is not pinned"));
    std::fs::remove_file(folder.path("pins/channels.json")).unwrap();
    assert_eq!(download(&folder, &["qemu", "--arch", "amd64"]).status, 0);
    assert_eq!(folder.read("x"), "x");
}

#[test]
fn output_is_a_file_or_a_folder_that_is_there() {
    let server = files(&[("/a/x.qcow2.xz", b"x")]);
    let folder = with_qcow2(&server.url("/a/x.qcow2.xz"), b"x");
    folder.write("images/other", "");
    let hash = sha256(b"x");
    for (output, path) in [("images", "images/x.qcow2.xz"), ("images/mine", "images/mine"), ("mine", "mine")]
    {
        download(&folder, &["qemu", "--output", output])
            .said(&format!("{path}: downloaded, 1 bytes, sha256 {hash}\n"));
        assert_eq!(folder.read(path), "x");
    }
    for output in ["nowhere/", "nowhere/x"] {
        let error = refused(&folder, &["qemu", "--output", output], 2);
        assert!(error.starts_with("error: --output: no folder `nowhere"), "{error}");
    }
    assert_eq!(names(&folder), ["images", "mine"]);
}

#[test]
fn json_tells_what_is_where() {
    let server = files(&[("/x", b"x")]);
    let folder = with_qcow2(&server.url("/x"), b"x");
    for downloaded in [true, false] {
        let run = download(&folder, &["qemu", "--json"]);
        let value: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        let expected = serde_json::json!({
            "version": 1, "kind": "disk", "path": "x", "url": server.url("/x"), "sha256": sha256(b"x"),
            "bytes": 1, "downloaded": downloaded, "signature": "not-checked", "signed-by": null,
        });
        assert_eq!((run.status, value), (0, expected));
    }
}
