//! Container registries: manifests by tag and digest, config blobs, tags. Read and put; nothing is ever deleted.
//!
//! By the [distribution specification]. A digest is that of the very bytes that came: what a header says of them only
//! has to agree.
//!
//! [distribution specification]: https://github.com/opencontainers/distribution-spec

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use coreos_pins_build::builder::MEDIA_TYPES;
use coreos_pins_build::json::{self, Map, Value};
use coreos_pins_build::reference::{Reference, is_tag};
use coreos_pins_build::source::{Method, Reply, Request, Source};
use coreos_pins_build::url::Url;
use coreos_pins_build::{Error, sha256};

mod auth;
mod credentials;

pub(crate) use credentials::Credentials;

/// What single images are served as.
const IMAGE_TYPES: [&str; 2] =
    ["application/vnd.oci.image.manifest.v1+json", "application/vnd.docker.distribution.manifest.v2+json"];

/// A client of registries, which remembers the tokens that it was given.
pub(crate) struct Registries<'a> {
    source: &'a Source,
    credentials: &'a Credentials,
    /// By registry and scope.
    tokens: Mutex<HashMap<(String, String), String>>,
}

/// A manifest as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub(crate) bytes: Vec<u8>,
    pub(crate) media_type: String,
    /// `sha256:` and 64 hex digits, of the bytes.
    pub(crate) digest: String,
}

impl Manifest {
    /// Tells whether it names one manifest an architecture.
    pub(crate) fn is_index(&self) -> bool {
        MEDIA_TYPES.contains(&self.media_type.as_str())
    }
}

impl<'a> Registries<'a> {
    pub(crate) fn new(source: &'a Source, credentials: &'a Credentials) -> Self {
        Self { source, credentials, tokens: Mutex::default() }
    }

    /// Fetches the manifest that `reference` names: by its digest, else by its tag. `None` where there is none.
    ///
    /// # Errors
    ///
    /// No answer, one that contradicts itself, or none of a kind that can be pinned.
    pub(crate) fn manifest(&self, reference: &Reference) -> Result<Option<Manifest>, Error> {
        let name = reference.digest().or(reference.tag()).unwrap_or("latest");
        let url = url(reference, &["manifests", name])?;
        let accept = MEDIA_TYPES.iter().chain(&IMAGE_TYPES).copied().collect::<Vec<_>>().join(", ");
        let request = Request::new(Method::Get, &url).header("Accept", accept);
        let reply = self.send(reference, "pull", request)?;
        match reply.status {
            200 => read_manifest(reference, &url, reply).map(Some),
            404 => Ok(None),
            _ => Err(refused(&url, &reply)),
        }
    }

    /// Returns the digest that the tag of `reference` has now, without fetching what it names. `None` where there is no
    /// such tag.
    ///
    /// # Errors
    ///
    /// As [`manifest`](Self::manifest).
    pub(crate) fn digest_of(&self, reference: &Reference) -> Result<Option<String>, Error> {
        let name = reference.digest().or(reference.tag()).unwrap_or("latest");
        let url = url(reference, &["manifests", name])?;
        let accept = MEDIA_TYPES.iter().chain(&IMAGE_TYPES).copied().collect::<Vec<_>>().join(", ");
        let request = Request::new(Method::Head, &url).header("Accept", accept);
        let reply = self.send(reference, "pull", request)?;
        match (reply.status, reply.header("docker-content-digest")) {
            (200, Some(digest)) => Ok(Some(digest.to_owned())),
            (404, _) => Ok(None),
            // Some registries know no HEAD, and some do not say the digest.
            _ => Ok(self.manifest(reference)?.map(|manifest| manifest.digest)),
        }
    }

