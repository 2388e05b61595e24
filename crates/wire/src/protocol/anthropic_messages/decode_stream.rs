//! Reading streams.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

use super::decode_request::blocks;
use super::decode_response::{MessageObject, StopFields};
use super::fault::read_fault;
use super::types::SELF;
use super::usage::USAGE;
use crate::conversation::{
    Arguments, Content, Counts, Finish, FinishKind, Opaque, Part, ReasoningForm,
};
use crate::error::Result;
use crate::fault::{Fault, FaultKind};
use crate::json::{Json, Kind, Reader, Text};
use crate::place::{Place, Step};
use crate::protocol::machine::DecodeStream;
use crate::protocol::object::{read_object, set};
use crate::protocol::semantics::{Extras, NodeSemantics};
use crate::protocol::{Closed, Delta, Event, Note, NoteAt, NoteKind, Open, Opening, PartId, Start};
use crate::sse::Frame;

/// Frames in, events out.
#[derive(Debug, Default)]
pub(in super::super) struct Decoder {
    frame: usize,
    state: State,
    /// The blocks that have begun and not ended, by their index.
    open: BTreeMap<u64, (usize, Block)>,
    /// How many blocks have begun.
    begun: usize,
    parts: u32,
    /// What was counted so far, since later reports need not repeat it.
    counts: Counts,
    ending: StopFields<'static>,
    /// Where the ending was stated.
    ending_place: Place,
    /// Blocks that the message held when it began, by their index. They wait, since most servers that state some tell
    /// them again as they grow. Fixture `stream/text/anthropic-content-in-message-start-and-in-blocks`.
    given: VecDeque<(u64, Part<'static>)>,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Waiting,
    Answering,
    /// Complete or failed: nothing more is read.
    Over,
}

/// A block that has begun.
#[derive(Debug)]
enum Block {
    /// A part that came in one piece; nothing can be added to it.
    Whole(PartId),
    /// It grows as an open part; thinking is signed at its end.
    Growing { part: PartId, signature: Text<'static>, signed_at: Place },
    /// One that the conversation has no word for: it is kept until it is whole.
    Held { opaque: Opaque<'static>, place: Place, input: Text<'static> },
}

/// What an event is: its data says so, else its name.
pub(super) fn kind_of<'f>(frame: &Frame<'f>, data: &Reader<'f>) -> Result<Cow<'f, str>> {
    let stated = data.peek_tag("type")?.map(Text::into_str);
    Ok(stated.or(frame.event.map(Cow::Borrowed)).unwrap_or_default())
}

impl DecodeStream for Decoder {
    fn step<'f>(&mut self, frame: &Frame<'f>, emit: &mut dyn FnMut(Event<'f>)) -> Result<()> {
        let place = Place::default().element(Step::Frame, self.frame);
        self.frame += 1;
        if self.state == State::Over || frame.data.trim() == "[DONE]" {
            return Ok(());
        }
        let mut reader = Reader::new(frame.data);
        match &*kind_of(frame, &reader)? {
            "content_block_delta" => self.grow(&mut reader, place, emit),
            "content_block_start" => self.begin_block(&mut reader, place, emit),
            "content_block_stop" => self.end_block(&mut reader, emit),
            "message_start" => self.begin(&mut reader, place, emit),
            "message_delta" => self.close_message(&mut reader, place, emit),
            "message_stop" => {
                self.stop(emit);
                Ok(())
            }
            "error" => self.fail(&mut reader, emit),
            // Pings, and events that are yet to be invented.
            _ => reader.skip(),
        }
    }

    fn end(mut self: Box<Self>, emit: &mut dyn FnMut(Event<'static>)) {
        if self.state != State::Over {
            self.give(None, emit);
            let message = "the stream ended before the answer did";
            emit(Event::Fault(Fault::new(FaultKind::Truncated, message)));
        }
    }
}

impl Decoder {
    fn begin<'f>(
        &mut self,
        reader: &mut Reader<'f>,
        place: Place,
        emit: &mut dyn FnMut(Event<'f>),
    ) -> Result<()> {
        if self.state != State::Waiting {
            return reader.skip();
        }
        let mut answer = MessageObject::default();
        reader.object(|key, reader| match (&*key, reader.kind()?) {
            ("message", Kind::Object) => answer.read(reader, place.step(Step::Message)),
            _ => reader.skip(),
        })?;
        let report = answer.usage.take();
        self.ending = answer.ending.into_owned();
        self.ending_place = place.step(Step::Message);
        self.given = (0..).zip(answer.parts.into_iter().map(Part::into_owned)).collect();
        self.state = State::Answering;
        emit(Event::Start(Start {
            id: answer.id,
            model: answer.model,
            created: None,
            service_tier: report.as_ref().and_then(|report| report.service_tier.clone()),
            semantics: answer.semantics,
        }));
        if let Some(report) = report {
            emit(Event::Usage(USAGE.following(report, &mut self.counts)));
        }
        Ok(())
    }

