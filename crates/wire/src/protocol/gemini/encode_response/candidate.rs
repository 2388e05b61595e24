//! Writing one candidate, of a whole answer or in the last frame of a stream.

use crate::json::{Json, Text, Writer};
use crate::protocol::gemini::types::{CONTENT_SCOPE, GROUNDING_SCOPE, LOGPROBS};
use crate::protocol::object::Object;
use crate::protocol::semantics::Extras;

/// What stands beside the parts of a candidate.
pub(in super::super) struct Beside<'t> {
    pub index: usize,
    pub finish: Option<Text<'t>>,
    pub grounding: Option<Json<'static>>,
    pub logprobs: Option<Json<'static>>,
}

/// Writes a candidate. Its extras are those of an answer in this protocol, whose sources are among them.
pub(in super::super) fn write_candidate(
    writer: &mut Writer,
    extras: Option<&Extras<'_>>,
    beside: &Beside<'_>,
    parts: impl FnOnce(&mut Writer),
) {
    let within = |scope: &'static str| extras.map(|extras| (extras, scope));
    let mut object = Object::open(writer, within(""));
    let mut content = Object::open(object.key("content"), within(CONTENT_SCOPE));
    content.key("parts").array(parts);
    content.word_unless_kept("role", "model");
    content.close();
    object.optional("finishReason", beside.finish.as_ref());
    object.unless_kept("index", &beside.index);
    object.unless_empty(GROUNDING_SCOPE, within(GROUNDING_SCOPE), |_| {});
    object.optional(GROUNDING_SCOPE, beside.grounding.as_ref());
    object.optional(LOGPROBS, beside.logprobs.as_ref());
    object.close();
}
