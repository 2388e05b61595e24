//! Embeddings as the two OpenAI APIs have them: vectors that depend on the input alone. Inputs may be hundreds of thousands of
//! tokens as numbers, which are not taken apart.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::problem::Problem;
use super::{seal, tokens};

/// How many numbers a vector has where the request does not say, and how many it may ask for.
const DIMENSIONS: usize = 8;
const DIMENSIONS_MAX: u64 = 3_072;

/// How many inputs one request may have.
const INPUTS_MAX: usize = 2_048;

/// How many numbers one answer may have, unless they are packed: each takes twenty times its length in memory.
const NUMBERS_MAX: usize = 400_000;

/// A request's members as they stand.
type Members<'b> = BTreeMap<Cow<'b, str>, &'b RawValue>;

/// The answer to a request; `unreadable` words what is no JSON.
pub(super) fn answer(
    body: &[u8],
    unreadable: impl Fn(&serde_json::Error) -> Problem,
) -> Result<Value, Problem> {
    let members: Members<'_> = serde_json::from_slice(body).map_err(|error| unreadable(&error))?;
    let inputs = inputs(&members)?;
    let dimensions = match member(&members, "dimensions").as_u64() {
        None => DIMENSIONS,
        Some(asked) if (1..=DIMENSIONS_MAX).contains(&asked) => asked as usize,
        Some(_) => return Err(Problem::invalid("Invalid value for 'dimensions'.").at("dimensions")),
    };
    let is_packed = member(&members, "encoding_format") == "base64";
    if !is_packed && inputs.len() * dimensions > NUMBERS_MAX {
        let message = "This simulator does not write so many numbers; ask for base64 or for less.";
        return Err(Problem::invalid(message).at("input"));
    }
    let data = inputs.iter().enumerate().map(|(index, text)| {
        let vector = vector(text, dimensions);
        let embedding = if is_packed { json!(packed(&vector)) } else { json!(vector) };
        json!({"object": "embedding", "index": index, "embedding": embedding})
    });
    let count: u64 = inputs.iter().map(|text| tokens::of_text(text)).sum();
    Ok(json!({
        "object": "list", "data": data.collect::<Vec<_>>(), "model": member(&members, "model"),
        "usage": {"prompt_tokens": count, "total_tokens": count},
    }))
}

/// A small member; what is none is null.
fn member(members: &Members<'_>, name: &str) -> Value {
    let text = members.get(name).map(|raw| raw.get());
    text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// A text, tokens as numbers, or a list of either.
fn inputs<'b>(members: &Members<'b>) -> Result<Vec<Cow<'b, str>>, Problem> {
    let missing = || Problem::invalid("Missing required parameter: 'input'.").at("input");
    let text = members.get("input").map(|raw| raw.get()).ok_or_else(missing)?;
    if text.starts_with('"') {
        return Ok(vec![plain(text)]);
    }
    let first = text.strip_prefix('[').ok_or_else(missing)?.trim_ascii_start();
    match first.as_bytes().first() {
        Some(b'0'..=b'9') => Ok(vec![text.into()]),
        Some(b'"' | b'[') => listed(text),
        _ => Err(missing()),
    }
}

fn listed(text: &str) -> Result<Vec<Cow<'_, str>>, Problem> {
    let list: Vec<&RawValue> = serde_json::from_str(text).unwrap_or_default();
    if list.len() > INPUTS_MAX {
        let message = format!(
            "Invalid 'input': array too long. Expected an array with maximum length {INPUTS_MAX}, \
             but got an array with length {} instead.",
            list.len()
        );
        return Err(Problem::invalid(message).at("input").coded("array_above_max_length"));
    }
    Ok(list.into_iter().map(|raw| plain(raw.get())).collect())
}

/// What a string says; anything else as it is written.
fn plain(text: &str) -> Cow<'_, str> {
    match serde_json::from_str(text) {
        Ok(Value::String(content)) if text.starts_with('"') => content.into(),
        _ => text.into(),
    }
}

fn vector(text: &str, dimensions: usize) -> Vec<f32> {
    let number = |place: usize| {
        let hash = seal::hash(&[text.as_bytes(), &place.to_le_bytes()]);
        (hash % 2001) as f32 / 1000.0 - 1.0
    };
    (0..dimensions).map(number).collect()
}

fn packed(vector: &[f32]) -> String {
    let bytes: Vec<u8> = vector.iter().flat_map(|it| it.to_le_bytes()).collect();
    seal::encode_base64(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(body: &str) -> Result<Value, Problem> {
        answer(body.as_bytes(), |_| Problem::invalid("no JSON"))
    }

    #[test]
    fn a_text_tokens_and_lists_of_either_are_inputs() {
        for (input, count) in
            [(r#""a\u0062""#, 1), ("[1, 2, 3]", 1), (r#"["a","b"]"#, 2), ("[[1,2],[3]]", 2)]
        {
            let answer = asked(&format!(r#"{{"model":"e","input":{input}}}"#)).unwrap();
            assert_eq!(answer["data"].as_array().map(Vec::len), Some(count), "{input}");
            assert_eq!(answer["data"][0]["embedding"].as_array().map(Vec::len), Some(DIMENSIONS));
        }
        let spelled = asked(r#"{"input":"a\u0062"}"#).unwrap();
        assert_eq!(spelled["data"], asked(r#"{"input":"ab"}"#).unwrap()["data"]);
    }

    #[test]
    fn what_is_no_input_or_too_much_is_refused() {
        let many = format!(r#"{{"input":[{}"a"]}}"#, r#""a","#.repeat(INPUTS_MAX));
        let wide = format!(r#"{{"dimensions":3072,"input":[{}"a"]}}"#, r#""a","#.repeat(999));
        for body in ["{}", r#"{"input":7}"#, r#"{"input":[]}"#, &many, &wide] {
            assert_eq!(asked(body).unwrap_err().status, 400, "{:.60}", body);
        }
        let tokens = format!(r#"{{"input":[{}1]}}"#, "1,".repeat(300_000));
        assert!(asked(&tokens).is_ok());
    }
}
