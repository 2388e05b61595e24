//! Metadata of a conversation: a few short texts by name, kept as they are spelled.

use sabir_store::Record;
use sabir_wire::FaultKind;
use sabir_wire::json::{Json, Kind, Text};

use crate::failure::{Failure, Result};
use crate::ingress;
use crate::recall::out_of_order;

const PAIRS_MAX: usize = 16;
const KEY_CHARS_MAX: usize = 64;
const VALUE_CHARS_MAX: usize = 512;

/// What a conversation has that nobody gave any.
const NONE: &str = "{}";

/// Metadata that can be kept.
pub(in crate::admin) fn record(metadata: Option<&Json<'_>>) -> Result<Record> {
    let metadata = metadata.filter(|metadata| !metadata.is_null());
    if let Some(metadata) = metadata {
        check(metadata)?;
    }
    let text = metadata.map_or(NONE, |metadata| metadata.as_str());
    Record::new(text).map_err(|error| out_of_order(&error))
}

/// Metadata as it was given.
pub(in crate::admin) fn read(record: &Record) -> Json<'_> {
    let text = std::str::from_utf8(record.as_bytes()).unwrap_or(NONE);
    let read = Json::parse(text).ok().filter(|json| json.kind() == Kind::Object);
    read.unwrap_or_else(|| Json::parse(NONE).expect("two braces are JSON"))
}

/// Refuses metadata of more or longer texts than a conversation has.
pub(in crate::admin) fn check(metadata: &Json<'_>) -> Result<()> {
    if metadata.kind() != Kind::Object {
        return Err(mistyped("metadata", "an object", metadata.kind()));
    }
    let (mut pairs, mut count): (Vec<(String, Json<'_>)>, _) = (Vec::new(), 0);
    metadata.reader().object(|key, reader| {
        let value = reader.raw()?;
        if count < PAIRS_MAX {
            pairs.push((key.into_owned(), value));
        }
        count += 1;
        Ok(())
    })?;
    if count > PAIRS_MAX {
        let message = format!(
            "Invalid 'metadata': too many properties. Expected an object with at most {PAIRS_MAX} properties, but got an \
             object with {count} properties instead."
        );
        return Err(invalid("metadata", message, "object_above_max_properties"));
    }
    pairs.iter().try_for_each(|(key, value)| check_pair(key, value))?;
    let is_repeated = |(at, (key, _)): &(usize, &(String, Json<'_>))| {
        pairs[..*at].iter().any(|(earlier, _)| earlier == key)
    };
    match pairs.iter().enumerate().find(is_repeated) {
        Some((_, (key, _))) => Err(ingress::repeated_member(format!("metadata.{key}"))),
        None => Ok(()),
    }
}

fn check_pair(key: &str, value: &Json<'_>) -> Result<()> {
    let length = key.chars().count();
    if length > KEY_CHARS_MAX {
        let message = format!(
            "Invalid property name in 'metadata': string too long. Expected a string with maximum length {KEY_CHARS_MAX}, \
             but got a string with length {length} instead."
        );
        return Err(invalid("metadata", message, "string_above_max_length"));
    }
    let param = format!("metadata.{key}");
    if value.kind() != Kind::String {
        return Err(mistyped(&param, "a string", value.kind()));
    }
    let length = value.reader().string()?.to_str().chars().count();
    if length > VALUE_CHARS_MAX {
        let message = format!(
            "Invalid '{param}': string too long. Expected a string with maximum length {VALUE_CHARS_MAX}, but got a string \
             with length {length} instead."
        );
        return Err(invalid(&param, message, "string_above_max_length"));
    }
    Ok(())
}

/// A parameter of another type than it must be.
pub(in crate::admin) fn mistyped(param: &str, expected: &str, found: Kind) -> Box<Failure> {
    let found = match found {
        Kind::Null => "null",
        Kind::Boolean => "a boolean",
        Kind::Number => "a number",
        Kind::String => "a string",
        Kind::Array => "an array",
        Kind::Object => "an object",
    };
    let message =
        format!("Invalid type for '{param}': expected {expected}, but got {found} instead.");
    invalid(param, message, "invalid_type")
}

/// A parameter that cannot be taken, in the vendor's words.
pub(in crate::admin) fn invalid(param: &str, message: String, code: &'static str) -> Box<Failure> {
    let mut failure = Failure::client(FaultKind::BadRequest, message).with_code(code);
    failure.fault.param = Some(Text::plain(param.to_owned()));
    failure
}

/// A parameter that must be there.
pub(in crate::admin) fn missing(param: &'static str) -> Box<Failure> {
    let message = format!("Missing required parameter: '{param}'.");
    invalid(param, message, "missing_required_parameter")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(json: &str) -> String {
        let failure = record(Some(&Json::parse(json).unwrap())).unwrap_err();
        failure.fault.message.to_str().into_owned()
    }

    #[test]
    fn metadata_has_limits() {
        let pairs = (0..17).map(|number| format!("\"k{number}\":\"v\"")).collect::<Vec<_>>();
        let kept = format!("{{{}}}", pairs[..16].join(","));
        assert_eq!(
            record(Some(&Json::parse(&*kept).unwrap())).unwrap().as_bytes(),
            kept.as_bytes()
        );
        let expected = "Invalid 'metadata': too many properties. Expected an object with at most 16 properties, but got an object with 17 properties instead.";
        assert_eq!(refused(&format!("{{{}}}", pairs.join(","))), expected);
        let expected = "Invalid property name in 'metadata': string too long. Expected a string with maximum length 64, but got a string with length 65 instead.";
        assert_eq!(refused(&format!("{{\"{}\":\"\"}}", "ü".repeat(65))), expected);
        let expected = "Invalid 'metadata.a': string too long. Expected a string with maximum length 512, but got a string with length 513 instead.";
        assert_eq!(refused(&format!("{{\"a\":\"{}\"}}", "x".repeat(513))), expected);
        let expected =
            "Invalid type for 'metadata.a': expected a string, but got a number instead.";
        assert_eq!(refused(r#"{"a":1}"#), expected);
        let expected = "Invalid type for 'metadata': expected an object, but got an array instead.";
        assert_eq!(refused("[]"), expected);
    }
}
