//! The frames of a stream. Clients heed an event only by its name.

use crate::conversation::Finish;
use crate::conversation::Usage;
use crate::fault::Fault;
use crate::json::Text;
use crate::json::Writer;
use crate::place::Place;
use crate::protocol::Asked;
use crate::protocol::Start;
use crate::protocol::anthropic_messages::encode_response::finish::Said;
use crate::protocol::anthropic_messages::encode_response::finish::write_finish;
use crate::protocol::anthropic_messages::encode_response::finish::write_foreign_finish;
use crate::protocol::anthropic_messages::encode_response::write_kind;
use crate::protocol::anthropic_messages::fault::write_fault;
use crate::protocol::anthropic_messages::usage::USAGE;
use crate::protocol::losing::Losing;
use crate::protocol::object::Object;
use crate::protocol::semantics::NodeSemantics;
use crate::protocol::usage::Stating;
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

pub(super) fn own_start(
    out: &mut String,
    start: &Start<'_>,
    asked: &Asked<'_>,
    usage: Option<&Usage<'_>>,
) {
    frame(out, "message_start", |event| {
        event.key("message");
        let extras = start.semantics.extras().map(|extras| (extras, ""));
        let mut message = Object::open(event, extras);
        message.optional("id", start.id.as_ref());
        write_kind(&mut message, &start.semantics);
        message.optional("model", asked.model.as_ref().or(start.model.as_ref()));
        message.key("content").array(|_| {});
        message.key("stop_reason").null();
        message.key("stop_sequence").null();
        write_own_usage(message.key(USAGE.member), usage, start.service_tier.as_ref());
        message.close();
    });
}

pub(super) fn foreign_start(
    out: &mut String,
    id: &Text<'_>,
    model: &Text<'_>,
    (usage, tier): (Option<&Usage<'_>>, Option<&'static str>),
) {
    frame(out, "message_start", |event| {
        event.key("message");
        event.object(|message| {
            message.field("id", id);
            message.field("type", "message");
            message.field("role", "assistant");
            message.field("model", model);
            message.key("content");
            message.array(|_| {});
            message.key("stop_reason");
            message.null();
            message.key("stop_sequence");
            message.null();
            message.key(USAGE.member);
            let none = Usage::default();
            let tier = tier.map(Text::literal);
            USAGE.write(message, usage.unwrap_or(&none), tier.as_ref(), Stating::WhatIsNeeded);
        });
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

pub(super) fn block_stop(out: &mut String, index: u32) {
    frame(out, "content_block_stop", |event| event.field("index", &index));
}

pub(super) fn own_end(
    out: &mut String,
    finish: &Finish<'_>,
    late: &NodeSemantics<'_>,
    usage: Option<&Usage<'_>>,
) {
    frame(out, "message_delta", |event| {
        event.key("delta");
        let mut delta = Object::open(event, late.extras().map(|extras| (extras, "")));
        write_finish(&mut delta, Some(finish));
        delta.close();
        event.key(USAGE.member);
        write_own_usage(event, usage, None);
    });
    frame(out, "message_stop", |_| {});
}

pub(super) fn foreign_end(
    out: &mut String,
    (finish, said): (&Finish<'_>, Said),
    usage: &Usage<'_>,
    (place, losing): (Place, &mut Losing<'_>),
) {
    frame(out, "message_delta", |event| {
        event.key("delta");
        let mut delta = Object::open(event, None);
        write_foreign_finish(&mut delta, Some(finish), said, (place, losing));
        delta.close();
        event.key(USAGE.member);
        USAGE.write(event, usage, None, Stating::WhatIsNeeded);
    });
    frame(out, "message_stop", |_| {});
}

/// Writes a report as it was read; every frame that may have one has at least the counts that are needed.
fn write_own_usage(writer: &mut Writer, usage: Option<&Usage<'_>>, tier: Option<&Text<'_>>) {
    match usage {
        Some(usage) => USAGE.write(writer, usage, tier, Stating::AsRead),
        None => USAGE.write(writer, &Usage::default(), None, Stating::WhatIsNeeded),
    }
}

pub(super) fn error(out: &mut String, fault: &Fault<'_>) {
    named_frame(out, "error", |writer| write_fault(writer, fault));
}