    /// Fetches the blob `digest` of the repository of `reference`, of at most `limit` bytes.
    ///
    /// # Errors
    ///
    /// No answer, no such blob, or another than was asked for.
    pub(crate) fn blob(&self, reference: &Reference, digest: &str, limit: u64) -> Result<Vec<u8>, Error> {
        let url = url(reference, &["blobs", digest])?;
        let reply = self.send(reference, "pull", Request::new(Method::Get, &url).limit(limit))?;
        if reply.status != 200 {
            return Err(refused(&url, &reply));
        }
        check_digest(&url, digest, &reply.body)?;
        Ok(reply.body)
    }

    /// Puts `manifest` under the tag `tag` of the repository of `reference`, byte by byte.
    ///
    /// # Errors
    ///
    /// The registry does not take it.
    pub(crate) fn put(&self, reference: &Reference, tag: &str, manifest: &Manifest) -> Result<(), Error> {
        if !is_tag(tag) {
            return Err(Error::invalid(format!("`{tag}` is no tag")));
        }
        let url = url(reference, &["manifests", tag])?;
        let request = Request::new(Method::Put, &url)
            .header("Content-Type", manifest.media_type.as_str())
            .body(&manifest.bytes);
        let reply = self.send(reference, "pull,push", request)?;
        match reply.status {
            200..=202 => Ok(()),
            _ => Err(refused(&url, &reply)),
        }
    }
}

impl Registries<'_> {
    /// Lists the tags of the repository of `reference`, page by page.
    ///
    /// # Errors
    ///
    /// No answer, or no list.
    pub(crate) fn tags(&self, reference: &Reference) -> Result<Vec<String>, Error> {
        /// A registry that names a next page for ever would be asked for ever.
        const MOST_PAGES: usize = 1000;
        let base = url(reference, &["tags", "list"])?.public();
        let mut next = Url::parse(&format!("{base}?n=100"))?;
        let mut tags = Vec::new();
        for _ in 0..MOST_PAGES {
            let reply = self.send(reference, "pull", Request::new(Method::Get, &next))?;
            if reply.status != 200 {
                return Err(refused(&next, &reply));
            }
            let members: Map<Value> = json::read(&next.to_string(), &reply.body)?;
            if let Some(Value::Array(page)) = members.get("tags") {
                tags.extend(page.iter().filter_map(|tag| match tag {
                    Value::String(tag) => Some(tag.clone()),
                    _ => None,
                }));
            }
            let link = reply.header("link").and_then(|link| link.strip_prefix('<')?.split_once('>'));
            let Some((path, _)) = link.filter(|(_, rest)| rest.contains("rel=\"next\"")) else {
                return Ok(tags);
            };
            // On the same registry, whatever the link says.
            let path =
                path.split_once("://").map_or(path, |(_, rest)| rest.find('/').map_or("/", |at| &rest[at..]));
            next = Url::parse(&format!("{}{path}", origin(reference)))?;
        }
        Err(Error::no_answer(format!("`{base}` has more than {MOST_PAGES} pages")))
    }
}

/// Returns `https://registry`; plain http for one on this machine, whose certificate nobody has signed.
fn origin(reference: &Reference) -> String {
    let registry = match reference.registry() {
        "docker.io" => "registry-1.docker.io",
        other => other,
    };
    let scheme = if is_loopback(registry) { "http" } else { "https" };
    format!("{scheme}://{registry}")
}

fn is_loopback(registry: &str) -> bool {
    let host = match registry.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => registry.split(':').next().unwrap_or(registry),
    };
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn url(reference: &Reference, path: &[&str]) -> Result<Url, Error> {
    Url::parse(&format!("{}/v2/{}/{}", origin(reference), reference.repository(), path.join("/")))
}

