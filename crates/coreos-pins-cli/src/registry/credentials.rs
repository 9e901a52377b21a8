//! Where credentials for registries come from: the files and helpers that skopeo and podman go by, in their order.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use coreos_pins_build::Error;
use coreos_pins_build::json::{self, Map, Value};
use coreos_pins_build::pins::read_file;
use coreos_pins_build::reference::Reference;

/// What a registry is told of a user. Never printed.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Credential {
    Password {
        user: String,
        password: String,
    },
    /// Exchanged for tokens.
    IdentityToken(String),
}

/// The files to look in, first to last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Credentials {
    files: Vec<PathBuf>,
    /// Only this file, which must be there.
    named: Option<(PathBuf, &'static str)>,
}

impl Credentials {
    /// Looks where `variables` say, which are of the environment; only in `authfile`, if that is given.
    pub(crate) fn new(authfile: Option<PathBuf>, variable: impl Fn(&str) -> Option<PathBuf>) -> Self {
        if let Some(file) = authfile {
            return Self { named: Some((file, "--authfile")), ..Self::default() };
        }
        if let Some(file) = variable("REGISTRY_AUTH_FILE") {
            return Self { named: Some((file, "REGISTRY_AUTH_FILE")), ..Self::default() };
        }
        let home = variable("HOME");
        let in_home = |path: &str| home.as_ref().map(|home| home.join(path));
        let files = [
            variable("XDG_RUNTIME_DIR").map(|dir| dir.join("containers/auth.json")),
            variable("XDG_CONFIG_HOME")
                .or_else(|| in_home(".config"))
                .map(|dir| dir.join("containers/auth.json")),
            variable("DOCKER_CONFIG").or_else(|| in_home(".docker")).map(|dir| dir.join("config.json")),
            in_home(".dockercfg"),
        ];
        Self { files: files.into_iter().flatten().collect(), named: None }
    }

    /// Returns the credential for the repository of `reference`: of the first file that has one.
    ///
    /// # Errors
    ///
    /// A file that cannot be read; a helper that fails.
    pub(super) fn of(&self, reference: &Reference) -> Result<Option<Credential>, Error> {
        let files = match &self.named {
            Some((file, by)) if !file.is_file() => {
                return Err(Error::invalid(format!("no file `{}` (asked for by {by})", file.display())));
            }
            Some((file, _)) => std::slice::from_ref(file),
            None => self.files.as_slice(),
        };
        for file in files.iter().filter(|file| file.is_file()) {
            if let Some(found) = in_file(file, reference)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

fn in_file(file: &std::path::Path, reference: &Reference) -> Result<Option<Credential>, Error> {
    let document = file.display().to_string();
    let bytes = read_file(file)?;
    // What is in it is not shown, not even where it is broken.
    let unreadable = || {
        Error::invalid(format!("`{document}` is no file of credentials"))
            .help("log in again (`skopeo login REGISTRY`), or remove the file")
    };
    let members: Map<Value> = json::read(&document, &bytes).map_err(|_| unreadable())?;
    let registry = reference.registry();
    if let Some(Value::String(helper)) = member(members.get("credHelpers"), registry) {
        return from_helper(helper, registry);
    }
    let auths: BTreeMap<String, &Value> = match members.get("auths") {
        Some(Value::Object(auths)) => auths.iter().map(|(key, value)| (normal(key), value)).collect(),
        Some(_) => return Err(unreadable()),
        // The oldest form has the registries at the top.
        None if file.file_name() == Some(".dockercfg".as_ref()) => {
            members.iter().map(|(key, value)| (normal(key), value)).collect()
        }
        None => BTreeMap::new(),
    };
    // From the repository up to the registry.
    let image = reference.image();
    let mut key = image.as_str();
    let mut is_listed = false;
    loop {
        if let Some(entry) = auths.get(key) {
            is_listed = true;
            if let Some(found) = in_entry(entry).ok_or_else(unreadable)? {
                return Ok(Some(found));
            }
        }
        match key.rsplit_once('/') {
            Some((up, _)) => key = up,
            None => break,
        }
    }
    match members.get("credsStore") {
        Some(Value::String(helper)) if is_listed || auths.is_empty() => from_helper(helper, registry),
        _ => Ok(None),
    }
}

/// Returns the key of an entry without scheme and version: `https://index.docker.io/v1/` is docker.io's.
fn normal(key: &str) -> String {
    let key = key.split_once("://").map_or(key, |(_, rest)| rest);
    let key = key.trim_end_matches('/');
    let key = key.strip_suffix("/v1").or(key.strip_suffix("/v2")).unwrap_or(key);
    match key {
        "index.docker.io" | "registry-1.docker.io" => "docker.io".to_owned(),
        other => other.to_owned(),
    }
}

fn member<'v>(value: Option<&'v Value>, key: &str) -> Option<&'v Value> {
    match value {
        Some(Value::Object(map)) => map.get(key),
        _ => None,
    }
}

/// Returns what an entry of `auths` holds, which may be nothing; `None` where it cannot be read.
fn in_entry(entry: &Value) -> Option<Option<Credential>> {
    let text = |key: &str| match member(Some(entry), key) {
        Some(Value::String(text)) if !text.is_empty() => Some(text.clone()),
        _ => None,
    };
    if let Some(token) = text("identitytoken") {
        return Some(Some(Credential::IdentityToken(token)));
    }
    if let Some(auth) = text("auth") {
        // Some write it without padding, and some end the password with NULs.
        let config = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
        let decoded = GeneralPurpose::new(&STANDARD, config).decode(auth.trim()).ok()?;
        let decoded = String::from_utf8(decoded).ok()?;
        let (user, password) = decoded.split_once(':')?;
        let password = password.trim_end_matches('\0').to_owned();
        return Some(Some(Credential::Password { user: user.to_owned(), password }));
    }
    Some(
        text("username")
            .zip(text("password"))
            .map(|(user, password)| Credential::Password { user, password }),
    )
}

/// Asks a helper, as `docker-credential-NAME get` is asked.
fn from_helper(helper: &str, registry: &str) -> Result<Option<Credential>, Error> {
    let program = format!("docker-credential-{helper}");
    let failed =
        |what: String| Error::no_answer(format!("`{program}` gave no credentials for `{registry}`: {what}"));
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if helper.is_empty() || !helper.chars().all(is_name) {
        return Err(Error::invalid("the name of a credential helper is letters, digits, `-`, `_` and `.`"));
    }
    let started = Command::new(&program)
        .arg("get")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = started.map_err(|error| match error.kind() {
        ErrorKind::NotFound => failed("it is not installed".to_owned()),
        _ => failed(error.to_string()),
    })?;
    if let Some(mut input) = child.stdin.take() {
        // It may not want to know.
        let _ = input.write_all(registry.as_bytes());
    }
    let output = child.wait_with_output().map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stdout).to_lowercase();
        return if said.contains("credentials not found") {
            Ok(None)
        } else {
            Err(failed(output.status.to_string()))
        };
    }
    let members: Map<Value> =
        json::read(&program, &output.stdout).map_err(|_| failed("what it printed is no JSON".to_owned()))?;
    match (members.get("Username"), members.get("Secret")) {
        (Some(Value::String(user)), Some(Value::String(secret))) if user == "<token>" => {
            Ok(Some(Credential::IdentityToken(secret.clone())))
        }
        (Some(Value::String(user)), Some(Value::String(secret))) => {
            Ok(Some(Credential::Password { user: user.clone(), password: secret.clone() }))
        }
        _ => Err(failed("it printed no `Username` and `Secret`".to_owned())),
    }
}
