//! What becomes of an answer on its way to the client: it passes, it is translated, it is there whole, or nobody looks into it.

use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use sabir_wire::conversation::Counts;
use sabir_wire::protocol::CallArtefacts;
use sabir_wire::{Fault, FaultKind};

use crate::answer::frames::Defect;
use crate::answer::output::Output;
use crate::answer::pass_through::PassThrough;
use crate::answer::translation::Translation;
use crate::failure::Failure;
use crate::observe::Losses;
use crate::state::Snapshot;
use crate::tap::Taps;
use crate::upstream::Piece;

#[derive(Debug)]
pub(super) enum Form {
    /// The client's own protocol, frame by frame.
    PassThrough(Box<PassThrough>),
    /// Another protocol, event by event.
    Translation(Box<Translation>),
    /// All of it is there.
    Whole(Output),
    /// Bytes that nobody looks into.
    Raw(Output),
}

impl Form {
    /// Takes what came from the provider. A defect is the answer's end.
    pub(super) fn push(&mut self, piece: Piece<'_>, taps: &mut Taps) -> Result<(), Defect> {
        match (self, piece) {
            (Self::PassThrough(it), Piece::Bytes(bytes)) => it.push(bytes, taps),
            (Self::Translation(it), Piece::Bytes(bytes)) => it.push(bytes, taps),
            (Self::Translation(it), Piece::Event(event)) => {
                it.event(event, taps);
                Ok(())
            }
            (Self::Raw(output), Piece::Bytes(bytes)) => {
                taps.piece(bytes);
                output.add(bytes);
                Ok(())
            }
            // Events are always translated, and what is whole has nothing to come.
            (Self::PassThrough(_) | Self::Raw(_) | Self::Whole(_), _) => Ok(()),
        }
    }

    /// Whether something of it waits for other threads, or is there.
    pub(super) fn has_large(&self) -> bool {
        match self {
            Self::PassThrough(it) => it.has_large(),
            Self::Translation(it) => it.has_large(),
            Self::Whole(_) | Self::Raw(_) => false,
        }
    }

    /// Waits for other threads.
    pub(super) fn poll_large(
        &mut self,
        cx: &mut Context<'_>,
        (snapshot, taps): (&Arc<Snapshot>, &mut Taps),
    ) -> Poll<Result<(), Box<Failure>>> {
        match self {
            Self::PassThrough(it) => it.poll_large(cx, (snapshot, taps)),
            Self::Translation(it) => it.poll_large(cx, (snapshot, taps)),
            Self::Whole(_) | Self::Raw(_) => Poll::Ready(Ok(())),
        }
    }

    /// The provider has sent all. Something of it may be left for other threads before the end.
    pub(super) fn read_last(&mut self, taps: &mut Taps) {
        match self {
            Self::PassThrough(it) => it.read_last(),
            Self::Translation(it) => it.read_last(taps),
            Self::Whole(_) | Self::Raw(_) => {}
        }
    }

    /// The provider has sent all. A defect names what is missing.
    pub(super) fn end(&mut self, taps: &mut Taps) -> Result<(), Defect> {
        match self {
            Self::PassThrough(it) => it.end(taps),
            Self::Translation(it) => {
                it.end(taps);
                Ok(())
            }
            Self::Whole(_) | Self::Raw(_) => Ok(()),
        }
    }

    /// Emits a failure to the client, if its form has a place for it.
    pub(super) fn fail(&mut self, fault: Fault<'static>) -> bool {
        match self {
            Self::PassThrough(it) => it.fail(fault),
            Self::Translation(it) => it.fail(fault),
            Self::Whole(_) | Self::Raw(_) => false,
        }
    }

    /// Puts a fault in the place of all that waits to leave, if the form has a place for it.
    pub(super) fn replace_end(&mut self, fault: Fault<'static>) -> bool {
        let _ = self.take_output();
        match self {
            Self::PassThrough(it) => it.fail(fault),
            Self::Translation(it) => it.replace_end(fault),
            Self::Whole(_) | Self::Raw(_) => false,
        }
    }

