//! Builder pins: looked up, guarded, carried from channel to channel, and found out when a build used another.

#[path = "../harness/mod.rs"]
mod harness;
mod real;
mod registry;

use harness::{Folder, Run};
use registry::{Faults, OCI_INDEX, Registry};
use serde_json::{Value, json};

const ARCHES: [&str; 2] = ["amd64", "arm64"];

/// Channels as Fedora CoreOS has them, and a builder at `registry`.
fn folder(registry: &Registry) -> Folder {
    Folder::new(&format!(
        r#"{{ "version": 1, "channels": {{
            "testing-devel": {{ "floats": true }}, "next": {{ "promotes-from": ["testing-devel"] }},
            "testing": {{ "promotes-from": ["testing-devel", "next"] }}, "stable": {{ "promotes-from": ["testing"] }},
            "held": {{ "promotes-from": ["testing"], "hold": {{ "reason": "a bug" }} }} }},
          "builders": {{ "coreos-assembler": {{ "image": "{}", "tag": "main", "guard": "fcos-{{digest:10}}",
            "guard-architectures": true, "architectures": ["x86_64", "aarch64"] }} }} }}"#,
        registry.image
    ))
}

fn run(folder: &Folder, arguments: &[&str]) -> Run {
    folder.run_in(
        "",
        arguments,
        &[("HOME", "/nonexistent"), ("XDG_RUNTIME_DIR", ""), ("COREOS_ASSEMBLER_IMAGE", "")],
    )
}

#[track_caller]
fn done(folder: &Folder, arguments: &[&str]) -> String {
    let run = run(folder, arguments);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{arguments:?}");
    run.stdout
}

/// Runs with `arguments`, which must be refused with `status`, say `said`, and change nothing.
#[track_caller]
fn refused(folder: &Folder, arguments: &[&str], status: i32, said: &str) {
    let before = folder.files();
    let run = run(folder, arguments);
    assert_eq!(run.status, status, "{arguments:?} {}{}", run.stdout, run.stderr);
    assert!(run.stderr.contains(said), "{said}: {}", run.stderr);
    assert!(folder.files() == before, "{arguments:?} changed a file");
}

fn pin(folder: &Folder, channel: &str) -> String {
    folder.read(&format!("pins/builders/coreos-assembler/{channel}.json"))
}

fn guard(digest: &str) -> String {
    format!("fcos-{}", &digest["sha256:".len()..][..10])
}

#[test]
fn a_floating_source_is_resolved_guarded_and_pinned_once() {
    let registry = Registry::start();
    let digest = registry.push(&ARCHES, "1111");
    let folder = folder(&registry);
    let said = done(&folder, &["promote", "testing-devel", "testing"]);
    assert_eq!(said, format!("testing: coreos-assembler is now {digest} (1111, 2026-07-20)\n"));
    let value: Value = serde_json::from_str(&pin(&folder, "testing")).unwrap();
    assert_eq!(value["digest"], digest);
    assert_eq!((value["image"].clone(), value["tag"].clone()), (json!(registry.image), json!("main")));
    assert_eq!(
        (value["guard"].clone(), value["media-type"].clone()),
        (json!(guard(&digest)), json!(OCI_INDEX))
    );
    assert_eq!(
        (value["revision"].clone(), value["created"].clone()),
        (json!("1111"), json!("2026-07-20T09:14:03Z"))
    );
    assert!(value.get("resolved").is_none(), "no clock");
    let tags = registry.tags();
    assert_eq!(tags[&guard(&digest)], digest);
    assert_eq!(
        tags[&format!("{}-amd64", guard(&digest))],
        value["architectures"]["x86_64"].as_str().unwrap()
    );
    assert_eq!(
        tags[&format!("{}-arm64", guard(&digest))],
        value["architectures"]["aarch64"].as_str().unwrap()
    );
    // Rule 1: the tag has not moved, so nothing changes.
    let before = folder.files();
    assert_eq!(
        done(&folder, &["promote", "testing-devel", "testing"]),
        format!("testing: coreos-assembler is {digest} (1111, 2026-07-20) already\n")
    );
    assert!(folder.files() == before);
}

