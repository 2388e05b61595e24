//! Reading `input`: a string, or items that become messages.

use crate::conversation::Content;
use crate::conversation::Message;
use crate::conversation::Part;
use crate::conversation::Parts;
use crate::conversation::Request;
use crate::conversation::Role;
use crate::error::Result;
use crate::json::Kind;
use crate::json::Reader;
use crate::place::Place;
use crate::place::Step;
use crate::protocol::object::messages_expected;
use crate::protocol::openai_responses::decode_request::item::Decoded;
use crate::protocol::openai_responses::decode_request::item::decode_item;
use crate::protocol::openai_responses::types::INPUT_LIST;
use crate::protocol::openai_responses::types::INPUT_STRING;
use crate::protocol::openai_responses::types::STRING;
use crate::protocol::openai_responses::types::Shape;
use crate::protocol::semantics::NodeSemantics;
use crate::protocol::semantics::Semantics;

pub(super) fn decode_input<'a>(
    reader: &mut Reader<'a>,
    request: &mut Request<'a>,
    semantics: &mut Semantics<'a>,
) -> Result<()> {
    if reader.kind()? == Kind::String {
        let place = Place::default().step(Step::Input);
        let part = Part::text(reader.string()?).with_semantics(NodeSemantics::at(place));
        let message = Message::new(Role::User, part);
        let shaped = NodeSemantics::at(place).shaped(INPUT_STRING);
        request.messages.push(message.with_semantics(shaped));
        return Ok(());
    }
    semantics.add_shape(INPUT_LIST);
    request.messages.reserve(messages_expected(reader));
    reader.array(|index, reader| {
        let place = Place::default().element(Step::Input, index);
        match decode_item(reader, place)? {
            Decoded::Turn(message) => request.messages.push(message),
            Decoded::Assistant(mut parts) => {
                respell(&mut parts);
                join(&mut request.messages, parts, place);
            }
        }
        Ok(())
    })
}

/// What another protocol sends back of the assistant's words is strings.
fn respell(parts: &mut [Part<'_>]) {
    if let Some(first) = parts.first_mut()
        && is_said(first)
        && !first.semantics().has_shape(STRING)
    {
        first.semantics_mut().add_shape(Shape::RESPELLED);
    }
}

/// Adds the parts of an item to the assistant's message, which the items in a row make together.
fn join<'a>(messages: &mut Vec<Message<'a>>, mut parts: Parts<'a>, place: Place) {
    match messages.last_mut() {
        Some(message) if message.role == Role::Assistant => {
            if let (Some(last), Some(first)) = (message.parts.last_mut(), parts.first_mut())
                && is_said(last)
                && is_said(first)
            {
                // Others hold both as the parts of one message.
                last.semantics_mut().add_shape(Shape::RESPELLED);
                first.semantics_mut().add_shape(Shape::RESPELLED);
            }
            message.parts.extend(parts);
        }
        _ => {
            let message = Message::new(Role::Assistant, parts);
            messages.push(message.with_semantics(NodeSemantics::at(place)));
        }
    }
}

/// Whether a part stands in a message.
fn is_said(part: &Part<'_>) -> bool {
    matches!(part.content(), Content::Text(_) | Content::Refusal(_))
}
