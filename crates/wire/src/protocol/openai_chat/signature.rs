//! The signature that Google's models put on a call, where Google's own Chat endpoint has it:
//! `extra_content.google.thought_signature`.

use crate::error::Result;
use crate::json::Kind;
use crate::json::Reader;
use crate::protocol::Artefact;
use crate::protocol::Protocol;
use crate::protocol::object::Member;
use crate::protocol::object::Object;
use crate::protocol::object::read_object;
use crate::protocol::semantics::Extras;
use crate::protocol::semantics::NodeSemantics;

/// The scope of extras in `extra_content` of a call.
const OUTER: &str = "extra_content";

/// The scope of extras in `google` of `extra_content`.
const INNER: &str = "extra_content/google";

/// Reads `extra_content` of a call; what else it holds goes to the extras. One without a signature is left unread.
pub(super) fn read_signature<'a>(
    reader: &mut Reader<'a>,
    extras: &mut Extras<'a>,
) -> Result<Option<Artefact<'a>>> {
    if reader.kind()? != Kind::Object {
        return Ok(None);
    }
    let (mut ahead, mut others, mut signature) = (reader.checkpoint(), Extras::default(), None);
    read_object(&mut ahead, OUTER, &mut others, |key, reader, others| {
        if key != "google" || reader.kind()? != Kind::Object {
            return Ok(Member::Unknown);
        }
        read_object(reader, INNER, others, |key, reader, _| {
            if key != "thought_signature" || reader.kind()? != Kind::String {
                return Ok(Member::Unknown);
            }
            signature = Some(reader.string()?);
            Ok(Member::Read)
        })?;
        Ok(Member::Read)
    })?;
    if signature.is_some() {
        *reader = ahead;
        extras.update(others);
    }
    Ok(signature.map(Artefact::signed_by_google))
}

/// Writes the signature of a call, if one of Google's models made it, with what stood beside it in this protocol.
pub(super) fn write_signature(
    object: &mut Object<'_, '_>,
    semantics: &NodeSemantics<'_>,
    extras: Option<&Extras<'_>>,
) {
    let Some(signature) = call_signature(semantics) else { return };
    let outer = extras.map(|extras| (extras, OUTER));
    let mut outer = Object::open(object.key("extra_content"), outer);
    let mut google = Object::open(outer.key("google"), extras.map(|extras| (extras, INNER)));
    google.field("thought_signature", signature.data());
    google.close();
    outer.close();
}

/// The signature that a call may show in this protocol.
pub(super) fn call_signature<'s>(semantics: &'s NodeSemantics<'_>) -> Option<&'s Artefact<'s>> {
    semantics.artefact().filter(|artefact| artefact.is_shown_on_calls_of(Protocol::OpenaiChat))
}
