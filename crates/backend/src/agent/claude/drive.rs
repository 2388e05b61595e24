//! The dialogue with Claude Code: introduced, told the conversation, asked, and listened to until the model's first answer is there.
//! Left alone it would go on by itself.

use sabir_wire::json::Json;
use sabir_wire::protocol::{Event, StreamDecoder};
use sabir_wire::sse::Frame;
use sabir_wire::{FaultKind, Protocol};

use super::faults::Trouble;
use super::read::Line;
use super::seed::{Message, Question, Seed, Speaker, text_of};
use super::suspend::parts;
use super::tools;
use crate::agent::answer::Sink;
use crate::agent::faults::{Failed, fault, garbled, gone, silent, unreadable};
use crate::agent::json::{member, text};
use crate::agent::process::Process;
use crate::agent::rest::{Bed, Lent};
use crate::agent::suspend::{
    Emitted, Left, Outcome, Pending, Returned, Suspended, in_time, paired, resumed,
};

/// The id of our first and only request.
const INTRODUCTION: &str = "1";

pub(in crate::agent) async fn drive(
    Lent { process, bed, left }: Lent,
    question: Question,
    sink: Sink,
) -> Result<(), Failed> {
    let mut dialogue = Dialogue::new(process, question);
    let is_resumed = match left {
        Some(left) => {
            let is_resumed = dialogue.go_on(left, &sink).await?;
            if !is_resumed {
                let Dialogue { process, question, .. } = dialogue;
                // Its place may be the only one.
                drop(process);
                dialogue = Dialogue::new(bed.another().await?, question);
            }
            is_resumed
        }
        None => false,
    };
    if !is_resumed {
        dialogue.introduce().await?;
        dialogue.replay().await?;
        dialogue.ask(&sink).await?;
    }
    bed.states_version(dialogue.version.take());
    dialogue.end(&bed);
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
    /// What the model said in its answer; none if some of that cannot be known again.
    emitted: Option<Vec<Emitted>>,
    /// The calls that the CLI asks us for.
    pending: Vec<Pending>,
    /// Whether the model waits for results.
    is_calling: bool,
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
    fn new(process: Process, question: Question) -> Self {
        Self {
            process,
            question,
            trouble: Trouble::default(),
            model: None,
            version: None,
            emitted: Some(Vec::new()),
            pending: Vec::new(),
            is_calling: false,
        }
    }

    /// Hands the results over that the process waits for, and listens to what its model says to them. Whether it did: in every
    /// doubt, as long as nothing was said, the conversation is to be told anew.
    async fn go_on(&mut self, left: Left, sink: &Sink) -> Result<bool, Failed> {
        self.pending = left.pending;
        let Some(Returned { outcomes, .. }) = self.question.returned() else { return Ok(false) };
        let Some(answers) = in_time(self.until_asked(&outcomes)).await else { return Ok(false) };
        answers.iter().for_each(|answer| self.process.send_line(answer));
        self.pending.clear();
        resumed(self.listen(sink).await, sink)
    }

    /// Waits until the CLI has asked for all results: our answers. A model that goes on without them was told something else.
    async fn until_asked(&mut self, outcomes: &[Outcome]) -> Result<Vec<String>, Failed> {
        loop {
            if let Some(pairs) = paired(&self.pending, outcomes) {
                return Ok(pairs
                    .iter()
                    .map(|(call, outcome)| tools::returned(call, outcome))
                    .collect());
            }
            match self.take_line(&mut |_| Err(silent())).await? {
                Turn::Goes => {}
                Turn::Introduced | Turn::Done => return Err(silent()),
            }
        }
    }

    /// The call is over. A process whose model called tools of the client waits for their results; any other knows what it cannot
    /// forget.
    fn end(self, bed: &Bed) {
        let emitted = self.emitted.filter(|_| self.is_calling && bed.suspends());
        let left = Left { pending: self.pending, ..Left::default() };
        if let Some(suspended) = Suspended::new(|| self.question.known(), emitted, left) {
            bed.suspend(self.process, suspended);
        }
    }

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
        self.listen(sink).await
    }

    /// Hands the model's answer on as it comes.
    async fn listen(&mut self, sink: &Sink) -> Result<(), Failed> {
        let decoder = Some(StreamDecoder::new(Protocol::AnthropicMessages));
        let mut stream = ModelStream { decoder, is_calling: false };
        self.emitted = Some(Vec::new());
        loop {
            let turn = self.take_line(&mut |frame| stream.frame(frame, sink)).await?;
            if stream.decoder.is_none() {
                self.is_calling = stream.is_calling;
                return Ok(());
            }
            sink.drained().await;
            if let Turn::Done = turn {
                return Err(silent());
            }
        }
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
        if let Some(content) = line.own_content() {
            self.emitted = self.emitted.take().and_then(|mut emitted| {
                parts(&content, &mut emitted)?;
                Some(emitted)
            });
        }
        if let Some((id, message)) = line.for_server().filter(|_| line.is("control_request")) {
            match tools::answer(&id, &message, &self.question.tools) {
                Some(answer) => self.process.send_line(&answer),
                None => self.pending.extend(tools::called(&id, &message)),
            }
        } else if let Some(id) = line.request_id.as_ref().filter(|_| line.is("control_request")) {
            self.process.send_line(&tools::declined(&id.to_str()));
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
    /// Whether the answer ends in calls.
    is_calling: bool,
}

impl ModelStream {
    fn frame(&mut self, frame: &Frame<'_>, sink: &Sink) -> Result<(), Failed> {
        let Some(decoder) = self.decoder.take() else { return Ok(()) };
        let mut put = |event: Event<'_>| sink.put(event.into_owned());
        let decoder = decoder.step(frame, &mut put).map_err(|_| garbled())?;
        if frame.event == Some("message_delta") {
            self.is_calling = is_calling(frame.data);
        }
        match frame.event {
            Some("message_stop") => decoder.end(&mut put),
            _ => self.decoder = Some(decoder),
        }
        Ok(())
    }
}

/// Whether an event says that the model waits for results.
fn is_calling(event: &str) -> bool {
    let Ok(event) = Json::parse(event) else { return false };
    let delta = member(&event, "delta");
    delta.and_then(|delta| text(&delta, "stop_reason")).as_deref() == Some("tool_use")
}
