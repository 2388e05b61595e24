//! Reading streams.

use super::decode_response::{AnswerObject, semantics};
use crate::error::Result;
use crate::fault::{Fault, FaultKind};
use crate::place::{Place, Step};
use crate::protocol::machine::DecodeStream;
use crate::protocol::{Closed, Delta, Event, Note, NoteAt, NoteKind, Open, Opening, PartId, Start};
use crate::protocol::semantics::NodeSemantics;
use crate::sse::Frame;

/// Frames in, events out.
#[derive(Debug, Default)]
pub(in super::super) struct Decoder {
    frame: usize,
    has_begun: bool,
    has_text: bool,
    is_over: bool,
}

/// There is one text.
const TEXT: PartId = PartId(0);

impl DecodeStream for Decoder {
    fn step<'f>(
        &mut self,
        frame: &Frame<'f>,
        emit: &mut dyn FnMut(Event<'f>),
    ) -> Result<()> {
        let place = Place::default().element(Step::Frame, self.frame);
        self.frame += 1;
        if self.is_over {
            return Ok(());
        }
        let mut answer = AnswerObject::read(frame.data, place)?;
        if let Some(fault) = answer.fault.take() {
            self.is_over = true;
            emit(Event::Fault(fault));
            return Ok(());
        }
        self.begin(&mut answer, place, emit);
        if let Some(text) = answer.text.filter(|text| !text.is_empty()) {
            self.open(place, emit);
            emit(Event::Delta(TEXT, Delta::Text(text)));
        }
        if let Some(usage) = answer.usage {
            emit(Event::Usage(usage));
        }
        if let Some(finish) = answer.finish {
            self.is_over = true;
            if self.has_text {
                emit(Event::Close(Closed { part: TEXT, semantics: NodeSemantics::default() }));
            }
            emit(Event::Finish { candidate: 0, place, finish });
        }
        Ok(())
    }

    fn end(self: Box<Self>, emit: &mut dyn FnMut(Event<'static>)) {
        if !self.is_over {
            let message = "the stream ended before the answer did";
            emit(Event::Fault(Fault::new(FaultKind::Truncated, message)));
        }
    }
}

impl Decoder {
    /// Begins the answer with the first frame; later ones may add to what is said of it.
    fn begin<'f>(
        &mut self,
        answer: &mut AnswerObject<'f>,
        place: Place,
        emit: &mut dyn FnMut(Event<'f>),
    ) {
        let extras = std::mem::take(&mut answer.extras);
        let is_plain = extras.is_empty();
        let semantics = semantics(place, extras);
        if !self.has_begun {
            self.has_begun = true;
            let (id, model) = (answer.id.take(), answer.model.take());
            emit(Event::Start(Start { id, model, semantics, ..Start::default() }));
        } else if !is_plain {
            let kind = NoteKind::Semantics(semantics);
            emit(Event::Note(Note { at: NoteAt::Response, kind }));
        }
    }

    fn open<'f>(&mut self, place: Place, emit: &mut dyn FnMut(Event<'f>)) {
        if !self.has_text {
            self.has_text = true;
            let semantics = NodeSemantics::at(place);
            emit(Event::Open(Open { part: TEXT, candidate: 0, opening: Opening::Text, semantics }));
        }
    }
}
