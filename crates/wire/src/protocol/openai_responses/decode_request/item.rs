//! Reading items: messages, calls, results and reasoning. What is none of them stays whole.

use crate::conversation::Arguments;
use crate::conversation::CallForm;
use crate::conversation::Content;
use crate::conversation::Message;
use crate::conversation::Opaque;
use crate::conversation::Part;
use crate::conversation::Parts;
use crate::conversation::Reasoning;
use crate::conversation::ReasoningForm;
use crate::conversation::ResultOutput;
use crate::conversation::Role;
use crate::conversation::ToolCall;
use crate::conversation::ToolResult;
use crate::error::Result;
use crate::json::Kind;
use crate::json::Reader;
use crate::json::Text;
use crate::place::Place;
use crate::place::Step;
use crate::protocol::Artefact;
use crate::protocol::ArtefactKind;
use crate::protocol::object::Member;
use crate::protocol::object::Unread;
use crate::protocol::object::read_tag;
use crate::protocol::openai_responses::decode_request::part::decode_part;
use crate::protocol::openai_responses::types::CONTINUES;
use crate::protocol::openai_responses::types::EMPTY_CONTENT;
use crate::protocol::openai_responses::types::NO_PARTS;
use crate::protocol::openai_responses::types::NO_SUMMARY;
use crate::protocol::openai_responses::types::OPENS;
use crate::protocol::openai_responses::types::STRING;
use crate::protocol::openai_responses::types::SUMMARY;
use crate::protocol::openai_responses::types::Shape;
use crate::protocol::openai_responses::types::THIS;
use crate::protocol::openai_responses::types::THOUGHTS;
use crate::protocol::openai_responses::types::UNTYPED;
use crate::protocol::openai_responses::types::namespace_of;
use crate::protocol::openai_responses::types::piece_scope;
use crate::protocol::openai_responses::types::qualified;
use crate::protocol::semantics::Extras;
use crate::protocol::semantics::Item;
use crate::protocol::semantics::NodeSemantics;

/// What an item makes of the conversation.
pub(super) enum Decoded<'a> {
    /// A message of its own.
    Turn(Message<'a>),
    /// More of what the assistant says and does.
    Assistant(Parts<'a>),
}

/// Reads one item of `input`. Items of unknown type or without what their type needs are kept whole.
pub(super) fn decode_item<'a>(reader: &mut Reader<'a>, place: Place) -> Result<Decoded<'a>> {
    let start = reader.checkpoint();
    let (kind, unread) = kind_of(reader)?;
    let decoded = match &*kind.to_str() {
        "message" => decode_message(reader, unread, place)?,
        "function_call" => decode_call(reader, unread, place, CallForm::Function)?,
        "custom_tool_call" => decode_call(reader, unread, place, CallForm::Custom)?,
        "function_call_output" => decode_result(reader, unread, place, CallForm::Function)?,
        "custom_tool_call_output" => decode_result(reader, unread, place, CallForm::Custom)?,
        "reasoning" => decode_reasoning(reader, unread, place)?,
        _ => None,
    };
    match decoded {
        Some(decoded) => Ok(decoded),
        None => {
            *reader = start;
            decode_opaque(reader, place, kind)
        }
    }
}

/// Reads one item of an answer, whatever it is: the assistant made it.
pub(in crate::protocol::openai_responses) fn decode_output_item<'a>(
    reader: &mut Reader<'a>,
    place: Place,
) -> Result<Parts<'a>> {
    let start = reader.checkpoint();
    if let Ok(Decoded::Assistant(mut parts)) = decode_item(reader, place) {
        if let Some(first) = parts.first_mut().filter(|first| lacks_status(first)) {
            // Others give back an item that is complete.
            first.semantics_mut().add_shape(Shape::RESPELLED);
        }
        return Ok(parts);
    }
    *reader = start;
    let kind = kind_of(&mut reader.checkpoint()).map(|(kind, _)| kind).unwrap_or_default();
    opaque(reader, place, kind).map(Parts::from)
}

/// Whether the item that a part opens does not say how far it has come, as messages and calls of functions do.
fn lacks_status(part: &Part<'_>) -> bool {
    let is_stated = part.semantics().item().is_some_and(|item| item.status.is_some());
    match part.content() {
        Content::Text(_) | Content::Refusal(_) => !is_stated,
        Content::ToolCall(call) => !is_stated && call.form == CallForm::Function,
        Content::Media(_) | Content::ToolResult(_) | Content::Reasoning(_) | Content::Opaque(_) => {
            false
        }
    }
}

