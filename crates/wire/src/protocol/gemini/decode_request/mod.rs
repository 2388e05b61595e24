//! Reading requests.

mod config;
mod part;
pub(super) mod partial;
mod path;
mod tool;

pub(super) use part::{content_part, opaque_part};

use crate::conversation::{Message, Parts, Request, Role};
use crate::error::Result;
use crate::json::{Kind, Reader, Text};
use crate::place::{Place, Step};
use crate::protocol::codec::RequestAndSemantics;
use crate::protocol::gemini::decode_request::partial::{Joining, part_or_piece};
use crate::protocol::gemini::types::name::{REQUEST_NAMES, camel};
use crate::protocol::gemini::types::{
    AMONG_TURNS, GENERATION_SCOPE, GeminiSemantics, MODEL_PREFIX, Shape,
};
use crate::protocol::object::{
    Members, Unread, messages_expected, put, read_first, read_object, set,
};
use crate::protocol::semantics::{Extras, NodeSemantics, Semantics};

pub(in super::super) fn decode_request(mut reader: Reader<'_>) -> Result<RequestAndSemantics<'_>> {
    let mut draft = Draft::default();
    let mut extras = Extras::default();
    read_object(&mut reader, "", &mut extras, |key, reader| draft.member(key, reader))?;
    reader.finish()?;
    Ok(draft.finish(extras))
}

/// A request that is being read.
#[derive(Default)]
struct Draft<'a> {
    request: Request<'a>,
    semantics: Semantics<'a>,
    /// How the names of the request are spelled.
    shape: Shape,
    system: Option<Message<'a>>,
    output: config::OutputDraft<'a>,
}

impl<'a> Draft<'a> {
    fn member(&mut self, key: &str, reader: &mut Members<'_, 'a>) -> Result<()> {
        match camel(REQUEST_NAMES, key, &mut self.shape) {
            "model" => set(&mut self.request.model, read_model(reader)),
            "contents" => self.contents(reader),
            "systemInstruction" => {
                let is_camel = key == "systemInstruction";
                let step =
                    if is_camel { Step::SystemInstruction } else { Step::SystemInstructionSnake };
                let place = Place::default().step(step);
                set(&mut self.system, content(reader, place, Some(Role::System)))
            }
            "tools" => self.tools(reader),
            "toolConfig" => self.tool_config(reader),
            "generationConfig" => {
                reader.inside(GENERATION_SCOPE, |key, reader| self.generation_member(key, reader))
            }
            "labels" => set(&mut self.request.metadata, reader.raw()),
            "serviceTier" => set(&mut self.request.service_tier, reader.string()),
            _ => self.declared(key, reader),
        }
    }

    /// Takes a field that only this protocol has, if it is declared under that very path.
    fn declared(&mut self, path: &str, reader: &mut Reader<'a>) -> Result<()> {
        if !GeminiSemantics::DECLARED.iter().any(|declared| declared.path == path) {
            return Ok(());
        }
        let json = reader.raw()?;
        // The path was found among the declared ones, so the namespace takes it.
        let _ = self.semantics.gemini_mut().take(path, json);
        Ok(())
    }

    fn contents(&mut self, reader: &mut Reader<'a>) -> Result<()> {
        self.request.messages.reserve(messages_expected(reader));
        read_each(reader, Place::default(), Step::Contents, |reader, place| {
            self.request.messages.push(content(reader, place, None)?);
            Ok(())
        })
    }

    fn finish(mut self, extras: Extras<'a>) -> RequestAndSemantics<'a> {
        self.finish_output();
        if let Some(system) = self.system.take() {
            self.request.messages.insert(0, system);
        }
        self.semantics.add_shape(self.shape);
        self.semantics.extras_mut().update(extras);
        (self.request, self.semantics)
    }
}

/// Reads a list, or the one object that the vendor takes for a list of one.
/// Fixture `request/fields/gemini-one-object-for-a-list`.
fn read_each<'a>(
    reader: &mut Reader<'a>,
    place: Place,
    step: Step,
    mut read: impl FnMut(&mut Reader<'a>, Place) -> Result<()>,
) -> Result<()> {
    if reader.kind()? == Kind::Object {
        return read(reader, place.step(step));
    }
    reader.array(|index, reader| read(reader, place.element(step, index)))
}

/// Reads the name of a model, which may stand behind `models/`.
fn read_model<'a>(reader: &mut Reader<'a>) -> Result<Text<'a>> {
    let model = reader.string()?;
    let name = model.to_str().strip_prefix(MODEL_PREFIX).map(str::to_owned);
    Ok(name.filter(|name| !name.is_empty()).map_or(model, Text::plain))
}

/// Reads a content: a role and its parts. The role may be that of its place, whatever it states.
fn content<'a>(
    reader: &mut Reader<'a>,
    place: Place,
    role_of_place: Option<Role>,
) -> Result<Message<'a>> {
    let mut semantics = NodeSemantics::at(place);
    let mut extras = Extras::default();
    let (role, unread) = match role_of_place {
        Some(role) => (Some(role), Unread::All),
        None => read_first(reader, "role", usual_role),
    };
    let mut message = Message::new(role.unwrap_or_default(), Parts::default());
    unread.read(reader, "", &mut extras, |key, reader| match key {
        "role" if role_of_place.is_none() => put(&mut message.role, read_role(reader)),
        "parts" => {
            let mut joining = Joining::default();
            read_each(reader, place, Step::Parts, |reader, place| {
                joining.push(part_or_piece(reader, place)?);
                Ok(())
            })?;
            message.parts = joining.finish().0;
            part::join_sealed(&mut message.parts);
            Ok(())
        }
        _ => Ok(()),
    })?;
    if role_of_place.is_none() && message.role == Role::System {
        semantics.add_shape(AMONG_TURNS);
    }
    semantics.keep(extras);
    Ok(message.with_semantics(semantics))
}

/// Reads a role. One that is not the usual word for it stays among the extras, which bring it back.
fn read_role(reader: &mut Reader<'_>) -> Result<Role> {
    let mut ahead = reader.checkpoint();
    let word = ahead.string()?;
    let word = word.to_str();
    if let Some(role) = usual_role(&word) {
        *reader = ahead;
        return Ok(role);
    }
    Ok(match &*word {
        "assistant" => Role::Assistant,
        "system" => Role::System,
        _ => Role::User,
    })
}

/// The role that the vendor's own word means. Fixture `request/roles/gemini-content-without-role-is-the-user`.
fn usual_role(word: &str) -> Option<Role> {
    match word {
        "user" => Some(Role::User),
        "model" => Some(Role::Assistant),
        _ => None,
    }
}

/// Reads the parts of a result.
fn read_parts<'a>(reader: &mut Reader<'a>, place: Place, step: Step) -> Result<Parts<'a>> {
    let mut parts = Parts::default();
    read_each(reader, place, step, |reader, place| {
        parts.push(content_part(reader, place)?);
        Ok(())
    })?;
    Ok(parts)
}
