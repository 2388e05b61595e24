//! The items of a stream: which of their parts are open, and what has been emitted of them.

use std::collections::{HashMap, HashSet};

use crate::conversation::{Content, Part, ReasoningForm};
use crate::error::Result;
use crate::index::Index;
use crate::json::Text;
use crate::place::{Place, Step};
use crate::protocol::event::Emit;
use crate::protocol::openai_responses::decode_request::{
    citation, decode_output_item, decode_part,
};
use crate::protocol::openai_responses::decode_stream::{Fields, Slot};
use crate::protocol::openai_responses::types::{CONTINUES, IN_CONTENT, Shape};
use crate::protocol::semantics::{Item, NodeSemantics};
use crate::protocol::{Closed, Delta, Event, Logprobs, NoteKind, Open, Opening, PartId};

/// The items of the stream, in order of appearance.
#[derive(Debug, Default)]
pub(super) struct Items {
    items: Vec<ItemState>,
    /// Which of them has which number.
    numbers: Index<usize>,
    next: u32,
    /// Whether a tool was called.
    pub(super) called: bool,
}

/// What has been read of one item.
#[derive(Debug, Default)]
struct ItemState {
    index: usize,
    ended: bool,
    /// The id that the item came with, which stays.
    id: Option<Text<'static>>,
    phase: Option<Text<'static>>,
    /// Where the stream announced it.
    place: Option<Place>,
    parts: Vec<Grown>,
    /// Which part stands in which slot.
    slots: Index<Slot>,
}

/// A part that was opened.
#[derive(Debug)]
struct Grown {
    id: PartId,
    slot: Slot,
    open: bool,
    /// How many pieces have begun.
    pieces: usize,
    /// How many of them were announced; the first is announced with its text.
    announced: usize,
    /// Whether the current piece has got text.
    grown: bool,
    cited: bool,
    /// Whether log probabilities were emitted.
    weighed: bool,
}

impl Items {
    pub(super) fn has_ended(&self, at: Option<usize>) -> bool {
        at.and_then(|at| self.items.get(at)).is_some_and(|item| item.ended)
    }