    /// Begins an answer whose beginning was not sent.
    fn ensure_started(&mut self, place: Place, emit: &mut dyn FnMut(Event<'_>)) {
        if self.state == State::Waiting {
            self.state = State::Answering;
            let semantics = NodeSemantics::at(place);
            emit(Event::Start(Start { semantics, ..Start::default() }));
        }
    }

    /// Emits the blocks that the message began with, up to the one that the stream itself sends now.
    fn give<'f>(&mut self, until: Option<u64>, emit: &mut dyn FnMut(Event<'f>)) {
        while let Some((index, _)) = self.given.front()
            && until.is_none_or(|until| *index <= until)
        {
            let Some((index, part)) = self.given.pop_front() else { return };
            if until != Some(index) {
                let block = self.open_block(part, &mut |event| emit(event));
                self.close_block(block, emit);
            }
        }
    }

    fn begin_block<'f>(
        &mut self,
        reader: &mut Reader<'f>,
        place: Place,
        emit: &mut dyn FnMut(Event<'f>),
    ) -> Result<()> {
        let (mut index, mut part) = (0, None);
        reader.object(|key, reader| match (&*key, reader.kind()?) {
            ("index", Kind::Number) => reader.u64().map(|number| index = number),
            ("content_block", Kind::Object) => {
                let at = place.step(Step::ContentBlock);
                part = Some(blocks::read_any_block(reader, at)?);
                Ok(())
            }
            _ => reader.skip(),
        })?;
        self.ensure_started(place, &mut |event| emit(event.into_owned()));
        if let Some(part) = part {
            self.begin_at(index, part, emit);
        }
        Ok(())
    }

    fn begin_at<'f>(&mut self, index: u64, part: Part<'f>, emit: &mut dyn FnMut(Event<'f>)) {
        self.give(Some(index), emit);
        // A block that begins under the number of an open one ends it.
        self.end_block_at(index, emit);
        let block = self.open_block(part, emit);
        self.open.insert(index, (self.begun, block));
        self.begun += 1;
    }

    /// Opens the part that a block begins, with what it already holds.
    fn open_block<'f>(&mut self, part: Part<'f>, emit: &mut dyn FnMut(Event<'f>)) -> Block {
        let semantics = part.semantics().clone();
        let (opening, begun) = match part.into_content() {
            Content::Opaque(opaque) => {
                let place = semantics.place();
                return Block::Held { opaque: opaque.into_owned(), place, input: Text::default() };
            }
            Content::Text(text) => (Opening::Text, Some(text)),
            Content::Reasoning(mut reasoning) if reasoning.form != ReasoningForm::Redacted => {
                (Opening::Reasoning(reasoning.form), reasoning.texts.pop())
            }
            Content::ToolCall(call) => {
                let begun = match call.arguments {
                    Arguments::Json(json) if json.compact() == "{}" => None,
                    Arguments::Json(json) => Some(json.to_text().into_owned()),
                    Arguments::Text(text) => Some(text),
                };
                (Opening::ToolCall { id: call.id, name: call.name, form: call.form }, begun)
            }
            whole => (Opening::Whole(whole), None),
        };
        let part = PartId(self.parts);
        self.parts += 1;
        let is_whole = matches!(opening, Opening::Whole(_));
        emit(Event::Open(Open { part, candidate: 0, opening, semantics }));
        if is_whole {
            return Block::Whole(part);
        }
        if let Some(text) = begun.filter(|text| !text.is_empty()) {
            emit(Event::Delta(part, Delta::Text(text)));
        }
        Block::Growing { part, signature: Text::default(), signed_at: Place::default() }
    }

