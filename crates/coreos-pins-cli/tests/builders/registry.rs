//! A registry on this machine that keeps everything in memory, remembers what it was asked, and misbehaves when told to.

#![allow(unreachable_pub, reason = "a module of one test")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread;

use coreos_pins_build::sha256;
use serde_json::json;

pub const OCI_INDEX: &str = "application/vnd.oci.image.index.v1+json";
const OCI_IMAGE: &str = "application/vnd.oci.image.manifest.v1+json";
const NAME: &str = "coreos-assembler/coreos-assembler";

#[derive(Default)]
struct State {
    /// Media type and bytes, by digest.
    manifests: BTreeMap<String, (String, Vec<u8>)>,
    blobs: BTreeMap<String, Vec<u8>>,
    /// Digest, by tag.
    tags: BTreeMap<String, String>,
    log: Vec<String>,
    /// What the registry is made to do.
    faults: Faults,
}

/// What a registry is made to do.
#[derive(Clone, Default)]
pub struct Faults {
    /// Answers 403 to every PUT.
    pub denies_push: bool,
    /// Names another digest than that of the bytes.
    pub lies: bool,
    /// Serves everything as schema 1.
    pub schema_1: bool,
    /// Says no digest, and knows no HEAD.
    pub is_terse: bool,
    /// Wants this user and password: `user:password`.
    pub wants_basic: Option<String>,
    /// Wants a token, which its realm gives for the user and password above.
    pub wants_token: bool,
    /// Says this status to everything.
    pub says: Option<u16>,
}

pub struct Registry {
    /// `127.0.0.1:PORT/coreos-assembler/coreos-assembler`
    pub image: String,
    state: Arc<Mutex<State>>,
}

fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", sha256::hex([bytes]))
}

impl Registry {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let registry = Self { image: format!("{address}/{NAME}"), state: Arc::default() };
        let state = registry.state.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (state, address) = (state.clone(), address.clone());
                thread::spawn(move || {
                    let mut stream = stream.expect("a connection");
                    let mut reader = BufReader::new(stream.try_clone().expect("a reader"));
                    let mut head = Vec::new();
                    let mut line = String::new();
                    while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                        head.push(std::mem::take(&mut line).trim_end().to_owned());
                    }
                    let Some(request) = head.first() else { return };
                    let header = |name: &str| {
                        let found = head.iter().filter_map(|line| line.split_once(": "));
                        found
                            .into_iter()
                            .find(|(key, _)| key.eq_ignore_ascii_case(name))
                            .map(|(_, value)| value.to_owned())
                    };
                    let length = header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
                    let mut body = vec![0; length];
                    reader.read_exact(&mut body).expect("what was sent");
                    let mut words = request.split(' ');
                    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
                    let mut state = state.lock().expect("the state");
                    state.log.push(format!("{method} {path}"));
                    let answer = state.answer(method, path, &header, &body, &address);
                    let _ = stream.write_all(&answer);
                });
            }
        });
        registry
    }

    /// Puts an index with an image of each of `architectures`, under the tag `main`. Returns its digest.
    pub fn push(&self, architectures: &[&str], revision: &str) -> String {
        self.push_labelled(
            architectures,
            |_| {
                json!({ "org.opencontainers.image.revision": revision,
            "org.opencontainers.image.source": "https://github.com/coreos/coreos-assembler.git" })
            },
            "2026-07-20T09:14:03Z",
        )
    }

    pub fn push_labelled(
        &self,
        architectures: &[&str],
        labels: impl Fn(&str) -> serde_json::Value,
        created: &str,
    ) -> String {
        let mut state = self.state.lock().expect("the state");
        let mut children = Vec::new();
        for architecture in architectures {
            let config = json!({ "architecture": architecture, "os": "linux", "created": created,
                                 "config": { "Labels": labels(architecture) } })
            .to_string()
            .into_bytes();
            let manifest = json!({ "schemaVersion": 2, "mediaType": OCI_IMAGE,
                                   "config": { "mediaType": "application/vnd.oci.image.config.v1+json",
                                               "digest": digest(&config), "size": config.len() }, "layers": [] });
            let manifest = manifest.to_string().into_bytes();
            children
                .push(json!({ "mediaType": OCI_IMAGE, "digest": digest(&manifest), "size": manifest.len(),
                                  "platform": { "architecture": architecture, "os": "linux" } }));
            state.blobs.insert(digest(&config), config);
            state.manifests.insert(digest(&manifest), (OCI_IMAGE.to_owned(), manifest));
        }
        // Not as any printer would lay it out: it has to be kept byte by byte.
        let index = format!(
            "{{ \"schemaVersion\":2,\n \"mediaType\": \"{OCI_INDEX}\", \"manifests\": {} }} \n",
            serde_json::Value::Array(children)
        )
        .into_bytes();
        let index_digest = digest(&index);
        state.manifests.insert(index_digest.clone(), (OCI_INDEX.to_owned(), index));
        state.tags.insert("main".to_owned(), index_digest.clone());
        index_digest
    }

    pub fn tag(&self, tag: &str, digest: &str) {
        self.state.lock().expect("the state").tags.insert(tag.to_owned(), digest.to_owned());
    }

    pub fn untag(&self, tag: &str) {
        self.state.lock().expect("the state").tags.remove(tag);
    }

    pub fn tags(&self) -> BTreeMap<String, String> {
        self.state.lock().expect("the state").tags.clone()
    }

    pub fn remove(&self, digest: &str) {
        self.state.lock().expect("the state").manifests.remove(digest);
    }

    pub fn misbehave(&self, faults: Faults) {
        self.state.lock().expect("the state").faults = faults;
    }

    /// What it was asked since the last call.
    pub fn requests(&self) -> Vec<String> {
        std::mem::take(&mut self.state.lock().expect("the state").log)
    }
}

