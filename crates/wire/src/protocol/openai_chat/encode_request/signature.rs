//! Writing the signature of Google's models on a call, where Google's own Chat endpoint has it.

use crate::protocol::Protocol;
use crate::protocol::object::Object;
use crate::protocol::openai_chat::types::EXTRA_CONTENT;
use crate::protocol::openai_chat::types::EXTRA_CONTENT_GOOGLE;
use crate::protocol::semantics::Artefact;
use crate::protocol::semantics::Extras;
use crate::protocol::semantics::NodeSemantics;

/// Writes the signature of a call, if one of Google's models made it, with what stood beside it in this protocol.
pub(in crate::protocol::openai_chat) fn write_signature(
    object: &mut Object<'_, '_>,
    semantics: &NodeSemantics<'_>,
    extras: Option<&Extras<'_>>,
) {
    let Some(signature) = call_signature(semantics) else { return };
    let mut outer =
        Object::open(object.key("extra_content"), extras.map(|extras| (extras, EXTRA_CONTENT)));
    let inner = extras.map(|extras| (extras, EXTRA_CONTENT_GOOGLE));
    let mut google = Object::open(outer.key("google"), inner);
    google.field("thought_signature", signature.data());
    google.close();
    outer.close();
}

/// The signature that a call may show in this protocol.
pub(in crate::protocol::openai_chat) fn call_signature<'s>(
    semantics: &'s NodeSemantics<'_>,
) -> Option<&'s Artefact<'s>> {
    semantics.artefact().filter(|artefact| artefact.is_shown_on_calls_of(Protocol::OpenaiChat))
}
