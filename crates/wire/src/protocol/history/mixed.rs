//! Messages and tools of other protocols in a request that is written in its own: they are translated first, so that all of
//! the request is written in one protocol.

use std::ops::Range;

use super::adopt::adopt;
use crate::conversation::{Content, Message, Part, Request, Role, Tool};
use crate::error::Result;
use crate::loss::Report;
use crate::protocol::calls::remove_part;
use crate::protocol::semantics::NodeSemantics;
use crate::protocol::{DecodedRequest, Encoded, Protocol};
use crate::target::Target;

/// What the user says behind a history while it is translated: no target takes one that ends with the assistant.
const NEXT: &str = "[next]";

impl DecodedRequest<'_> {
    /// Whether anything in the request was written in another protocol.
    pub(in super::super) fn is_mixed(&self) -> bool {
        self.origins().next().is_some()
    }

    /// Writes the request in its own protocol.
    pub(in super::super) fn encode_mixed(&self, target: &Target) -> Result<Encoded> {
        let (home, codec) = (self.protocol(), self.protocol().codec());
        let range = self.adopted_messages();
        let foreign = self.foreign(range.clone());
        let mut losses = Report::default();
        let translation = (codec.encode_request)(&foreign, target, &mut losses)?;
        let translated = home.decode_request_text(&translation)?.into_request();
        let mut whole = self.clone();
        let request = whole.edit();
        let mut messages = without_next(translated.messages);
        messages.iter_mut().for_each(|message| message.semantics.move_all(&|it| it.kept(home)));
        request.messages.splice(range, messages);
        request.tools.retain(|tool| origin(home, &tool.semantics).is_none());
        // Some targets want a tool for every call, and are given one where there is none at all.
        if request.tools.is_empty() || !foreign.request.tools.is_empty() {
            request.tools.splice(0..0, translated.tools);
        }
        let mut report = of_history(losses, home);
        let body = (codec.encode_request)(&whole, target, &mut report)?;
        Ok(Encoded { body, report })
    }

    fn origins(&self) -> impl Iterator<Item = Protocol> {
        let Request { messages, tools, .. } = self.request();
        let messages = messages.iter().map(|message| &message.semantics);
        let nodes = messages.chain(tools.iter().map(|tool| &tool.semantics));
        nodes.filter_map(|semantics| origin(self.protocol(), semantics))
    }

    /// The messages from the first that was written in another protocol to the last.
    fn adopted_messages(&self) -> Range<usize> {
        let is_foreign =
            |message: &Message<'_>| origin(self.protocol(), &message.semantics).is_some();
        let messages = &self.request().messages;
        let first = messages.iter().position(is_foreign).unwrap_or(0);
        first..messages.iter().rposition(is_foreign).map_or(first, |last| last + 1)
    }

    /// What is to be translated, as a request of the protocol that the first of it was written in.
    fn foreign(&self, range: Range<usize>) -> DecodedRequest<'_> {
        let Request { model, messages, tools, .. } = self.request();
        let mut messages: Vec<Message<'_>> = messages[range].to_vec();
        messages.iter_mut().for_each(adopt);
        messages.push(Message::new(Role::User, Part::text(NEXT)));
        let is_foreign = |tool: &&Tool<'_>| origin(self.protocol(), &tool.semantics).is_some();
        let tools = tools.iter().filter(is_foreign).cloned().collect();
        let request = Request { model: model.clone(), messages, tools, ..Request::default() };
        let source = self.origins().next().unwrap_or(self.protocol());
        DecodedRequest::of_decoded(source, request)
    }
}

/// The protocol in which a node was written, if that is not the request's own.
pub(super) fn origin(home: Protocol, semantics: &NodeSemantics<'_>) -> Option<Protocol> {
    semantics.place().protocol().filter(|protocol| *protocol != home)
}

/// The losses of earlier turns. Beside that the translation stated only what every request of its target must state.
fn of_history(losses: Report, home: Protocol) -> Report {
    let mut report = Report::default();
    let is_setting = |pointer: &str| {
        let path = pointer.get(1..).unwrap_or_default();
        !path.contains('/') && !home.conventions().tool_members.contains(&path)
    };
    for loss in losses.into_entries().into_iter().filter(|loss| !is_setting(&loss.pointer)) {
        report.lose(loss.pointer, loss.kind, loss.reason);
    }
    report
}

/// The messages without what was put behind them, which may stand in one with the user's last words.
fn without_next<'a>(mut messages: Vec<Message<'a>>) -> Vec<Message<'a>> {
    let is_next = |part: &Part<'_>| matches!(part.content(), Content::Text(text) if *text == NEXT);
    let holds_next = |message: &Message<'_>| message.parts.iter().any(is_next);
    if let Some(at) = messages.iter().rposition(holds_next)
        && let Some(part) = messages[at].parts.iter().rposition(is_next)
    {
        remove_part(&mut messages, (at, part));
    }
    messages
}
