//! What the frames of a passing stream hold.

use crate::error::Result;
use crate::json::{Kind, Reader};
use crate::protocol::miniature::usage::USAGE;
use crate::protocol::watch::Progress;
use crate::sse::Frame;

pub(in super::super) fn watch(frame: &Frame<'_>, progress: &mut Progress) -> Result<()> {
    progress.candidates.begin(0);
    Reader::new(frame.data).object(|key, reader| {
        match (&*key, reader.kind()?) {
            ("usage", Kind::Object) => return progress.count(&USAGE, reader),
            ("end", Kind::String) => {
                progress.candidates.end_all();
                progress.is_over = true;
            }
            ("error", Kind::Object) => progress.has_failed = true,
            _ => {}
        }
        reader.skip()
    })
}
