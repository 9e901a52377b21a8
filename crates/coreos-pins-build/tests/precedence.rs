//! The table of the README, row by row: with a pin and without, with and without the network, and with and without
//! feature `fetch` (this file is run with both). A server counts what it is asked.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use coreos_pins_build::Error;
use coreos_pins_build::pins::Pins;
use coreos_pins_build::resolve::{Origin, Resolved, resolve};
use coreos_pins_build::settings::{Network, Settings};
use coreos_pins_build::source::Source;

/// A server of a folder, which remembers what it was asked for.
struct Server {
    base: String,
    log: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn of(folder: PathBuf) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let log = Arc::new(Mutex::new(Vec::new()));
        let seen = log.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                let Some(Ok(request)) = lines.next() else { continue };
                lines.take_while(|line| line.as_ref().is_ok_and(|line| !line.is_empty())).for_each(drop);
                let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
                seen.lock().unwrap().push(path.clone());
                let found = fs::read(folder.join(path.trim_start_matches('/')));
                let (status, body) = match found {
                    Ok(body) if body == b"500" => ("400 X", Vec::new()),
                    Ok(body) => ("200 OK", body),
                    Err(_) => ("404 X", b"{}".to_vec()),
                };
                let length = body.len();
                let head =
                    format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
                let _ = stream.write_all(&[head.into_bytes(), body].concat());
            }
        });
        Self { base, log }
    }

    fn requests(&self) -> Vec<String> {
        let mut requests = std::mem::take(&mut *self.log.lock().unwrap());
        requests.sort();
        requests
    }
}

/// A digit that is the build's, so that a checksum tells where it is from.
fn sha(build: &str) -> String {
    let digit = build.bytes().map(u32::from).sum::<u32>() % 10;
    digit.to_string().repeat(64)
}

/// A record of 2018.
fn record(build: &str, path: &str) -> String {
    let sha = sha(build);
    format!(
        r#"{{ "buildid": "{build}", "amis": [ {{ "name": "r-1", "hvm": "ami-{build}" }} ],
            "images": {{ "qemu": {{ "path": "{path}x-{build}-qemu.qcow2", "sha256": "{sha}" }} }} }}"#
    )
}

fn pin(build: &str, base: &str) -> String {
    let sha = sha(build);
    format!(
        r#"{{ "pin": {{ "version": 1, "base-url": "{base}", "build": "{build}", "sources": [] }}, "stream": "c",
            "architectures": {{ "x86_64": {{
            "artifacts": {{ "qemu": {{ "release": "{build}", "formats": {{ "qcow2": {{ "disk": {{
                "location": "{base}/c/{build}/x-{build}-qemu.qcow2", "sha256": "{sha}" }} }} }} }} }},
            "images": {{ "aws": {{ "regions": {{ "r-1": {{ "release": "{build}", "image": "ami-{build}" }} }} }} }} }} }} }}"#
    )
}

/// A channel `c`, at home at one server and mirrored at another, with builds 1, 2 and 3.
struct World {
    dir: tempfile::TempDir,
    home: Server,
    mirror: Server,
}

const PINNED: &str = "1";
const NEWEST: &str = "3";

impl World {
    fn new(is_pinned: bool) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            fs::create_dir_all(dir.path().join(name).parent().unwrap()).unwrap();
            fs::write(dir.path().join(name), text).unwrap();
        };
        for tree in ["home", "mirror"] {
            write(&format!("{tree}/c/builds.json"), r#"{ "builds": [ "3", "2", "1" ] }"#);
            for build in ["1", "2", "3"] {
                write(&format!("{tree}/c/{build}/meta.json"), &record(build, ""));
            }
        }
        let home = Server::of(dir.path().join("home"));
        let mirror = Server::of(dir.path().join("mirror"));
        let policy = format!(
            r#"{{ "version": 1, "default": "c", "channels": {{ "c": {{ "base-url": "{}", "layout": "flat" }} }} }}"#,
            home.base
        );
        write("pins/channels.json", &policy);
        if is_pinned {
            write("pins/c.json", &pin(PINNED, &home.base));
        }
        Self { dir, home, mirror }
    }

    fn resolve(&self, base: Option<&str>, build: Option<&str>, offline: bool) -> Result<Resolved, Error> {
        let variables = [("BASE_URL", base), ("BUILD_NAME", build)];
        let variables = variables.into_iter().filter_map(|(name, value)| Some((name.into(), value?.into())));
        let settings = Settings::from_variables(variables)?;
        let network = Network { offline, ..Network::default() };
        resolve(&settings, Pins::load(&self.dir.path().join("pins"))?, || Ok(Source::new(&network)))
    }
}

