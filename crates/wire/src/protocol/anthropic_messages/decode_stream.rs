//! Reading streams.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

use super::decode_request::blocks;
use super::decode_response::{MessageObject, StopFields};
use super::fault::read_fault;
use super::types::SELF;
use super::usage::USAGE;
use crate::conversation::{
    Arguments, Content, Counts, Finish, FinishKind, Opaque, Part, ReasoningForm, ToolCall,
};
use crate::error::Result;
use crate::fault::{Fault, FaultKind};
use crate::json::{Json, Kind, Reader, Text};
use crate::place::{Place, Step};
use crate::protocol::event::Emit;
use crate::protocol::machine::DecodeStream;
use crate::protocol::object::{put, read_object, set};
use crate::protocol::semantics::{Extras, NodeSemantics};
use crate::protocol::sink::Sink;
use crate::protocol::{Closed, Delta, Event, Note, NoteAt, NoteKind, Opening, PartId, Start};
use crate::sse::Frame;

/// Frames in, events out.
#[derive(Debug, Default)]
pub(in super::super) struct Decoder {
    frame: usize,
    /// Where the frame stands that is read.
    place: Place,
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
    fn step<'f>(&mut self, frame: &Frame<'f>, emit: Emit<'_, 'f>) -> Result<()> {
        self.place = Place::default().element(Step::Frame, self.frame);
        self.frame += 1;
        if self.state == State::Over || frame.data.trim() == "[DONE]" {
            return Ok(());
        }
        let mut reader = Reader::new(frame.data);
        match &*kind_of(frame, &reader)? {
            "content_block_delta" => self.grow(&mut reader, emit),
            "content_block_start" => self.begin_block(&mut reader, emit),
            "content_block_stop" => self.end_block(&mut reader, emit),
            "message_start" => self.begin(&mut reader, emit),
            "message_delta" => self.close_message(&mut reader, emit),
            "message_stop" => {
                self.stop(emit);
                Ok(())
            }
            "error" => self.fail(&mut reader, emit),
            // Pings, and events that are yet to be invented.
            _ => reader.skip(),
        }
    }

    fn end(mut self: Box<Self>, emit: Emit<'_, 'static>) {
        if self.state != State::Over {
            self.give(None, emit);
            emit(Event::Fault(Fault::truncated()));
        }
    }
}

