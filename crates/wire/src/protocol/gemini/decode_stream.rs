//! Reading streams: every frame is a response object whose parts go on where the last ones ended.

use crate::characters::Characters;
use crate::conversation::{Content, Counts, Part, ReasoningForm, ToolCall};
use crate::error::Result;
use crate::fault::Fault;
use crate::json::{Json, Kind, Reader, Text};
use crate::limit::{CANDIDATES_MAX, FRAME_BYTES_MAX};
use crate::place::{Place, Step};
use crate::protocol::event::Emit;
use crate::protocol::gemini::decode_request::partial::{
    PartOrPiece, WrittenPiece, call_part, unjoined,
};
use crate::protocol::gemini::decode_response::{
    CandidateDraft, Chunk, Grounding, breaks_off, cut, finish, prompt_filter, unplaced,
};
use crate::protocol::gemini::fault::fault_of;
use crate::protocol::gemini::types::SELF;
use crate::protocol::gemini::usage::USAGE;
use crate::protocol::machine::DecodeStream;
use crate::protocol::partial_call::{Added, Joiner};
use crate::protocol::semantics::{Extras, NodeSemantics};
use crate::protocol::sink::Sink;
use crate::protocol::{
    Closed, Delta, Event, Logprobs, Note, NoteAt, NoteKind, Opening, PartId, Start,
};
use crate::sse::Frame;

/// Frames in, events out.
#[derive(Debug, Default)]
pub(in super::super) struct Decoder {
    frames: usize,
    stage: Stage,
    next_part: u32,
    candidates: Vec<Running>,
    /// What was counted so far, since later reports need not repeat it.
    counts: Counts,
    /// What else reports stated.
    details: Extras<'static>,
    has_tier: bool,
    /// Why the prompt was blocked.
    blocked: Option<Text<'static>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Waiting,
    Started,
    Failed,
}

