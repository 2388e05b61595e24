//! Reading messages, and the fields that an assistant's message has in requests and answers alike.

use crate::conversation::{
    Arguments, CallForm, Content, Media, MediaKind, Message, Part, Parts, Reasoning, ReasoningForm,
    ResultOutput, Role, Source, ToolCall, ToolResult,
};
use crate::error::{Error, ErrorKind, Result};
use crate::json::{Json, Kind, Reader, Text};
use crate::place::{Place, Step};
use crate::protocol::object::{
    Members, Unread, messages_expected, read_first, read_object, read_opaque, read_tag, set,
};
use crate::protocol::openai_chat::decode_request::content::read_part;
use crate::protocol::openai_chat::types::{
    EXTRA_CONTENT, EXTRA_CONTENT_GOOGLE, SELF, Shape, shape,
};
use crate::protocol::semantics::{Extras, NodeSemantics};
use crate::protocol::{Artefact, ArtefactKind};

pub(super) fn read_messages<'a>(reader: &mut Reader<'a>) -> Result<Vec<Message<'a>>> {
    let mut messages = Vec::with_capacity(messages_expected(reader));
    reader.array(|index, reader| {
        messages.push(read_message(reader, Place::default().element(Step::Messages, index))?);
        Ok(())
    })?;
    Ok(messages)
}

fn read_message<'a>(reader: &mut Reader<'a>, place: Place) -> Result<Message<'a>> {
    let mut fields = Fields::at(place);
    let (mut name, mut call_id) = (None, None);
    let mut extras = Extras::default();
    // The role decides how other fields are read, wherever it stands.
    let (first, unread) = read_first(reader, "role", speaker);
    let known = if first.is_some() { first } else { peek_speaker(reader)? };
    let (role, shape) = known.unwrap_or_default();
    unread.read(reader, "", &mut extras, |key, reader| match key {
        "role" if known.is_some() => reader.skip(),
        "name" => set(&mut name, reader.string()),
        "tool_call_id" if role == Role::Tool => set(&mut call_id, reader.string()),
        _ if role == Role::Assistant || key == "content" => fields.member(key, reader),
        _ => Ok(()),
    })?;
    let mut parts = fields.into_parts();
    if role == Role::Tool {
        let output = ResultOutput::Parts(std::mem::take(&mut parts));
        let (name, form) = (name.take(), CallForm::Function);
        let result = ToolResult { call_id, name, output, is_error: None, form };
        let part = Part::new(Content::ToolResult(Box::new(result)));
        parts.push(part.with_semantics(NodeSemantics::at(place).shaped(shape)));
    }
    let semantics = NodeSemantics::at(place).keeping(extras);
    Ok(Message { role, parts, name, semantics })
}

/// Who speaks in a message, wherever it says so; none for a word that nobody knows.
fn peek_speaker(reader: &Reader<'_>) -> Result<Option<(Role, Shape)>> {
    match reader.peek_tag("role")? {
        Some(word) => Ok(speaker(&word.to_str())),
        None => Err(Error::new(ErrorKind::Missing, "expected `role`, found none")),
    }
}

fn speaker(word: &str) -> Option<(Role, Shape)> {
    let role = match word {
        "system" => Role::System,
        "developer" => Role::Developer,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" => Role::Tool,
        // The older word for a tool.
        "function" => return Some((Role::Tool, shape::LEGACY)),
        _ => return None,
    };
    Some((role, Shape::default()))
}

/// The parts of a message, which stand in fields of their own.
#[derive(Default)]
pub(in super::super) struct Fields<'a> {
    place: Place,
    /// Those that came in the order of the conversation, as they mostly do.
    parts: Parts<'a>,
    /// Where the parts of each field end among them.
    ends: [usize; FIELDS],
    /// Those that came behind parts which they stand before. They are put there once, when all have come: moving the others
    /// for each of them would take the square of the time.
    late: Vec<(usize, Part<'a>)>,
    has_reasoning_text: bool,
}

/// The fields that hold parts, in the order of the conversation.
#[derive(Clone, Copy)]
enum Slot {
    Reasoning,
    Content,
    Refusal,
    Audio,
    Calls,
}

