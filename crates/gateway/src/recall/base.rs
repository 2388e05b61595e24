//! Where a call goes on: after an answer, in a thread, or at the end of a conversation, which nobody else may change meanwhile.

use std::borrow::Cow;
use std::sync::atomic::Ordering;

use sabir_store::{
    Begun, Conversation, ConversationId, Deletion, Error, Fork, Hash, Held, Kind, NewConversation,
    Origin, Owner, Purpose, Record, ResponseId, Status, Store, Summary, Title, Turn, TurnId,
};
use sabir_wire::Protocol;
use sabir_wire::conversation::{Content, Message, Role};
use sabir_wire::json::Survey;

use crate::call::{Action, Link};
use crate::failure::{Failure, Result};
use crate::pool;
use crate::pool::Pool;
use crate::recall::history::{End, recollect};
use crate::recall::settings::{settings_in, settings_of};
use crate::recall::wish::{Named, Wish, misnamed};
use crate::recall::{Task, out_of_order, submission, trouble};
use crate::recalled::{KeptBy, Missing, Settings};
use crate::record::{Details, Position};
use crate::surface::Trouble;

/// Where a call goes on.
#[derive(Debug)]
pub(super) struct Base {
    /// The turn before it.
    pub(super) previous: Option<TurnId>,
    /// The last message before it.
    pub(super) tip: Option<Hash>,
    /// What that message is the end of.
    pub(super) end: Position,
    /// What was meant up to the end of the last call's input, if that may be asked again.
    pub(super) asked: Option<Hash>,
    /// Where the conversation ends that is asked again: its last turn is replaced.
    pub(super) replaced: Option<Hash>,
    /// What goes on being in force if the call does not say otherwise.
    pub(super) settings: Option<Settings>,
    /// The conversation that the call advances.
    pub(super) conversation: Option<ConversationId>,
    pub(super) kept_by: KeptBy,
    /// The summary of the conversation that is in force.
    pub(super) summary: Option<Summary>,
}

impl Base {
    /// The beginning of everything.
    fn nothing() -> Self {
        Self {
            previous: None,
            tip: None,
            end: Position::default(),
            asked: None,
            replaced: None,
            settings: None,
            conversation: None,
            kept_by: KeptBy::Nobody,
            summary: None,
        }
    }

    /// Up to where the conversation is put before the call.
    pub(super) fn history_end(&self) -> End<'_> {
        End { tip: self.tip, last: self.previous.as_ref(), summary: self.summary.as_ref() }
    }

    pub(super) fn is_fresh(&self) -> bool {
        self.tip.is_none() && self.settings.is_none()
    }
}

