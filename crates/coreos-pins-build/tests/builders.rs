//! Builder pins in a pins folder: what is embedded of them, and what is refused.

use std::fs;
use std::path::PathBuf;

use coreos_pins_build::pins::Pins;
use coreos_pins_build::resolve::resolve;
use coreos_pins_build::settings::{Network, Settings};
use coreos_pins_build::source::Source;
use coreos_pins_build::{Config, Error, sha256};

const SHA: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const OCI: &str = "application/vnd.oci.image.index.v1+json";

/// A pins folder with a channel `stable`.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().expect("a temporary folder"));
        folder.write(
            "stable.json",
            r#"{"stream": "stable", "architectures": {"x86_64": {"images": {"aws": {"regions": {
                "us-east-1": {"release": "44.1", "image": "ami-1"}}}}}}}"#,
        );
        folder.write("channels.json", r#"{"version": 1, "default": "stable", "channels": {"stable": {}}}"#);
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().expect("a folder")).expect("a folder");
        fs::write(self.path(name), text).expect("a file");
    }

    /// Writes a builder pin of `channel`, and its index. Returns the digest.
    fn pin(&self, builder: &str, channel: &str) -> String {
        let index = index(&["amd64", "arm64"]);
        let digest = format!("sha256:{}", sha256::hex([index.as_bytes()]));
        self.write(&format!("manifests/{}.json", digest.replace(':', "-")), &index);
        self.write(&format!("builders/{builder}/{channel}.json"), &pin(&digest));
        digest
    }

    fn generated(&self) -> Result<String, Error> {
        let mut config = Config::new(self.0.path());
        Ok(config.default_channel("stable").generate()?.remove("coreos_pins.rs").expect("the constants"))
    }

    #[track_caller]
    fn refusal(&self) -> String {
        let text = self.generated().expect_err("a refusal").to_string();
        text.replace(&format!("{}/", self.0.path().display()), "")
    }
}

fn child(architecture: &str) -> String {
    let digest = format!("sha256:{}", sha256::hex([architecture.as_bytes()]));
    format!(
        r#"{{"mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": "{digest}", "size": 1,
            "platform": {{"architecture": "{architecture}", "os": "linux"}}}}"#
    )
}

fn index(architectures: &[&str]) -> String {
    let children: Vec<String> = architectures.iter().map(|name| child(name)).collect();
    format!(r#"{{"schemaVersion": 2, "mediaType": "{OCI}", "manifests": [{}]}}"#, children.join(","))
}

fn pin(digest: &str) -> String {
    let of = |name: &str| sha256::hex([name.as_bytes()]);
    format!(
        r#"{{ "version": 1, "image": "quay.io/coreos-assembler/coreos-assembler", "tag": "main",
            "digest": "{digest}", "guard": "fcos-0123456789", "media-type": "{OCI}",
            "architectures": {{ "aarch64": "sha256:{}", "x86_64": "sha256:{}" }},
            "revision": "abc", "source": "https://github.com/coreos/coreos-assembler.git" }}"#,
        of("arm64"),
        of("amd64")
    )
}

#[test]
fn a_builder_pin_becomes_a_table_and_a_constant_by_digest() {
    let folder = Folder::new();
    let without = folder.generated().unwrap();
    assert!(!without.contains("BUILDERS"));
    let digest = folder.pin("coreos-assembler", "stable");
    let code = folder.generated().unwrap();
    let image = format!("quay.io/coreos-assembler/coreos-assembler@{digest}");
    assert!(code.contains(&format!("pub const COREOS_ASSEMBLER_IMAGE: &str = \"{image}\";")), "{code}");
    assert!(
        code.contains(&format!(
            "__coreos_pins::Builder::new(\"coreos-assembler\", \"quay.io/coreos-assembler/coreos-assembler\", \
             \"{digest}\", \"{image}\", Some(\"abc\"), &[\"aarch64\", \"x86_64\"])"
        )),
        "{code}"
    );
    folder.pin("bootc-image", "stable");
    assert!(folder.generated().unwrap().contains("pub const BOOTC_IMAGE_IMAGE: &str"));
    // Of a channel that is not embedded.
    fs::rename(
        folder.path("builders/bootc-image/stable.json"),
        folder.path("builders/bootc-image/testing.json"),
    )
    .unwrap();
    assert_eq!(folder.generated().unwrap(), code);
}

#[test]
fn builder_pins_are_part_of_what_went_in() {
    let folder = Folder::new();
    let hash = || {
        let pins = Pins::load(folder.0.path()).unwrap();
        resolve(&Settings::default(), pins, || unreachable!("no build is looked up")).unwrap().pins_sha256()
    };
    let without = hash();
    folder.pin("coreos-assembler", "stable");
    let with = hash();
    assert_ne!(with, without);
    // By the very rule: name, newline, canonical text, in order of names.
    let pins = Pins::load(folder.0.path()).unwrap();
    let builder = pins.builders["stable"]["coreos-assembler"].to_text();
    let text = format!(
        "builders/coreos-assembler/stable.json\n{builder}stable.json\n{}",
        pins.pins["stable"].to_text()
    );
    assert_eq!(with, sha256::hex([text.as_bytes()]));
    // Layout is not.
    folder.write("builders/coreos-assembler/stable.json", &builder.replace('\n', "\r\n"));
    assert_eq!(hash(), with);
}

