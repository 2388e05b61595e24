//! Reading items: messages, calls, results and reasoning. What is none of them stays whole.

use crate::conversation::{
    Arguments, CallForm, Content, Message, Part, Parts, Reasoning, ReasoningForm, ResultOutput,
    Role, ToolCall, ToolResult,
};
use crate::error::Result;
use crate::json::{Kind, Reader, Text};
use crate::place::{Place, Step};
use crate::protocol::object::{Members, Unread, put, read_opaque, read_tag, set};
use crate::protocol::openai_responses::decode_request::part::decode_part;
use crate::protocol::openai_responses::types::{
    CONTINUES, SELF, SUMMARY, Shape, THOUGHTS, namespace_of, piece_scope, qualified,
};
use crate::protocol::semantics::{Extras, Item, NodeSemantics};
use crate::protocol::{Artefact, ArtefactKind};

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
    let item = Decoding { reader, unread, place };
    let decoded = match &*kind.to_str() {
        "message" => item.message()?,
        "function_call" => item.call(CallForm::Function)?,
        "custom_tool_call" => item.call(CallForm::Custom)?,
        "function_call_output" => item.result(CallForm::Function)?,
        "custom_tool_call_output" => item.result(CallForm::Custom)?,
        "reasoning" => item.reasoning()?,
        _ => None,
    };
    if let Some(decoded) = decoded {
        return Ok(decoded);
    }
    *reader = start;
    let (role, semantics) = (opaque_role(&kind.to_str()), NodeSemantics::at(place));
    let part = read_opaque(reader, (SELF, kind), semantics.clone())?;
    Ok(message_of(role, part.into(), semantics))
}

/// Reads one item of an answer, whatever it is: the assistant made it.
pub(in super::super) fn decode_output_item<'a>(
    reader: &mut Reader<'a>,
    place: Place,
) -> Result<Parts<'a>> {
    let start = reader.checkpoint();
    if let Ok(Decoded::Assistant(parts)) = decode_item(reader, place) {
        return Ok(parts);
    }
    *reader = start;
    let kind = kind_of(&mut reader.checkpoint()).map(|(kind, _)| kind).unwrap_or_default();
    read_opaque(reader, (SELF, kind), NodeSemantics::at(place)).map(Parts::from)
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

/// What an item of these parts makes; `semantics` are those of a message of its own.
fn message_of<'a>(role: Role, parts: Parts<'a>, semantics: NodeSemantics<'a>) -> Decoded<'a> {
    match role {
        Role::Assistant => Decoded::Assistant(parts),
        Role::System | Role::Developer | Role::User | Role::Tool => {
            Decoded::Turn(Message::new(role, parts).with_semantics(semantics))
        }
    }
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

/// Has a node open an item, which is kept only if it says something of itself: most of a history does not.
fn set_item<'a>(semantics: &mut NodeSemantics<'a>, item: Item<'a>) {
    let Item { id, status, phase, extras } = &item;
    if id.is_some() || status.is_some() || phase.is_some() || !extras.is_empty() {
        semantics.set_item(item);
    }
}

/// An item in the reading.
struct Decoding<'r, 'a> {
    reader: &'r mut Reader<'a>,
    unread: Unread,
    place: Place,
}