impl Task<'_> {
    /// Finds where the call goes on, and holds it for the call where only one may.
    pub(super) async fn base(&self, wish: &Wish) -> Result<Base> {
        if let Some(turn) = self.asker.submits_to
            && self.hold(Purpose::Submit(turn.clone())).await? != Held::Taken
        {
            return Err(submission::expired());
        }
        match (&wish.header, &wish.asked.link) {
            // Boxed, since each is large and most calls have none.
            (Some(named), _) => Box::pin(self.named(named)).await,
            (None, Link::Answer(id)) => Box::pin(self.after_answer(id)).await,
            (None, Link::Thread(id)) => Box::pin(self.after_message(id)).await,
            (None, Link::Conversation(id)) => Box::pin(self.conversation(id)).await,
            (None, Link::Nothing | Link::Several) => Ok(Base::nothing()),
        }
    }

    /// At the end of a conversation that the body names. One that is not kept here may be the provider's.
    async fn conversation(&self, name: &str) -> Result<Base> {
        let id = ConversationId::new(name).map_err(|_| self.unknown(name))?;
        let known = match found(self.store.conversation(&self.owner, &id).await)? {
            Some(_) => self.held(&id).await?,
            None => None,
        };
        match known {
            Some(conversation) => {
                // Results go on with what the answer was asked with, wherever that came from.
                let settings = match self.asker.submits_to {
                    Some(_) => SettingsOf::Conversation,
                    None => SettingsOf::Call,
                };
                self.end_of(conversation, settings).await
            }
            None => {
                let missing = Missing::Conversation(name.to_owned());
                Ok(Base { kept_by: KeptBy::Somebody(missing), ..Base::nothing() })
            }
        }
    }

    fn unknown(&self, id: &str) -> Box<Failure> {
        trouble(self.client(), &Trouble::UnknownConversation(id))
    }

    /// After an answer of Responses. Settings are those of the call.
    async fn after_answer(&self, id: &str) -> Result<Base> {
        let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        if id.is_empty() || !id.bytes().all(is_fit) {
            return Err(trouble(self.client(), &Trouble::MisspeltAnswer(id)));
        }
        let Some(turn) = self.turn_of(id).await? else {
            return Ok(Base {
                kept_by: KeptBy::Somebody(Missing::Answer(id.to_owned())),
                ..Base::nothing()
            });
        };
        let details = Details::read(&turn.details);
        let kept_by = match (&turn.provider, details.is_passed) {
            (Some(provider), true) => KeptBy::Provider(provider.as_str().to_owned()),
            _ => KeptBy::Nobody,
        };
        let end = end_of_turn(&turn, &details);
        Ok(Base { previous: Some(turn.id), tip: turn.tip, end, kept_by, ..Base::nothing() })
    }

    /// After a message of a thread, which nobody else may go on from. Instructions and tools go on.
    async fn after_message(&self, id: &str) -> Result<Base> {
        let turn = self.turn_of(id).await?;
        let turn = turn.ok_or_else(|| trouble(self.client(), &Trouble::UnknownThread(id)))?;
        if self.asker.action == Action::Generate {
            match self.hold(Purpose::Continue(turn.id.clone())).await? {
                Held::Taken => {}
                Held::Busy => return Err(trouble(self.client(), &Trouble::ThreadInFlight)),
                Held::Used => return Err(trouble(self.client(), &Trouble::ThreadContinued)),
            }
        }
        let settings = Some(settings_of(&self.store, &self.owner, &turn).await?);
        let end = end_of_turn(&turn, &Details::read(&turn.details));
        let (previous, tip) = (Some(turn.id), turn.tip);
        Ok(Base { previous, tip, end, settings, ..Base::nothing() })
    }

    /// The turn that an answer ended, if it is kept.
    async fn turn_of(&self, id: &str) -> Result<Option<Turn>> {
        let Ok(id) = ResponseId::new(id) else { return Ok(None) };
        let response = found(self.store.response(&self.owner, &id).await)?;
        let Some(response) = response else { return Ok(None) };
        let turn = found(self.store.turn(&self.owner, &response.turn).await)?;
        Ok(turn.filter(|turn| turn.status == Status::Finished))
    }

    /// The conversation that the header names.
    async fn named(&self, named: &Named) -> Result<Base> {
        let of_conversation = SettingsOf::Conversation;
        match named {
            Named::New => self.beginning(&self.made_id()).await,
            Named::Id(name) => {
                let id = ConversationId::new(&**name).map_err(|_| self.unknown(name))?;
                match self.held(&id).await? {
                    Some(conversation) => self.end_of(conversation, of_conversation).await,
                    None if name.starts_with("conv_") => Err(self.unknown(name)),
                    None => self.beginning(name).await,
                }
            }
            Named::Given(name) => {
                let id = ConversationId::new(&**name).map_err(|_| misnamed())?;
                let conversation = self.held(&id).await?.ok_or_else(misnamed)?;
                self.end_of(conversation, of_conversation).await
            }
            Named::Fork { id, turn } => {
                let forked = self.forked(id, turn).await?;
                self.begun(&forked);
                let conversation = self.held(&forked.id).await?.ok_or_else(|| self.unknown(id))?;
                let base = self.end_of(conversation, of_conversation).await?;
                if self.asker.action != Action::Generate {
                    self.forget(&forked.id).await?;
                }
                Ok(base)
            }
        }
    }

    /// A conversation that goes on after a turn of another.
    async fn forked(&self, id: &str, turn: &str) -> Result<Conversation> {
        let unknown_turn = || trouble(self.client(), &Trouble::UnknownTurn(turn));
        let from = ConversationId::new(id).map_err(|_| self.unknown(id))?;
        found(self.store.conversation(&self.owner, &from).await)?
            .ok_or_else(|| self.unknown(id))?;
        let fork = Fork {
            owner: self.owner.clone(),
            from,
            after: Some(TurnId::new(turn).map_err(|_| unknown_turn())?),
            id: ConversationId::new(self.made_id()).map_err(|error| out_of_order(&error))?,
        };
        found(self.store.fork(fork).await)?.ok_or_else(unknown_turn)
    }

    /// A conversation of this call's own. One that asks for no answer begins none.
    async fn beginning(&self, name: &str) -> Result<Base> {
        if self.asker.action != Action::Generate {
            return Ok(Base::nothing());
        }
        let new = self.new_conversation(name, &self.title(None).await?, Origin::Asked)?;
        self.hold_conversation(&new.id).await?;
        let begun = self.store.ensure_conversation(new).await;
        let begun = begun.map_err(|error| out_of_order(&error))?;
        if begun.tip.is_none() && begun.last_turn.is_none() {
            self.begun(&begun);
        }
        self.end_of(begun, SettingsOf::Conversation).await
    }

    /// A conversation that nothing will be said in.
    async fn forget(&self, id: &ConversationId) -> Result<()> {
        found(self.store.delete_conversation(&self.owner, id, Deletion::Name).await).map(|_| ())
    }

    /// A conversation begins with this call, and goes with it if nothing comes of it.
    fn begun(&self, conversation: &Conversation) {
        let _ = self.begun.set(Begun { id: conversation.id.clone(), tip: conversation.tip });
    }

    pub(super) fn made_id(&self) -> String {
        format!("conv_{}", self.exchange.trim_start_matches("ex_"))
    }

    pub(super) fn new_conversation(
        &self,
        id: &str,
        title: &str,
        origin: Origin,
    ) -> Result<NewConversation> {
        Ok(NewConversation {
            owner: self.owner.clone(),
            id: ConversationId::new(id).map_err(|error| out_of_order(&error))?,
            title: Title::new(title),
            metadata: Record::default(),
            origin,
        })
    }

    /// What a conversation is called that begins with this call.
    pub(super) async fn title(&self, body: Option<String>) -> Result<String> {
        let (client, call) = (self.client(), self.asker.call);
        if body.is_none() && call.large.is_none() {
            return Ok(title_of(client, &call.survey));
        }
        let read = move |body: Cow<'_, str>| Ok(title_of(client, &Survey::new(&body)));
        self.on_body(body, read).await
    }

    /// A conversation, held for this call if there is one.
    async fn held(&self, id: &ConversationId) -> Result<Option<Conversation>> {
        self.hold_conversation(id).await?;
        found(self.store.conversation(&self.owner, id).await)
    }

    /// Nobody else may work on it meanwhile.
    async fn hold_conversation(&self, id: &ConversationId) -> Result<()> {
        if self.asker.action != Action::Generate {
            return Ok(());
        }
        match self.hold(Purpose::Conversation(id.clone())).await? {
            Held::Taken => Ok(()),
            Held::Busy | Held::Used => Err(trouble(self.client(), &Trouble::Locked)),
        }
    }

    /// The end of a conversation that is held for this call.
    async fn end_of(&self, conversation: Conversation, settings: SettingsOf) -> Result<Base> {
        let store = (&self.store, &self.owner);
        let last = turn_in(store, conversation.last_turn.as_ref()).await?;
        let end = end_after(self.pool, store, &conversation, last.as_ref()).await?;
        let asked = last.as_ref().zip(conversation.tip).and_then(|(it, tip)| asked_with(it, tip));
        let settings = match settings {
            SettingsOf::Call => None,
            SettingsOf::Conversation => {
                settings_in(&self.store, &self.owner, &conversation).await?
            }
        };
        let summary = self.store.summary(&self.owner, &conversation.id).await;
        let summary = summary.map_err(|error| out_of_order(&error))?;
        let Conversation { id, tip, last_turn, .. } = conversation;
        let (previous, conversation) = (last_turn, Some(id));
        Ok(Base { previous, tip, end, asked, settings, conversation, summary, ..Base::nothing() })
    }

    /// The same conversation without its last turn, which is asked again and replaced.
    pub(super) async fn before_last(&self, base: Base) -> Result<Base> {
        let store = (&self.store, &self.owner);
        let last = turn_in(store, base.previous.as_ref()).await?;
        let Some((last, tip)) = last.and_then(|turn| turn.base.map(|tip| (turn, tip))) else {
            // It was deleted meanwhile.
            return Err(self.unknown(base.conversation.as_ref().map_or("", ConversationId::as_str)));
        };
        let before = turn_in(store, last.previous.as_ref()).await?;
        let end = end_with(self.pool, store, before.as_ref(), tip).await?;
        let (previous, replaced) = (last.previous, base.tip);
        Ok(Base { previous, tip: Some(tip), end, asked: None, replaced, ..base })
    }

    async fn hold(&self, purpose: Purpose) -> Result<Held> {
        self.is_holding.store(true, Ordering::Relaxed);
        let held = self.store.hold(&self.owner, purpose, &self.turn_id()?).await;
        held.map_err(|error| out_of_order(&error))
    }
}

