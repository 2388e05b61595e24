//! The parts of a stream, each a block that begins when it has something to say.

use super::{Writing, frames};
use crate::conversation::{Arguments, CallForm, Content, Part, ReasoningForm, ToolCall};
use crate::json::{Encode, Json, Text};
use crate::loss::LossKind;
use crate::place::Place;
use crate::protocol::anthropic_messages::encode_request::blocks::{Block, write_own};
use crate::protocol::anthropic_messages::encode_response::{
    CITED, FREE_TEXT, ONE_THOUGHT, REFUSAL, foreign_citation, withhold,
};
use crate::protocol::anthropic_messages::types::SELF;
use crate::protocol::reporter::Reporter;
use crate::protocol::semantics::NodeSemantics;
use crate::protocol::{
    Artefact, ArtefactKind, Citation, Closed, Delta, Field, NoteAt, Open, Opening, PartId, Protocol,
};

/// The part that is open.
#[derive(Debug)]
pub(super) struct Current {
    part: PartId,
    shown: Shown,
    /// Whether its block has begun.
    begun: bool,
    /// Whether it came in several pieces, which are one here.
    in_pieces: bool,
    /// Whether its text is a refusal; some servers state an empty one where there is none.
    refuses: bool,
    semantics: NodeSemantics<'static>,
}

/// How a part shows in the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    Text,
    Thinking,
    /// Thinking that only its issuer can read.
    Sealed,
    Call(CallForm),
    /// It stands whole in the beginning of its block.
    Whole,
    /// There is no block for it.
    Nothing,
}

impl Shown {
    fn of(opening: &Opening<'_>) -> Self {
        match opening {
            Opening::Text | Opening::Refusal => Self::Text,
            Opening::Reasoning(ReasoningForm::Redacted) => Self::Sealed,
            Opening::Reasoning(ReasoningForm::Raw | ReasoningForm::Summary) => Self::Thinking,
            Opening::ToolCall { form, .. } => Self::Call(*form),
            Opening::Whole(_) => Self::Whole,
        }
    }
}

impl Current {
    pub(super) fn place(&self) -> Place {
        self.semantics.place()
    }

    fn block(&self, source: Protocol) -> Block<'_> {
        match source {
            SELF => Block::Own(&self.semantics),
            _ => Block::Foreign,
        }
    }
}

