//! Writing the items of a stream: added, grown piece by piece, done.

use crate::conversation::Arguments;
use crate::conversation::CallForm;
use crate::conversation::Content;
use crate::conversation::Part;
use crate::conversation::Reasoning;
use crate::conversation::ReasoningForm;
use crate::conversation::ToolCall;
use crate::json::Json;
use crate::json::Text;
use crate::json::Writer;
use crate::loss::LossKind;
use crate::loss::Report;
use crate::protocol::Delta;
use crate::protocol::Field;
use crate::protocol::NoteKind;
use crate::protocol::Open;
use crate::protocol::Opening;
use crate::protocol::PartId;
use crate::protocol::losing::Losing;
use crate::protocol::openai_responses::encode_request::Side;
use crate::protocol::openai_responses::encode_request::write_citation;
use crate::protocol::openai_responses::encode_request::write_part;
use crate::protocol::openai_responses::encode_request::write_piece;
use crate::protocol::openai_responses::encode_response::client_form;
use crate::protocol::openai_responses::encode_response::item_id;
use crate::protocol::openai_responses::encode_response::takes;
use crate::protocol::openai_responses::encode_response::write_added_item;
use crate::protocol::openai_responses::encode_response::write_carrier;
use crate::protocol::openai_responses::encode_response::write_item;
use crate::protocol::openai_responses::encode_stream::Encoder;
use crate::protocol::openai_responses::types::CONTINUES;
use crate::protocol::openai_responses::types::NO_PARTS;
use crate::protocol::openai_responses::types::THIS;
use crate::protocol::semantics::NodeSemantics;

/// An item of the output.
#[derive(Debug)]
pub(super) struct OutItem {
    id: Text<'static>,
    pub(super) parts: Vec<Part<'static>>,
    states: Vec<PartState>,
    /// The complete item.
    pub(super) json: Option<String>,
}

#[derive(Clone, Copy, Debug, Default)]
struct PartState {
    /// The part has been told of.
    added: bool,
    closed: bool,
    /// How many citations have been told.
    cited: usize,
}

impl OutItem {
    /// Whether all of its parts are complete.
    pub(super) fn is_closed(&self) -> bool {
        self.json.is_none() && self.states.iter().all(|state| state.closed)
    }
}

/// What a part grows under: the events' names and their index.
struct Names {
    delta: &'static str,
    done: &'static str,
    index: &'static str,
}

const TEXT: Names = Names {
    delta: "response.output_text.delta",
    done: "response.output_text.done",
    index: "content_index",
};
const REFUSAL: Names = Names {
    delta: "response.refusal.delta",
    done: "response.refusal.done",
    index: "content_index",
};
const SUMMARY: Names = Names {
    delta: "response.reasoning_summary_text.delta",
    done: "response.reasoning_summary_text.done",
    index: "summary_index",
};
const THOUGHT: Names = Names {
    delta: "response.reasoning_text.delta",
    done: "response.reasoning_text.done",
    index: "content_index",
};