/// Whose instructions and tools are in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SettingsOf {
    /// Those of the call and no others.
    Call,
    /// Those of the conversation, unless the call has its own.
    Conversation,
}

/// Where a conversation ends.
pub(crate) async fn end_position(
    pool: &Pool,
    (store, owner): (&Store, &Owner),
    conversation: &Conversation,
) -> Result<Position> {
    let last = turn_in((store, owner), conversation.last_turn.as_ref()).await?;
    end_after(pool, (store, owner), conversation, last.as_ref()).await
}

/// The same of one whose last turn was read.
async fn end_after(
    pool: &Pool,
    store: (&Store, &Owner),
    conversation: &Conversation,
    last: Option<&Turn>,
) -> Result<Position> {
    match conversation.tip {
        None => Ok(Position::of_conversation(conversation)),
        Some(tip) => end_with(pool, store, last, tip).await,
    }
}

/// Where lines end of which a turn may be the last that added some.
async fn end_with(
    pool: &Pool,
    store: (&Store, &Owner),
    last: Option<&Turn>,
    tip: Hash,
) -> Result<Position> {
    match last {
        Some(turn) if turn.tip == Some(tip) => Ok(end_of_turn(turn, &Details::read(&turn.details))),
        _ => end_of_lines(pool, store, tip).await,
    }
}

