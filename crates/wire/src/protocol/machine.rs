//! What reads and what writes the streams of a protocol. Its folder has one of each, which nobody else knows by its type.
//! Both are boxed, because their states are large and move with every frame.

use std::fmt::Debug;

use crate::error::Result;
use crate::loss::Report;
use crate::protocol::Event;
use crate::protocol::event::Emit;
use crate::sse::Frame;

/// Frames in, events out.
pub(super) trait DecodeStream: Debug + Send + Sync {
    /// Reads one frame. After an error the decoder is not used again.
    fn step<'f>(&mut self, frame: &Frame<'f>, emit: Emit<'_, 'f>) -> Result<()>;

    /// Whether the end of the answer has been read and is held back, since more may come before it.
    fn is_ending(&self) -> bool {
        false
    }

    /// No frame follows.
    fn end(self: Box<Self>, emit: Emit<'_, 'static>);
}

/// Events in, frames out.
pub(super) trait EncodeStream: Debug + Send + Sync {
    fn step(&mut self, event: Event<'_>, out: &mut String);

    /// No event follows: writes what is still owed, and returns the report.
    fn end(self: Box<Self>, out: &mut String) -> Report;
}