fn kind_of<'a>(reader: &mut Reader<'a>) -> Result<(Text<'a>, Unread)> {
    let (kind, unread) = read_tag(reader, "type")?;
    if let Some(kind) = kind {
        return Ok((kind, unread));
    }
    // A message may leave its type out, and so may a reference, which then has nothing but an id.
    let kind = match reader.peek_tag("role")? {
        Some(_) => Text::literal("message"),
        None => Text::literal("item_reference"),
    };
    Ok((kind, unread))
}

fn decode_opaque<'a>(reader: &mut Reader<'a>, place: Place, kind: Text<'a>) -> Result<Decoded<'a>> {
    let role = opaque_role(&kind.to_str());
    let part = opaque(reader, place, kind)?;
    Ok(match role {
        Role::Assistant => Decoded::Assistant(part.into()),
        Role::System | Role::Developer | Role::User | Role::Tool => {
            let message = Message::new(role, part);
            Decoded::Turn(message.with_semantics(NodeSemantics::at(place)))
        }
    })
}

/// Whose turn an item is that the conversation has no word for.
fn opaque_role(kind: &str) -> Role {
    match kind {
        "mcp_approval_response" => Role::Tool,
        "additional_tools" | "configuration_update" => Role::Developer,
        "message" | "compaction_trigger" => Role::User,
        kind if kind.ends_with("_output") => Role::Tool,
        _ => Role::Assistant,
    }
}

fn opaque<'a>(reader: &mut Reader<'a>, place: Place, kind: Text<'a>) -> Result<Part<'a>> {
    let json = reader.raw()?;
    let opaque = Content::Opaque(Box::new(Opaque { protocol: THIS, kind, json }));
    Ok(Part::new(opaque).with_semantics(NodeSemantics::at(place)))
}

fn decode_message<'a>(
    reader: &mut Reader<'a>,
    unread: Unread,
    place: Place,
) -> Result<Option<Decoded<'a>>> {
    let mut role = None;
    let mut parts = None;
    let mut item = Item::default();
    let mut shape = Shape::default();
    let mut typed = unread == Unread::BehindTag;
    let mut extras = Extras::default();
    unread.read(reader, "", &mut extras, |key, reader, _| {
        match key {
            "type" => {
                reader.skip()?;
                typed = true;
            }
            "role" => role = role_of(&reader.string()?.to_str()),
            "content" if reader.kind()? == Kind::String => {
                shape = shape.with(STRING);
                parts = Some(Parts::from(string_part(reader, place.step(Step::Content))?));
            }
            "content" => parts = Some(decode_parts(reader, place, Step::Content)?),
            _ => return item_member(&mut item, key, reader),
        }
        Ok(Member::Read)
    })?;
    let (Some(role), Some(parts)) = (role, parts) else { return Ok(None) };
    item.extras = extras;
    if !typed {
        shape = shape.with(UNTYPED);
    }
    Ok(Some(match role {
        Role::Assistant => Decoded::Assistant(assistant_parts(parts, item, shape, place)),
        Role::System | Role::Developer | Role::User | Role::Tool => {
            let mut semantics = NodeSemantics::at(place).shaped(shape);
            set_item(&mut semantics, item);
            Decoded::Turn(Message::new(role, parts).with_semantics(semantics))
        }
    }))
}

fn role_of(role: &str) -> Option<Role> {
    match role {
        "user" => Some(Role::User),
        "assistant" => Some(Role::Assistant),
        "system" => Some(Role::System),
        "developer" => Some(Role::Developer),
        _ => None,
    }
}

/// Reads what every item may have.
fn item_member<'a>(item: &mut Item<'a>, key: &str, reader: &mut Reader<'a>) -> Result<Member> {
    match key {
        "id" => item.id = Some(reader.string()?),
        "status" => item.status = Some(reader.string()?),
        "phase" => item.phase = Some(reader.string()?),
        _ => return Ok(Member::Unknown),
    }
    Ok(Member::Read)
}

/// Has a node open an item, which is kept only if it says something of itself: most of a history does not.
fn set_item<'a>(semantics: &mut NodeSemantics<'a>, item: Item<'a>) {
    semantics.add_shape(OPENS);
    let Item { id, status, phase, extras } = &item;
    let has_word = id.is_some() || status.is_some() || phase.is_some();
    if has_word || !extras.is_empty() {
        semantics.set_item(item);
    }
}

