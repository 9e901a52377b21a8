//! Comparing text in `const fn`, where neither `==` on `str` nor iterators work yet.

use core::cmp::Ordering;

/// Orders as `str` does: byte by byte.
#[inline]
pub(crate) const fn compare(a: &str, b: &str) -> Ordering {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut index = 0;
    while index < a.len() && index < b.len() {
        if a[index] != b[index] {
            return if a[index] < b[index] { Ordering::Less } else { Ordering::Greater };
        }
        index += 1;
    }
    if a.len() == b.len() {
        Ordering::Equal
    } else if a.len() < b.len() {
        Ordering::Less
    } else {
        Ordering::Greater
    }
}

#[inline]
pub(crate) const fn equal(a: &str, b: &str) -> bool {
    a.len() == b.len() && matches!(compare(a, b), Ordering::Equal)
}

/// Finds the entry of a table sorted by `$field` whose `$field` equals `$wanted`: `Option<&'static _>`.
///
/// A macro, for a `const fn` cannot take a function that picks the field.
macro_rules! find_sorted {
    ($table:expr, $field:ident, $wanted:expr) => {{
        let table = $table;
        let wanted: &str = $wanted;
        let mut low = 0;
        let mut high = table.len();
        loop {
            if low == high {
                break None;
            }
            let middle = low + (high - low) / 2;
            match $crate::text::compare(table[middle].$field, wanted) {
                core::cmp::Ordering::Equal => break Some(&table[middle]),
                core::cmp::Ordering::Less => low = middle + 1,
                core::cmp::Ordering::Greater => high = middle,
            }
        }
    }};
}
pub(crate) use find_sorted;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_as_str_does() {
        let texts = ["", "a", "ab", "b", "us-east-1", "us-east-10", "us-east-2", "é", "\u{10ffff}"];
        for a in texts {
            for b in texts {
                assert_eq!(compare(a, b), a.cmp(b), "{a} {b}");
                assert_eq!(equal(a, b), a == b, "{a} {b}");
            }
        }
    }

    #[test]
    fn finds_every_entry_of_a_sorted_table_and_nothing_else() {
        struct Entry {
            key: &'static str,
        }
        const KEYS: [&str; 5] = ["a", "b", "d", "e", "g"];
        let table = KEYS.map(|key| Entry { key });
        for length in 0..=table.len() {
            for key in ["", "a", "b", "c", "d", "e", "f", "g", "h"] {
                let found = find_sorted!(&table[..length], key, key).map(|entry: &Entry| entry.key);
                assert_eq!(found, KEYS[..length].contains(&key).then_some(key), "{length} {key}");
            }
        }
    }
}