impl<'a> Decoding<'_, 'a> {
    /// Reads what every item may have, what `member` knows, and the rest.
    fn members(
        self,
        mut member: impl FnMut(&str, &mut Members<'_, 'a>) -> Result<()>,
    ) -> Result<Item<'a>> {
        let mut item = Item::default();
        let Item { id, status, phase, extras } = &mut item;
        self.unread.read(self.reader, "", extras, |key, reader| match key {
            "type" => reader.skip(),
            "id" => set(id, reader.string()),
            "status" => set(status, reader.string()),
            "phase" => set(phase, reader.string()),
            _ => member(key, reader),
        })?;
        Ok(item)
    }

    fn message(self) -> Result<Option<Decoded<'a>>> {
        let place = self.place;
        let (mut role, mut parts) = (None, None);
        let item = self.members(|key, reader| match key {
            "role" => put(&mut role, reader.string().map(|word| role_of(&word.to_str()))),
            "content" => set(&mut parts, decode_parts(reader, place, Step::Content)),
            _ => Ok(()),
        })?;
        let (Some(role), Some(mut parts)) = (role, parts) else { return Ok(None) };
        let mut semantics = NodeSemantics::at(place);
        if role == Role::Assistant {
            if parts.is_empty() {
                // The item may still say something of itself.
                parts.push(Part::text(Text::default()).with_semantics(NodeSemantics::at(place)));
            }
            let (first, rest) = parts.split_at_mut(1);
            set_item(first[0].semantics_mut(), item);
            rest.iter_mut().for_each(|part| part.semantics_mut().add_shape(CONTINUES));
        } else {
            set_item(&mut semantics, item);
        }
        Ok(Some(message_of(role, parts, semantics)))
    }

    fn call(self, form: CallForm) -> Result<Option<Decoded<'a>>> {
        let mut semantics = NodeSemantics::at(self.place);
        let (mut id, mut name, mut text) = (None, None, None);
        let item = self.members(|key, reader| match (key, form) {
            ("call_id", _) => set(&mut id, reader.string()),
            ("name", _) => set(&mut name, reader.string()),
            // Some servers give the arguments as the object that they are. Fixture `answer/tools/arguments-that-are-an-object`.
            ("arguments", CallForm::Function) if reader.kind()? == Kind::Object => {
                text = Some(reader.raw()?.to_text().into_owned());
                semantics.add_shape(Shape::AS_JSON);
                Ok(())
            }
            ("arguments", CallForm::Function) | ("input", CallForm::Custom) => {
                set(&mut text, reader.string())
            }
            _ => Ok(()),
        })?;
        let (Some(name), Some(text)) = (name, text) else { return Ok(None) };
        let name = in_namespace(name, &item.extras);
        let call = ToolCall { id, name, arguments: Arguments::Text(text), form };
        set_item(&mut semantics, item);
        let part = Part::new(Content::ToolCall(Box::new(call))).with_semantics(semantics);
        Ok(Some(Decoded::Assistant(part.into())))
    }

    fn result(self, form: CallForm) -> Result<Option<Decoded<'a>>> {
        let place = self.place;
        let (mut call_id, mut name, mut parts) = (None, None, None);
        let item = self.members(|key, reader| match key {
            "call_id" => set(&mut call_id, reader.string()),
            "name" => set(&mut name, reader.string()),
            "output" => set(&mut parts, decode_parts(reader, place, Step::Output)),
            _ => Ok(()),
        })?;
        let Some(parts) = parts else { return Ok(None) };
        let name = name.map(|name| in_namespace(name, &item.extras));
        let output = ResultOutput::Parts(parts);
        let result = ToolResult { call_id, name, output, is_error: None, form };
        let mut semantics = NodeSemantics::at(place);
        set_item(&mut semantics, item);
        let part = Part::new(Content::ToolResult(Box::new(result))).with_semantics(semantics);
        Ok(Some(message_of(Role::Tool, part.into(), NodeSemantics::at(place))))
    }

    fn reasoning(self) -> Result<Option<Decoded<'a>>> {
        let mut semantics = NodeSemantics::at(self.place);
        let (mut summary, mut content) = (Some(Vec::new()), Some(Vec::new()));
        let mut encrypted = None;
        let item = self.members(|key, reader| match key {
            "summary" => put(&mut summary, pieces(reader, SUMMARY)),
            "content" => put(&mut content, pieces(reader, THOUGHTS)),
            "encrypted_content" => set(&mut encrypted, reader.string()),
            _ => Ok(()),
        })?;
        let (Some(summary), Some(content)) = (summary, content) else { return Ok(None) };
        set_item(&mut semantics, item);
        if let Some(data) = encrypted {
            semantics.set_artefact(Artefact::read(SELF, ArtefactKind::Ciphertext, data));
        }
        Ok(Some(Decoded::Assistant(thoughts((summary, content), semantics))))
    }
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

/// Reads what a message or a result holds: a string, or parts.
fn decode_parts<'a>(reader: &mut Reader<'a>, place: Place, step: Step) -> Result<Parts<'a>> {
    if reader.kind()? == Kind::String {
        let semantics = NodeSemantics::at(place.step(step));
        return Ok(Part::text(reader.string()?).with_semantics(semantics).into());
    }
    let mut parts = Parts::default();
    reader.array(|index, reader| {
        parts.push(decode_part(reader, place.element(step, index))?);
        Ok(())
    })?;
    Ok(parts)
}

fn in_namespace<'a>(name: Text<'a>, extras: &Extras<'_>) -> Text<'a> {
    match namespace_of(extras) {
        Some(namespace) => qualified(&namespace, name),
        None => name,
    }
}

/// Reads a list of pieces, each of which has a type and a text; what else it has goes to the extras of the item. None if
/// one is not of this shape.
fn pieces<'a>(
    Members { reader, extras }: &mut Members<'_, 'a>,
    (list, kind): (&'static str, &'static str),
) -> Result<Option<Vec<Text<'a>>>> {
    let mut pieces = Vec::new();
    let mut are_plain = true;
    reader.array(|index, reader| {
        let (mut text, mut is_typed) = (None, false);
        if reader.kind()? != Kind::Object {
            are_plain = false;
            return reader.skip();
        }
        reader.object(|key, reader| {
            match (&*key, reader.kind()?) {
                ("type", Kind::String) => is_typed = reader.string()? == *kind,
                ("text", Kind::String) => text = Some(reader.string()?),
                _ => extras.keep(piece_scope(list, index), key, reader.raw()?),
            }
            Ok(())
        })?;
        are_plain &= is_typed && text.is_some();
        pieces.extend(text);
        Ok(())
    })?;
    Ok(are_plain.then_some(pieces))
}

/// One part for the summary or for what is only encrypted, and one for the thoughts themselves.
fn thoughts<'a>(
    (summary, content): (Vec<Text<'a>>, Vec<Text<'a>>),
    semantics: NodeSemantics<'a>,
) -> Parts<'a> {
    let first = match semantics.artefact().map(Artefact::kind) {
        Some(ArtefactKind::Ciphertext) if summary.is_empty() => ReasoningForm::Redacted,
        // Signed thinking may show nothing.
        Some(ArtefactKind::Ciphertext | ArtefactKind::Signature) | None => ReasoningForm::Summary,
    };
    let continued = NodeSemantics::at(semantics.place()).shaped(CONTINUES);
    let is_raw = summary.is_empty() && !content.is_empty();
    let mut forms = Vec::with_capacity(2);
    if !is_raw {
        forms.push((first, summary));
    }
    if !content.is_empty() {
        forms.push((ReasoningForm::Raw, content));
    }
    let parts = forms.into_iter().zip([semantics, continued]);
    let part = |((form, texts), semantics)| {
        Part::new(Content::Reasoning(Box::new(Reasoning { form, texts }))).with_semantics(semantics)
    };
    parts.map(part).collect()
}
