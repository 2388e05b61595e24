//! What was said in a conversation: as a request of a protocol would have it, or as a transcript.

use http::Uri;
use sabir_compose::{Policy, history};
use sabir_store::{Conversation, Summary};
use sabir_wire::json::{Json, Reader};
use sabir_wire::target::Target;
use sabir_wire::{FaultKind, Loss, LossKind, Protocol};

use super::Archive;
use crate::admin::kept::metadata::invalid;
use crate::admin::kept::page::parameter;
use crate::failure::{Failure, Result};
use crate::observe::write_losses;
use crate::recall::{End, out_of_order, recollect_lines, settings_in};
use crate::recalled::Recalled;
use crate::surface;

/// How a conversation is to be written.
enum Form {
    /// A transcript alone.
    Plain,
    /// A transcript beside what it cannot hold.
    Transcript,
    /// As a protocol would be sent it next: from a summary on, where there is one.
    Request(Protocol),
    /// All that was said, in the words of a protocol.
    Whole(Protocol),
}

impl Form {
    fn of(uri: &Uri) -> Result<Self> {
        match parameter(uri, "as").as_deref() {
            None => Ok(Self::Plain),
            Some("transcript") => Ok(Self::Transcript),
            Some(name) => {
                let protocol = Protocol::parse(name).ok_or_else(unknown_protocol)?;
                let is_whole = parameter(uri, "whole").is_some_and(|value| value == "true");
                Ok(if is_whole { Self::Whole(protocol) } else { Self::Request(protocol) })
            }
        }
    }
}

impl Archive<'_> {
    pub(super) async fn messages(&self, id: &str, uri: &Uri) -> Result<String> {
        let form = Form::of(uri)?;
        let conversation = self.find(id).await?;
        match form {
            Form::Plain => self.transcript(&conversation).await,
            Form::Transcript => self.transcript_with_losses(&conversation).await,
            Form::Request(protocol) => {
                let summary = self.store.summary(&self.owner, &conversation.id).await;
                let summary = summary.map_err(|error| out_of_order(&error))?;
                self.messages_as(protocol, &conversation, summary.as_ref()).await
            }
            Form::Whole(protocol) => self.messages_as(protocol, &conversation, None).await,
        }
    }

    async fn messages_as(
        &self,
        to: Protocol,
        conversation: &Conversation,
        summary: Option<&Summary>,
    ) -> Result<String> {
        let recalled = self.recalled(to, conversation, summary).await?;
        self.pool.run_on(recalled.bytes(), move |_| written(to, &recalled)).await
    }

    /// The conversation as a call would continue it that comes in another protocol: written as a translation, which sees
    /// to the order and the neighbours that the protocol wants.
    async fn recalled(
        &self,
        to: Protocol,
        conversation: &Conversation,
        summary: Option<&Summary>,
    ) -> Result<Recalled> {
        let [first, second, ..] = Protocol::ALL;
        let client = if to == first { second } else { first };
        let end = End { tip: conversation.tip, last: conversation.last_turn.as_ref(), summary };
        let lines = recollect_lines(self.pool, (&self.store, &self.owner), end).await?;
        let body = format!("{{\"{}\":[]}}", surface::of(client).state.messages);
        let settings = settings_in(&self.store, &self.owner, conversation).await?;
        let call = Recalled { settings, ..Recalled::of(client, body) };
        self.pool.run_on(lines.bytes(), move |_| Ok(lines.before(call))).await
    }
}

fn written(to: Protocol, recalled: &Recalled) -> Result<String> {
    let mut decoded = recalled.decoded()?;
    let repairs = sabir_compose::repair(decoded.edit(), &policy(to)).map_err(|reason| {
        Failure::client(FaultKind::BadRequest, reason.to_string()).with_param("as")
    })?;
    let encoded = decoded.encode(to, &Target::default())?;
    let reports = [repairs.into_report(), encoded.report].into_iter();
    let losses = reports.flat_map(|report| recalled.name_turns(report).into_entries());
    let losses: Vec<Loss> = losses.filter(is_of_history).collect();
    let messages = history::messages_of(&encoded.body, to)?;
    Ok(super::object(|it| {
        let copied = Reader::new(&messages).object(|key, reader| {
            let value: Json<'_> = reader.raw()?;
            it.field(&key, &value);
            Ok(())
        });
        debug_assert!(copied.is_ok(), "what was written can be read");
        it.key("losses");
        write_losses(&losses, it);
    }))
}

/// Whether an entry is about what was said, and not of what a request needs beside it.
fn is_of_history(loss: &Loss) -> bool {
    loss.kind != LossKind::Synthesised || loss.pointer.starts_with("/turns/")
}

/// Blank messages of users and an assistant who speaks first stay where the protocol's providers take them.
fn policy(to: Protocol) -> Policy {
    match to.facts().needs_user_turn {
        true => Policy::towards(to),
        false => Policy { target: Some(to), ..Policy::default() },
    }
}

pub(super) fn unknown_protocol() -> Box<Failure> {
    let names = Protocol::ALL.map(Protocol::as_str).join(", ");
    invalid("as", format!("Invalid 'as': expected one of {names}."), "invalid_value")
}
