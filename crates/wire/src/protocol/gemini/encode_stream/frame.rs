//! The frames of a stream that have content: a part that is whole, or a piece of a text.

use crate::conversation::Part;
use crate::json::{Text, Writer};
use crate::protocol::gemini::decode_response::is_call;
use crate::protocol::gemini::encode_request::write_part;
use crate::protocol::gemini::encode_response::{answer_pen, logprobs_result, report_custom_call};
use crate::protocol::gemini::types::LOGPROBS;
use crate::protocol::{Field, Logprobs};
use crate::sse;

use super::Encoder;

impl Encoder<'_> {
    pub(super) fn part_frame(&mut self, candidate: u32, part: &Part<'_>, out: &mut String) {
        if self.is_unwritten(part.content()) {
            return;
        }
        if is_call(part) {
            self.ending(candidate).calls = true;
        }
        self.losses.add_once(|reporter| report_custom_call(reporter, part));
        let pen = answer_pen(part, &self.context, self.is_same());
        let mut change = None;
        self.content_frame(candidate, None, out, |writer| change = write_part(writer, part, &pen));
        self.ending(candidate).begun = true;
        if let Some((kind, reason)) = change {
            self.losses
                .add_once(|reporter| reporter.lose((part, Field::CallArguments), kind, reason));
        }
    }

    pub(super) fn text_frame(
        &mut self,
        candidate: u32,
        (thought, text): (bool, &Text<'_>),
        logprobs: Option<&Logprobs<'_>>,
        out: &mut String,
    ) {
        self.content_frame(candidate, logprobs, out, |writer| {
            writer.begin_object();
            writer.literal_key("text");
            writer.value(text);
            if thought {
                writer.field("thought", &true);
            }
            writer.end_object();
        });
        self.ending(candidate).begun = true;
    }

    pub(super) fn content_frame(
        &self,
        candidate: u32,
        logprobs: Option<&Logprobs<'_>>,
        out: &mut String,
        parts: impl FnOnce(&mut Writer),
    ) {
        let logprobs = logprobs.and_then(logprobs_result);
        sse::guarded_frame(out, |writer| {
            writer.begin_object();
            writer.literal_key("candidates");
            writer.begin_array();
            writer.begin_object();
            writer.literal_key("content");
            writer.begin_object();
            writer.literal_key("parts");
            writer.array(parts);
            writer.word("role", "model");
            writer.end_object();
            writer.literal_key("index");
            writer.value(&candidate);
            writer.optional(LOGPROBS, logprobs.as_ref());
            writer.end_object();
            writer.end_array();
            writer.optional("modelVersion", self.model.as_ref());
            writer.optional("responseId", self.id.as_ref());
            writer.end_object();
        });
    }
}
