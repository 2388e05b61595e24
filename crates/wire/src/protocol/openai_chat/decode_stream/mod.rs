//! Reading streams: the chunk here, what it says of one choice in a file of its own.

mod call;
mod choice;
mod chunk;
mod fragments;
mod held_finish;
mod pattern;

pub(super) use chunk::Chunk;

use std::borrow::Cow;

use crate::conversation::Usage;
use crate::error::{Error, ErrorKind, Result};
use crate::fault::Fault;
use crate::index::Index;
use crate::json::{Json, Kind, Reader};
use crate::limit::OPEN_PARTS_MAX;
use crate::place::{Place, Step};
use crate::protocol::event::Emit;
use crate::protocol::machine::DecodeStream;
use crate::protocol::object::set;
use crate::protocol::openai_chat::decode_stream::choice::Choice;
use crate::protocol::openai_chat::decode_stream::held_finish::HeldEvents;
use crate::protocol::openai_chat::decode_stream::pattern::{ChunkContent, Pattern};
use crate::protocol::openai_chat::fault::fault_within;
use crate::protocol::openai_chat::usage::USAGE;
use crate::protocol::semantics::{Extras, NodeSemantics};
use crate::protocol::sink::Sink;
use crate::protocol::{Delta, Event, Note, NoteAt, NoteKind, Start};
use crate::sse::Frame;

/// Frames in, events out.
#[derive(Debug, Default)]
pub(in super::super) struct Decoder {
    state: State,
    /// The number of the next frame, and where the one stands that is read.
    frame: usize,
    place: Place,
    /// The number of the next part.
    part: u32,
    choices: Vec<Choice>,
    /// Which of them has which number.
    numbers: Index<u32>,
    /// Which of them have an end that is held back.
    finished: Vec<usize>,
    /// How many of them have ended, passed on or not.
    ended: usize,
    /// Vendor fields that have been emitted, so that only changes are emitted again.
    vendor_fields: VendorFields,
    /// Vendor fields of chunks that came before the answer began.
    early: NodeSemantics<'static>,
    /// What was stated about the answer behind an end that is held back.
    held: HeldEvents,
    /// What chunks look like that only go on with a text.
    pattern: Pattern,
    /// Whether the last chunk held fragments, which are emitted later.
    has_fragments: bool,
    /// Whether the answer states its usage where the protocol has it.
    is_counted: bool,
    /// The usage that Groq states in a field of its own.
    groq: Option<Usage<'static>>,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Waiting,
    Started,
    Failed,
    /// The answer is complete, and the provider has stated it: nothing that follows belongs to it.
    Over,
}

impl DecodeStream for Decoder {
    fn step<'f>(&mut self, frame: &Frame<'f>, emit: Emit<'_, 'f>) -> Result<()> {
        let data = frame.data.trim();
        if data == DONE && self.state == State::Started && !self.choices.is_empty() {
            self.end_unfinished();
            self.release(emit);
            self.state = State::Over;
        }
        if data == DONE || data.is_empty() || self.is_over() {
            return Ok(());
        }
        self.place = Place::default().element(Step::Frame, self.frame);
        self.frame += 1;
        match self.pattern.text_of(data) {
            Some((part, text)) => emit(Event::Delta(part, Delta::Text(text))),
            None => self.read(data, emit)?,
        }
        Ok(())
    }

    fn is_ending(&self) -> bool {
        self.is_complete()
    }

    fn end(mut self: Box<Self>, emit: Emit<'_, 'static>) {
        self.release(emit);
        if !self.is_over() && !self.is_complete() {
            emit(Event::Fault(Fault::truncated()));
        }
    }
}

