//! What a turn leaves: its messages, the answer under its id, and the items by which clients name parts of both.

use bytes::Bytes;
use sabir_store::{
    Closing, Direction, Ending, Follows, Hash, ItemId, Name, NewItem, NewJob, NewResponse, Record,
    ResponseId,
};
use sabir_wire::conversation::{Arguments, CallForm, Content, Part, Response};
use sabir_wire::json::{Json, Kind, Reader};
use sabir_wire::protocol::AnswerContext;
use sabir_wire::{LossKind, Protocol, Report, utf8};

use crate::memory::left_out;
use crate::observe::Losses;
use crate::record::received::{Answerer, ReceivedAnswer};
use crate::record::{Details, Lines, Plan, digits, lines};
use crate::surface;

/// How an answer ended.
pub(super) struct Ended {
    /// Whether nothing of it is missing.
    pub(super) is_whole: bool,
    pub(super) answer: ReceivedAnswer,
    /// The whole answer as the client gets it, where that is known and every call in it came with an id.
    pub(super) written: Option<Bytes>,
    pub(super) answerer: Answerer,
    pub(super) losses: Losses,
    /// What stands between the call and its answer, as an answer of the client's protocol.
    pub(super) inserted: Option<String>,
    /// The exchange in which the conversation was summarised for the call.
    pub(super) compacted: Option<String>,
}

/// An answer as its provider and its client have it.
struct Bodies {
    own: String,
    /// None if it is the same.
    client: Option<String>,
}

/// What is left of a call.
pub(super) enum Left {
    Turn(Box<Closing>),
    /// The answer is not there yet: its provider works on it.
    Job(NewJob),
}

pub(super) fn left(mut plan: Plan, ended: Ended) -> sabir_store::Result<Left> {
    let Ended { is_whole, mut answer, written, answerer, mut losses, inserted, compacted } = ended;
    if let ReceivedAnswer::Folded(answer) = &mut answer
        && !is_whole
    {
        losses.extend(drop_half_calls(answer).into());
    }
    if let Some(inserted) = inserted {
        let entries = plan.client.answer_entries(&inserted).unwrap_or_default();
        plan.input.append(lines(plan.client, plan.input.end, &entries)?);
    }
    let written = written.filter(|_| is_whole);
    let bodies = bodies(plan.client, &answerer, (answer, written));
    if answerer.asked.is_none() && plan.job.is_some() {
        let facts = Facts::of(&bodies.own);
        if !is_whole || facts.is_pending {
            return passed(&plan, &answerer, facts, bodies.own).map(Left::Job);
        }
    }
    let closing = closing(plan, (is_whole, answerer), (losses, compacted), bodies)?;
    Ok(Left::Turn(Box::new(closing)))
}

/// Leaves out the calls in which an answer broke off: what was to be called with them nobody knows.
fn drop_half_calls(answer: &mut Response<'_>) -> Report {
    let mut report = Report::default();
    for candidate in &mut answer.candidates {
        let parts = &mut candidate.message.parts;
        let came = parts.len();
        parts.retain(|part| !is_half_call(part));
        if parts.len() < came {
            report.lose("", LossKind::Dropped, HALF_CALL);
        }
    }
    report
}

const HALF_CALL: &str = "the answer broke off in the arguments of a call, which is not kept";

fn is_half_call(part: &Part<'_>) -> bool {
    let Content::ToolCall(call) = part.content() else { return false };
    match &call.arguments {
        Arguments::Text(text) if matches!(call.form, CallForm::Function) => {
            Json::parse(&*text.to_str()).is_err()
        }
        Arguments::Text(_) | Arguments::Json(_) => false,
    }
}

/// An answer that its provider goes on working on.
fn passed(
    plan: &Plan,
    answerer: &Answerer,
    facts: Facts,
    body: String,
) -> sabir_store::Result<NewJob> {
    Ok(NewJob {
        owner: plan.opening.owner.clone(),
        id: ResponseId::new(facts.id.unwrap_or_default())?,
        turn: plan.opening.id.clone(),
        provider: Some(Name::new(answerer.provider.as_str())?),
        is_streamed: false,
        body: Record::new(body)?,
    })
}

