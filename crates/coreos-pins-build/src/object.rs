//! How the objects of the model are read and written: known members, and whatever else upstream has.
//!
//! serde's derive can do this with `flatten`, but makes some twenty functions a type for it, which every crate that
//! embeds pins would compile, and reads through a buffer. What is here makes four. Members are declared in order of
//! their keys, which is the order in which they are printed.

use serde::de::Error;

use crate::json::appears_twice;

/// Declares an object: each member with its key and the way it is read, and `extra` for unknown keys.
///
/// Ways: `text` must be there and not be empty; `sha256` is a text of 64 hex digits, in lower case; `value` must be
/// there; `default` may be missing. `optional_text`, `optional_sha256` and `optional` may be missing or `null`, and the
/// first two also empty, which is all the same.
macro_rules! object {
    (
        $(#[$meta:meta])*
        pub struct $name:ident $(<$generic:ident>)? {
            $($(#[$($member_meta:tt)*])* $key:literal => pub $member:ident: $way:ident $type:ty,)*
        }
    ) => {
        $(#[$meta])*
        pub struct $name $(<$generic>)? {
            $($(#[$($member_meta)*])* pub $member: $type,)*
            /// Keys that this type does not know.
            pub extra: $crate::json::Map<$crate::json::Value>,
        }

        #[cfg(feature = "schema")]
        impl $(<$generic: schemars::JsonSchema>)? schemars::JsonSchema for $name $(<$generic>)? {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                let name = stringify!($name).to_owned();
                $(let name = format!("{name}Of{}", <$generic as schemars::JsonSchema>::schema_name());)?
                name.into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let mut object = $crate::object::schema::Object::default();
                $(object.member(
                    $key,
                    &[$($crate::object::schema::doc_text!($($member_meta)*)),*],
                    $crate::object::schema::$way(generator.subschema_for::<$type>()),
                );)*
                object.into_schema()
            }
        }

        impl<'de $(, $generic: serde::Deserialize<'de>)?> serde::Deserialize<'de> for $name $(<$generic>)? {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Members<T>(std::marker::PhantomData<T>);

                impl<'de $(, $generic: serde::Deserialize<'de>)?> serde::de::Visitor<'de>
                    for Members<$name $(<$generic>)?>
                {
                    type Value = $name $(<$generic>)?;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("an object")
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                        $(let mut $member = None;)*
                        let mut extra = Vec::new();
                        while let Some(key) = map.next_key::<String>()? {
                            match key.as_str() {
                                $($key => $crate::object::set(&mut $member, $crate::object::read::$way(&mut map)?, $key)?,)*
                                _ => {
                                    $crate::json::entry::<$crate::json::Value, _>(&key)?;
                                    extra.push((key, map.next_value()?));
                                }
                            }
                        }
                        let extra = $crate::json::Map::from_entries(extra);
                        Ok($name {
                            $($member: match $member {
                                Some(value) => value,
                                None => $crate::object::missing::$way($key)?,
                            },)*
                            extra: extra.map_err(|key| $crate::json::appears_twice(&key))?,
                        })
                    }
                }

                deserializer.deserialize_map(Members(std::marker::PhantomData))
            }
        }

        impl $(<$generic: serde::Serialize>)? serde::Serialize for $name $(<$generic>)? {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap;
                let mut map = serializer.serialize_map(None)?;
                $($crate::object::write::$way(&mut map, $key, &self.$member)?;)*
                for (key, value) in self.extra.iter() {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    };
}
pub(crate) use object;

/// Takes the value of a member that must not have one yet.
pub(crate) fn set<T, E: Error>(member: &mut Option<T>, value: T, key: &str) -> Result<(), E> {
    match member.replace(value) {
        None => Ok(()),
        Some(_) => Err(appears_twice(key)),
    }
}

/// How a member's value is read.
pub(crate) mod read {
    use serde::de::{Deserialize, MapAccess};

    use crate::field::{OptionalSha256, Sha256, Text};

    pub(crate) fn value<'de, A: MapAccess<'de>, T: Deserialize<'de>>(map: &mut A) -> Result<T, A::Error> {
        map.next_value()
    }

    pub(crate) fn default<'de, A: MapAccess<'de>, T: Deserialize<'de>>(map: &mut A) -> Result<T, A::Error> {
        map.next_value()
    }

    pub(crate) fn optional<'de, A: MapAccess<'de>, T: Deserialize<'de>>(
        map: &mut A,
    ) -> Result<Option<T>, A::Error> {
        map.next_value()
    }

    pub(crate) fn text<'de, A: MapAccess<'de>>(map: &mut A) -> Result<String, A::Error> {
        map.next_value().map(|Text(text)| text)
    }

    pub(crate) fn optional_text<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Option<String>, A::Error> {
        Ok(map.next_value::<Option<String>>()?.filter(|text| !text.is_empty()))
    }

    pub(crate) fn sha256<'de, A: MapAccess<'de>>(map: &mut A) -> Result<String, A::Error> {
        map.next_value().map(|Sha256(text)| text)
    }

    pub(crate) fn optional_sha256<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Option<String>, A::Error> {
        Ok(map.next_value::<Option<OptionalSha256>>()?.and_then(|OptionalSha256(text)| text))
    }
}

