//! Results of tools for an answer that is kept: they become a call that goes on from it, with its settings.

use std::sync::Arc;
use std::time::Duration;

use sabir_store::{ResponseId, Status, TurnId};
use sabir_wire::FaultKind;
use sabir_wire::json::{Json, Kind, Reader, Writer};

use crate::config::types::{GatewayKey, Level};
use crate::failure::{Failure, Result};
use crate::ingress;
use crate::pool;
use crate::recall::base::found;
use crate::record::Details;
use crate::state::Snapshot;

/// A call made of results.
pub(crate) struct Submission {
    pub(crate) body: String,
    /// The turn whose calls it answers.
    pub(crate) turn: TurnId,
}

/// How long an answer waits for results.
const PATIENCE: Duration = Duration::from_secs(30 * 60);

/// What was kept of the answer.
struct PendingAnswer {
    turn: TurnId,
    details: Details,
    calls: Vec<Open>,
}

/// A call that has no result yet.
struct Open {
    id: String,
    /// The type of item that answers it.
    output: &'static str,
}

/// What a client submits.
#[derive(Default)]
struct Submitted {
    /// Ids of calls and what came of them, as JSON.
    results: Vec<(String, String)>,
    stream: Option<bool>,
    metadata: Option<String>,
}

pub(crate) async fn submission(
    snapshot: &Snapshot,
    key: Option<&Arc<GatewayKey>>,
    id: &str,
    body: Vec<u8>,
) -> Result<Submission> {
    let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let known = ResponseId::new(id).ok().filter(|_| id.bytes().all(is_fit)).ok_or_else(invalid)?;
    let (pool, bytes, id) = (&snapshot.shared.pool, body.len(), id.to_owned());
    let submitted = pool.run_on(bytes, move |_| Submitted::read(&body)).await?;
    let waiting = waiting(snapshot, key, &known).await?;
    let turn = waiting.turn.clone();
    let body = pool.run_on(bytes, move |_| call(&id, &waiting, submitted)).await?;
    Ok(Submission { body, turn })
}

/// Nobody waits for these results, or not any more.
pub(super) fn expired() -> Box<Failure> {
    let message = "Responses conversation expired or not found";
    Failure::client(FaultKind::NotFound, message)
}

fn invalid() -> Box<Failure> {
    let message = "Responses conversation requires valid response_id";
    Failure::client(FaultKind::BadRequest, message)
}

async fn waiting(
    snapshot: &Snapshot,
    key: Option<&Arc<GatewayKey>>,
    id: &ResponseId,
) -> Result<PendingAnswer> {
    let memory = snapshot.shared.memory.as_ref();
    let memory = memory.filter(|memory| memory.level() >= Level::Stateful).ok_or_else(expired)?;
    let (store, owner) = (memory.store(), memory.owner(key));
    let response = found(store.response(&owner, id).await)?.ok_or_else(expired)?;
    let turn = found(store.turn(&owner, &response.turn).await)?.ok_or_else(expired)?;
    let is_fresh = turn.closed_at.is_some_and(|at| store.now() <= at.plus(PATIENCE));
    if turn.status != Status::Finished || !is_fresh {
        return Err(expired());
    }
    let (pool, body) = (&snapshot.shared.pool, response.body);
    let calls = pool.run_on(body.as_bytes().len(), move |_| open_calls(body.as_bytes())).await?;
    Ok(PendingAnswer { turn: turn.id, details: Details::read(&turn.details), calls })
}

/// The calls of an answer, which nobody has answered.
fn open_calls(body: &[u8]) -> Result<Vec<Open>> {
    let mut calls = Vec::new();
    Reader::from_slice(body)?.object(|key, reader| {
        if key != "output" {
            return reader.skip();
        }
        reader.array(|_, item| {
            let kind = item.peek_tag("type")?;
            let output = match kind.as_ref().map(|kind| kind.to_str()).as_deref() {
                Some("function_call") => Some("function_call_output"),
                Some("custom_tool_call") => Some("custom_tool_call_output"),
                _ => None,
            };
            if let (Some(output), Some(id)) = (output, item.peek_tag("call_id")?) {
                calls.push(Open { id: id.into_str().into_owned(), output });
            }
            item.skip()
        })
    })?;
    Ok(calls)
}