const FIELDS: usize = Slot::Calls as usize + 1;

impl<'a> Fields<'a> {
    pub(in super::super) fn at(place: Place) -> Self {
        Self { place, ..Self::default() }
    }

    fn add(&mut self, slot: Slot, part: Part<'a>) {
        let slot = slot as usize;
        if self.ends[slot] < self.parts.len() {
            return self.late.push((slot, part));
        }
        self.parts.push(part);
        self.ends[slot..].iter_mut().for_each(|end| *end += 1);
    }

    /// Reads one member of the message, if it holds parts.
    pub(in super::super) fn member(&mut self, key: &str, reader: &mut Reader<'a>) -> Result<()> {
        let place = self.place;
        match key {
            "content" if reader.kind()? == Kind::Array => reader.array(|index, reader| {
                self.add(Slot::Content, read_part(reader, place.element(Step::Content, index))?);
                Ok(())
            })?,
            "content" => {
                let semantics = NodeSemantics::at(place.step(Step::Content));
                self.add(Slot::Content, Part::text(reader.string()?).with_semantics(semantics));
            }
            "reasoning_content" if !self.has_reasoning_text => {
                let semantics = NodeSemantics::at(place.step(Step::ReasoningContent));
                self.reasoning(reader.string()?, semantics);
            }
            "reasoning" if !self.has_reasoning_text && reader.kind()? == Kind::String => {
                let semantics = NodeSemantics::at(place.step(Step::Reasoning));
                self.reasoning(reader.string()?, semantics.shaped(shape::REASONING));
            }
            "reasoning_details" if has_elements(reader)? => {
                let place = place.step(Step::ReasoningDetails);
                self.add(Slot::Reasoning, reasoning_details(reader.raw()?, place));
            }
            "refusal" => {
                let part = Part::new(Content::Refusal(reader.string()?));
                let semantics = NodeSemantics::at(place.step(Step::Refusal));
                self.add(Slot::Refusal, part.with_semantics(semantics));
            }
            "audio" if reader.kind()? == Kind::Object => {
                let mut ahead = reader.checkpoint();
                if let Some(part) = read_audio(&mut ahead, place.step(Step::Audio))? {
                    *reader = ahead;
                    self.add(Slot::Audio, part);
                }
            }
            "tool_calls" => reader.array(|index, reader| {
                self.add(Slot::Calls, read_call(reader, place.element(Step::ToolCalls, index))?);
                Ok(())
            })?,
            "function_call" => {
                let place = place.step(Step::FunctionCall);
                self.add(Slot::Calls, read_function_call(reader, place)?);
            }
            _ => {}
        }
        Ok(())
    }

    /// Takes content that is neither a string nor a list of parts, as some servers give it where JSON was asked for.
    /// Fixture `answer/text/content-that-is-json`.
    pub(in super::super) fn json_content(&mut self, json: &Json<'a>) {
        let place = self.place.step(Step::Content);
        let semantics = NodeSemantics::at(place).shaped(Shape::AS_JSON);
        let part = Part::text(json.to_text().into_owned()).with_semantics(semantics);
        self.add(Slot::Content, part);
    }

    fn reasoning(&mut self, text: Text<'a>, semantics: NodeSemantics<'a>) {
        let reasoning = Reasoning { form: ReasoningForm::Raw, texts: vec![text] };
        let part = Part::new(Content::Reasoning(Box::new(reasoning)));
        self.add(Slot::Reasoning, part.with_semantics(semantics));
        self.has_reasoning_text = true;
    }

    /// The first part of a kind.
    pub(in super::super) fn find_mut(
        &mut self,
        is_wanted: fn(&Content<'a>) -> bool,
    ) -> Option<&mut Part<'a>> {
        let late = self.late.iter_mut().map(|(_, part)| part);
        self.parts.iter_mut().chain(late).find(|part| is_wanted(part.content()))
    }

