//! What the events of a passing stream tell.

use crate::error::Result;
use crate::json::Kind;
use crate::json::Reader;
use crate::protocol::anthropic_messages::decode_stream::Moment;
use crate::protocol::anthropic_messages::usage::USAGE;
use crate::protocol::watch::Progress;
use crate::sse::Frame;

pub(in crate::protocol) fn watch(frame: &Frame<'_>, progress: &mut Progress) -> Result<()> {
    let is_first = !progress.candidates.have_begun();
    progress.candidates.begin(0);
    let mut reader = Reader::new(frame.data);
    match Moment::of(frame, &reader)? {
        Moment::MessageStart if is_first => {
            reader.object(|key, reader| match (&*key, reader.kind()?) {
                ("message", Kind::Object) => read_usage(reader, progress),
                _ => reader.skip(),
            })?;
        }
        Moment::MessageDelta => read_usage(&mut reader, progress)?,
        Moment::MessageStop => {
            progress.candidates.end(0);
            progress.is_over = true;
        }
        Moment::Error => progress.has_failed = true,
        Moment::MessageStart
        | Moment::BlockStart
        | Moment::BlockDelta
        | Moment::BlockStop
        | Moment::Unknown => {}
    }
    Ok(())
}

fn read_usage(reader: &mut Reader<'_>, progress: &mut Progress) -> Result<()> {
    reader.object(|key, reader| match (&*key, reader.kind()?) {
        ("usage", Kind::Object) => progress.count(&USAGE, reader),
        _ => reader.skip(),
    })
}