/// What stands for a member that is not there.
pub(crate) mod missing {
    use serde::de::Error;

    pub(crate) fn value<T, E: Error>(key: &'static str) -> Result<T, E> {
        Err(E::missing_field(key))
    }

    pub(crate) use self::value as text;
    pub(crate) use self::value as sha256;

    pub(crate) fn default<T: Default, E>(_: &'static str) -> Result<T, E> {
        Ok(T::default())
    }

    pub(crate) use self::default as optional;
    pub(crate) use self::default as optional_text;
    pub(crate) use self::default as optional_sha256;
}

/// How a member is written: not at all, where it is optional and absent.
pub(crate) mod write {
    use serde::Serialize;
    use serde::ser::SerializeMap;

    pub(crate) fn value<S: SerializeMap, T: Serialize>(
        map: &mut S,
        key: &str,
        value: &T,
    ) -> Result<(), S::Error> {
        map.serialize_entry(key, value)
    }

    pub(crate) use self::value as default;
    pub(crate) use self::value as text;
    pub(crate) use self::value as sha256;

    pub(crate) fn optional<S: SerializeMap, T: Serialize>(
        map: &mut S,
        key: &str,
        value: &Option<T>,
    ) -> Result<(), S::Error> {
        value.as_ref().map_or(Ok(()), |value| map.serialize_entry(key, value))
    }

    pub(crate) use self::optional as optional_text;
    pub(crate) use self::optional as optional_sha256;
}

/// How members look in a JSON Schema, by the way that they are read.
#[cfg(feature = "schema")]
pub(crate) mod schema {
    use schemars::Schema;
    use serde_json::{Map, Value, json};

    /// A member, and whether it must be there.
    pub(crate) struct Member {
        schema: Value,
        is_required: bool,
    }

    /// The text of a doc comment, or nothing of another attribute.
    macro_rules! doc_text {
        (doc = $text:literal) => {
            $text
        };
        ($($other:tt)*) => {
            ""
        };
    }
    pub(crate) use doc_text;

    #[derive(Default)]
    pub(crate) struct Object {
        properties: Map<String, Value>,
        required: Vec<&'static str>,
    }

    impl Object {
        pub(crate) fn member(&mut self, key: &'static str, docs: &[&str], member: Member) {
            let Member { mut schema, is_required } = member;
            let lines: Vec<&str> =
                docs.iter().map(|line| line.trim()).filter(|line| !line.is_empty()).collect();
            if let Value::Object(schema) = &mut schema {
                schema.insert("description".to_owned(), lines.join(" ").into());
            }
            self.properties.insert(key.to_owned(), schema);
            self.required.extend(is_required.then_some(key));
        }

        pub(crate) fn into_schema(self) -> Schema {
            let Self { properties, required } = self;
            let object = json!({ "type": "object", "properties": properties, "required": required });
            object.try_into().expect("an object is a schema")
        }
    }

    fn required(schema: Value) -> Member {
        Member { schema, is_required: true }
    }

    fn may_be_missing(schema: Value) -> Member {
        Member { schema, is_required: false }
    }

    pub(crate) fn text(_: Schema) -> Member {
        required(json!({ "type": "string", "minLength": 1 }))
    }

    pub(crate) fn sha256(_: Schema) -> Member {
        required(json!({ "type": "string", "pattern": "^[0-9A-Fa-f]{64}$" }))
    }

    pub(crate) fn value(schema: Schema) -> Member {
        required(schema.to_value())
    }

    pub(crate) fn default(schema: Schema) -> Member {
        may_be_missing(schema.to_value())
    }

    pub(crate) fn optional(schema: Schema) -> Member {
        may_be_missing(schema.to_value())
    }

    pub(crate) fn optional_text(_: Schema) -> Member {
        may_be_missing(json!({ "type": ["string", "null"] }))
    }

    pub(crate) fn optional_sha256(_: Schema) -> Member {
        may_be_missing(json!({ "type": ["string", "null"], "pattern": "^([0-9A-Fa-f]{64})?$" }))
    }
}
