//! Transcripts: plain messages with the times at which they were said, written from lines of the log. What such messages have
//! no room for is reported.

use std::collections::VecDeque;
use std::iter::repeat;

use sabir_store::{Conversation, Message, Record, Time, Window};
use sabir_wire::conversation;
use sabir_wire::conversation::Content;
use sabir_wire::unified::{Transcript, TranscriptMessage, UnifiedMessage, UnifiedRole};
use sabir_wire::{Loss, LossKind};

use super::Archive;
use crate::failure::Result;
use crate::memory::{Lost, ONE_TEXT, continues, join, lost_of_message, lost_of_part};
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
            restored.add(None, message, time);
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
                self.add(Some(&line.record), message, time);
            }
        }
        Ok(())
    }

    /// Adds a message of a line, or one of the instructions.
    fn add(&mut self, line: Option<&Record>, message: &conversation::Message<'_>, time: Time) {
        let plain = UnifiedMessage::lined(message);
        let rest = line.zip(plain.first()).filter(|rest| self.ends_in(*rest)).is_some();
        let first = self.messages.len() - usize::from(rest);
        self.lose(message, (first, plain.len()));
        for message in plain {
            match (line, self.messages.last_mut()) {
                (Some(line), Some((before, _))) if continues((line, &message), before) => {
                    if !before.content.is_empty() && !message.content.is_empty() {
                        let (pointer, reason) = (format!("/{first}"), ONE_TEXT.into());
                        self.losses.push(Loss { pointer, kind: LossKind::Approximated, reason });
                    }
                    join(before, message);
                }
                _ => self.messages.push((message, time)),
            }
        }
    }

    /// Whether what was added last is the beginning of the answer that a message says the rest of.
    fn ends_in(&self, rest: (&Record, &UnifiedMessage)) -> bool {
        self.messages.last().is_some_and(|(before, _)| continues(rest, before))
    }

    /// Notes what is lost of a message that becomes so many plain ones, from one on: one for each result, and one for what
    /// stands beside them.
    fn lose(&mut self, message: &conversation::Message<'_>, (first, count): (usize, usize)) {
        let mut result = 0..count;
        let places = message.parts.iter().map(|part| match part.content() {
            Content::ToolResult(_) => result.next().unwrap_or_default(),
            _ => count.saturating_sub(1),
        });
        let lost = places.zip(&message.parts);
        let mut lost: Vec<(usize, Lost)> = lost
            .flat_map(|(place, part)| lost_of_part(part).into_iter().map(move |lost| (place, lost)))
            .collect();
        let own = lost_of_message(message).into_iter();
        lost.extend(own.map(|lost| (count.saturating_sub(1), lost)));
        // In the order of the messages, whatever stood before what.
        lost.sort_by_key(|(place, _)| *place);
        self.losses.extend(lost.into_iter().map(|(place, (kind, reason))| {
            let pointer = format!("/{}", first + place);
            Loss { pointer, kind, reason }
        }));
    }
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
