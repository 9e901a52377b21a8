//! Build ids, and what `BUILD_NAME` may hold.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

use crate::Error;

/// A choice of builds, as `BUILD_NAME` and `pin.build` spell it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildName {
    /// `latest`: whatever is newest.
    Latest,
    /// One id for every architecture.
    Id(String),
    /// `aarch64=…,x86_64=…`: an id per architecture, by RPM name.
    PerArchitecture(BTreeMap<String, String>),
}

impl BuildName {
    /// Reads `text`. Architectures may be spelled as RPM or as Go spells them.
    ///
    /// # Errors
    ///
    /// An empty id or architecture, and an architecture named twice.
    pub fn parse(text: &str) -> Result<Self, Error> {
        if text == "latest" {
            return Ok(Self::Latest);
        }
        if text.eq_ignore_ascii_case("latest") {
            return Err(Error::invalid(format!("`{text}` is no build name, did you mean `latest`?")));
        }
        if !text.contains('=') && !text.contains(',') && !text.is_empty() {
            return Ok(Self::Id(text.to_owned()));
        }
        let mut ids = BTreeMap::new();
        for part in text.split(',') {
            let (architecture, id) = match part.split_once('=').map(|(a, id)| (a.trim(), id.trim())) {
                Some((architecture, id)) if !architecture.is_empty() && !id.is_empty() => (architecture, id),
                _ => {
                    return Err(Error::invalid(format!("`{text}` is no build name"))
                        .help("write an id, `latest`, or ids per architecture: `aarch64=ID,x86_64=ID`"));
                }
            };
            let architecture = rpm_architecture(architecture).to_owned();
            if let Some(other) = ids.insert(architecture.clone(), id.to_owned()) {
                return Err(Error::invalid(format!(
                    "`{text}` names `{architecture}` twice: `{other}`, `{id}`"
                )));
            }
        }
        Ok(Self::PerArchitecture(ids))
    }

    /// Returns the shortest spelling of `builds`, which maps architectures to ids: one id where all are the same.
    pub fn of(builds: &BTreeMap<&str, &str>) -> Self {
        let mut ids = builds.values();
        match ids.next() {
            Some(first) if ids.all(|id| id == first) => Self::Id((*first).to_owned()),
            _ => Self::PerArchitecture(
                builds.iter().map(|(a, id)| ((*a).to_owned(), (*id).to_owned())).collect(),
            ),
        }
    }

    /// Tells whether these are `builds`, which maps architectures to ids. An architecture that is not named may have
    /// any id; `latest` is nobody.
    pub fn is(&self, builds: &BTreeMap<&str, &str>) -> bool {
        match self {
            Self::Latest => false,
            Self::Id(id) => builds.values().all(|build| build == id),
            Self::PerArchitecture(ids) => {
                ids.iter().all(|(a, id)| builds.get(a.as_str()) == Some(&id.as_str()))
            }
        }
    }
}

impl fmt::Display for BuildName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Latest => f.write_str("latest"),
            Self::Id(id) => f.write_str(id),
            Self::PerArchitecture(ids) => {
                let parts: Vec<String> = ids.iter().map(|(a, id)| format!("{a}={id}")).collect();
                f.write_str(&parts.join(","))
            }
        }
    }
}

/// Returns the RPM name of an architecture that a person may have spelled as Go does: `amd64`, `arm64`.
pub fn rpm_architecture(name: &str) -> &str {
    match name {
        "amd64" => "x86_64",
        "arm64" => "aarch64",
        other => other,
    }
}

/// Compares two build ids number by number, parts being split at `.` and `-`. `None` where a part that differs is no
/// number, so that nothing can be told: ids are never compared as text.
pub fn compare(a: &str, b: &str) -> Option<Ordering> {
    let mut parts_a = a.split(['.', '-']);
    let mut parts_b = b.split(['.', '-']);
    loop {
        match (parts_a.next(), parts_b.next()) {
            (None, None) => return Some(Ordering::Equal),
            (None, Some(_)) => return Some(Ordering::Less),
            (Some(_), None) => return Some(Ordering::Greater),
            (Some(a), Some(b)) if a == b => {}
            (Some(a), Some(b)) => match (a.parse::<u64>(), b.parse::<u64>()) {
                (Ok(a), Ok(b)) if a == b => {}
                (Ok(a), Ok(b)) => return Some(a.cmp(&b)),
                _ => return None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_prints() {
        for text in ["latest", "44.20260707.3.1", "aarch64=48.84.1-0,x86_64=48.84.2-0"] {
            assert_eq!(BuildName::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(BuildName::parse("amd64=2, arm64=1").unwrap().to_string(), "aarch64=1,x86_64=2");
    }

    #[test]
    fn half_names_are_refused() {
        for text in ["LATEST", "Latest", "", "x86_64=", "=1", "x86_64=1,", "1,2", "x86_64=1,amd64=2"] {
            assert!(BuildName::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn one_id_is_not_a_build_whose_architectures_differ() {
        let mixed = BTreeMap::from([("aarch64", "1"), ("x86_64", "2")]);
        assert!(!BuildName::parse("2").unwrap().is(&mixed));
        assert!(BuildName::parse("x86_64=2").unwrap().is(&mixed));
        assert!(!BuildName::parse("x86_64=2,s390x=2").unwrap().is(&mixed));
        assert_eq!(BuildName::of(&mixed).to_string(), "aarch64=1,x86_64=2");
        assert!(BuildName::of(&mixed).is(&mixed));
        assert!(BuildName::parse("2").unwrap().is(&BTreeMap::from([("x86_64", "2")])));
    }

    #[test]
    fn ids_compare_by_number_or_not_at_all() {
        assert_eq!(compare("47.99", "47.284"), Some(Ordering::Less));
        assert_eq!(compare("9.6.20260112-0", "9.6.20260112-1"), Some(Ordering::Less));
        assert_eq!(compare("44.2", "44.2.1"), Some(Ordering::Less));
        assert_eq!(compare("44.02", "44.2"), Some(Ordering::Equal));
        assert_eq!(compare("42s390x.1", "42.1"), None);
    }
}
