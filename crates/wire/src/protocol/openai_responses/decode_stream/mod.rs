//! Reading streams. Items are keyed by their place in the output, because ids have been seen to change on the way. In the
//! list at the end they are known by their ids first, because servers leave out items there, or state more.
//! Fixture `stream/ids/responses-output-at-the-end-by-id`.

mod item;

use crate::conversation::{Content, Finish, FinishKind, Part};
use crate::error::Result;
use crate::fault::{Fault, FaultKind};
use crate::json::{Json, Kind, Reader, Text};
use crate::place::{Place, Step};
use crate::protocol::event::Emit;
use crate::protocol::machine::DecodeStream;
use crate::protocol::openai_responses::decode_request::decode_output_item;
use crate::protocol::openai_responses::decode_response::ResponseObject;
use crate::protocol::openai_responses::decode_stream::item::Items;
use crate::protocol::openai_responses::fault::fault_of_error;
use crate::protocol::semantics::NodeSemantics;
use crate::protocol::{Event, Note, NoteAt, NoteKind, Start};
use crate::sse::Frame;

/// Frames in, events out.
#[derive(Debug, Default)]
pub(in super::super) struct Decoder {
    /// The number of the next frame.
    frame: usize,
    stage: Stage,
    /// The tier that the start stated.
    tier: Option<Text<'static>>,
    items: Items,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Before,
    Started,
    /// The terminal event or a fault has come; whatever follows says nothing new.
    Ended,
}

/// What an event is for the stream as a whole; the names are without their prefix.
pub(super) enum Moment<'k> {
    /// It holds the response as it begins.
    Start,
    /// It holds the response as it ended.
    End(&'k str),
    Error,
    /// It speaks of an item, or of something unknown.
    Item(&'k str),
}

impl<'k> Moment<'k> {
    pub(super) fn of(kind: &'k str) -> Self {
        match kind.strip_prefix("response.").unwrap_or(kind) {
            "created" | "queued" | "in_progress" => Self::Start,
            name @ ("completed" | "incomplete" | "failed" | "cancelled") => Self::End(name),
            "error" => Self::Error,
            name => Self::Item(name),
        }
    }
}

impl DecodeStream for Decoder {
    fn step<'f>(&mut self, frame: &Frame<'f>, emit: Emit<'_, 'f>) -> Result<()> {
        let place = Place::default().element(Step::Frame, self.frame);
        self.frame += 1;
        if self.stage == Stage::Ended || frame.data.trim() == "[DONE]" {
            return Ok(());
        }
        let mut fields = Fields { place, ..Fields::default() };
        fields.read(frame.data)?;
        let kind = fields.kind.take();
        let kind = match &kind {
            Some(kind) => kind.to_str(),
            None => frame.event.unwrap_or_default().into(),
        };
        self.event(&kind, (&mut fields, frame.data), emit)
    }

    fn end(self: Box<Self>, emit: Emit<'_, 'static>) {
        if self.stage != Stage::Ended {
            let message = Text::literal("the stream ended before its terminal event");
            emit(Event::Fault(Fault::new(FaultKind::Truncated, message)));
        }
    }
}

impl Decoder {
    fn event<'f>(
        &mut self,
        kind: &str,
        (fields, data): (&mut Fields<'f>, &'f str),
        emit: Emit<'_, 'f>,
    ) -> Result<()> {
        let moment = Moment::of(kind);
        if let Moment::Error = moment {
            self.stage = Stage::Ended;
            emit(Event::Fault(fault_of_error(Json::parse(data)?)));
            return Ok(());
        }
        self.start(fields, emit)?;
        match moment {
            Moment::Start | Moment::Error => Ok(()),
            Moment::End(name) => self.terminal(name, fields, emit),
            Moment::Item(name) => self.items.event(name, fields, emit),
        }
    }

    /// Emits the start of the answer, unless that has been done.
    fn start<'f>(&mut self, fields: &Fields<'f>, emit: Emit<'_, 'f>) -> Result<()> {
        if self.stage != Stage::Before {
            return Ok(());
        }
        self.stage = Stage::Started;
        let (answer, place) = read_answer(fields)?;
        let ResponseObject { id, model, created, service_tier, extras, .. } = answer;
        // Until the answer is complete the tier is often only what was asked for.
        let service_tier = service_tier.filter(|tier| *tier != *"auto");
        self.tier = service_tier.clone().map(Text::into_owned);
        let semantics = NodeSemantics::at(place).keeping(extras);
        emit(Event::Start(Start { id, model, created, service_tier, semantics }));
        Ok(())
    }

    fn terminal<'f>(&mut self, name: &str, fields: &Fields<'f>, emit: Emit<'_, 'f>) -> Result<()> {
        self.stage = Stage::Ended;
        let (mut answer, place) = read_answer(fields)?;
        self.finish_items(answer.output.take(), place, emit)?;
        if let Some(usage) = answer.usage.take() {
            emit(Event::Usage(usage));
        }
        let called = self.items.called;
        let finish = answer.finish(called).unwrap_or_else(|| {
            Finish::new(match name {
                "failed" | "cancelled" => FinishKind::Failed,
                "incomplete" => FinishKind::Other,
                _ if called => FinishKind::ToolCalls,
                _ => FinishKind::Stop,
            })
        });
        let fault = answer.fault();
        self.note_rest(answer, place, emit);
        let failed = finish.kind == FinishKind::Failed;
        emit(Event::Finish { candidate: 0, place, finish });
        let unexplained = (failed && name == "failed")
            .then(|| Fault::new(FaultKind::Internal, Text::literal("the response failed")));
        if let Some(fault) = fault.or(unexplained) {
            emit(Event::Fault(fault));
        }
        Ok(())
    }

    /// Emits what the complete response states about itself.
    fn note_rest<'f>(&mut self, mut answer: ResponseObject<'f>, place: Place, emit: Emit<'_, 'f>) {
        answer.keep_rest();
        let mut extras = std::mem::take(&mut answer.extras);
        if let Some(tier) = answer.service_tier.filter(|tier| Some(tier) != self.tier.as_ref()) {
            extras.keep("", "service_tier".into(), Json::of_text(&tier));
        }
        if !extras.is_empty() {
            let semantics = NodeSemantics::at(place).keeping(extras);
            emit(Event::Note(Note { at: NoteAt::Response, kind: NoteKind::Semantics(semantics) }));
        }
    }

    /// Completes the items that the stream left open or never announced, by the list at its end.
    fn finish_items<'f>(
        &mut self,
        output: Option<Json<'f>>,
        place: Place,
        emit: Emit<'_, 'f>,
    ) -> Result<()> {
        if let Some(mut reader) = output.as_ref().and_then(Json::input_reader) {
            let known = self.items.matching(&ids_of(&reader)?);
            reader.array(|index, reader| {
                let at = known.get(index).copied().flatten();
                if self.items.has_ended(at) {
                    return reader.skip();
                }
                let parts = decode_output_item(reader, place.element(Step::Output, index))?;
                let at = at.unwrap_or_else(|| self.items.push(usize::MAX));
                self.items.done_at(at, parts.into_vec(), emit);
                Ok(())
            })?;
        }
        self.items.close_all(emit);
        Ok(())
    }
}