/// What is chosen: the build, how, and at which of the two.
#[derive(Clone, Copy, Debug)]
enum Place {
    Home,
    Mirror,
}

/// A row: BASE_URL is set, BUILD_NAME, the channel is pinned; the build, its origin, where it is, documents asked for.
type Row = (bool, Option<&'static str>, bool, &'static str, Origin, Place, &'static [&'static str]);

const NONE: &[&str] = &[];
const LIST: &str = "/c/builds.json";

#[rustfmt::skip]
const ROWS: [Row; 17] = [
    (false, None,           true,  PINNED, Origin::Pinned, Place::Home,   NONE),
    (false, Some(PINNED),   true,  PINNED, Origin::Pinned, Place::Home,   NONE),
    (false, Some("2"),      true,  "2",    Origin::Named,  Place::Home,   &["/c/2/meta.json"]),
    (false, Some("2"),      false, "2",    Origin::Named,  Place::Home,   &["/c/2/meta.json"]),
    (false, None,           false, NEWEST, Origin::Latest, Place::Home,   &["/c/3/meta.json", LIST]),
    (true,  None,           true,  PINNED, Origin::Named,  Place::Mirror, &["/c/1/meta.json"]),
    (true,  Some(PINNED),   true,  PINNED, Origin::Named,  Place::Mirror, &["/c/1/meta.json"]),
    (true,  Some("2"),      true,  "2",    Origin::Named,  Place::Mirror, &["/c/2/meta.json"]),
    (true,  Some("2"),      false, "2",    Origin::Named,  Place::Mirror, &["/c/2/meta.json"]),
    (true,  None,           false, NEWEST, Origin::Latest, Place::Mirror, &["/c/3/meta.json", LIST]),
    (false, Some("latest"), true,  NEWEST, Origin::Latest, Place::Home,   &["/c/3/meta.json", LIST]),
    (false, Some("latest"), false, NEWEST, Origin::Latest, Place::Home,   &["/c/3/meta.json", LIST]),
    (true,  Some("latest"), true,  NEWEST, Origin::Latest, Place::Mirror, &["/c/3/meta.json", LIST]),
    (true,  Some("latest"), false, NEWEST, Origin::Latest, Place::Mirror, &["/c/3/meta.json", LIST]),
    // Blank is unset.
    (false, Some("  "),     true,  PINNED, Origin::Pinned, Place::Home,   NONE),
    // Ids by architecture.
    (false, Some("amd64=1"), true, PINNED, Origin::Pinned, Place::Home,   NONE),
    (true,  Some("x86_64=2"), true, "2",   Origin::Named,  Place::Mirror, &["/c/2/meta.json"]),
];

/// Checks that everything of the default channel is of `build`, at `base`, and of nothing else.
#[track_caller]
fn is_whole(resolved: &Resolved, build: &str, origin: Origin, base: &str) {
    let channel = &resolved.channels[&resolved.default];
    assert_eq!((channel.origin, channel.base_url.as_str()), (origin, base));
    assert_eq!(channel.pin.stream.build_names(), BTreeMap::from([("x86_64", build)]));
    let x86_64 = &channel.pin.stream.architectures["x86_64"];
    let (.., file) = x86_64.all_artifacts().next().unwrap();
    assert_eq!(file.location, format!("{base}/c/{build}/x-{build}-qemu.qcow2"));
    assert_eq!(file.sha256, sha(build));
    let image = &x86_64.images.as_ref().unwrap().aws.as_ref().unwrap().regions["r-1"];
    assert_eq!((image.image.as_str(), image.release.as_str()), (format!("ami-{build}").as_str(), build));
    // An override in force is one warning, and a pin none.
    assert_eq!(resolved.warnings.len(), usize::from(origin != Origin::Pinned), "{:?}", resolved.warnings);
}