#[test]
fn a_pinned_source_is_copied_byte_by_byte_while_the_tag_moves() {
    let registry = Registry::start();
    let first = registry.push(&ARCHES, "1111");
    let folder = folder(&registry);
    done(&folder, &["promote", "testing-devel", "testing"]);
    let testing = pin(&folder, "testing");
    let second = registry.push(&ARCHES, "2222");
    assert_ne!(first, second);
    registry.requests();
    // Rule 2.
    done(&folder, &["promote", "testing", "stable", "--offline"]);
    assert_eq!(pin(&folder, "stable"), testing);
    assert_eq!(registry.requests(), [""; 0]);
    done(&folder, &["promote", "testing", "stable"]);
    assert!(
        registry.requests().iter().all(|request| !request.contains("/manifests/main")),
        "the moving tag is not asked for"
    );
    // With the registry down it is a warning.
    registry.misbehave(Faults { says: Some(418), ..Faults::default() });
    std::fs::remove_file(folder.path("pins/builders/coreos-assembler/stable.json")).unwrap();
    let run = run(&folder, &["promote", "testing", "stable"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(
        run.stderr.starts_with("warning: the guard of `") && run.stderr.contains("was not checked"),
        "{}",
        run.stderr
    );
    assert_eq!(pin(&folder, "stable"), testing);
    registry.misbehave(Faults::default());
    // Rule 4: next to testing is a copy, too. And rule 3: stable gets what testing was, whatever came in between.
    done(&folder, &["promote", "testing-devel", "next"]);
    folder.git(&["init", "-q"]);
    folder.git(&["add", "pins"]);
    folder.git(&["commit", "-qm", "before"]);
    let said = done(&folder, &["promote", "next", "testing"]);
    assert_eq!(pin(&folder, "testing"), pin(&folder, "next"));
    assert!(said.contains("  https://github.com/coreos/coreos-assembler/compare/1111...2222\n"), "{said}");
    done(&folder, &["promote", "testing", "stable", "--from-rev", "HEAD"]);
    assert_eq!(pin(&folder, "stable"), testing);
    refused(&folder, &["promote", "testing", "stable", "--from-rev", "nope"], 2, "no revision `nope`");
}

#[test]
fn verify_walks_from_the_pin_to_all_that_it_stands_for() {
    let registry = Registry::start();
    let digest = registry.push(&ARCHES, "1111");
    let folder = folder(&registry);
    done(&folder, &["promote", "testing-devel", "testing"]);
    assert_eq!(done(&folder, &["verify"]), "testing: ok\n");
    assert_eq!(done(&folder, &["verify", "testing", "--online"]), "testing: ok\n");
    registry.untag(&guard(&digest));
    let child = done(&folder, &["ref", "testing", "--arch", "arm64"]);
    let child = child.trim().split_once('@').unwrap().1;
    registry.remove(child);
    registry.remove(&digest);
    let run = run(&folder, &["verify", "--online"]);
    assert_eq!((run.status, run.stderr.as_str()), (1, ""));
    for said in [
        format!("{digest}` is gone: no tag holds it"),
        format!("the image for `aarch64` is gone: `{}@{child}`", registry.image),
        format!("{}` is not there", guard(&digest)),
    ] {
        assert!(run.stdout.contains(&said), "{said}: {}", run.stdout);
    }
    registry.misbehave(Faults { says: Some(401), ..Faults::default() });
    assert_eq!(self::run(&folder, &["verify", "--online"]).status, 3);
    // Rule 14: without any network.
    let file = format!("pins/manifests/{}.json", digest.replace(':', "-"));
    let sound = folder.read(&file);
    folder.write(&file, &sound.replace("amd64", "amd65"));
    let run = self::run(&folder, &["verify"]);
    assert!(run.status == 1 && run.stdout.contains(&format!("{file}: its SHA-256 is ")), "{}", run.stdout);
    folder.write(&file, &sound);
    folder.write(
        "pins/builders/coreos-assembler/testing.json",
        &pin(&folder, "testing").replace("\"tag\"", "\"tags\""),
    );
    assert!(self::run(&folder, &["verify"]).stdout.contains("tags: unknown field `tags`"));
}

#[test]
fn edges_holds_and_floating_targets_are_refused() {
    let registry = Registry::start();
    registry.push(&ARCHES, "1111");
    let folder = folder(&registry);
    refused(
        &folder,
        &["promote", "testing-devel", "stable"],
        1,
        "channel `stable` does not promote from `testing-devel`",
    );
    refused(&folder, &["promote", "testing", "held"], 1, "channel `held` is on hold: a bug");
    refused(&folder, &["promote", "testing", "testing-devel"], 1, "channel `testing-devel` floats");
    refused(
        &folder,
        &["promote", "testing", "stable"],
        1,
        "channel `testing` has no pin of builder `coreos-assembler`, and does not float",
    );
    refused(&folder, &["promote", "nope", "stable"], 2, "no channel `nope`");
    refused(&folder, &["promote", "testing-devel", "testing", "--builder", "nope"], 2, "no builder `nope`");
    refused(&folder, &["promote", "testing-devel", "testing", "--offline"], 1, "its tag has to be asked for");
    assert!(registry.tags().len() == 1, "nothing was tagged");
}

#[test]
fn an_index_that_is_not_whole_is_refused() {
    let registry = Registry::start();
    let folder = folder(&registry);
    let promote = ["promote", "testing-devel", "testing"];
    refused(&folder, &promote, 1, "no image `");
    // Rule 7.
    registry.push(&["amd64"], "1111");
    refused(&folder, &promote, 1, "has nothing for `aarch64`");
    // Rule 8: by label, on any image.
    registry.push_labelled(
        &ARCHES,
        |name| if name == "arm64" { json!({ "quay.expires-after": "4d" }) } else { json!({}) },
        "",
    );
    refused(&folder, &promote, 1, "expires after 4d, and so would every tag that guards it");
    registry.push_labelled(&ARCHES, |name| json!({ "org.opencontainers.image.revision": name }), "");
    refused(&folder, &promote, 1, "has images of different commits");
    // A single image.
    let digest = registry.push(&ARCHES, "1111");
    let child = done(&folder, &["ref", "testing-devel", "--arch", "arm64"]);
    registry.tag("main", child.trim().split_once('@').unwrap().1);
    refused(&folder, &promote, 1, "is an image of one architecture, not an index");
    // Hollow.
    registry.tag("main", &digest);
    registry.remove(child.trim().split_once('@').unwrap().1);
    refused(&folder, &promote, 1, "names an image for `aarch64` that is not there");
    assert!(registry.tags().keys().all(|tag| tag == "main"), "nothing was guarded");
}

#[test]
fn answers_that_contradict_themselves_are_no_answers() {
    let registry = Registry::start();
    let digest = registry.push(&ARCHES, "1111");
    let folder = folder(&registry);
    let promote = ["promote", "testing-devel", "testing"];
    // Rules 9 and 10.
    registry.misbehave(Faults { schema_1: true, ..Faults::default() });
    refused(&folder, &promote, 3, "is served as `application/vnd.docker.distribution.manifest.v1+prettyjws`");
    registry.misbehave(Faults { lies: true, ..Faults::default() });
    refused(&folder, &promote, 3, "contradicts itself: its header names `sha256:000");
    registry.misbehave(Faults { says: Some(429), ..Faults::default() });
    refused(&folder, &promote, 3, "429");
    // One that says little is fine.
    registry.misbehave(Faults { is_terse: true, ..Faults::default() });
    assert!(done(&folder, &promote).contains(&digest));
}

#[test]
fn a_guard_is_never_moved() {
    let registry = Registry::start();
    let other = registry.push(&ARCHES, "0000");
    let digest = registry.push(&ARCHES, "1111");
    registry.tag(&format!("{}-arm64", guard(&digest)), &other);
    let folder = folder(&registry);
    // Rule 6.
    refused(
        &folder,
        &["promote", "testing-devel", "testing"],
        1,
        "holds another digest, and a guard is never moved",
    );
    assert_eq!(registry.tags().len(), 2, "no other guard was made either");
}

#[test]
fn without_leave_to_push_nothing_is_written_and_guard_heals_later() {
    let registry = Registry::start();
    let digest = registry.push(&ARCHES, "1111");
    let folder = folder(&registry);
    registry.misbehave(Faults { denies_push: true, ..Faults::default() });
    // Rule 12.
    refused(
        &folder,
        &["promote", "testing-devel", "testing"],
        3,
        "the registry says: DENIED: no push for you",
    );
    done(&folder, &["promote", "testing-devel", "testing", "--no-guard"]);
    let check = run(&folder, &["guard", "--check"]);
    assert_eq!((check.status, check.stdout.lines().count()), (1, 3), "{}{}", check.stdout, check.stderr);
    assert_eq!(run(&folder, &["guard"]).status, 3);
    registry.misbehave(Faults::default());
    // The tag has moved, and the registry has forgotten the index: its bytes are beside the pin.
    registry.push(&ARCHES, "2222");
    registry.remove(&digest);
    assert!(
        done(&folder, &["guard"])
            .contains(&format!("testing: coreos-assembler: made {0}, {0}-arm64, {0}-amd64", guard(&digest)))
    );
    assert_eq!(registry.tags()[&guard(&digest)], digest);
    assert!(done(&folder, &["guard"]).ends_with("guarded already\n"));
    assert_eq!(done(&folder, &["guard", "--check", "testing"]), "1 pins, all guarded\n");
    registry.untag(&guard(&digest));
    assert_eq!(run(&folder, &["guard", "--check"]).status, 1);
    // And promoting on heals it.
    done(&folder, &["promote", "testing", "stable"]);
    assert_eq!(registry.tags()[&guard(&digest)], digest);
}

#[test]
fn a_trial_writes_and_pushes_nothing() {
    let registry = Registry::start();
    registry.push(&ARCHES, "1111");
    let folder = folder(&registry);
    let before = folder.files();
    let trial = run(&folder, &["promote", "testing-devel", "testing", "--dry-run"]);
    assert!(
        trial.status == 1 && trial.stdout.starts_with("testing: coreos-assembler would be sha256:"),
        "{}",
        trial.stdout
    );
    assert!(folder.files() == before && registry.tags().len() == 1);
    assert!(registry.requests().iter().all(|request| request.starts_with("GET ")));
    done(&folder, &["promote", "testing-devel", "testing"]);
    let trial = run(&folder, &["promote", "testing-devel", "testing", "--dry-run", "--json"]);
    let value: Value = serde_json::from_str(&trial.stdout).unwrap();
    assert_eq!(
        (trial.status, value["builders"][0]["changed"].clone(), value["version"].clone()),
        (0, json!(false), json!(1))
    );
}

#[test]
fn an_older_container_is_refused_unless_told_otherwise() {
    let registry = Registry::start();
    let labels =
        |revision: &'static str| move |_: &str| json!({ "org.opencontainers.image.revision": revision });
    registry.push_labelled(&ARCHES, labels("2222"), "2026-07-20T00:00:00Z");
    let folder = folder(&registry);
    done(&folder, &["promote", "testing-devel", "testing"]);
    registry.push_labelled(&ARCHES, labels("1111"), "2026-07-19T00:00:00Z");
    refused(&folder, &["promote", "testing-devel", "testing"], 1, "is older than the one it has");
    done(&folder, &["promote", "testing-devel", "testing", "--allow-downgrade"]);
}

#[test]
fn the_reference_to_run_is_always_by_digest_and_says_where_it_is_from() {
    let registry = Registry::start();
    let pinned = registry.push(&ARCHES, "1111");
    let folder = folder(&registry);
    done(&folder, &["promote", "testing-devel", "testing"]);
    let moved = registry.push(&ARCHES, "2222");
    registry.requests();
    let image = &registry.image;
    assert_eq!(done(&folder, &["ref", "testing"]), format!("{image}@{pinned}\n"));
    assert_eq!(registry.requests(), [""; 0], "a pin is not asked for");
    assert_eq!(done(&folder, &["ref", "testing-devel"]), format!("{image}@{moved}\n"));
    let value: Value = serde_json::from_str(&done(&folder, &["ref", "testing", "--json"])).unwrap();
    assert_eq!(
        (value["origin"].clone(), value["reference"].clone()),
        (json!("pin"), json!(format!("{image}@{pinned}")))
    );
    let child = value["architectures"]["aarch64"].as_str().unwrap();
    assert_eq!(done(&folder, &["ref", "testing", "--arch", "arm64"]), format!("{image}@{child}\n"));
    refused(&folder, &["ref", "testing", "--arch", "s390x"], 1, "has nothing for `s390x`");
    refused(&folder, &["ref", "stable"], 1, "has no pin of builder `coreos-assembler`, and does not float");
    // Rule 13: a hot fix, by flag and by variable, resolved and said.
    let tag = format!("{image}:main");
    let other = run(&folder, &["ref", "testing", "--override", &tag]);
    assert_eq!((other.status, other.stdout), (0, format!("{image}@{moved}\n")));
    assert!(
        other.stderr.contains("builds channel `testing`, not its pin (asked for by --override)"),
        "{}",
        other.stderr
    );
    let other = folder.run_in(
        "",
        &["ref", "testing", "--json"],
        &[("COREOS_ASSEMBLER_IMAGE", &tag), ("HOME", "/nonexistent")],
    );
    assert!(
        other.stdout.contains("\"origin\":\"override\"") && other.stderr.contains("COREOS_ASSEMBLER_IMAGE"),
        "{}{}",
        other.stdout,
        other.stderr
    );
    assert_eq!(done(&folder, &["resolve"]), format!("{image}@{moved}\n"));
    assert_eq!(done(&folder, &["resolve", &tag]), format!("{image}@{moved}\n"));
    let value: Value = serde_json::from_str(&done(&folder, &["resolve", &tag, "--json"])).unwrap();
    assert_eq!((value["media-type"].clone(), value["digest"].clone()), (json!(OCI_INDEX), json!(moved)));
    refused(&folder, &["resolve", "a b"], 2, "`a b` is no reference to an image");
}

#[test]
fn a_build_that_used_another_container_is_found_out() {
    let registry = Registry::start();
    let digest = registry.push(&ARCHES, "1111");
    let folder = folder(&registry);
    done(&folder, &["promote", "testing-devel", "testing"]);
    let image = &registry.image;
    registry.requests();
    let check = |arguments: &[&str]| run(&folder, &[&["check", "testing"], arguments].concat());
    assert_eq!(
        check(&["--image", &format!("{image}@{digest}")]).stdout,
        "testing: built with the pinned coreos-assembler\n"
    );
    let child = done(&folder, &["ref", "testing", "--arch", "x86_64"]);
    assert_eq!(check(&["--image", child.trim()]).status, 0);
    let wrong = format!("{image}@sha256:{}", "0".repeat(64));
    for (image, said) in
        [(wrong.as_str(), "the build used sha256:000"), (&format!("{image}:main"), "names no digest")]
    {
        let run = check(&["--image", image]);
        assert!(run.status == 1 && run.stderr.contains(said) && run.stdout.is_empty(), "{}", run.stderr);
        let run = check(&["--image", image, "--allow-override"]);
        assert!(run.status == 0 && run.stderr.starts_with("warning: "), "{}", run.stderr);
    }
    let record = |git: &str| {
        format!(
            r#"{{ "buildid": "44.1", "images": {{}}, "coreos-assembler.container-image-git": {{ "origin": "o", "branch": "main", {git} }} }}"#
        )
    };
    for (git, status, said) in [
        (r#""commit": "1111", "dirty": "false""#, 0, ""),
        (
            r#""commit": "2222", "dirty": "false""#,
            1,
            "the build used commit 2222, that of the pinned container is 1111",
        ),
        (r#""commit": "1111", "dirty": "true""#, 1, "with changes of somebody's own"),
    ] {
        folder.write("meta.json", &record(git));
        let run = check(&["--meta", "meta.json"]);
        assert!(run.status == status && run.stderr.contains(said), "{git}: {}", run.stderr);
    }
    folder.write("meta.json", r#"{ "buildid": "44.1", "images": {} }"#);
    assert!(check(&["--meta", "meta.json"]).stderr.contains("does not say what it was built with"));
    assert_eq!(registry.requests(), [""; 0]);
    assert_eq!(check(&[]).status, 2);
}

#[test]
fn passwords_and_tokens_are_found_sent_and_never_shown() {
    let registry = Registry::start();
    let digest = registry.push(&ARCHES, "1111");
    let folder = folder(&registry);
    let auth = |user: &str| {
        format!(
            r#"{{ "auths": {{ "{}": {{ "auth": "{user}" }} }} }}"#,
            registry.image.split('/').next().unwrap()
        )
    };
    let with = |arguments: &[&str]| {
        folder.run_in("", arguments, &[("HOME", "/nonexistent"), ("REGISTRY_AUTH_FILE", "auth.json")])
    };
    // bob:s3cr3t, without padding.
    folder.write("auth.json", &auth("Ym9iOnMzY3IzdA"));
    for wants_token in [false, true] {
        let faults = Faults { wants_basic: Some("bob:s3cr3t".to_owned()), wants_token, ..Faults::default() };
        registry.misbehave(faults);
        let bare = run(&folder, &["resolve"]);
        assert_eq!(bare.status, 3, "{}", bare.stdout);
        let found = with(&["resolve"]);
        assert_eq!(
            (found.status, found.stdout),
            (0, format!("{}@{digest}\n", registry.image)),
            "{}",
            found.stderr
        );
        // Pull, and then push: the token is asked for anew.
        let promoted = with(&["promote", "testing-devel", if wants_token { "testing" } else { "next" }]);
        assert_eq!(promoted.status, 0, "{}", promoted.stderr);
        folder.write("auth.json", &auth("Ym9iOndyMG5n"));
        let wrong = with(&["resolve"]);
        assert_eq!(wrong.status, 3);
        for run in [bare, wrong, promoted] {
            assert!(
                !format!("{}{}", run.stdout, run.stderr).contains("s3cr3t") && !run.stderr.contains("wr0ng"),
                "{}",
                run.stderr
            );
        }
        folder.write("auth.json", &auth("Ym9iOnMzY3IzdA"));
    }
    for broken in ["{", r#"{"auths": []}"#, &auth("!!s3cr3t!!")] {
        folder.write("auth.json", broken);
        let run = with(&["resolve"]);
        assert!(
            run.status == 2
                && run.stderr.contains("`auth.json` is no file of credentials")
                && !run.stderr.contains("s3cr3t"),
            "{}",
            run.stderr
        );
    }
    let run = folder.run_in("", &["resolve", "--authfile", "nowhere.json"], &[("HOME", "/nonexistent")]);
    assert!(
        run.status == 2 && run.stderr.contains("no file `nowhere.json` (asked for by --authfile)"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_hot_fix_is_set_with_its_reason_and_replaced_by_the_next_promotion() {
    let registry = Registry::start();
    let baked = registry.push(&ARCHES, "1111");
    let folder = folder(&registry);
    done(&folder, &["promote", "testing-devel", "testing"]);
    done(&folder, &["promote", "testing", "stable"]);
    let fix = registry.push(&ARCHES, "f1f1");
    let tag = format!("{}:main", registry.image);
    refused(&folder, &["set", "stable", &tag], 2, "--reason");
    refused(&folder, &["set", "stable", &tag, "--reason", " "], 2, "--reason: expected a reason");
    refused(&folder, &["set", "testing-devel", &tag, "--reason", "r"], 1, "floats");
    refused(&folder, &["set", "held", &tag, "--reason", "r"], 1, "is on hold: a bug");
    assert_eq!(
        done(&folder, &["set", "stable", &tag, "--reason", "https://example.com/1"]),
        format!("stable: coreos-assembler: {}@{fix}\n", registry.image)
    );
    let value: Value = serde_json::from_str(&pin(&folder, "stable")).unwrap();
    assert_eq!(
        (value["reason"].clone(), value["digest"].clone()),
        (json!("https://example.com/1"), json!(fix))
    );
    assert_eq!(registry.tags()[&guard(&fix)], fix);
    assert_eq!(done(&folder, &["verify", "stable", "--online"]), "stable: ok\n");
    done(&folder, &["promote", "testing", "stable"]);
    assert!(pin(&folder, "stable").contains(&baked) && !pin(&folder, "stable").contains("reason"));
    // By digest, too.
    done(&folder, &["set", "stable", &format!("{}@{fix}", registry.image), "--reason", "again"]);
    assert!(!pin(&folder, "stable").contains("\"tag\""));
}

#[test]
fn a_development_channel_may_be_pinned_and_moves_with_its_tag() {
    let registry = Registry::start();
    let first = registry.push(&ARCHES, "1111");
    let folder = folder(&registry);
    let policy = folder
        .read("pins/channels.json")
        .replace("\"next\":", "\"rawhide\": {}, \"next\":")
        .replace("\"testing-devel\"]", "\"testing-devel\", \"rawhide\"]");
    folder.write("pins/channels.json", &policy);
    refused(&folder, &["update"], 1, "no channel that promotes from nowhere has a builder pin");
    refused(&folder, &["update", "stable"], 1, "gets its pins by promotion");
    refused(&folder, &["update", "testing-devel"], 1, "floats");
    assert_eq!(
        done(&folder, &["update", "rawhide"]),
        format!("rawhide: coreos-assembler: {}@{first}\n", registry.image)
    );
    assert!(done(&folder, &["update"]).ends_with(", as before\n"));
    let second = registry.push(&ARCHES, "2222");
    let trial = run(&folder, &["update", "--dry-run"]);
    assert!(
        trial.status == 1 && trial.stdout.contains(&second) && pin(&folder, "rawhide").contains(&first),
        "{}",
        trial.stdout
    );
    // Pinned, so it is copied, whatever the tag is.
    done(&folder, &["promote", "rawhide", "next"]);
    assert_eq!(pin(&folder, "next"), pin(&folder, "rawhide"));
    assert!(done(&folder, &["update"]).contains(&second));
}

#[test]
fn a_hold_is_one_member_of_the_policy_and_everything_else_stays() {
    let registry = Registry::start();
    registry.push(&ARCHES, "1111");
    let folder = folder(&registry);
    let before = folder.read("pins/channels.json");
    assert_eq!(
        done(&folder, &["hold", "testing", "--reason", "it \"hurts\"", "--until", "2999-12-31"]),
        "testing: on hold until 2999-12-31: it \"hurts\"\n"
    );
    refused(
        &folder,
        &["promote", "testing-devel", "testing"],
        1,
        "channel `testing` is on hold until 2999-12-31: it \"hurts\"",
    );
    assert_eq!(done(&folder, &["unhold", "testing"]), "testing: free to move\n");
    assert_eq!(folder.read("pins/channels.json"), before);
    assert_eq!(done(&folder, &["unhold", "testing"]), "testing: not on hold\n");
    refused(&folder, &["hold", "testing"], 2, "--reason");
    refused(&folder, &["hold", "testing", "--reason", ""], 2, "expected a reason, found none");
    refused(
        &folder,
        &["hold", "testing", "--reason", "r", "--until", "2026-02-30"],
        2,
        "expected a date `YYYY-MM-DD`",
    );
    refused(&folder, &["hold", "nope", "--reason", "r"], 2, "no channel `nope`");
}

#[test]
fn a_builder_is_exported_as_people_have_it() {
    let registry = Registry::start();
    let digest = registry.push(&ARCHES, "1111");
    let folder = folder(&registry);
    refused(&folder, &["export", "testing", "--as", "cosa-ref"], 1, "channel `testing` has no builder pin");
    done(&folder, &["promote", "testing-devel", "testing"]);
    let reference = format!("{}@{digest}", registry.image);
    let export = |form: &str| done(&folder, &["export", "testing", "--as", form]);
    assert_eq!(export("cosa-ref"), format!("{reference}\n"));
    assert_eq!(export("build-args"), format!("BUILDER_IMG={reference}\n"));
    assert_eq!(
        done(&folder, &["export", "testing", "--as", "build-args", "--name", "X"]),
        format!("X={reference}\n")
    );
    assert_eq!(export("pipecfg"), format!("streams:\n  testing:\n    cosa_img: {reference}\n"));
    assert_eq!(export("env"), format!("DEFAULT_CHANNEL=testing\nCOREOS_ASSEMBLER_IMAGE={reference}\n"));
}

#[test]
fn a_pull_request_that_only_promotes_is_told_from_one_that_does_more() {
    let registry = Registry::start();
    registry.push(&ARCHES, "1111");
    let folder = folder(&registry);
    folder.git(&["init", "-q"]);
    let commit = |message: &str| {
        folder.git(&["add", "-A"]);
        folder.git(&["commit", "-qm", message]);
    };
    commit("policy");
    done(&folder, &["promote", "testing-devel", "testing"]);
    commit("testing");
    assert_eq!(done(&folder, &["check-promotion", "HEAD~1", "HEAD"]), "promoted testing: coreos-assembler\n");
    registry.push(&ARCHES, "2222");
    done(&folder, &["promote", "testing", "stable"]);
    commit("stable");
    assert_eq!(done(&folder, &["check-promotion", "HEAD~1", "HEAD"]), "promoted stable: coreos-assembler\n");
    assert_eq!(done(&folder, &["check-promotion", "HEAD", "HEAD"]), "nothing is promoted\n");
    let finds = |said: &str| {
        let run = run(&folder, &["check-promotion", "HEAD~1", "HEAD"]);
        assert!(run.status == 1 && run.stdout.contains(said), "{said}: {}{}", run.stdout, run.stderr);
    };
    // Not the one of testing.
    done(&folder, &["promote", "testing-devel", "next"]);
    let other = pin(&folder, "next");
    folder.write("pins/builders/coreos-assembler/stable.json", &other);
    commit("another");
    finds("stable.json: it is the pin of none of `testing`");
    let tag = format!("{}:main", registry.image);
    done(&folder, &["set", "testing", &tag, "--reason", "r"]);
    commit("by hand");
    finds("testing.json: it was set by hand");
    folder.write("pins/channels.json", &format!("{}\n", folder.read("pins/channels.json")));
    commit("policy");
    finds("channels.json differs, which is no builder pin");
    folder.write("README", "x");
    commit("outside");
    finds("1 files outside of `pins` differ");
    refused(&folder, &["check-promotion", "nope", "HEAD"], 2, "no revision `nope`");
}

#[test]
fn guards_that_nobody_needs_are_listed_and_left_alone() {
    let registry = Registry::start();
    let first = registry.push(&ARCHES, "1111");
    let folder = folder(&registry);
    folder.git(&["init", "-q"]);
    done(&folder, &["promote", "testing-devel", "testing"]);
    folder.git(&["add", "-A"]);
    folder.git(&["commit", "-qm", "one"]);
    let second = registry.push(&ARCHES, "2222");
    done(&folder, &["promote", "testing-devel", "testing"]);
    registry.tag("fcos-ffffffffff", &first);
    let listed = done(&folder, &["list-guards"]);
    for (tag, used) in [
        (guard(&first), "in the history"),
        (guard(&second), "testing"),
        ("fcos-ffffffffff".to_owned(), "unused"),
    ] {
        assert!(
            listed.lines().any(|line| line.split_whitespace().nth(1) == Some(&tag) && line.ends_with(used)),
            "{tag} {used}: {listed}"
        );
    }
    let unused = done(&folder, &["list-guards", "--unused"]);
    assert_eq!(unused.lines().count(), 2, "{unused}");
    assert!(
        unused.ends_with("fcos-ffffffffff  unused\n") && registry.tags().contains_key("fcos-ffffffffff"),
        "{unused}"
    );
}

#[test]
fn a_builder_that_people_have_named_already_becomes_a_first_pin() {
    let registry = Registry::start();
    let digest = registry.push(&ARCHES, "1111");
    let folder = folder(&registry);
    folder.write("build-args.conf", &format!("STREAM=testing\nBUILDER_IMG={}@{digest}\n", registry.image));
    assert_eq!(
        done(&folder, &["import", "build-args.conf", "--channel", "testing"]),
        format!("testing: coreos-assembler: {}@{digest}\n", registry.image)
    );
    assert!(pin(&folder, "testing").contains(&digest));
    refused(
        &folder,
        &["import", "build-args.conf", "--channel", "testing"],
        1,
        "is pinned for channel `testing` already",
    );
    folder.write(".cosa-ref", &format!("{}:main\n", registry.image));
    done(&folder, &["import", ".cosa-ref", "--channel", "next"]);
    folder.write("nothing.conf", "A=1\nB=2\n");
    refused(&folder, &["import", "nothing.conf", "--channel", "stable"], 2, "names no image by digest");
    assert_eq!(done(&folder, &["migrate"]), "every file is of version 1, the newest\n");
}

#[test]
fn a_pipeline_builds_all_architectures_with_one_container_and_finds_out_another() {
    let registry = Registry::start();
    let digest = registry.push(&ARCHES, "1111");
    let folder = folder(&registry);
    done(&folder, &["promote", "testing-devel", "testing"]);
    // The tag moves while the jobs run.
    registry.push(&ARCHES, "2222");
    let record = r#"{ "buildid": "44.1", "images": {}, "coreos-assembler.container-image-git": { "commit": "COMMIT", "dirty": "false" } }"#;
    let pipeline = |commit: &str| {
        let job = format!(
            "#!/bin/sh\necho \"$1 $2\" >> jobs\necho '{}' > \"meta-$2.json\"\necho \"meta-$2.json\"\n",
            record.replace("COMMIT", commit)
        );
        folder.write("job.sh", &job);
        let bin = std::path::Path::new(env!("CARGO_BIN_EXE_coreos-pins")).parent().unwrap();
        let script = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/pipeline.sh");
        std::process::Command::new("sh")
            .arg("-c")
            .arg("chmod +x job.sh && exec sh \"$0\" testing 'x86_64 aarch64' ./job.sh")
            .arg(script)
            .current_dir(folder.path(""))
            .env("PATH", format!("{}:{}", bin.display(), std::env::var("PATH").unwrap()))
            .env_remove("COREOS_ASSEMBLER_IMAGE")
            .env_remove("COREOS_PINS_DIR")
            .output()
            .unwrap()
    };
    let good = pipeline("1111");
    assert!(good.status.success(), "{}", String::from_utf8_lossy(&good.stderr));
    assert_eq!(folder.read("jobs"), format!("{0}@{digest} x86_64\n{0}@{digest} aarch64\n", registry.image));
    let bad = pipeline("2222");
    assert!(!bad.status.success());
    assert!(String::from_utf8_lossy(&bad.stderr).contains("the build used commit 2222"));
}

#[test]
fn an_index_that_was_published_anew_with_the_same_images_is_called_that() {
    let registry = Registry::start();
    let first = registry.push(&ARCHES, "1111");
    let folder = folder(&registry);
    done(&folder, &["promote", "testing-devel", "testing"]);
    let second = registry.push(&["arm64", "amd64"], "1111");
    assert_ne!(first, second);
    let said = done(&folder, &["promote", "testing-devel", "testing"]);
    assert!(said.ends_with("  the same images: only their index was published anew\n"), "{said}");
}
