//! `NO_PROXY`, as people write it: no tool agrees with another, so every usual form counts.

use std::net::IpAddr;

/// The hosts that are asked without a proxy.
pub(super) struct NoProxy(Vec<Entry>);

struct Entry {
    host: Host,
    /// Any, if there is none.
    port: Option<u16>,
}

enum Host {
    Any,
    /// The addresses whose first `bits` are those of this one; all bits for a single one.
    Network {
        address: IpAddr,
        bits: u32,
    },
    /// A host of this name, or below it.
    Domain(String),
}

impl NoProxy {
    /// Reads entries between commas or blanks. What is no entry matches nothing: the value is not meant for us alone.
    pub(super) fn parse(text: &str) -> Self {
        let entries = text.split(|c: char| c == ',' || c.is_whitespace()).filter(|entry| !entry.is_empty());
        Self(entries.filter_map(Entry::parse).collect())
    }

    /// Tells whether `host`, as in a URL, is asked without a proxy on `port`.
    pub(super) fn matches(&self, host: &str, port: u16) -> bool {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let address = address(&host);
        self.0.iter().any(|entry| {
            entry.port.is_none_or(|wanted| wanted == port)
                && match (&entry.host, address) {
                    (Host::Any, _) => true,
                    (Host::Network { address: network, bits }, Some(address)) => {
                        within(address, *network, *bits)
                    }
                    (Host::Domain(domain), None) => host
                        .strip_suffix(domain.as_str())
                        .is_some_and(|sub| sub.is_empty() || sub.ends_with('.')),
                    _ => false,
                }
        })
    }
}

impl Entry {
    fn parse(text: &str) -> Option<Self> {
        let text = text.to_ascii_lowercase();
        if let Some(host) = Host::parse(&text) {
            return Some(Self { host, port: None });
        }
        let (host, port) = text.rsplit_once(':')?;
        Some(Self { host: Host::parse(host)?, port: Some(port.parse().ok()?) })
    }
}

impl Host {
    fn parse(text: &str) -> Option<Self> {
        if text == "*" {
            return Some(Self::Any);
        }
        let (network, bits) = match text.split_once('/') {
            Some((network, bits)) => (network, Some(bits)),
            None => (text, None),
        };
        if let Some(address) = address(network) {
            let all = if address.is_ipv4() { 32 } else { 128 };
            let bits = bits.map_or(Some(all), |bits| bits.parse().ok().filter(|bits| *bits <= all))?;
            return Some(Self::Network { address, bits });
        }
        let domain = text.strip_prefix('*').unwrap_or(text).trim_matches('.');
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
        (!domain.is_empty() && domain.chars().all(is_name)).then(|| Self::Domain(domain.to_owned()))
    }
}

fn address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    bare.parse::<IpAddr>().ok().map(|address| address.to_canonical())
}

fn within(address: IpAddr, network: IpAddr, bits: u32) -> bool {
    match (address, network) {
        (IpAddr::V4(address), IpAddr::V4(network)) => {
            (address.to_bits() ^ network.to_bits()).checked_shr(32 - bits).unwrap_or(0) == 0
        }
        (IpAddr::V6(address), IpAddr::V6(network)) => {
            (address.to_bits() ^ network.to_bits()).checked_shr(128 - bits).unwrap_or(0) == 0
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::NoProxy;

    #[test]
    fn every_usual_form_matches_what_it_means_and_nothing_else() {
        for (list, host, port, expected) in [
            ("", "m", 80, false),
            ("*", "m", 80, true),
            ("localhost, 127.0.0.1,10.0.0.0/8", "127.0.0.1", 80, true),
            ("localhost 127.0.0.1", "127.0.0.1", 80, true),
            ("localhost\t,\n127.0.0.1", "localhost", 80, true),
            ("127.0.0.0/8", "127.9.9.9", 80, true),
            ("127.0.0.0/8", "128.0.0.1", 80, false),
            ("10.1.2.3/8", "10.200.0.1", 80, true),
            ("0.0.0.0/0", "8.8.8.8", 80, true),
            ("0.0.0.0/0", "m", 80, false),
            ("10.0.0.1/32", "10.0.0.1", 80, true),
            ("10.0.0.1/32", "10.0.0.2", 80, false),
            ("10.0.0.0/33", "10.0.0.0", 80, false),
            ("127.0.0.1:8000", "127.0.0.1", 8000, true),
            ("127.0.0.1:8000", "127.0.0.1", 8001, false),
            ("Example.COM", "example.com", 443, true),
            ("example.com", "a.b.EXAMPLE.com.", 443, true),
            ("example.com", "badexample.com", 443, false),
            (".example.com", "example.com", 443, true),
            (".example.com", "a.example.com", 443, true),
            ("*.example.com", "a.example.com", 443, true),
            ("example.com.", "example.com", 443, true),
            ("example.com:443", "a.example.com", 443, true),
            ("example.com:443", "example.com", 80, false),
            ("com", "example.com", 443, true),
            ("::1", "[::1]", 80, true),
            ("[::1]", "[::1]", 80, true),
            ("[::1]:8000", "[::1]", 8000, true),
            ("[::1]:8000", "[::1]", 80, false),
            ("fd00::/8", "[fd12::1]", 80, true),
            ("fd00::/8", "[fe80::1]", 80, false),
            ("::/0", "[fe80::1]", 80, true),
            ("127.0.0.1", "[::ffff:127.0.0.1]", 80, true),
            ("0.0.0.1", "m", 80, false),
            (",,; http://m", "m", 80, false),
        ] {
            assert_eq!(NoProxy::parse(list).matches(host, port), expected, "{list} {host}:{port}");
        }
    }
}
