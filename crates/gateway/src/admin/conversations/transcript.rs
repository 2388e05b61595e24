//! Transcripts: plain messages with the times at which they were said, written from lines of the log. What such messages have
//! no room for is reported.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::iter::repeat;

use sabir_store::{Conversation, Message, Time, Window};
use sabir_wire::conversation;
use sabir_wire::conversation::{CallForm, Content, Part, Role};
use sabir_wire::protocol::NodeSemantics;
use sabir_wire::unified::{Transcript, TranscriptMessage, UnifiedMessage, UnifiedRole};
use sabir_wire::{Loss, LossKind};

use super::Archive;
use super::messages::is_stated;
use crate::failure::Result;
use crate::memory::{ONE_TEXT, has_several_texts, inner, lost_of};
use crate::observe::write_losses;
use crate::recall::{found, out_of_order, settings_in};
use crate::record::{read_record, time_of, times_of};

/// Lines of the log as plain messages, and what those have no room for.
#[derive(Default)]
struct Restored {
    /// Each with the time at which it was said.
    messages: Vec<(UnifiedMessage, Time)>,
    losses: Vec<Loss>,
}

impl Archive<'_> {
    /// A conversation as a transcript.
    pub(super) async fn transcript(&self, conversation: &Conversation) -> Result<String> {
        Ok(self.restored(conversation).await?.transcript().to_compact_json())
    }

    /// The same with what a transcript cannot hold of it.
    pub(super) async fn transcript_with_losses(
        &self,
        conversation: &Conversation,
    ) -> Result<String> {
        let restored = self.restored(conversation).await?;
        Ok(super::object(|it| {
            it.field("transcript", &restored.transcript());
            it.key("losses");
            write_losses(&restored.losses, it);
        }))
    }

    async fn restored(&self, conversation: &Conversation) -> Result<Restored> {
        let mut restored = self.instructions(conversation).await?;
        if let Some(tip) = conversation.tip {
            let history = self.store.history(&self.owner, tip, Window::default()).await;
            let history = history.map_err(|error| out_of_order(&error))?;
            let bytes = history.messages.iter().map(|line| line.record.as_bytes().len()).sum();
            let lines = history.messages;
            let add_all = move |_: &_| restored.add_all(&lines).map(|()| restored);
            restored = self.pool.run_on(bytes, add_all).await?;
        }
        pair(&mut restored.messages);
        Ok(restored)
    }

    async fn instructions(&self, conversation: &Conversation) -> Result<Restored> {
        let mut restored = Restored::default();
        let settings = settings_in(&self.store, &self.owner, conversation).await?;
        let Some((protocol, system)) = settings.and_then(|settings| settings.system) else {
            return Ok(restored);
        };
        let (messages, _) = protocol.restore_settings(Some(&system), None, protocol)?;
        let times = self.instructed_at(conversation).await?.into_iter().chain(repeat(None));
        let times = times.map(|time| time.unwrap_or(conversation.created_at));
        for (message, time) in messages.iter().zip(times) {
            restored.add(message, time);
        }
        Ok(restored)
    }

    /// When each of the instructions was given: what came in a transcript says it itself.
    async fn instructed_at(&self, conversation: &Conversation) -> Result<Vec<Option<Time>>> {
        let record = match conversation.system {
            Some(hash) => found(self.store.setting(&self.owner, hash).await)?,
            None => None,
        };
        Ok(record.as_ref().map(times_of).unwrap_or_default())
    }
}

impl Restored {
    fn transcript(&self) -> Transcript {
        let messages = self.messages.iter().cloned();
        messages.map(|(message, time)| TranscriptMessage::new(message, time.0)).collect()
    }

    fn add_all(&mut self, lines: &[Message]) -> Result<()> {
        for line in lines {
            let Some((protocol, text)) = read_record(&line.record) else { continue };
            let time = time_of(&line.record).unwrap_or(line.created_at);
            // In their own protocol, so that all is there that may be lost.
            for message in &protocol.restore_messages(text, 0, protocol)? {
                self.add(message, time);
            }
        }
        Ok(())
    }

    fn add(&mut self, message: &conversation::Message<'_>, time: Time) {
        let plain = UnifiedMessage::lined(message);
        self.lose(message, plain.len());
        self.messages.extend(plain.into_iter().map(|message| (message, time)));
    }

