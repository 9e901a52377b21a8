//! A JSON object.

use super::budget;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Index;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

/// A JSON object: sorted by key, and a key that appears twice is an error when it is read.
///
/// The entries are a sorted list. The model has a dozen types of value, and a `BTreeMap` for each costs a third of the
/// time that it takes to compile this crate.
#[derive(Clone, Debug, PartialEq)]
pub struct Map<V>(Vec<(String, V)>);

impl<V> Map<V> {
    /// Returns an empty map.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Returns the number of keys.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Tells whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn position(&self, key: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(other, _)| other.as_str().cmp(key))
    }

    /// Tells whether `key` is there.
    pub fn contains_key(&self, key: &str) -> bool {
        self.position(key).is_ok()
    }

    /// Returns the value of `key`, if it is there.
    pub fn get(&self, key: &str) -> Option<&V> {
        self.position(key).ok().map(|position| &self.0[position].1)
    }

    /// Returns the value of `key`, if it is there, to change.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut V> {
        self.position(key).ok().map(|position| &mut self.0[position].1)
    }

    /// Returns the value of `key` to change, which is made first where it is not there.
    pub fn get_or_insert_with(&mut self, key: &str, make: impl FnOnce() -> V) -> &mut V {
        let position = self.position(key).unwrap_or_else(|position| {
            self.0.insert(position, (key.to_owned(), make()));
            position
        });
        &mut self.0[position].1
    }

    /// Sets the value of `key`, and returns the one it had.
    pub fn insert(&mut self, key: String, value: V) -> Option<V> {
        match self.position(&key) {
            Ok(position) => Some(std::mem::replace(&mut self.0[position].1, value)),
            Err(position) => {
                self.0.insert(position, (key, value));
                None
            }
        }
    }

    /// Takes `key` away, and returns its value.
    pub fn remove(&mut self, key: &str) -> Option<V> {
        self.position(key).ok().map(|position| self.0.remove(position).1)
    }

    /// Keeps only the entries for which `keep` says so.
    pub fn retain(&mut self, mut keep: impl FnMut(&str, &mut V) -> bool) {
        self.0.retain_mut(|(key, value)| keep(key, value));
    }

    /// Returns the entries, sorted by key.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &V)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// Returns the entries, sorted by key, to change their values.
    pub fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = (&str, &mut V)> {
        self.0.iter_mut().map(|(key, value)| (key.as_str(), value))
    }

    /// Returns the keys, sorted.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.0.iter().map(|(key, _)| key.as_str())
    }

    /// Returns the values, sorted by key.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &V> {
        self.0.iter().map(|(_, value)| value)
    }

    /// Returns the values, sorted by key, to change.
    pub fn values_mut(&mut self) -> impl ExactSizeIterator<Item = &mut V> {
        self.0.iter_mut().map(|(_, value)| value)
    }

    /// Returns the entries, sorted by key.
    pub fn into_entries(self) -> Vec<(String, V)> {
        self.0
    }

    /// Makes a map of `entries` in any order, or returns a key that is there twice.
    pub(crate) fn from_entries(mut entries: Vec<(String, V)>) -> Result<Self, String> {
        if !entries.is_sorted_by(|(a, _), (b, _)| a < b) {
            let order = order(entries.iter().map(|(key, _)| key.as_str()).collect())?;
            let mut taken: Vec<Option<(String, V)>> = entries.into_iter().map(Some).collect();
            entries = order.into_iter().filter_map(|position| taken[position].take()).collect();
        }
        Ok(Self(entries))
    }
}

/// Returns the positions of `keys` in order of the keys, or a key that is there twice.
fn order(keys: Vec<&str>) -> Result<Vec<usize>, String> {
    let mut keys: Vec<(&str, usize)> = keys.into_iter().zip(0..).collect();
    keys.sort_unstable();
    match keys.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(pair) => Err(pair[0].0.to_owned()),
        None => Ok(keys.into_iter().map(|(_, position)| position).collect()),
    }
}

