//! What the events of a passing stream state.

use crate::error::Result;
use crate::json::{Kind, Reader};
use crate::protocol::anthropic_messages::decode_stream::kind_of;
use crate::protocol::anthropic_messages::usage::USAGE;
use crate::protocol::watch::Progress;
use crate::sse::Frame;

pub(in super::super) fn watch(frame: &Frame<'_>, progress: &mut Progress) -> Result<()> {
    let is_first = !progress.candidates.have_begun();
    progress.candidates.begin(0);
    let mut reader = Reader::new(frame.data);
    match &*kind_of(frame, &reader)? {
        "message_start" if is_first => {
            reader.member("message", Kind::Object, |reader| read_usage(reader, progress))?;
        }
        "message_delta" => read_usage(&mut reader, progress)?,
        "message_stop" => {
            progress.candidates.end(0);
            progress.is_over = true;
        }
        "error" => progress.has_failed = true,
        _ => {}
    }
    Ok(())
}

fn read_usage(reader: &mut Reader<'_>, progress: &mut Progress) -> Result<()> {
    reader.member("usage", Kind::Object, |reader| progress.count(&USAGE, reader))
}
