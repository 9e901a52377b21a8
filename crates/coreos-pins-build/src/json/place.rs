//! Where in a document a fault is: the keys and indexes that lead to a line and column.
//!
//! Readers say how far they had come. What leads there is found afterwards, by walking the text up to that point, so
//! that reading a sound document costs nothing for it, and a build has no crate more.

/// Returns `architectures.x86_64.artifacts.qemu.formats."qcow2.xz"` for the value, key or end of an object that `line`
/// and `column` point behind, as `serde_json` counts them. Empty at the top level. The text may be broken from there on.
pub(super) fn at(bytes: &[u8], line: usize, column: usize) -> String {
    let line_start = match line.checked_sub(2) {
        None => 0,
        Some(breaks) => {
            bytes.iter().enumerate().filter(|(_, b)| **b == b'\n').nth(breaks).map_or(0, |(i, _)| i + 1)
        }
    };
    let end = (line_start + column).min(bytes.len());
    let mut path = Vec::new();
    let mut position = 0;
    while position < end {
        match bytes[position] {
            b'{' => path.push(Step::Object { key: None, is_key_next: true }),
            b'[' => path.push(Step::Array { index: 0 }),
            b'}' | b']' => {
                path.pop();
            }
            b',' => match path.last_mut() {
                Some(Step::Object { is_key_next, .. }) => *is_key_next = true,
                Some(Step::Array { index }) => *index += 1,
                None => {}
            },
            b'"' => {
                let close = end_of_text(bytes, position);
                if let Some(Step::Object { key, is_key_next: is_key_next @ true }) = path.last_mut() {
                    *key = Some(String::from_utf8_lossy(&bytes[position + 1..close]).into_owned());
                    *is_key_next = false;
                }
                position = close;
            }
            _ => {}
        }
        position += 1;
    }
    path.iter().fold(String::new(), |path, step| match step {
        Step::Object { key: None, .. } => path,
        Step::Object { key: Some(key), .. } => join(path, key),
        Step::Array { index } => format!("{path}[{index}]"),
    })
}

/// A container that the walk is in.
enum Step {
    Object { key: Option<String>, is_key_next: bool },
    Array { index: usize },
}

/// Returns where the closing quote of the text is that begins at `start`, or the end of the document.
fn end_of_text(bytes: &[u8], start: usize) -> usize {
    let mut position = start + 1;
    while position < bytes.len() && bytes[position] != b'"' {
        position += if bytes[position] == b'\\' { 2 } else { 1 };
    }
    position.min(bytes.len())
}

/// Appends `key`, in quotes if it has anything but letters, digits, `-` and `_`.
pub(crate) fn join(mut path: String, key: &str) -> String {
    if !path.is_empty() {
        path.push('.');
    }
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    if !key.is_empty() && key.bytes().all(is_plain) { path + key } else { format!("{path}\"{key}\"") }
}

#[cfg(test)]
mod tests {
    use super::at;

    const TEXT: &[u8] = br#"{"a": {"b.c": [1, {"d": "x"}],
 "e": "}]\",{"},
 "f": 2}"#;

    fn behind(what: &str) -> String {
        let text = std::str::from_utf8(TEXT).unwrap();
        let before = &text[..text.find(what).unwrap() + what.len()];
        let line = before.lines().count();
        at(TEXT, line, before.len() - before.rfind('\n').map_or(0, |i| i + 1))
    }

    #[test]
    fn a_value_a_key_and_the_end_of_an_object_have_the_place_of_what_they_belong_to() {
        assert_eq!(behind("[1"), "a.\"b.c\"[0]");
        assert_eq!(behind("\"d\""), "a.\"b.c\"[1].d");
        assert_eq!(behind("\"x\""), "a.\"b.c\"[1].d");
        assert_eq!(behind("\"x\"}"), "a.\"b.c\"[1]");
        assert_eq!(behind("\"x\"}]"), "a.\"b.c\"");
        assert_eq!(behind("\",{\""), "a.e");
        assert_eq!(behind("\",{\"}"), "a");
        assert_eq!(behind("2"), "f");
        assert_eq!(behind("2}"), "");
    }

    #[test]
    fn broken_text_and_points_outside_have_some_place() {
        assert_eq!(at(b"", 1, 5), "");
        assert_eq!(at(b"]}]{\"a", 1, 6), "a");
        assert_eq!(at(b"{\"a\\", 9, 9), "\"a\\\"");
        assert_eq!(at("{\"é\": 1".as_bytes(), 1, 8), "\"é\"");
    }
}