impl Decoder {
    fn begin<'f>(&mut self, reader: &mut Reader<'f>, emit: Emit<'_, 'f>) -> Result<()> {
        if self.state != State::Waiting {
            return reader.skip();
        }
        let mut answer = MessageObject::default();
        let place = self.place.step(Step::Message);
        reader.member("message", Kind::Object, |reader| answer.read(reader, place))?;
        let MessageObject { id, model, usage: report, semantics, parts, ending, .. } = answer;
        (self.ending, self.ending_place) = (ending.into_owned(), place);
        self.given = (0..).zip(parts.into_iter().map(Part::into_owned)).collect();
        self.state = State::Answering;
        let service_tier = report.as_ref().and_then(|report| report.service_tier.clone());
        emit(Event::Start(Start { id, model, created: None, service_tier, semantics }));
        if let Some(report) = report {
            emit(Event::Usage(USAGE.following(report, &mut self.counts)));
        }
        Ok(())
    }

    /// Begins an answer whose beginning was not sent.
    fn ensure_started(&mut self, emit: Emit<'_, '_>) {
        if self.state == State::Waiting {
            self.state = State::Answering;
            let semantics = NodeSemantics::at(self.place);
            emit(Event::Start(Start { semantics, ..Start::default() }));
        }
    }

    /// Emits the blocks that the message began with, up to the one that the stream itself sends now.
    fn give(&mut self, until: Option<u64>, emit: Emit<'_, '_>) {
        while let Some((index, _)) = self.given.front()
            && until.is_none_or(|until| *index <= until)
        {
            let Some((index, part)) = self.given.pop_front() else { return };
            if until != Some(index) {
                let block = self.open_block(part, emit);
                self.close_block(block, emit);
            }
        }
    }

    fn begin_block<'f>(&mut self, reader: &mut Reader<'f>, emit: Emit<'_, 'f>) -> Result<()> {
        let (mut index, mut part) = (0, None);
        let place = self.place.step(Step::ContentBlock);
        reader.object(|key, reader| match (&*key, reader.kind()?) {
            ("index", Kind::Number) => put(&mut index, reader.u64()),
            ("content_block", Kind::Object) => {
                set(&mut part, blocks::read_any_block(reader, place))
            }
            _ => reader.skip(),
        })?;
        self.ensure_started(emit);
        if let Some(part) = part {
            self.begin_at(index, part, emit);
        }
        Ok(())
    }

    fn begin_at<'f>(&mut self, index: u64, part: Part<'f>, emit: Emit<'_, 'f>) {
        self.give(Some(index), emit);
        // A block that begins under the number of an open one ends it.
        self.end_block_at(index, emit);
        let block = self.open_block(part, emit);
        self.open.insert(index, (self.begun, block));
        self.begun += 1;
    }

    /// Opens the part that a block begins, with what it already holds.
    fn open_block<'f>(&mut self, part: Part<'f>, emit: Emit<'_, 'f>) -> Block {
        let Part { content, semantics } = part;
        let is_empty = matches!(&content, Content::ToolCall(call) if has_no_input(call));
        let (opening, text, mut pieces) = match content {
            Content::Opaque(opaque) => {
                let place = semantics.place();
                return Block::Held { opaque: opaque.into_owned(), place, input: Text::default() };
            }
            Content::Reasoning(it) if it.form == ReasoningForm::Redacted => {
                (Opening::Whole(Content::Reasoning(it)), Text::default(), Vec::new())
            }
            content => Opening::of(content),
        };
        let is_whole = matches!(opening, Opening::Whole(_));
        let mut sink = self.sink(emit);
        let part = sink.open(opening, semantics);
        if is_whole {
            return Block::Whole(part);
        }
        if !is_empty {
            sink.grow(part, pieces.pop().unwrap_or(text));
        }
        Block::Growing { part, signature: Text::default(), signed_at: Place::default() }
    }

    fn grow<'f>(&mut self, reader: &mut Reader<'f>, emit: Emit<'_, 'f>) -> Result<()> {
        let place = self.place;
        let mut index = 0;
        let mut growth = Growth::default();
        reader.object(|key, reader| match &*key {
            "index" => put(&mut index, reader.u64()),
            "delta" => growth.read(reader),
            _ => reader.skip(),
        })?;
        if let Some(block) = growth.beginning()
            && !self.open.contains_key(&index)
        {
            // A block whose beginning was not sent.
            let part = blocks::read_any_block(&mut Reader::new(block), place.step(Step::Delta))?;
            self.ensure_started(emit);
            self.begin_at(index, part, emit);
        }
        let Some((_, block)) = self.open.get_mut(&index) else { return Ok(()) };
        match (block, growth) {
            (Block::Growing { part, .. }, Growth::Text(text, _)) => {
                emit(Event::Delta(*part, Delta::Text(text)));
            }
            (Block::Growing { part, .. }, Growth::Citation(json)) => {
                let at = place.step(Step::Delta).step(Step::Citation);
                let citation = blocks::citation(json).at(at);
                emit(Event::noted(*part, NoteKind::Citation(citation)));
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

    fn end_block(&mut self, reader: &mut Reader<'_>, emit: Emit<'_, '_>) -> Result<()> {
        let mut index = 0;
        reader.object(|key, reader| match &*key {
            "index" => put(&mut index, reader.u64()),
            _ => reader.skip(),
        })?;
        self.end_block_at(index, emit);
        Ok(())
    }

    fn end_block_at(&mut self, index: u64, emit: Emit<'_, '_>) {
        if let Some((_, block)) = self.open.remove(&index) {
            self.close_block(block, emit);
        }
    }

    fn close_block(&mut self, block: Block, emit: Emit<'_, '_>) {
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
                let opaque = Content::Opaque(Box::new(filled(opaque, &input)));
                return self.sink(emit).whole(opaque, NodeSemantics::at(place));
            }
        };
        emit(Event::Close(Closed { part, semantics }));
    }

    /// Takes the events of the parts.
    fn sink<'s, 'f>(&'s mut self, emit: Emit<'s, 'f>) -> Sink<'s, 'f> {
        Sink { candidate: 0, place: self.place, next: &mut self.parts, emit }
    }

    fn close_message<'f>(&mut self, reader: &mut Reader<'f>, emit: Emit<'_, 'f>) -> Result<()> {
        self.ensure_started(emit);
        let (place, of_delta_place) = (self.place, self.place.step(Step::Delta));
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
            (self.ending, self.ending_place) = (ending.into_owned(), of_delta_place);
        }
        for (place, extras) in [(place, extras), (of_delta_place, of_delta)] {
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

    fn stop(&mut self, emit: Emit<'_, '_>) {
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

    fn fail<'f>(&mut self, reader: &mut Reader<'f>, emit: Emit<'_, 'f>) -> Result<()> {
        let json = reader.raw()?;
        self.give(None, emit);
        self.state = State::Over;
        emit(Event::Fault(read_fault(FaultKind::Internal, json)));
        Ok(())
    }
}

/// Whether the input of a call is yet to come.
fn has_no_input(call: &ToolCall<'_>) -> bool {
    matches!(&call.arguments, Arguments::Json(json) if json.compact() == "{}")
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
