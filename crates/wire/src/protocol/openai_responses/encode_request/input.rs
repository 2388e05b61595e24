//! Writing messages as items.

use std::borrow::Cow;
use std::collections::HashSet;

use smallvec::SmallVec;

use crate::conversation::{
    CallForm, Content, Message, Part, ResultOutput, Role, ToolCall, ToolResult,
};
use crate::json::{Json, Text, Writer};
use crate::loss::LossKind;
use crate::place::Place;
use crate::protocol::calls::{Calls, Position, REDIRECTED};
use crate::protocol::fresh_ids::FreshIds;
use crate::protocol::openai_responses::encode_request::item::{
    Call, Header, is_content, item_len, write_call, write_message, write_reasoning,
};
use crate::protocol::openai_responses::encode_request::part::{Side, is_writable, write_part};
use crate::protocol::openai_responses::encode_response::output::withhold;
use crate::protocol::openai_responses::types::SELF;
use crate::protocol::placeholder::{in_place, placeholders};
use crate::protocol::reporter::Reporter;
use crate::protocol::words::{in_words, remnant};
use crate::protocol::{Field, arguments};
use crate::target::SystemRole;

const ALIAS: &str = "the target takes it only under another name";

/// Most messages have few parts, which need no memory of their own to be sorted in.
type Few<T> = SmallVec<[T; 4]>;

/// Writes the messages of one request, which must be given in their order.
pub(super) struct Items<'i, 'r> {
    pub(super) writer: &'i mut Writer,
    pub(super) reporter: &'i mut Reporter<'r>,
    pub(super) calls: &'i Calls<'i>,
    pub(super) fresh_ids: &'i FreshIds,
    /// What the model calls those who instruct it, where the source has no word of its own.
    pub(super) system_role: SystemRole,
    /// The ids, as they are written, of the calls of custom tools, whose results have a type of their own.
    pub(super) custom_calls: HashSet<String>,
}

impl<'i, 'r> Items<'i, 'r> {
    /// Writes the items of one message; `index` is its number in the request.
    pub(super) fn message(&mut self, index: usize, message: &Message<'_>) {
        self.reporter.turn_to(message.semantics().place());
        message.parts.iter().for_each(|part| withhold(self.reporter, part));
        let before = self.writer.len();
        self.items(index, message);
        if self.writer.len() == before && !message.parts.is_empty() {
            let reason = "no part of the message can be sent to the target";
            self.reporter.dropped(message, reason);
        }
    }

    fn items(&mut self, index: usize, message: &Message<'_>) {
        let has_blocks = self.reporter.source().conventions().has_system_blocks;
        match message.role {
            Role::Assistant => self.assistant(index, &message.parts),
            // Each block of a system prompt is a prompt of its own.
            Role::System if has_blocks => {
                let role = self.system_role.as_str();
                let blocks = message.parts.chunks(1);
                blocks.for_each(|block| self.content(block, role, None));
            }
            Role::System => self.turn(index, message, "system"),
            Role::Developer => self.turn(index, message, "developer"),
            // Media that a protocol puts beside the results are the user's.
            Role::Tool | Role::User => self.turn(index, message, "user"),
        }
    }

