//! Reading streams: every frame is a response object whose parts go on where the last ones ended.

use crate::characters::Characters;
use crate::conversation::{Arguments, Content, Counts, Part, ReasoningForm, ToolCall, Usage};
use crate::error::Result;
use crate::fault::{Fault, FaultKind};
use crate::json::{Json, Kind, Reader, Text};
use crate::limit::{CANDIDATES_MAX, FRAME_BYTES_MAX};
use crate::place::{Place, Step};
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
use crate::protocol::{
    Closed, Delta, Event, Logprobs, Note, NoteAt, NoteKind, Open, Opening, PartId, Start,
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

type Emit<'e, 'f> = &'e mut dyn FnMut(Event<'f>);

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
    number: u32,
    seen: bool,
    /// The text or thoughts that more of the same may join.
    text: Option<OpenText>,
    /// Its parts so far, with the texts that sources point into.
    parts: Vec<(PartId, Option<Characters>)>,
    /// Which of them are its first and its last text.
    first_text: Option<usize>,
    last_text: Option<usize>,
    /// Log probabilities of a text that is still to come, and the candidate that they stand in.
    logprobs: Option<(Logprobs<'static>, Place)>,
    calls: bool,
    /// Its calls that come in pieces, and these as they were written as long as they are of no call.
    pieces: Joiner,
    unjoined: Vec<Option<(Json<'static>, Place)>>,
    /// The reason for its end, and where that was stated.
    finish: Option<(Text<'static>, Place)>,
}

#[derive(Clone, Copy, Debug)]
struct OpenText {
    part: PartId,
    kind: TextKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextKind {
    Answer,
    Thought,
}

impl DecodeStream for Decoder {
    fn step<'f>(&mut self, frame: &Frame<'f>, emit: &mut dyn FnMut(Event<'f>)) -> Result<()> {
        let place = Place::default().element(Step::Frame, self.frames);
        self.frames += 1;
        if frame.data.trim() == "[DONE]" {
            return Ok(());
        }
        let mut reader = Reader::new(frame.data);
        match reader.kind()? {
            Kind::Array => reader.array(|_, reader| {
                let chunk = Chunk::read(reader, place, &mut self.details)?;
                self.chunk(chunk, place, emit);
                Ok(())
            })?,
            _ => {
                let chunk = Chunk::read(&mut reader, place, &mut self.details)?;
                self.chunk(chunk, place, emit);
            }
        }
        reader.finish()
    }

    /// Says that no frame follows. Only now is it certain that nothing comes after the finish reason.
    fn end(self: Box<Self>, emit: &mut dyn FnMut(Event<'static>)) {
        if self.stage == Stage::Failed {
            return;
        }
        // The last frame is where an answer ends.
        let place = Place::default().element(Step::Frame, self.frames.saturating_sub(1));
        let seen = || self.candidates.iter().filter(|candidate| candidate.seen);
        let ended = seen().all(Running::is_whole);
        if seen().next().is_some() && ended {
            finish_candidates(self.candidates, self.next_part, emit);
        } else if let (None, Some(reason)) = (seen().next(), self.blocked) {
            finish_blocked(reason, place, emit);
        } else {
            let message = "the stream ended before the answer did";
            emit(Event::Fault(Fault::new(FaultKind::Truncated, message)));
        }
    }
}

impl Decoder {
    fn chunk<'f>(&mut self, mut chunk: Chunk<'f>, place: Place, emit: Emit<'_, 'f>) {
        if self.stage == Stage::Failed {
            return;
        }
        if let Some(error) = &chunk.error {
            self.stage = Stage::Failed;
            return emit(Event::Fault(fault_of(None, error)));
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
                keep_tier(&mut usage, tier);
            }
            emit(Event::Usage(usage));
        }
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
        let mut semantics = NodeSemantics::at(place);
        semantics.keep(std::mem::take(&mut chunk.extras));
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
            let number = self.candidates.len() as u32;
            self.candidates.push(Running { number, ..Running::default() });
        }
        let (running, place) = (&mut self.candidates[index], draft.semantics.place());
        let sources = draft.sources();
        let first = !std::mem::replace(&mut running.seen, true);
        if first || draft.semantics.extras().is_some() {
            note(NoteAt::Candidate(draft.index), draft.semantics, emit);
        }
        running.await_text(draft.logprobs, place);
        for part in draft.parts {
            match part {
                PartOrPiece::Part(part) => {
                    running.pieces.pass(&part);
                    running.part(&mut self.next_part, part, emit);
                }
                PartOrPiece::Piece(it) => running.piece(&mut self.next_part, *it, emit),
            }
        }
        running.weigh_last(emit);
        running.cite(&draft.grounding, sources, emit);
        if let Some(reason) = draft.finish {
            running.finish = Some((reason.into_owned(), place));
            running.close(emit);
        }
    }
}

/// Keeps a service tier that came too late to be the answer's own.
fn keep_tier(usage: &mut Usage<'_>, tier: &Text<'_>) {
    let json = Json::written(|writer| writer.value(tier));
    usage.semantics_mut().extras_mut().keep("", "serviceTier".into(), json);
}

impl Running {
    fn part<'f>(&mut self, next: &mut u32, mut part: Part<'f>, emit: Emit<'_, 'f>) {
        let semantics = std::mem::take(part.semantics_mut());
        match part.into_content() {
            Content::Text(text) => self.text(next, TextKind::Answer, text, semantics, emit),
            Content::Reasoning(thought) => {
                let text = thought.texts.into_iter().next().unwrap_or_default();
                self.text(next, TextKind::Thought, text, semantics, emit);
            }
            Content::ToolCall(call) => self.call(next, *call, semantics, emit),
            content => {
                self.close(emit);
                let part = self.open(next, Opening::Whole(content), semantics, emit);
                emit(closed(part));
            }
        }
    }

    /// Opens the next part.
    fn open<'f>(
        &mut self,
        next: &mut u32,
        opening: Opening<'f>,
        semantics: NodeSemantics<'f>,
        emit: Emit<'_, 'f>,
    ) -> PartId {
        let part = PartId(*next);
        *next += 1;
        let kept = matches!(opening, Opening::Text).then(Characters::default);
        if kept.is_some() {
            self.first_text = self.first_text.or(Some(self.parts.len()));
            self.last_text = Some(self.parts.len());
        }
        self.parts.push((part, kept));
        emit(Event::Open(Open { part, candidate: self.number, opening, semantics }));
        part
    }

    /// Adds text to the open part if it is of the same kind and neither is signed, else begins a part.
    fn text<'f>(
        &mut self,
        next: &mut u32,
        kind: TextKind,
        text: Text<'f>,
        semantics: NodeSemantics<'f>,
        emit: Emit<'_, 'f>,
    ) {
        let alone = semantics.artefact().is_some() || semantics.extras().is_some();
        let joins = |open: &OpenText| !alone && open.kind == kind;
        if text.is_empty() && !alone {
            return;
        }
        if self.seals(kind, &text, &semantics) {
            return self.close_with(semantics, emit);
        }
        let part = match self.text.filter(joins) {
            Some(open) => open.part,
            None => {
                self.close(emit);
                let opening = match kind {
                    TextKind::Answer => Opening::Text,
                    TextKind::Thought => Opening::Reasoning(ReasoningForm::Summary),
                };
                let part = self.open(next, opening, semantics, emit);
                self.text = Some(OpenText { part, kind });
                part
            }
        };
        if kind == TextKind::Answer {
            self.weigh(part, emit);
        }
        self.remember(&text);
        if !text.is_empty() {
            emit(Event::Delta(part, Delta::Text(text)));
        }
        if alone {
            self.close(emit);
        }
    }

    /// Whether this is a foreign signature for the thoughts that stand before it.
    fn seals(&self, kind: TextKind, text: &Text<'_>, semantics: &NodeSemantics<'_>) -> bool {
        let thinks = self.text.is_some_and(|open| open.kind == TextKind::Thought);
        let foreign = semantics.artefact().is_some_and(|artefact| artefact.issuer() != SELF);
        thinks && foreign && kind == TextKind::Thought && text.is_empty()
    }

    /// Keeps the text of the last part, since sources are located by its bytes.
    fn remember(&mut self, text: &Text<'_>) {
        if let Some((_, Some(kept))) = self.parts.last_mut()
            && kept.text().len() + text.len_hint() <= FRAME_BYTES_MAX
        {
            kept.push(&text.to_str());
        }
    }

    fn is_whole(&self) -> bool {
        let finish = self.finish.as_ref();
        finish.is_some_and(|(raw, _)| !self.pieces.lacks_pieces() || breaks_off(&raw.to_str()))
    }

    /// Adds a piece of a call, which is emitted when its last piece is there. One of no call stands for itself, as it does in a
    /// whole answer. Fixture `stream/tools/gemini-signature-behind-a-call`.
    fn piece<'f>(&mut self, next: &mut u32, piece: WrittenPiece<'f>, emit: Emit<'_, 'f>) {
        let WrittenPiece { mut piece, json } = piece;
        let place = piece.semantics.place();
        piece.position = self.unjoined.len();
        match self.pieces.add(piece) {
            Added::Call(joined) => {
                for position in &joined.positions {
                    self.unjoined.get_mut(*position).map(Option::take);
                }
                self.part(next, call_part(*joined), emit);
            }
            Added::Stray => self.part(next, unjoined(json, place), emit),
            Added::Kept => self.unjoined.push(Some((json.into_owned(), place))),
        }
    }

    /// Emits the pieces of which no call was made.
    fn emit_unjoined(&mut self, next: &mut u32, emit: Emit<'_, 'static>) {
        for (json, place) in std::mem::take(&mut self.unjoined).into_iter().flatten() {
            self.part(next, unjoined(json, place), emit);
        }
    }

    fn call<'f>(
        &mut self,
        next: &mut u32,
        call: ToolCall<'f>,
        semantics: NodeSemantics<'f>,
        emit: Emit<'_, 'f>,
    ) {
        self.close(emit);
        self.calls = true;
        let ToolCall { id, name, arguments, form } = call;
        let part = self.open(next, Opening::ToolCall { id, name, form }, semantics, emit);
        let text = match arguments {
            Arguments::Text(text) => text,
            Arguments::Json(json) => json.to_text().into_owned(),
        };
        emit(Event::Delta(part, Delta::Text(text)));
        emit(closed(part));
    }

    fn close<'f>(&mut self, emit: Emit<'_, 'f>) {
        self.close_with(NodeSemantics::default(), emit);
    }

    fn close_with<'f>(&mut self, semantics: NodeSemantics<'f>, emit: Emit<'_, 'f>) {
        if let Some(open) = self.text.take() {
            emit(Event::Close(Closed { part: open.part, semantics }));
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

    fn weigh<'f>(&mut self, part: PartId, emit: Emit<'_, 'f>) {
        if let Some((logprobs, _)) = self.logprobs.take() {
            let kind = NoteKind::Logprobs(logprobs);
            emit(Event::Note(Note { at: NoteAt::Part(part), kind }));
        }
    }

    /// Gives log probabilities that came without a text to the text before them.
    fn weigh_last<'f>(&mut self, emit: Emit<'_, 'f>) {
        if let Some(part) = self.last_text.map(|last| self.parts[last].0) {
            self.weigh(part, emit);
        }
    }

    /// Emits the sources that stand at `place`.
    fn cite<'f>(&mut self, grounding: &Grounding<'f>, place: Place, emit: Emit<'_, 'f>) {
        if grounding.is_empty() {
            return;
        }
        let text = |part: usize| self.parts.get(part)?.1.as_ref();
        for (index, citation) in grounding.citations_on(self.first_text, text) {
            let at = NoteAt::Part(self.parts[index].0);
            let kind = NoteKind::Citation(citation.at(place));
            emit(Event::Note(Note { at, kind }));
        }
    }
}

