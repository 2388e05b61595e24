//! Writing the items of a stream as they begin and grow.

use crate::conversation::{Arguments, CallForm, Content, Part};
use crate::json::{Json, Text, Writer};
use crate::loss::LossKind;
use crate::protocol::openai_responses::encode_request::part::{
    chars_of, cites_all, write_citation,
};
use crate::protocol::openai_responses::encode_response::output::{
    Stage, client_form, handed, is_doubled, is_words, item_id, takes, withhold,
};
use crate::protocol::openai_responses::encode_stream::done::write_own_logprobs;
use crate::protocol::openai_responses::encode_stream::{Encoder, ItemPart, Placed};
use crate::protocol::openai_responses::types::{CONTINUES, SELF};
use crate::protocol::reporter::Reporter;
use crate::protocol::semantics::{NodeSemantics, add_to};
use crate::protocol::{Artefact, Citation, Delta, Logprobs, NoteKind, Open, PartId};

/// An item of the output.
#[derive(Debug)]
pub(super) struct OutItem {
    id: Text<'static>,
    pub(super) parts: Vec<Part<'static>>,
    pub(super) states: Vec<PartState>,
    /// The complete item.
    pub(super) json: Option<Json<'static>>,
    /// How many parts at its beginning have been announced, as far as they ever are, and how many as complete.
    begun: usize,
    pub(super) finished: usize,
    /// Whether an earlier call has the same id.
    pub(super) doubled: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct PartState {
    /// The part has been announced.
    added: bool,
    pub(super) closed: bool,
    /// The part has been emitted as complete.
    pub(super) done: bool,
    /// How many citations have been emitted.
    cited: usize,
    /// Log probabilities that have not been emitted with a text yet.
    pub(super) logprobs: Option<Logprobs<'static>>,
}

impl PartState {
    fn of(part: &Part<'static>) -> Self {
        Self { logprobs: part.semantics().logprobs().cloned(), ..Self::default() }
    }
}

impl OutItem {
    /// Whether all of its parts are complete.
    pub(super) fn is_closed(&self) -> bool {
        self.json.is_none() && self.states.iter().all(|state| state.closed)
    }
}

/// The names of the events about a part or a piece, and of their index.
pub(super) struct Names {
    pub(super) added: &'static str,
    pub(super) delta: &'static str,
    pub(super) done: &'static str,
    pub(super) part_done: &'static str,
    pub(super) index: &'static str,
    /// The key of the whole.
    pub(super) key: &'static str,
}

pub(super) const TEXT: Names = Names {
    added: "response.content_part.added",
    delta: "response.output_text.delta",
    done: "response.output_text.done",
    part_done: "response.content_part.done",
    index: "content_index",
    key: "text",
};
const REFUSAL: Names = Names {
    delta: "response.refusal.delta",
    done: "response.refusal.done",
    key: "refusal",
    ..TEXT
};

/// The words of a part that stands in a message, and the names of its events.
pub(super) fn words_of<'p>(
    part: &'p mut Part<'static>,
) -> Option<(&'static Names, &'p mut Text<'static>)> {
    match part.content_mut() {
        Content::Text(text) => Some((&TEXT, text)),
        Content::Refusal(text) => Some((&REFUSAL, text)),
        _ => None,
    }
}

/// The names of the events about what a tool is called with, and the key of the whole.
pub(super) fn input_names(form: CallForm) -> (&'static str, &'static str, &'static str) {
    match form {
        CallForm::Function => (
            "response.function_call_arguments.delta",
            "response.function_call_arguments.done",
            "arguments",
        ),
        CallForm::Custom => (
            "response.custom_tool_call_input.delta",
            "response.custom_tool_call_input.done",
            "input",
        ),
    }
}

