//! Reading the signature that Google's models put on a call, where Google's own Chat endpoint has it:
//! `extra_content.google.thought_signature`.

use crate::error::Result;
use crate::json::Kind;
use crate::json::Reader;
use crate::protocol::Artefact;
use crate::protocol::object::Member;
use crate::protocol::object::read_object;
use crate::protocol::openai_chat::types::EXTRA_CONTENT;
use crate::protocol::openai_chat::types::EXTRA_CONTENT_GOOGLE;
use crate::protocol::semantics::Extras;

/// Reads `extra_content` of a call; what else it holds goes to the extras. One without a signature is left unread.
pub(in crate::protocol::openai_chat) fn read_signature<'a>(
    reader: &mut Reader<'a>,
    extras: &mut Extras<'a>,
) -> Result<Option<Artefact<'a>>> {
    if !holds_signature(&mut reader.checkpoint()) {
        return Ok(None);
    }
    let mut signature = None;
    read_object(reader, EXTRA_CONTENT, extras, |key, reader, extras| {
        if key != "google" {
            return Ok(Member::Unknown);
        }
        read_object(reader, EXTRA_CONTENT_GOOGLE, extras, |key, reader, _| {
            if key != "thought_signature" {
                return Ok(Member::Unknown);
            }
            signature = Some(reader.string()?);
            Ok(Member::Read)
        })?;
        Ok(Member::Read)
    })?;
    Ok(signature.map(Artefact::signed_by_google))
}

fn holds_signature(reader: &mut Reader<'_>) -> bool {
    let mut holds = false;
    let mut google = |reader: &mut Reader<'_>| {
        reader.object(|key, reader| {
            holds |= &*key == "thought_signature" && reader.kind()? == Kind::String;
            reader.skip()
        })
    };
    let read = reader.object(|key, reader| match (&*key, reader.kind()?) {
        ("google", Kind::Object) => google(reader),
        _ => reader.skip(),
    });
    read.is_ok() && holds
}
