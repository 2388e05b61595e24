//! What the events of a passing stream state.

use crate::error::Result;
use crate::json::{Kind, Reader};
use crate::protocol::openai_responses::decode_stream::Moment;
use crate::protocol::openai_responses::usage::USAGE;
use crate::protocol::watch::Progress;
use crate::sse::Frame;

pub(in super::super) fn watch(frame: &Frame<'_>, progress: &mut Progress) -> Result<()> {
    progress.candidates.begin(0);
    let mut reader = Reader::new(frame.data);
    let kind = reader.peek_tag("type")?;
    let kind = kind.as_ref().map(|kind| kind.to_str());
    match Moment::of(kind.as_deref().or(frame.event).unwrap_or_default()) {
        Moment::Start | Moment::Item(_) => {}
        Moment::End(name) => {
            progress.is_over = true;
            progress.candidates.end(0);
            progress.has_failed = name == "failed";
            reader.member("response", Kind::Object, |reader| read_response(reader, progress))?;
        }
        Moment::Error => progress.has_failed = true,
    }
    Ok(())
}

fn read_response(reader: &mut Reader<'_>, progress: &mut Progress) -> Result<()> {
    reader.object(|key, reader| match (&*key, reader.kind()?) {
        ("usage", Kind::Object) => progress.count(&USAGE, reader),
        ("error", Kind::Object) => {
            progress.has_failed = true;
            reader.skip()
        }
        _ => reader.skip(),
    })
}
