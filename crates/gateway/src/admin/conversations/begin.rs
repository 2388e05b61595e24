//! Conversations that begin here: with nothing, with a history, or as a fork of another. And their end.

use sabir_store::{
    Addition, Change, Conversation, ConversationId, Deletion, Fork, Kind as StoreKind,
    NewConversation, Origin, Time, Title, TurnCount, TurnId,
};
use sabir_wire::json::{Json, Kind};
use sabir_wire::unified::read_timestamp;
use sabir_wire::{FaultKind, Protocol, Report};

use super::import::{ELEMENTS_MAX, Import, Source, Written, import_transcript, too_many};
use super::join::{Branch, Joined};
use super::messages::unknown_protocol;
use super::{Archive, is_made_id, list, unknown};
use crate::admin::kept::metadata;
use crate::admin::kept::metadata::{invalid, mistyped};
use crate::failure::{Failure, Result};
use crate::ingress;
use crate::memory::{check_form, left_out};
use crate::observe::write_losses;
use crate::pool::Wanted;
use crate::recall::{found, out_of_order};
use crate::record::KnownBy;

/// Times of elements, instructions among them.
const TIMES_MAX: usize = ELEMENTS_MAX;

/// What a conversation is to begin with.
struct Order {
    id: Option<String>,
    metadata: Option<Json<'static>>,
    /// What it is called, if not by its first words.
    title: Option<String>,
    source: Option<Source>,
    /// Whether the history may be one that is kept already.
    joins: bool,
    /// Whether it goes behind what the conversation has.
    appends: bool,
}