impl Encoder<'_> {
    pub(super) fn open(&mut self, open: Open<'static>, out: &mut String) {
        let Open { part: _, candidate, opening, semantics } = open;
        let part = Part::new(begun(opening)).with_semantics(semantics);
        let mut losing = Losing::new(self.source, THIS, &mut self.report);
        if candidate > 0 || !takes(&mut losing, &part) {
            return self.leave_out(part, candidate);
        }
        let continues = self.is_same() && part.semantics().has_shape(CONTINUES);
        let last = self.items.len().checked_sub(1);
        if let Some(last) = last.filter(|last| continues && self.items[*last].json.is_none()) {
            let item = &mut self.items[last];
            item.parts.push(part);
            item.states.push(PartState::default());
            return self.places.push(Some((last, item.parts.len() - 1)));
        }
        self.finish_closed(out);
        self.carry(&part, out);
        self.add(part, out);
    }

    /// Writes what only its issuer can read of a part as an item of its own, which is complete at once.
    fn carry(&mut self, part: &Part<'static>, out: &mut String) {
        let index = self.items.len();
        let mut unread = Report::default();
        let losing = Losing::new(self.source, THIS, &mut unread);
        let mut carrier = Writer::default();
        if !write_carrier(&mut carrier, &losing, &self.asked, (part, index)) {
            return;
        }
        let json = carrier.into_string();
        for kind in ["response.output_item.added", "response.output_item.done"] {
            self.frame(out, kind, |writer| {
                writer.field("output_index", &index);
                writer.field("item", &Json::trusted(json.as_str().into()));
            });
        }
        let (parts, states) = (Vec::new(), Vec::new());
        self.items.push(OutItem { id: Text::default(), parts, states, json: Some(json) });
    }

    fn add(&mut self, part: Part<'static>, out: &mut String) {
        let index = self.items.len();
        let mut unread = Report::default();
        let losing = Losing::new(self.source, THIS, &mut unread);
        let id = item_id(&losing, &self.asked, (&part, index)).unwrap_or_default().into_owned();
        let mut item = Writer::default();
        write_added_item(&mut item, &losing, &self.asked, (&part, index));
        let item = item.into_string();
        self.frame(out, "response.output_item.added", |writer| {
            writer.field("output_index", &index);
            writer.field("item", &Json::trusted(item.into()));
        });
        let states = vec![PartState::default()];
        self.items.push(OutItem { id, parts: vec![part], states, json: None });
        self.places.push(Some((index, 0)));
    }

    /// Writes one frame about a part or a piece of an item.
    fn item_frame(
        &mut self,
        out: &mut String,
        kind: &str,
        (item, position): (usize, Option<(&str, usize)>),
        members: impl FnOnce(&mut Writer),
    ) {
        let id = std::mem::take(&mut self.items[item].id);
        self.frame(out, kind, |writer| {
            writer.field("item_id", &id);
            writer.field("output_index", &item);
            if let Some((key, index)) = position {
                writer.field(key, &index);
            }
            members(writer);
        });
        self.items[item].id = id;
    }

    pub(super) fn grow(&mut self, part: PartId, delta: Delta<'_>, out: &mut String) {
        let Some((item, at)) = self.find(part) else { return };
        if self.items[item].json.is_some() {
            return;
        }
        match (self.items[item].parts[at].content(), delta) {
            (Content::Text(_) | Content::Refusal(_), Delta::Text(text)) => {
                self.grow_text((item, at), &text, out);
            }
            (Content::Reasoning(_), Delta::Text(text)) => self.think((item, at), &text, out),
            (Content::Reasoning(_), Delta::NextPiece) => self.next_piece((item, at), out),
            (Content::ToolCall(_), Delta::Text(text)) => self.grow_call((item, at), &text, out),
            (Content::Text(_) | Content::Refusal(_) | Content::ToolCall(_), Delta::NextPiece)
            | (Content::Media(_) | Content::ToolResult(_) | Content::Opaque(_), _) => {}
        }
    }

    /// Tells of a part of a message, unless that has been done.
    fn add_part(&mut self, (item, at): (usize, usize), out: &mut String) {
        if std::mem::replace(&mut self.items[item].states[at].added, true) {
            return;
        }
        let is_refusal = matches!(self.items[item].parts[at].content(), Content::Refusal(_));
        let kind = "response.content_part.added";
        self.item_frame(out, kind, (item, Some(("content_index", at))), |writer| {
            writer.key("part");
            writer.object(|writer| {
                if is_refusal {
                    writer.field("type", "refusal");
                    return writer.field("refusal", "");
                }
                writer.field("type", "output_text");
                writer.field("text", "");
                writer.key("annotations");
                writer.array(|_| {});
            });
        });
    }

    fn grow_text(&mut self, (item, at): (usize, usize), text: &Text<'_>, out: &mut String) {
        self.add_part((item, at), out);
        let names = match self.items[item].parts[at].content_mut() {
            Content::Text(own) => {
                own.push(text);
                &TEXT
            }
            Content::Refusal(own) => {
                own.push(text);
                &REFUSAL
            }
            _ => return,
        };
        self.item_frame(out, names.delta, (item, Some((names.index, at))), |writer| {
            writer.field("delta", text);
            if names.delta == TEXT.delta {
                writer.key("logprobs");
                writer.array(|_| {});
            }
        });
    }

    fn grow_call(&mut self, (item, at): (usize, usize), text: &Text<'_>, out: &mut String) {
        let Content::ToolCall(call) = self.items[item].parts[at].content_mut() else { return };
        if let Arguments::Text(own) = &mut call.arguments {
            own.push(text);
        }
        let kind = match (client_form(&self.asked, call), call.form) {
            (CallForm::Function, _) => "response.function_call_arguments.delta",
            (CallForm::Custom, CallForm::Custom) => "response.custom_tool_call_input.delta",
            // The input stands inside JSON that is not complete yet.
            (CallForm::Custom, CallForm::Function) => return,
        };
        self.item_frame(out, kind, (item, None), |writer| writer.field("delta", text));
    }

    /// Another vendor's thinking is shown as a summary.
    fn thought_names(&self, thought: &Reasoning<'_>) -> &'static Names {
        match thought.form {
            ReasoningForm::Raw if self.is_same() => &THOUGHT,
            ReasoningForm::Raw | ReasoningForm::Summary | ReasoningForm::Redacted => &SUMMARY,
        }
    }

    fn think(&mut self, (item, at): (usize, usize), text: &Text<'_>, out: &mut String) {
        let Content::Reasoning(thought) = self.items[item].parts[at].content() else { return };
        let names = self.thought_names(thought);
        if thought.texts.is_empty() {
            self.next_piece((item, at), out);
        }
        let Content::Reasoning(thought) = self.items[item].parts[at].content_mut() else { return };
        let piece = thought.texts.len().saturating_sub(1);
        if let Some(last) = thought.texts.last_mut() {
            last.push(text);
        }
        let position = (item, Some((names.index, piece)));
        self.item_frame(out, names.delta, position, |writer| writer.field("delta", text));
    }

    fn next_piece(&mut self, (item, at): (usize, usize), out: &mut String) {
        self.end_piece((item, at), out);
        let Content::Reasoning(thought) = self.items[item].parts[at].content_mut() else { return };
        thought.texts.push(Text::default());
        let piece = thought.texts.len() - 1;
        self.piece_frame((item, at), (piece, &Text::default()), out, PieceEvent::Added);
    }

    /// Tells that the current piece is complete.
    fn end_piece(&mut self, (item, at): (usize, usize), out: &mut String) {
        let Content::Reasoning(thought) = self.items[item].parts[at].content() else { return };
        let names = self.thought_names(thought);
        let Some(text) = thought.texts.last().cloned() else { return };
        let piece = thought.texts.len() - 1;
        let position = (item, Some((names.index, piece)));
        self.item_frame(out, names.done, position, |writer| writer.field("text", &text));
        self.piece_frame((item, at), (piece, &text), out, PieceEvent::Done);
    }

    fn piece_frame(
        &mut self,
        (item, at): (usize, usize),
        (piece, text): (usize, &Text<'_>),
        out: &mut String,
        event: PieceEvent,
    ) {
        let Content::Reasoning(thought) = self.items[item].parts[at].content() else { return };
        let names = self.thought_names(thought);
        let is_summary = names.index == SUMMARY.index;
        let kind = match (event, is_summary) {
            (PieceEvent::Added, true) => "response.reasoning_summary_part.added",
            (PieceEvent::Done, true) => "response.reasoning_summary_part.done",
            (PieceEvent::Added, false) => "response.content_part.added",
            (PieceEvent::Done, false) => "response.content_part.done",
        };
        let word = if is_summary { "summary_text" } else { "reasoning_text" };
        self.item_frame(out, kind, (item, Some((names.index, piece))), |writer| {
            writer.key("part");
            write_piece(writer, word, text);
        });
    }

    pub(super) fn note_part(&mut self, part: PartId, kind: NoteKind<'static>, out: &mut String) {
        let Some((item, at)) = self.find(part) else { return };
        if self.items[item].json.is_some() {
            return;
        }
        match kind {
            NoteKind::Citation(citation) => {
                let mut annotation = Writer::default();
                let written = write_citation(&mut annotation, &citation);
                self.items[item].parts[at].semantics_mut().add_citation(citation);
                if written {
                    self.annotate((item, at), annotation.into_string(), out);
                }
            }
            NoteKind::Logprobs(more) => {
                self.items[item].parts[at].semantics_mut().add_logprobs(&more)
            }
            NoteKind::Semantics(later) => self.items[item].parts[at].semantics_mut().update(later),
        }
    }

    fn annotate(&mut self, (item, at): (usize, usize), annotation: String, out: &mut String) {
        self.add_part((item, at), out);
        let number = self.items[item].states[at].cited;
        self.items[item].states[at].cited += 1;
        let kind = "response.output_text.annotation.added";
        self.item_frame(out, kind, (item, Some(("content_index", at))), |writer| {
            writer.field("annotation_index", &number);
            writer.field("annotation", &Json::trusted(annotation.into()));
        });
    }

    pub(super) fn close(&mut self, part: PartId, later: NodeSemantics<'static>, out: &mut String) {
        let Some((item, at)) = self.find(part) else { return };
        if self.items[item].json.is_some() {
            return;
        }
        let part = &mut self.items[item].parts[at];
        let is_thought = matches!(part.content(), Content::Reasoning(_));
        if later.artefact().is_some() && part.semantics().artefact().is_none() && !is_thought {
            let mut losing = Losing::new(self.source, THIS, &mut self.report);
            let reason = "it came after the item that it could have gone before";
            let place = part.semantics().place();
            losing.field(place, Field::Signature, LossKind::Withheld, reason);
        }
        part.semantics_mut().update(later);
        self.items[item].states[at].closed = true;
        let waits = match self.items[item].parts[at].content() {
            // More may be said of a text until the next item begins, and an item of our own may go on.
            Content::Text(_) | Content::Refusal(_) => true,
            Content::Reasoning(_) => self.is_same(),
            Content::ToolCall(_)
            | Content::Media(_)
            | Content::ToolResult(_)
            | Content::Opaque(_) => false,
        };
        if !waits {
            self.finish_item(item, out);
        }
    }

    /// Completes the items all of whose parts are closed.
    fn finish_closed(&mut self, out: &mut String) {
        for item in 0..self.items.len() {
            if self.items[item].is_closed() {
                self.finish_item(item, out);
            }
        }
    }

    /// Completes every item.
    pub(super) fn finish_items(&mut self, out: &mut String) {
        for item in 0..self.items.len() {
            self.finish_item(item, out);
        }
    }

    pub(super) fn finish_item(&mut self, item: usize, out: &mut String) {
        if self.items[item].json.is_some() {
            return;
        }
        for at in 0..self.items[item].parts.len() {
            self.part_done((item, at), out);
        }
        let parts = std::mem::take(&mut self.items[item].parts);
        let mut losing = Losing::new(self.source, THIS, &mut self.report);
        let mut writer = Writer::default();
        write_item(&mut writer, &mut losing, &self.asked, (&parts, item));
        self.items[item].parts = parts;
        let json = writer.into_string();
        self.frame(out, "response.output_item.done", |writer| {
            writer.field("output_index", &item);
            writer.field("item", &Json::trusted(json.as_str().into()));
        });
        self.items[item].json = Some(json);
    }

    /// Tells that a part is complete, with all that it has grown to.
    fn part_done(&mut self, (item, at): (usize, usize), out: &mut String) {
        let part = &self.items[item].parts[at];
        match part.content() {
            Content::Text(text) if part.semantics().has_shape(NO_PARTS) && text.is_empty() => {}
            Content::Text(text) => {
                let text = text.clone();
                self.text_done((item, at), (&TEXT, "text", &text), out);
            }
            Content::Refusal(text) => {
                let text = text.clone();
                self.text_done((item, at), (&REFUSAL, "refusal", &text), out);
            }
            Content::Reasoning(_) => self.end_piece((item, at), out),
            Content::ToolCall(_) => self.call_done((item, at), out),
            Content::Media(_) | Content::ToolResult(_) | Content::Opaque(_) => {}
        }
    }

    fn text_done(
        &mut self,
        (item, at): (usize, usize),
        (names, key, text): (&Names, &str, &Text<'_>),
        out: &mut String,
    ) {
        self.add_part((item, at), out);
        let position = (item, Some((names.index, at)));
        self.item_frame(out, names.done, position, |writer| {
            writer.field(key, text);
            if names.done == TEXT.done {
                writer.key("logprobs");
                writer.array(|_| {});
            }
        });
        let mut unread = Report::default();
        let mut losing = Losing::new(self.source, THIS, &mut unread);
        let mut part = Writer::default();
        write_part(&mut part, &mut losing, &self.items[item].parts[at], Side::Output);
        let part = part.into_string();
        let kind = "response.content_part.done";
        self.item_frame(out, kind, position, |writer| {
            writer.field("part", &Json::trusted(part.into()));
        });
    }

    fn call_done(&mut self, (item, at): (usize, usize), out: &mut String) {
        let Content::ToolCall(call) = self.items[item].parts[at].content() else { return };
        let Arguments::Text(text) = &call.arguments else { return };
        let text = text.clone();
        match (client_form(&self.asked, call), call.form) {
            (CallForm::Function, _) => {
                let kind = "response.function_call_arguments.done";
                self.item_frame(out, kind, (item, None), |writer| {
                    writer.field("arguments", &text);
                });
            }
            (CallForm::Custom, form) => {
                let unwrapped = match form {
                    CallForm::Function => crate::protocol::arguments::custom_input(&call.arguments),
                    CallForm::Custom => None,
                };
                if form == CallForm::Function {
                    let input = unwrapped.as_ref().unwrap_or(&text).clone();
                    let kind = "response.custom_tool_call_input.delta";
                    self.item_frame(out, kind, (item, None), |writer| {
                        writer.field("delta", &input);
                    });
                }
                let input = unwrapped.unwrap_or(text);
                let kind = "response.custom_tool_call_input.done";
                self.item_frame(out, kind, (item, None), |writer| writer.field("input", &input));
            }
        }
    }
}

/// Whether a piece of thinking begins or is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PieceEvent {
    Added,
    Done,
}

fn begun(opening: Opening<'static>) -> Content<'static> {
    match opening {
        Opening::Text => Content::Text(Text::default()),
        Opening::Refusal => Content::Refusal(Text::default()),
        Opening::Reasoning(form) => {
            Content::Reasoning(Box::new(Reasoning { form, texts: Vec::new() }))
        }
        Opening::ToolCall { id, name, form } => Content::ToolCall(Box::new(ToolCall {
            id,
            name,
            arguments: Arguments::Text(Text::default()),
            form,
        })),
        Opening::Whole(content) => content,
    }
}
