//! The way of every answer: a provider's feed, its frames, passed through or translated, to bytes for the client. One loop
//! pulls it, one place knows how it ended, and the taps see all of it.

mod answering;
mod array;
mod feed;
mod flight;
mod form;
mod frames;
mod governed;
mod large;
mod open;
mod output;
mod pass_through;
mod raw;
mod refused;
mod translation;
mod whole;

pub(crate) use answering::Answering;
pub(crate) use feed::{Feed, SHORT_BYTES_MAX, is_packed};
pub(crate) use flight::{Ended, InFlight};
pub(crate) use frames::decode_all;
pub(crate) use open::{AnswerMode, Incoming, open};
pub(crate) use raw::{open_bodiless, open_raw, open_raw_whole};
pub(crate) use refused::stated_in_stream;
pub(crate) use whole::ESTIMATE;

use std::fmt;

use sabir_wire::{Fault, FaultKind};

use crate::failure::{Failure, Whose};

/// A body that cannot come to its end. The connection is closed without one, so that the client sees that something is
/// missing.
#[derive(Debug)]
pub(crate) struct Cut;

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the answer broke off")
    }
}

impl std::error::Error for Cut {}

/// A fault where the first event should be. An unreadable stream is a bad gateway; an error that the provider stated keeps
/// its own status.
fn failed_at_first(fault: Fault<'static>) -> Box<Failure> {
    let whose = Whose::of_upstream(fault.kind);
    let status = (fault.kind == FaultKind::Truncated).then_some(502);
    Box::new(Failure { fault, whose, status, upstream: None, broken: None })
}

/// An answer that rules on calls refuse before anything of it has left.
fn refused(fault: Fault<'static>) -> Box<Failure> {
    Failure::stating(Whose::Policy, fault).with_status(502)
}

fn unreadable() -> Box<Failure> {
    let message = "the provider's answer cannot be read";
    Failure::new(Whose::Upstream, FaultKind::Internal, message).with_status(502)
}