impl Archive<'_> {
    pub(super) async fn begin(&self, body: Vec<u8>) -> Result<String> {
        let (bytes, now) = (body.len(), self.store.now());
        let read = move |_: &Wanted| {
            let order = Order::read(body)?;
            if order.appends { Ok((order, None)) } else { order.with_import(now) }
        };
        let (mut order, import) = self.pool.run_on(bytes, read).await?;
        if order.appends {
            let (joined, losses) = self.append(order, bytes).await?;
            return Ok(written(&joined, &losses));
        }
        let metadata = metadata::record(order.metadata.as_ref())?;
        let losses = match import.as_ref().filter(|_| self.store.is_of_files()) {
            Some(import) => fits_a_file(import).map_err(|error| out_of_order(&error))?,
            None => Report::default(),
        };
        let import = match (order.source.take(), import) {
            (Some(source), Some(import)) if order.joins => {
                match self.same(order.id.as_deref(), &import).await? {
                    Some(known) => {
                        let joined = self.join(known, (source, import)).await?;
                        return Ok(written(&joined, &losses));
                    }
                    None => Some(import),
                }
            }
            (_, import) => import,
        };
        let id = match &order.id {
            Some(id) => self.free(id).await?,
            None => self.made_id(),
        };
        let own = import.as_ref().map(|import| &*import.title).unwrap_or_default();
        // Files have no titles of their own.
        let given = order.title.as_deref().filter(|_| !self.store.is_of_files());
        let title = given.unwrap_or(own);
        let new = NewConversation {
            owner: self.owner.clone(),
            id: ConversationId::new(id).map_err(|error| out_of_order(&error))?,
            title: Title::new(title),
            metadata,
            origin: if order.joins { Origin::Followed } else { Origin::Asked },
        };
        let begun = self.store.ensure_conversation(new).await;
        let mut conversation = begun.map_err(|error| out_of_order(&error))?;
        let added = import.as_ref().map_or(0, |import| import.lines.places.len());
        if let Some(import) = import {
            conversation = self.fill(&conversation, import).await?;
        }
        Ok(written(&Joined { conversation, added, kept_as: None }, &losses))
    }

    /// Puts plain messages behind all that a conversation has, which is not read for it.
    async fn append(&self, order: Order, bytes: usize) -> Result<(Joined, Report)> {
        let (Some(id), Some(Source::Transcript(transcript))) = (order.id, order.source) else {
            let message = "'append' needs the 'id' of a conversation and a 'transcript'.";
            return Err(invalid("append", message.to_owned(), "invalid_value"));
        };
        let conversation = self.find(&id).await?;
        let (tip, now) = (conversation.tip, self.store.now());
        let read = move |_: &Wanted| import_transcript(&transcript, tip, now);
        let import = self.pool.run_on(bytes, read).await?;
        if import.system.is_some() {
            let message =
                "Invalid 'transcript': what goes behind others cannot begin with instructions.";
            return Err(invalid("transcript", message.to_owned(), "invalid_value"));
        }
        let losses = match self.store.is_of_files() {
            true => fits_a_file(&import).map_err(|error| out_of_order(&error))?,
            false => Report::default(),
        };
        let (new, turns) = (import.from_user.len(), turns_of(&import.from_user));
        let branch = Branch { base: tip, messages: import.lines.messages, known: 0 };
        let joined = self.extend(conversation, branch, (new, TurnCount::More(turns))).await?;
        Ok((joined, losses))
    }

    /// A name that the owner has not given yet.
    async fn free(&self, id: &str) -> Result<String> {
        let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let is_name = (1..=64).contains(&id.len()) && id.bytes().all(is_fit);
        if !is_name || is_made_id(id) || id == "new" {
            let message = "Invalid 'id': expected up to 64 letters, digits, `_` or `-`, neither `new` nor beginning with `conv_`.";
            return Err(invalid("id", message.to_owned(), "invalid_value"));
        }
        let known = ConversationId::new(id).map_err(|_| unknown(id))?;
        match found(self.store.conversation(&self.owner, &known).await)? {
            None => Ok(id.to_owned()),
            Some(_) => Err(taken(id)),
        }
    }

    /// Puts a history into a conversation that has just begun.
    pub(super) async fn fill(
        &self,
        conversation: &Conversation,
        import: Import,
    ) -> Result<Conversation> {
        let id = &conversation.id;
        let (turns, began_at) = (TurnCount::More(turns_of(&import.from_user)), import.began_at);
        let addition = Addition { messages: import.lines.messages, turns, ..Addition::default() };
        let appended = self.store.append(&self.owner, id, None, addition).await;
        appended.map_err(|error| match error.kind() {
            StoreKind::Conflict => taken(id.as_str()),
            _ => out_of_order(&error),
        })?;
        // It has none yet. In files, setting none would take away messages that stand where instructions do.
        let (system, tools) = (import.system.map(Some), Some(import.tools));
        let change = Change { system, tools, created_at: began_at, ..Change::default() };
        let changed = self.store.change_conversation(&self.owner, id, change).await;
        changed.map_err(|error| out_of_order(&error))
    }

    pub(super) async fn fork(&self, id: &str, body: Vec<u8>) -> Result<String> {
        let (bytes, read) = (body.len(), move |_: &Wanted| read_after(&ingress::into_text(body)?));
        let after = self.pool.run_on(bytes, read).await?;
        let from = self.find(id).await?.id;
        let missing = || {
            let turn = after.as_deref().unwrap_or_default();
            let message = format!("Turn with id '{turn}' not found.");
            Failure::client(FaultKind::NotFound, message).with_param("after")
        };
        let fork = Fork {
            owner: self.owner.clone(),
            from,
            after: after.as_deref().map(TurnId::new).transpose().map_err(|_| missing())?,
            id: ConversationId::new(self.made_id()).map_err(|error| out_of_order(&error))?,
        };
        let forked = found(self.store.fork(fork).await)?;
        Ok(list::written(&forked.ok_or_else(missing)?))
    }

    /// What was said goes with it, as far as nothing else goes on from it.
    pub(super) async fn delete(&self, id: &str) -> Result<String> {
        // What cannot be read can be deleted.
        let known = ConversationId::new(id).map_err(|_| unknown(id))?;
        let deleted = self.store.delete_conversation(&self.owner, &known, Deletion::Turns).await;
        found(deleted)?.ok_or_else(|| unknown(id))?;
        Ok(super::object(|it| {
            it.field("id", id);
            it.field("deleted", &true);
        }))
    }
}

/// How often the user speaks in elements: each time begins a turn.
pub(super) fn turns_of(from_user: &[bool]) -> u64 {
    from_user.iter().filter(|it| **it).count() as u64
}

/// What a file cannot hold is refused before anything is begun; what rides on it is left out, and reported.
fn fits_a_file(import: &Import) -> sabir_store::Result<Report> {
    if import.tools.is_some() {
        return Err(sabir_store::Error::unsupported("a transcript has no tools"));
    }
    check_form(&import.lines.messages)?;
    left_out(import.system.as_ref(), &import.lines.messages)
}