impl State {
    fn answer(
        &mut self,
        method: &str,
        path: &str,
        header: &dyn Fn(&str) -> Option<String>,
        body: &[u8],
        address: &str,
    ) -> Vec<u8> {
        let respond = |status: u16, headers: &[(&str, &str)], body: &[u8]| {
            let mut head =
                format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\nConnection: close\r\n", body.len());
            headers.iter().for_each(|(name, value)| head += &format!("{name}: {value}\r\n"));
            let body = if method == "HEAD" { &[][..] } else { body };
            [head.as_bytes(), b"\r\n", body].concat()
        };
        let faults = self.faults.clone();
        if let Some(status) = faults.says {
            return respond(status, &[], br#"{"errors":[{"code":"TOOMANYREQUESTS","message":"slow down"}]}"#);
        }
        let password = faults.wants_basic.as_ref().map(|user| format!("Basic {}", base64(user)));
        if path.starts_with("/token") {
            let pushes = path.contains("pull%2Cpush");
            return match header("authorization") == password {
                true => respond(
                    200,
                    &[],
                    format!(r#"{{"token": "{}"}}"#, if pushes { "push" } else { "pull" }).as_bytes(),
                ),
                false => respond(401, &[], b"{}"),
            };
        }
        let given = header("authorization");
        let wanted = match (faults.wants_token, method) {
            (true, "PUT") => Some("Bearer push".to_owned()),
            (true, _) => Some("Bearer pull".to_owned()),
            (false, _) => password,
        };
        if wanted.is_some() && given != wanted {
            let challenge = match faults.wants_token {
                true => format!(
                    "Bearer realm=\"http://{address}/token\",service=\"registry\",scope=\"repository:{NAME}:pull\""
                ),
                false => "Basic realm=\"registry\"".to_owned(),
            };
            return respond(
                401,
                &[("WWW-Authenticate", &challenge)],
                br#"{"errors":[{"code":"UNAUTHORIZED","message":"who are you"}]}"#,
            );
        }
        let Some(rest) = path.strip_prefix(&format!("/v2/{NAME}/")) else { return respond(404, &[], b"{}") };
        match (method, rest.split_once('/')) {
            ("PUT", _) if faults.denies_push => {
                respond(403, &[], br#"{"errors":[{"code":"DENIED","message":"no push for you"}]}"#)
            }
            ("PUT", Some(("manifests", tag))) => {
                let digest = digest(body);
                self.manifests
                    .insert(digest.clone(), (header("content-type").unwrap_or_default(), body.to_vec()));
                self.tags.insert(tag.to_owned(), digest);
                respond(201, &[], b"")
            }
            // Two a page, the way that most name the next one.
            ("GET", Some(("tags", list))) => {
                let after = list.split_once("last=").map_or("", |(_, last)| last);
                let page: Vec<&String> =
                    self.tags.keys().filter(|tag| tag.as_str() > after).take(2).collect();
                let more =
                    page.last().filter(|last| self.tags.keys().any(|tag| tag.as_str() > last.as_str()));
                let link = more.map(|last| format!("</v2/{NAME}/tags/list?n=2&last={last}>; rel=\"next\""));
                let headers: Vec<(&str, &str)> = link.iter().map(|link| ("Link", link.as_str())).collect();
                respond(200, &headers, json!({ "name": NAME, "tags": page }).to_string().as_bytes())
            }
            ("HEAD", _) if faults.is_terse => respond(405, &[], b""),
            ("GET" | "HEAD", Some(("manifests", name))) => {
                let digest = self.tags.get(name).cloned().unwrap_or_else(|| name.to_owned());
                match self.manifests.get(&digest) {
                    None => respond(
                        404,
                        &[],
                        br#"{"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown"}]}"#,
                    ),
                    Some((media_type, bytes)) => {
                        let media_type = if faults.schema_1 {
                            "application/vnd.docker.distribution.manifest.v1+prettyjws"
                        } else {
                            media_type
                        };
                        let said =
                            if faults.lies { format!("sha256:{}", "0".repeat(64)) } else { digest.clone() };
                        let mut headers = vec![("Content-Type", media_type)];
                        headers
                            .extend((!faults.is_terse).then_some(("Docker-Content-Digest", said.as_str())));
                        respond(200, &headers, bytes)
                    }
                }
            }
            ("GET", Some(("blobs", digest))) => match self.blobs.get(digest) {
                Some(bytes) => respond(200, &[], bytes),
                None => respond(404, &[], b"{}"),
            },
            _ => respond(404, &[], b"{}"),
        }
    }
}

/// What a client sends of a password.
fn base64(text: &str) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in text.as_bytes().chunks(3) {
        let bits =
            chunk.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let digit = (bits >> (18 - 6 * place)) & 63;
            out.push(if place <= chunk.len() { char::from(DIGITS[digit as usize]) } else { '=' });
        }
    }
    out
}