#[test]
fn every_row_with_the_network_gives_its_build_for_its_requests() {
    for row in ROWS {
        let (has_base, name, is_pinned, build, origin, place, documents) = row;
        let world = World::new(is_pinned);
        let base = has_base.then_some(world.mirror.base.as_str());
        let result = world.resolve(base, name, false);
        let (asked, other) = match place {
            Place::Home => (&world.home, &world.mirror),
            Place::Mirror => (&world.mirror, &world.home),
        };
        assert_eq!(other.requests(), NONE, "{row:?}");
        if cfg!(feature = "fetch") || documents.is_empty() {
            is_whole(&result.unwrap_or_else(|error| panic!("{row:?}: {error}")), build, origin, &asked.base);
            assert_eq!(asked.requests(), documents, "{row:?}");
        } else {
            let text = result.expect_err("no network").to_string();
            assert!(text.contains("needs the network, and feature `fetch` is off"), "{row:?}: {text}");
            assert_eq!(asked.requests(), NONE, "{row:?}");
        }
    }
}

#[test]
fn every_row_offline_is_the_pin_or_stops_with_no_request() {
    for row in ROWS {
        let (has_base, name, is_pinned, build, origin, _, documents) = row;
        let world = World::new(is_pinned);
        let base = has_base.then_some(world.mirror.base.as_str());
        let result = world.resolve(base, name, true);
        assert_eq!((world.home.requests(), world.mirror.requests()), (Vec::new(), Vec::new()), "{row:?}");
        if documents.is_empty() {
            is_whole(&result.unwrap(), build, origin, &world.home.base);
            continue;
        }
        let error = result.expect_err("no network");
        assert_eq!(error.exit_status(), 3);
        let text = error.to_string();
        assert!(text.contains("needs the network, and CARGO_NET_OFFLINE forbids it"), "{row:?}: {text}");
        assert!(text.contains("unset CARGO_NET_OFFLINE, or use a `file://` URL"), "{row:?}: {text}");
        // Which variable made it need the network, and how to be rid of that.
        let by = match (has_base, name) {
            (true, Some(_)) => "BASE_URL and BUILD_NAME",
            (true, None) => "BASE_URL",
            (false, Some(_)) => "BUILD_NAME",
            (false, None) => "channels.json",
        };
        assert!(text.lines().last().unwrap().starts_with("help: "), "{text}");
        assert!(by == "channels.json" || text.contains(by), "{row:?}: {text}");
    }
}

#[test]
fn every_row_from_files_needs_no_network_and_gives_the_same() {
    for row in ROWS {
        let (has_base, name, is_pinned, build, origin, _, documents) = row;
        // Without a base of its own the row is at home, which is a server.
        if !has_base {
            continue;
        }
        let world = World::new(is_pinned);
        for slashes in ["", "/", "//"] {
            let base = format!("file://{}", world.dir.path().join("mirror").display());
            let resolved = world.resolve(Some(&format!("{base}{slashes}")), name, true).unwrap();
            is_whole(&resolved, build, origin, &base);
            assert_eq!(resolved.documents.len(), documents.len(), "{row:?}");
        }
        assert_eq!((world.home.requests(), world.mirror.requests()), (Vec::new(), Vec::new()));
    }
}

