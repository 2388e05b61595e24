//! JSON in one spelling: bytes that are equal for values that mean the same, and different for others.

use std::borrow::Cow;
use std::ops::Range;

use crate::error::Result;
use crate::json::{Json, Kind, Reader};

/// Appends a value: without whitespace and escapes, the members of objects in the order of their keys, of equal keys the
/// last.
pub(super) fn put(out: &mut Vec<u8>, json: &Json<'_>) {
    put_without(out, json, &LeftOut::default());
}

/// Members that are left out.
#[derive(Clone, Copy, Default)]
pub(super) struct LeftOut<'o> {
    /// Of the value itself.
    pub(super) here: &'o [&'o str],
    /// Of objects in lists, at any depth.
    pub(super) in_lists: &'o [&'o str],
}

/// The same without some members.
pub(super) fn put_without(out: &mut Vec<u8>, json: &Json<'_>, left_out: &LeftOut<'_>) {
    // What has been read once can be read again.
    let _ = value(out, &mut json.reader(), left_out);
}

/// What an object without members takes.
pub(super) const EMPTY_LEN: usize = 2;

fn value(out: &mut Vec<u8>, reader: &mut Reader<'_>, left_out: &LeftOut<'_>) -> Result<()> {
    match reader.kind()? {
        Kind::String => string(out, &reader.string()?.to_str()),
        Kind::Object => return object(out, reader, left_out),
        Kind::Array => {
            out.push(b'[');
            let inside = LeftOut { here: left_out.in_lists, ..*left_out };
            reader.array(|_, reader| value(out, reader, &inside))?;
            out.push(b']');
        }
        Kind::Null | Kind::Boolean | Kind::Number => {
            out.extend_from_slice(reader.raw()?.as_str().as_bytes());
            out.push(b',');
        }
    }
    Ok(())
}

/// A string by its length, so that it needs no escapes.
fn string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    out.extend((text.len() as u64).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
}

/// A member: its key, and where key and value stand.
type Placed<'k> = (Cow<'k, str>, Range<usize>);

fn object(out: &mut Vec<u8>, reader: &mut Reader<'_>, left_out: &LeftOut<'_>) -> Result<()> {
    let inside = LeftOut { here: &[], ..*left_out };
    out.push(b'{');
    let start = out.len();
    let mut members: Vec<Placed<'_>> = Vec::new();
    reader.object(|key, reader| {
        if left_out.here.contains(&&*key) {
            return reader.skip();
        }
        let from = out.len();
        string(out, &key);
        value(out, reader, &inside)?;
        members.push((key, from..out.len()));
        Ok(())
    })?;
    if !members.is_sorted_by(|one, two| one.0 < two.0) {
        sort(out, start, members);
    }
    out.push(b'}');
    Ok(())
}

/// Puts members that stand from `start` on into the order of their keys.
fn sort(out: &mut Vec<u8>, start: usize, mut members: Vec<Placed<'_>>) {
    members.sort_by(|one, two| one.0.cmp(&two.0));
    let given = out.split_off(start);
    for (index, (key, range)) in members.iter().enumerate() {
        let is_last = members.get(index + 1).is_none_or(|(next, _)| next != key);
        if is_last {
            out.extend_from_slice(&given[range.start - start..range.end - start]);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::json::tests::document;

    fn normal(json: &str) -> Vec<u8> {
        let mut out = Vec::new();
        put(&mut out, &Json::parse(json).unwrap());
        out
    }

    proptest! {
        #[test]
        fn values_that_mean_the_same_are_equal_and_no_others(one in document(), two in document()) {
            let pretty = serde_json::to_string_pretty(&one).unwrap();
            prop_assert_eq!(normal(&one.to_string()), normal(&pretty));
            prop_assert_eq!(normal(&one.to_string()) == normal(&two.to_string()), one == two);
        }
    }

    #[test]
    fn order_escapes_and_repeated_keys_do_not_count() {
        assert_eq!(normal(r#"{"b":[1,"\u0061"],"a":{}}"#), normal(r#"{ "a":{ }, "b":[ 1,"a"] }"#));
        assert_eq!(normal(r#"{"b":1,"a":1,"a":2}"#), normal(r#"{"a":2,"b":1}"#));
        assert_ne!(normal(r#"{"a":"1"}"#), normal(r#"{"a":1}"#));
        assert_ne!(normal("[[1],2]"), normal("[[1,2]]"));
    }
}