    fn assistant(&mut self, message: usize, parts: &[Part<'_>]) {
        let mut at = 0;
        while at < parts.len() {
            let item = &parts[at..at + item_len(&parts[at..])];
            match is_content(&item[0]) {
                true => self.words((message, at), item, parts),
                false => self.item((message, at), item),
            }
            at += item.len();
        }
    }

    /// Writes parts that are an item of their own rather than the content of a message.
    fn item(&mut self, at: Position, parts: &[Part<'_>]) {
        match parts[0].content() {
            Content::ToolCall(call) => self.call(at, &parts[0], call),
            Content::ToolResult(result) => self.result(at, &parts[0], result),
            Content::Reasoning(_) => self.reasoning(parts),
            Content::Opaque(opaque) if opaque.protocol == SELF => self.writer.value(&opaque.json),
            Content::Opaque(_) | Content::Text(_) | Content::Media(_) | Content::Refusal(_) => {}
        }
    }

    /// Writes the turns of the assistant. Clients' types take parts of the assistant only in the form in which answers have
    /// them, with an id, so that a string says whatever it can.
    /// Fixture `request/roles/assistant-history-towards-responses-is-strings`.
    fn words(&mut self, (message, at): Position, item: &[Part<'_>], beside: &[Part<'_>]) {
        let is_writable = |part: &&Part<'_>| is_writable(self.reporter, part, Side::Output);
        let mut written: Few<&Part<'_>> = item.iter().filter(is_writable).collect();
        written.retain(|part| !self.is_unwritten(part, beside));
        written.iter().for_each(|part| self.uncached(part));
        if written.is_empty() {
            return;
        }
        if let [part] = &*written
            && self.is_plain(part)
            && let Content::Text(text) = part.content()
        {
            return self.writer.object(|writer| {
                writer.word("type", "message");
                writer.word("role", "assistant");
                writer.field("content", text);
            });
        }
        let mut header = Header::of(item[0].semantics());
        if header.id.is_none() {
            header.id = Some(Text::plain(format!("msg_{message}_{at}")));
            header.status.get_or_insert(Text::literal("completed"));
        }
        write_message(self.writer, self.reporter, &header, "assistant", written.iter().copied());
    }

    /// Whether a string says all that a part does here.
    fn is_plain(&self, part: &Part<'_>) -> bool {
        let semantics = part.semantics();
        match self.reporter.is_same() {
            true => !semantics.has_detail(),
            false => semantics.citations().is_empty(),
        }
    }

    /// Writes a message of the user or of those who instruct: results are items, the rest is content.
    fn turn(&mut self, index: usize, message: &Message<'_>, role: &'static str) {
        self.results_behind(message);
        let mut from = 0;
        let mut header = Some(message);
        for (at, part) in message.parts.iter().enumerate() {
            // What only another vendor understands is left out of the content, and must not cut it in two.
            let is_foreign = matches!(part.content(), Content::Opaque(it) if it.protocol != SELF);
            if is_content(part) || is_foreign {
                continue;
            }
            if from < at {
                self.content(&message.parts[from..at], role, header.take());
            }
            from = at + 1;
            self.item((index, at), std::slice::from_ref(part));
        }
        let is_empty_item = message.parts.is_empty() && self.reporter.is_same();
        if from < message.parts.len() || is_empty_item {
            self.content(&message.parts[from..], role, header);
        }
    }

    /// Reports a message whose results stand behind other parts: here they are turns apart, in whatever order, and
    /// where they share one the results come first.
    fn results_behind(&mut self, message: &Message<'_>) {
        let written = message.parts.iter().skip_while(|part| !is_content(part));
        let mut behind = written.skip_while(|part| is_content(part));
        if behind.any(|part| matches!(part.content(), Content::ToolResult(_))) {
            let reason = "results and the text beside them are separate items";
            self.reporter.renamed(message, reason);
        }
    }

    /// Writes a message item of those parts that can stand in it. Its header is that of `message`, else of its first
    /// part.
    fn content(&mut self, parts: &[Part<'_>], role: &'static str, message: Option<&Message<'_>>) {
        let side = if role == "assistant" { Side::Output } else { Side::Input };
        let mut writable: Few<&Part<'_>> =
            parts.iter().filter(|part| is_writable(self.reporter, part, side)).collect();
        let foreign = message.filter(|_| !self.reporter.is_same());
        let placeholders = foreign.map(|it| placeholders(it, &writable)).unwrap_or_default();
        writable.retain(|part| !self.is_unwritten(part, parts));
        let with_placeholders = message
            .filter(|_| !placeholders.is_empty())
            .map(|message| in_place(message, &writable, &placeholders));
        let written = with_placeholders.as_deref().unwrap_or(&writable);
        if written.is_empty() && !parts.is_empty() {
            return;
        }
        let semantics = message.map(Message::semantics);
        let semantics = semantics.or(parts.first().map(Part::semantics));
        let header = semantics.map(Header::of).unwrap_or_default();
        write_message(self.writer, self.reporter, &header, role, written.iter().copied());
    }

    /// Whether a part is another protocol's empty text beside others; of nothing but such texts the first is left.
    fn is_unwritten(&mut self, part: &Part<'_>, beside: &[Part<'_>]) -> bool {
        let is_empty =
            |part: &Part<'_>| matches!(part.content(), Content::Text(text) if text.is_empty());
        if self.reporter.is_same() || !is_empty(part) {
            return false;
        }
        let is_first = beside.first().is_some_and(|first| std::ptr::eq(first, part));
        let is_left = is_first && beside.iter().all(is_empty);
        if !is_left {
            self.reporter.empty_text(part.semantics());
        }
        !is_left
    }

    fn call(&mut self, at: Position, part: &Part<'_>, call: &ToolCall<'_>) {
        let header = Header::of(part.semantics());
        let id = self.other_id(at).unwrap_or_else(|| self.calls.call_id(at, call));
        let name = self.calls.name(&call.name);
        if call.form == CallForm::Custom {
            self.custom_calls.insert(id.to_str().into_owned());
        }
        let place = part.semantics().place();
        self.uncached(part);
        self.made_up_id(at, (place, Field::CallId), call.id.as_ref());
        if name != call.name {
            self.reporter.renamed((place, Field::CallName), ALIAS);
        }
        let (arguments, form) = (&call.arguments, call.form);
        let written = Call { id, name, namespace: None, arguments, form };
        write_call(self.writer, &header, &written);
    }

    /// The id of a call or a result that shares its own with another.
    fn other_id(&self, at: Position) -> Option<Text<'i>> {
        self.fresh_ids.get(&at).map(|id| Text::plain(id.as_str()))
    }

    /// Reports an id that the client did not give.
    fn made_up_id(&mut self, at: Position, (place, field): (Place, Field), own: Option<&Text<'_>>) {
        let (kind, reason) = match own {
            None => (LossKind::Synthesised, "the target pairs calls and results by id"),
            Some(_) if self.fresh_ids.contains_key(&at) => {
                (LossKind::Renamed, "two calls have one id")
            }
            Some(_) if self.calls.is_redirected(at) => (LossKind::Repaired, REDIRECTED),
            Some(_) => return,
        };
        self.reporter.lose((place, field), kind, reason);
    }

    fn reasoning(&mut self, parts: &[Part<'_>]) {
        let semantics = parts[0].semantics();
        let artefact = semantics.artefact();
        let own = artefact.filter(|artefact| artefact.issuer() == SELF);
        if !self.reporter.is_same() && own.is_none() {
            let (kind, reason) = match artefact {
                Some(_) => (LossKind::Withheld, "only its own vendor takes it back"),
                None => (LossKind::Dropped, "Responses takes back only its own reasoning"),
            };
            return self.reporter.lose(semantics, kind, reason);
        }
        let header = Header::of(semantics);
        // On the same protocol a foreign artefact goes on as it came, in its carrier.
        let data = artefact.map(|artefact| artefact.carried_in(SELF));
        write_reasoning(self.writer, self.reporter, &header, (parts, data.as_ref()));
    }

    fn result(&mut self, at: Position, part: &Part<'_>, result: &ToolResult<'_>) {
        let ToolResult { call_id, name, output, is_error, form } = result;
        let header = Header::of(part.semantics());
        let same = self.reporter.is_same();
        let place = part.semantics().place();
        let id = self.other_id(at).unwrap_or_else(|| self.calls.result_id(at, result));
        let is_custom = self.custom_calls.contains(&*id.to_str());
        let form = if is_custom { CallForm::Custom } else { *form };
        self.made_up_id(at, (place, Field::ResultCallId), call_id.as_ref());
        if name.is_some() && !same && !self.calls.is_answer(at, result) {
            let reason = "only the call names the tool, and there is no such call";
            self.reporter.dropped((place, Field::ResultName), reason);
        }
        if *is_error == Some(true) {
            let reason = "Responses has no error flag; the text is kept";
            self.reporter.approximated((place, Field::ResultIsError), reason);
        }
        self.uncached(part);
        let kind = match form {
            CallForm::Function => "function_call_output",
            CallForm::Custom => "custom_tool_call_output",
        };
        let mut object = header.open(self.writer, kind);
        object.field("call_id", &id);
        let name = name.as_ref().filter(|_| same).map(|name| header.tool_name(name));
        object.optional("name", name.as_ref());
        write_output(object.key("output"), self.reporter, output, place);
        object.close();
    }

    /// Reports a cache marker on an item that has no place for one.
    fn uncached(&mut self, part: &Part<'_>) {
        let reason = "only user messages and tool results can be marked";
        self.reporter.unmarked(part.semantics(), reason);
    }
}

/// Writes what a tool answered: a string if it is one text, else parts.
fn write_output(
    writer: &mut Writer,
    reporter: &mut Reporter<'_>,
    output: &ResultOutput<'_>,
    place: Place,
) {
    // Most results are one text.
    let mut parts: SmallVec<[Cow<'_, Part<'_>>; 1]> = SmallVec::new();
    if let ResultOutput::Object { response, parts: _ } = output {
        parts.push(Cow::Owned(Part::text(object_text(reporter, response, place))));
    }
    parts.extend(output.parts().iter().filter_map(|part| sendable(reporter, part)));
    match &*parts {
        [] => writer.value(""),
        [part] if let Some(text) = plain_text(reporter, part) => writer.value(text),
        parts => writer.array(|writer| {
            parts.iter().for_each(|part| write_part(writer, reporter, part, Side::Input));
        }),
    }
}

/// A part of a result as it can be sent: blocks of another vendor by their words, and what is left of media that the
/// vendor does not take.
fn sendable<'p>(reporter: &mut Reporter<'_>, part: &'p Part<'p>) -> Option<Cow<'p, Part<'p>>> {
    if is_writable(reporter, part, Side::Input) {
        return Some(Cow::Borrowed(part));
    }
    in_words(part).or_else(|| remnant(part)).map(Cow::Owned)
}

/// A text that a string says as well as a part does.
fn plain_text<'p>(reporter: &Reporter<'_>, part: &'p Part<'_>) -> Option<&'p Text<'p>> {
    let semantics = part.semantics();
    let is_marked = semantics.cache().is_some() || reporter.is_same() && semantics.has_detail();
    match part.content() {
        Content::Text(text) if !is_marked => Some(text),
        _ => None,
    }
}

/// The text that an object says: that of its only member if it is one of the usual, else the object as JSON.
fn object_text<'t>(reporter: &mut Reporter<'_>, response: &'t Json<'_>, place: Place) -> Text<'t> {
    match arguments::sole_text(response) {
        Some((is_usual, text)) => {
            if !is_usual {
                let reason = "Responses takes the result as its text";
                reporter.renamed((place, Field::ResultOutput), reason);
            }
            text
        }
        None => response.to_text(),
    }
}