    fn grow<'f>(
        &mut self,
        reader: &mut Reader<'f>,
        place: Place,
        emit: &mut dyn FnMut(Event<'f>),
    ) -> Result<()> {
        let mut index = 0;
        let mut growth = Growth::default();
        reader.object(|key, reader| match &*key {
            "index" => reader.u64().map(|number| index = number),
            "delta" => growth.read(reader),
            _ => reader.skip(),
        })?;
        if let Some(block) = growth.beginning()
            && !self.open.contains_key(&index)
        {
            // A block whose beginning was not sent.
            let part = blocks::read_any_block(&mut Reader::new(block), place.step(Step::Delta))?;
            self.ensure_started(place, &mut |event| emit(event.into_owned()));
            self.begin_at(index, part, emit);
        }
        let Some((_, block)) = self.open.get_mut(&index) else { return Ok(()) };
        match (block, growth) {
            (Block::Growing { part, .. }, Growth::Text(text, _)) => {
                emit(Event::Delta(*part, Delta::Text(text)));
            }
            (Block::Growing { part, .. }, Growth::Citation(json)) => {
                let at = place.step(Step::Delta).step(Step::Citation);
                let kind = NoteKind::Citation(blocks::citation(json).at(at));
                emit(Event::Note(Note { at: NoteAt::Part(*part), kind }));
            }
            (Block::Growing { signature, signed_at, .. }, Growth::Signature(more)) => {
                signature.push(&more);
                *signed_at = place.step(Step::Delta);
            }
            (Block::Held { input, .. }, Growth::Text(more, _)) => input.push(&more),
            (Block::Held { opaque, .. }, Growth::Compaction(delta)) => {
                *opaque = compacted(opaque, &delta);
            }
            (Block::Held { .. }, Growth::Citation(_) | Growth::Signature(_))
            | (Block::Growing { .. }, Growth::Compaction(_))
            | (Block::Whole(_), _)
            | (_, Growth::Unknown) => {}
        }
        Ok(())
    }

    fn end_block<'f>(
        &mut self,
        reader: &mut Reader<'f>,
        emit: &mut dyn FnMut(Event<'f>),
    ) -> Result<()> {
        let mut index = 0;
        reader.object(|key, reader| match &*key {
            "index" => reader.u64().map(|number| index = number),
            _ => reader.skip(),
        })?;
        self.end_block_at(index, emit);
        Ok(())
    }

    fn end_block_at<'f>(&mut self, index: u64, emit: &mut dyn FnMut(Event<'f>)) {
        if let Some((_, block)) = self.open.remove(&index) {
            self.close_block(block, emit);
        }
    }

    fn close_block<'f>(&mut self, block: Block, emit: &mut dyn FnMut(Event<'f>)) {
        let mut semantics = NodeSemantics::default();
        let part = match block {
            Block::Growing { part, signature, signed_at } => {
                if !signature.is_empty() {
                    semantics = NodeSemantics::at(signed_at);
                    blocks::sign(&mut semantics, signature);
                }
                part
            }
            Block::Whole(part) => part,
            Block::Held { opaque, place, input } => {
                let part = PartId(self.parts);
                self.parts += 1;
                let opening = Opening::Whole(Content::Opaque(Box::new(filled(opaque, &input))));
                let semantics = NodeSemantics::at(place);
                emit(Event::Open(Open { part, candidate: 0, opening, semantics }));
                part
            }
        };
        emit(Event::Close(Closed { part, semantics }));
    }

    fn close_message<'f>(
        &mut self,
        reader: &mut Reader<'f>,
        place: Place,
        emit: &mut dyn FnMut(Event<'f>),
    ) -> Result<()> {
        self.ensure_started(place, &mut |event| emit(event.into_owned()));
        let (mut extras, mut of_delta) = (Extras::default(), Extras::default());
        let mut ending = StopFields::default();
        let mut report = None;
        read_object(reader, "", &mut extras, |key, reader| match (key, reader.kind()?) {
            ("type", _) => reader.skip(),
            ("delta", Kind::Object) => {
                read_object(reader, "", &mut of_delta, |key, reader| ending.member(key, reader))
            }
            ("usage", Kind::Object) => {
                set(&mut report, USAGE.read(reader, place.step(Step::Usage)))
            }
            _ => Ok(()),
        })?;
        ending.leave(&mut of_delta);
        if ending.has_reason() {
            self.ending = ending.into_owned();
            self.ending_place = place.step(Step::Delta);
        }
        for (place, extras) in [(place, extras), (place.step(Step::Delta), of_delta)] {
            if !extras.is_empty() {
                let semantics = NodeSemantics::at(place).keeping(extras);
                let kind = NoteKind::Semantics(semantics);
                emit(Event::Note(Note { at: NoteAt::Response, kind }));
            }
        }
        if let Some(report) = report {
            emit(Event::Usage(USAGE.following(report, &mut self.counts)));
        }
        Ok(())
    }

    fn stop<'f>(&mut self, emit: &mut dyn FnMut(Event<'f>)) {
        if self.state != State::Answering {
            return;
        }
        self.give(None, emit);
        let mut open: Vec<(usize, Block)> = std::mem::take(&mut self.open).into_values().collect();
        open.sort_unstable_by_key(|(order, _)| *order);
        for (_, block) in open {
            self.close_block(block, emit);
        }
        self.state = State::Over;
        let finish = std::mem::take(&mut self.ending).into_finish();
        let finish = finish.unwrap_or(Finish::new(FinishKind::Other));
        emit(Event::Finish { candidate: 0, place: self.ending_place, finish });
    }

    fn fail<'f>(&mut self, reader: &mut Reader<'f>, emit: &mut dyn FnMut(Event<'f>)) -> Result<()> {
        let json = reader.raw()?;
        self.give(None, emit);
        self.state = State::Over;
        emit(Event::Fault(read_fault(FaultKind::Internal, json)));
        Ok(())
    }
}