    /// Reads an event about an item; its name is without its prefix.
    pub(super) fn event<'f>(
        &mut self,
        name: &str,
        fields: &mut Fields<'f>,
        emit: Emit<'_, 'f>,
    ) -> Result<()> {
        let slot = match name.strip_suffix(".delta").or_else(|| name.strip_suffix(".done")) {
            Some("output_text") => Slot::Text(fields.content_index),
            Some("refusal") => Slot::Refusal(fields.content_index),
            Some("function_call_arguments" | "custom_tool_call_input") => Slot::Input,
            Some("reasoning_summary_text" | "reasoning_summary") => Slot::Summary,
            Some("reasoning_text" | "reasoning") => Slot::Thought,
            _ => match name {
                "output_item.added" => return self.added(fields, emit),
                "output_item.done" => return self.item_done(fields, emit),
                "content_part.added" => return self.part_added(fields, emit),
                "content_part.done" => return self.part_done(fields, emit),
                "output_text.annotation.added" => {
                    self.annotation(fields, emit);
                    return Ok(());
                }
                _ => return Ok(()),
            },
        };
        self.text(slot, fields, emit);
        Ok(())
    }

    /// Which of the known items each of a list is, by the ids in it: the one of that id, else the one at that place, unless
    /// its id stands elsewhere in the list.
    pub(super) fn matching(&self, ids: &[Option<String>]) -> Vec<Option<usize>> {
        let (mut by_id, mut by_place) = (HashMap::new(), HashMap::new());
        for (at, item) in self.items.iter().enumerate() {
            by_place.insert(item.index, at);
            if let Some(id) = &item.id {
                by_id.insert(id.to_str().into_owned(), at);
            }
        }
        let known = |id: &Option<String>| id.as_ref().and_then(|id| by_id.get(id)).copied();
        let claimed: HashSet<usize> = ids.iter().filter_map(known).collect();
        let found = ids.iter().enumerate().map(|(place, id)| {
            let at_place = || by_place.get(&place).copied().filter(|at| !claimed.contains(at));
            known(id).or_else(at_place)
        });
        found.collect()
    }

    /// The item of that number, which may be new.
    fn item_at(&mut self, index: usize) -> usize {
        let known = self.numbers.last(&self.items, &index, |item| &item.index);
        known.unwrap_or_else(|| self.push(index))
    }

    /// A new item of that number.
    pub(super) fn push(&mut self, index: usize) -> usize {
        self.items.push(ItemState { index, ..ItemState::default() });
        self.items.len() - 1
    }

    /// An item begins. A call opens at once; what else it may be opens with its first part.
    fn added<'f>(&mut self, fields: &mut Fields<'f>, emit: Emit<'_, 'f>) -> Result<()> {
        let Some(mut reader) = fields.item.take() else { return Ok(()) };
        let mut at = self.item_at(fields.output_index);
        if self.items[at].ended {
            // Some servers give every item the same number. Fixture `stream/text/responses-one-number-for-all-items`.
            at = self.push(fields.output_index);
        }
        let place = fields.place.step(Step::Item);
        self.items[at].place = Some(place);
        let parts = decode_output_item(&mut reader, place)?;
        let Some(part) = parts.into_iter().next() else { return Ok(()) };
        if let Some(item) = part.semantics().item() {
            self.items[at].id = item.id.clone().map(Text::into_owned);
            self.items[at].phase = item.phase.clone().map(Text::into_owned);
        }
        if let Content::ToolCall(_) = part.content() {
            self.open(at, Slot::Input, part, emit);
        }
        Ok(())
    }

    /// Opens a part with what is known of it; its text is not emitted yet. The status that it will have is not known.
    fn open<'f>(&mut self, at: usize, slot: Slot, part: Part<'f>, emit: Emit<'_, 'f>) -> usize {
        let item_state = &self.items[at];
        // What opens an item speaks for all of it.
        let place = item_state.place.filter(|_| item_state.parts.is_empty());
        let mut semantics = NodeSemantics::at(place.unwrap_or(part.semantics().place()));
        if part.semantics().spelling().is_as_json() {
            semantics.add_shape(Shape::AS_JSON);
        }
        if item_state.parts.is_empty() {
            let mut item = part.semantics().item().cloned().unwrap_or_default();
            item.status = None;
            item.id = item_state.id.clone().or(item.id);
            item.phase = item_state.phase.clone().or(item.phase);
            semantics.set_item(item);
        } else {
            semantics.add_shape(CONTINUES);
        }
        let (opening, ..) = Opening::of(part.into_content());
        self.called |= matches!(opening, Opening::ToolCall { .. });
        let id = PartId(self.next);
        self.next += 1;
        let part = Grown {
            id,
            slot,
            open: true,
            pieces: 0,
            announced: 0,
            grown: false,
            cited: false,
            weighed: false,
        };
        self.items[at].parts.push(part);
        emit(Event::Open(Open { part: id, candidate: 0, opening, semantics }));
        self.items[at].parts.len() - 1
    }

    /// Opens a part that begins with a delta, or comes whole, without an event that announced it.
    fn open_slot<'f>(&mut self, at: usize, slot: Slot, place: Place, emit: Emit<'_, 'f>) -> usize {
        let opening = match slot {
            Slot::Refusal(_) => Opening::Refusal,
            Slot::Summary => Opening::Reasoning(ReasoningForm::Summary),
            Slot::Thought => Opening::Reasoning(ReasoningForm::Raw),
            Slot::Text(_) | Slot::Input | Slot::Whole(_) => Opening::Text,
        };
        let part = Part::new(opening.into_content()).with_semantics(NodeSemantics::at(place));
        self.open(at, slot, part, emit)
    }

    /// A part grows, or comes whole; the whole counts only if no delta came before.
    /// Fixture `stream/tools/responses-arguments-only-in-done`.
    fn text<'f>(&mut self, slot: Slot, fields: &mut Fields<'f>, emit: Emit<'_, 'f>) {
        let (at, place) = (self.item_at(fields.output_index), fields.place);
        let found = self.items[at].find(slot);
        if self.items[at].ended || (found.is_none() && slot == Slot::Input) {
            return;
        }
        // Fixture `stream/thinking/responses-empty-piece-without-a-delta`.
        let step = match (&fields.delta, slot) {
            (Some(_), _) => Step::Delta,
            (None, Slot::Refusal(_)) => Step::Refusal,
            (None, _) => Step::Text,
        };
        let found = found.unwrap_or_else(|| self.open_slot(at, slot, place.step(step), emit));
        let part = &mut self.items[at].parts[found];
        if !part.open {
            return;
        }
        let piece = match slot {
            Slot::Summary => Some(fields.summary_index),
            Slot::Thought => Some(fields.content_index),
            Slot::Text(_) | Slot::Refusal(_) | Slot::Input | Slot::Whole(_) => None,
        };
        if let Some(piece) = piece {
            part.begin(piece, emit);
        }
        if let Some(delta) = fields.delta.take() {
            // They go before the text that they speak of.
            part.logprobs(fields.logprobs.take().map(Logprobs::new), place, emit);
            part.grow(delta, emit);
        } else if let Some(whole) = fields.whole.take().filter(|_| !part.grown) {
            part.grow(whole, emit);
        }
    }

    fn annotation<'f>(&mut self, fields: &mut Fields<'f>, emit: Emit<'_, 'f>) {
        let at = self.item_at(fields.output_index);
        let slot = Slot::Text(fields.content_index);
        let found = self.items[at].find(slot);
        if let (Some(found), Some(annotation)) = (found, fields.annotation.take()) {
            let part = &mut self.items[at].parts[found];
            part.cited = true;
            let citation = citation(annotation).at(fields.place.step(Step::Annotation));
            emit(Event::noted(part.id, NoteKind::Citation(citation)));
        }
    }

    /// A part of a message or of the thoughts themselves begins.
    fn part_added<'f>(&mut self, fields: &mut Fields<'f>, emit: Emit<'_, 'f>) -> Result<()> {
        let at = self.item_at(fields.output_index);
        let Some(mut reader) = fields.part.take() else { return Ok(()) };
        let part = decode_part(&mut reader, fields.place.step(Step::Part))?;
        let slot = Slot::of(&part, fields.content_index);
        // Thoughts open with their text, and what is unknown is emitted when it is complete.
        if !matches!(slot, Slot::Whole(_)) && self.items[at].find(slot).is_none() {
            self.open(at, slot, part, emit);
        }
        Ok(())
    }

    fn part_done<'f>(&mut self, fields: &mut Fields<'f>, emit: Emit<'_, 'f>) -> Result<()> {
        let at = self.item_at(fields.output_index);
        let Some(mut reader) = fields.part.take() else { return Ok(()) };
        let kind = reader.peek_tag("type")?.unwrap_or_default();
        // Thoughts are complete with their item, which has what seals them.
        if kind == *"reasoning_text" || self.items[at].ended {
            return Ok(());
        }
        let part = decode_part(&mut reader, fields.place.step(Step::Part))?;
        self.complete(at, fields.content_index, part, emit);
        Ok(())
    }

    /// Completes a part of a message.
    fn complete<'f>(&mut self, at: usize, index: usize, part: Part<'f>, emit: Emit<'_, 'f>) {
        let slot = Slot::of(&part, index);
        let found = self.items[at].find(slot);
        let stated = part.semantics().clone();
        let text = match part.content() {
            Content::Text(text) | Content::Refusal(text) => text.clone(),
            _ => Text::default(),
        };
        let found = found.unwrap_or_else(|| self.open(at, slot, part, emit));
        let grown = &mut self.items[at].parts[found];
        if !grown.open {
            return;
        }
        if !grown.grown {
            grown.grow(text, emit);
        }
        if !grown.weighed {
            grown.logprobs(stated.logprobs().cloned(), stated.place(), emit);
        }
        let semantics = grown.semantics_at_end(&stated);
        grown.close(semantics, emit);
    }

    /// An item is complete. Whatever of it was not emitted yet is emitted now.
    fn item_done<'f>(&mut self, fields: &mut Fields<'f>, emit: Emit<'_, 'f>) -> Result<()> {
        let Some(mut reader) = fields.item.take() else { return Ok(()) };
        let parts = decode_output_item(&mut reader, fields.place.step(Step::Item))?;
        let at = self.item_at(fields.output_index);
        self.done_at(at, parts.into_vec(), emit);
        Ok(())
    }

    /// The same for an item that is known, or that only the list at the end has.
    pub(super) fn done_at<'f>(&mut self, at: usize, parts: Vec<Part<'f>>, emit: Emit<'_, 'f>) {
        if self.items[at].ended {
            return;
        }
        // An item that proves odd when it is complete has been emitted already.
        let is_emitted = |part: &Part<'_>| !part.semantics().has_shape(IN_CONTENT);
        let is_emitted = parts.first().is_some_and(is_emitted) && !self.items[at].parts.is_empty();
        match parts.first().map(Part::content) {
            Some(Content::ToolCall(_)) => self.call_done(at, parts, emit),
            Some(Content::Reasoning(_)) => self.thought_done(at, parts, emit),
            Some(Content::Opaque(_)) if is_emitted => {}
            Some(_) => self.message_done(at, parts, emit),
            None => {}
        }
        self.items[at].ended = true;
        self.items[at].close_all(emit);
    }

    fn call_done<'f>(&mut self, at: usize, parts: Vec<Part<'f>>, emit: Emit<'_, 'f>) {
        let Some(part) = parts.into_iter().next() else { return };
        let semantics = self.items[at].later(part.semantics());
        let text = match part.content() {
            Content::ToolCall(call) => call.arguments.clone().into_text(),
            _ => Text::default(),
        };
        if self.items[at].parts.is_empty() {
            self.open(at, Slot::Input, part, emit);
        }
        let grown = &mut self.items[at].parts[0];
        if !grown.grown {
            grown.grow(text, emit);
        }
        grown.close(semantics, emit);
    }

    fn thought_done<'f>(&mut self, at: usize, parts: Vec<Part<'f>>, emit: Emit<'_, 'f>) {
        let Some(first) = parts.first() else { return };
        let sealed = self.items[at].later(first.semantics());
        let is_only_sealed = self.items[at].parts.is_empty();
        for part in parts {
            let Content::Reasoning(thought) = part.content() else { continue };
            let slot = match thought.form {
                ReasoningForm::Raw => Slot::Thought,
                ReasoningForm::Summary | ReasoningForm::Redacted => Slot::Summary,
            };
            let texts = thought.texts.clone();
            let found = self.items[at].find(slot);
            if found.is_none() && (is_only_sealed || !texts.is_empty()) {
                self.open(at, slot, part, emit);
            }
            if let Some(found) = self.items[at].find(slot) {
                self.items[at].parts[found].pieces(texts, emit);
            }
        }
        if let Some(grown) = self.items[at].parts.first_mut() {
            grown.close(sealed, emit);
        }
    }

    fn message_done<'f>(&mut self, at: usize, parts: Vec<Part<'f>>, emit: Emit<'_, 'f>) {
        let later = parts.first().map(|part| self.items[at].later(part.semantics()));
        for (index, part) in parts.into_iter().enumerate() {
            self.complete(at, index, part, emit);
        }
        let first = self.items[at].parts.first().map(|part| part.id);
        if let (Some(first), Some(later)) = (first, later)
            && let Some(item) = later.item()
        {
            let mut semantics = NodeSemantics::at(later.place().of_item());
            semantics.set_item(item.clone());
            emit(Event::noted(first, NoteKind::Semantics(semantics)));
        }
    }

    pub(super) fn close_all<'f>(&mut self, emit: Emit<'_, 'f>) {
        self.items.iter_mut().for_each(|item| item.close_all(emit));
    }
}

