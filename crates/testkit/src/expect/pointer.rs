//! JSON pointers of expectations: `-1` is the last element of a list, `-2` the one before.

use sabir_wire::json::{Json, Kind};
use serde_json::Value;

/// What stands at a pointer.
pub(super) fn look<'v>(value: &'v Value, pointer: &str) -> Option<&'v Value> {
    pointer.split('/').skip(1).try_fold(value, |value, step| match (value, step) {
        (Value::Array(list), step) => match step.strip_prefix('-') {
            Some(back) => list.get(list.len().checked_sub(back.parse().ok()?)?),
            None => list.get(step.parse::<usize>().ok()?),
        },
        (value, step) => value.get(step.replace("~1", "/").replace("~0", "~")),
    })
}

/// What stands at a pointer, spelled as in the text but for white space.
pub(super) fn raw_at(text: &str, pointer: &str) -> Option<String> {
    let json = Json::parse(text).ok()?;
    let mut steps = pointer.split('/').skip(1);
    let found = steps.try_fold(json.into_owned(), |json, step| child(&json, step));
    found.map(|found| found.compact().to_string())
}

fn child(json: &Json<'_>, step: &str) -> Option<Json<'static>> {
    let mut found = None;
    let mut reader = json.reader();
    let read = match step.parse::<usize>() {
        Ok(wanted) if json.kind() == Kind::Array => reader.array(|index, reader| {
            let element = reader.raw()?;
            found = found.take().or_else(|| (index == wanted).then(|| element.into_owned()));
            Ok(())
        }),
        _ => reader.object(|key, reader| {
            let member = reader.raw()?;
            found = found.take().or_else(|| (key == step).then(|| member.into_owned()));
            Ok(())
        }),
    };
    read.ok().and(found)
}