/// A candidate in the making.
#[derive(Debug, Default)]
struct Running {
    seen: bool,
    /// The text or thoughts that more of the same may join.
    text: Option<(TextKind, PartId)>,
    /// Its parts so far, with the texts that sources point into.
    parts: Vec<(PartId, Option<Characters>)>,
    /// Which of them are its first and its last text.
    first_text: Option<usize>,
    last_text: Option<usize>,
    /// Log probabilities of a text that is still to come, and the candidate that they stand in.
    logprobs: Option<(Logprobs<'static>, Place)>,
    calls: bool,
    /// Its calls that come in pieces, and these as they were written as long as they may be of one.
    pieces: Joiner,
    unjoined: Vec<Option<(Json<'static>, Place)>>,
    /// The reason for its end, and where that was stated.
    finish: Option<(Text<'static>, Place)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextKind {
    Answer,
    Thought,
}

impl DecodeStream for Decoder {
    fn step<'f>(&mut self, frame: &Frame<'f>, emit: Emit<'_, 'f>) -> Result<()> {
        let place = Place::default().element(Step::Frame, self.frames);
        self.frames += 1;
        if frame.data.trim() == "[DONE]" {
            return Ok(());
        }
        let mut reader = Reader::new(frame.data);
        match reader.kind()? {
            Kind::Array => reader.array(|_, reader| self.chunk(reader, place, emit))?,
            _ => self.chunk(&mut reader, place, emit)?,
        }
        reader.finish()
    }

    /// Says that no frame follows. Only now is it certain that nothing comes after the finish reason.
    fn end(mut self: Box<Self>, emit: Emit<'_, 'static>) {
        if self.stage == Stage::Failed {
            return;
        }
        // The last frame is where an answer ends.
        let place = Place::default().element(Step::Frame, self.frames.saturating_sub(1));
        let seen = || self.candidates.iter().filter(|candidate| candidate.seen);
        let ended = seen().all(Running::is_whole);
        if seen().next().is_some() && ended {
            for (candidate, running) in (0..).zip(self.candidates) {
                running.end(&mut Sink { candidate, place, next: &mut self.next_part, emit });
            }
        } else if let (None, Some(reason)) = (seen().next(), self.blocked) {
            let place = place.step(Step::PromptFeedback);
            note(NoteAt::Candidate(0), NodeSemantics::at(place), emit);
            emit(Event::Finish { candidate: 0, place, finish: prompt_filter(reason) });
        } else {
            emit(Event::Fault(Fault::truncated()));
        }
    }
}

impl Decoder {
    fn chunk<'f>(
        &mut self,
        reader: &mut Reader<'f>,
        place: Place,
        emit: Emit<'_, 'f>,
    ) -> Result<()> {
        let mut chunk = Chunk::default();
        chunk.read(reader, place, &mut self.details)?;
        if self.stage == Stage::Failed {
            return Ok(());
        }
        if let Some(error) = &chunk.error {
            self.stage = Stage::Failed;
            emit(Event::Fault(fault_of(None, error)));
            return Ok(());
        }
        let tier = chunk.usage.as_mut().and_then(|report| report.service_tier.take());
        let late_tier =
            if self.stage == Stage::Waiting || self.has_tier { None } else { tier.clone() };
        self.start(&mut chunk, tier, place, emit);
        if self.blocked.is_none() {
            self.blocked = chunk.blocked.take().map(Text::into_owned);
        }
        for candidate in chunk.candidates {
            self.candidate(candidate, emit);
        }
        if let Some(report) = chunk.usage {
            report.add_details_to(&mut self.details);
            let mut usage = USAGE.following(report, &mut self.counts);
            if let Some(tier) = &late_tier {
                // It came too late to be the answer's own.
                let extras = usage.semantics_mut().extras_mut();
                extras.keep("", "serviceTier".into(), Json::of_text(tier));
            }
            emit(Event::Usage(usage));
        }
        Ok(())
    }

    /// Begins the answer, or adds what a later frame says of it as a whole.
    fn start<'f>(
        &mut self,
        chunk: &mut Chunk<'f>,
        service_tier: Option<Text<'f>>,
        place: Place,
        emit: Emit<'_, 'f>,
    ) {
        let (id, model) = (chunk.id.take(), chunk.model.take());
        let semantics = NodeSemantics::at(place).keeping(std::mem::take(&mut chunk.extras));
        if self.stage == Stage::Started {
            if semantics.has_detail() {
                note(NoteAt::Response, semantics, emit);
            }
            return;
        }
        self.stage = Stage::Started;
        self.has_tier = service_tier.is_some();
        emit(Event::Start(Start { id, model, created: None, service_tier, semantics }));
    }

    fn candidate<'f>(&mut self, draft: CandidateDraft<'f>, emit: Emit<'_, 'f>) {
        let index = (draft.index as usize).min(CANDIDATES_MAX - 1);
        while self.candidates.len() <= index {
            self.candidates.push(Running::default());
        }
        let (running, place) = (&mut self.candidates[index], draft.semantics.place());
        let sources = draft.sources();
        let first = !std::mem::replace(&mut running.seen, true);
        if first || draft.semantics.extras().is_some() {
            note(NoteAt::Candidate(draft.index), draft.semantics, emit);
        }
        let sink = &mut Sink { candidate: index as u32, place, next: &mut self.next_part, emit };
        running.await_text(draft.logprobs, place);
        for part in draft.parts {
            match part {
                PartOrPiece::Part(part) => {
                    running.pieces.pass(&part);
                    running.give_up(sink);
                    running.part(part, sink);
                }
                PartOrPiece::Piece(it) => running.piece(*it, sink),
            }
        }
        running.weigh_last(sink);
        running.cite(&draft.grounding, sources, sink);
        if let Some(reason) = draft.finish {
            running.finish = Some((reason.into_owned(), place));
            running.close(sink);
        }
    }
}