impl Decoder {
    /// Reads a chunk member by member.
    fn read<'f>(&mut self, data: &'f str, emit: Emit<'_, 'f>) -> Result<()> {
        self.pattern.forget();
        self.has_fragments = false;
        if self.state == State::Waiting {
            self.begin(data, emit)?;
        }
        let mut content = ChunkContent::default();
        let mut reader = Reader::new(data);
        let read = reader.object(|key, reader| {
            self.member(&key, reader, &mut |event| {
                content.observe(&event);
                emit(event);
            })
        });
        let read = read.and_then(|()| reader.finish());
        if read.is_err() {
            self.release(emit);
        } else if !self.has_fragments && self.ended == 0 {
            self.pattern.learn(data, &content);
        }
        read
    }

    /// Whether every choice has finished.
    fn is_complete(&self) -> bool {
        !self.choices.is_empty() && self.ended == self.choices.len()
    }

    /// Ends every choice that has no finish reason.
    fn end_unfinished(&mut self) {
        for (at, choice) in self.choices.iter_mut().enumerate() {
            if !choice.has_ended() {
                choice.end_unfinished();
                self.finished.push(at);
            }
        }
        self.ended = self.choices.len();
    }

    /// Passes on the ends that were held back, and what was stated behind them.
    fn release<'f>(&mut self, emit: Emit<'_, 'f>) {
        let (next, place) = (&mut self.part, self.place);
        self.finished.sort_unstable();
        for at in self.finished.drain(..) {
            let choice = &mut self.choices[at];
            choice.release(&mut Sink { candidate: choice.index, place, next, emit });
        }
        if !self.is_counted && self.is_complete() {
            self.groq.take().into_iter().for_each(|usage| emit(Event::Usage(usage)));
        }
        self.held.release(emit);
    }

    /// Emits an event of the whole answer, behind the finish reasons that came before it.
    fn note<'f>(&mut self, event: Event<'f>, emit: Emit<'_, 'f>) {
        match self.is_ending() {
            true => self.held.add(event),
            false => emit(event),
        }
    }

    fn is_ending(&self) -> bool {
        !self.finished.is_empty()
    }

    fn is_over(&self) -> bool {
        matches!(self.state, State::Failed | State::Over)
    }

    /// Starts the answer, unless the chunk only fails or only says what came before an answer.
    fn begin<'f>(&mut self, data: &'f str, emit: Emit<'_, 'f>) -> Result<()> {
        let mut start = Start::default();
        let mut extras = Extras::default();
        let (mut answers, mut fails) = (false, false);
        Reader::new(data).object(|key, reader| {
            match (&*key, reader.kind()?) {
                (_, Kind::Null) => reader.skip()?,
                ("id", Kind::String) => start.id = Some(reader.string()?),
                ("model", Kind::String) => start.model = Some(reader.string()?),
                ("created", Kind::Number) => start.created = Some(reader.number()?),
                ("service_tier", Kind::String) => {
                    // Every chunk states it again.
                    self.vendor_fields.is_change(&key, &reader.checkpoint().raw()?);
                    start.service_tier = Some(reader.string()?);
                }
                ("object" | "obfuscation", _) => reader.skip()?,
                ("choices", _) => answers |= reader.raw()?.compact() != "[]",
                ("usage" | "error", _) => {
                    answers |= key == "usage";
                    fails |= key == "error";
                    reader.skip()?;
                }
                _ => {
                    let json = reader.raw()?;
                    self.vendor_fields.is_change(&key, &json);
                    extras.keep("", key, json);
                }
            }
            Ok(())
        })?;
        let semantics = NodeSemantics::at(self.place).keeping(extras);
        let unnamed = start.id.as_ref().is_none_or(|id| id.is_empty());
        if !answers && (fails || unnamed) {
            self.early.merge(semantics.into_owned());
            return Ok(());
        }
        start.semantics = std::mem::take(&mut self.early).stated_of(self.place);
        start.semantics.merge(semantics);
        self.state = State::Started;
        emit(Event::Start(start));
        Ok(())
    }

    fn member<'f>(&mut self, key: &str, reader: &mut Reader<'f>, emit: Emit<'_, 'f>) -> Result<()> {
        match (key, reader.kind()?) {
            (_, Kind::Null) => reader.skip(),
            ("error", _) if self.state != State::Failed => {
                let fault = fault_within(&reader.raw()?);
                self.release(emit);
                self.state = State::Failed;
                emit(Event::Fault(fault));
                Ok(())
            }
            _ if self.state != State::Started => reader.skip(),
            ("choices", Kind::Array) => {
                reader.array(|position, reader| self.choice(Chunk::read(reader)?, position, emit))
            }
            ("usage", Kind::Object) => {
                self.is_counted = true;
                let usage = USAGE.decode(reader, self.place.step(Step::Usage))?;
                self.note(Event::Usage(usage), emit);
                Ok(())
            }
            ("x_groq", Kind::Object) => {
                let usage = read_groq_usage(&mut reader.checkpoint(), self.place)?;
                self.groq = usage.map(Usage::into_owned).or(self.groq.take());
                self.head(key, reader, emit)
            }
            // The first chunk has stated these.
            ("id" | "object" | "created" | "model" | "obfuscation", _) => reader.skip(),
            _ => self.head(key, reader, emit),
        }
    }

    /// Emits a vendor field of the answer, if it is new.
    fn head<'f>(&mut self, key: &str, reader: &mut Reader<'f>, emit: Emit<'_, 'f>) -> Result<()> {
        let json = reader.raw()?;
        if self.vendor_fields.is_change(key, &json) {
            let kind = NoteKind::Semantics(extra(self.place, ("", key), json));
            self.note(Event::Note(Note { at: NoteAt::Response, kind }), emit);
        }
        Ok(())
    }

    /// Whether this choice goes on while another has ended: that end need not wait for it.
    fn goes_on_elsewhere(&self, at: usize) -> bool {
        self.choices.len() > 1 && !self.choices[at].has_ended() && self.is_ending()
    }

    fn choice<'f>(&mut self, chunk: Chunk<'f>, at: usize, emit: Emit<'_, 'f>) -> Result<()> {
        let place = self.place.element(Step::Choices, at);
        let index = chunk.index.unwrap_or(0);
        let index = u32::try_from(index).ok().filter(|it| (*it as usize) < OPEN_PARTS_MAX);
        let index = index
            .ok_or_else(|| Error::new(ErrorKind::Limit, "expected a smaller number of choices"))?;
        let known = self.numbers.last(&self.choices, &index, |choice| &choice.index);
        let at = known.unwrap_or_else(|| {
            self.choices.push(Choice::new(index));
            self.choices.len() - 1
        });
        if self.goes_on_elsewhere(at) {
            self.release(emit);
        }
        let choice = &mut self.choices[at];
        let had_ended = choice.has_ended();
        let mut sink = Sink { candidate: index, place, next: &mut self.part, emit };
        let stepped = choice.step(chunk, &mut sink);
        self.has_fragments |= std::mem::take(&mut choice.has_fragments);
        if !had_ended && choice.has_ended() {
            self.ended += 1;
            self.finished.push(at);
        }
        stepped
    }
}

