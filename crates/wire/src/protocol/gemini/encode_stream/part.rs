//! Writing the parts of a stream: text as it comes, everything else once it is whole.

use crate::conversation::{Content, Part, ReasoningForm};
use crate::json::Text;
use crate::loss::{LossKind, Report};
use crate::place::Place;
use crate::protocol::event::grow;
use crate::protocol::gemini::decode_response::is_call;
use crate::protocol::gemini::encode_request::PIECE_BREAK;
use crate::protocol::gemini::encode_response::{report_logprobs, report_media, report_refusal};
use crate::protocol::gemini::types::SELF;
use crate::protocol::reporter::Reporter;
use crate::protocol::semantics::{NodeSemantics, add_to};
use crate::protocol::{Citation, Closed, Delta, Logprobs, Open, Opening, PartId};

use super::Encoder;

/// A part of the stream.
#[derive(Debug)]
pub(super) struct OpenPart {
    id: PartId,
    pub(super) candidate: u32,
    pub(super) place: Place,
    state: State,
    /// Whether nothing of it goes out.
    pub(super) silent: bool,
    is_text: bool,
    pub(super) citations: Vec<Citation<'static>>,
    /// Whether it came in several pieces.
    in_pieces: bool,
    /// Log probabilities that have not gone out yet.
    pub(super) logprobs: Option<Logprobs<'static>>,
    /// Whether it is reported that not all of them is told.
    weighed: bool,
    /// Whether it is a refusal; some servers state an empty one where there is none.
    refuses: bool,
    /// The text so far, where sources may point into it.
    pub(super) text: Option<Text<'static>>,
}

