//! What was said in a conversation: as a request of a protocol would have it, or as a transcript.

use http::Uri;
use sabir_compose::{Policy, history};
use sabir_store::{Conversation, Summary};
use sabir_wire::conversation::{Message, Part};
use sabir_wire::json::{Json, Reader};
use sabir_wire::protocol::NodeSemantics;
use sabir_wire::target::Target;
use sabir_wire::{FaultKind, Loss, LossKind, Protocol, Report};

use super::Archive;
use crate::admin::kept::metadata::invalid;
use crate::admin::kept::page::parameter;
use crate::failure::{Failure, Result};
use crate::memory::{inner, is_stated};
use crate::observe::write_losses;
use crate::recall::{End, out_of_order, recollect_lines, settings_in};
use crate::recalled::{Recalled, Stretch};
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
                let recalled = self.recalled(protocol, &conversation, summary.as_ref()).await?;
                let (bytes, write) = (recalled.bytes(), move |_: &_| written(protocol, &recalled));
                self.pool.run_on(bytes, write).await
            }
            Form::Whole(protocol) => {
                let recalled = self.recalled(protocol, &conversation, None).await?;
                let bytes = recalled.bytes();
                let write = move |_: &_| match as_kept(protocol, &recalled)? {
                    Some(messages) => with_losses(&messages, &[]),
                    None => written(protocol, &recalled),
                };
                self.pool.run_on(bytes, write).await
            }
        }
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
    let reports = [left_behind(to, recalled)?, repairs.into_report(), encoded.report].into_iter();
    let losses = reports.flat_map(|report| recalled.name_turns(report).into_entries());
    let losses: Vec<Loss> = losses.filter(is_of_history).collect();
    with_losses(&history::messages_of(&encoded.body, to)?, &losses)
}

/// Members with the losses behind them.
fn with_losses(messages: &str, losses: &[Loss]) -> Result<String> {
    Ok(super::object(|it| {
        let copied = Reader::new(messages).object(|key, reader| {
            let value: Json<'_> = reader.raw()?;
            it.field(&key, &value);
            Ok(())
        });
        debug_assert!(copied.is_ok(), "what was written can be read");
        it.key("losses");
        write_losses(losses, it);
    }))
}

/// A conversation as it is kept: nothing is lost where all of it is of this protocol, and its providers take it as it is.
fn as_kept(to: Protocol, recalled: &Recalled) -> Result<Option<String>> {
    let system = recalled.settings.as_ref().and_then(|settings| settings.system.as_ref());
    let is_own = recalled.stretches.iter().all(|stretch| stretch.kept.protocol() == to)
        && system.is_none_or(|(protocol, _)| *protocol == to);
    let repaired = sabir_compose::repair(recalled.decoded()?.edit(), &policy(to));
    if !is_own || !repaired.is_ok_and(|repairs| repairs.into_report().is_empty()) {
        return Ok(None);
    }
    let mut members = Members::default();
    if let Some((_, system)) = system {
        members.add(to, &format!("{{{system}}}"))?;
    }
    for stretch in &recalled.stretches {
        members.add(to, stretch.kept.as_body())?;
    }
    Ok(members.into_body(to))
}

/// Members of requests, put together.
#[derive(Default)]
struct Members {
    system: Option<String>,
    elements: Vec<String>,
    /// Whether there is one that stands neither for messages nor for what leads them.
    has_others: bool,
}

impl Members {
    fn add(&mut self, protocol: Protocol, body: &str) -> Result<()> {
        let facts = protocol.facts();
        Reader::new(body).object(|key, reader| {
            match &*key {
                key if key == facts.messages() => reader.array(|_, element| {
                    self.elements.push(element.raw()?.as_str().to_owned());
                    Ok(())
                })?,
                key if facts.system == Some(key) => {
                    self.system = Some(reader.raw()?.as_str().to_owned());
                }
                _ => {
                    self.has_others = true;
                    reader.skip()?;
                }
            }
            Ok(())
        })?;
        Ok(())
    }

    fn into_body(self, protocol: Protocol) -> Option<String> {
        let facts = protocol.facts();
        let system = self.system.zip(facts.system);
        let system = system.map(|(value, name)| format!("\"{name}\":{value},"));
        let (list, elements) = (facts.messages(), self.elements.join(","));
        let body = format!("{{{}\"{list}\":[{elements}]}}", system.unwrap_or_default());
        (!self.has_others).then_some(body)
    }
}

/// What rides on messages and stays with the requests that they came in.
fn left_behind(to: Protocol, recalled: &Recalled) -> Result<Report> {
    let mut report = Report::default();
    if let Some((protocol, system)) =
        recalled.settings.as_ref().and_then(|settings| settings.system.as_ref())
    {
        let (messages, _) = protocol.restore_settings(Some(system), None, *protocol)?;
        messages.iter().for_each(|message| leave(message, &mut report));
    }
    for Stretch { turn, kept } in &recalled.stretches {
        for message in &kept.messages(*turn, kept.protocol())? {
            leave(message, &mut report);
            if kept.protocol() == to {
                leave_ids(message, &mut report);
            }
        }
    }
    Ok(report)
}

/// Notes members that a translation does not see: markers for caches, and what no protocol declares.
fn leave(message: &Message<'_>, report: &mut Report) {
    let parts = message.parts.iter().flat_map(with_inner).map(Part::semantics);
    for semantics in [message.semantics()].into_iter().chain(parts) {
        let extras = semantics.extras().into_iter().flat_map(|extras| extras.iter());
        let extras = extras.filter(|extra| is_stated(&extra.json)).map(|extra| &*extra.key);
        for name in extras.chain(semantics.cache().map(|marker| marker.key)) {
            let pointer = format!("{}/{name}", semantics.place());
            report.lose(pointer, LossKind::Dropped, STAYS);
        }
    }
}

/// Notes the ids that the items of a history have in its own protocol.
fn leave_ids(message: &Message<'_>, report: &mut Report) {
    let parts = message.parts.iter().map(Part::semantics);
    let named = parts.filter(|semantics| has_id(semantics));
    named.for_each(|it| report.lose(format!("{}/id", it.place()), LossKind::Dropped, STAYS));
}

const STAYS: &str = "it stays with the request that it came in";

fn has_id(semantics: &NodeSemantics<'_>) -> bool {
    semantics.item().is_some_and(|item| item.id.is_some())
}

/// A part and those in it.
fn with_inner<'p, 'a>(part: &'p Part<'a>) -> impl Iterator<Item = &'p Part<'a>> {
    std::iter::once(part).chain(inner(part))
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
