//! A small language for the shape of a request body: closed objects, tagged unions, ranges. Each API writes its own
//! tables in it and words the violations in its own way.

use serde_json::Value;

/// What a value may be.
#[derive(Debug)]
pub(super) enum Kind {
    Any,
    Text,
    Boolean,
    Integer(i64, i64),
    Number(f64, f64),
    /// One of these words.
    Word(&'static [&'static str]),
    /// An object with these members and no others.
    Object(&'static [Field]),
    /// An object with whatever members.
    Open,
    /// An object with whatever names and values of one kind.
    Map(&'static Kind),
    List(&'static Kind),
    /// The first of these that has the value's JSON type.
    Either(&'static [Kind]),
    /// A closed object whose members depend on the word in the member of this name.
    Tagged(&'static str, &'static [Variant]),
}

/// One case of a tagged union: the word, and the members beside the tag.
#[derive(Debug)]
pub(super) struct Variant(pub(super) &'static str, pub(super) &'static [Field]);

/// A member of a closed object.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    needed: bool,
}

/// A member that must be there and not be null.
pub(super) const fn need(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, needed: true }
}

/// A member that may be missing or null.
pub(super) const fn may(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, needed: false }
}

/// Any further members: for what is passed through and not looked into.
pub(super) const fn rest() -> Field {
    Field { name: REST, kind: Kind::Any, needed: false }
}

const REST: &str = "*";

/// A step of the way to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

/// Where a value breaks its shape, and how.
#[derive(Debug, PartialEq)]
pub(super) struct Violation {
    pub(super) path: Vec<Step>,
    pub(super) what: What,
}

#[derive(Debug, PartialEq)]
pub(super) enum What {
    Unknown,
    Missing,
    Type { expected: &'static str, found: &'static str },
    Word { expected: Vec<&'static str>, found: String },
    Below { minimum: String, found: String },
    Above { maximum: String, found: String },
}

/// Compares a value with a shape and returns the first difference.
pub(super) fn check(value: &Value, kind: &'static Kind) -> Result<(), Violation> {
    Checker { path: Vec::new() }.kind(value, kind)
}

struct Checker {
    path: Vec<Step>,
}

impl Checker {
    fn fail(&mut self, what: What) -> Result<(), Violation> {
        Err(Violation { path: std::mem::take(&mut self.path), what })
    }

    fn kind(&mut self, value: &Value, kind: &'static Kind) -> Result<(), Violation> {
        if !kind.fits(value) {
            return self.fail(What::Type { expected: kind.name(), found: type_name(value) });
        }
        match kind {
            Kind::Any | Kind::Text | Kind::Boolean | Kind::Open => Ok(()),
            Kind::Integer(low, high) => self.range(value, *low as f64, *high as f64),
            Kind::Number(low, high) => self.range(value, *low, *high),
            Kind::Word(words) => self.word(value, words),
            Kind::Object(fields) => self.object(value, fields, None),
            Kind::Map(kind) => self.map(value, kind),
            Kind::List(kind) => self.list(value, kind),
            Kind::Either(kinds) => match kinds.iter().find(|kind| kind.fits(value)) {
                Some(kind) => self.kind(value, kind),
                None => Ok(()),
            },
            Kind::Tagged(tag, variants) => self.tagged(value, tag, variants),
        }
    }

    fn range(&mut self, value: &Value, low: f64, high: f64) -> Result<(), Violation> {
        let number = value.as_f64().unwrap_or(f64::NAN);
        if number < low {
            return self.fail(What::Below { minimum: low.to_string(), found: value.to_string() });
        }
        if number > high {
            return self.fail(What::Above { maximum: high.to_string(), found: value.to_string() });
        }
        Ok(())
    }

    fn word(&mut self, value: &Value, words: &'static [&'static str]) -> Result<(), Violation> {
        let found = value.as_str().unwrap_or_default();
        if words.contains(&found) {
            return Ok(());
        }
        self.fail(What::Word { expected: words.to_vec(), found: found.to_owned() })
    }

    fn object(
        &mut self,
        value: &Value,
        fields: &'static [Field],
        tag: Option<&'static str>,
    ) -> Result<(), Violation> {
        for (name, member) in value.as_object().into_iter().flatten() {
            if tag == Some(name) {
                continue;
            }
            self.path.push(Step::Key(name.clone()));
            match fields.iter().find(|field| field.name == name || field.name == REST) {
                None => self.fail(What::Unknown)?,
                Some(field) if member.is_null() && !field.needed => {}
                Some(field) => self.kind(member, &field.kind)?,
            }
            self.path.pop();
        }
        for field in fields.iter().filter(|field| field.needed) {
            if value.get(field.name).is_none() {
                self.path.push(Step::Key(field.name.to_owned()));
                return self.fail(What::Missing);
            }
        }
        Ok(())
    }

    fn map(&mut self, value: &Value, kind: &'static Kind) -> Result<(), Violation> {
        for (name, member) in value.as_object().into_iter().flatten() {
            self.path.push(Step::Key(name.clone()));
            self.kind(member, kind)?;
            self.path.pop();
        }
        Ok(())
    }

