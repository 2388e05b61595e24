//! Arguments and results of tool calls between the protocols that want an object and those that want a string.

use std::borrow::Cow;

use memchr::memchr_iter;

use crate::conversation::{Arguments, CallForm, ToolCall};
use crate::json::{Json, Kind, Text, Writer};
use crate::loss::LossKind;
use crate::protocol::object::set;

/// The member that holds arguments which are not JSON.
pub(super) const RAW_ARGUMENTS: &str = "__raw_arguments";

/// The member that holds arguments which are JSON but no object.
pub(super) const VALUE: &str = "value";

/// The member that holds the free text of a custom tool.
pub(super) const CUSTOM_INPUT: &str = "input";

/// What writing arguments as an object did to them.
pub(super) type Change = Option<(LossKind, &'static str)>;

/// Writes the arguments of a call as the object that Anthropic and Gemini take, and returns what that changed.
pub(super) fn write_object(writer: &mut Writer, call: &ToolCall<'_>) -> Change {
    match (&call.arguments, call.form) {
        (Arguments::Text(text), CallForm::Custom) => {
            writer.object(|object| object.field(CUSTOM_INPUT, text));
            None
        }
        (Arguments::Text(text), CallForm::Function) => write_text(writer, text),
        (Arguments::Json(json), _) => write_json(writer, json),
    }
}

/// The same for whoever only shows or compares it, and needs not know what that changed: what was wrapped stands under a key that
/// says so.
pub(crate) fn object_of(call: &ToolCall<'_>) -> Json<'static> {
    Json::written(|writer| {
        let _ = write_object(writer, call);
    })
}

fn write_text(writer: &mut Writer, text: &Text<'_>) -> Change {
    if writer.spelled_object(text) {
        return None;
    }
    if text.is_blank() {
        writer.object(|_| {});
        return None;
    }
    match Json::parse_text(text) {
        Ok(json) => write_json(writer, &json),
        Err(_) => {
            writer.object(|object| object.field(RAW_ARGUMENTS, text));
            Some((LossKind::Approximated, "the arguments are not JSON and are kept as text"))
        }
    }
}

fn write_json(writer: &mut Writer, json: &Json<'_>) -> Change {
    match json.kind() {
        Kind::Object => {
            writer.value(json);
            None
        }
        Kind::Null => {
            writer.object(|_| {});
            Some((LossKind::Implied, "no arguments are an object without members"))
        }
        Kind::Boolean | Kind::Number | Kind::String | Kind::Array => {
            writer.object(|object| object.field(VALUE, json));
            Some((LossKind::Approximated, "the arguments are no object and are wrapped in one"))
        }
    }
}

/// Writes the arguments of a call as the string that the OpenAI protocols take.
pub(super) fn write_string(writer: &mut Writer, arguments: &Arguments<'_>) {
    match arguments {
        Arguments::Text(text) => writer.value(text),
        Arguments::Json(json) => writer.embedded(json),
    }
}

/// The free text that a custom tool was called with, where the model was offered it as a function of one string.
pub(super) fn custom_input<'a>(arguments: &Arguments<'a>) -> Option<Text<'a>> {
    let json = match arguments {
        Arguments::Text(text) => Json::parse_text(text).ok()?,
        Arguments::Json(json) => json.clone(),
    };
    let mut input = None;
    let read = json.reader().object(|key, reader| match (&*key, reader.kind()?) {
        (CUSTOM_INPUT, Kind::String) => set(&mut input, reader.string().map(Text::into_owned)),
        _ => reader.skip(),
    });
    input.filter(|_| read.is_ok())
}

/// The text of a result that is an object of one usual member, and whether its name is the most usual.
pub(crate) fn sole_text<'t>(response: &'t Json<'_>) -> Option<(bool, Text<'t>)> {
    let (key, text) = sole_member(response)?;
    let is_usual = matches!(&*key, "output" | "result" | "content" | "error");
    is_usual.then(|| (key == "output", text))
}

/// The key and the text of an object that has one member, a string.
pub(super) fn sole_member<'t>(object: &'t Json<'_>) -> Option<(Cow<'t, str>, Text<'t>)> {
    if let Some((key, body)) = spelled_member(object.as_str()) {
        return Some((Cow::Borrowed(key), Text::escaped(body)));
    }
    let (mut only, mut members) = (None, 0);
    let read = object.reader().object(|key, reader| {
        members += 1;
        match reader.kind()? {
            Kind::String => set(&mut only, reader.string().map(|text| (key, text))),
            _ => reader.skip(),
        }
    });
    only.filter(|_| members == 1 && read.is_ok())
}

/// The same for most of them, as they are spelled. Since the JSON has been checked, a string that begins behind the first
/// key is the last thing in the object if no quote in it is without a backslash.
fn spelled_member(object: &str) -> Option<(&str, &str)> {
    let inside = object.strip_prefix('{')?.strip_suffix('}')?.trim_ascii();
    let (key, value) = inside.strip_prefix('"')?.split_once('"')?;
    let value = value.trim_ascii_start().strip_prefix(':')?.trim_ascii_start();
    let body = value.strip_prefix('"')?.strip_suffix('"')?;
    let is_escaped = |quote: usize| {
        let before = body.as_bytes()[..quote].iter().rev();
        before.take_while(|byte| **byte == b'\\').count() % 2 == 1
    };
    let is_sole = memchr_iter(b'"', body.as_bytes()).all(is_escaped);
    (is_sole && !key.contains('\\')).then_some((key, body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(object: &str, expected: Option<(&str, &str)>) {
        let object = Json::parse(object).unwrap();
        let found = sole_member(&object);
        let found = found.as_ref().map(|(key, text)| (&**key, text.to_str()));
        assert_eq!(found, expected.map(|(key, text)| (key, Cow::Borrowed(text))));
    }

    #[test]
    fn the_one_text_of_an_object_is_found_however_it_is_spelled() {
        check(r#"{"output":"a"}"#, Some(("output", "a")));
        check(r#"{ "output" : "a" }"#, Some(("output", "a")));
        check(r#"{"output":"\"a\" \\"}"#, Some(("output", r#""a" \"#)));
        check(r#"{"\u006futput":"a"}"#, Some(("output", "a")));
        check(r#"{"":""}"#, Some(("", "")));
    }

    #[test]
    fn an_object_that_says_more_has_no_sole_text() {
        check(r#"{"a":"b","c":"d"}"#, None);
        check(r#"{"a":"\\","c":"d"}"#, None);
        check(r#"{"a":["b","c"],"d":"e"}"#, None);
        check(r#"{"a":{"b":"c"}}"#, None);
        check(r#"{"a":1}"#, None);
        check("{}", None);
        check(r#""{}""#, None);
    }
}