    /// All parts in the order of the conversation.
    pub(in super::super) fn into_parts(self) -> Parts<'a> {
        if self.late.is_empty() {
            return self.parts;
        }
        let slot_of = |index| self.ends.partition_point(|end| *end <= index);
        let parts = (0..).zip(self.parts).map(|(index, part)| (slot_of(index), part));
        let mut all: Vec<(usize, Part<'a>)> = parts.chain(self.late).collect();
        all.sort_by_key(|(slot, _)| *slot);
        all.into_iter().map(|(_, part)| part).collect()
    }
}

/// Whether a list with something in it comes next.
fn has_elements(reader: &mut Reader<'_>) -> Result<bool> {
    let mut has_elements = false;
    if reader.kind()? == Kind::Array {
        reader.checkpoint().array(|_, reader| {
            has_elements = true;
            reader.skip()
        })?;
    }
    Ok(has_elements)
}

/// What a server wants back unchanged to go on reasoning: only that server can read it.
pub(in super::super) fn reasoning_details(json: Json<'_>, place: Place) -> Part<'_> {
    let reasoning = Reasoning { form: ReasoningForm::Redacted, texts: Vec::new() };
    let semantics = details_semantics(json, place);
    Part::new(Content::Reasoning(Box::new(reasoning))).with_semantics(semantics)
}

pub(in super::super) fn details_semantics(json: Json<'_>, place: Place) -> NodeSemantics<'_> {
    let data = Text::plain(json.as_str().to_owned());
    let mut semantics = NodeSemantics::at(place);
    semantics.set_artefact(Artefact::new(SELF, ArtefactKind::Ciphertext, data));
    semantics
}

/// Reads `audio` of an assistant's message: the id of an earlier answer, or the sound itself.
fn read_audio<'a>(reader: &mut Reader<'a>, place: Place) -> Result<Option<Part<'a>>> {
    let (mut id, mut data, mut extras) = (None, None, Extras::default());
    read_object(reader, "", &mut extras, |key, reader| match key {
        "id" => set(&mut id, reader.checkpoint().string().and_then(|id| Ok((id, reader.raw()?)))),
        "data" => set(&mut data, reader.string()),
        _ => Ok(()),
    })?;
    let source = match (data, id) {
        (Some(data), Some((_, json))) => {
            extras.keep("", "id".into(), json);
            Source::Base64 { mime: None, data }
        }
        (Some(data), None) => Source::Base64 { mime: None, data },
        (None, Some((id, _))) => Source::File { mime: None, id },
        (None, None) => return Ok(None),
    };
    let media = Media { kind: MediaKind::Audio, source, detail: None, name: None };
    let semantics = NodeSemantics::at(place).keeping(extras);
    Ok(Some(Part::new(Content::Media(Box::new(media))).with_semantics(semantics)))
}

/// Reads one element of `tool_calls`.
pub(in super::super) fn read_call<'a>(reader: &mut Reader<'a>, place: Place) -> Result<Part<'a>> {
    let start = reader.checkpoint();
    let (id, kind, unread) = read_head(reader)?;
    let word = kind.as_ref().map(Text::to_str);
    let (payload, form) = match word.as_deref() {
        Some("function") | None => ("function", CallForm::Function),
        Some("custom") => ("custom", CallForm::Custom),
        Some(_) => ("", CallForm::Function),
    };
    let semantics = NodeSemantics::at(place).shaped(shape::IN_CALLS);
    let mut call = CallFields { id, form, semantics, ..CallFields::default() };
    let mut extras = Extras::default();
    unread.read(reader, "", &mut extras, |key, reader| match key {
        "type" => reader.skip(),
        "id" => set(&mut call.id, reader.string()),
        "function" if key == payload => call.read(reader, "function"),
        "custom" if key == payload => call.read(reader, "custom"),
        "extra_content" => {
            let signature = read_signature(reader.reader, reader.extras)?;
            signature.into_iter().for_each(|signature| call.semantics.set_artefact(signature));
            Ok(())
        }
        _ => Ok(()),
    })?;
    if let Some(part) = call.take_part(extras) {
        return Ok(part);
    }
    *reader = start;
    read_opaque(reader, (SELF, kind.unwrap_or_default()), call.semantics)
}