    /// Whether the first event is there, or that which has none is.
    pub(super) fn has_begun(&self) -> bool {
        match self {
            Self::PassThrough(it) => it.watch().has_begun(),
            Self::Translation(it) => it.has_begun(),
            Self::Whole(_) | Self::Raw(_) => true,
        }
    }

    /// Whether nothing but a start is there, behind which an error may stand that belongs in a status.
    pub(super) fn holds_start(&self) -> bool {
        match self {
            Self::Translation(it) => it.holds_start(),
            Self::PassThrough(_) | Self::Whole(_) | Self::Raw(_) => false,
        }
    }

    /// Takes the start for the first event.
    pub(super) fn release_start(&mut self) {
        if let Self::Translation(it) = self {
            it.release_start();
        }
    }

    /// The fault that stood where the first event should.
    pub(super) fn take_first_fault(&mut self) -> Option<Fault<'static>> {
        match self {
            Self::PassThrough(it) => it.take_first_fault(),
            Self::Translation(it) => it.take_first_fault(),
            Self::Whole(_) | Self::Raw(_) => None,
        }
    }

    /// Whether every candidate has ended: whatever follows is bookkeeping.
    pub(super) fn has_finished(&self) -> bool {
        match self {
            Self::PassThrough(it) => it.is_complete(),
            Self::Translation(it) => it.has_finished(),
            Self::Whole(_) => true,
            Self::Raw(_) => false,
        }
    }

    /// Whether nothing is missing if nothing more comes. A list must still be closed.
    pub(super) fn is_complete(&self) -> bool {
        match self {
            Self::PassThrough(it) => it.is_complete() && it.is_sse(),
            Self::Translation(_) | Self::Whole(_) | Self::Raw(_) => self.has_finished(),
        }
    }

    /// Whether what may still come is not worth a long wait. To a client that reads the provider's own frames a late count is
    /// one of them; to others it is not.
    pub(super) fn is_ending(&self) -> bool {
        match self {
            Self::PassThrough(it) => it.watch().is_over(),
            Self::Translation(_) | Self::Whole(_) | Self::Raw(_) => self.has_finished(),
        }
    }

    /// The fault that the provider stated in its answer.
    pub(super) fn fault(&self) -> Option<FaultKind> {
        match self {
            Self::PassThrough(it) => it.fault(),
            Self::Translation(it) => it.fault(),
            Self::Whole(_) | Self::Raw(_) => None,
        }
    }

    /// Whether rules on calls have refused it.
    pub(super) fn is_refused(&self) -> bool {
        match self {
            Self::Translation(it) => it.is_refused(),
            Self::PassThrough(_) | Self::Whole(_) | Self::Raw(_) => false,
        }
    }

    pub(super) fn counts(&self) -> Counts {
        match self {
            Self::PassThrough(it) => it.watch().counts(),
            Self::Translation(it) => it.counts(),
            Self::Whole(_) | Self::Raw(_) => Counts::default(),
        }
    }

    /// What the translation lost, once it is over.
    pub(super) fn take_losses(&mut self) -> Losses {
        match self {
            Self::Translation(it) => it.take_losses(),
            Self::PassThrough(_) | Self::Whole(_) | Self::Raw(_) => Losses::default(),
        }
    }

    /// What the provider sealed with the calls of an answer that has ended; once.
    pub(super) fn take_calls(&mut self) -> Vec<CallArtefacts> {
        match self {
            Self::Translation(it) => it.take_calls(),
            Self::PassThrough(_) | Self::Whole(_) | Self::Raw(_) => Vec::new(),
        }
    }

    /// What can be sent now.
    pub(super) fn take_output(&mut self) -> Option<Bytes> {
        match self {
            Self::PassThrough(it) => it.output.take(),
            Self::Translation(it) => it.take_output(),
            Self::Whole(output) | Self::Raw(output) => output.take(),
        }
    }

    /// How much waits to be sent before the answer has begun.
    pub(super) fn early_bytes(&self) -> usize {
        match self {
            Self::PassThrough(it) => it.output.len(),
            Self::Translation(_) | Self::Whole(_) | Self::Raw(_) => 0,
        }
    }
}
