//! Names from upstream, of every kind, that try to be more than names.
// The packages that are built here choose their features themselves: one run is enough.
#![cfg(feature = "embed")]

mod harness;

use harness::{Project, stream};
use serde_json::json;

/// Each ends a literal, a comment or a line, and goes on with code, should anything let it.
const PAYLOADS: [&str; 5] = [
    "a\";\npub const PWNED: bool = true; //",
    "b */ pub const PWNED: bool = true; /*",
    "c\\\"]; } } pub const PWNED: bool = true; //",
    "d\u{202e}\u{2066}\n#[cfg(any())] //! \r x",
    "e{}{0}\u{0}\ncargo::rustc-cfg=pwned\n${HOME}`id`",
];

#[test]
fn every_kind_of_name_comes_through_as_it_is_and_adds_no_item() {
    for (index, payload) in PAYLOADS.into_iter().enumerate() {
        let name = format!("hostile-names-{index}");
        // A file's name holds neither NUL nor slash.
        let channel = payload.replace('\0', "\u{1}").replace('/', "_");
        let main = format!(
            r#"#![deny(warnings)]
            #![allow(unexpected_cfgs, unused_imports)]
            mod probe {{ pub const PWNED: bool = false; }}
            use probe::*;
            // An item of the same name in any of these would be ambiguous, and stop the compiler.
            use pins::channels::*;
            use pins::*;
            fn main() {{
                let (text, file) = ({payload:?}, {channel:?});
                assert!(!PWNED && !cfg!(pwned));
                assert_eq!((DEFAULT_CHANNEL, CHANNELS), (file, &[file][..]));
                let found = channel(file).unwrap();
                let architecture = found.architecture(text).unwrap();
                let artifact = architecture.artifact(text, text, "disk").unwrap();
                assert_eq!((artifact.platform, artifact.format, artifact.url), (text, text, text));
                assert_eq!(architecture.disk(text), Some(artifact));
                assert_eq!(architecture.ami(text), Some(text));
                assert_eq!(architecture.regions("ibmcloud").collect::<Vec<_>>(), [text]);
                assert_eq!((found.architectures.len(), architecture.artifacts.len(), ALL.len()), (1, 1, 1));
                assert!(PINS_SHA256.len() == 64 && BUILD_NAME == text && BASE_URL == text && RELEASE_IMAGE.is_none());
                print!("{{}}", found.stream_json());
            }}
            const _: (Origin, &coreos_pins::Channel) = (ORIGIN, DEFAULT);
            use coreos_pins::Origin;
            "#
        );
        let project = Project::own_pins(&name, "");
        project.write("src/main.rs", &format!("{main}\nmod pins {{ coreos_pins::include_pins!(); }}\n"));
        let pin = json!({ "stream": payload, payload: payload, "architectures": { payload: {
            "artifacts": { payload: { "release": payload, payload: payload, "formats": { payload: {
                payload: payload,
                "disk": { "location": payload, "sha256": "0".repeat(64), payload: [payload] } } } } },
            "images": {
                "aws": { "regions": { payload: { "release": payload, "image": payload } }, payload: payload },
                "ibmcloud": { "regions": { payload: {
                    "release": payload, "object": payload, "bucket": payload, "url": payload } } } } } } });
        project.write(&format!("pins/{channel}.json"), &pin.to_string());
        project.write(
            "pins/channels.json",
            &json!({ "version": 1, "default": channel, "channels": { channel: { "base-url": payload } } })
                .to_string(),
        );
        let printed = project.run(&[]).stdout();
        assert_eq!(serde_json::from_str::<serde_json::Value>(&printed).expect("JSON"), pin, "{payload:?}");
    }
}

#[test]
fn a_file_name_without_a_letter_is_a_channel_or_an_error_that_names_it() {
    let project = Project::own_pins("hostile-empty", "fn main() { println!(\"{:?}\", pins::CHANNELS); }");
    project.write("pins/maipo.json", &stream("1", "us-east-1", "ami-1"));
    project.write("pins/-.json", &stream("2", "us-east-1", "ami-2"));
    assert_eq!(project.run(&[]).stdout(), "[\"-\", \"maipo\"]\n");
    for reserved in ["channels", "core", "std", "str", "crate", "self", "super", "pins", "main"] {
        project.write(&format!("pins/x-{reserved}.json"), &stream("3", "us-east-1", "ami-3"));
    }
    let all = project.run(&[]).stdout();
    assert_eq!(all.matches("x-").count(), 9, "{all}");
    for reserved in ["core", "std", "alloc", "str", "coreos_pins", "__coreos_pins"] {
        project.write(&format!("pins/{reserved}.json"), &stream("3", "us-east-1", "ami-3"));
        let run = project.run(&[]);
        if !run.succeeded {
            let errors = run.errors_of("hostile-empty@0.0.0");
            assert!(errors[0].contains(&format!("`{reserved}`")), "{errors:?}");
        }
        project.remove(&format!("pins/{reserved}.json"));
    }
}
