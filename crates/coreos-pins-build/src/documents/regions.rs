//! What a cloud holds per region.

use std::collections::BTreeMap;

use super::node::Node;
use crate::Error;
use crate::json::Map;
use crate::stream::{RegionImage, RegionObject, Regions};

/// Reads images by region: a list, each element with its region's `name` and its `image_key`, as in a record; or an
/// object of objects with `image_key`, as in the installer's old files and in releases. `None` where there is none.
///
/// # Errors
///
/// What has another shape; two elements of one region that differ.
pub(super) fn images(
    node: &Node<'_>,
    image_key: &str,
    release: &str,
) -> Result<Option<Regions<RegionImage>>, Error> {
    let image = |node: &Node<'_>| {
        let image = node.get(image_key)?.text()?;
        Ok(RegionImage { release: release.to_owned(), image, extra: Map::default() })
    };
    by_region(node, "name", image, |image| &image.image)
}

/// Reads objects by region: as [`images`], but with `object`, `bucket` and `url`. Before 2021, a list of one was its
/// only element.
///
/// # Errors
///
/// As [`images`].
pub(super) fn objects(node: &Node<'_>, release: &str) -> Result<Option<Regions<RegionObject>>, Error> {
    let object = |node: &Node<'_>| {
        Ok(RegionObject {
            release: release.to_owned(),
            object: node.get("object")?.text()?,
            bucket: node.get("bucket")?.text()?,
            url: node.get("url")?.text()?,
            extra: Map::default(),
        })
    };
    by_region(node, "region", object, |object| &object.url)
}

/// Reads `node` by region. `id` says what an entry is called.
fn by_region<T: PartialEq>(
    node: &Node<'_>,
    region_key: &str,
    read: impl Fn(&Node<'_>) -> Result<T, Error>,
    id: impl Fn(&T) -> &str,
) -> Result<Option<Regions<T>>, Error> {
    let mut entries: Vec<(String, Node<'_>)> = Vec::new();
    if node.is_object() && node.get(region_key)?.is_absent() {
        entries.extend(node.entries()?.map(|(region, entry)| (region.to_owned(), entry)));
    } else if node.is_object() {
        entries.push((node.get(region_key)?.text()?, node.clone()));
    } else {
        for element in node.elements()? {
            entries.push((element.get(region_key)?.text()?, element));
        }
    }
    let mut regions: BTreeMap<String, (T, Node<'_>)> = BTreeMap::new();
    for (region, entry) in entries {
        let found = read(&entry)?;
        match regions.get(&region) {
            None => {
                regions.insert(region, (found, entry));
            }
            // Upstream's readers disagree which of two counts: some take the first, some the last.
            Some((first, at)) if *first != found => {
                return Err(entry.error(&format!(
                    "region `{region}` has `{}` here, and `{}` in {}",
                    id(&found),
                    id(first),
                    at.path()
                )));
            }
            Some(_) => {}
        }
    }
    let regions: Map<T> = regions.into_iter().map(|(region, (found, _))| (region, found)).collect();
    Ok((!regions.is_empty()).then(|| Regions { regions, extra: Map::default() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amis(text: &str) -> Result<Option<Regions<RegionImage>>, String> {
        let value = crate::json::read("meta.json", format!(r#"{{"amis": {text}}}"#).as_bytes()).unwrap();
        let top = Node::top("meta.json", &value);
        images(&top.get("amis").unwrap(), "hvm", "1").map_err(|error| error.to_string())
    }

    #[test]
    fn a_list_and_an_object_of_the_same_images_are_the_same() {
        let list = r#"[{"name": "b", "hvm": "ami-2", "snapshot": "s"}, {"name": "a", "hvm": "ami-1"}]"#;
        let object = r#"{"b": {"hvm": "ami-2"}, "a": {"hvm": "ami-1", "pv": "x"}}"#;
        let found = amis(list).unwrap();
        assert_eq!(found, amis(object).unwrap());
        let regions = found.unwrap().regions;
        assert_eq!(
            (regions["a"].image.as_str(), regions["b"].image.as_str(), regions.len()),
            ("ami-1", "ami-2", 2)
        );
        for none in ["null", "[]", "{}"] {
            assert_eq!(amis(none), Ok(None));
        }
    }

    #[test]
    fn different_images_of_one_region_are_named_with_their_places() {
        let (one, two) =
            (r#"{"name": "us-east-1", "hvm": "ami-1"}"#, r#"{"name": "us-east-1", "hvm": "ami-2"}"#);
        let other = r#"{"name": "x", "hvm": "ami-1"}"#;
        assert_eq!(
            amis(&format!("[{other}, {one}, {other}, {two}]")).unwrap_err(),
            "meta.json: amis[3]: region `us-east-1` has `ami-2` here, and `ami-1` in amis[1]"
        );
        // Equal ones count once, and one image may be in two regions: upstream's own fixture has that.
        assert_eq!(amis(&format!("[{other}, {one}, {one}]")).unwrap().unwrap().regions.len(), 2);
    }

    #[test]
    fn entries_without_region_or_image_are_named() {
        let absent = "expected text that is not empty, found";
        for (text, expected) in [
            (
                r#"[{"name": "x", "hvm": "a"}, {"name": "y", "hvm": ""}]"#,
                format!("amis[1].hvm: {absent} an empty text"),
            ),
            (r#"[{"name": "", "hvm": "a"}]"#, format!("amis[0].name: {absent} an empty text")),
            (r#"[{"name": "x"}]"#, format!("amis[0].hvm: {absent} none")),
            (r#"["ami-1"]"#, "amis[0]: expected an object, found `ami-1`".to_owned()),
            (r#"{"us-east-1": {"hvm": null}}"#, format!("amis.us-east-1.hvm: {absent} none")),
            (r#"{"us-east-1": "ami-1"}"#, "amis.us-east-1: expected an object, found `ami-1`".to_owned()),
            ("7", "amis: expected a list, found `7`".to_owned()),
        ] {
            assert_eq!(amis(text).unwrap_err(), format!("meta.json: {expected}"));
        }
    }

    #[test]
    fn an_object_with_a_region_is_a_list_of_one() {
        let one = r#"{"region": "r", "object": "o", "bucket": "b", "url": "u", "image": "i"}"#;
        let read = |text: &str| {
            let value = crate::json::read("d", text.as_bytes()).unwrap();
            objects(&Node::top("d", &value), "1").map_err(|error| error.to_string())
        };
        let found = read(one).unwrap();
        assert_eq!(found, read(&format!("[{one}]")).unwrap());
        let object = &found.unwrap().regions["r"];
        assert_eq!((object.object.as_str(), object.bucket.as_str(), object.url.as_str()), ("o", "b", "u"));
        assert!(
            read(r#"[{"region": "r", "object": "o", "bucket": "b", "url": ""}]"#)
                .unwrap_err()
                .contains("d: [0].url")
        );
    }
}