/// Gives the first part of a message the item, and has the others continue it.
fn assistant_parts<'a>(
    mut parts: Parts<'a>,
    item: Item<'a>,
    shape: Shape,
    place: Place,
) -> Parts<'a> {
    let mut shape = shape;
    if parts.is_empty() {
        // Others have no message without content.
        shape = shape.with(NO_PARTS).with(Shape::RESPELLED);
        parts.push(Part::text(Text::default()).with_semantics(NodeSemantics::at(place)));
    }
    let (first, rest) = parts.split_at_mut(1);
    first[0].semantics_mut().add_shape(shape);
    set_item(first[0].semantics_mut(), item);
    for part in rest {
        part.semantics_mut().add_shape(CONTINUES);
    }
    parts
}

fn string_part<'a>(reader: &mut Reader<'a>, place: Place) -> Result<Part<'a>> {
    Ok(Part::text(reader.string()?).with_semantics(NodeSemantics::at(place)))
}

fn decode_parts<'a>(reader: &mut Reader<'a>, place: Place, step: Step) -> Result<Parts<'a>> {
    let mut parts = Parts::default();
    reader.array(|index, reader| {
        parts.push(decode_part(reader, place.element(step, index))?);
        Ok(())
    })?;
    Ok(parts)
}

fn decode_call<'a>(
    reader: &mut Reader<'a>,
    unread: Unread,
    place: Place,
    form: CallForm,
) -> Result<Option<Decoded<'a>>> {
    let (mut id, mut name, mut text) = (None, None, None);
    let mut shape = Shape::default();
    let mut item = Item::default();
    let mut extras = Extras::default();
    unread.read(reader, "", &mut extras, |key, reader, _| {
        match (key, form) {
            ("type", _) => reader.skip()?,
            ("call_id", _) => id = Some(reader.string()?),
            ("name", _) => name = Some(reader.string()?),
            // Some servers give the arguments as the object that they are.
            ("arguments", CallForm::Function) if reader.kind()? == Kind::Object => {
                text = Some(reader.raw()?.to_text().into_owned());
                shape = Shape::AS_JSON;
            }
            ("arguments", CallForm::Function) | ("input", CallForm::Custom) => {
                text = Some(reader.string()?);
            }
            _ => return item_member(&mut item, key, reader),
        }
        Ok(Member::Read)
    })?;
    let (Some(name), Some(text)) = (name, text) else { return Ok(None) };
    let name = in_namespace(name, &extras);
    item.extras = extras;
    let call = ToolCall { id, name, arguments: Arguments::Text(text), form };
    let mut semantics = NodeSemantics::at(place).shaped(shape);
    if namespace_of(&item.extras).is_some() {
        semantics.add_shape(Shape::RESPELLED);
    }
    set_item(&mut semantics, item);
    let part = Part::new(Content::ToolCall(Box::new(call))).with_semantics(semantics);
    Ok(Some(Decoded::Assistant(part.into())))
}

fn in_namespace<'a>(name: Text<'a>, extras: &Extras<'_>) -> Text<'a> {
    match namespace_of(extras) {
        Some(namespace) => qualified(&namespace, name),
        None => name,
    }
}

fn decode_result<'a>(
    reader: &mut Reader<'a>,
    unread: Unread,
    place: Place,
    form: CallForm,
) -> Result<Option<Decoded<'a>>> {
    let (mut call_id, mut name, mut parts) = (None, None, None);
    let mut shape = Shape::default();
    let mut item = Item::default();
    let mut extras = Extras::default();
    unread.read(reader, "", &mut extras, |key, reader, _| {
        match key {
            "type" => reader.skip()?,
            "call_id" => call_id = Some(reader.string()?),
            "name" => name = Some(reader.string()?),
            "output" if reader.kind()? == Kind::String => {
                shape = STRING;
                parts = Some(Parts::from(string_part(reader, place.step(Step::Output))?));
            }
            "output" => parts = Some(decode_parts(reader, place, Step::Output)?),
            _ => return item_member(&mut item, key, reader),
        }
        Ok(Member::Read)
    })?;
    let Some(parts) = parts else { return Ok(None) };
    let name = name.map(|name| in_namespace(name, &extras));
    item.extras = extras;
    let output = ResultOutput::Parts(parts);
    let result = ToolResult { call_id, name, output, is_error: None, form };
    let mut semantics = NodeSemantics::at(place).shaped(shape);
    set_item(&mut semantics, item);
    let part = Part::new(Content::ToolResult(Box::new(result))).with_semantics(semantics);
    let message = Message::new(Role::Tool, part);
    Ok(Some(Decoded::Turn(message.with_semantics(NodeSemantics::at(place)))))
}

