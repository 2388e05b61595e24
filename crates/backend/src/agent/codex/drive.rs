//! The dialogue with Codex: introduced, a thread set up, told the conversation, and listened to until the model's first answer is there.

use sabir_wire::json::{Json, Writer};
use sabir_wire::protocol::{Event, StreamDecoder};
use sabir_wire::sse::Frame;
use sabir_wire::{FaultKind, Protocol};

use super::faults::stated;
use super::read::{Frames, Line};
use super::seed::{Question, Request};
use crate::agent::Abilities;
use crate::agent::answer::Sink;
use crate::agent::faults::{Failed, fault, garbled, gone, silent, unreadable};
use crate::agent::json::{member, text};
use crate::agent::process::Process;
use crate::agent::rest::Lent;

pub(in crate::agent) async fn drive(
    Lent { mut process, bed }: Lent,
    question: Question,
    model: Option<String>,
    sink: Sink,
) -> Result<(), Failed> {
    if process.uses() == 0 {
        bed.states_version(introduce(&mut process).await?);
    }
    process.send_line(&question.start_thread(model.as_deref()));
    let thread = answered(&mut process, Request::StartThread).await?;
    if question.is_injected() {
        process.send_line(&question.inject(&thread));
        answered(&mut process, Request::Inject).await?;
    }
    process.send_line(&question.start_turn(&thread));
    let turn = answered(&mut process, Request::StartTurn).await?;
    listen(process, Frames::new(model.unwrap_or_default()), &turn, &sink).await?;
    // Its threads are gone with it, and with them all that was said.
    bed.replace();
    Ok(())
}

/// Introduces us to a process: the version that it states.
pub(super) async fn introduce(process: &mut Process) -> Result<Option<String>, Failed> {
    process.send_line(&Question::initialize());
    let version = answered(process, Request::Initialize).await?;
    process.send_line(r#"{"method":"initialized"}"#);
    Ok(Some(version).filter(|version| !version.is_empty()))
}

/// What a process says that it can: whether it knows how to be told items, of a thread that is not there.
pub(in crate::agent) async fn probe(Lent { mut process, bed }: Lent) -> Option<Abilities> {
    if process.uses() == 0 {
        bed.states_version(introduce(&mut process).await.ok()?);
    }
    process.send_line(&Question::default().inject("00000000-0000-0000-0000-000000000000"));
    let refused = answered(&mut process, Request::Inject).await.err();
    let is_unknown = |it: Failed| {
        let words = it.message.to_str().to_lowercase();
        words.contains("unknown variant") || words.contains("method not found")
    };
    // It has had no thread: the first call finds it introduced.
    bed.rest(process);
    Some(Abilities { replays: !refused.is_some_and(is_unknown) })
}

/// Waits for the answer to a request: what it states, an id or a version, if it states that.
pub(super) async fn answered(process: &mut Process, request: Request) -> Result<String, Failed> {
    loop {
        let bytes = next(process).await?;
        let Ok(line) = Line::read(&bytes) else { continue };
        decline(process, &line);
        if line.answers() != Some(request as u64) {
            continue;
        }
        if let Some(error) = &line.error {
            return Err(refused(error));
        }
        let stated = match request {
            Request::Initialize => line.version(),
            Request::StartThread | Request::Inject => line.id_of("thread"),
            Request::StartTurn => line.id_of("turn"),
        };
        return Ok(stated.unwrap_or_default());
    }
}

/// An error in the place of an answer: what was asked is what it does not take.
pub(super) fn refused(error: &Json<'_>) -> Failed {
    let words = text(error, "message").unwrap_or_else(|| "the agent refused a request".to_owned());
    fault(FaultKind::BadRequest, words)
}

async fn listen(
    mut process: Process,
    mut frames: Frames,
    turn: &str,
    sink: &Sink,
) -> Result<(), Failed> {
    let mut decoder = StreamDecoder::new(Protocol::OpenaiResponses);
    let mut put = |event: Event<'_>| sink.put(event.into_owned());
    loop {
        let bytes = next(&mut process).await?;
        let Ok(line) = Line::read(&bytes) else { continue };
        decline(&mut process, &line);
        let method = line.method();
        // What was injected is told of under another turn.
        let is_own = line.params.turn_id.as_ref().is_none_or(|it| *it == *turn);
        if is_own {
            let (data, is_last) = frames.of(&method, &line.params);
            for data in &data {
                decoder =
                    decoder.step(&Frame { event: None, data }, &mut put).map_err(|_| garbled())?;
            }
            if is_last {
                decoder.end(&mut put);
                return Ok(());
            }
        }
        if let Some(fault) = failure(&method, &line) {
            return Err(fault);
        }
        sink.drained().await;
    }
}

/// The failure of the turn, if the line tells of one. An error that is tried again is none.
pub(super) fn failure(method: &str, line: &Line<'_>) -> Option<Failed> {
    match method {
        "error" if !line.params.will_retry => line.params.error.as_ref().map(stated),
        "turn/completed" => {
            let error = line.params.turn.as_ref().and_then(|turn| member(turn, "error"));
            let error = error.filter(|error| !error.is_null());
            Some(error.map_or_else(silent, |error| stated(&error)))
        }
        _ => None,
    }
}

/// Says no to what the server asks for, but for calls of tools: those are the client's to answer, in another process.
pub(super) fn decline(process: &mut Process, line: &Line<'_>) {
    let (Some(id), Some(_)) = (&line.id, &line.method) else { return };
    if line.method() == "item/tool/call" {
        return;
    }
    let mut writer = Writer::default();
    writer.object(|it| {
        it.field("id", id);
        it.key("error");
        it.object(|it| {
            it.field("code", &-32601_i64);
            it.field("message", "nobody is here to answer");
        });
    });
    process.send_line(&writer.into_string());
}

pub(super) async fn next(process: &mut Process) -> Result<Vec<u8>, Failed> {
    match process.line().await.map_err(|error| unreadable(&error))? {
        Some(line) => Ok(line),
        None => Err(gone(process.exit().await)),
    }
}