    /// Notes what is lost of a message that becomes so many plain ones: one for each result, and one for what stands beside them.
    fn lose(&mut self, message: &conversation::Message<'_>, count: usize) {
        let mut result = 0..count;
        let places = message.parts.iter().map(|part| match part.content() {
            Content::ToolResult(_) => result.next().unwrap_or_default(),
            _ => count.saturating_sub(1),
        });
        let lost = places.zip(&message.parts);
        let mut lost: Vec<(usize, Lost)> = lost
            .flat_map(|(place, part)| of_part(part).into_iter().map(move |lost| (place, lost)))
            .collect();
        let own = of_message(message).into_iter();
        lost.extend(own.map(|lost| (count.saturating_sub(1), lost)));
        // In the order of the messages, whatever stood before what.
        lost.sort_by_key(|(place, _)| *place);
        let first = self.messages.len();
        self.losses.extend(lost.into_iter().map(|(place, (kind, reason))| {
            let pointer = format!("/{}", first + place);
            Loss { pointer, kind, reason }
        }));
    }
}

/// What is lost, and why.
type Lost = (LossKind, Cow<'static, str>);

/// What a transcript has no room for of a message, beside its parts.
fn of_message(message: &conversation::Message<'_>) -> Vec<Lost> {
    let mut lost = riding(message.semantics());
    if message.role == Role::Developer {
        lost.push((LossKind::Approximated, NO_DEVELOPERS.into()));
    }
    if message.name.is_some() {
        lost.push((LossKind::Dropped, "a transcript has no names of speakers".into()));
    }
    if has_several_texts(&message.parts) {
        lost.push((LossKind::Approximated, ONE_TEXT.into()));
    }
    lost
}

const NO_DEVELOPERS: &str = "a transcript has no developers: what they say is the system's";

fn of_part(part: &Part<'_>) -> Vec<Lost> {
    let mut lost: Vec<Lost> =
        lost_of(part).into_iter().map(|reason| (LossKind::Dropped, reason.into())).collect();
    // What is lost as a whole is lost with all that rides on it.
    if matches!(part.content(), Content::Reasoning(_) | Content::Opaque(_) | Content::Media(_)) {
        return lost;
    }
    lost.extend(riding(part.semantics()));
    lost.extend(inner(part).iter().flat_map(|part| riding(part.semantics())));
    match part.content() {
        Content::ToolCall(call) if !matches!(call.form, CallForm::Function) => {
            lost.push((
                LossKind::Approximated,
                "a transcript has no calls but of functions".into(),
            ));
        }
        Content::ToolResult(result) => {
            if result.is_error == Some(true) {
                lost.push((
                    LossKind::Dropped,
                    "a transcript has no marks of failed results".into(),
                ));
            }
            if has_several_texts(inner(part)) {
                lost.push((LossKind::Approximated, ONE_TEXT.into()));
            }
        }
        _ => {}
    }
    lost
}

/// What rides on a message or a part beyond its content. Ids of items say nothing to whoever reads.
fn riding(semantics: &NodeSemantics<'_>) -> Vec<Lost> {
    let extras = semantics.extras().into_iter().flat_map(|extras| extras.iter());
    let named = extras.filter(|extra| is_stated(&extra.json)).map(|extra| &*extra.key);
    let named = named.chain(semantics.cache().map(|marker| marker.key));
    let mut lost: Vec<Lost> = named
        .map(|name| (LossKind::Dropped, format!("a transcript has no `{name}`").into()))
        .collect();
    if !semantics.citations().is_empty() {
        lost.push((LossKind::Dropped, "a transcript has no citations".into()));
    }
    lost
}

/// Gives ids to calls that have none, and to their results, which stand in the same order.
fn pair(messages: &mut [(UnifiedMessage, Time)]) {
    let mut open: VecDeque<String> = VecDeque::new();
    let mut made = 0;
    for (message, _) in messages {
        for call in message.tool_calls.iter_mut().filter(|call| call.id.is_empty()) {
            made += 1;
            call.id = format!("call_{made}");
            open.push_back(call.id.clone());
        }
        if message.role == UnifiedRole::Tool && message.tool_call_id.is_none() {
            message.tool_call_id = open.pop_front();
        }
    }
}