/// What a reasoning item holds.
#[derive(Default)]
struct Thought<'a> {
    summary: Option<Vec<Text<'a>>>,
    content: Option<Vec<Text<'a>>>,
    encrypted: Option<Text<'a>>,
    item: Item<'a>,
    /// A piece was not of the shape that pieces have.
    odd: bool,
}

fn decode_reasoning<'a>(
    reader: &mut Reader<'a>,
    unread: Unread,
    place: Place,
) -> Result<Option<Decoded<'a>>> {
    let mut thought = Thought::default();
    let mut extras = Extras::default();
    unread.read(reader, "", &mut extras, |key, reader, extras| {
        match key {
            "type" => reader.skip()?,
            "summary" => thought.summary = thought.pieces(reader, SUMMARY, extras)?,
            "content" => thought.content = thought.pieces(reader, THOUGHTS, extras)?,
            "encrypted_content" => thought.encrypted = Some(reader.string()?),
            _ => return item_member(&mut thought.item, key, reader),
        }
        Ok(Member::Read)
    })?;
    thought.item.extras = extras;
    Ok((!thought.odd).then(|| Decoded::Assistant(thought.into_parts(place))))
}

impl<'a> Thought<'a> {
    /// Reads a list of pieces, each of which has a type and a text; what else it has goes to the extras of the item.
    fn pieces(
        &mut self,
        reader: &mut Reader<'a>,
        (list, kind): (&'static str, &'static str),
        extras: &mut Extras<'a>,
    ) -> Result<Option<Vec<Text<'a>>>> {
        let mut pieces = Vec::new();
        let mut odd = false;
        reader.array(|index, reader| {
            let mut text = None;
            let mut typed = false;
            if reader.kind()? != Kind::Object {
                odd = true;
                return reader.skip();
            }
            reader.object(|key, reader| match (&*key, reader.kind()?) {
                ("type", Kind::String) => {
                    typed = reader.string()? == *kind;
                    Ok(())
                }
                ("text", Kind::String) => {
                    text = Some(reader.string()?);
                    Ok(())
                }
                ("type" | "text", _) => {
                    odd = true;
                    reader.skip()
                }
                _ => {
                    extras.keep(piece_scope(list, index), key, reader.raw()?);
                    Ok(())
                }
            })?;
            match text {
                Some(text) if typed => pieces.push(text),
                _ => odd = true,
            }
            Ok(())
        })?;
        self.odd |= odd;
        Ok(Some(pieces))
    }

    /// One part for the summary or for what is only encrypted, and one for the thoughts themselves.
    fn into_parts(self, place: Place) -> Parts<'a> {
        let Self { summary, content, encrypted, item, odd: _ } = self;
        let mut semantics = NodeSemantics::at(place);
        set_item(&mut semantics, item);
        if summary.is_none() {
            semantics.add_shape(NO_SUMMARY);
        }
        if content.as_ref().is_some_and(Vec::is_empty) {
            semantics.add_shape(EMPTY_CONTENT);
        }
        if let Some(data) = encrypted {
            semantics.set_artefact(Artefact::read(THIS, ArtefactKind::Ciphertext, data));
        }
        let sealed = semantics.artefact().map(Artefact::kind);
        let summary = summary.unwrap_or_default();
        let content = content.unwrap_or_default();
        let mut forms = Vec::with_capacity(2);
        if !summary.is_empty() {
            forms.push((ReasoningForm::Summary, summary));
        }
        if !content.is_empty() {
            // Others show it as a summary.
            semantics.add_shape(Shape::RESPELLED);
            forms.push((ReasoningForm::Raw, content));
        }
        if forms.is_empty() {
            let form = match sealed {
                Some(ArtefactKind::Ciphertext) => ReasoningForm::Redacted,
                // Signed thinking that shows nothing.
                Some(ArtefactKind::Signature) | None => ReasoningForm::Summary,
            };
            forms.push((form, Vec::new()));
        }
        let mut semantics = Some(semantics);
        let mut part = |(form, texts)| {
            let continued = || NodeSemantics::at(place).shaped(CONTINUES);
            Part::new(Content::Reasoning(Box::new(Reasoning { form, texts })))
                .with_semantics(semantics.take().unwrap_or_else(continued))
        };
        forms.into_iter().map(&mut part).collect()
    }
}
