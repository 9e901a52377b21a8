//! Hosts that committed pins may name: public ones, by https. A build that was made on a machine inside would otherwise
//! be pinned for everybody outside.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use coreos_pins_build::pin::Pin;
use coreos_pins_build::url::{Scheme, Url};

use crate::items::{self, Kind};

/// A host that a pin should not name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Without port, an IPv6 address without brackets: what `--allow-host` takes. Empty where there is none.
    pub(crate) host: String,
    /// What it is instead of a public https host.
    pub(crate) why: String,
    /// The first place that names it.
    pub(crate) place: String,
}

impl Fault {
    /// Returns the one line that says it.
    pub(crate) fn line(&self) -> String {
        let Self { host, why, place } = self;
        if host.is_empty() { format!("{place} {why}") } else { format!("{place} is at `{host}`, {why}") }
    }
}

/// Returns the hosts of `pin` that are not public https hosts and not `allowed`, each once.
pub(crate) fn faults(pin: &Pin, allowed: &[String]) -> Vec<Fault> {
    let mut faults: BTreeMap<String, Fault> = BTreeMap::new();
    let mut check = |place: &str, url: &str| {
        if let Some((host, why)) = fault_of(url) {
            let is_allowed = !host.is_empty() && allowed.iter().any(|allowed| plain(allowed) == host);
            if !is_allowed {
                faults.entry(host.clone()).or_insert_with(|| Fault { host, why, place: place.to_owned() });
            }
        }
    };
    if let Some(header) = &pin.header {
        check("base-url", &header.base_url);
        header.sources.iter().for_each(|source| check("a source", &source.url));
        if let Some(image) = &header.release_image {
            check("release-image", &format!("docker://{image}"));
        }
    }
    for item in items::of(&pin.stream) {
        let urls = item.members.iter().filter(|member| matches!(member.kind, Kind::Url | Kind::Signature));
        urls.for_each(|member| check(&format!("{} {}", item.key, member.name), member.value));
    }
    faults.into_values().collect()
}

/// Returns `--allow-host A --allow-host B`.
pub(crate) fn flags(faults: &[Fault]) -> String {
    let flags = faults.iter().filter(|fault| !fault.host.is_empty());
    flags.map(|fault| format!("--allow-host {}", fault.host)).collect::<Vec<_>>().join(" ")
}

/// Returns the host of `url` and what is wrong with it, if anything is.
fn fault_of(url: &str) -> Option<(String, String)> {
    // `docker://registry.example/repository@sha256:…`, which is asked by https.
    let rewritten = url
        .strip_prefix("docker://")
        .map(|rest| format!("https://{}", rest.split('@').next().unwrap_or(rest)));
    let Ok(parsed) = Url::parse(rewritten.as_deref().unwrap_or(url)) else {
        return Some((String::new(), "is no http or https URL".to_owned()));
    };
    let host = plain(parsed.host());
    // Both may be secrets, and would be published with the pin.
    if url.contains(['?', '#']) || url.split('/').nth(2).is_some_and(|authority| authority.contains('@')) {
        return Some((String::new(), "has a user name, a query or a fragment".to_owned()));
    }
    match parsed.scheme() {
        Scheme::File => Some((String::new(), "is a file of one machine".to_owned())),
        Scheme::Http => Some((host, "by plain http".to_owned())),
        Scheme::Https => private(&host).map(|why| (host.clone(), why.to_owned())),
    }
}

/// Returns a host as people write it: lower case, without brackets and final dot.
fn plain(host: &str) -> String {
    host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.').to_ascii_lowercase()
}

