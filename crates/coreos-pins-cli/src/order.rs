//! Which of two builds is the older one.

use std::cmp::Ordering;

use coreos_pins_build::build_name::compare;
use coreos_pins_build::documents::ListedBuild;

/// Tells whether `new` is older than `old`: by place in `listed`, which has the newest first, where both are in it;
/// else by number, part by part. Where neither tells, it is taken for older: nobody should slide back unknowingly.
pub(crate) fn is_older(new: &str, old: &str, listed: &[ListedBuild]) -> bool {
    let place = |id: &str| listed.iter().position(|build| build.id == id);
    match (place(new), place(old)) {
        (Some(new), Some(old)) => new > old,
        _ => !matches!(compare(new, old), Some(Ordering::Greater | Ordering::Equal)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use coreos_pins_build::documents::Document;

    fn listed(ids: &str) -> Vec<ListedBuild> {
        match Document::read("d", format!("{{\"builds\": [{ids}]}}").as_bytes()).unwrap() {
            Document::BuildList(list) => list.builds,
            other => panic!("{}", other.kind()),
        }
    }

    #[test]
    fn the_list_tells_and_numbers_where_it_does_not() {
        let list = listed(r#""48.1", "49.1", "x", "47.1""#);
        assert!(is_older("49.1", "48.1", &list) && !is_older("48.1", "49.1", &list));
        assert!(is_older("47.1", "x", &list) && !is_older("x", "47.1", &list));
        assert!(!is_older("50.1", "49.1", &list) && is_older("46.99", "47.1", &list));
        assert!(is_older("y", "x", &list), "nothing tells");
        assert!(is_older("47.99", "47.284", &[]), "not as text");
    }
}