fn closing(
    mut plan: Plan,
    (is_whole, answerer): (bool, Answerer),
    (mut losses, compacted): (Losses, Option<String>),
    bodies: Bodies,
) -> sabir_store::Result<Closing> {
    let entries = answerer.protocol.answer_entries(&bodies.own).unwrap_or_default();
    let output = lines(answerer.protocol, plan.input.end, &entries)?;
    if plan.is_plain {
        let messages = plan.input.messages.iter().chain(&output.messages);
        losses.extend(left_out(plan.system.as_ref(), messages)?.into());
    }
    let Bodies { own, client } = bodies;
    let body = client.unwrap_or(own);
    let settings = plan.settings.take();
    let turn = Turn::new((&plan, is_whole), &answerer, &output, &body);
    let losses = Some(losses.to_json());
    let details = Details { losses, compacted, settings, ..turn.details() };
    let written = Record::new(details.write())?;
    // The settings may be as long as the request.
    drop(details);
    let (items, responses) = (turn.items()?, turn.responses(body)?);
    let Lines { mut messages, .. } = plan.input;
    let sent = messages.len();
    messages.extend(output.messages);
    Ok(Closing {
        turn: plan.opening,
        ending: if is_whole { Ending::Finished } else { Ending::Interrupted },
        provider: Name::new(answerer.provider).ok(),
        model: Name::new(answerer.model).ok(),
        messages,
        system: plan.system,
        tools: plan.tools,
        details: written,
        responses,
        items,
        conversation: plan.conversation,
        begins: plan.begins,
        beside: plan.beside,
        follows: plan.follows.map(|begins| Follows { sent, begins }),
        job: plan.job.filter(|_| answerer.asked.is_some()),
    })
}

/// A turn with its answer.
struct Turn<'a> {
    plan: &'a Plan,
    answerer: &'a Answerer,
    output: &'a Lines,
    facts: Facts,
    /// The id of the answer, if clients may name it.
    response: Option<String>,
    /// The line that its input ends with.
    tip: Option<Hash>,
}