#[derive(Debug)]
enum State {
    /// Its text goes out as it comes.
    Streaming {
        thought: bool,
        begun: bool,
    },
    /// It goes out when it is whole.
    Buffered(Part<'static>),
    /// A whole call, which goes out behind those that began before it.
    Waiting(Part<'static>),
    Closed,
}

impl OpenPart {
    /// Whether it is a text of which something has gone out or will.
    fn speaks(&self) -> bool {
        let is_unwritten = matches!(self.state, State::Streaming { begun: false, .. });
        self.is_text && !self.silent && !is_unwritten
    }
}

impl Encoder<'_> {
    pub(super) fn open(&mut self, open: Open<'_>, out: &mut String) {
        let Open { part: id, candidate, opening, mut semantics } = open.into_owned();
        self.hand_on(candidate, &opening, &mut semantics, out);
        let place = semantics.place();
        self.losses.add_once(|reporter| reporter.semantics(&semantics));
        self.report_opening(place, &opening);
        let is_kept = self.is_same() && semantics.extras().is_some();
        let plain = semantics.artefact().is_none() && !is_kept;
        let refuses = matches!(opening, Opening::Refusal);
        let silent = matches!(&opening, Opening::Whole(content) if self.is_unwritten(content));
        let is_text = matches!(opening, Opening::Text | Opening::Refusal);
        self.weigh_closed(candidate, out);
        let state = match opening {
            Opening::Text | Opening::Refusal if plain => {
                State::Streaming { thought: false, begun: false }
            }
            Opening::Reasoning(_) if plain => State::Streaming { thought: true, begun: false },
            opening => State::Buffered(Part::new(opening.into_content()).with_semantics(semantics)),
        };
        let text = (is_text && !self.is_same()).then(Text::default);
        let number = self.parts.len();
        if matches!(&state, State::Buffered(part) if is_call(part)) {
            self.ending(candidate).unsent.push_back(number);
        }
        self.parts.push(OpenPart {
            id,
            candidate,
            place,
            state,
            silent,
            is_text,
            citations: Vec::new(),
            in_pieces: false,
            logprobs: None,
            weighed: false,
            refuses,
            text,
        });
    }

    /// Gives a text or a call the signature of the thoughts before it: other protocols sign only thoughts.
    fn hand_on(
        &mut self,
        candidate: u32,
        opening: &Opening<'_>,
        semantics: &mut NodeSemantics<'static>,
        out: &mut String,
    ) {
        let takes = matches!(opening, Opening::Text | Opening::ToolCall { .. })
            && semantics.artefact().is_none();
        if !takes {
            return self.release(candidate, out);
        }
        let handed = self.ending(candidate).handed.take();
        if let Some(artefact) = handed.as_ref().and_then(|part| part.semantics().artefact()) {
            semantics.set_artefact(artefact.clone());
        }
    }

    /// Writes a signature that no part has taken.
    pub(super) fn release(&mut self, candidate: u32, out: &mut String) {
        if let Some(part) = self.ending(candidate).handed.take() {
            self.part_frame(candidate, &part, out);
        }
    }

    /// Whether the vendor's answers have no word for it.
    pub(super) fn is_unwritten(&self, content: &Content<'_>) -> bool {
        match content {
            Content::Opaque(opaque) => opaque.protocol != SELF,
            content => matches!(content, Content::ToolResult(_)) && !self.is_same(),
        }
    }

    fn report_opening(&mut self, place: Place, opening: &Opening<'_>) {
        self.losses.add_once(|reporter| match opening {
            Opening::Refusal => report_refusal(reporter, place),
            Opening::Whole(Content::Media(_)) => report_media(reporter, place),
            Opening::Whole(Content::Opaque(opaque)) if opaque.protocol != SELF => {
                reporter.dropped(place, "only its own protocol has it");
            }
            Opening::Text
            | Opening::Reasoning(_)
            | Opening::ToolCall { .. }
            | Opening::Whole(_) => {}
        });
    }

    pub(super) fn find(&mut self, part: PartId) -> Option<&mut OpenPart> {
        self.parts.get_mut(part.0 as usize).filter(|open| open.id == part)
    }

    pub(super) fn delta(&mut self, part: PartId, delta: Delta<'_>, out: &mut String) {
        let Some(open) = self.find(part) else { return };
        let candidate = open.candidate;
        match (&mut open.state, delta) {
            (State::Streaming { thought, begun }, Delta::Text(text)) => {
                let thought = *thought;
                let begins = !std::mem::replace(begun, true);
                let refuses = open.refuses && !text.is_empty();
                if let Some(kept) = &mut open.text {
                    kept.push(&text);
                }
                let logprobs = open.logprobs.take();
                self.ending(candidate).refused |= refuses;
                if begins {
                    self.weigh_closed(candidate, out);
                }
                self.text_frame(candidate, (thought, &text), logprobs.as_ref(), out);
            }
            (State::Streaming { thought, begun }, Delta::NextPiece) => {
                let (thought, begun) = (*thought, *begun);
                self.report_pieces(part);
                if begun {
                    let text = Text::plain(PIECE_BREAK);
                    self.text_frame(candidate, (thought, &text), None, out);
                }
            }
            (State::Buffered(buffered), delta) => {
                let is_next = matches!(delta, Delta::NextPiece) && !buffered.is_blank();
                grow(buffered, delta);
                if is_next {
                    self.report_pieces(part);
                }
            }
            (State::Waiting(_) | State::Closed, _) => {}
        }
    }

    /// Keeps log probabilities for the text that follows them, and reports what is not emitted of them.
    pub(super) fn weigh(&mut self, part: PartId, more: &Logprobs<'_>) {
        let same = self.is_same();
        let Some(open) = self.find(part) else { return };
        add_to(&mut open.logprobs, more.clone().into_owned());
        if matches!(open.state, State::Closed) {
            self.hold_late(part);
        }
        let Some(open) = self.find(part) else { return };
        if open.weighed || same {
            return;
        }
        let mut report = Report::default();
        let (place, refuses) = (open.place, open.refuses);
        let mut reporter = Reporter::new(self.source, SELF, &mut report);
        report_logprobs(&mut reporter, place, more);
        if refuses {
            reporter.weights(place, more, (LossKind::Approximated, "a refusal is plain text"));
        }
        if let (false, Some(open)) = (report.is_empty(), self.find(part)) {
            open.weighed = true;
            self.losses.extend(report);
        }
    }

    /// Emits the log probabilities that came after all of their text: behind another text they would seem to be its.
    /// Fixture `stream/logprobs/responses-log-probabilities-of-the-first-text`.
    fn weigh_closed(&mut self, candidate: u32, out: &mut String) {
        let mut all = None;
        for part in std::mem::take(&mut self.late) {
            match self.find(part) {
                Some(open) if open.candidate != candidate => self.late.push(part),
                Some(OpenPart { logprobs: logprobs @ Some(_), .. }) => {
                    logprobs.take().into_iter().for_each(|late| add_to(&mut all, late));
                }
                Some(_) | None => {}
            }
        }
        if all.is_some() {
            self.content_frame(candidate, all.as_ref(), out, |_| {});
        }
    }

    /// Holds log probabilities of a closed text until something else begins, unless another text has: they would seem to
    /// be its.
    fn hold_late(&mut self, part: PartId) {
        let Some(open) = self.find(part).filter(|open| !open.silent) else { return };
        let (candidate, place) = (open.candidate, open.place);
        let mut later = self.parts.iter().rev().take_while(|it| it.id != part);
        let is_behind = later.any(|it| it.candidate == candidate && it.speaks());
        if !is_behind {
            if !self.late.contains(&part) {
                self.late.push(part);
            }
            return;
        }
        let Some(late) = self.find(part).and_then(|open| open.logprobs.take()) else { return };
        let reason = "the next text has already begun";
        self.losses
            .add_once(|reporter| reporter.weights(place, &late, (LossKind::Dropped, reason)));
    }

    /// Reports, once, that a thought came in pieces, which are one text here.
    fn report_pieces(&mut self, part: PartId) {
        let Some(open) = self.find(part).filter(|open| !open.in_pieces) else { return };
        open.in_pieces = true;
        let place = open.place;
        self.losses.add_once(|reporter| reporter.renamed(place, "pieces of thoughts are joined"));
    }

    pub(super) fn add(&mut self, part: PartId, semantics: NodeSemantics<'_>) {
        let place = self.find(part).map(|open| open.place).unwrap_or_default();
        let placed = semantics.clone().stated_of(place);
        self.losses.add_once(|reporter| reporter.semantics(&placed));
        if let Some(OpenPart { state: State::Buffered(part), .. }) = self.find(part) {
            part.semantics_mut().merge(semantics.into_owned());
        }
    }

    pub(super) fn cite(&mut self, part: PartId, citation: Citation<'_>) {
        if self.is_same() {
            return;
        }
        let Some(open) = self.find(part) else { return };
        let place = open.place;
        open.citations.push(citation.clone().into_owned());
        let reason = "sources are listed beside the answer, by byte ranges";
        self.losses.add_once(|reporter| {
            reporter.citation(place, &citation, (LossKind::Approximated, reason))
        });
    }

    pub(super) fn close(&mut self, closed: Closed<'_>, out: &mut String) {
        let Closed { part, semantics } = closed;
        let id = part;
        let Some(open) = self.find(part) else { return };
        let candidate = open.candidate;
        let placed = semantics.clone().stated_of(open.place);
        self.losses.add_once(|reporter| reporter.semantics(&placed));
        let Some(open) = self.find(part) else { return };
        let state = std::mem::replace(&mut open.state, State::Closed);
        let is_unwritten = matches!(state, State::Streaming { begun: false, .. });
        open.silent |= is_unwritten && semantics.artefact().is_none();
        let lonely = open.logprobs.clone().filter(|_| open.silent);
        if open.logprobs.is_some() {
            self.hold_late(part);
        }
        if let Some(lonely) = lonely {
            let reason = "citations need a text to refer to";
            self.losses.add_once(|reporter| {
                reporter.weights(placed.place(), &lonely, (LossKind::Approximated, reason));
            });
        }
        let part = match state {
            State::Buffered(mut part) => {
                part.semantics_mut().merge(semantics.into_owned());
                if is_call(&part) {
                    return self.send_in_order(id, part, out);
                }
                part
            }
            // The text is out already, so its signature follows in an empty part.
            State::Streaming { thought, .. } if semantics.artefact().is_some() => {
                let opening = match thought {
                    true => Opening::Reasoning(ReasoningForm::Summary),
                    false => Opening::Text,
                };
                Part::new(opening.into_content()).with_semantics(semantics.into_owned())
            }
            State::Streaming { .. } | State::Waiting(_) | State::Closed => return,
        };
        match self.is_own_seal(&part) {
            true => self.ending(candidate).handed = Some(part),
            false => self.part_frame(candidate, &part, out),
        }
    }

    /// Sends a whole call once those that began before it are whole: results are told apart by their order alone.
    /// Fixture `stream/tools/calls-keep-their-order`.
    fn send_in_order(&mut self, part: PartId, call: Part<'static>, out: &mut String) {
        let Some(open) = self.find(part) else { return };
        let candidate = open.candidate;
        open.state = State::Waiting(call);
        while let Some(first) = self.ending(candidate).unsent.front().copied()
            && matches!(self.parts[first].state, State::Waiting(_))
        {
            self.ending(candidate).unsent.pop_front();
            let whole = std::mem::replace(&mut self.parts[first].state, State::Closed);
            if let State::Waiting(call) = whole {
                self.part_frame(candidate, &call, out);
            }
        }
    }

    /// Whether a part is nothing but the vendor's own signature, on thoughts of another protocol.
    fn is_own_seal(&self, part: &Part<'_>) -> bool {
        let artefact = part.semantics().artefact();
        let own = artefact.is_some_and(|artefact| artefact.issuer() == SELF);
        let empty = matches!(part.content(), Content::Reasoning(it) if it.texts.is_empty());
        !self.is_same() && own && empty
    }
}
