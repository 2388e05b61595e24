//! The dialogue with Claude Code: introduced, told the conversation, asked, and listened to until the model's first answer is there.
//! Left alone it would go on by itself.

use sabir_wire::protocol::{Event, StreamDecoder};
use sabir_wire::sse::Frame;
use sabir_wire::{FaultKind, Protocol};

use super::faults::Trouble;
use super::read::Line;
use super::seed::{Message, Question, Seed, Speaker, text_of};
use super::tools;
use crate::agent::answer::Sink;
use crate::agent::faults::{Failed, fault, garbled, gone, silent, unreadable};
use crate::agent::process::Process;
use crate::agent::rest::Lent;

/// The id of our first and only request.
const INTRODUCTION: &str = "1";

pub(in crate::agent) async fn drive(
    Lent { process, bed }: Lent,
    question: Question,
    sink: Sink,
) -> Result<(), Failed> {
    let trouble = Trouble::default();
    let mut dialogue = Dialogue { process, question, trouble, model: None, version: None };
    dialogue.introduce().await?;
    dialogue.replay().await?;
    dialogue.ask(&sink).await?;
    bed.states_version(dialogue.version.take());
    // What it was told it cannot forget.
    drop(dialogue);
    bed.replace();
    Ok(())
}

struct Dialogue {
    process: Process,
    question: Question,
    trouble: Trouble,
    /// Whom the session says it has to do with.
    model: Option<String>,
    /// Which version the session says it has.
    version: Option<String>,
}

/// What a line means for the dialogue.
enum Turn {
    Goes,
    /// It answers our introduction.
    Introduced,
    /// What was told or asked is done with.
    Done,
}

impl Dialogue {
    async fn introduce(&mut self) -> Result<(), Failed> {
        self.process.send_line(&self.question.initialize(INTRODUCTION));
        loop {
            if let Turn::Introduced = self.take_line(&mut |_| Ok(())).await? {
                return Ok(());
            }
        }
    }

    /// Tells what was said before. A message of the user is waited for, or the next would overtake it.
    async fn replay(&mut self) -> Result<(), Failed> {
        for index in 0..self.question.messages.len() - 1 {
            let message = &self.question.messages[index];
            let line = message.line(Seed::Past { model: self.model.as_deref() });
            let is_users = message.speaker == Speaker::User;
            self.process.send_line(&line);
            if is_users {
                self.until_done().await?;
            }
        }
        Ok(())
    }

    async fn until_done(&mut self) -> Result<(), Failed> {
        loop {
            if let Turn::Done = self.take_line(&mut |_| Ok(())).await? {
                return Ok(());
            }
        }
    }

    async fn ask(&mut self, sink: &Sink) -> Result<(), Failed> {
        if let Some(last) = self.question.messages.last() {
            self.process.send_line(&Message::line(last, Seed::Asked));
        }
        let mut stream =
            ModelStream { decoder: Some(StreamDecoder::new(Protocol::AnthropicMessages)) };
        while stream.decoder.is_some() {
            let turn = self.take_line(&mut |frame| stream.frame(frame, sink)).await?;
            sink.drained().await;
            if let Turn::Done = turn {
                return Err(silent());
            }
        }
        Ok(())
    }

    /// Reads a line, and answers it where the CLI asks for something.
    async fn take_line(
        &mut self,
        take: &mut (dyn FnMut(&Frame<'_>) -> Result<(), Failed> + Send),
    ) -> Result<Turn, Failed> {
        let Some(bytes) = self.process.line().await.map_err(|error| unreadable(&error))? else {
            return Err(gone(self.process.exit().await));
        };
        // What is no object is a warning of the runtime, say.
        let Ok(line) = Line::read(&bytes) else { return Ok(Turn::Goes) };
        if let Some(event) = line.own_event() {
            let kind = event.reader().peek_tag("type").ok().flatten();
            let kind = kind.map(|kind| kind.into_str().into_owned());
            take(&Frame { event: kind.as_deref(), data: event.as_str() })?;
        }
        self.trouble.note(&line);
        self.model = line.session_model().or(self.model.take());
        self.version = text_of(&line.version).or(self.version.take());
        if let Some((id, message)) = line.for_server().filter(|_| line.is("control_request"))
            && let Some(answer) = tools::answer(&id, &message, &self.question.tools)
        {
            self.process.send_line(&answer);
        }
        match (line.answers(INTRODUCTION), line.is("result")) {
            (Some(true), _) => Ok(Turn::Introduced),
            (Some(false), _) => {
                Err(fault(FaultKind::Internal, "the agent refused its first request"))
            }
            (None, true) if line.is_error => Err(self.trouble.of_result(&line)),
            (None, true) => Ok(Turn::Done),
            (None, false) => Ok(Turn::Goes),
        }
    }
}

/// The model's own stream, read until it ends.
struct ModelStream {
    decoder: Option<StreamDecoder>,
}

impl ModelStream {
    fn frame(&mut self, frame: &Frame<'_>, sink: &Sink) -> Result<(), Failed> {
        let Some(decoder) = self.decoder.take() else { return Ok(()) };
        let mut put = |event: Event<'_>| sink.put(event.into_owned());
        let decoder = decoder.step(frame, &mut put).map_err(|_| garbled())?;
        match frame.event {
            Some("message_stop") => decoder.end(&mut put),
            _ => self.decoder = Some(decoder),
        }
        Ok(())
    }
}
