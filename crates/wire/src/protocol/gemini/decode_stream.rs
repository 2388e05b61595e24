//! Reading streams.

use crate::error::Result;
use crate::protocol::Event;
use crate::sse::Frame;

/// Frames in, events out.
#[derive(Debug, Default)]
pub struct Decoder {}

impl Decoder {
    pub(in crate::protocol) fn step<'f>(
        self,
        _frame: &Frame<'f>,
        _emit: &mut dyn FnMut(Event<'f>),
    ) -> Result<Self> {
        unimplemented!()
    }

    pub(in crate::protocol) fn end(self, _emit: &mut dyn FnMut(Event<'static>)) {
        unimplemented!()
    }
}