fn read_manifest(reference: &Reference, url: &Url, reply: Reply) -> Result<Manifest, Error> {
    let contradiction = |what: String| Error::no_answer(format!("`{url}` contradicts itself: {what}"));
    let digest = format!("sha256:{}", sha256::hex([&*reply.body]));
    if let Some(asked) = reference.digest() {
        check_digest(url, asked, &reply.body)?;
    }
    if let Some(said) = reply.header("docker-content-digest").filter(|said| *said != digest) {
        return Err(contradiction(format!("its header names `{said}`, and the bytes are `{digest}`")));
    }
    let media_type = reply.header("content-type").unwrap_or_default();
    let media_type = media_type.split(';').next().unwrap_or_default().trim().to_owned();
    if !MEDIA_TYPES.contains(&media_type.as_str()) && !IMAGE_TYPES.contains(&media_type.as_str()) {
        return Err(Error::no_answer(format!(
            "`{url}` is served as `{media_type}`, which is no manifest that can be pinned"
        ))
        .note(format!(
            "expected one of {}",
            coreos_pins_build::quoted(MEDIA_TYPES.into_iter().chain(IMAGE_TYPES))
        )));
    }
    let members: Map<Value> = json::read(&url.to_string(), &reply.body)?;
    match members.get("mediaType") {
        Some(Value::String(own)) if *own != media_type => {
            Err(contradiction(format!("it is served as `{media_type}`, and calls itself `{own}`")))
        }
        _ => Ok(Manifest { bytes: reply.body, media_type, digest }),
    }
}

/// Checks that `bytes` are what `asked` names.
fn check_digest(url: &Url, asked: &str, bytes: &[u8]) -> Result<(), Error> {
    let found = format!("sha256:{}", sha256::hex([bytes]));
    if asked.starts_with("sha512:") {
        return Err(Error::invalid(format!("`{asked}` cannot be checked: only sha256 can")));
    }
    if asked != found {
        return Err(Error::no_answer(format!("`{url}` is not what it is called: its bytes are `{found}`")));
    }
    Ok(())
}

/// The error of an answer that is no yes. What the registry says goes along.
fn refused(url: &Url, reply: &Reply) -> Error {
    let mut error = Error::no_answer(format!("`{url}`: status {}", reply.status));
    for line in messages(&reply.body) {
        error = error.note(format!("the registry says: {line}"));
    }
    match reply.status {
        401 => error
            .help("log in: `skopeo login REGISTRY`, or name a file of credentials with REGISTRY_AUTH_FILE"),
        403 => error.help("the credentials do not allow it: log in as somebody who may push"),
        404 => error.help("the repository or what was asked for is not there"),
        _ => error,
    }
}

/// Returns what the errors in `body` say.
fn messages(body: &[u8]) -> Vec<String> {
    let Ok(members) = json::read::<Map<Value>>("errors", body) else { return Vec::new() };
    let Some(Value::Array(errors)) = members.get("errors") else { return Vec::new() };
    let text = |error: &Value, key: &str| match error {
        Value::Object(map) => match map.get(key) {
            Some(Value::String(text)) => Some(text.clone()),
            _ => None,
        },
        _ => None,
    };
    let lines = errors.iter().filter_map(|error| {
        let parts = [text(error, "code"), text(error, "message")];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(": "))
    });
    lines.take(3).collect()
}

impl Registries<'_> {
    /// Sends `request` with the credentials that it takes, for `actions` on the repository of `reference`.
    fn send(&self, reference: &Reference, actions: &str, request: Request<'_>) -> Result<Reply, Error> {
        let scope = format!("repository:{}:{actions}", reference.repository());
        let key = (reference.registry().to_owned(), scope);
        let known = self.tokens.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        let reply = self.source.exchange(&request.clone().authorization(known.as_deref()))?;
        if reply.status != 401 {
            return Ok(reply);
        }
        // Once: what is then not taken is not going to be.
        let challenges = reply.headers_of("www-authenticate");
        let Some(authorization) = self.authorization(reference, &key.1, challenges)? else {
            return Ok(reply);
        };
        let again = self.source.exchange(&request.authorization(Some(&authorization)))?;
        if again.status != 401 {
            self.tokens.lock().unwrap_or_else(PoisonError::into_inner).insert(key, authorization);
        }
        Ok(again)
    }
}
