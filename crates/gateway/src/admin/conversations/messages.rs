//! What was said in a conversation: as a request of a protocol would have it, or as a transcript.

use http::Uri;
use sabir_compose::{Policy, history};
use sabir_store::Conversation;
use sabir_wire::json::{Json, Reader};
use sabir_wire::target::Target;
use sabir_wire::{FaultKind, Loss, LossKind, Protocol};

use super::Archive;
use crate::admin::kept::metadata::invalid;
use crate::admin::kept::page::parameter;
use crate::failure::{Failure, Result};
use crate::observe::write_losses;
use crate::recall::{recollect, settings_in};
use crate::recalled::{KeptBy, Recalled};
use crate::summaries::Summaries;
use crate::surface;

/// How a conversation is to be written.
enum Form {
    /// A transcript alone.
    Plain,
    /// A transcript beside what it cannot hold.
    Transcript,
    /// As a protocol would be sent it.
    Request(Protocol),
}

impl Form {
    fn of(uri: &Uri) -> Result<Self> {
        match parameter(uri, "as").as_deref() {
            None => Ok(Self::Plain),
            Some("transcript") => Ok(Self::Transcript),
            Some(name) => Protocol::parse(name).map(Self::Request).ok_or_else(unknown_protocol),
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
            Form::Request(protocol) => self.messages_as(protocol, &conversation).await,
        }
    }

    async fn messages_as(&self, to: Protocol, conversation: &Conversation) -> Result<String> {
        let recalled = self.recalled(to, conversation).await?;
        self.pool.run_on(recalled.bytes(), move |_| written(to, &recalled)).await
    }

    /// The conversation as a call would continue it that comes in another protocol: written as a translation, which sees
    /// to the order and the neighbours that the protocol wants.
    async fn recalled(&self, to: Protocol, conversation: &Conversation) -> Result<Recalled> {
        let [first, second, ..] = Protocol::ALL;
        let client = if to == first { second } else { first };
        let (tip, last) = (conversation.tip, conversation.last_turn.as_ref());
        let recollection = recollect(self.pool, (&self.store, &self.owner), tip, last).await?;
        Ok(Recalled {
            client,
            body: format!("{{\"{}\":[]}}", surface::of(client).state.messages),
            stretches: recollection.stretches,
            turns: recollection.turns,
            settings: settings_in(&self.store, &self.owner, conversation).await?,
            kept_by: KeptBy::Nobody,
            summaries: Summaries::default(),
        })
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
