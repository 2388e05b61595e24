//! What a turn leaves: its messages, the answer under its id, and the items by which clients name parts of both.

use sabir_store::{
    Closing, Direction, Ending, Hash, ItemId, Name, NewItem, NewResponse, Record, ResponseId,
};
use sabir_wire::Protocol;
use sabir_wire::conversation::Response;
use sabir_wire::json::{Kind, Reader};
use sabir_wire::protocol::AnswerContext;

use crate::record::received::{Answer, Answerer};
use crate::record::{Details, Lines, Plan, digits, lines};
use crate::surface;

/// How an answer ended.
pub(super) struct Ended {
    /// Whether nothing of it is missing.
    pub(super) is_whole: bool,
    pub(super) answer: Answer,
    pub(super) answerer: Answerer,
    pub(super) losses: String,
}

impl Ended {
    /// About how much there is to read.
    pub(super) fn bytes(&self) -> usize {
        match &self.answer {
            Answer::Body(body) => body.len(),
            Answer::Folded { bytes, .. } => *bytes,
        }
    }
}

/// An answer as its provider and its client have it.
struct Bodies {
    own: String,
    /// None if it is the same.
    client: Option<String>,
}

pub(super) fn closing(plan: Plan, ended: Ended) -> sabir_store::Result<Closing> {
    let Ended { is_whole, answer, answerer, losses } = ended;
    let bodies = bodies(plan.client, &answerer, answer);
    let entries = answerer.protocol.answer_entries(&bodies.own).unwrap_or_default();
    let tip = plan.input.tip().or(plan.opening.base);
    let output = lines(answerer.protocol, plan.input.end, &entries)?;
    let body = bodies.client.as_ref().unwrap_or(&bodies.own);
    let facts = Facts::of(body);
    let response = facts.id.clone().filter(|_| plan.is_named && is_whole);
    let details = Details {
        response: response.clone(),
        is_passed: answerer.asked.is_none() && !facts.is_unkept,
        usage: facts.usage.clone(),
        losses: Some(losses),
        settings: plan.settings,
        conversation: plan.conversation.as_ref().map(|it| it.id.as_str().to_owned()),
        input_end: tip.as_ref().map(digits),
        end: Some(output.end),
    };
    let mut items = Vec::new();
    if response.is_some() && surface::of(plan.client).state.has_responses {
        items.extend(input_items(&plan.input, plan.opening.id.as_str())?);
        items.extend(output_items(&facts.items, output.tip().or(tip))?);
    }
    let Lines { mut messages, .. } = plan.input;
    messages.extend(output.messages);
    let responses = match response {
        Some(id) => {
            vec![NewResponse { id: ResponseId::new(id)?, body: Record::new(body.as_str())? }]
        }
        None => Vec::new(),
    };
    Ok(Closing {
        turn: plan.opening,
        ending: if is_whole { Ending::Finished } else { Ending::Interrupted },
        provider: Name::new(answerer.provider).ok(),
        model: Name::new(answerer.model).ok(),
        messages,
        system: plan.system,
        tools: plan.tools,
        details: Record::new(details.write())?,
        responses,
        items,
        conversation: plan.conversation,
    })
}

fn bodies(client: Protocol, answerer: &Answerer, answer: Answer) -> Bodies {
    let upstream = answerer.protocol;
    let Some(asked) = &answerer.asked else {
        let own = match answer {
            Answer::Body(body) => body,
            Answer::Folded { response: it, .. } => spelled(&it, upstream),
        };
        return Bodies { own, client: None };
    };
    match answer {
        Answer::Body(own) => {
            let Ok(mut it) = upstream.decode_response(own.as_bytes()) else {
                return Bodies { client: None, own };
            };
            let client_body = client.encode_response(&it, upstream, asked).body;
            let numbered =
                number_calls(&mut it, client, &client_body).then(|| spelled(&it, upstream));
            Bodies { own: numbered.unwrap_or(own), client: Some(client_body) }
        }
        Answer::Folded { response: mut it, .. } => {
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
    let named = input.places.iter().zip(&input.ids).enumerate();
    named
        .map(|(index, ((message, part), id))| {
            let id = id.clone().unwrap_or_else(|| made_id(turn, index));
            let direction = Direction::Input;
            Ok(NewItem { id: ItemId::new(id)?, direction, message: *message, part: *part })
        })
        .collect()
}

/// The id of an item of the input that came without one.
fn made_id(turn: &str, index: usize) -> String {
    format!("msg_{}_{index}", turn.trim_start_matches("turn_"))
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
