//! Reading whole answers, of which each frame of a stream is a piece.

use super::fault::read_fault;
use super::usage::USAGE;
use crate::conversation::{Candidate, Finish, FinishKind, Message, Part, Response, Role, Usage};
use crate::error::Result;
use crate::fault::{Fault, FaultKind};
use crate::json::{Json, Kind, Reader, Text};
use crate::place::{Place, Step};
use crate::protocol::object::{Members, read_object};
use crate::protocol::semantics::{Extras, NodeSemantics};

pub(in super::super) fn decode_response(body: &str) -> Result<Response<'_>> {
    let answer = AnswerObject::read(body, Place::default())?;
    let mut response = Response::default();
    if answer.text.is_some() || answer.finish.is_some() {
        let parts: Vec<Part<'_>> = answer.text.map(Part::text).into_iter().collect();
        let mut candidate = Candidate::new(Message::new(Role::Assistant, parts));
        candidate.finish = answer.finish;
        response.candidates.push(candidate);
    }
    response.id = answer.id;
    response.model = answer.model;
    response.usage = answer.usage;
    response.fault = answer.fault;
    response.semantics_mut().keep(answer.extras);
    Ok(response)
}

/// An answer, or what a frame holds of one.
#[derive(Default)]
pub(super) struct AnswerObject<'a> {
    pub(super) id: Option<Text<'a>>,
    pub(super) model: Option<Text<'a>>,
    pub(super) text: Option<Text<'a>>,
    pub(super) finish: Option<Finish<'a>>,
    pub(super) usage: Option<Usage<'a>>,
    pub(super) fault: Option<Fault<'a>>,
    pub(super) extras: Extras<'a>,
}

impl<'a> AnswerObject<'a> {
    pub(super) fn read(body: &'a str, place: Place) -> Result<Self> {
        let mut reader = Reader::new(body);
        let (mut answer, mut extras) = (Self::default(), Extras::default());
        read_object(&mut reader, "", &mut extras, |key, reader| answer.member(key, reader, place))?;
        reader.finish()?;
        answer.extras = extras;
        Ok(answer)
    }

    fn member(&mut self, key: &str, reader: &mut Members<'_, 'a>, place: Place) -> Result<()> {
        match (key, reader.kind()?) {
            ("id", Kind::String) => self.id = Some(reader.string()?),
            ("model", Kind::String) => self.model = Some(reader.string()?),
            ("text", Kind::String) => self.text = Some(reader.string()?),
            ("end", Kind::String) => self.finish = Some(finish(reader.string()?)),
            ("usage", Kind::Object) => {
                self.usage = Some(USAGE.decode(reader, place.step(Step::Usage))?);
            }
            ("error", Kind::Object) => self.fault = Some(fault(&reader.raw()?)),
            _ => {}
        }
        Ok(())
    }
}

/// Where what an answer says of itself stands.
pub(super) fn semantics<'a>(place: Place, extras: Extras<'a>) -> NodeSemantics<'a> {
    let mut semantics = NodeSemantics::at(place);
    semantics.keep(extras);
    semantics
}

fn finish(word: Text<'_>) -> Finish<'_> {
    let kind = match &*word.to_str() {
        "done" => FinishKind::Stop,
        "cut" => FinishKind::Length,
        _ => FinishKind::Other,
    };
    Finish { raw: Some(word), ..Finish::new(kind) }
}

/// An error as the body that states it alone.
fn fault(error: &Json<'_>) -> Fault<'static> {
    let body = Json::trusted(format!("{{\"error\":{}}}", error.as_str()).into());
    read_fault(FaultKind::Internal, body).into_owned()
}
