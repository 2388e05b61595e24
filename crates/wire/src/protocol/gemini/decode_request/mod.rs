//! Reading requests.

mod config;
mod part;
mod tool;

pub(super) use part::content_part;

use crate::conversation::Message;
use crate::conversation::Parts;
use crate::conversation::Request;
use crate::conversation::Role;
use crate::error::Result;
use crate::json::Kind;
use crate::json::Reader;
use crate::json::Text;
use crate::place::Place;
use crate::place::Step;
use crate::protocol::Exchange;
use crate::protocol::gemini::types::AMONG_TURNS;
use crate::protocol::gemini::types::CONTENTS_ABSENT;
use crate::protocol::gemini::types::CONTENTS_ONE;
use crate::protocol::gemini::types::GEMINI;
use crate::protocol::gemini::types::GeminiSemantics;
use crate::protocol::gemini::types::MODEL_PLAIN;
use crate::protocol::gemini::types::MODEL_PREFIX;
use crate::protocol::gemini::types::MODEL_PREFIXED;
use crate::protocol::gemini::types::PARTS_ABSENT;
use crate::protocol::gemini::types::PARTS_ONE;
use crate::protocol::gemini::types::REQUEST_NAMES;
use crate::protocol::gemini::types::ROLE_ABSENT;
use crate::protocol::gemini::types::SLOT;
use crate::protocol::gemini::types::Shape;
use crate::protocol::gemini::types::camel;
use crate::protocol::object::Member;
use crate::protocol::object::Unread;
use crate::protocol::object::messages_expected;
use crate::protocol::object::read_first;
use crate::protocol::object::read_object;
use crate::protocol::semantics::Extras;
use crate::protocol::semantics::NodeSemantics;
use crate::protocol::semantics::Semantics;

