//! Rollouts of Codex: items of its protocol in the order of the conversation, each in an envelope, with what changed the
//! conversation between them.

use std::borrow::Cow;

use sabir_wire::json::Json;

use super::draft::{Draft, Element};
use super::error::SessionError;
use super::line::{Line, Members, text};
use super::place::Place;
use super::{SessionReader, object};

/// A first line of such a file.
pub(super) fn is_own(line: &Members<'_>) -> bool {
    line.text("type").is_some_and(|kind| kind == "session_meta") && line.get("payload").is_some()
}

/// Envelopes that hold nothing of the conversation: what the CLI showed, counted and had set.
const NOTES: [&str; 4] = ["event_msg", "turn_context", "world_state", "token_usage_record"];
/// What the CLI adds to items for itself.
const OWN_MEMBERS: [&str; 1] = ["internal_chat_message_metadata_passthrough"];
/// Items that are not sent to the model.
const UNSENT: [&str; 1] = ["ghost_snapshot"];

#[derive(Default)]
pub(super) struct Codex<'a> {
    draft: Draft<'a>,
    /// Where in the history each turn of the user begins.
    turns: Vec<usize>,
}

impl<'a> SessionReader<'a> for Codex<'a> {
    fn line(&mut self, line: Line<'a>) -> Result<(), SessionError> {
        let kind = line.members.text("type");
        match kind.as_deref() {
            Some("session_meta") => self.begin(line.place(), &line.object("payload")?),
            Some("response_item") => {
                let item = line.object("payload")?;
                self.add(line.place(), &item);
            }
            Some("compacted") => self.compact(&line)?,
            Some("event_msg") => self.note(&line.object("payload")?),
            Some(note) if NOTES.contains(&note) => {}
            other => self.draft.left_out.add_unknown(other),
        }
        Ok(())
    }

    fn finish(self) -> Result<Draft<'a>, SessionError> {
        Ok(self.draft)
    }
}

impl<'a> Codex<'a> {
    /// The first of these is the file's own; a fork repeats those of the session that it came from.
    fn begin(&mut self, place: Place, meta: &Members<'a>) {
        if self.draft.id.is_some() {
            return;
        }
        self.draft.id = meta.text("id").or_else(|| meta.text("session_id"));
        let instructions = meta.object("base_instructions").and_then(|it| it.get("text").cloned());
        let instructions = instructions.or_else(|| meta.get("instructions").cloned());
        let instructions = instructions.filter(|it| text(it).is_some_and(|text| !text.is_empty()));
        self.draft.instructed_at = place.time.filter(|_| instructions.is_some());
        self.draft.settings.extend(instructions.map(|text| ("instructions", text)));
    }

    fn add(&mut self, place: Place, item: &Members<'a>) {
        let kind = item.text("type");
        if kind.as_deref().is_none_or(|kind| UNSENT.contains(&kind)) {
            self.draft.left_out.add("items that are not sent");
            return;
        }
        let is_users = item.text("role").is_some_and(|role| role == "user");
        if is_users && let Some(words) = typed(item) {
            self.turns.push(self.draft.elements.len());
            self.draft.note_first_words(|| Some(words.into_owned().into()));
        }
        self.draft.elements.push(Element { place, json: written(item) });
    }

    /// From here on the conversation is what stands in its place.
    fn compact(&mut self, line: &Line<'a>) -> Result<(), SessionError> {
        let payload = line.object("payload")?;
        let before = std::mem::take(&mut self.draft.elements).len();
        self.turns.clear();
        self.draft.left_out.add_many("messages before a compaction", before);
        match payload.list("replacement_history") {
            Some(items) => {
                let items = items.iter().filter_map(Members::of);
                items.for_each(|item| self.add(line.place(), &item));
            }
            None => {
                let Some(summary) = payload.get("message") else { return Ok(()) };
                self.draft.elements.push(Element { place: line.place(), json: message(summary) });
            }
        }
        Ok(())
    }

    fn note(&mut self, event: &Members<'a>) {
        let kind = event.text("type");
        if kind.as_deref() == Some("thread_rolled_back") {
            self.roll_back(event.number("num_turns").unwrap_or(0));
        }
        if kind.as_deref() == Some("thread_name_updated") {
            self.draft.name = event.text("thread_name").or(self.draft.name.take());
        }
    }

    fn roll_back(&mut self, turns: u64) {
        let turns = usize::try_from(turns).unwrap_or(usize::MAX);
        let kept = self.turns.len().saturating_sub(turns);
        let Some(&from) = self.turns.get(kept) else { return };
        self.turns.truncate(kept);
        let taken_back = self.draft.elements.split_off(from).len();
        self.draft.left_out.add_many("messages that were rolled back", taken_back);
    }
}

/// What the user wrote in a message, apart from what the CLI says in the user's name.
fn typed<'a>(item: &Members<'a>) -> Option<Cow<'a, str>> {
    let parts = item.list("content")?;
    let mut texts = parts.iter().filter_map(Members::of).filter_map(|part| part.text("text"));
    texts.find(|text| super::draft::is_typed(text))
}

fn written(item: &Members<'_>) -> String {
    object(|it| {
        for (name, value) in item.iter().filter(|(name, _)| !OWN_MEMBERS.contains(name)) {
            it.field(name, value);
        }
    })
}

/// A summary of the first versions, which is all that they kept.
fn message(summary: &Json<'_>) -> String {
    object(|it| {
        it.field("type", "message");
        it.field("role", "user");
        it.field("content", summary);
    })
}
