//! Whole answers.

use super::Show;
use super::list;
use super::optional;
use crate::conversation::Candidate;
use crate::conversation::Count;
use crate::conversation::Finish;
use crate::conversation::FinishKind;
use crate::conversation::Response;
use crate::conversation::Usage;
use crate::json::Writer;

impl Show for Response<'_> {
    fn show(&self, writer: &mut Writer) {
        let Response { id, model, created, candidates, usage, service_tier, fault, semantics } =
            self;
        writer.object(|writer| {
            writer.optional("id", id.as_ref());
            writer.optional("model", model.as_ref());
            writer.optional("created", created.as_ref());
            list(writer, "candidates", candidates);
            optional(writer, "usage", usage.as_ref());
            writer.optional("serviceTier", service_tier.as_ref());
            optional(writer, "fault", fault.as_ref());
            semantics.show_members(writer);
        });
    }
}

impl Show for Candidate<'_> {
    fn show(&self, writer: &mut Writer) {
        let Candidate { message, finish, semantics } = self;
        writer.object(|writer| {
            optional(writer, "message", Some(message));
            optional(writer, "finish", finish.as_ref());
            semantics.show_members(writer);
        });
    }
}

impl Show for Finish<'_> {
    fn show(&self, writer: &mut Writer) {
        let Finish { kind, raw, stop_sequence, details } = self;
        writer.object(|writer| {
            writer.field("kind", finish_word(*kind));
            writer.optional("raw", raw.as_ref());
            writer.optional("stopSequence", stop_sequence.as_ref());
            writer.optional("details", details.as_ref());
        });
    }
}

fn finish_word(kind: FinishKind) -> &'static str {
    match kind {
        FinishKind::Stop => "stop",
        FinishKind::StopSequence => "stopSequence",
        FinishKind::ToolCalls => "toolCalls",
        FinishKind::Length => "length",
        FinishKind::ContextFull => "contextFull",
        FinishKind::ContentFilter => "contentFilter",
        FinishKind::PromptFilter => "promptFilter",
        FinishKind::Refusal => "refusal",
        FinishKind::Pause => "pause",
        FinishKind::MalformedCall => "malformedCall",
        FinishKind::Failed => "failed",
        FinishKind::Other => "other",
    }
}

impl Show for Usage<'_> {
    fn show(&self, writer: &mut Writer) {
        writer.object(|writer| show_usage(self, writer));
    }
}

/// Writes the counts and what stands beside them.
pub(super) fn show_usage(usage: &Usage<'_>, writer: &mut Writer) {
    let Usage { counts, semantics, later: _ } = usage;
    for count in Count::ALL {
        writer.optional(count.name(), counts[count].as_ref());
    }
    semantics.show_members(writer);
}
