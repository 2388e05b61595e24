//! Writing requests: a turn for each text, in the words of whoever speaks.

use super::types::{SELF, who};
use crate::conversation::{Content, Message, OutputFormat, Role};
use crate::error::Result;
use crate::json::{Text, Writer};
use crate::loss::Report;
use crate::protocol::{DecodedRequest, Field};
use crate::protocol::reporter::Reporter;
use crate::protocol::object::Object;
use crate::target::Target;

pub(in super::super) fn encode_request(
    decoded: &DecodedRequest<'_>,
    _: &Target,
    report: &mut Report,
) -> Result<String> {
    let mut reporter = Reporter::new(decoded.protocol(), SELF, report);
    reporter.request(decoded);
    let request = &decoded.request;
    if let OutputFormat::JsonSchema(output) = &request.output
        && output.schema.is_none()
    {
        reporter.dropped(Field::OutputFormat, "Miniature has no such setting");
    }
    let mut writer = Writer::with_capacity(decoded.body_bytes_expected());
    let extras = reporter.is_same().then(|| (decoded.semantics().extras(), ""));
    let mut object = Object::open(&mut writer, extras);
    object.optional("model", request.model.as_ref());
    let turns = object.key("turns");
    turns.begin_array();
    for message in &request.messages {
        write_message(turns, &mut reporter, message);
    }
    turns.end_array();
    object.optional("limit", request.max_output_tokens.as_ref());
    object.optional("stream", request.stream.as_ref());
    object.close();
    Ok(writer.into_string())
}

fn write_message(writer: &mut Writer, reporter: &mut Reporter<'_>, message: &Message<'_>) {
    let Some(who) = who(message.role) else { return };
    if message.role == Role::Developer {
        reporter.approximated(message, "sent as a system turn");
    }
    let mut texts = message.parts.iter().filter_map(|part| text(part.content())).peekable();
    if reporter.is_same() && texts.peek().is_none() {
        write_turn(writer, reporter, (message, who), None);
    }
    for text in texts {
        write_turn(writer, reporter, (message, who), Some(text));
    }
}

fn write_turn(
    writer: &mut Writer,
    reporter: &Reporter<'_>,
    (message, who): (&Message<'_>, &'static str),
    text: Option<&Text<'_>>,
) {
    let extras = message.semantics().extras().filter(|_| reporter.is_same());
    let mut turn = Object::open(writer, extras.map(|extras| (extras, "")));
    turn.word("who", who);
    turn.optional("text", text);
    turn.close();
}

/// The words of a part; what else there is has been reported.
pub(super) fn text<'p>(content: &'p Content<'_>) -> Option<&'p Text<'p>> {
    match content {
        Content::Text(text) | Content::Refusal(text) => Some(text),
        Content::Media(_)
        | Content::ToolCall(_)
        | Content::ToolResult(_)
        | Content::Reasoning(_)
        | Content::Opaque(_) => None,
    }
}