impl Submitted {
    fn read(body: &[u8]) -> Result<Self> {
        pool::check_thread(body.len());
        let names = ["tool_outputs", "stream", "metadata"];
        let [results, stream, metadata] = ingress::members(ingress::text(body)?, names)?;
        let Some(results) = results.filter(|it| it.kind() == Kind::Array) else {
            let message = "tool_outputs array is required when submitting Responses tool results";
            return Err(Failure::client(FaultKind::BadRequest, message));
        };
        let mut submitted = Self::default();
        let read = results.reader().array(|_, result| submitted.take_result(result));
        read.map_err(|error| error.under_key("tool_outputs"))?;
        let stream = stream.filter(|it| it.kind() == Kind::Boolean);
        submitted.stream = stream.map(|it| it.reader().boolean()).transpose()?;
        let metadata = metadata.filter(|it| it.kind() == Kind::Object);
        submitted.metadata = metadata.map(|it| it.as_str().to_owned());
        Ok(submitted)
    }

    fn take_result(&mut self, result: &mut Reader<'_>) -> sabir_wire::Result<()> {
        let (mut id, mut output) = (None, None);
        result.object(|key, reader| {
            match &*key {
                "tool_call_id" | "call_id" => id = Some(reader.string()?.into_str().into_owned()),
                "output" => output = Some(reader.raw()?.as_str().to_owned()),
                _ => reader.skip()?,
            }
            Ok(())
        })?;
        self.results.extend(id.map(|id| (id, output.unwrap_or_else(|| "\"\"".to_owned()))));
        Ok(())
    }
}

/// The call that goes on from the answer.
fn call(id: &str, waiting: &PendingAnswer, submitted: Submitted) -> Result<String> {
    let settings = waiting.details.settings.as_deref().unwrap_or("{}");
    let replaced: &[&str] = match (submitted.stream, &submitted.metadata) {
        (Some(_), Some(_)) => &["stream", "metadata"],
        (Some(_), None) => &["stream"],
        (None, Some(_)) => &["metadata"],
        (None, None) => &[],
    };
    let settings = super::body::without_members(settings, replaced)?;
    let mut writer = Writer::with_capacity(settings.len() + 1024);
    writer.begin_object();
    Reader::new(&settings).object(|key, reader| {
        writer.field(&key, &reader.raw()?);
        Ok(())
    })?;
    writer.optional("stream", submitted.stream.as_ref());
    let metadata = submitted.metadata.map(Json::parse).transpose()?;
    writer.optional("metadata", metadata.as_ref());
    match &waiting.details.conversation {
        Some(conversation) => writer.field("conversation", conversation.as_str()),
        None => writer.field("previous_response_id", id),
    }
    writer.key("input");
    write_results(&mut writer, &waiting.calls, submitted.results)?;
    writer.end_object();
    Ok(writer.into_string())
}

fn write_results(
    writer: &mut Writer,
    calls: &[Open],
    results: Vec<(String, String)>,
) -> Result<()> {
    if let Some(open) = calls.iter().find(|call| !results.iter().any(|(id, _)| *id == call.id)) {
        let message = format!("No tool output found for function call {}.", open.id);
        return Err(Failure::client(FaultKind::BadRequest, message).with_param("tool_outputs"));
    }
    if results.is_empty() {
        let message = "Submit tool outputs requires at least one tool output entry";
        return Err(Failure::client(FaultKind::BadRequest, message).with_param("tool_outputs"));
    }
    writer.begin_array();
    for (id, output) in results {
        let Some(call) = calls.iter().find(|call| call.id == id) else {
            let message = format!("No tool call found for function call output with call_id {id}.");
            return Err(Failure::client(FaultKind::BadRequest, message).with_param("tool_outputs"));
        };
        let output = Json::parse(output)?;
        writer.object(|it| {
            it.field("type", call.output);
            it.field("call_id", id.as_str());
            it.field("output", &output);
        });
    }
    writer.end_array();
    Ok(())
}