fn closed<'f>(part: PartId) -> Event<'f> {
    Event::Close(Closed { part, semantics: NodeSemantics::default() })
}

fn finish_candidates(
    candidates: Vec<Running>,
    mut next: u32,
    emit: &mut dyn FnMut(Event<'static>),
) {
    for (index, mut candidate) in (0..).zip(candidates) {
        candidate.emit_unjoined(&mut next, emit);
        candidate.close(emit);
        if let Some((logprobs, place)) = &candidate.logprobs {
            let mut semantics = NodeSemantics::at(*place);
            semantics.keep(unplaced(logprobs));
            note(NoteAt::Candidate(index), semantics, emit);
        }
        if let Some((reason, place)) = candidate.finish {
            let finish = match candidate.pieces.lacks_pieces() {
                true => cut(reason),
                false => finish(reason, candidate.calls),
            };
            emit(Event::Finish { candidate: index, place, finish });
        }
    }
}

fn finish_blocked(reason: Text<'static>, place: Place, emit: &mut dyn FnMut(Event<'static>)) {
    let place = place.step(Step::PromptFeedback);
    note(NoteAt::Candidate(0), NodeSemantics::at(place), emit);
    emit(Event::Finish { candidate: 0, place, finish: prompt_filter(reason) });
}

fn note<'f>(at: NoteAt, semantics: NodeSemantics<'f>, emit: Emit<'_, 'f>) {
    emit(Event::Note(Note { at, kind: NoteKind::Semantics(semantics) }));
}
