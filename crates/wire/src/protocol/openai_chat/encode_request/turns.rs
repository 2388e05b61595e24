//! Writing the turns of another protocol: results in messages of their own, right behind their calls.

use std::borrow::Cow;

use smallvec::SmallVec;

use crate::conversation::{Content, Message, Part, ResultOutput, Role};
use crate::json::Writer;
use crate::place::{Place, Step};
use crate::protocol::Field;
use crate::protocol::calls::{Calls, Position};
use crate::protocol::object::Object;
use crate::protocol::openai_chat::encode_request::assistant::report_answer_semantics;
use crate::protocol::openai_chat::encode_request::{content, message};
use crate::protocol::openai_chat::types::SELF;
use crate::protocol::placeholder::{in_place, placeholders};
use crate::protocol::reporter::Reporter;
use crate::protocol::semantics::NodeSemantics;
use crate::target::{Dialect, Family, SystemRole, Target};

/// The turns of a request, written for one target.
pub(super) struct Turns<'t, 'r, 'm> {
    pub(super) writer: &'t mut Writer,
    pub(super) calls: &'t Calls<'t>,
    pub(super) target: &'t Target,
    pub(super) reporter: &'t mut Reporter<'r>,
    /// Media of results wait here until all results that belong together are written.
    pub(super) waiting: Vec<&'m Part<'m>>,
}

/// Most turns have few parts, which need no memory of their own to be sorted in.
pub(in super::super) type Few<T> = SmallVec<[T; 4]>;

/// A part and where it stands.
pub(super) type Placed<'m> = (Position, &'m Part<'m>);

