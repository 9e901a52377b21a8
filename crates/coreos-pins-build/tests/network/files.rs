//! `file://`, which needs no network.

use std::fs;
use std::path::Path;

use coreos_pins_build::settings::Network;
use coreos_pins_build::source::{Limits, Source};
use coreos_pins_build::url::{Base, Url};

use crate::{fault, found, not_there, source, source_with, url};

fn at(path: &Path) -> Url {
    url(&format!("file://{}", path.display()))
}

#[test]
fn a_file_is_a_document() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a b%41.json");
    fs::write(&path, "{}").unwrap();
    let text = format!("{}/a%20b%2541.json", folder.path().display());
    for text in [format!("file://{text}"), format!("file://localhost{text}")] {
        let fetched = found(source().get(&url(&text)));
        assert_eq!((fetched.bytes.as_slice(), fetched.content_type), (&b"{}"[..], None));
    }
    let base = Base::parse("BASE_URL", &format!("file://{}//", folder.path().display())).unwrap();
    found(source().get(&base.join(&["a b%41.json"]).unwrap()));
}

#[test]
fn files_are_read_offline_and_with_broken_proxies() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let variables = [("CARGO_NET_OFFLINE", "true"), ("ALL_PROXY", ":::"), ("SSL_CERT_FILE", "/nonexistent")];
    found(source_with(&variables).get(&at(file.path())));
}

#[test]
fn a_file_that_is_missing_is_not_there() {
    let file = tempfile::NamedTempFile::new().unwrap();
    assert_eq!(not_there(source().get(&url("file:///nonexistent/x.json"))), "no such file");
    assert_eq!(not_there(source().get(&at(&file.path().join("x.json")))), "no such file");
}

#[test]
fn a_folder_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let error = fault(2, source().get(&at(folder.path())));
    assert_eq!(error, format!("failed to read `file://{}`: it is a folder", folder.path().display()));
}

#[test]
fn a_file_beyond_the_limit_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    let limits = Limits { body: 1024, ..Limits::default() };
    let source = Source::with_limits(&Network::default(), limits);
    fs::write(&path, vec![b'x'; 1024]).unwrap();
    assert_eq!(found(source.get(&at(&path))).bytes.len(), 1024);
    fs::write(&path, vec![b'x'; 1025]).unwrap();
    let error = fault(2, source.get(&at(&path)));
    assert!(error.ends_with("it is larger than 1024 bytes"), "{error}");
}

#[cfg(unix)]
#[test]
fn pipes_and_devices_are_refused_and_hang_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    for path in [pipe.as_path(), Path::new("/dev/zero")] {
        let error = fault(2, source().get(&at(path)));
        assert!(error.ends_with("it is no regular file"), "{error}");
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_be_read_is_an_error() {
    use std::os::unix::fs::PermissionsExt;
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::set_permissions(file.path(), fs::Permissions::from_mode(0o0)).unwrap();
    if fs::File::open(file.path()).is_ok() {
        return; // root may read anything
    }
    let error = fault(2, source().get(&at(file.path())));
    assert!(error.starts_with("failed to read `file://"), "{error}");
}
