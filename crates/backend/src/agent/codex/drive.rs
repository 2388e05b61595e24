//! The dialogue with Codex: introduced, a thread set up, told the conversation, and listened to until the model's first answer is there.

use sabir_wire::json::{Json, Writer};
use sabir_wire::protocol::{Event, StreamDecoder};
use sabir_wire::sse::Frame;
use sabir_wire::{FaultKind, Protocol};

use super::faults::stated;
use super::read::{Frames, Line};
use super::seed::{Question, Request};
use super::suspend::{part, returned};
use crate::agent::answer::Sink;
use crate::agent::faults::{Failed, fault, garbled, gone, silent, unreadable};
use crate::agent::json::{member, text};
use crate::agent::process::Process;
use crate::agent::rest::{Bed, Lent};
use crate::agent::suspend::{
    Emitted, Left, Outcome, Pending, Returned, Suspended, in_time, paired, resumed,
};
use crate::agent::{Abilities, OWN_CHOICE};

pub(in crate::agent) async fn drive(
    Lent { process, bed, left }: Lent,
    question: Question,
    model: Option<String>,
    sink: Sink,
) -> Result<(), Failed> {
    let frames = || Frames::new(model.clone().unwrap_or_else(|| OWN_CHOICE.to_owned()));
    let mut ear = Ear::new(process, frames());
    let is_resumed = match left {
        Some(left) => {
            let is_resumed = ear.go_on(left, &question, &sink).await?;
            if !is_resumed {
                // Its place may be the only one.
                drop(ear);
                ear = Ear::new(bed.another().await?, frames());
            }
            is_resumed
        }
        None => false,
    };
    if !is_resumed {
        bed.states_version(ear.ask(&question, model.as_deref()).await?);
        ear.listen(&sink).await?;
    }
    ear.end(&question, &bed);
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
pub(in crate::agent) async fn probe(Lent { mut process, bed, .. }: Lent) -> Option<Abilities> {
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

/// A process that is listened to, until the model's answer is there.
struct Ear {
    process: Process,
    frames: Frames,
    turn: String,
    /// What the model said in its answer; none if some of that cannot be known again.
    emitted: Option<Vec<Emitted>>,
    /// The calls that the CLI asks us for.
    pending: Vec<Pending>,
}

impl Ear {
    fn new(process: Process, frames: Frames) -> Self {
        let emitted = Some(Vec::new());
        Self { process, frames, turn: String::new(), emitted, pending: Vec::new() }
    }

    /// Sets up a thread, tells it the conversation and begins its turn: the version that the process states, if it does.
    async fn ask(
        &mut self,
        question: &Question,
        model: Option<&str>,
    ) -> Result<Option<String>, Failed> {
        let process = &mut self.process;
        let version = match process.uses() {
            0 => introduce(process).await?,
            _ => None,
        };
        process.send_line(&question.start_thread(model));
        let thread = answered(process, Request::StartThread).await?;
        if question.is_injected() {
            process.send_line(&question.inject(&thread));
            answered(process, Request::Inject).await?;
        }
        process.send_line(&question.start_turn(&thread));
        self.turn = answered(process, Request::StartTurn).await?;
        Ok(version)
    }

    /// Hands the results over that the process waits for, and listens to what its model says to them. Whether it did: in every
    /// doubt, as long as nothing was said, the conversation is to be told anew.
    async fn go_on(
        &mut self,
        left: Left,
        question: &Question,
        sink: &Sink,
    ) -> Result<bool, Failed> {
        (self.turn, self.pending) = (left.turn, left.pending);
        let Some(Returned { outcomes, .. }) = question.returned() else { return Ok(false) };
        let Some(answers) = in_time(self.until_asked(&outcomes)).await else { return Ok(false) };
        answers.iter().for_each(|answer| self.process.send_line(answer));
        self.pending.clear();
        resumed(self.listen(sink).await, sink)
    }

    /// Waits until the CLI has asked for all results: our answers. A turn that ends without them was told something else.
    async fn until_asked(&mut self, outcomes: &[Outcome]) -> Result<Vec<String>, Failed> {
        loop {
            if let Some(pairs) = paired(&self.pending, outcomes) {
                return Ok(pairs.iter().map(|(call, outcome)| returned(call, outcome)).collect());
            }
            let bytes = next(&mut self.process).await?;
            let Ok(line) = Line::read(&bytes) else { continue };
            decline(&mut self.process, &line);
            self.pending.extend(line.call());
            let method = line.method();
            if method == "item/agentMessage/delta" || failure(&method, &line).is_some() {
                return Err(silent());
            }
        }
    }

    /// Hands the model's answer on as it comes.
    async fn listen(&mut self, sink: &Sink) -> Result<(), Failed> {
        let mut decoder = StreamDecoder::new(Protocol::OpenaiResponses);
        let mut put = |event: Event<'_>| sink.put(event.into_owned());
        loop {
            let bytes = next(&mut self.process).await?;
            let Ok(line) = Line::read(&bytes) else { continue };
            decline(&mut self.process, &line);
            self.pending.extend(line.call());
            let method = line.method();
            // What was injected is told of under another turn.
            let is_own = line.params.turn_id.as_ref().is_none_or(|it| *it == *self.turn);
            if is_own {
                self.note(&method, &line);
                let (data, is_last) = self.frames.of(&method, &line.params);
                for data in &data {
                    let frame = Frame { event: None, data };
                    decoder = decoder.step(&frame, &mut put).map_err(|_| garbled())?;
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

    /// Keeps what the model said, to know it again.
    fn note(&mut self, method: &str, line: &Line<'_>) {
        let item = line.params.output().filter(|_| method == "rawResponseItem/completed");
        if let Some(item) = item {
            self.emitted = self.emitted.take().and_then(|mut emitted| {
                part(item, &mut emitted)?;
                Some(emitted)
            });
        }
    }

    /// The call is over. A process whose model called tools of the client waits for their results; of any other the threads are gone
    /// with it, and with them all that was said.
    fn end(self, question: &Question, bed: &Bed) {
        let emitted = self.emitted.filter(|_| bed.suspends());
        let left = Left { pending: self.pending, turn: self.turn };
        if let Some(suspended) = Suspended::new(|| question.known(), emitted, left) {
            bed.suspend(self.process, suspended);
        }
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

/// Says no to what the server asks for, but for calls of tools: those are the client's to answer.
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