/// The error for a key that is there twice.
pub(crate) fn appears_twice<E: Error>(key: &str) -> E {
    E::custom(format_args!("the key `{key}` appears twice"))
}

impl<'a, V> IntoIterator for &'a Map<V> {
    type Item = (&'a str, &'a V);
    type IntoIter = std::iter::Map<std::slice::Iter<'a, (String, V)>, fn(&'a (String, V)) -> Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter().map(|(key, value)| (key, value))
    }
}

impl<'a, V> IntoIterator for &'a mut Map<V> {
    type Item = (&'a str, &'a mut V);
    type IntoIter =
        std::iter::Map<std::slice::IterMut<'a, (String, V)>, fn(&'a mut (String, V)) -> Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter_mut().map(|(key, value)| (key, value))
    }
}

impl<V> Default for Map<V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<V> Index<&str> for Map<V> {
    type Output = V;

    /// Returns the value of `key`.
    ///
    /// # Panics
    ///
    /// When `key` is not there.
    fn index(&self, key: &str) -> &V {
        self.get(key).unwrap_or_else(|| panic!("no key `{key}`"))
    }
}

/// Of two entries with one key, the last counts.
impl<V> Extend<(String, V)> for Map<V> {
    fn extend<I: IntoIterator<Item = (String, V)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

/// Of two entries with one key, the last counts.
impl<V> FromIterator<(String, V)> for Map<V> {
    fn from_iter<I: IntoIterator<Item = (String, V)>>(entries: I) -> Self {
        let mut map = Self::default();
        map.extend(entries);
        map
    }
}

impl<V: Serialize> Serialize for Map<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.len()))?;
        for (key, value) in self.iter() {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Map<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<V>(PhantomData<V>);

        impl<'de, V: Deserialize<'de>> Visitor<'de> for Entries<V> {
            type Value = Map<V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Map<V>, A::Error> {
                let mut entries = Vec::new();
                while let Some(key) = map.next_key::<String>()? {
                    budget::entry::<V, _>(&key)?;
                    entries.push((key, map.next_value()?));
                }
                Map::from_entries(entries).map_err(|key| appears_twice(&key))
            }
        }

        deserializer.deserialize_map(Entries(PhantomData))
    }
}

#[cfg(feature = "schema")]
impl<V: schemars::JsonSchema> schemars::JsonSchema for Map<V> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("MapOf{}", V::schema_name()).into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "object", "additionalProperties": generator.subschema_for::<V>() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_sorted_however_it_is_made() {
        let entries = ["b", "a", "c", "ab"].map(|key| (key.to_owned(), key.len()));
        let made = Map::from_iter(entries.clone());
        assert_eq!(made.keys().collect::<Vec<_>>(), ["a", "ab", "b", "c"]);
        assert_eq!(Map::from_entries(entries.to_vec()).unwrap(), made);
        assert_eq!(Map::from_entries(made.clone().into_entries()).unwrap(), made);
    }

    #[test]
    fn a_key_that_is_there_twice_is_named() {
        let twice = ["b", "a", "b"].map(|key| (key.to_owned(), ()));
        assert_eq!(Map::from_entries(twice.to_vec()).unwrap_err(), "b");
        assert_eq!(Map::from_entries(vec![("a".to_owned(), ()), ("a".to_owned(), ())]).unwrap_err(), "a");
    }

    #[test]
    fn entries_are_found_changed_and_taken_away() {
        let mut map = Map::default();
        assert_eq!(map.insert("b".into(), 1), None);
        assert_eq!(map.insert("b".into(), 2), Some(1));
        *map.get_or_insert_with("a", || 5) += 1;
        *map.get_or_insert_with("a", || 5) += 1;
        assert_eq!((map["a"], map.get("b"), map.get("c"), map.len()), (7, Some(&2), None, 2));
        map.retain(|key, value| key == "a" && *value == 7);
        assert_eq!(map.remove("a"), Some(7));
        assert!(map.is_empty() && map.remove("a").is_none());
    }
}
