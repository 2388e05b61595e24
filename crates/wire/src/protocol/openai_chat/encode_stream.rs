//! Writing streams.

use crate::loss::Report;
use crate::protocol::Asked;
use crate::protocol::Event;
use crate::protocol::Protocol;

/// Events in, frames out.
#[derive(Debug)]
pub struct Encoder<'a> {
    asked: Asked<'a>,
}

impl<'a> Encoder<'a> {
    pub(in crate::protocol) fn new(_source: Protocol, asked: Asked<'a>) -> Self {
        Self { asked }
    }

    pub(in crate::protocol) fn step(self, _event: Event<'_>, _out: &mut String) -> Self {
        unimplemented!()
    }

    pub(in crate::protocol) fn end(self, _out: &mut String) -> Report {
        unimplemented!()
    }
}
