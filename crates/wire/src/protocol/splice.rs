//! Changing the model's name in a body and nothing else, for requests that leave in the protocol they came in.

use std::ops::Range;

use smallvec::SmallVec;

use crate::error::Result;
use crate::json::{Reader, Text};

/// Replaces the value of the top-level `model` and keeps every other byte; none if the body names no model.
///
/// Of several `model` members all are replaced, so that it does not matter which of them a server reads. The whole body is
/// checked to be one JSON object, but nothing of it is taken apart.
///
/// ```
/// use sabir_wire::protocol::splice_model;
///
/// let body = r#"{ "model": "fast", "messages": [] }"#;
/// let spliced = splice_model(body, "large").unwrap();
/// assert_eq!(spliced.as_deref(), Some(r#"{ "model": "large", "messages": [] }"#));
/// assert_eq!(splice_model("{}", "large"), Ok(None));
/// ```
pub fn splice_model(body: &str, model: &str) -> Result<Option<String>> {
    let places = model_values(body)?;
    let model = Text::plain(model);
    let name = model.json_body();
    let added = places.len() * (name.len() + "\"\"".len());
    let (mut spliced, mut from) = (String::with_capacity(body.len() + added), 0);
    for Range { start, end } in &places {
        spliced.push_str(&body[from..*start]);
        spliced.push('"');
        spliced.push_str(&name);
        spliced.push('"');
        from = *end;
    }
    spliced.push_str(&body[from..]);
    Ok((!places.is_empty()).then_some(spliced))
}

/// Where the values of the top-level `model` stand.
fn model_values(body: &str) -> Result<SmallVec<[Range<usize>; 1]>> {
    let json = body.strip_prefix('\u{feff}').unwrap_or(body);
    let mark_bytes = body.len() - json.len();
    let mut found = SmallVec::new();
    let mut reader = Reader::new(json);
    reader.object(|key, reader| {
        reader.kind()?;
        let start = mark_bytes + reader.position();
        reader.skip()?;
        if key == "model" {
            found.push(start..mark_bytes + reader.position());
        }
        Ok(())
    })?;
    reader.finish()?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;
    use crate::error::ErrorKind;

    fn check(body: &str, expected: Option<&str>) {
        assert_eq!(splice_model(body, "a\"b").unwrap().as_deref(), expected, "{body}");
    }

    #[test]
    fn only_the_bytes_of_the_value_change() {
        check(r#"{"model":"m","n":1}"#, Some(r#"{"model":"a\"b","n":1}"#));
        check(
            "{ \"n\" : 1.0 ,\n\"model\" : \"m\" }\n",
            Some("{ \"n\" : 1.0 ,\n\"model\" : \"a\\\"b\" }\n"),
        );
        check(r#"{"mod\u0065l":null}"#, Some(r#"{"mod\u0065l":"a\"b"}"#));
        check("\u{feff}{\"model\":7}", Some("\u{feff}{\"model\":\"a\\\"b\"}"));
    }

    #[test]
    fn all_of_several_models_are_replaced() {
        check(
            r#"{"model":"m","n":1,"model":"n"}"#,
            Some(r#"{"model":"a\"b","n":1,"model":"a\"b"}"#),
        );
    }

    #[test]
    fn a_model_further_down_is_not_the_models_name() {
        check(r#"{"metadata":{"model":"m"},"messages":[{"model":"m"}]}"#, None);
        check("{}", None);
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for (body, kind) in [
            ("[]", ErrorKind::Type),
            ("\"model\"", ErrorKind::Type),
            ("", ErrorKind::Syntax),
            ("{\"model\":\"m\"", ErrorKind::Syntax),
            ("{\"model\":\"m\"} {}", ErrorKind::Syntax),
            ("{\"model\":\"m\",\"n\":[1,}", ErrorKind::Syntax),
        ] {
            assert_eq!(splice_model(body, "x").unwrap_err().kind(), kind, "{body}");
        }
    }

    /// The members of an object as they are spelled; some of them are models.
    fn members() -> impl Strategy<Value = Vec<String>> {
        let key = prop_oneof![Just("model".to_owned()), "[a-z\"\\\\\n]{0,6}"];
        let value = prop_oneof![
            Just(r#"{"model": "inner"}"#.to_owned()),
            Just("[1, {\"model\" :[ ]} ]".to_owned()),
            "(\\PC|[\n\"\\\\]){0,20}".prop_map(|text| Value::from(text).to_string()),
        ];
        let spell = |(key, value): (String, String)| format!("{} :\t{value}", Value::from(key));
        prop::collection::vec((key, value).prop_map(spell), 0..6)
    }

    proptest! {
        #[test]
        fn all_else_is_kept_byte_for_byte(members in members(), model in "(\\PC|[\"\\\\]){0,12}") {
            let body = format!("{{ {} }} ", members.join(" , "));
            let mut expected = members.clone();
            let mut models: Vec<&mut String> =
                expected.iter_mut().filter(|member| member.starts_with("\"model\"")).collect();
            let has_models = !models.is_empty();
            for member in &mut models {
                **member = format!("\"model\" :\t{}", Value::from(model.as_str()));
            }
            let expected = has_models.then(|| format!("{{ {} }} ", expected.join(" , ")));
            prop_assert_eq!(splice_model(&body, &model).unwrap(), expected);
        }
    }
}