/// Says why `host` is not public.
fn private(host: &str) -> Option<&'static str> {
    const SUFFIXES: [&str; 9] =
        [".internal", ".corp", ".local", ".lan", ".home", ".localdomain", ".localhost", ".test", ".invalid"];
    if let Ok(address) = host.parse::<IpAddr>() {
        return (!is_global(address)).then_some("an address that is not reachable from everywhere");
    }
    let last = host.rsplit('.').next().unwrap_or_default();
    // Such as `127.1` and `0x7f.0.0.1`, which some resolvers take for an address.
    if last.starts_with("0x") || last.bytes().all(|b| b.is_ascii_digit()) {
        return Some("an address in an odd spelling");
    }
    if host == "localhost" || !host.contains('.') {
        return Some("a name that only some networks know");
    }
    SUFFIXES.iter().any(|suffix| host.ends_with(suffix)).then_some("a name of a private network")
}

fn is_global(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_global_v4(address),
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(mapped) => is_global_v4(mapped),
            None => is_global_v6(address),
        },
    }
}

/// By IANA's registry of special-purpose addresses.
fn is_global_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let shared = a == 100 && (64..128).contains(&b);
    let protocols = (a, b, c) == (192, 0, 0);
    let benchmarks = a == 198 && (b == 18 || b == 19);
    !(a == 0
        || a >= 240
        || address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || address.is_multicast()
        || shared
        || protocols
        || benchmarks)
}

/// Global unicast addresses, less those for documentation.
fn is_global_v6(address: Ipv6Addr) -> bool {
    let [a, b, ..] = address.segments();
    let documentation = (a, b) == (0x2001, 0xdb8) || a == 0x3fff && b < 0x1000;
    a & 0xe000 == 0x2000 && !documentation
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_https_hosts_are_fine() {
        for url in [
            "https://builds.coreos.fedoraproject.org/x",
            "https://example.com:8443/",
            "https://8.8.8.8/",
            "https://[2606:4700::1111]/",
            "docker://quay.io/a/b@sha256:00",
            "docker://registry.example.com:5000/a/b@sha256:00",
        ] {
            assert_eq!(fault_of(url), None, "{url}");
        }
    }

    #[test]
    fn everything_else_names_the_host_that_would_have_to_be_allowed() {
        for (url, host) in [
            ("http://example.com/x", "example.com"),
            ("https://127.0.0.1:8000/", "127.0.0.1"),
            ("https://10.1.2.3/", "10.1.2.3"),
            ("https://172.16.0.1/", "172.16.0.1"),
            ("https://192.168.1.1/", "192.168.1.1"),
            ("https://169.254.169.254/", "169.254.169.254"),
            ("https://100.64.0.1/", "100.64.0.1"),
            ("https://192.0.2.1/", "192.0.2.1"),
            ("https://0.0.0.0/", "0.0.0.0"),
            ("https://127.1/", "127.1"),
            ("https://2130706433/", "2130706433"),
            ("https://0x7f.0.0.0x1/", "0x7f.0.0.0x1"),
            ("https://[::1]/", "::1"),
            ("https://[::ffff:10.0.0.1]/", "::ffff:10.0.0.1"),
            ("https://[fe80::1]/", "fe80::1"),
            ("https://[fd00::1]/", "fd00::1"),
            ("https://localhost/", "localhost"),
            ("https://mirror/", "mirror"),
            ("https://Mirror.CORP/", "mirror.corp"),
            ("https://a.b.internal./", "a.b.internal"),
            ("https://x.test/", "x.test"),
            ("https://x.invalid/", "x.invalid"),
            ("https://x.home/", "x.home"),
            ("docker://localhost:5000/a@sha256:00", "localhost"),
        ] {
            assert_eq!(fault_of(url).map(|(host, _)| host).as_deref(), Some(host), "{url}");
        }
    }

    #[test]
    fn what_has_no_host_cannot_be_allowed() {
        for url in [
            "file:///x",
            "ftp://example.com/x",
            "../x",
            "",
            "https://u:s3cr3t@example.com/x",
            "https://example.com/x?token=s3cr3t",
        ] {
            assert_eq!(fault_of(url).map(|(host, _)| host).as_deref(), Some(""), "{url}");
        }
    }
}
