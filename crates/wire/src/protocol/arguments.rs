//! Arguments and results of tool calls between the protocols that want an object and those that want a string.

use crate::conversation::Arguments;
use crate::conversation::CallForm;
use crate::conversation::ToolCall;
use crate::json::Json;
use crate::json::Kind;
use crate::json::Text;
use crate::json::Writer;
use crate::loss::LossKind;

/// The member that holds arguments which are not JSON.
pub(in crate::protocol) const RAW_ARGUMENTS: &str = "__raw_arguments";

/// The member that holds arguments which are JSON but no object.
pub(in crate::protocol) const VALUE: &str = "value";

/// The member that holds the free text of a custom tool.
pub(in crate::protocol) const CUSTOM_INPUT: &str = "input";

/// What writing arguments as an object did to them.
pub(crate) type Change = Option<(LossKind, &'static str)>;

/// Writes the arguments of a call as the object that Anthropic and Gemini take, and says what that changed.
pub(crate) fn write_object(writer: &mut Writer, call: &ToolCall<'_>) -> Change {
    match (&call.arguments, call.form) {
        (Arguments::Text(text), CallForm::Custom) => {
            writer.object(|object| object.field(CUSTOM_INPUT, text));
            None
        }
        (Arguments::Text(text), CallForm::Function) => write_text(writer, text),
        (Arguments::Json(json), _) => write_json(writer, json),
    }
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
pub(in crate::protocol) fn write_string(writer: &mut Writer, arguments: &Arguments<'_>) {
    match arguments {
        Arguments::Text(text) => writer.value(text),
        Arguments::Json(json) => writer.embedded(json),
    }
}

/// The free text that a custom tool was called with, where the model was offered it as a function of one string.
pub(in crate::protocol) fn custom_input<'a>(arguments: &Arguments<'a>) -> Option<Text<'a>> {
    let json = match arguments {
        Arguments::Text(text) => Json::parse_text(text).ok()?,
        Arguments::Json(json) => json.clone(),
    };
    let mut input = None;
    json.reader()
        .object(|key, reader| {
            if key == CUSTOM_INPUT && reader.kind()? == Kind::String {
                input = Some(reader.string()?.into_owned());
            } else {
                reader.skip()?;
            }
            Ok(())
        })
        .ok()?;
    input
}

/// The text of a result that is an object of one usual member, and whether its name is the most usual.
pub(crate) fn sole_text<'t>(response: &'t Json<'_>) -> Option<(bool, Text<'t>)> {
    let mut found = None;
    let mut members = 0;
    response
        .reader()
        .object(|key, reader| {
            members += 1;
            match (&*key, reader.kind()?) {
                ("output" | "result" | "content" | "error", Kind::String) => {
                    found = Some((key == "output", reader.string()?));
                }
                _ => reader.skip()?,
            }
            Ok(())
        })
        .ok()?;
    found.filter(|_| members == 1)
}
