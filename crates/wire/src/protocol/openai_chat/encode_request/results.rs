//! Writing the results of calls: messages of text, with media in a user's message behind them.

use crate::conversation::{Content, MediaKind, Message, Part, ResultOutput, Source, ToolResult};
use crate::json::{Json, Text, Writer};
use crate::loss::LossKind;
use crate::protocol::calls::{Position, REDIRECTED};
use crate::protocol::object::Object;
use crate::protocol::openai_chat::encode_request::turns::{Few, Placed, Turns};
use crate::protocol::openai_chat::encode_request::{content, message};
use crate::protocol::words::{in_words, remnant};
use crate::protocol::{Field, arguments};

const IMAGE_BELOW: &str = "[image attached below]";
const FILE_BELOW: &str = "[file attached below]";

const MEDIA_FOLLOW: &str =
    "media of results follow in a user message, because Chat takes them only from users";

impl Turns<'_, '_> {
    pub(super) fn write_results<'m>(
        &mut self,
        writer: &mut Writer,
        (index, turn): (usize, &'m Message<'m>),
        waiting: &mut Vec<&'m Part<'m>>,
    ) {
        for (at, part) in turn.parts.iter().enumerate() {
            if let Content::ToolResult(result) = part.content() {
                self.write_result(writer, ((index, at), part), result, waiting);
            }
        }
    }

    fn write_result<'m>(
        &mut self,
        writer: &mut Writer,
        (at, part): Placed<'m>,
        result: &'m ToolResult<'m>,
        waiting: &mut Vec<&'m Part<'m>>,
    ) {
        self.report_result(at, part, result);
        let mut object = Object::open(writer, None);
        object.word("role", "tool");
        object.field("tool_call_id", &self.calls.result_id(at, result));
        match &result.output {
            ResultOutput::Parts(parts) if parts.iter().all(is_words) => {
                self.write_texts(&mut object, parts);
            }
            ResultOutput::Object { response, parts } if parts.is_empty() => {
                object.field("content", &self.object_text(part, response));
            }
            _ => self.write_output(&mut object, part, result, waiting),
        }
        object.close();
    }

    /// Writes what a tool answered beyond words.
    fn write_output<'m>(
        &mut self,
        object: &mut Object<'_, '_>,
        part: &Part<'_>,
        result: &'m ToolResult<'m>,
        waiting: &mut Vec<&'m Part<'m>>,
    ) {
        let mut texts: Vec<Part<'_>> = Vec::new();
        if let ResultOutput::Object { response, parts: _ } = &result.output {
            texts.push(Part::new(Content::Text(self.object_text(part, response))));
        }
        let before = waiting.len();
        for inner in result.output.parts() {
            self.add_output(inner, &mut texts, waiting);
        }
        if waiting.len() > before {
            self.reporter.approximated(part, MEDIA_FOLLOW);
        }
        self.write_texts(object, &texts);
    }

    /// The text that the object of a result amounts to, with what that changes reported.
    fn object_text<'j>(&mut self, part: &Part<'_>, response: &'j Json<'_>) -> Text<'j> {
        let known = arguments::sole_member(response)
            .filter(|(key, _)| matches!(&**key, "output" | "result" | "content"));
        if known.as_ref().is_none_or(|(key, _)| key != "output") {
            let (at, reason) = (part.semantics().place(), "the result object is sent as text");
            self.reporter.renamed((at, Field::ResultOutput), reason);
        }
        known.map_or_else(|| response.to_text(), |(_, text)| text)
    }

    fn write_texts(&mut self, object: &mut Object<'_, '_>, texts: &[Part<'_>]) {
        let texts: Few<&Part<'_>> = texts.iter().collect();
        message::write_content(object, &texts, self.reporter);
    }

    fn report_result(&mut self, at: Position, part: &Part<'_>, result: &ToolResult<'_>) {
        let place = part.semantics().place();
        if let Some(marker) = part.semantics().cache() {
            let reason = "Chat has no markers on results";
            self.reporter.marker(place, marker, LossKind::Dropped, reason);
        }
        if result.is_error == Some(true) {
            let reason = "Chat has no error flag on results";
            self.reporter.approximated((place, Field::ResultIsError), reason);
        }
        if result.name.is_some() && !self.calls.is_answer(at, result) {
            let reason = "only the call names the tool, and there is no such call";
            self.reporter.dropped((place, Field::ResultName), reason);
        }
        if result.call_id.is_none() {
            let reason = "Chat pairs results with calls by id";
            self.reporter.synthesised((place, Field::ResultCallId), reason);
        } else if self.calls.is_redirected(at) {
            self.reporter.repaired((place, Field::ResultCallId), REDIRECTED);
        }
    }

    /// Adds one part of a result: text as it is, media as a word that says where they follow.
    fn add_output<'m>(
        &mut self,
        part: &'m Part<'m>,
        texts: &mut Vec<Part<'m>>,
        waiting: &mut Vec<&'m Part<'m>>,
    ) {
        match part.content() {
            Content::Text(_) | Content::Refusal(_) => texts.push(part.clone()),
            Content::Media(media) if !content::is_sayable(part, media, self.reporter) => {
                texts.extend(remnant(part));
            }
            Content::Media(media) if matches!(media.source, Source::Text { .. }) => {
                let words = in_words(part);
                if words.is_some() {
                    content::report_as_text(part.semantics(), self.reporter);
                }
                texts.extend(words);
            }
            Content::Media(media) => {
                let image = media.kind == MediaKind::Image;
                texts.push(Part::text(if image { IMAGE_BELOW } else { FILE_BELOW }));
                waiting.push(part);
            }
            Content::Reasoning(_) => self.withhold(part),
            Content::ToolCall(_) | Content::ToolResult(_) => {
                self.reporter.dropped(part, "Chat takes only text in results");
            }
            // The walk over the request has reported it.
            Content::Opaque(_) => texts.extend(in_words(part)),
        }
    }

    pub(super) fn write_waiting(&mut self, writer: &mut Writer, waiting: &mut Vec<&Part<'_>>) {
        if waiting.is_empty() {
            return;
        }
        writer.object(|object| {
            object.word("role", "user");
            object.array_field("content", |writer| {
                for part in waiting.drain(..) {
                    self.reporter.turn_to(part.semantics().place());
                    content::write_part(writer, part, self.reporter);
                }
            });
        });
    }
}

/// Whether a part of a result is text, which stays as it is.
fn is_words(part: &Part<'_>) -> bool {
    matches!(part.content(), Content::Text(_) | Content::Refusal(_))
}
