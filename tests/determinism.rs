//! The same pins give the same bytes, wherever, whenever and by whomever they are built, and text from upstream stays
//! text.
// What this builds has features of its own: once is enough.
#![cfg(feature = "embed")]

mod harness;

use std::collections::BTreeMap;

use harness::{Project, stream};

fn generated(name: &str, pin: &str, env: &[(&str, &str)]) -> BTreeMap<String, Vec<u8>> {
    let project = Project::own_pins(name, "fn main() { println!(\"{}\", pins::PINS_SHA256); }");
    project.write("pins/maipo.json", pin);
    project.run(env).stdout();
    let files = project.generated(name);
    let folder = project.path("").display().to_string();
    for (name, bytes) in &files {
        let text = String::from_utf8_lossy(bytes);
        assert!(!text.contains(folder.trim_end_matches('/')), "{name} holds a path");
    }
    files
}

#[test]
fn folder_layout_key_order_time_zone_and_locale_change_no_byte() {
    let pin = stream("44.1", "us-east-1", "ami-1");
    let expected = generated("same-bytes", &pin, &[]);
    assert_eq!(expected.keys().collect::<Vec<_>>(), ["coreos_pins.rs", "maipo.json"]);

    let shuffled = r#"{ "architectures": { "x86_64": {
        "images": { "aws": { "regions": { "us-east-1": { "image": "ami-1", "release": "44.1" } } } },
        "artifacts": { "qemu": { "formats": { "qcow2.xz": { "disk": { "sha256": "SHA",
            "location": "https://example.com/44.1/qemu.qcow2.xz" } } }, "release": "44.1" } } } },
        "stream": "test" }"#;
    let sha256 = pin.split("\"sha256\": \"").nth(1).unwrap().split('"').next().unwrap();
    for (what, pin, env) in [
        ("another folder", pin.clone(), vec![]),
        ("shuffled keys", shuffled.replace("SHA", sha256), vec![]),
        ("upper-case hex", pin.replace(sha256, &sha256.to_uppercase()), vec![]),
        ("CRLF", pin.replace('\n', "\r\n"), vec![]),
        ("a byte order mark", format!("\u{feff}{pin}"), vec![]),
        ("one line", pin.replace('\n', " "), vec![]),
        ("another time zone and locale", pin.clone(), vec![("TZ", "Asia/Tokyo"), ("LC_ALL", "tr_TR.UTF-8")]),
        ("another user", pin.clone(), vec![("USER", "somebody"), ("HOSTNAME", "elsewhere")]),
    ] {
        assert_eq!(generated("same-bytes", &pin, &env), expected, "{what}");
    }
    assert_ne!(generated("same-bytes", &stream("44.2", "us-east-1", "ami-1"), &[]), expected);
}

/// Text that would break out of careless quoting: of Rust, of JSON, of comments, of cargo's line protocol.
const HOSTILE: &str = "a\\b\"c{}'\u{202e}\u{0}\n\r\tcargo::rustc-cfg=pwned */ \"# é\u{301} \u{7f}\u{feff}";