/// Reads `extra_content` of a call; what else it holds goes to the extras. One without a signature is left unread.
pub(in super::super) fn read_signature<'a>(
    reader: &mut Reader<'a>,
    extras: &mut Extras<'a>,
) -> Result<Option<Artefact<'a>>> {
    if reader.kind()? != Kind::Object {
        return Ok(None);
    }
    let (mut ahead, mut others, mut signature) = (reader.checkpoint(), Extras::default(), None);
    read_object(&mut ahead, EXTRA_CONTENT, &mut others, |key, reader| {
        if key != "google" || reader.kind()? != Kind::Object {
            return Ok(());
        }
        reader.inside(EXTRA_CONTENT_GOOGLE, |key, reader| match (key, reader.kind()?) {
            ("thought_signature", Kind::String) => set(&mut signature, reader.string()),
            _ => Ok(()),
        })
    })?;
    if signature.is_some() {
        *reader = ahead;
        extras.update(others);
    }
    Ok(signature.map(Artefact::signed_by_google))
}

/// Reads the type of a call, and the id on the way, if it stands before the type as in every answer of the vendor.
fn read_head<'a>(reader: &mut Reader<'a>) -> Result<(Option<Text<'a>>, Option<Text<'a>>, Unread)> {
    let start = reader.checkpoint();
    if let Some(id) = reader.enter_by_tag("id") {
        if let Some(kind) = reader.next_by_tag("type") {
            return Ok((Some(id), Some(kind), Unread::BehindTag));
        }
        *reader = start;
    }
    let (kind, unread) = read_tag(reader, "type")?;
    Ok((None, kind, unread))
}

/// Reads the one call that messages could hold before there were tools. Fixture `request/tools/deprecated-functions-are-tools`.
fn read_function_call<'a>(reader: &mut Reader<'a>, place: Place) -> Result<Part<'a>> {
    let start = reader.checkpoint();
    let semantics = NodeSemantics::at(place).shaped(shape::LEGACY);
    let mut call = CallFields { semantics, ..CallFields::default() };
    let mut extras = Extras::default();
    call.read(&mut Members { reader, extras: &mut extras }, "")?;
    if let Some(part) = call.take_part(extras) {
        return Ok(part);
    }
    *reader = start;
    read_opaque(reader, (SELF, Text::literal("function_call")), call.semantics)
}

/// A call in the making.
#[derive(Default)]
struct CallFields<'a> {
    id: Option<Text<'a>>,
    name: Option<Text<'a>>,
    arguments: Option<Text<'a>>,
    form: CallForm,
    shape: Shape,
    semantics: NodeSemantics<'a>,
}

impl<'a> CallFields<'a> {
    fn read(&mut self, reader: &mut Members<'_, 'a>, scope: &'static str) -> Result<()> {
        let custom = self.form == CallForm::Custom;
        reader.inside(scope, |key, reader| match (key, reader.kind()?) {
            ("name", _) => set(&mut self.name, reader.string()),
            // Some servers give the arguments as the object that they are.
            // Fixture `answer/tools/arguments-that-are-an-object`.
            ("arguments", kind) if !custom && kind != Kind::String => {
                self.arguments = Some(reader.raw()?.to_text().into_owned());
                self.shape = Shape::AS_JSON;
                Ok(())
            }
            ("arguments", _) if !custom => set(&mut self.arguments, reader.string()),
            ("input", _) if custom => set(&mut self.arguments, reader.string()),
            _ => Ok(()),
        })
    }

    /// The part that the call makes; without a name it makes none.
    fn take_part(&mut self, extras: Extras<'a>) -> Option<Part<'a>> {
        let (name, id, form) = (self.name.take()?, self.id.take(), self.form);
        let arguments = Arguments::Text(self.arguments.take().unwrap_or_default());
        let call = Content::ToolCall(Box::new(ToolCall { id, name, arguments, form }));
        let mut semantics = std::mem::take(&mut self.semantics);
        semantics.add_shape(self.shape);
        semantics.keep(extras);
        Some(Part::new(call).with_semantics(semantics))
    }
}