/// Reads the usage that Groq states in a field of its own, if it does. Fixture `stream/usage/groq-usage-in-its-own-field`.
pub(super) fn read_groq_usage<'f>(
    reader: &mut Reader<'f>,
    place: Place,
) -> Result<Option<Usage<'f>>> {
    let (mut usage, place) = (None, place.step(Step::XGroqUsage));
    reader.member("usage", Kind::Object, |reader| set(&mut usage, USAGE.decode(reader, place)))?;
    Ok(usage)
}

/// The word for the end of a stream.
pub(super) const DONE: &str = "[DONE]";

/// Vendor fields and the last value of each.
#[derive(Debug, Default)]
struct VendorFields {
    values: Vec<(String, String)>,
    fields: Index<String>,
}

impl VendorFields {
    /// Whether the value differs from the last one of this field, or is the first.
    fn is_change(&mut self, key: &str, json: &Json<'_>) -> bool {
        match self.fields.last(&self.values, key, |(field, _)| field.as_str()) {
            Some(at) if self.values[at].1 == json.as_str() => return false,
            Some(at) => json.as_str().clone_into(&mut self.values[at].1),
            None => self.values.push((key.to_owned(), json.as_str().to_owned())),
        }
        true
    }
}

/// One vendor field, as what is meant by a node beyond its content.
fn extra<'f>(place: Place, field: (&'static str, &str), json: Json<'f>) -> NodeSemantics<'f> {
    let mut semantics = NodeSemantics::at(place);
    semantics.extras_mut().keep(field.0, Cow::Owned(field.1.to_owned()), json);
    semantics
}
