//! The frames of a stream. Clients heed an event only by its name.

use crate::conversation::{Finish, Usage};
use crate::fault::Fault;
use crate::json::{Json, Text, Writer};
use crate::place::Place;
use crate::protocol::anthropic_messages::encode_response::edits::{EDITS, write_edits};
use crate::protocol::anthropic_messages::encode_response::finish::write_finish;
use crate::protocol::anthropic_messages::encode_response::{open_answer, write_head};
use crate::protocol::anthropic_messages::encode_stream::Writing;
use crate::protocol::anthropic_messages::fault::write_fault;
use crate::protocol::anthropic_messages::types::SELF;
use crate::protocol::anthropic_messages::usage::USAGE;
use crate::protocol::reporter::Reporter;
use crate::protocol::tier::{Asking, reported_word};
use crate::protocol::usage::Stating;
use crate::protocol::{AnswerContext, Start};
use crate::sse::named_frame;

/// A frame whose data is an object of the frame's own name.
fn frame(out: &mut String, name: &'static str, members: impl FnOnce(&mut Writer)) {
    named_frame(out, name, |writer| {
        writer.object(|object| {
            object.field("type", name);
            members(object);
        });
    });
}

pub(super) fn start(
    out: &mut String,
    start: &Start<'_>,
    context: &AnswerContext<'_>,
    (usage, reporter): (Option<&Usage<'_>>, &mut Reporter<'_>),
) {
    let root = start.semantics.place();
    frame(out, "message_start", |event| {
        event.key("message");
        let mut message = open_answer(event, &start.semantics, reporter);
        write_head(&mut message, (&start.id, &start.model), context, (root, reporter));
        message.key("content").array(|_| {});
        message.key("stop_reason").null();
        message.key("stop_sequence").null();
        let tier = reported_word(start.service_tier.as_ref(), Asking::Answer(root), reporter);
        write_usage(message.key(USAGE.member), usage, tier.as_ref(), reporter);
        message.close();
    });
}

/// Begins a block; `block` writes it as it is at its beginning.
pub(super) fn block_start(out: &mut String, index: u32, block: impl FnOnce(&mut Writer)) {
    frame(out, "content_block_start", |event| {
        event.field("index", &index);
        event.key("content_block");
        block(event);
    });
}

/// Where a block grows: the beginning of a delta up to the text that it adds.
#[derive(Clone, Copy)]
pub(super) struct Growing(&'static str);

pub(super) const TEXT: Growing = Growing(r#"{"type":"text_delta","text":"#);
pub(super) const THINKING: Growing = Growing(r#"{"type":"thinking_delta","thinking":"#);
pub(super) const SIGNATURE: Growing = Growing(r#"{"type":"signature_delta","signature":"#);
pub(super) const INPUT: Growing = Growing(r#"{"type":"input_json_delta","partial_json":"#);
pub(super) const CITATION: Growing = Growing(r#"{"type":"citations_delta","citation":"#);

/// Adds to a block. Nearly all frames of a stream are these, so that they are put together from constants.
pub(super) fn block_delta(
    out: &mut String,
    index: u32,
    growing: Growing,
    value: &(impl crate::json::Encode + ?Sized),
) {
    out.push_str("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":");
    let mut writer = Writer::appending(std::mem::take(out));
    writer.value(&index);
    *out = writer.into_string();
    out.push_str(",\"delta\":");
    out.push_str(growing.0);
    let mut writer = Writer::appending(std::mem::take(out));
    writer.value(value);
    *out = writer.into_string();
    out.push_str("}}\n\n");
}

/// A block that stands for a conversation which was compacted: it begins empty, and one delta has all the rest.
pub(super) fn compaction(out: &mut String, index: u32, block: &Json<'_>) {
    block_start(out, index, |writer| {
        writer.value(&Json::literal(r#"{"type":"compaction","content":null}"#));
    });
    frame(out, "content_block_delta", |event| {
        event.field("index", &index);
        event.object_field("delta", |delta| {
            delta.field("type", "compaction_delta");
            // The block was checked when it was read, so reading it again cannot fail.
            let _ = block.reader().object(|key, reader| {
                let value = reader.raw()?;
                if key != "type" {
                    delta.field(&key, &value);
                }
                Ok(())
            });
        });
    });
}

pub(super) fn block_stop(out: &mut String, index: u32) {
    frame(out, "content_block_stop", |event| event.field("index", &index));
}

impl Writing<'_> {
    /// Writes how the answer ended, with what was known of it at its end alone.
    pub(super) fn write_end(&mut self, finish: &Finish<'_>, place: Place) {
        let mut reporter = Reporter::new(self.source, SELF, &mut self.report);
        frame(&mut self.out, "message_delta", |event| {
            event.key("delta");
            let mut delta = open_answer(event, &self.late, &reporter);
            let ends_with = self.answering.ends_with;
            write_finish(&mut delta, Some(finish), ends_with, (place, &mut reporter));
            delta.close();
            event.key(USAGE.member);
            write_usage(event, self.usage.as_ref(), None, &reporter);
            if let Some(edits) = &self.context.applied_edits {
                event.key(EDITS);
                write_edits(event, edits);
            }
        });
        frame(&mut self.out, "message_stop", |_| {});
    }
}

/// Writes a usage report; every frame that may have one has at least the counts that are needed.
fn write_usage(
    writer: &mut Writer,
    usage: Option<&Usage<'_>>,
    tier: Option<&Text<'_>>,
    reporter: &Reporter<'_>,
) {
    match usage {
        Some(usage) => USAGE.write(writer, usage, tier, USAGE.stating(reporter.source())),
        None => USAGE.write(writer, &Usage::default(), tier, Stating::WhatIsNeeded),
    }
}

pub(super) fn error(out: &mut String, fault: &Fault<'_>) {
    named_frame(out, "error", |writer| write_fault(writer, fault));
}