/// How a block grows.
#[derive(Default)]
enum Growth<'f> {
    /// Text, and the empty block that grows by such.
    Text(Text<'f>, &'static str),
    Citation(Json<'f>),
    Signature(Text<'f>),
    /// The members of a summary, which comes in one piece.
    Compaction(Json<'f>),
    #[default]
    Unknown,
}

impl<'f> Growth<'f> {
    fn read(&mut self, reader: &mut Reader<'f>) -> Result<()> {
        let mut start = reader.checkpoint();
        reader.object(|key, reader| {
            match (&*key, reader.kind()?) {
                ("text", Kind::String) => *self = Self::Text(reader.string()?, TEXT),
                ("thinking", Kind::String) => *self = Self::Text(reader.string()?, THINKING),
                ("partial_json", Kind::String) => *self = Self::Text(reader.string()?, CALL),
                ("signature", Kind::String) => *self = Self::Signature(reader.string()?),
                ("citation", Kind::Object) => *self = Self::Citation(reader.raw()?),
                _ => reader.skip()?,
            }
            Ok(())
        })?;
        // Nearly all deltas are texts, whose type says nothing more.
        let is_compaction = |kind: Text<'_>| kind == "compaction_delta";
        if !matches!(self, Self::Text(..)) && start.peek_tag("type")?.is_some_and(is_compaction) {
            *self = Self::Compaction(start.raw()?);
        }
        Ok(())
    }

    /// The empty block that grows so, for one that never began; none if there is nothing to add to it.
    /// Fixture `stream/text/anthropic-blocks-that-never-began`.
    fn beginning(&self) -> Option<&'static str> {
        match self {
            Self::Text(text, block) => Some(*block).filter(|_| !text.is_empty()),
            Self::Signature(text) => Some(THINKING).filter(|_| !text.is_empty()),
            Self::Citation(_) => Some(TEXT),
            Self::Compaction(_) => Some(COMPACTION),
            Self::Unknown => None,
        }
    }
}

const TEXT: &str = r#"{"type":"text","text":""}"#;
const THINKING: &str = r#"{"type":"thinking","thinking":""}"#;
/// Nobody can make a call that has no name, but its input is not lost without a word.
const CALL: &str = r#"{"type":"tool_use","input":{}}"#;

/// What stands for a conversation that was compacted.
const COMPACTION: &str = r#"{"type":"compaction","content":null}"#;

/// A compaction with the members that came for it, its type apart.
fn compacted(block: &Opaque<'_>, delta: &Json<'_>) -> Opaque<'static> {
    let mut members: Vec<(String, Json<'static>)> = Vec::new();
    let mut add = |json: &Json<'_>, is_wanted: fn(&str) -> bool| {
        // Both were checked when they were read, so reading them again cannot fail.
        let _ = json.reader().object(|key, reader| {
            let value = reader.raw()?;
            if is_wanted(&key) && members.iter().all(|(known, _)| *known != key) {
                members.push((key.into_owned(), value.into_owned()));
            }
            Ok(())
        });
    };
    add(&block.json, |key| key == "type");
    add(delta, |key| key != "type");
    add(&block.json, |key| key != "type");
    let json = Json::of_object(|object| {
        members.iter().for_each(|(key, value)| object.field(key, value));
    });
    Opaque { protocol: SELF, kind: block.kind.clone().into_owned(), json }
}

/// A held block with the input that came for it piece by piece.
fn filled(opaque: Opaque<'static>, input: &Text<'_>) -> Opaque<'static> {
    if input.is_empty() {
        return opaque;
    }
    let json = Json::of_object(|object| {
        let mut reader = opaque.json.reader();
        // The block was checked when it was read, so reading it again cannot fail.
        let _ = reader.object(|key, reader| {
            let json = reader.raw()?;
            object.key(&key);
            match (&*key, Json::parse_text(input)) {
                ("input", Ok(whole)) => object.value(&whole),
                ("input", Err(_)) => object.value(input),
                _ => object.value(&json),
            }
            Ok(())
        });
    });
    Opaque { protocol: SELF, kind: opaque.kind, json }
}
