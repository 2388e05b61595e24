//! Transcripts: plain messages with the times at which they were said, written from lines of the log. What such messages have
//! no room for is reported.

use std::collections::VecDeque;

use sabir_store::{Conversation, Message, Time, Window};
use sabir_wire::conversation::{Content, MediaKind, Part, ResultOutput};
use sabir_wire::json::{Reader, Writer};
use sabir_wire::unified::{UnifiedMessage, UnifiedRole};
use sabir_wire::{Loss, LossKind};

use super::Archive;
use crate::failure::Result;
use crate::observe::write_losses;
use crate::recall::{found, out_of_order, settings_in};
use crate::record::{read_record, time_of};
use crate::surface;

/// A message and when it was said.
struct Timed {
    message: UnifiedMessage,
    time: Option<Time>,
}

/// Lines of the log as plain messages, and what those have no room for.
#[derive(Default)]
struct Restored {
    messages: Vec<Timed>,
    losses: Vec<Loss>,
}

impl Archive<'_> {
    /// A conversation as a transcript.
    pub(super) async fn transcript(&self, conversation: &Conversation) -> Result<String> {
        let restored = self.restored(conversation).await?;
        let mut writer = Writer::with_capacity(4096);
        write(&mut writer, &restored.messages);
        Ok(writer.into_string())
    }

    /// The same with what a transcript cannot hold of it.
    pub(super) async fn transcript_with_losses(
        &self,
        conversation: &Conversation,
    ) -> Result<String> {
        let restored = self.restored(conversation).await?;
        Ok(super::object(|it| {
            it.key("transcript");
            write(it, &restored.messages);
            it.key("losses");
            write_losses(&restored.losses, it);
        }))
    }

    async fn restored(&self, conversation: &Conversation) -> Result<Restored> {
        let messages = self.instructions(conversation).await?;
        let mut restored = Restored { messages, ..Restored::default() };
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

    async fn instructions(&self, conversation: &Conversation) -> Result<Vec<Timed>> {
        let settings = settings_in(&self.store, &self.owner, conversation).await?;
        let Some((protocol, system)) = settings.and_then(|settings| settings.system) else {
            return Ok(Vec::new());
        };
        let (messages, _) = protocol.restore_settings(Some(&system), None, surface::DEFAULT)?;
        let time = Some(self.instructed_at(conversation).await?);
        let plain = messages.iter().flat_map(UnifiedMessage::of);
        Ok(plain.map(|message| Timed { message, time }).collect())
    }

    /// When the instructions were given: what came in a transcript says it itself.
    async fn instructed_at(&self, conversation: &Conversation) -> Result<Time> {
        let record = match conversation.system {
            Some(hash) => found(self.store.setting(&self.owner, hash).await)?,
            None => None,
        };
        Ok(record.as_ref().and_then(time_of).unwrap_or(conversation.created_at))
    }
}

impl Restored {
    fn add_all(&mut self, lines: &[Message]) -> Result<()> {
        for line in lines {
            let Some((protocol, text)) = read_record(&line.record) else { continue };
            let time = Some(time_of(&line.record).unwrap_or(line.created_at));
            for message in &protocol.restore_messages(text, 0, surface::DEFAULT)? {
                let pointer = format!("/{}", self.messages.len());
                let lost = message.parts.iter().flat_map(lost_of);
                self.losses.extend(lost.map(|reason| Loss {
                    pointer: pointer.clone(),
                    kind: LossKind::Dropped,
                    reason: reason.into(),
                }));
                let plain = UnifiedMessage::of(message).into_iter();
                self.messages.extend(plain.map(|message| Timed { message, time }));
            }
        }
        Ok(())
    }
}

/// What a transcript has no room for of a part: why, for each.
fn lost_of(part: &Part<'_>) -> Vec<&'static str> {
    match part.content() {
        Content::Text(_) | Content::Refusal(_) | Content::ToolCall(_) => Vec::new(),
        Content::Media(media) => vec![match media.kind {
            MediaKind::Image => "a transcript has no images",
            MediaKind::Audio => "a transcript has no audio",
            MediaKind::Video => "a transcript has no video",
            MediaKind::Document => "a transcript has no files",
        }],
        Content::ToolResult(result) => match &result.output {
            ResultOutput::Parts(parts) | ResultOutput::Object { parts, .. } => {
                parts.iter().flat_map(lost_of).collect()
            }
        },
        Content::Reasoning(_) => vec!["a transcript has no reasoning"],
        Content::Opaque(_) => vec!["a transcript has only texts, calls and their results"],
    }
}

/// Gives ids to calls that have none, and to their results, which stand in the same order.
fn pair(messages: &mut [Timed]) {
    let mut open: VecDeque<String> = VecDeque::new();
    let mut made = 0;
    for Timed { message, .. } in messages {
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

fn write(writer: &mut Writer, messages: &[Timed]) {
    writer.array(|list| {
        for Timed { message, time } in messages {
            let json = message.to_json();
            list.object(|it| {
                let copied = Reader::new(&json).object(|key, reader| {
                    it.field(&key, &reader.raw()?);
                    Ok(())
                });
                debug_assert!(copied.is_ok(), "what was written can be read");
                it.optional("timestamp", time.map(|time| time.0).as_ref());
            });
        }
    });
}
