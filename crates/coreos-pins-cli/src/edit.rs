//! Changes to `channels.json` that leave everything else of it as a person wrote it.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::value::RawValue;

/// Puts the member `key` with the JSON text `value` into the object at `path` of the JSON `text`, in place of one that is
/// there. `None` where there is no such object.
pub(crate) fn put(text: &str, path: &[&str], key: &str, value: &str) -> Option<String> {
    let object = object_at(text, path)?;
    if let Some(old) = member(text, &object, key) {
        return Some(format!("{}{value}{}", &text[..old.start], &text[old.end..]));
    }
    // Laid out as what follows is: on a line of its own where that is.
    let start = object.start + 1;
    let inner = &text[start..object.end - 1];
    let blank = &inner[..inner.len() - inner.trim_start().len()];
    let is_empty = inner.trim().is_empty();
    let (before, after) = if is_empty { (" ", " ") } else { (blank, ",") };
    let rest = if is_empty { &text[object.end - 1..] } else { &text[start..] };
    Some(format!("{}{before}\"{key}\": {value}{after}{rest}", &text[..start]))
}

/// Takes the member `key` out of the object at `path` of the JSON `text`. `None` where it is not there.
pub(crate) fn take(text: &str, path: &[&str], key: &str) -> Option<String> {
    let object = object_at(text, path)?;
    let value = member(text, &object, key)?;
    // Back over `"key" :` to its first quote.
    let before = text[..value.start].trim_end().strip_suffix(':')?.trim_end().strip_suffix('"')?;
    let key_start = before.rfind('"')?;
    let after = &text[value.end..];
    if let Some(rest) = after.trim_start().strip_prefix(',') {
        // The next member takes its place.
        return Some(format!("{}{}", &text[..key_start], rest.trim_start()));
    }
    let before = text[..key_start].trim_end();
    let before = before.strip_suffix(',').unwrap_or(before);
    Some(format!("{before}{after}"))
}

/// Returns where the object at `path` is in `text`.
fn object_at(text: &str, path: &[&str]) -> Option<Range<usize>> {
    let mut object = whole(text)?;
    for key in path {
        object = member(text, &object, key)?;
    }
    text[object.clone()].starts_with('{').then_some(object)
}

fn whole(text: &str) -> Option<Range<usize>> {
    let raw: &RawValue = serde_json::from_str(text).ok()?;
    Some(range(text, raw))
}

/// Returns where the value of `key` is in `text`, of the object that is at `object`.
fn member(text: &str, object: &Range<usize>, key: &str) -> Option<Range<usize>> {
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(&text[object.clone()]).ok()?;
    members.get(key).map(|raw| range(text, raw))
}

/// Returns where `part`, which was borrowed from `text`, is in it.
fn range(text: &str, part: &RawValue) -> Range<usize> {
    let start = part.get().as_ptr() as usize - text.as_ptr() as usize;
    start..start + part.get().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_put_where_its_neighbours_are_and_taken_without_a_trace() {
        for text in [
            "{\n  \"channels\": {\n    \"a\": {\n      \"x\": 1\n    },\n    \"b\": { \"hold\": 5 }\n  }\n}\n",
            "{ \"channels\": { \"a\": { \"x\": [ 1,2 ] } , \"b\": {} } }",
            "{\"channels\":{\"a\":{\"x\":\"}\\\"{\"}}}",
            "{\t\"channels\" : {\r\n\t\"a\" : {\r\n\t\t\"x\" : 1,\r\n\t\t\"y\" : 2 } } }",
        ] {
            let held = put(text, &["channels", "a"], "hold", "{ \"reason\": \"r\" }").unwrap();
            let value: serde_json::Value = serde_json::from_str(&held).unwrap();
            assert_eq!(value["channels"]["a"]["hold"]["reason"], "r", "{held}");
            assert_eq!(take(&held, &["channels", "a"], "hold").unwrap(), text);
            let other = put(&held, &["channels", "a"], "hold", "2").unwrap();
            assert_eq!(
                serde_json::from_str::<serde_json::Value>(&other).unwrap()["channels"]["a"]["hold"],
                2
            );
        }
        let text = "{ \"channels\": { \"a\": {} } }";
        assert_eq!(
            put(text, &["channels", "a"], "hold", "1").unwrap(),
            "{ \"channels\": { \"a\": { \"hold\": 1 } } }"
        );
        assert_eq!(put(text, &["channels", "b"], "hold", "1"), None);
        assert_eq!(take(text, &["channels", "a"], "hold"), None);
        let last = "{ \"a\": { \"x\": 1, \"hold\": 2 } }";
        assert_eq!(take(last, &["a"], "hold").unwrap(), "{ \"a\": { \"x\": 1 } }");
    }
}
