//! Objects out of members that are always, sometimes or never there, and unknown fields.

use proptest::collection::vec;
use proptest::prelude::{BoxedStrategy, Just, Strategy};
use proptest::prop_oneof;
use serde_json::{Map, Value, json};

use crate::generate::text::any_json;

/// How the names of unknown fields begin.
pub const EXTRA_PREFIX: &str = "x_";

type Member = BoxedStrategy<Option<(String, Value)>>;

/// An object in the making.
pub(super) struct Object(Vec<Member>);

/// An object without members yet.
pub(super) fn object() -> Object {
    Object(Vec::new())
}

/// An object of a named type.
pub(super) fn typed(kind: &str) -> Object {
    object().is("type", kind)
}

impl Object {
    /// A member with one fixed string.
    pub(super) fn is(self, key: &str, word: &str) -> Self {
        self.with(key, Just(json!(word)))
    }

    /// A member that is always there.
    pub(super) fn with(self, key: &str, value: impl Strategy<Value = Value> + 'static) -> Self {
        let key = key.to_owned();
        self.push(value.prop_map(move |value| Some((key.clone(), value))))
    }

    /// A member that is there in one of three.
    pub(super) fn maybe(self, key: &str, value: impl Strategy<Value = Value> + 'static) -> Self {
        self.weighed([4, 0, 2], key, value)
    }

    /// A member that is there in one of ten.
    pub(super) fn rarely(self, key: &str, value: impl Strategy<Value = Value> + 'static) -> Self {
        self.weighed([9, 0, 1], key, value)
    }

    /// A member that is absent, null or there.
    pub(super) fn nullable(self, key: &str, value: impl Strategy<Value = Value> + 'static) -> Self {
        self.weighed([4, 1, 2], key, value)
    }

    /// A member that is null or there.
    pub(super) fn or_null(self, key: &str, value: impl Strategy<Value = Value> + 'static) -> Self {
        self.weighed([0, 1, 2], key, value)
    }

    /// The object, now and then with unknown fields.
    pub(super) fn open(self) -> BoxedStrategy<Value> {
        let extras = prop_oneof![
            7 => Just(Vec::new()),
            1 => vec(("[a-z]{1,3}", any_json()), 1..3),
        ];
        (self.0, extras)
            .prop_map(|(members, extras)| {
                let named = |(name, value)| (format!("{EXTRA_PREFIX}{name}"), value);
                let members = members.into_iter().flatten();
                Value::Object(members.chain(extras.into_iter().map(named)).collect())
            })
            .boxed()
    }

    /// The object as it is.
    pub(super) fn closed(self) -> BoxedStrategy<Value> {
        self.0.prop_map(|members| Value::Object(members.into_iter().flatten().collect())).boxed()
    }

    /// Weights: absent, null, there.
    fn weighed(
        self,
        [absent, null, there]: [u32; 3],
        key: &str,
        value: impl Strategy<Value = Value> + 'static,
    ) -> Self {
        let (key, null_key) = (key.to_owned(), key.to_owned());
        let mut choices: Vec<(u32, Member)> = Vec::new();
        let mut add = |weight: u32, member: Member| {
            if weight > 0 {
                choices.push((weight, member));
            }
        };
        add(absent, Just(None).boxed());
        add(null, Just(Some((null_key, Value::Null))).boxed());
        add(there, value.prop_map(move |value| Some((key.clone(), value))).boxed());
        self.push(proptest::strategy::Union::new_weighted(choices))
    }

    fn push(mut self, member: impl Strategy<Value = Option<(String, Value)>> + 'static) -> Self {
        self.0.push(member.boxed());
        self
    }
}

/// A list of some elements.
pub(super) fn list(
    element: impl Strategy<Value = Value> + 'static,
    lengths: std::ops::Range<usize>,
) -> BoxedStrategy<Value> {
    vec(element, lengths).prop_map(Value::Array).boxed()
}

/// A string, or a list of parts.
pub(super) fn string_or(
    string: impl Strategy<Value = Value> + 'static,
    parts: BoxedStrategy<Value>,
) -> BoxedStrategy<Value> {
    prop_oneof![string, parts].boxed()
}

/// Takes out every unknown field.
pub fn without_extras(value: &mut Value) {
    match value {
        Value::Object(object) => {
            object.retain(|key, _| !key.starts_with(EXTRA_PREFIX));
            object.values_mut().for_each(without_extras);
        }
        Value::Array(list) => list.iter_mut().for_each(without_extras),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The members of an object that are not in `known`.
pub(super) fn rest(object: &Value, known: &[&str]) -> Map<String, Value> {
    let members = object.as_object().into_iter().flatten();
    members
        .filter(|(key, _)| !known.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}