impl<'a> Turn<'a> {
    fn new(
        (plan, is_whole): (&'a Plan, bool),
        answerer: &'a Answerer,
        output: &'a Lines,
        body: &str,
    ) -> Self {
        let facts = Facts::of(body);
        let response = facts.id.clone().filter(|_| plan.is_named && is_whole);
        let tip = plan.input.tip().or(plan.opening.base);
        Self { plan, answerer, output, facts, response, tip }
    }

    fn details(&self) -> Details {
        let Self { plan, answerer, facts, .. } = self;
        // What the gateway worked on has an id that its provider does not know.
        let is_own_job = plan.job.is_some() && answerer.asked.is_some();
        let is_kept = !facts.is_unkept && !answerer.is_agent;
        let conversation = plan.conversation.as_ref().filter(|_| self.response.is_some());
        Details {
            response: self.response.clone(),
            is_passed: answerer.protocol == plan.client
                && is_kept
                && !is_own_job
                && !plan.is_governed,
            usage: facts.usage.clone(),
            conversation: conversation.map(|it| it.id.as_str().to_owned()),
            input_end: self.tip.as_ref().filter(|_| self.response.is_some()).map(digits),
            asked: plan.input.end.meaning.filter(|_| plan.is_repeatable()),
            end: Some(self.output.end),
            ..Details::default()
        }
    }

    fn items(&self) -> sabir_store::Result<Vec<NewItem>> {
        let Self { plan, answerer, output, .. } = self;
        if self.response.is_some() && surface::of(plan.client).state.has_responses {
            let mut items = input_items(&plan.input, plan.opening.id.as_str())?;
            items.extend(output_items(&self.facts.items, output.tip().or(self.tip))?);
            return Ok(items);
        }
        // Who lists the conversation elsewhere learns the ids that its provider gave. A plain transcript has none.
        let can_be_named = plan.is_awaited && !plan.is_plain;
        match can_be_named && surface::of(answerer.protocol).state.has_responses {
            true => Ok(output.named(Direction::Output)?.into_iter().collect()),
            false => Ok(Vec::new()),
        }
    }

    fn responses(&self, body: String) -> sabir_store::Result<Vec<NewResponse>> {
        let Some(id) = &self.response else { return Ok(Vec::new()) };
        Ok(vec![NewResponse { id: ResponseId::new(id.as_str())?, body: Record::new(body)? }])
    }
}

fn bodies(
    client: Protocol,
    answerer: &Answerer,
    (answer, written): (ReceivedAnswer, Option<Bytes>),
) -> Bodies {
    let upstream = answerer.protocol;
    let written = written.and_then(|body| utf8::text(&body).ok().map(str::to_owned));
    let Some(asked) = answerer.asked.as_ref().filter(|_| written.is_none()) else {
        let own = match answer {
            ReceivedAnswer::Body(body) => body,
            ReceivedAnswer::Folded(it) => spelled(&it, upstream),
        };
        return Bodies { own, client: written };
    };
    match answer {
        ReceivedAnswer::Body(own) => {
            let Ok(mut it) = upstream.decode_response(own.as_bytes()) else {
                return Bodies { client: None, own };
            };
            let client_body = client.encode_response(&it, upstream, asked).body;
            let numbered =
                number_calls(&mut it, client, &client_body).then(|| spelled(&it, upstream));
            Bodies { own: numbered.unwrap_or(own), client: Some(client_body) }
        }
        ReceivedAnswer::Folded(mut it) => {
            let client_body = client.encode_response(&it, upstream, asked).body;
            number_calls(&mut it, client, &client_body);
            Bodies { own: spelled(&it, upstream), client: Some(client_body) }
        }
    }
}

/// An answer in its provider's own protocol.
fn spelled(response: &Response<'_>, upstream: Protocol) -> String {
    upstream.encode_response(response, upstream, &AnswerContext::default()).body
}

/// Gives calls that came without an id those by which the client knows them, since its results will name these. Whether
/// there were any.
fn number_calls(response: &mut Response<'_>, client: Protocol, client_body: &str) -> bool {
    if response.numbers_calls() {
        return false;
    }
    let known = client.decode_response(client_body.as_bytes());
    known.map(|known| response.number_calls(&known)).is_ok()
}

/// What is read off an answer's body.
#[derive(Default)]
struct Facts {
    id: Option<String>,
    usage: Option<String>,
    /// Whether the provider says that it keeps nothing of it.
    is_unkept: bool,
    /// Whether it is still waited for.
    is_pending: bool,
    /// The ids of its items, in their order.
    items: Vec<Option<String>>,
}

impl Facts {
    fn of(body: &str) -> Self {
        let mut facts = Self::default();
        let _ = Reader::new(body).object(|key, reader| {
            match (&*key, reader.kind()?) {
                ("id", Kind::String) => facts.id = Some(reader.string()?.into_str().into_owned()),
                ("usage" | "usageMetadata", Kind::Object) => {
                    facts.usage = Some(reader.raw()?.as_str().to_owned());
                }
                ("status", Kind::String) => {
                    let status = reader.string()?;
                    facts.is_pending = status == *"queued" || status == *"in_progress";
                }
                ("store", Kind::Boolean) => facts.is_unkept = !reader.boolean()?,
                ("output", Kind::Array) => reader.array(|_, item| {
                    let id = item.peek_tag("id")?;
                    facts.items.push(id.map(|id| id.into_str().into_owned()));
                    item.skip()
                })?,
                _ => reader.skip()?,
            }
            Ok(())
        });
        facts
    }
}

/// Every element of the input can be named: by its own id, or by one that is made for it.
fn input_items(input: &Lines, turn: &str) -> sabir_store::Result<Vec<NewItem>> {
    let turn = turn.strip_prefix("turn_").unwrap_or(turn);
    let named = input.places.iter().zip(&input.ids).enumerate();
    named
        .map(|(index, ((message, part), id))| {
            let id = id.clone().unwrap_or_else(|| format!("msg_{turn}_{index}"));
            let direction = Direction::Input;
            Ok(NewItem { id: ItemId::new(id)?, direction, message: *message, part: *part })
        })
        .collect()
}

fn output_items(
    ids: &[Option<String>],
    message: Option<Hash>,
) -> sabir_store::Result<Vec<NewItem>> {
    let Some(message) = message else { return Ok(Vec::new()) };
    let named = ids.iter().zip(0..).filter_map(|(id, part)| id.clone().map(|id| (id, part)));
    named
        .map(|(id, part)| {
            Ok(NewItem { id: ItemId::new(id)?, direction: Direction::Output, message, part })
        })
        .collect()
}