pub(in crate::protocol) fn decode_request(mut reader: Reader<'_>) -> Result<Exchange<'_>> {
    let mut draft = Draft::default();
    let mut extras = Extras::default();
    read_object(&mut reader, "", &mut extras, |key, reader, extras| {
        draft.member(key, reader, extras)
    })?;
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
    contents_stated: bool,
    output: config::OutputDraft<'a>,
}

impl<'a> Draft<'a> {
    fn member(
        &mut self,
        key: &str,
        reader: &mut Reader<'a>,
        extras: &mut Extras<'a>,
    ) -> Result<Member> {
        match camel(REQUEST_NAMES, key, &mut self.shape) {
            "model" => self.model(reader)?,
            "contents" => self.contents(reader)?,
            "systemInstruction" => self.system_instruction(key, reader)?,
            "tools" => self.tools(reader)?,
            "toolConfig" => return self.tool_config(reader, extras),
            "generationConfig" => return self.generation_config(reader, extras),
            "labels" => self.request.metadata = Some(reader.raw()?),
            "serviceTier" => self.request.service_tier = Some(reader.string()?),
            _ => return self.declared(key, reader),
        }
        Ok(Member::Read)
    }

    /// Takes a field that only this protocol has, if it is declared under that very path.
    fn declared(&mut self, path: &str, reader: &mut Reader<'a>) -> Result<Member> {
        if !GeminiSemantics::DECLARED.iter().any(|declared| declared.path == path) {
            return Ok(Member::Unknown);
        }
        let json = reader.raw()?;
        // The path was found among the declared ones, so the namespace takes it.
        let _ = self.semantics.gemini_mut().take(path, json);
        Ok(Member::Read)
    }

    fn model(&mut self, reader: &mut Reader<'a>) -> Result<()> {
        let model = reader.string()?;
        let stripped = match model.to_str().strip_prefix(MODEL_PREFIX) {
            Some(name) if !name.is_empty() => Some(name.to_owned()),
            _ => None,
        };
        self.request.model = Some(match stripped {
            Some(name) => {
                self.shape = self.shape.with(MODEL_PREFIXED);
                Text::plain(name)
            }
            None => {
                self.shape = self.shape.with(MODEL_PLAIN);
                model
            }
        });
        Ok(())
    }

    fn contents(&mut self, reader: &mut Reader<'a>) -> Result<()> {
        self.contents_stated = true;
        if reader.kind()? == Kind::Object {
            self.shape = self.shape.with(CONTENTS_ONE);
            let place = Place::default().step(Step::Contents);
            self.request.messages.push(content(reader, place, Standing::Turn)?);
            return Ok(());
        }
        self.request.messages.reserve(messages_expected(reader));
        reader.array(|index, reader| {
            let place = Place::default().element(Step::Contents, index);
            self.request.messages.push(content(reader, place, Standing::Turn)?);
            Ok(())
        })
    }

    fn system_instruction(&mut self, key: &str, reader: &mut Reader<'a>) -> Result<()> {
        let step = match key {
            "systemInstruction" => Step::SystemInstruction,
            _ => Step::SystemInstructionSnake,
        };
        self.system = Some(content(reader, Place::default().step(step), Standing::Slot)?);
        Ok(())
    }

    fn finish(mut self, extras: Extras<'a>) -> Exchange<'a> {
        self.finish_output();
        if !self.contents_stated {
            self.shape = self.shape.with(CONTENTS_ABSENT);
        }
        if let Some(system) = self.system.take() {
            self.request.messages.insert(0, system);
        }
        self.semantics.add_shape(self.shape);
        self.semantics.extras_mut().update(extras);
        Exchange::decoded(GEMINI, self.request, self.semantics)
    }
}

/// Where a content stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// It is the system instruction.
    Slot,
    Turn,
}

/// Reads a content: a role and its parts.
fn content<'a>(reader: &mut Reader<'a>, place: Place, standing: Standing) -> Result<Message<'a>> {
    let mut semantics = NodeSemantics::at(place);
    let mut extras = Extras::default();
    let (role, unread) = match standing {
        Standing::Slot => (None, Unread::All),
        Standing::Turn => read_first(reader, "role", usual_role),
    };
    let mut message = Message::new(role.unwrap_or_default(), Parts::default());
    let (mut role_stated, mut parts_stated) = (role.is_some(), false);
    let mut shape = Shape::default();
    unread.read(reader, "", &mut extras, |key, reader, _| match key {
        "role" => {
            let (role, member) = read_role(reader, standing)?;
            message.role = role;
            role_stated = member == Member::Read;
            Ok(member)
        }
        "parts" => {
            parts_stated = true;
            shape = read_parts(reader, place, &mut message.parts)?;
            Ok(Member::Read)
        }
        _ => Ok(Member::Unknown),
    })?;
    if standing == Standing::Slot {
        message.role = Role::System;
        shape = shape.with(SLOT);
    } else if message.role == Role::System {
        shape = shape.with(AMONG_TURNS);
    }
    if !role_stated {
        shape = shape.with(ROLE_ABSENT);
    }
    if !parts_stated {
        shape = shape.with(PARTS_ABSENT);
    }
    semantics.add_shape(shape);
    semantics.keep(extras);
    Ok(message.with_semantics(semantics))
}

/// Reads a role. One that is not the usual word for it stays among the extras, which bring it back.
fn read_role(reader: &mut Reader<'_>, standing: Standing) -> Result<(Role, Member)> {
    let mut ahead = reader.checkpoint();
    let word = ahead.string()?;
    let word = word.to_str();
    if let Some(role) = usual_role(&word) {
        if standing == Standing::Slot {
            return Ok((role, Member::Unknown));
        }
        *reader = ahead;
        return Ok((role, Member::Read));
    }
    let role = match &*word {
        "assistant" => Role::Assistant,
        "system" => Role::System,
        _ => Role::User,
    };
    Ok((role, Member::Unknown))
}

/// The role that the vendor's own word means.
fn usual_role(word: &str) -> Option<Role> {
    match word {
        "user" => Some(Role::User),
        "model" => Some(Role::Assistant),
        _ => None,
    }
}

/// Reads the parts of a content, and says how the list was spelled: the vendor takes one object for a list of one.
fn read_parts<'a>(reader: &mut Reader<'a>, place: Place, parts: &mut Parts<'a>) -> Result<Shape> {
    *parts = Parts::default();
    if reader.kind()? == Kind::Object {
        parts.push(content_part(reader, place.step(Step::Parts))?);
        return Ok(PARTS_ONE.with(Shape::RESPELLED));
    }
    reader.array(|index, reader| {
        parts.push(content_part(reader, place.element(Step::Parts, index))?);
        Ok(())
    })?;
    part::join_sealed(parts);
    Ok(Shape::default())
}