impl Running {
    fn part<'f>(&mut self, part: Part<'f>, sink: &mut Sink<'_, 'f>) {
        let Part { content, semantics } = part;
        match content {
            Content::Text(text) => self.text(TextKind::Answer, text, semantics, sink),
            Content::Reasoning(thought) => {
                let text = thought.texts.into_iter().next().unwrap_or_default();
                self.text(TextKind::Thought, text, semantics, sink);
            }
            Content::ToolCall(call) => {
                self.close(sink);
                self.calls = true;
                let ToolCall { id, name, arguments, form } = *call;
                let part = self.open(Opening::ToolCall { id, name, form }, semantics, sink);
                sink.send(Event::Delta(part, Delta::Text(arguments.into_text())));
                sink.close(part);
            }
            content => {
                self.close(sink);
                let part = self.open(Opening::Whole(content), semantics, sink);
                sink.close(part);
            }
        }
    }

    /// Opens the next part.
    fn open<'f>(
        &mut self,
        opening: Opening<'f>,
        semantics: NodeSemantics<'f>,
        sink: &mut Sink<'_, 'f>,
    ) -> PartId {
        let kept = matches!(opening, Opening::Text).then(Characters::default);
        if kept.is_some() {
            self.first_text = self.first_text.or(Some(self.parts.len()));
            self.last_text = Some(self.parts.len());
        }
        let part = sink.open(opening, semantics);
        self.parts.push((part, kept));
        part
    }

    /// Adds text to the open part if it is of the same kind and neither is signed, else begins a part.
    fn text<'f>(
        &mut self,
        kind: TextKind,
        text: Text<'f>,
        semantics: NodeSemantics<'f>,
        sink: &mut Sink<'_, 'f>,
    ) {
        let alone = semantics.artefact().is_some() || semantics.extras().is_some();
        if text.is_empty() && !alone {
            return;
        }
        if self.seals(kind, &text, &semantics) {
            return self.close_with(semantics, sink);
        }
        let part = match self.text {
            Some((open, part)) if !alone && open == kind => part,
            _ => {
                self.close(sink);
                let opening = match kind {
                    TextKind::Answer => Opening::Text,
                    TextKind::Thought => Opening::Reasoning(ReasoningForm::Summary),
                };
                let part = self.open(opening, semantics, sink);
                self.text = Some((kind, part));
                part
            }
        };
        if kind == TextKind::Answer {
            self.weigh(part, sink);
        }
        self.remember(&text);
        sink.grow(part, text);
        if alone {
            self.close(sink);
        }
    }

    /// Whether this is a foreign signature for the thoughts that stand before it.
    fn seals(&self, kind: TextKind, text: &Text<'_>, semantics: &NodeSemantics<'_>) -> bool {
        let thinks = self.text.is_some_and(|(open, _)| open == TextKind::Thought);
        let foreign = semantics.artefact().is_some_and(|artefact| artefact.issuer() != SELF);
        thinks && foreign && kind == TextKind::Thought && text.is_empty()
    }

    /// Keeps the text of the last part, since sources are located by its bytes.
    fn remember(&mut self, text: &Text<'_>) {
        if let Some((_, Some(kept))) = self.parts.last_mut()
            && kept.text().len() + text.len_hint() <= FRAME_BYTES_MAX
        {
            kept.push(text);
        }
    }

    fn is_whole(&self) -> bool {
        let finish = self.finish.as_ref();
        finish.is_some_and(|(raw, _)| !self.pieces.lacks_pieces() || breaks_off(&raw.to_str()))
    }

    /// Adds a piece of a call, which is emitted when its last piece is there. One of no call stands for itself, as it does in a
    /// whole answer. Fixture `stream/tools/gemini-signature-behind-a-call`.
    fn piece<'f>(&mut self, piece: WrittenPiece<'f>, sink: &mut Sink<'_, 'f>) {
        let WrittenPiece { mut piece, json } = piece;
        let place = piece.semantics.place();
        piece.position = self.unjoined.len();
        let added = self.pieces.add(piece);
        self.give_up(sink);
        match added {
            Added::Call(joined) => {
                for position in &joined.positions {
                    self.unjoined.get_mut(*position).map(Option::take);
                }
                self.part(call_part(*joined), sink);
            }
            Added::Stray => self.part(unjoined(json, place), sink),
            Added::Kept => self.unjoined.push(Some((json.into_owned(), place))),
        }
    }

    /// Emits the pieces of which no call will be made, before what broke theirs off: whoever reads them behind it would make one.
    /// Fixture `stream/tools/gemini-pieces-around-a-whole-call`.
    fn give_up(&mut self, sink: &mut Sink<'_, '_>) {
        for position in self.pieces.take_given_up() {
            let piece = self.unjoined.get_mut(position).and_then(Option::take);
            if let Some((json, place)) = piece {
                self.part(unjoined(json, place), sink);
            }
        }
    }

    fn close(&mut self, sink: &mut Sink<'_, '_>) {
        self.close_with(NodeSemantics::default(), sink);
    }

    fn close_with<'f>(&mut self, semantics: NodeSemantics<'f>, sink: &mut Sink<'_, 'f>) {
        if let Some((_, part)) = self.text.take() {
            sink.send(Event::Close(Closed { part, semantics }));
        }
    }

    /// Keeps log probabilities for the text that they speak of.
    fn await_text(&mut self, logprobs: Option<Logprobs<'static>>, place: Place) {
        let Some(more) = logprobs.map(|it| it.at(place.step(Step::LogprobsResult))) else { return };
        match &mut self.logprobs {
            Some((before, _)) => before.add(more),
            None => self.logprobs = Some((more, place)),
        }
    }

    fn weigh(&mut self, part: PartId, sink: &mut Sink<'_, '_>) {
        if let Some((logprobs, _)) = self.logprobs.take() {
            sink.note(Some(part), NoteKind::Logprobs(logprobs));
        }
    }

    /// Gives log probabilities that came without a text to the text before them.
    fn weigh_last(&mut self, sink: &mut Sink<'_, '_>) {
        if let Some(part) = self.last_text.map(|last| self.parts[last].0) {
            self.weigh(part, sink);
        }
    }

    /// Emits the sources that stand at `place`.
    fn cite<'f>(&mut self, grounding: &Grounding<'f>, place: Place, sink: &mut Sink<'_, 'f>) {
        if grounding.is_empty() {
            return;
        }
        let text = |part: usize| self.parts.get(part)?.1.as_ref();
        for (index, citation) in grounding.citations_on(self.first_text, text) {
            sink.note(Some(self.parts[index].0), NoteKind::Citation(citation.at(place)));
        }
    }

    /// Emits what waited for the end: the pieces of which no call was made, log probabilities without a text, and why it ended.
    fn end(mut self, sink: &mut Sink<'_, 'static>) {
        for (json, place) in std::mem::take(&mut self.unjoined).into_iter().flatten() {
            self.part(unjoined(json, place), sink);
        }
        self.close(sink);
        if let Some((logprobs, place)) = &self.logprobs {
            let semantics = NodeSemantics::at(*place).keeping(unplaced(logprobs));
            sink.note(None, NoteKind::Semantics(semantics));
        }
        if let Some((reason, place)) = self.finish {
            let finish = match self.pieces.lacks_pieces() {
                true => cut(reason),
                false => finish(reason, self.calls),
            };
            sink.send(Event::Finish { candidate: sink.candidate, place, finish });
        }
    }
}

fn note<'f>(at: NoteAt, semantics: NodeSemantics<'f>, emit: Emit<'_, 'f>) {
    emit(Event::Note(Note { at, kind: NoteKind::Semantics(semantics) }));
}