impl Writing<'_> {
    pub(super) fn open(&mut self, open: Open<'_>) {
        let Open { part, candidate: _, opening, semantics } = open.into_owned();
        self.reporter().semantics(&semantics);
        let (shown, begun, in_pieces) = (Shown::of(&opening), false, false);
        let refuses = matches!(opening, Opening::Refusal);
        if refuses {
            self.reporter().renamed(semantics.place(), REFUSAL);
        }
        self.current = Some(Current { part, shown, begun, in_pieces, refuses, semantics });
        match opening {
            Opening::Text | Opening::Reasoning(_) | Opening::Refusal => {}
            Opening::ToolCall { id, name, form } => self.begin_call(id, name, form),
            Opening::Whole(content) => self.whole(content),
        }
    }

    /// Begins the block of a sealed thought if it is the first of the answer; others wait for the block that they lead to,
    /// since no answer may end with them.
    fn begin_first_block(&mut self) {
        if self.blocks == 0 {
            self.begin_block();
        }
    }

    /// Writes the sealed thoughts that wait for the block that now begins.
    fn write_sealed(&mut self) {
        for semantics in std::mem::take(&mut self.sealed) {
            frames::block_start(&mut self.out, self.blocks, |writer| {
                Block::Foreign.redacted(writer, &carried(&semantics));
            });
            frames::block_stop(&mut self.out, self.blocks);
            self.blocks += 1;
        }
    }

    /// Reports the sealed thoughts that led to nothing.
    pub(super) fn report_sealed(&mut self) {
        for semantics in std::mem::take(&mut self.sealed) {
            let reason = "Messages does not end an answer with redacted thinking";
            self.reporter().withheld(&semantics, reason);
        }
    }

    /// Begins the block of a text or a thought.
    fn begin_block(&mut self) {
        let is_due = |current: &Current| {
            !current.begun && !matches!(current.shown, Shown::Nothing | Shown::Whole)
        };
        if !self.current.as_ref().is_some_and(is_due) {
            return;
        }
        self.write_sealed();
        let Some(current) = &mut self.current else { return };
        current.begun = true;
        let block = current.block(self.source);
        frames::block_start(&mut self.out, self.blocks, |writer| match current.shown {
            Shown::Thinking => block.thinking(writer, &Text::default(), &Text::default()),
            Shown::Sealed => block.redacted(writer, &carried(&current.semantics)),
            Shown::Text | Shown::Call(_) | Shown::Whole | Shown::Nothing => {
                block.text(writer, &Text::default());
            }
        });
    }

    fn begin_call(&mut self, id: Option<Text<'static>>, name: Text<'static>, form: CallForm) {
        self.write_sealed();
        let Some(current) = &mut self.current else { return };
        current.begun = true;
        let mut reporter = Reporter::new(self.source, SELF, &mut self.report);
        if form == CallForm::Custom {
            reporter.approximated(current.place(), FREE_TEXT);
        }
        let name = self.context.client_name(&name).into_owned();
        let id = match self.source {
            SELF => id,
            _ => {
                let (own, place) = (id.as_ref(), current.place());
                Some(Text::plain(self.answering.call_id(own, &self.context, place, &mut reporter)))
            }
        };
        let arguments = Arguments::Json(Json::literal("{}"));
        let call = ToolCall { id: None, name: name.clone(), arguments, form };
        frames::block_start(&mut self.out, self.blocks, |writer| {
            current.block(self.source).tool_use(writer, (id.as_ref(), &name), &call);
        });
        if form == CallForm::Custom {
            self.delta(frames::INPUT, CUSTOM_BEGIN);
        }
    }

    /// Writes a part that comes in one piece.
    fn whole(&mut self, content: Content<'static>) {
        let is_own = self.is_own();
        let Some(current) = &mut self.current else { return };
        let (out, blocks) = (&mut self.out, self.blocks);
        match &content {
            // A block that is this protocol's alone, wherever the answer comes from.
            Content::Opaque(it) if it.protocol == SELF && it.kind == "compaction" => {
                frames::compaction(out, blocks, &it.json);
            }
            Content::Opaque(it) if it.protocol == SELF && !is_own => {
                frames::block_start(out, blocks, |writer| writer.value(&it.json));
            }
            _ if is_own => {
                let part = Part { content, semantics: current.semantics.clone() };
                frames::block_start(out, blocks, |writer| {
                    write_own(writer, &part, Block::Own(part.semantics()), Text::reborrow);
                });
            }
            _ => return self.unpack(content),
        }
        current.begun = true;
    }

    /// Writes what another protocol gives in one piece and this one in several.
    fn unpack(&mut self, content: Content<'static>) {
        let (opening, text, pieces) = Opening::of(content);
        self.show(Shown::of(&opening));
        match opening {
            Opening::ToolCall { id, name, form } => self.begin_call(id, name, form),
            Opening::Text | Opening::Refusal | Opening::Reasoning(_) => {}
            Opening::Whole(_) => {
                self.show(Shown::Nothing);
                let place = self.current.as_ref().map(Current::place).unwrap_or_default();
                self.reporter().dropped(place, "Messages answers hold text and tool calls only");
            }
        }
        [text].iter().chain(&pieces).for_each(|text| self.grow_text(text));
    }

    fn show(&mut self, shown: Shown) {
        if let Some(current) = &mut self.current {
            current.shown = shown;
        }
    }

    pub(super) fn grow(&mut self, part: PartId, delta: Delta<'_>) {
        if self.current.as_ref().is_none_or(|current| current.part != part) {
            return;
        }
        match delta {
            Delta::Text(text) => self.grow_text(&text),
            Delta::NextPiece => self.next_piece(),
        }
    }

    /// Sets the next piece of a thought apart from what has been shown of it.
    fn next_piece(&mut self) {
        let Some(current) = &mut self.current else { return };
        let (place, is_first, begun) = (current.place(), !current.in_pieces, current.begun);
        current.in_pieces = true;
        if is_first {
            self.reporter().renamed(place, ONE_THOUGHT);
        }
        if begun {
            self.grow_text(&Text::plain("\n\n"));
        }
    }

    /// Adds to the block that is being written.
    fn delta(&mut self, growing: frames::Growing, value: &(impl Encode + ?Sized)) {
        frames::block_delta(&mut self.out, self.blocks, growing, value);
    }

    fn grow_text(&mut self, text: &Text<'_>) {
        let Some(current) = self.current.as_ref().filter(|_| !text.is_empty()) else { return };
        let shown = current.shown;
        if current.refuses {
            self.answering.refused();
        }
        self.begin_block();
        match shown {
            Shown::Text => self.delta(frames::TEXT, text),
            Shown::Thinking => self.delta(frames::THINKING, text),
            Shown::Call(CallForm::Function) => self.delta(frames::INPUT, text),
            Shown::Call(CallForm::Custom) => self.delta(frames::INPUT, &*text.json_body()),
            Shown::Sealed | Shown::Whole | Shown::Nothing => {}
        }
    }

    pub(super) fn cite(&mut self, part: PartId, citation: &Citation<'_>) {
        let shows = |current: &Current| current.part == part && current.shown == Shown::Text;
        if !self.current.as_ref().is_some_and(shows) {
            return self.report_once(NoteAt::Part(part), Field::Citations, citation.place());
        }
        let place = self.current.as_ref().map(Current::place).unwrap_or_default();
        if self.reported.insert((Field::Citations, place)) {
            self.reporter().citation(place, citation, (LossKind::Approximated, CITED));
        }
        let made = foreign_citation(citation).filter(|_| !self.is_own());
        if let Some(citation) = made.as_ref().or(self.is_own().then_some(citation)) {
            self.begin_block();
            self.delta(frames::CITATION, citation.json());
        }
    }

    /// Takes what becomes known of a part while it is open.
    pub(super) fn learn(&mut self, part: PartId, semantics: NodeSemantics<'_>) {
        if let Some(current) = self.current.as_mut().filter(|current| current.part == part) {
            current.semantics.merge(semantics.into_owned());
        }
    }

    pub(super) fn close_part(&mut self, closed: Closed<'_>) {
        if self.current.as_ref().is_none_or(|current| current.part != closed.part) {
            return;
        }
        if self.is_own() {
            self.begin_block();
        }
        self.report_late(&closed.semantics);
        self.learn(closed.part, closed.semantics);
        self.seal();
        let Some(current) = self.current.take() else { return };
        if current.shown == Shown::Sealed
            && !current.begun
            && current.semantics.artefact().is_some()
        {
            return self.sealed.push(current.semantics);
        }
        if current.shown == Shown::Call(CallForm::Custom) {
            self.delta(frames::INPUT, CUSTOM_END);
        }
        if current.begun {
            frames::block_stop(&mut self.out, self.blocks);
            self.blocks += 1;
        }
    }

    /// Reports what became known of the open part after it began, where it began.
    pub(super) fn report_late(&mut self, semantics: &NodeSemantics<'_>) {
        let place = self.current.as_ref().map_or(semantics.place(), Current::place);
        self.reporter().semantics(&semantics.clone().stated_of(place));
    }

    /// Writes the artefact of the part that closes, where there is a field for it.
    fn seal(&mut self) {
        let Some(current) = &mut self.current else { return };
        let Some(kind) = current.semantics.artefact().map(Artefact::kind) else {
            return;
        };
        match current.shown {
            Shown::Thinking if kind == ArtefactKind::Ciphertext && !current.begun => {
                current.shown = Shown::Sealed;
                self.begin_first_block();
            }
            Shown::Thinking => {
                let signature = carried(&current.semantics).into_owned();
                self.begin_block();
                self.delta(frames::SIGNATURE, &signature);
            }
            Shown::Sealed => self.begin_first_block(),
            Shown::Text | Shown::Call(_) | Shown::Nothing => {
                let mut reporter = Reporter::new(self.source, SELF, &mut self.report);
                withhold(&current.semantics, &mut reporter);
            }
            Shown::Whole => {}
        }
    }
}

/// The artefact of a part as clients of this protocol hand it back.
fn carried<'s>(semantics: &'s NodeSemantics<'_>) -> Text<'s> {
    semantics.artefact().map(|artefact| artefact.carried_in(SELF)).unwrap_or_default()
}

/// What stands around the free text of a custom tool, so that the pieces add up to an object.
const CUSTOM_BEGIN: &str = "{\"input\":\"";
const CUSTOM_END: &str = "\"}";
