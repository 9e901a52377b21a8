//! Names of container images: registry, repository, tag, digest. The grammar is that of [distribution].
//!
//! [distribution]: https://github.com/distribution/reference

use std::fmt;

use crate::Error;
use crate::url::mask;

/// The registry of an image that names none.
const DEFAULT_REGISTRY: &str = "docker.io";

/// A reference to an image: `quay.io/coreos-assembler/coreos-assembler:main@sha256:…`.
///
/// # Examples
///
/// ```
/// use coreos_pins_build::reference::Reference;
///
/// let reference = Reference::parse("localhost:5000/a/b:main")?;
/// assert_eq!((reference.registry(), reference.repository()), ("localhost:5000", "a/b"));
/// assert_eq!((reference.tag(), reference.digest()), (Some("main"), None));
/// # Ok::<(), coreos_pins_build::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference {
    registry: String,
    repository: String,
    tag: Option<String>,
    digest: Option<String>,
}

impl Reference {
    /// Reads `text`, with or without `docker://` in front.
    ///
    /// # Errors
    ///
    /// What is no reference: the error shows `text` and says which part is at fault.
    pub fn parse(text: &str) -> Result<Self, Error> {
        Self::parts(text.strip_prefix("docker://").unwrap_or(text)).map_err(|reason| {
            Error::invalid(format!("`{}` is no reference to an image: {reason}", mask(text)))
                .help("write REGISTRY/REPOSITORY, with `:TAG` or `@sha256:DIGEST` behind it")
        })
    }

    fn parts(text: &str) -> Result<Self, &'static str> {
        let (rest, digest) = match text.split_once('@') {
            Some((rest, digest)) if is_digest(digest) => (rest, Some(digest.to_owned())),
            Some(_) => {
                return Err("a digest is `sha256:` and 64, or `sha512:` and 128, lower-case hex digits");
            }
            None => (text, None),
        };
        // A colon before the last slash is a port's.
        let name_end = rest.rfind('/').map_or(0, |slash| slash + 1);
        let (name, tag) = match rest[name_end..].split_once(':') {
            Some((last, tag)) if is_tag(tag) => (&rest[..name_end + last.len()], Some(tag.to_owned())),
            Some(_) => {
                return Err(
                    "a tag is at most 128 letters, digits, `_`, `.` and `-`, and begins with no `.` or `-`",
                );
            }
            None => (rest, None),
        };
        let is_host = |part: &str| part.contains(['.', ':']) || part == "localhost";
        let (registry, repository) = match name.split_once('/') {
            Some((host, path)) if is_host(host) => (host, path.to_owned()),
            Some(_) => (DEFAULT_REGISTRY, name.to_owned()),
            None => (DEFAULT_REGISTRY, format!("library/{name}")),
        };
        if !is_registry(registry) {
            return Err("a registry is a host name or address, and perhaps a port");
        }
        if !repository.split('/').all(is_component) {
            return Err(
                "a repository is lower-case letters and digits, with `.`, `_`, `__`, `-` and `/` between",
            );
        }
        if registry.len() + 1 + repository.len() > 255 {
            return Err("registry and repository are longer than 255 characters");
        }
        Ok(Self { registry: registry.to_owned(), repository, tag, digest })
    }

    /// Returns the registry: a host, and its port where one is given.
    pub fn registry(&self) -> &str {
        &self.registry
    }

    /// Returns the repository, without registry: `coreos-assembler/coreos-assembler`.
    pub fn repository(&self) -> &str {
        &self.repository
    }

    /// Returns the tag. Where there is a digest too, that alone says which image is meant.
    pub fn tag(&self) -> Option<&str> {
        self.tag.as_deref()
    }

    /// Returns the digest: `sha256:` and 64 lower-case hex digits, or `sha512:` and 128.
    pub fn digest(&self) -> Option<&str> {
        self.digest.as_deref()
    }

    /// Returns the image without tag and digest: `quay.io/coreos-assembler/coreos-assembler`.
    pub fn image(&self) -> String {
        format!("{}/{}", self.registry, self.repository)
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.image())?;
        self.tag.iter().try_for_each(|tag| write!(f, ":{tag}"))?;
        self.digest.iter().try_for_each(|digest| write!(f, "@{digest}"))
    }
}