impl Order {
    /// Reads a body, and lets it go: its parts are what is worked on.
    fn read(body: Vec<u8>) -> Result<Self> {
        let body = ingress::into_text(body)?;
        let names =
            ["id", "metadata", "transcript", "messages", "as", "times", "title", "join", "append"];
        let members = ingress::members(&body, names)?.map(|it| it.map(Json::into_owned));
        let [id, metadata, transcript, messages, protocol, times, title, join, append] = members;
        let source = match (transcript, messages) {
            (Some(_), Some(_)) => return Err(both()),
            (Some(transcript), None) => Some(Source::Transcript(transcript)),
            (None, Some(body)) => {
                let name = text("as", protocol)?.unwrap_or_default();
                let protocol = Protocol::parse(&name).ok_or_else(unknown_protocol)?;
                Some(Source::Messages(Written { protocol, body, times: read_times(times)? }))
            }
            (None, None) => None,
        };
        let (id, title) = (text("id", id)?, text("title", title)?);
        let (joins, appends) = (flag("join", join)?, flag("append", append)?);
        metadata.iter().try_for_each(metadata::check)?;
        Ok(Self { id, metadata, title, source, joins, appends })
    }

    /// The same with the history that it begins with.
    fn with_import(self, now: Time) -> Result<(Self, Option<Import>)> {
        let known_by = if self.joins { KnownBy::Meaning } else { KnownBy::Writing };
        let import = self.source.as_ref().map(|source| source.read(known_by, now)).transpose()?;
        Ok((self, import))
    }
}

fn read_after(body: &str) -> Result<Option<String>> {
    let [after] = ingress::members(body, ["after"])?;
    text("after", after)
}

fn text(param: &'static str, value: Option<Json<'_>>) -> Result<Option<String>> {
    match value {
        None => Ok(None),
        Some(value) if value.kind() == Kind::String => {
            Ok(Some(value.reader().string()?.to_str().into_owned()))
        }
        Some(value) => Err(mistyped(param, "a string", value.kind())),
    }
}

fn flag(param: &'static str, value: Option<Json<'_>>) -> Result<bool> {
    match value {
        None => Ok(false),
        Some(value) if value.kind() == Kind::Boolean => Ok(value.reader().boolean()?),
        Some(value) => Err(mistyped(param, "a boolean", value.kind())),
    }
}

/// A conversation with what became of a history, and what of it is not kept.
fn written(joined: &Joined, losses: &Report) -> String {
    let Joined { conversation, added, kept_as } = joined;
    list::written_with(conversation, |it| {
        it.field("added", added);
        it.optional("kept_as", kept_as.as_ref().map(|id| id.as_str()));
        if !losses.is_empty() {
            it.key("losses");
            write_losses(losses.entries(), it);
        }
    })
}

/// Milliseconds since 1970, or null where nobody knows.
fn read_times(times: Option<Json<'_>>) -> Result<Vec<Option<Time>>> {
    let Some(times) = times else { return Ok(Vec::new()) };
    if times.kind() != Kind::Array {
        return Err(mistyped("times", "an array of milliseconds", times.kind()));
    }
    let (mut read, mut count) = (Vec::new(), 0);
    let listed = times.reader().array(|index, element| {
        let time = read_timestamp(element)?.map(Time);
        if index < TIMES_MAX {
            read.push(time);
        }
        count = index + 1;
        Ok(())
    });
    listed.map_err(|error| {
        let param = format!("times{}", error.pointer().replace('/', "."));
        invalid(&param, format!("{} at {param}", error.message()), "invalid_value")
    })?;
    match count > TIMES_MAX {
        true => Err(too_many("times", TIMES_MAX, count)),
        false => Ok(read),
    }
}

fn both() -> Box<Failure> {
    let message = "Mutually exclusive parameters: 'transcript' and 'messages'.";
    invalid("messages", message.to_owned(), "mutually_exclusive_parameters")
}

fn taken(id: &str) -> Box<Failure> {
    let message = format!("A conversation with id '{id}' exists already.");
    Failure::client(FaultKind::Conflict, message).with_param("id").with_code("conversation_exists")
}