async fn turn_in((store, owner): (&Store, &Owner), turn: Option<&TurnId>) -> Result<Option<Turn>> {
    match turn {
        Some(turn) => found(store.turn(owner, turn).await),
        None => Ok(None),
    }
}

/// What was meant up to the end of a turn's input, if the turn is the last of its conversation. The first call of a conversation
/// looks like another one that says the same, and is not asked again.
fn asked_with(turn: &Turn, tip: Hash) -> Option<Hash> {
    let is_last = turn.tip == Some(tip) && turn.base.is_some();
    Details::read(&turn.details).asked.filter(|_| is_last)
}

/// Where lines end that no turn has added: that is known by reading them.
async fn end_of_lines(
    pool: &Pool,
    (store, owner): (&Store, &Owner),
    tip: Hash,
) -> Result<Position> {
    let kept = recollect(pool, (store, owner), Some(tip), None).await?.stretches;
    let bytes = kept.iter().map(|stretch| stretch.kept.as_body().len()).sum();
    let work = move |_: &_| {
        let mut entries = Vec::new();
        for stretch in &kept {
            entries.extend(stretch.kept.entries()?);
        }
        Ok(Position::of_lines(entries, tip))
    };
    pool.run_on(bytes, work).await
}

/// Where a turn ends.
fn end_of_turn(turn: &Turn, details: &Details) -> Position {
    details.end.unwrap_or_else(|| turn.tip.into())
}

/// What is there; none if it is not, and a failure if that cannot be known.
pub(crate) fn found<T>(read: std::result::Result<T, Error>) -> Result<Option<T>> {
    match read {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == Kind::NotFound => Ok(None),
        Err(error) => Err(out_of_order(&error)),
    }
}

/// So many elements are looked through for a title.
const TITLE_ELEMENTS_MAX: usize = 32;

/// The beginning of what the user says first. What agents say in the user's name stands in tags.
pub(crate) fn title(messages: &[Message<'_>]) -> String {
    let users = messages.iter().filter(|message| message.role == Role::User);
    let texts = users.flat_map(|message| &message.parts).filter_map(|part| match part.content() {
        Content::Text(text) => Some(text.to_str()),
        _ => None,
    });
    let is_own = |text: &Cow<'_, str>| !text.trim_start().starts_with('<');
    let text = texts.clone().find(is_own).or_else(|| texts.clone().next()).unwrap_or_default();
    let line = text.trim().lines().next().unwrap_or_default();
    line.chars().take(80).collect()
}

/// The same of a body, which is read no further than it has to be.
fn title_of(client: Protocol, body: &Survey<'_>) -> String {
    pool::check_thread(body.source().len());
    let mut first = None;
    let mut read = 0;
    let own = client.find_in_elements(body, |element| {
        read += 1;
        if read > TITLE_ELEMENTS_MAX {
            return Some(first.take().unwrap_or_default());
        }
        let messages = client.restore_messages(element, 0, client).ok()?;
        let title = Some(title(&messages)).filter(|title| !title.is_empty())?;
        first.get_or_insert_with(|| title.clone());
        (!title.starts_with('<')).then_some(title)
    });
    own.or(first).unwrap_or_default()
}
