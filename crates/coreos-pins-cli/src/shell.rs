//! Text for a shell.

/// Returns `word` as a shell takes it.
pub(crate) fn quote(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn whatever_a_shell_would_take_apart_is_quoted() {
        assert_eq!(quote("https://example.com/x?"), "'https://example.com/x?'");
        assert_eq!(quote("a@sha256:b"), "a@sha256:b");
        assert_eq!(quote("it's $(x)"), r"'it'\''s $(x)'");
        assert_eq!(quote(""), "''");
    }
}
