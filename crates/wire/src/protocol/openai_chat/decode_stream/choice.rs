//! What the chunks of a stream say of one choice.

use crate::conversation::{
    Content, Finish, FinishKind, Media, MediaKind, Opaque, Part, ReasoningForm, Source,
};
use crate::error::Result;
use crate::json::{Json, Kind, Reader, Text};
use crate::place::{Place, Step};
use crate::protocol::openai_chat::decode_request::content::read_part;
use crate::protocol::openai_chat::decode_request::message::details_semantics;
use crate::protocol::openai_chat::decode_response::{citation_of, finish_of};
use crate::protocol::openai_chat::decode_stream::call::{Calls, Fragment};
use crate::protocol::openai_chat::decode_stream::chunk::Chunk;
use crate::protocol::openai_chat::decode_stream::fragments::{Audio, Details};
use crate::protocol::openai_chat::decode_stream::held_finish::{FinishState, has_content};
use crate::protocol::openai_chat::decode_stream::{VendorFields, extra};
use crate::protocol::openai_chat::types::{SELF, Shape, shape};
use crate::protocol::semantics::NodeSemantics;
use crate::protocol::sink::Sink;
use crate::protocol::{Event, Logprobs, NoteKind, Opening, PartId};

/// A choice that has begun.
#[derive(Debug, Default)]
pub(super) struct Choice {
    pub(super) index: u32,
    /// The text, refusal or reasoning that grows.
    current: Option<(Growing, PartId)>,
    /// The latest text and refusal, which notes may still speak of.
    text: Option<PartId>,
    refusal: Option<PartId>,
    calls: Calls,
    details: Details,
    audio: Option<Audio>,
    vendor_fields: VendorFields,
    /// Whether the content was stated, if only as an empty text.
    has_content: bool,
    /// Whether there was any reasoning.
    reasoned: bool,
    finish_state: FinishState,
    /// Whether fragments were taken in that are emitted later: the events are not all that a chunk holds.
    pub(super) has_fragments: bool,
    /// Where it was mentioned last.
    place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Growing {
    Text,
    Refusal,
    Reasoning,
}

impl Choice {
    pub(super) fn new(index: u32) -> Self {
        Self { index, ..Self::default() }
    }

    /// Whether its finish reason came, passed on or not.
    pub(super) fn has_ended(&self) -> bool {
        !matches!(self.finish_state, FinishState::Open)
    }

    pub(super) fn step<'f>(&mut self, chunk: Chunk<'f>, sink: &mut Sink<'_, 'f>) -> Result<()> {
        let Chunk { index: _, delta, finish, mut logprobs, others } = chunk;
        for (key, json) in others {
            self.note(("", &key), json, sink);
        }
        match &mut self.finish_state {
            FinishState::Open => {}
            FinishState::Held { is_outdated, .. } => {
                if let Some(delta) = &delta {
                    delta.checkpoint().object(|key, reader| {
                        *is_outdated |= has_content(&key, reader)?;
                        reader.skip()
                    })?;
                }
            }
            FinishState::Passed => return Self::emit_late(delta, logprobs, sink),
        }
        sink.place = sink.place.step(Step::Delta);
        self.place = sink.place;
        if let Some(mut delta) = delta {
            let mut reasoned = false;
            delta.object(|key, reader| {
                match (&*key, reader.kind()?) {
                    (_, Kind::Null) | ("role", _) => reader.skip()?,
                    ("content" | "refusal", Kind::String) => {
                        let is_text = key == "content";
                        let kind = if is_text { Growing::Text } else { Growing::Refusal };
                        self.grow(kind, reader.string()?, &mut logprobs, sink);
                    }
                    ("reasoning_content" | "reasoning", Kind::String) => {
                        let is_usual = key == "reasoning_content";
                        let shape = if is_usual { Shape::default() } else { shape::REASONING };
                        let text = reader.string()?;
                        if !std::mem::replace(&mut reasoned, true) {
                            self.reason(text, shape, sink);
                        }
                    }
                    _ => self.member(&key, reader, sink)?,
                }
                Ok(())
            })?;
        }
        if let Some(json) = logprobs {
            self.probabilities(&json, sink)?;
        }
        if let Some(word) = finish {
            self.finish_state.hold(finish_of(word), self.place);
        }
        Ok(())
    }