impl ItemState {
    /// The part that stands in a slot.
    fn find(&mut self, slot: Slot) -> Option<usize> {
        self.slots.last(&self.parts, &slot, |part| &part.slot)
    }

    /// What the complete item says of itself; the id that it began with stays.
    fn later<'f>(&self, semantics: &NodeSemantics<'f>) -> NodeSemantics<'f> {
        let mut later = semantics.clone();
        if let (Some(item), Some(_)) = (later.item(), &self.id) {
            later.set_item(Item { id: None, ..item.clone() });
        }
        later
    }

    fn close_all<'f>(&mut self, emit: Emit<'_, 'f>) {
        for part in &mut self.parts {
            part.close(NodeSemantics::default(), emit);
        }
    }
}

impl Grown {
    /// Begins pieces until `piece` is the current one; the first begins by itself.
    fn begin<'f>(&mut self, piece: usize, emit: Emit<'_, 'f>) {
        // A piece number that jumps far ahead is noise, not that many empty pieces.
        if piece > self.pieces + PIECES_SKIPPED_MAX {
            return;
        }
        while self.pieces <= piece {
            self.pieces += 1;
            self.grown = false;
            if self.pieces > 1 {
                self.emit_pieces(emit);
            }
        }
    }

    /// Emits the beginnings of pieces that have no text.
    fn emit_pieces<'f>(&mut self, emit: Emit<'_, 'f>) {
        while self.announced < self.pieces {
            emit(Event::Delta(self.id, Delta::NextPiece));
            self.announced += 1;
        }
    }

    fn grow<'f>(&mut self, text: Text<'f>, emit: Emit<'_, 'f>) {
        if self.open && !text.is_empty() && !matches!(self.slot, Slot::Whole(_)) {
            self.grown = true;
            self.announced = self.announced.max(1);
            emit(Event::Delta(self.id, Delta::Text(text)));
        }
    }

    /// Emits the pieces that were not emitted yet.
    fn pieces<'f>(&mut self, texts: Vec<Text<'f>>, emit: Emit<'_, 'f>) {
        let begun = self.pieces;
        for (index, text) in texts.into_iter().enumerate() {
            if index < begun && (index + 1 < begun || self.grown) {
                continue;
            }
            self.begin(index, emit);
            self.grow(text, emit);
        }
        self.emit_pieces(emit);
    }

    /// What the complete part states, but for what was emitted one by one.
    fn semantics_at_end<'f>(&self, stated: &NodeSemantics<'f>) -> NodeSemantics<'f> {
        let mut semantics = stated.spelled_alike(stated.place());
        if let Some(extras) = stated.extras() {
            semantics.keep(extras.clone());
        }
        if !self.cited {
            let place = stated.place().step(Step::Annotations);
            let citations = stated.citations().iter().cloned();
            citations.for_each(|citation| semantics.add_citation(citation.at(place)));
        }
        semantics
    }

    /// Emits log probabilities that stand in the object at `place`.
    fn logprobs<'f>(&mut self, logprobs: Option<Logprobs<'f>>, place: Place, emit: Emit<'_, 'f>) {
        if let Some(logprobs) = logprobs.filter(|it| it.entries().as_str() != "[]") {
            self.weighed = true;
            let logprobs = logprobs.at(place.step(Step::Logprobs));
            emit(Event::noted(self.id, NoteKind::Logprobs(logprobs)));
        }
    }

    fn close<'f>(&mut self, semantics: NodeSemantics<'f>, emit: Emit<'_, 'f>) {
        if std::mem::take(&mut self.open) {
            emit(Event::Close(Closed { part: self.id, semantics }));
        }
    }
}

/// How many empty pieces a stream may pass over at once.
const PIECES_SKIPPED_MAX: usize = 64;