impl Encoder<'_> {
    pub(super) fn open(&mut self, open: Open<'static>) {
        let Open { part: _, candidate, opening, semantics } = open;
        let part = Part::new(opening.into_content()).with_semantics(semantics);
        let mut reporter = Reporter::new(self.source, SELF, &mut self.report);
        if candidate > 0 || !takes(&mut reporter, &part) {
            return self.leave_out(part, candidate);
        }
        let continues = self.is_same() && part.semantics().has_shape(CONTINUES);
        let last = self.items.len().checked_sub(1);
        let place = match last.filter(|last| continues && self.items[*last].json.is_none()) {
            Some(last) => self.continue_item(last, part),
            None if matches!(part.content(), Content::Text(_)) && !self.is_same() => {
                // A text that never says anything makes no item.
                self.places.push(Placed::Waiting(self.left_out.len()));
                return self.left_out.push(part);
            }
            None => self.add(part),
        };
        self.places.push(Placed::At(place));
    }

    /// Gives what only its issuer can read of a part to the thinking before it, if that is not complete yet.
    fn hand(&mut self, part: &Part<'static>) {
        let mut reporter = Reporter::new(self.source, SELF, &mut self.report);
        let last = self.items.last().filter(|item| item.json.is_none());
        let thought = last.and_then(|item| item.parts.first());
        let artefact = thought.and_then(|thought| handed(&reporter, thought, part)).cloned();
        let Some(artefact) = artefact.map(Artefact::into_owned) else {
            return withhold(&mut reporter, part);
        };
        if let Some(thought) = self.items.last_mut().and_then(|item| item.parts.first_mut()) {
            thought.semantics_mut().hand_artefact(artefact, part.semantics().sealed_at());
        }
    }

    /// Adds a part to the message before it, or the item that it begins.
    fn add(&mut self, part: Part<'static>) -> ItemPart {
        self.hand(&part);
        match self.message_before(&part) {
            Some(item) => {
                if !self.source.conventions().has_late_logprobs {
                    self.finish_parts(item);
                }
                self.continue_item(item, part)
            }
            None => self.add_item(part),
        }
    }

    /// The message that another protocol's text continues, if one stands right before it.
    fn message_before(&self, part: &Part<'_>) -> Option<usize> {
        let last = self.items.len().checked_sub(1)?;
        let OutItem { parts, json, .. } = &self.items[last];
        let is_message = json.is_none() && parts.first().is_some_and(is_words);
        let continues = is_message && is_words(part) && !self.interrupted && !self.is_same();
        continues.then_some(last)
    }

    fn continue_item(&mut self, index: usize, part: Part<'static>) -> ItemPart {
        let item = &mut self.items[index];
        item.states.push(PartState::of(&part));
        item.parts.push(part);
        (index, item.parts.len() - 1)
    }

    /// Adds an item that begins with a part.
    fn add_item(&mut self, part: Part<'static>) -> ItemPart {
        self.finish_closed();
        self.interrupted = false;
        let index = self.items.len();
        let mut reporter = Reporter::new(self.source, SELF, &mut self.report);
        let doubled = is_doubled(&mut reporter, &part, &mut self.taken);
        let id = item_id(&self.context, (&part, index)).into_owned();
        let (states, parts) = (vec![PartState::of(&part)], vec![part]);
        let (begun, finished) = (0, 0);
        self.items.push(OutItem { id, parts, states, json: None, begun, finished, doubled });
        self.unfinished.push(index);
        let item = self.written(index, Stage::Begun);
        self.frame("response.output_item.added", |writer| {
            writer.field("output_index", &index);
            writer.field("item", &item);
        });
        (index, 0)
    }

    /// Adds the item of a text that has begun to say something.
    fn add_waiting(&mut self, part: PartId) {
        let index = part.0 as usize;
        if let Some(Placed::Waiting(at)) = self.places.get(index).copied() {
            let part = std::mem::replace(&mut self.left_out[at], Part::text(Text::default()));
            let place = self.add(part);
            self.places[index] = Placed::At(place);
        }
    }

    /// Writes one frame about a part or a piece of an item.
    pub(super) fn item_frame(
        &mut self,
        kind: &str,
        (item, position): (usize, Option<(&str, usize)>),
        members: impl FnOnce(&mut Writer),
    ) {
        let id = std::mem::take(&mut self.items[item].id);
        self.frame(kind, |writer| {
            writer.field("item_id", &id);
            writer.field("output_index", &item);
            if let Some((key, index)) = position {
                writer.field(key, &index);
            }
            members(writer);
        });
        self.items[item].id = id;
    }

    pub(super) fn grow(&mut self, part: PartId, delta: Delta<'_>) {
        if matches!(&delta, Delta::Text(text) if !text.is_empty()) {
            self.add_waiting(part);
        }
        let Some((item, at)) = self.find(part) else { return };
        match (self.items[item].parts[at].content(), delta) {
            (Content::Text(_) | Content::Refusal(_), Delta::Text(text)) => {
                self.grow_text((item, at), &text);
            }
            (Content::Reasoning(_), Delta::Text(text)) => self.think((item, at), &text),
            (Content::Reasoning(_), Delta::NextPiece) => self.next_piece((item, at)),
            (Content::ToolCall(_), Delta::Text(text)) => self.grow_call((item, at), &text),
            (Content::Text(_) | Content::Refusal(_) | Content::ToolCall(_), Delta::NextPiece)
            | (Content::Media(_) | Content::ToolResult(_) | Content::Opaque(_), _) => {}
        }
    }

    /// Announces a part of a message, unless that has been done. Those before it are empty so far and come first.
    pub(super) fn add_part(&mut self, (item, at): ItemPart) {
        if self.items[item].states[at].added {
            return;
        }
        for before in self.items[item].begun..at {
            let is_text = is_words(&self.items[item].parts[before]);
            if is_text && !self.items[item].states[before].added {
                self.add_one((item, before));
            }
        }
        self.add_one((item, at));
        let begun = &mut self.items[item].begun;
        *begun = at.max(*begun);
    }

    fn add_one(&mut self, (item, at): ItemPart) {
        self.items[item].states[at].added = true;
        let is_refusal = matches!(self.items[item].parts[at].content(), Content::Refusal(_));
        let position = (item, Some((TEXT.index, at)));
        let begun = match is_refusal {
            true => r#"{"type":"refusal","refusal":""}"#,
            false => r#"{"type":"output_text","text":"","annotations":[]}"#,
        };
        self.item_frame(TEXT.added, position, |writer| {
            writer.field("part", &Json::literal(begun));
        });
    }

    fn grow_text(&mut self, (item, at): ItemPart, text: &Text<'_>) {
        self.add_part((item, at));
        let Some((names, own)) = words_of(&mut self.items[item].parts[at]) else { return };
        own.push(text);
        self.text_delta((item, at), (names, text));
    }

    /// Writes more of a text, with the log probabilities that came before it.
    pub(super) fn text_delta(&mut self, (item, at): ItemPart, (names, text): (&Names, &Text<'_>)) {
        let logprobs = self.items[item].states[at].logprobs.take();
        let source = self.source;
        self.item_frame(names.delta, (item, Some((names.index, at))), |writer| {
            writer.field("delta", text);
            if names.delta == TEXT.delta {
                write_own_logprobs(writer, source, logprobs.as_ref());
            }
        });
    }

    pub(super) fn grow_call(&mut self, (item, at): ItemPart, text: &Text<'_>) {
        let Content::ToolCall(call) = self.items[item].parts[at].content_mut() else { return };
        if let Arguments::Text(own) = &mut call.arguments {
            own.push(text);
        }
        let (form, own) = (client_form(&self.context, call), call.form);
        // Where a function stands for a custom tool, the input is inside JSON that is not complete yet.
        if form == own || form == CallForm::Function {
            self.item_frame(input_names(form).0, (item, None), |writer| {
                writer.field("delta", text);
            });
        }
    }

    pub(super) fn note_part(&mut self, part: PartId, kind: NoteKind<'static>) {
        let part = match self.places.get(part.0 as usize).copied() {
            Some(Placed::Waiting(at)) => &mut self.left_out[at],
            Some(Placed::At((item, at))) if self.items[item].json.is_some() => {
                return self.report_late((item, at), kind);
            }
            Some(Placed::At((item, at))) => {
                match &kind {
                    NoteKind::Citation(it) if !cites_all(it) => self.annotate((item, at), it),
                    NoteKind::Logprobs(more) => {
                        add_to(&mut self.items[item].states[at].logprobs, more.clone());
                    }
                    NoteKind::Citation(_) | NoteKind::Semantics(_) => {}
                }
                &mut self.items[item].parts[at]
            }
            Some(Placed::Nowhere) | None => return,
        };
        match kind {
            NoteKind::Citation(citation) => part.semantics_mut().add_citation(citation),
            NoteKind::Logprobs(more) => part.semantics_mut().add_logprobs(more),
            NoteKind::Semantics(later) => part.semantics_mut().merge(later),
        }
    }

    /// Reports notes on a part after its item was emitted as complete.
    fn report_late(&mut self, (item, at): ItemPart, kind: NoteKind<'_>) {
        let place = self.items[item].parts[at].semantics().place();
        let mut reporter = Reporter::new(self.source, SELF, &mut self.report);
        let lost = (LossKind::Dropped, "sent when its message is complete");
        match kind {
            NoteKind::Citation(citation) => reporter.citation(place, &citation, lost),
            NoteKind::Logprobs(logprobs) => reporter.weights(place, &logprobs, lost),
            NoteKind::Semantics(later) => reporter.semantics(&later.stated_of(place)),
        }
    }

    /// Emits a citation of a part, if the protocol has a place for it.
    pub(super) fn annotate(&mut self, (item, at): ItemPart, citation: &Citation<'_>) {
        let part = &self.items[item].parts[at];
        let mut annotation = Writer::default();
        if !write_citation(&mut annotation, citation, chars_of(part)) {
            return;
        }
        let annotation = annotation.into_string();
        self.add_part((item, at));
        let number = self.items[item].states[at].cited;
        self.items[item].states[at].cited += 1;
        let kind = "response.output_text.annotation.added";
        self.item_frame(kind, (item, Some(("content_index", at))), |writer| {
            writer.field("annotation_index", &number);
            writer.field("annotation", &Json::trusted(annotation.into()));
        });
    }

    pub(super) fn close(&mut self, part: PartId, later: NodeSemantics<'static>) {
        if let Some(Placed::Waiting(at)) = self.places.get(part.0 as usize).copied() {
            // What only its issuer can read of an empty text may still be handed on.
            self.left_out[at].semantics_mut().merge(later);
            let part = self.left_out[at].clone();
            return self.hand(&part);
        }
        let Some((item, at)) = self.find(part) else { return };
        let part = &mut self.items[item].parts[at];
        let is_thought = matches!(part.content(), Content::Reasoning(_));
        if later.artefact().is_some() && part.semantics().artefact().is_none() && !is_thought {
            let sealed = Part::new(part.content().clone()).with_semantics(later.clone());
            withhold(&mut Reporter::new(self.source, SELF, &mut self.report), &sealed);
        }
        part.semantics_mut().merge(later);
        self.items[item].states[at].closed = true;
        let is_complete = match self.items[item].parts[at].content() {
            // More notes on a text may come until the next item begins, which may seal the thinking before it.
            Content::Text(_) | Content::Refusal(_) | Content::Reasoning(_) => false,
            // How the answer ends tells what a call is whose arguments are not whole.
            Content::ToolCall(_) => !self.is_half(item),
            Content::Media(_) | Content::ToolResult(_) | Content::Opaque(_) => true,
        };
        if is_complete {
            self.finish_item(item);
        }
    }
}