    fn list(&mut self, value: &Value, kind: &'static Kind) -> Result<(), Violation> {
        for (index, element) in value.as_array().into_iter().flatten().enumerate() {
            self.path.push(Step::Index(index));
            self.kind(element, kind)?;
            self.path.pop();
        }
        Ok(())
    }

    fn tagged(
        &mut self,
        value: &Value,
        tag: &'static str,
        variants: &'static [Variant],
    ) -> Result<(), Violation> {
        let Some(word) = value.get(tag) else {
            self.path.push(Step::Key(tag.to_owned()));
            return self.fail(What::Missing);
        };
        let found = word.as_str().unwrap_or_default();
        match variants.iter().find(|variant| variant.0 == found) {
            Some(Variant(_, fields)) => self.object(value, fields, Some(tag)),
            None => {
                self.path.push(Step::Key(tag.to_owned()));
                let expected = variants.iter().map(|variant| variant.0).collect();
                self.fail(What::Word { expected, found: found.to_owned() })
            }
        }
    }
}

impl Kind {
    /// Whether a value has the JSON type that this kind wants.
    fn fits(&self, value: &Value) -> bool {
        match self {
            Self::Any => true,
            Self::Text | Self::Word(_) => value.is_string(),
            Self::Boolean => value.is_boolean(),
            Self::Integer(..) => is_integer(value),
            Self::Number(..) => value.is_number(),
            Self::Object(_) | Self::Open | Self::Map(_) | Self::Tagged(..) => value.is_object(),
            Self::List(_) => value.is_array(),
            Self::Either(kinds) => kinds.iter().any(|kind| kind.fits(value)),
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Any => "value",
            Self::Text | Self::Word(_) => "string",
            Self::Boolean => "boolean",
            Self::Integer(..) => "integer",
            Self::Number(..) => "number",
            Self::Object(_) | Self::Open | Self::Map(_) | Self::Tagged(..) => "object",
            Self::List(_) => "array",
            Self::Either(kinds) => kinds.first().map_or("value", Self::name),
        }
    }
}

fn is_integer(value: &Value) -> bool {
    value.is_i64() || value.is_u64()
}

/// The JSON type of a value, as error texts name it.
pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) if is_integer(value) => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// A way written as `messages[0].content`.
pub(super) fn bracketed(path: &[Step]) -> String {
    let mut out = String::new();
    for step in path {
        match step {
            Step::Key(key) if out.is_empty() => out.push_str(key),
            Step::Key(key) => out.push_str(&format!(".{key}")),
            Step::Index(index) => out.push_str(&format!("[{index}]")),
        }
    }
    out
}

/// A way written as `messages.0.content`.
pub(super) fn dotted(path: &[Step]) -> String {
    let steps = path.iter().map(|step| match step {
        Step::Key(key) => key.clone(),
        Step::Index(index) => index.to_string(),
    });
    steps.collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    static SHAPE: Kind = Kind::Object(&[
        need("name", Kind::Text),
        may("count", Kind::Integer(1, 5)),
        may(
            "list",
            Kind::List(&Kind::Tagged("type", &[Variant("a", &[need("x", Kind::Boolean)])])),
        ),
        may("either", Kind::Either(&[Kind::Text, Kind::List(&Kind::Text)])),
        may("open", Kind::Object(&[need("known", Kind::Text), rest()])),
    ]);

    fn found(value: Value) -> Option<(String, What)> {
        check(&value, &SHAPE).err().map(|it| (bracketed(&it.path), it.what))
    }

    fn wrong_type(expected: &'static str, found: &'static str) -> What {
        What::Type { expected, found }
    }

    #[test]
    fn the_first_difference_is_told_with_its_place() {
        for (value, place, what) in [
            (json!({}), "name", What::Missing),
            (json!({"name": null}), "name", wrong_type("string", "null")),
            (json!({"name": "n", "more": 1}), "more", What::Unknown),
            (json!({"name": "n", "count": 1.5}), "count", wrong_type("integer", "number")),
            (
                json!({"name": "n", "count": 9}),
                "count",
                What::Above { maximum: "5".to_owned(), found: "9".to_owned() },
            ),
            (
                json!({"name": "n", "list": [{"type": "a", "x": true}, {"x": true}]}),
                "list[1].type",
                What::Missing,
            ),
            (json!({"name": "n", "list": [{"type": "a", "y": 1}]}), "list[0].y", What::Unknown),
            (
                json!({"name": "n", "either": ["x", 3]}),
                "either[1]",
                wrong_type("string", "integer"),
            ),
            (json!({"name": "n", "open": {"other": 1}}), "open.known", What::Missing),
        ] {
            assert_eq!(found(value), Some((place.to_owned(), what)));
        }
    }

    #[test]
    fn what_fits_passes() {
        let value = json!({
            "name": "n", "count": null, "list": [{"type": "a", "x": false}], "either": "x",
            "open": {"known": "k", "other": [1]},
        });
        assert_eq!(found(value), None);
    }
}
