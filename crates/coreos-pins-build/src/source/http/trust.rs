//! The certificates that are trusted: the system's, or those of `SSL_CERT_FILE` and `SSL_CERT_DIR`.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use ureq::tls::{Certificate, PemItem, parse_pem};

use crate::Error;
use crate::settings::{Network, Setting};

/// Certificates in DER, each once: a folder holds most under two names.
type Certificates = BTreeSet<Vec<u8>>;

/// Returns the roots that `network` names, else the system's.
pub(super) fn roots(network: &Network) -> Result<Vec<Certificate<'static>>, Error> {
    let mut roots = Certificates::new();
    if let Some(file) = &network.ssl_cert_file {
        roots.append(&mut from_variable(file)?);
    }
    if let Some(folders) = &network.ssl_cert_dir {
        roots.append(&mut from_folders(folders)?);
    }
    if network.ssl_cert_file.is_none() && network.ssl_cert_dir.is_none() {
        roots = system();
        if roots.is_empty() {
            return Err(Error::invalid("this system has no certificates that https could trust")
                .help("install them (package `ca-certificates`), or set SSL_CERT_FILE to a PEM file"));
        }
    }
    Ok(roots.iter().map(|der| Certificate::from_der(der).to_owned()).collect())
}

fn from_variable(file: &Setting<OsString>) -> Result<Certificates, Error> {
    let path = Path::new(&file.value);
    let fault = |what: String| Error::invalid(format!("{}: `{}` {what}", file.variable, path.display()));
    if path.is_dir() {
        return Err(fault("is a folder, expected a PEM file".to_owned()));
    }
    let text = fs::read(path).map_err(|error| fault(format!("cannot be read: {error}")).caused_by(error))?;
    match certificates(&text) {
        Some(found) if !found.is_empty() => Ok(found),
        Some(_) => Err(fault("holds no certificate in PEM form".to_owned())),
        None => Err(fault("holds a damaged certificate".to_owned())),
    }
}

fn from_folders(folders: &Setting<OsString>) -> Result<Certificates, Error> {
    let mut found = Certificates::new();
    for folder in std::env::split_paths(&folders.value).filter(|folder| !folder.as_os_str().is_empty()) {
        let fault = |error| {
            let what = format!("{}: `{}` cannot be read: {error}", folders.variable, folder.display());
            Error::invalid(what).caused_by(error)
        };
        found.append(&mut in_folder(&folder).map_err(fault)?);
    }
    match found.is_empty() {
        true => Err(Error::invalid(format!(
            "{} names no folder with a certificate in PEM form",
            folders.variable
        ))),
        false => Ok(found),
    }
}

fn in_folder(folder: &Path) -> std::io::Result<Certificates> {
    let mut found = Certificates::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        // Links that lead nowhere, READMEs and the like are usual there.
        if path.is_file() {
            found.extend(fs::read(path).ok().and_then(|text| certificates(&text)).unwrap_or_default());
        }
    }
    Ok(found)
}

/// Returns the certificates in `text`, or `None` if one is damaged.
fn certificates(text: &[u8]) -> Option<Certificates> {
    let certificate = |item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(Some(certificate.der().to_vec())),
        Ok(_) => None,
        Err(_) => Some(None),
    };
    parse_pem(text).filter_map(certificate).collect()
}

/// One file, or else a folder, as distributions have it. `SSL_CERT_FILE` is not looked at again, as the usual crates do.
#[cfg(not(any(windows, target_os = "macos")))]
fn system() -> Certificates {
    const FILES: [&str; 8] = [
        "/etc/ssl/certs/ca-certificates.crt",
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
        "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/ssl/ca-bundle.pem",
        "/etc/pki/tls/cacert.pem",
        "/etc/ssl/cert.pem",
        "/usr/local/share/certs/ca-root-nss.crt",
        "/etc/openssl/certs/ca-certificates.crt",
    ];
    const FOLDERS: [&str; 3] = ["/etc/ssl/certs", "/etc/pki/tls/certs", "/system/etc/security/cacerts"];
    let file = |path: &&str| fs::read(path).ok().and_then(|text| certificates(&text));
    let folder = |path: &&str| in_folder(Path::new(path)).ok();
    let found = FILES.iter().filter_map(file).find(|found| !found.is_empty());
    found.or_else(|| FOLDERS.iter().filter_map(folder).find(|found| !found.is_empty())).unwrap_or_default()
}

#[cfg(any(windows, target_os = "macos"))]
fn system() -> Certificates {
    rustls_native_certs::load_native_certs().certs.iter().map(|der| der.to_vec()).collect()
}