impl<'m> Turns<'_, '_, 'm> {
    pub(super) fn write(mut self, messages: &'m [Message<'m>]) {
        let mut index = 0;
        // The messages before this one are known to be written one by one.
        let mut apart = 0;
        while let Some(turn) = messages.get(index) {
            self.reporter.turn_to(turn.semantics().place());
            let is_assistant = turn.role == Role::Assistant;
            // Messages of this protocol stay as they are.
            let end = match is_assistant && index >= apart && !self.reporter.is_same() {
                true => end_of_run(messages, index, &mut apart),
                false => index + 1,
            };
            match is_assistant {
                true => self.write_run(turn, &placed(&messages[index..end], index)),
                false => self.write_turn(index, turn),
            }
            index = end;
        }
        self.write_waiting();
        self.reporter.turn_home();
        self.report_prefill(messages);
    }

    /// Writes messages of the assistant as one.
    fn write_run(&mut self, first: &Message<'_>, parts: &[Placed<'_>]) {
        let is_results = !parts.is_empty() && parts.iter().all(|(_, part)| is_result(part));
        if !is_results {
            self.write_waiting();
            self.reporter.turn_to(first.semantics().place());
            self.write_assistant(first, parts);
        }
    }

    /// Writes a message of anyone else: its results, then what it says besides.
    fn write_turn(&mut self, index: usize, turn: &'m Message<'m>) {
        self.report_moved(turn);
        let before = self.waiting.len();
        for (at, part) in turn.parts.iter().enumerate() {
            if let Content::ToolResult(result) = part.content() {
                self.write_result(((index, at), part), result);
            }
        }
        let is_results = is_results(turn);
        if self.waiting.len() > before || !self.waiting.is_empty() && is_results {
            self.reporter.renamed(turn, "media of results are sent in a separate message");
        }
        if !is_results {
            self.write_waiting();
            self.reporter.turn_to(turn.semantics().place());
            self.write_plain(turn);
        }
    }

    /// Reports an answer that the model was to go on with: here it begins a new one.
    fn report_prefill(&mut self, messages: &[Message<'_>]) {
        if let Some(last) = messages.last().filter(|it| it.role == Role::Assistant)
            && self.reporter.source().conventions().continues_answers
        {
            let reason = "the model starts a new message instead of continuing this one";
            self.reporter.approximated(last, reason);
        }
    }

    /// Reports a message of which nothing can be written here; one that was empty stays.
    pub(super) fn is_lost(&mut self, message: &Message<'_>, kept: &[&Part<'_>]) -> bool {
        let is_lost = kept.is_empty() && !message.parts.is_empty();
        if is_lost {
            self.reporter.dropped(message, "no part of it can be sent to Chat");
        }
        is_lost
    }

    fn write_plain(&mut self, message: &Message<'_>) {
        let parts: Few<&Part<'_>> =
            message.parts.iter().filter(|part| self.is_writable(message.role, part)).collect();
        let placeholders = placeholders(message, &parts);
        match placeholders.is_empty() {
            true => self.write_sent(message, &parts),
            false => self.write_sent(message, &in_place(message, &parts, &placeholders)),
        }
    }

    /// Writes a message with the parts that can be sent of it.
    fn write_sent(&mut self, message: &Message<'_>, parts: &[&Part<'_>]) {
        // Of nothing but empty texts one is left, so that the message stays where there is nothing else.
        let is_empty = parts.iter().all(|part| is_empty_text(part));
        let kept = (0..).zip(parts).filter(|(at, part)| is_empty && *at == 0 || !self.omits(part));
        let parts: Few<&Part<'_>> = kept.map(|(_, part)| *part).collect();
        if self.is_lost(message, &parts) {
            return;
        }
        // Every block of a system prompt is a message of its own.
        let has_blocks = self.reporter.source().conventions().has_system_blocks;
        if message.role == Role::System && has_blocks && parts.len() > 1 {
            return parts.iter().for_each(|part| self.write_parts(message, &[*part]));
        }
        self.write_parts(message, &parts);
    }

    /// Whether a text is empty and left out.
    pub(super) fn omits(&mut self, part: &Part<'_>) -> bool {
        let is_empty = is_empty_text(part);
        if is_empty {
            self.reporter.empty_text(part.semantics());
        }
        is_empty
    }

    fn write_parts(&mut self, message: &Message<'_>, parts: &[&Part<'_>]) {
        let role = self.role(message);
        let mut object = Object::open(self.writer, None);
        object.word("role", role);
        object.optional("name", message.name.as_ref());
        message::write_content(&mut object, parts, self.reporter);
        object.close();
    }

    fn role(&mut self, message: &Message<'_>) -> &'static str {
        let is_ours = self.reporter.shares_vendor();
        let place = message.semantics().place();
        let in_slot = place == Place::default().step(Step::Instructions);
        let known = self.target.family.name != Family::UNKNOWN.name;
        match message.role {
            Role::System if !is_ours || in_slot => self.target.system_role().as_str(),
            Role::Developer if !self.target.dialect.developer_role => {
                self.reporter.approximated((place, Field::Role), "the server has no such role");
                "system"
            }
            Role::Developer if known && self.target.system_role() == SystemRole::System => "system",
            role => message::role_word(role),
        }
    }

    /// Whether a part of a user's or system's message can be written; what cannot is reported.
    fn is_writable(&mut self, role: Role, part: &Part<'_>) -> bool {
        match part.content() {
            Content::Text(_) | Content::Refusal(_) => true,
            Content::Media(_) if role.instructs() => {
                let reason = "Chat has only text in system and developer messages";
                self.reporter.dropped(part, reason);
                false
            }
            Content::Media(media) => content::is_sayable(part, media, self.reporter),
            Content::ToolCall(_) | Content::ToolResult(_) => false,
            Content::Reasoning(_) => {
                self.withhold(part);
                false
            }
            // The walk over the request has reported another protocol's.
            Content::Opaque(opaque) => opaque.protocol == SELF,
        }
    }

    pub(super) fn withhold(&mut self, part: &Part<'_>) {
        match part.semantics().artefact() {
            Some(_) => self.reporter.withheld(part, "it belongs to its issuer"),
            None => self.reporter.dropped(part, "the server takes no reasoning"),
        }
    }

    /// Results come right behind their calls, so that what stood before them moves behind.
    /// Fixture `request/results/words-between-calls-and-results`.
    fn report_moved(&mut self, turn: &Message<'_>) {
        let last = turn.parts.iter().rposition(is_result).unwrap_or_default();
        if turn.parts[..last].iter().any(|part| !is_result(part)) {
            let reason = "Chat requires tool results before the user's text";
            self.reporter.renamed(turn, reason);
        }
    }
}