/// Tells whether `text` is `sha256:` and 64 lower-case hex digits, or `sha512:` and 128.
pub fn is_digest(text: &str) -> bool {
    let length = match text.split_once(':') {
        Some(("sha256", hex)) => (hex, 64),
        Some(("sha512", hex)) => (hex, 128),
        _ => return false,
    };
    length.0.len() == length.1 && length.0.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// Tells whether `text` is a tag.
pub fn is_tag(text: &str) -> bool {
    let is_word = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    text.len() <= 128
        && text.bytes().next().is_some_and(is_word)
        && text.bytes().all(|b| is_word(b) || b == b'.' || b == b'-')
}

fn is_registry(text: &str) -> bool {
    let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, rest)) => {
            let is_address = address.parse::<std::net::Ipv6Addr>().is_ok();
            match (is_address, rest.strip_prefix(':')) {
                (false, _) => return false,
                (true, Some(port)) => return is_port(port),
                (true, None) => return rest.is_empty(),
            }
        }
        None => match text.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        },
    };
    let is_label = |label: &str| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    host.split('.').all(is_label) && port.is_none_or(is_port)
}

fn is_port(text: &str) -> bool {
    text.parse::<u16>().is_ok() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Letters and digits, with single separators between.
fn is_component(text: &str) -> bool {
    let is_word = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let bytes = text.as_bytes();
    let ends = bytes.first().is_some_and(|b| is_word(*b)) && bytes.last().is_some_and(|b| is_word(*b));
    let between = text.split(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
    let is_separator = |s: &str| matches!(s, "" | "." | "_" | "__") || s.bytes().all(|b| b == b'-');
    ends && between.into_iter().all(is_separator)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEX: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    #[test]
    fn parts_are_told_apart_whatever_colons_there_are() {
        let digest = format!("sha256:{HEX}");
        for (text, registry, repository, tag, has_digest) in [
            ("quay.io/a/b", "quay.io", "a/b", None, false),
            ("quay.io/a/b:t", "quay.io", "a/b", Some("t"), false),
            ("quay.io/a/b@D", "quay.io", "a/b", None, true),
            ("quay.io/a/b:t@D", "quay.io", "a/b", Some("t"), true),
            ("docker://quay.io/a/b:t", "quay.io", "a/b", Some("t"), false),
            ("localhost/a", "localhost", "a", None, false),
            ("localhost:5000/a", "localhost:5000", "a", None, false),
            ("localhost:5000/a:t@D", "localhost:5000", "a", Some("t"), true),
            ("[::1]:5000/a", "[::1]:5000", "a", None, false),
            ("[::1]/a:v1.0", "[::1]", "a", Some("v1.0"), false),
            ("a/b", "docker.io", "a/b", None, false),
            ("a:t", "docker.io", "library/a", Some("t"), false),
            ("quay.io/a.b/c__d/e---f", "quay.io", "a.b/c__d/e---f", None, false),
        ] {
            let reference = Reference::parse(&text.replace('D', &digest)).unwrap();
            assert_eq!((reference.registry(), reference.repository()), (registry, repository), "{text}");
            assert_eq!((reference.tag(), reference.digest().is_some()), (tag, has_digest), "{text}");
            assert_eq!(Reference::parse(&reference.to_string()).unwrap(), reference, "{text}");
        }
        let sha512 = format!("quay.io/a/b@sha512:{HEX}{HEX}");
        assert_eq!(Reference::parse(&sha512).unwrap().to_string(), sha512);
    }

    #[test]
    fn what_is_no_reference_is_refused_and_no_secret_is_shown() {
        for text in [
            "",
            "/",
            "quay.io/",
            "quay.io//a",
            "quay.io/A",
            "quay.io/a_",
            "quay.io/a..b",
            "quay.io/a___b",
            "quay.io/a b",
            "quay.io/a:",
            "quay.io/a:-t",
            "quay.io/a@sha256:abc",
            "quay.io/a@",
            "quay.io:x/a",
            "quay.io:99999/a",
            "-x.io/a",
            "[::x]/a",
            "https://quay.io/a",
            "quay.io/../a",
            "quay.io/a?x=y",
            "user:s3cret@quay.io/a",
        ] {
            let error = Reference::parse(text).expect_err(text).to_string();
            assert!(!error.contains("s3cret"), "{error}");
        }
        for hex in [&HEX[1..], &format!("{HEX}0"), &HEX.to_uppercase()] {
            assert!(Reference::parse(&format!("quay.io/a@sha256:{hex}")).is_err(), "{hex}");
        }
        assert!(Reference::parse(&format!("quay.io/a:{}", "t".repeat(129))).is_err());
        assert!(Reference::parse(&format!("quay.io/{}", "a".repeat(250))).is_err());
    }
}
