//! What of a URL may be shown.

/// Returns `url` without user name, password, query and fragment: they may be secrets, and messages end up in logs.
pub(crate) fn mask(url: &str) -> String {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    let (shown, hidden) = url.split_at(end);
    let suffix = match hidden.chars().next() {
        Some(mark) => format!("{mark}***"),
        None => String::new(),
    };
    let (scheme, rest) =
        shown.split_once("//").map_or(("", shown), |(_, rest)| shown.split_at(shown.len() - rest.len()));
    let authority_end = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(authority_end);
    match authority.rsplit_once('@') {
        Some((_, host)) => format!("{scheme}***@{host}{path}{suffix}"),
        None => format!("{scheme}{authority}{path}{suffix}"),
    }
}

#[cfg(test)]
mod tests {
    use super::mask;

    #[test]
    fn secrets_are_not_shown() {
        assert_eq!(mask("https://bob:s3cr3t@mirror:8443/x?token=t0k#f"), "https://***@mirror:8443/x?***");
        assert_eq!(mask("https://a@b@mirror"), "https://***@mirror");
        assert_eq!(mask("bob:s3cr3t@mirror/x"), "***@mirror/x");
        assert_eq!(mask("https://bob:s3?r3t@mirror/x"), "https://bob:s3?***");
    }

    #[test]
    fn what_is_no_secret_is_left_alone() {
        for url in ["https://mirror:8443/a@b/c", "/", "", "file:///srv/mirror", "maipo"] {
            assert_eq!(mask(url), url);
        }
    }
}