/// The messages as the server takes them: without cache markers if it refuses fields that it does not know.
pub(super) fn unmarked<'m>(
    messages: &'m [Message<'m>],
    target: &Target,
    reporter: &mut Reporter<'_>,
) -> Cow<'m, [Message<'m>]> {
    let mut messages = Cow::Borrowed(messages);
    if !knows_all_fields(&target.dialect) {
        let parts = messages.to_mut().iter_mut().flat_map(|message| &mut message.parts);
        parts.for_each(|part| unmark(part, reporter));
    }
    messages
}

fn unmark(part: &mut Part<'_>, reporter: &mut Reporter<'_>) {
    let is_markable = match part.content_mut() {
        Content::ToolResult(result) => {
            if let ResultOutput::Parts(parts) = &mut result.output {
                parts.iter_mut().for_each(|part| unmark(part, reporter));
            }
            false
        }
        content => matches!(content, Content::Text(_) | Content::Media(_)),
    };
    if is_markable && part.semantics().cache().is_some() {
        report_answer_semantics(part, reporter);
        let place = part.semantics().place();
        let reason = "the server does not take cache markers";
        reporter.dropped((place, Field::CacheMarker), reason);
        *part.semantics_mut() = NodeSemantics::at(place);
    }
}

/// The end of the run of assistant messages that are written as one: calls may not be parted from their results. In a
/// run without calls each is written by itself, up to `apart`.
fn end_of_run(messages: &[Message<'_>], start: usize, apart: &mut usize) -> usize {
    let is_assistant = |it: &Message<'_>| it.role == Role::Assistant;
    let goes_on = |it: &&Message<'_>| is_assistant(it) || is_silent(it);
    let calls = |message: &Message<'_>| {
        message.parts.iter().any(|part| matches!(part.content(), Content::ToolCall(_)))
    };
    let run = &messages[start..];
    let run = &run[..run.iter().take_while(goes_on).count()];
    let last = run.iter().rposition(is_assistant).unwrap_or_default();
    if run[..last].iter().any(calls) {
        return start + last + 1;
    }
    *apart = start + last + 1;
    start + 1
}

/// Whether a server takes, or at least ignores, what only OpenAI's own has a use for.
pub(super) fn knows_all_fields(dialect: &Dialect) -> bool {
    dialect.tolerates_unknown_fields || matches!(dialect.name, "openai" | "azure")
}

/// Whether a turn says nothing but results, behind which more of them may come.
fn is_results(turn: &Message<'_>) -> bool {
    turn.role == Role::Tool || !turn.parts.is_empty() && turn.parts.iter().all(is_result)
}

fn placed<'m>(messages: &'m [Message<'m>], first: usize) -> Few<Placed<'m>> {
    let mut parts = Few::new();
    for (offset, message) in messages.iter().enumerate() {
        let at = |index| (first + offset, index);
        parts.extend(message.parts.iter().enumerate().map(|(index, part)| (at(index), part)));
    }
    parts
}

/// Whether a message holds only what Chat has nothing like, so that it does not part what the assistant says.
fn is_silent(message: &Message<'_>) -> bool {
    let is_opaque = |part: &Part<'_>| matches!(part.content(), Content::Opaque(_));
    let is_user = matches!(message.role, Role::User | Role::Assistant);
    !is_user && !message.parts.is_empty() && message.parts.iter().all(is_opaque)
}

/// Whether a part says nothing. Servers refuse such beside others. Fixture `request/fields/message-of-several-empty-texts`.
fn is_empty_text(part: &Part<'_>) -> bool {
    matches!(part.content(), Content::Text(text) if text.is_empty())
}

fn is_result(part: &Part<'_>) -> bool {
    matches!(part.content(), Content::ToolResult(_))
}
