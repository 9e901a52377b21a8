//! `updates/STREAM.json`: which releases of Fedora CoreOS are dead ends, and which are barriers.

use coreos_pins_build::json::{self, Map, Value};

/// Returns a warning for each of `builds` that the updates document marks. `document` is how they name it.
pub(crate) fn warnings(document: &str, bytes: &[u8], builds: &[&str]) -> Vec<String> {
    let members: Map<Value> = match json::read(document, bytes) {
        Ok(members) => members,
        Err(error) => {
            let line = error.lines().next().unwrap_or_default();
            return vec![format!("dead ends and barriers are not known: {line}")];
        }
    };
    let mut warnings = Vec::new();
    let Some(Value::Array(releases)) = members.get("releases") else { return warnings };
    for release in releases {
        let (Some(version), Some(metadata)) = (text(release, "version"), member(release, "metadata")) else {
            continue;
        };
        if !builds.contains(&version) {
            continue;
        }
        for (key, what) in [
            ("deadend", "is a dead end: no update leads away from it"),
            ("barrier", "is a barrier: every update stops there first"),
        ] {
            if let Some(mark) = member(metadata, key) {
                let reason = text(mark, "reason").map(|reason| format!(" ({reason})")).unwrap_or_default();
                warnings.push(format!("build `{version}` {what}{reason}"));
            }
        }
    }
    warnings
}

fn member<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    match value {
        Value::Object(map) => map.get(key).filter(|value| **value != Value::Null),
        _ => None,
    }
}

fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    match member(value, key) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dead_ends_and_barriers_are_told_with_their_reason_for_the_builds_asked_for() {
        let text = br#"{"stream": "stable", "releases": [
            {"version": "1", "metadata": {"deadend": {"reason": "https://example.com/1"}}},
            {"version": "2", "metadata": {"barrier": {"reason": "https://example.com/2"}, "rollout": {}}},
            {"version": "3", "metadata": {"barrier": {}}},
            {"version": "4", "metadata": {}}]}"#;
        let warnings = |builds: &[&str]| warnings("u", text, builds);
        assert_eq!(
            warnings(&["1"]),
            ["build `1` is a dead end: no update leads away from it (https://example.com/1)"]
        );
        assert_eq!(
            warnings(&["2", "4"]),
            ["build `2` is a barrier: every update stops there first (https://example.com/2)"]
        );
        assert_eq!(warnings(&["3"]), ["build `3` is a barrier: every update stops there first"]);
        assert_eq!(warnings(&["4", "5"]), [""; 0]);
    }

    #[test]
    fn a_document_that_cannot_be_read_is_said_and_no_more() {
        assert_eq!(warnings("u", b"<html>", &["1"]).len(), 1);
    }
}