/// The id of each item in a list.
fn ids_of(list: &Reader<'_>) -> Result<Vec<Option<String>>> {
    let mut ids = Vec::new();
    list.checkpoint().array(|_, item| {
        let id = match item.kind()? {
            Kind::Object => item.checkpoint().peek_tag("id")?,
            _ => None,
        };
        ids.push(id.map(|id| id.to_str().into_owned()));
        item.skip()
    })?;
    Ok(ids)
}

/// The response that a frame holds, and where it stands.
fn read_answer<'f>(fields: &Fields<'f>) -> Result<(ResponseObject<'f>, Place)> {
    let place = fields.place.step(Step::Response);
    let answer = match fields.response.as_ref().and_then(Json::input_reader) {
        Some(mut reader) => ResponseObject::read(&mut reader, place)?,
        None => ResponseObject::default(),
    };
    Ok((answer, place))
}

/// The fields of a frame, picked in one pass over it: the type may stand behind everything else. There are many, so they
/// stay in one place while they are read and used.
#[derive(Debug, Default)]
struct Fields<'f> {
    /// Where the frame stands.
    place: Place,
    kind: Option<Text<'f>>,
    output_index: usize,
    content_index: usize,
    summary_index: usize,
    /// What a part grows by.
    delta: Option<Text<'f>>,
    /// What a part has grown to.
    whole: Option<Text<'f>>,
    logprobs: Option<Json<'f>>,
    part: Option<Reader<'f>>,
    item: Option<Reader<'f>>,
    annotation: Option<Json<'f>>,
    response: Option<Json<'f>>,
}

impl<'f> Fields<'f> {
    fn read(&mut self, data: &'f str) -> Result<()> {
        let mut reader = Reader::new(data);
        match reader.kind()? {
            Kind::Object => reader.object(|key, reader| self.member(&key, reader))?,
            // JSON that is no event says nothing.
            _ => reader.skip()?,
        }
        reader.finish()
    }

    fn member(&mut self, key: &str, reader: &mut Reader<'f>) -> Result<()> {
        match (key, reader.kind()?) {
            ("type", Kind::String) => self.kind = Some(reader.string()?),
            ("delta", Kind::String) => self.delta = Some(reader.string()?),
            ("text" | "refusal" | "arguments" | "input", Kind::String) => {
                self.whole = Some(reader.string()?);
            }
            // Some servers give the arguments as the object that they are. Fixture `answer/tools/arguments-that-are-an-object`.
            ("arguments", Kind::Object) => self.whole = Some(reader.raw()?.to_text().into_owned()),
            ("output_index", Kind::Number) => self.output_index = index(reader)?,
            ("content_index", Kind::Number) => self.content_index = index(reader)?,
            ("summary_index", Kind::Number) => self.summary_index = index(reader)?,
            ("logprobs", Kind::Array) => self.logprobs = Some(reader.raw()?),
            ("annotation", Kind::Object) => self.annotation = Some(reader.raw()?),
            ("response", Kind::Object) => self.response = Some(reader.raw()?),
            ("part" | "item", Kind::Object) => {
                let slot = if key == "part" { &mut self.part } else { &mut self.item };
                *slot = Some(reader.checkpoint());
                reader.skip()?;
            }
            _ => reader.skip()?,
        }
        Ok(())
    }
}

fn index(reader: &mut Reader<'_>) -> Result<usize> {
    Ok(reader.number()?.as_u64().and_then(|index| usize::try_from(index).ok()).unwrap_or_default())
}

/// Where in an item a part stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Slot {
    Text(usize),
    Refusal(usize),
    Summary,
    Thought,
    /// Arguments, or the input of a custom tool.
    Input,
    /// A part that does not grow.
    Whole(usize),
}

impl Slot {
    /// The slot of a part of a message.
    fn of(part: &Part<'_>, index: usize) -> Self {
        match part.content() {
            Content::Text(_) => Self::Text(index),
            Content::Refusal(_) => Self::Refusal(index),
            _ => Self::Whole(index),
        }
    }
}