#[test]
fn an_edited_digest_or_index_stops_the_build_and_names_the_file() {
    let folder = Folder::new();
    let digest = folder.pin("coreos-assembler", "stable");
    let file = format!("manifests/{}.json", digest.replace(':', "-"));
    let sound = index(&["amd64", "arm64"]);
    for broken in [format!("{sound}\n"), sound.replace("\"size\": 1", "\"size\": 2"), String::new()] {
        folder.write(&file, &broken);
        let text = folder.refusal();
        assert!(text.starts_with(&format!("{file}: its SHA-256 is ")), "{text}");
        assert!(text.contains("builders/coreos-assembler/stable.json") && text.contains(&digest), "{text}");
    }
    fs::remove_file(folder.path(&file)).unwrap();
    let text = folder.refusal();
    assert!(text.starts_with(&format!("failed to read `{file}`: ")), "{text}");
    folder.write(&file, &sound);
    folder.write("builders/coreos-assembler/stable.json", &pin(&format!("sha256:{SHA}")));
    assert!(folder.refusal().starts_with(&format!("failed to read `manifests/sha256-{SHA}.json`")));
    let other = pin(&digest).replace("\"x86_64\": \"sha256:", "\"s390x\": \"sha256:");
    folder.write("builders/coreos-assembler/stable.json", &other);
    assert!(
        folder
            .refusal()
            .starts_with("builders/coreos-assembler/stable.json: architectures are not those of manifests/")
    );
}

#[test]
fn a_pin_that_is_none_is_refused_by_file_and_key() {
    let folder = Folder::new();
    let digest = folder.pin("coreos-assembler", "stable");
    for (old, new, said) in [
        ("\"version\": 1", "\"version\": 2", "version: 2 is newer than this coreos-pins"),
        ("\"tag\"", "\"tags\"", "tags: unknown field `tags`"),
        ("\"main\"", "\"-main\"", "tag: expected a tag, found `-main`"),
        ("\"fcos-0123456789\"", "\"a b\"", "guard: expected a tag, found `a b`"),
        (OCI, "application/json", "media-type: expected that of an index, found `application/json`"),
        (
            "/coreos-assembler\",",
            "/coreos-assembler:main\",",
            "image: expected a repository without tag and digest",
        ),
        (
            "\"quay.io/",
            "\"quay.io/A/",
            "image: `quay.io/A/coreos-assembler/coreos-assembler` is no reference",
        ),
        ("\"digest\": \"sha256:", "\"digest\": \"sha256:0", "digest: expected `sha256:` and 64 hex digits"),
        ("\"aarch64\": \"sha256:", "\"aarch64\": \"sha512:", "architectures.aarch64: expected `sha256:`"),
    ] {
        let text = pin(&digest);
        assert!(text.contains(old), "{old}");
        folder.write("builders/coreos-assembler/stable.json", &text.replacen(old, new, 1));
        let text = folder.refusal();
        assert!(text.starts_with(&format!("builders/coreos-assembler/stable.json: {said}")), "{text}");
    }
}

#[test]
fn an_index_is_read_for_its_images_only() {
    let folder = Folder::new();
    let write = |index: &str, architectures: &str| {
        let digest = format!("sha256:{}", sha256::hex([index.as_bytes()]));
        folder.write(&format!("manifests/{}.json", digest.replace(':', "-")), index);
        let text = pin(&digest);
        let start = text.find("\"architectures\"").unwrap();
        let end = start + text[start..].find('}').unwrap() + 1;
        folder.write("builders/b/stable.json", &text.replace(&text[start..end], architectures));
    };
    let amd64 =
        format!("\"architectures\": {{ \"x86_64\": \"sha256:{}\" }}", sha256::hex([b"amd64".as_slice()]));
    let attested = index(&["amd64", "unknown"]);
    write(&attested, &amd64);
    assert!(folder.generated().is_ok(), "an attestation is no image");
    for (index, said) in [
        (index(&["amd64", "amd64"]), ""),
        (
            index(&["amd64"]).replace(OCI, "application/vnd.docker.distribution.manifest.list.v2+json"),
            "mediaType: expected",
        ),
        (index(&["unknown"]), "names no image"),
        (r#"{"schemaVersion": 2}"#.to_owned(), "manifests: expected a list"),
        (r#"{"manifests": [{"digest": "x"}]}"#.to_owned(), "manifests[0].digest: expected a digest"),
        (
            index(&["amd64"]).replace("\"os\": \"linux\"", "\"os\": \"\""),
            "manifests[0].platform.os: expected text",
        ),
        ("[]".to_owned(), "expected an object"),
    ] {
        write(&index, &amd64);
        match folder.generated() {
            Ok(_) => assert_eq!(said, "", "{index}"),
            Err(error) => assert!(!said.is_empty() && error.to_string().contains(said), "{said}: {error}"),
        }
    }
}

#[test]
fn another_build_than_the_pinned_one_has_no_builders() {
    let folder = Folder::new();
    folder.pin("coreos-assembler", "stable");
    let record = |build: &str, ami: &str| {
        format!(
            r#"{{"buildid": "{build}", "amis": [{{"name": "us-east-1", "hvm": "{ami}"}}], "images": {{}}}}"#
        )
    };
    folder.write("mirror/stable/44.1/meta.json", &record("44.1", "ami-1"));
    folder.write("mirror/stable/44.2/meta.json", &record("44.2", "ami-2"));
    let base = format!("file://{}", folder.path("mirror").display());
    let builders = |build: &str| {
        let variables = [("BASE_URL", base.as_str()), ("BUILD_NAME", build)];
        let settings = Settings::from_variables(variables.map(|(n, v)| (n.into(), v.into()))).unwrap();
        let source = || Ok(Source::new(&Network::default()));
        let resolved = resolve(&settings, Pins::load(folder.0.path()).unwrap(), source).unwrap();
        resolved.channels["stable"].builders.len()
    };
    assert_eq!((builders("44.1"), builders("44.2")), (1, 0));
}