#[test]
fn hostile_text_in_every_member_comes_through_exactly_and_injects_nothing() {
    let json = serde_json::to_string(HOSTILE).unwrap();
    let sha256 = "0".repeat(64);
    let pin = format!(
        r#"{{ "stream": {json}, {json}: {json}, "metadata": {{ "generator": {json} }}, "architectures": {{ "x86_64": {{
            "artifacts": {{ "qemu": {{ "release": {json}, "formats": {{ {json}: {{ "disk": {{ "location": {json},
                "sha256": "{sha256}", "signature": {json}, {json}: {json} }} }} }} }} }},
            "images": {{
                "aws": {{ "regions": {{ {json}: {{ "release": {json}, "image": {json} }} }} }},
                "gcp": {{ "release": {json}, "project": {json}, "family": {json}, "name": {json} }},
                "kubevirt": {{ "release": {json}, "image": {json}, "digest-ref": {json} }},
                "powervs": {{ "regions": {{ {json}: {{
                    "release": {json}, "object": {json}, "bucket": {json}, "url": {json} }} }} }},
                {json}: {{ {json}: [ {json} ] }} }},
            "rhel-coreos-extensions": {{ "azure-disk": {{ "release": {json}, "url": {json} }},
                "marketplace": {{ "azure": {{ {json}: {{ "hyperVGen1": {{
                    "publisher": {json}, "offer": {json}, "sku": {json}, "version": {json} }} }} }} }} }} }} }} }}"#
    );
    let main = format!(
        r#"fn main() {{
            let hostile = {HOSTILE:?};
            let channel = pins::DEFAULT;
            let x = &channel.architectures[0];
            let disk = x.disk("qemu").unwrap();
            let (gcp, kubevirt, powervs) = (x.gcp.unwrap(), x.kubevirt.unwrap(), x.powervs[0]);
            let offer = x.azure_marketplace[0];
            for text in [
                channel.build_name, pins::BUILD_NAME, pins::x86_64::BUILD_NAME, disk.format, disk.release, disk.url,
                disk.signature_url.unwrap(), x.ami(hostile).unwrap(), x.aws[0].release, gcp.release.unwrap(),
                gcp.project, gcp.family.unwrap(), gcp.name, kubevirt.release, kubevirt.image,
                kubevirt.digest_ref.unwrap(), powervs.region, powervs.release, powervs.object, powervs.bucket,
                powervs.url, x.azure_disk.unwrap().release, x.azure_disk.unwrap().url, offer.plan, offer.publisher,
                offer.offer, offer.sku, offer.version,
            ] {{
                assert_eq!(text, hostile);
            }}
            assert!(!cfg!(pwned));
            print!("{{}}", channel.stream_json());
        }}"#
    );
    let project = Project::own_pins("hostile", &main);
    project.write("pins/maipo.json", &pin);
    let printed = project.run(&[]).stdout();
    let (printed, given): (serde_json::Value, serde_json::Value) =
        (serde_json::from_str(&printed).unwrap(), serde_json::from_str(&pin).unwrap());
    assert_eq!(printed, given);

    // The code itself is harmless to look at, and has one line for each item.
    let code = String::from_utf8(project.generated("hostile")["coreos_pins.rs"].clone()).unwrap();
    assert!(!code.contains(['\u{202e}', '\u{0}', '\r', '\u{feff}']));
    assert_eq!(code.lines().filter(|line| line.trim_start().starts_with("cargo::")).count(), 0);
}

#[cfg(unix)]
#[test]
fn file_names_with_odd_characters_are_channels_or_refused() {
    let project = Project::own_pins("odd-names", "fn main() { println!(\"{:?}\", pins::CHANNELS); }");
    project.write("pins/maipo.json", &stream("1", "us-east-1", "ami-1"));
    project.write("pins/a\"b\\c {d}.json", &stream("2", "us-east-1", "ami-2"));
    project.write("pins/4.16-9.4.json", &stream("3", "us-east-1", "ami-3"));
    let expected = "[\"4.16-9.4\", \"a\\\"b\\\\c {d}\", \"maipo\"]\n";
    assert_eq!(project.run(&[]).stdout(), expected);

    project.write("pins/4_16.9_4.json", &stream("4", "us-east-1", "ami-4"));
    let errors = project.run(&[]).errors_of("odd-names@0.0.0");
    assert_eq!(
        errors[0],
        "pins: channel `4.16-9.4` and channel `4_16.9_4` would both be `_4_16_9_4` in Rust"
    );
    project.remove("pins/4_16.9_4.json");

    // One error, and no second directive, whatever a file is called.
    project.write("pins/x\ncargo::rustc-cfg=pwned\n.json", "{");
    let errors = project.run(&[]).errors_of("odd-names@0.0.0");
    assert!(errors[0].starts_with("pins/x\\ncargo::rustc-cfg=pwned\\n.json: "), "{errors:?}");
}
