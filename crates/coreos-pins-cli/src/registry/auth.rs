//! What a registry that answers 401 wants to see: a password, or a token of a realm that it names.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use coreos_pins_build::Error;
use coreos_pins_build::json::{self, Map, Value};
use coreos_pins_build::reference::Reference;
use coreos_pins_build::source::{Method, Request};
use coreos_pins_build::url::{Scheme, Url};
use http_auth::parser::ChallengeParser;

use super::credentials::Credential;
use super::{Registries, is_loopback, refused};

impl Registries<'_> {
    /// Returns the `Authorization` that one of `challenges` asks for; `None` where nobody has what they want.
    pub(super) fn authorization<'c>(
        &self,
        reference: &Reference,
        scope: &str,
        challenges: impl Iterator<Item = &'c str>,
    ) -> Result<Option<String>, Error> {
        let credential = self.credentials.of(reference)?;
        for header in challenges {
            for challenge in ChallengeParser::new(header).filter_map(Result::ok) {
                let parameter = |name: &str| {
                    let found = challenge.params.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
                    found.map(|(_, value)| value.to_unescaped())
                };
                if challenge.scheme.eq_ignore_ascii_case("bearer") {
                    let Some(realm) = parameter("realm") else { continue };
                    return self
                        .token(reference, scope, &realm, parameter("service"), credential.as_ref())
                        .map(Some);
                }
                if challenge.scheme.eq_ignore_ascii_case("basic")
                    && let Some(Credential::Password { user, password }) = &credential
                {
                    return Ok(Some(basic(user, password)));
                }
            }
        }
        Ok(None)
    }

    /// Asks the realm of a registry for a token.
    fn token(
        &self,
        reference: &Reference,
        scope: &str,
        realm: &str,
        service: Option<String>,
        credential: Option<&Credential>,
    ) -> Result<String, Error> {
        let url = Url::parse(realm)?;
        let is_own = is_loopback(url.host()) && is_loopback(reference.registry());
        if url.scheme() != Scheme::Https && !is_own {
            return Err(Error::no_answer(format!(
                "the registry `{}` sends to `{url}` for a token, which is no https",
                reference.registry()
            )));
        }
        let service = service.unwrap_or_default();
        let reply = match credential {
            Some(Credential::IdentityToken(token)) => {
                let form = [
                    ("grant_type", "refresh_token"),
                    ("refresh_token", token),
                    ("service", &service),
                    ("scope", scope),
                    ("client_id", "coreos-pins"),
                ];
                let body = form.map(|(name, value)| format!("{name}={}", encode(value))).join("&");
                let request = Request::new(Method::Post, &url)
                    .header("Content-Type", "application/x-www-form-urlencoded")
                    .body(body.as_bytes());
                self.source.exchange(&request)?
            }
            other => {
                let separator = if realm.contains('?') { '&' } else { '?' };
                let mut query =
                    format!("{realm}{separator}service={}&scope={}", encode(&service), encode(scope));
                let authorization = match other {
                    Some(Credential::Password { user, password }) => {
                        query.push_str(&format!("&account={}", encode(user)));
                        Some(basic(user, password))
                    }
                    _ => None,
                };
                let url = Url::parse(&query)?;
                self.source
                    .exchange(&Request::new(Method::Get, &url).authorization(authorization.as_deref()))?
            }
        };
        if reply.status != 200 {
            return Err(refused(&url, &reply));
        }
        let members: Map<Value> = json::read(&url.to_string(), &reply.body)
            .map_err(|_| Error::no_answer(format!("`{url}` gave no token")))?;
        let token = ["token", "access_token"].into_iter().find_map(|key| match members.get(key) {
            Some(Value::String(token)) if !token.is_empty() => Some(token),
            _ => None,
        });
        match token {
            Some(token) => Ok(format!("Bearer {token}")),
            None => Err(Error::no_answer(format!("`{url}` gave no token"))),
        }
    }
}

fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
}

/// Returns `text` as a query has it.
fn encode(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