    /// Emits what is stated about a choice whose end was passed on: no part may follow, but it is not lost without a report.
    fn emit_late<'f>(
        delta: Option<Reader<'f>>,
        logprobs: Option<Json<'f>>,
        sink: &mut Sink<'_, 'f>,
    ) -> Result<()> {
        if let Some(json) = logprobs {
            sink.note(None, NoteKind::Semantics(extra(sink.place, ("", "logprobs"), json)));
        }
        let Some(mut delta) = delta else { return Ok(()) };
        delta.object(|key, reader| {
            if !has_content(&key, &reader.checkpoint())? {
                return reader.skip();
            }
            let place = sink.place.step(Step::Delta);
            let semantics = extra(place, ("message", &key), reader.raw()?);
            sink.note(None, NoteKind::Semantics(semantics));
            Ok(())
        })
    }

    fn member<'f>(
        &mut self,
        key: &str,
        reader: &mut Reader<'f>,
        sink: &mut Sink<'_, 'f>,
    ) -> Result<()> {
        let place = sink.place;
        match (key, reader.kind()?) {
            ("tool_calls", Kind::Array) => {
                self.has_fragments = true;
                reader.array(|position, reader| {
                    self.close_current(sink);
                    let place = place.element(Step::ToolCalls, position);
                    self.calls.add(Fragment::read(reader, place)?, sink)
                })
            }
            ("function_call", Kind::Object) => {
                self.has_fragments = true;
                self.close_current(sink);
                self.calls.add(Fragment::read_legacy(reader, place)?, sink)
            }
            ("content", Kind::Array) => self.chunks(reader, sink),
            ("content", Kind::Object | Kind::Number | Kind::Boolean) => {
                let text = reader.raw()?.to_text().into_owned();
                let semantics = NodeSemantics::at(place.step(Step::Content));
                let semantics = semantics.shaped(Shape::AS_JSON);
                let part = self.part(Growing::Text, Opening::Text, semantics, sink);
                sink.grow(part, text);
                Ok(())
            }
            ("reasoning_details", Kind::Array) => {
                self.has_fragments = true;
                self.details.add(reader, place.step(Step::ReasoningDetails))
            }
            ("audio", Kind::Object) => {
                self.has_fragments = true;
                let place = place.step(Step::Audio);
                self.audio.get_or_insert_with(|| Audio::at(place)).add(reader, place)
            }
            ("annotations", Kind::Array) => self.annotations(reader, sink),
            _ => {
                self.note(("message", key), reader.raw()?, sink);
                Ok(())
            }
        }
    }

    /// Emits a vendor field of the message or of the choice around it, if it is new.
    fn note<'f>(&mut self, field: (&'static str, &str), json: Json<'f>, sink: &mut Sink<'_, 'f>) {
        let (scope, key) = field;
        let is_of_message = scope == "message";
        let place = if is_of_message { sink.place } else { sink.place.of_candidate() };
        if self.vendor_fields.is_change(&format!("{scope}/{key}"), &json) {
            sink.note(None, NoteKind::Semantics(extra(place, field, json)));
        }
    }

    /// Adds text or refusal; log probabilities of the same chunk go before it, to the same part.
    fn grow<'f>(
        &mut self,
        kind: Growing,
        text: Text<'f>,
        logprobs: &mut Option<Json<'f>>,
        sink: &mut Sink<'_, 'f>,
    ) {
        if text.is_empty() {
            self.has_content |= kind == Growing::Text;
            return;
        }
        let (opening, step) = match kind {
            Growing::Refusal => (Opening::Refusal, Step::Refusal),
            Growing::Text | Growing::Reasoning => (Opening::Text, Step::Content),
        };
        let part = self.part(kind, opening, NodeSemantics::at(sink.place.step(step)), sink);
        if let Some(json) = logprobs.take() {
            // Its shape was checked when the chunk was read.
            let _ = self.probabilities(&json, sink);
        }
        sink.grow(part, text);
    }

    fn reason<'f>(&mut self, text: Text<'f>, shape: Shape, sink: &mut Sink<'_, 'f>) {
        if text.is_empty() {
            return;
        }
        let is_usual = !shape.has(shape::REASONING);
        let step = if is_usual { Step::ReasoningContent } else { Step::Reasoning };
        let semantics = NodeSemantics::at(sink.place.step(step)).shaped(shape);
        let opening = Opening::Reasoning(ReasoningForm::Raw);
        let part = self.part(Growing::Reasoning, opening, semantics, sink);
        sink.grow(part, text);
    }

    /// The part that grows by this kind of text; one of another kind is closed for it.
    fn part<'f>(
        &mut self,
        kind: Growing,
        opening: Opening<'f>,
        semantics: NodeSemantics<'f>,
        sink: &mut Sink<'_, 'f>,
    ) -> PartId {
        if let Some((current, part)) = self.current
            && current == kind
        {
            return part;
        }
        self.close_current(sink);
        self.calls.close_complete(sink);
        if kind != Growing::Reasoning {
            self.emit_details(sink);
        }
        let part = sink.open(opening, semantics);
        self.current = Some((kind, part));
        match kind {
            Growing::Text => self.text = Some(part),
            Growing::Refusal => self.refusal = Some(part),
            Growing::Reasoning => self.reasoned = true,
        }
        part
    }

    fn close_current(&mut self, sink: &mut Sink<'_, '_>) {
        if let Some((_, part)) = self.current.take() {
            sink.close(part);
        }
    }

    /// Reads content that comes as a list of chunks.
    fn chunks<'f>(&mut self, reader: &mut Reader<'f>, sink: &mut Sink<'_, 'f>) -> Result<()> {
        reader.array(|_, reader| {
            let json = reader.raw()?;
            let part = json.input_reader().and_then(|mut it| read_part(&mut it, sink.place).ok());
            match part.map(Part::into_content) {
                Some(Content::Text(text)) => self.grow(Growing::Text, text, &mut None, sink),
                Some(Content::Reasoning(reasoning)) => {
                    for text in reasoning.texts {
                        self.reason(text, shape::IN_CONTENT, sink);
                    }
                }
                _ => {
                    self.close_current(sink);
                    let kind = Text::literal("chunk");
                    let opaque = Opaque { protocol: SELF, kind, json };
                    let content = Content::Opaque(Box::new(opaque));
                    sink.whole(content, NodeSemantics::at(sink.place.step(Step::Content)));
                }
            }
            Ok(())
        })
    }

    fn annotations<'f>(&mut self, reader: &mut Reader<'f>, sink: &mut Sink<'_, 'f>) -> Result<()> {
        let json = reader.raw()?;
        let (Some(part), Some(mut reader)) = (self.text, json.input_reader()) else {
            // An empty list of a whole answer states nothing, either.
            if json.compact() != "[]" {
                self.note(("message", "annotations"), json, sink);
            }
            return Ok(());
        };
        reader.array(|_, reader| {
            let citation = citation_of(reader.raw()?).at(sink.place.step(Step::Annotations));
            sink.note(Some(part), NoteKind::Citation(citation));
            Ok(())
        })
    }

    /// Gives each list of log probabilities to the part that it belongs to.
    fn probabilities<'f>(&mut self, json: &Json<'f>, sink: &mut Sink<'_, 'f>) -> Result<()> {
        let Some(mut reader) = json.input_reader() else { return Ok(()) };
        let place = sink.place.of_candidate().step(Step::Logprobs);
        reader.object(|key, reader| {
            let list = reader.raw()?;
            let part = match &*key {
                "content" => self.text,
                "refusal" => self.refusal,
                _ => None,
            };
            match part {
                _ if list.compact() == "[]" => {}
                Some(part) if list.kind() == Kind::Array => {
                    sink.note(Some(part), NoteKind::Logprobs(Logprobs::new(list).at(place)));
                }
                _ => self.note(("logprobs", &key), list, sink),
            }
            Ok(())
        })
    }

    /// Emits the details of the reasoning so far, which come before the text.
    fn emit_details(&mut self, sink: &mut Sink<'_, '_>) {
        if let Some((json, place)) = self.details.take() {
            let semantics = details_semantics(json, place);
            let part = sink.open(Opening::Reasoning(ReasoningForm::Redacted), semantics);
            sink.close(part);
        }
    }

    /// Ends a choice of which the server says no reason, but that the whole stream is complete.
    /// Fixture `stream/finish/done-without-finish`.
    pub(super) fn end_unfinished(&mut self) {
        if self.has_ended() {
            return;
        }
        let has_calls = !self.calls.is_empty();
        let kind = if has_calls { FinishKind::ToolCalls } else { FinishKind::Stop };
        self.finish_state.hold(Finish::new(kind), self.place);
    }

    /// Passes on the finish reason that is held back, once nothing more can come before it.
    pub(super) fn release(&mut self, sink: &mut Sink<'_, '_>) {
        if let Some((finish, place)) = self.finish_state.pass() {
            self.complete(place, sink);
            sink.send(Event::Finish { candidate: self.index, place: place.parent(), finish });
        }
    }

    /// Closes what is open and emits what waited for the end.
    fn complete(&mut self, place: Place, sink: &mut Sink<'_, '_>) {
        self.close_current(sink);
        self.calls.close_all(sink);
        self.emit_details(sink);
        if let Some((data, semantics)) = self.audio.take().map(Audio::finish) {
            let source = Source::Base64 { mime: None, data };
            let media = Media { kind: MediaKind::Audio, source, detail: None, name: None };
            sink.whole(Content::Media(Box::new(media)), semantics);
        }
        // An answer of an empty text is not an answer without one.
        let is_empty = self.text.is_none() && self.refusal.is_none() && self.calls.is_empty();
        if is_empty && self.has_content && !self.reasoned {
            let part = sink.open(Opening::Text, NodeSemantics::at(place));
            sink.close(part);
        }
    }
}
