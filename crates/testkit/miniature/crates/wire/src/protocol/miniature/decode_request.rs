//! Reading requests.

use super::types::role;
use crate::conversation::{Message, Part, Request};
use crate::error::{Error, ErrorKind, Result};
use crate::json::{Kind, Reader, Text};
use crate::place::{Place, Step};
use crate::protocol::codec::RequestAndSemantics;
use crate::protocol::object::read_object;
use crate::protocol::semantics::{Extras, NodeSemantics, Semantics};

pub(in super::super) fn decode_request(mut reader: Reader<'_>) -> Result<RequestAndSemantics<'_>> {
    let mut request = Request::default();
    let mut semantics = Semantics::default();
    read_object(&mut reader, "", semantics.extras_mut(), |key, reader| {
        match (key, reader.kind()?) {
            ("model", Kind::String) => request.model = Some(reader.string()?),
            ("limit", Kind::Number) => request.max_output_tokens = Some(reader.number()?),
            ("stream", Kind::Boolean) => request.stream = Some(reader.boolean()?),
            ("turns", Kind::Array) => request.messages = read_turns(reader)?,
            _ => {}
        }
        Ok(())
    })?;
    reader.finish()?;
    Ok((request, semantics))
}

fn read_turns<'a>(reader: &mut Reader<'a>) -> Result<Vec<Message<'a>>> {
    let mut messages = Vec::new();
    reader.array(|index, reader| {
        messages.push(read_turn(reader, Place::default().element(Step::Turns, index))?);
        Ok(())
    })?;
    Ok(messages)
}

fn read_turn<'a>(reader: &mut Reader<'a>, place: Place) -> Result<Message<'a>> {
    let (mut who, mut text) = (None, None);
    let mut extras = Extras::default();
    read_object(reader, "", &mut extras, |key, reader| {
        match (key, reader.kind()?) {
            ("who", Kind::String) => who = Some(reader.string()?),
            ("text", Kind::String) => text = Some(reader.string()?),
            _ => {}
        }
        Ok(())
    })?;
    let role = who.as_ref().and_then(|who: &Text<'_>| role(&who.to_str())).ok_or_else(|| {
        Error::new(ErrorKind::Value, "expected `who` to be `system`, `user` or `model`")
    })?;
    let part = |text| Part::text(text).with_semantics(NodeSemantics::at(place));
    let mut semantics = NodeSemantics::at(place);
    semantics.keep(extras);
    let parts = text.map(part).into_iter().collect::<Vec<_>>();
    Ok(Message::new(role, parts).with_semantics(semantics))
}