#[test]
fn a_mirror_with_another_build_under_the_same_id_is_no_mirror() {
    let world = World::new(true);
    let base = format!("file://{}", world.dir.path().join("mirror").display());
    let meta = world.dir.path().join("mirror/c/1/meta.json");
    for (old, new, said) in [
        ("ami-1", "ami-9", "x86_64 aws r-1: pinned is `ami-1`, found `ami-9`"),
        (sha("1").as_str(), sha("2").as_str(), "x86_64 qemu qcow2 disk sha256: pinned is"),
        ("x-1-qemu.qcow2", "y-1-qemu.qcow2", "x86_64 qemu qcow2 disk path: pinned is `c/1/x-1-qemu.qcow2`"),
        ("\"r-1\"", "\"r-2\"", "x86_64 aws r-1: pinned, and not there"),
    ] {
        let sound = record("1", "");
        assert!(sound.contains(old));
        fs::write(&meta, sound.replace(old, new)).unwrap();
        let text = world.resolve(Some(&base), None, true).unwrap_err().to_string();
        assert!(text.contains(said), "{said}: {text}");
    }
    // More than the pin is fine, and is not embedded.
    let more =
        record("1", "").replace("\"amis\": [", "\"amis\": [ { \"name\": \"r-2\", \"hvm\": \"ami-x\" }, ");
    fs::write(&meta, more).unwrap();
    is_whole(&world.resolve(Some(&base), None, true).unwrap(), "1", Origin::Named, &base);
}

#[test]
fn a_mirror_that_is_one_document_is_compared_like_any_other() {
    let world = World::new(true);
    let home = &world.home.base;
    let document = world.dir.path().join("stable.json");
    let base = format!("file://{}", document.display());
    // The very pin, and the same build with its files elsewhere.
    for at in [home.as_str(), "https://mirror.example/deep/down"] {
        fs::write(&document, pin(PINNED, home).replace(&format!("{home}/c"), &format!("{at}/c"))).unwrap();
        let resolved = world.resolve(Some(&base), None, true).unwrap_or_else(|error| panic!("{at}: {error}"));
        let channel = &resolved.channels["c"];
        let (.., file) = channel.pin.stream.architectures["x86_64"].all_artifacts().next().unwrap();
        assert_eq!(file.location, format!("{at}/c/1/x-1-qemu.qcow2"));
        assert_eq!((channel.origin, channel.base_url.as_str()), (Origin::Named, base.as_str()));
    }
    // What differs is all that is told.
    for (old, new, said) in [
        ("ami-1", "ami-dead", "x86_64 aws r-1: pinned is `ami-1`, found `ami-dead`"),
        ("x-1-qemu.qcow2", "y-1-qemu.qcow2", "x86_64 qemu qcow2 disk path: pinned is `c/1/x-1-qemu.qcow2`"),
    ] {
        fs::write(&document, pin(PINNED, home).replace(old, new)).unwrap();
        let error = world.resolve(Some(&base), None, true).unwrap_err();
        let lines: Vec<String> = error.lines().collect();
        assert!(lines.len() == 3 && lines[1].starts_with(said), "{lines:#?}");
    }
}

#[cfg(feature = "fetch")]
#[test]
fn a_name_needs_no_list_and_a_miss_is_told_with_or_without_one() {
    let world = World::new(true);
    // Whatever the list is, a name is enough.
    fs::write(world.dir.path().join("mirror/c/builds.json"), "500").unwrap();
    let base = world.mirror.base.as_str();
    assert!(world.resolve(Some(base), Some("2"), false).is_ok());
    assert_eq!(world.mirror.requests(), ["/c/2/meta.json"]);
    let text = world.resolve(Some(base), Some("9"), false).unwrap_err().to_string();
    assert!(
        text.starts_with("no build `9` in channel `c` (asked for by BASE_URL and BUILD_NAME)\n"),
        "{text}"
    );
    assert!(text.contains(&format!("looked at {base}/c/9/meta.json: 404")), "{text}");
    assert!(text.contains("no list of builds: failed to fetch"), "{text}");
    assert!(text.ends_with("help: unset BASE_URL and BUILD_NAME to build from the committed pin"), "{text}");
    fs::write(world.dir.path().join("mirror/c/builds.json"), r#"{ "builds": [ "3", "2", "1" ] }"#).unwrap();
    let text = world.resolve(Some(base), Some("9"), false).unwrap_err().to_string();
    assert!(text.contains("newest `3`, `2`, `1` (3 builds)"), "{text}");
}
