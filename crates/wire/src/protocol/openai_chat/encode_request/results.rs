//! Writing the results of calls: messages of text, with media in a user's message behind them.

use smallvec::SmallVec;

use crate::conversation::{Content, MediaKind, Part, ResultOutput, Source, ToolResult};
use crate::json::{Json, Text};
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

/// Most results are one text.
type Texts<'m> = SmallVec<[Part<'m>; 1]>;

impl<'m> Turns<'_, '_, 'm> {
    pub(super) fn write_result(&mut self, (at, part): Placed<'m>, result: &'m ToolResult<'m>) {
        self.report_result(at, part, result);
        let made;
        let texts: Few<&Part<'_>> = match &result.output {
            ResultOutput::Parts(parts) if parts.iter().all(is_words) => parts.iter().collect(),
            ResultOutput::Parts(_) | ResultOutput::Object { .. } => {
                made = self.output(part, result);
                made.iter().collect()
            }
        };
        let mut object = Object::open(self.writer, None);
        object.word("role", "tool");
        object.field("tool_call_id", &self.calls.result_id(at, result));
        message::write_content(&mut object, &texts, self.reporter);
        object.close();
    }

    /// What a tool answered beyond words, as far as words can tell it.
    fn output(&mut self, part: &Part<'_>, result: &'m ToolResult<'m>) -> Texts<'m> {
        let mut texts = Texts::new();
        if let ResultOutput::Object { response, parts: _ } = &result.output {
            texts.push(Part::text(self.object_text(part, response)));
        }
        let before = self.waiting.len();
        for inner in result.output.parts() {
            self.add_output(inner, &mut texts);
        }
        if self.waiting.len() > before {
            self.reporter.approximated(part, MEDIA_FOLLOW);
        }
        texts
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

    fn report_result(&mut self, at: Position, part: &Part<'_>, result: &ToolResult<'_>) {
        let place = part.semantics().place();
        self.reporter.unmarked(part.semantics(), "Chat has no markers on results");
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
    fn add_output(&mut self, part: &'m Part<'m>, texts: &mut Texts<'m>) {
        match part.content() {
            Content::Text(_) | Content::Refusal(_) => texts.push(part.clone()),
            Content::Media(media) if !content::is_sayable(part, media, self.reporter) => {
                texts.extend(remnant(part));
            }
            Content::Media(media) if matches!(media.source, Source::Text { .. }) => {
                let words = in_words(part);
                match &words {
                    Some(_) => content::report_as_text(part.semantics(), self.reporter),
                    // Fixture `request/results/documents-without-words`.
                    None => self.reporter.wordless(part, media),
                }
                texts.extend(words);
            }
            Content::Media(media) => {
                let image = media.kind == MediaKind::Image;
                texts.push(Part::text(if image { IMAGE_BELOW } else { FILE_BELOW }));
                self.waiting.push(part);
            }
            Content::Reasoning(_) => self.withhold(part),
            Content::ToolCall(_) | Content::ToolResult(_) => {
                self.reporter.dropped(part, "Chat takes only text in results");
            }
            // The walk over the request has reported it.
            Content::Opaque(_) => texts.extend(in_words(part)),
        }
    }

    pub(super) fn write_waiting(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        self.writer.object(|object| {
            object.word("role", "user");
            object.array_field("content", |writer| {
                for part in self.waiting.drain(..) {
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
