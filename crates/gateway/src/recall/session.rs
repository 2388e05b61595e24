//! Calls that ask for no state, where everything is kept: only what is new of them is stored, after the longest history that
//! is known. Nothing is changed on the way, nothing waits, and what goes wrong is nobody's failure.

use std::borrow::Cow;
use std::sync::Arc;

use sabir_store::{
    Advance, Conversation, ConversationId, Followed, Hash, NewConversation, NewMessage, Origin,
    TurnId,
};
use sabir_wire::json::Survey;
use sabir_wire::protocol::Coverage;

use crate::answer::InFlight;
use crate::failure::Result;
use crate::ingress;
use crate::recall::base::found;
use crate::recall::history::recollect;
use crate::recall::sent::{Sender, SentHistory, Wanted, read_sent};
use crate::recall::{Asker, Draft, Task, out_of_order};
use crate::record::Lines;
use crate::trace::TurnNames;

/// What a call tells, and what the store has of it.
struct Matched {
    sent: SentHistory,
    followed: Followed,
}

impl Matched {
    /// The lines that the store has.
    fn known(&self) -> &[Hash] {
        &self.sent.hashes[..self.followed.known]
    }
}

/// What a call adds to which conversation.
struct Follower {
    previous: Option<TurnId>,
    advance: Advance,
    /// Present if it begins with this call.
    begins: Option<NewConversation>,
}

impl Task<'_> {
    /// Records a call that did not ask for it.
    pub(super) async fn follow(self, body: Option<String>, flight: &mut InFlight) {
        if let Err(failure) = self.followed(body, flight).await {
            tracing::debug!(target: "sabir", kind = ?failure.fault.kind, "a call could not be recorded");
        }
    }

    async fn followed(&self, body: Option<String>, flight: &mut InFlight) -> Result<()> {
        ingress::check_density(&self.asker.call.survey)?;
        let epoch = self.store.epoch();
        let mut sent = self.sent(&body, Wanted::New).await?;
        let end = sent.marks.end.map(|mark| (mark, epoch));
        let is_kept = |mark| self.memory.readings().is_kept(mark, epoch);
        let draft = if self.session().is_none()
            && sent.marks.before.is_some_and(is_kept)
            && let Some(written) = sent.written_out()
        {
            self.behind_kept(sent, written, body).await?
        } else {
            Box::pin(self.behind_known((sent, epoch), body)).await?
        };
        let names = TurnNames {
            turn: self.turn.clone(),
            conversation: None,
            is_named_by_header: false,
            is_answer_named: false,
        };
        self.open(self.plan(Draft { end, ..draft })?, names, flight).await
    }

    /// A call whose history is known to be kept: the store finds out which conversation goes on with it when it writes the turn,
    /// and nobody waits for that.
    async fn behind_kept(
        &self,
        sent: SentHistory,
        (base, messages): (Hash, Vec<NewMessage>),
        body: Option<String>,
    ) -> Result<Draft> {
        let title = self.title(body).await?;
        let begins = self.new_conversation(&self.made_id(), &title, Origin::Followed)?;
        Ok(Draft { base: Some(base), follows: Some(begins), ..Draft::of(sent, messages) })
    }

    /// A call of whose history the store is asked how much it knows.
    async fn behind_known(
        &self,
        (sent, epoch): (SentHistory, u64),
        body: Option<String>,
    ) -> Result<Draft> {
        let mut matched = self.matched(sent, epoch).await?;
        if matched.known().is_empty() && matched.sent.is_cut {
            // What was read before is not kept any more, or was another node's to keep.
            matched = self.matched(self.sent(&body, Wanted::All).await?, epoch).await?;
        }
        let joined = match self.session() {
            Some(session) => self.joined_in(session, (&mut matched, epoch), &body).await?,
            None => self.joined(&mut matched),
        };
        let title = match &joined {
            Joined::Conversation(conversation) => conversation.title.as_str().to_owned(),
            Joined::None(_) => self.title(body.clone()).await?,
        };
        let beside = self.new_conversation(&self.made_id(), &title, Origin::Followed)?;
        let Follower { previous, advance, begins } = match joined {
            Joined::Conversation(conversation) => Follower::after(*conversation),
            Joined::None(id) => {
                Follower::new(self.new_conversation(&id, &title, Origin::Followed)?)
            }
        };
        let base = matched.known().last().copied();
        let messages = self.new_lines(&mut matched, body).await?;
        let (conversation, beside) = (Some(advance), Some(beside));
        Ok(Draft {
            previous,
            base,
            conversation,
            begins,
            beside,
            ..Draft::of(matched.sent, messages)
        })
    }

    /// Reads the history of the call, when the turns are there that it goes on from.
    async fn sent(&self, body: &Option<String>, wanted: Wanted) -> Result<SentHistory> {
        let sent = self.sent_history(body.clone(), wanted).await?;
        let hurry = async || drop(self.store.flush().await);
        self.memory.underway().settled(&self.owner, &sent.states, hurry).await;
        Ok(sent)
    }

    /// Looks for a history in the store, as it is in an epoch.
    async fn matched(&self, sent: SentHistory, epoch: u64) -> Result<Matched> {
        let followed = self.store.follow(&self.owner, sent.hashes.clone()).await;
        let followed = followed.map_err(|error| out_of_order(&error))?;
        if let Some(mark) = sent.marks.before.filter(|_| sent.is_met_by(followed.known)) {
            self.memory.readings().keep(mark, epoch);
        }
        Ok(Matched { sent, followed })
    }

    /// The lines that the store does not have.
    async fn new_lines(
        &self,
        matched: &mut Matched,
        body: Option<String>,
    ) -> Result<Vec<NewMessage>> {
        let known = matched.followed.known;
        if let Some(new) = matched.sent.lines_after(known) {
            return Ok(new);
        }
        let new = matched.sent.hashes.len() - known;
        let mut whole = Box::pin(self.sent_history(body, Wanted::Last(new))).await?;
        let known = whole.hashes.len().saturating_sub(new);
        Ok(whole.lines_after(known).unwrap_or_default())
    }

    async fn sent_history(&self, body: Option<String>, wanted: Wanted) -> Result<SentHistory> {
        let Asker { call, key, .. } = self.asker;
        let owner = key.map(|key| key.name.clone()).unwrap_or_default();
        let sender = Sender { owner, client: call.client };
        let readings = Arc::clone(self.memory.readings());
        match (&body, call.large) {
            (None, None) => read_sent(&readings, &sender, &call.survey, wanted),
            _ => {
                let work = move |body: Cow<'_, str>| {
                    read_sent(&readings, &sender, &Survey::new(&body), wanted)
                };
                Box::pin(self.on_body(body, work)).await
            }
        }
    }

    /// The conversation that a call goes on with: that of the agent's session, else the one with the longest history that the
    /// call begins with. Calls of a session that do not go on from its end, such as those of sub-agents, are known by their
    /// histories alone.
    async fn joined_in(
        &self,
        session: ConversationId,
        (matched, epoch): (&mut Matched, u64),
        body: &Option<String>,
    ) -> Result<Joined> {
        let Some(conversation) = found(self.store.conversation(&self.owner, &session).await)?
        else {
            return Ok(Joined::None(session.as_str().to_owned()));
        };
        if self.goes_on(&conversation, (&mut *matched, epoch), body).await?
            || self.retells(&conversation, body.clone()).await?
        {
            return Ok(Joined::Conversation(Box::new(conversation)));
        }
        Ok(self.joined(matched))
    }

    /// The same by the history alone.
    fn joined(&self, matched: &mut Matched) -> Joined {
        match matched.followed.conversation.take() {
            Some(conversation) => Joined::Conversation(Box::new(conversation)),
            None => Joined::None(self.made_id()),
        }
    }

    /// The agent's session.
    fn session(&self) -> Option<ConversationId> {
        self.asker.call.session_name().and_then(|name| ConversationId::new(name).ok())
    }

    /// Whether all that was said in a conversation is known at the beginning of a call.
    async fn goes_on(
        &self,
        conversation: &Conversation,
        (matched, epoch): (&mut Matched, u64),
        body: &Option<String>,
    ) -> Result<bool> {
        let Some(tip) = conversation.tip else { return Ok(true) };
        if !matched.known().contains(&tip) && matched.sent.is_cut {
            *matched = self.matched(self.sent(body, Wanted::All).await?, epoch).await?;
        }
        Ok(matched.known().contains(&tip))
    }

    /// Whether a call says all that a conversation holds which was taken in from elsewhere: such a telling lacks what the agent
    /// adds on the way. From here on the conversation is what the call says.
    async fn retells(&self, conversation: &Conversation, body: Option<String>) -> Result<bool> {
        let last = match &conversation.last_turn {
            Some(turn) => found(self.store.turn(&self.owner, turn).await)?,
            None => None,
        };
        if last.is_some_and(|turn| turn.tip == conversation.tip) {
            return Ok(false);
        }
        let kept = (&self.store, &self.owner);
        let kept = recollect(self.pool, kept, conversation.tip, None).await?.stretches;
        let client = self.client();
        let work = move |body: Cow<'_, str>| {
            let decoded = client.decode_request_text(&body)?;
            let mut known = Vec::new();
            for stretch in &kept {
                known.extend(stretch.kept.entries()?);
            }
            let covered = Coverage::of(&known, &decoded.entries()?.entries);
            Ok(covered.elements == known.len())
        };
        self.on_body(body, work).await
    }
}

/// What a call was found to go on with.
enum Joined {
    Conversation(Box<Conversation>),
    /// Nothing. It begins a conversation of this id.
    None(String),
}

impl Draft {
    /// A turn that nobody asked for, with these new lines of a history.
    fn of(sent: SentHistory, messages: Vec<NewMessage>) -> Self {
        Self {
            previous: None,
            base: None,
            input: Lines { messages, end: sent.end, ..Lines::default() },
            settings: sent.settings,
            conversation: None,
            begins: None,
            beside: None,
            follows: None,
            end: None,
            keeps_broken: true,
            is_named: false,
            is_awaited: false,
            request: None,
        }
    }
}

impl Follower {
    fn after(conversation: Conversation) -> Self {
        let Conversation { id, tip, last_turn, .. } = conversation;
        Self { previous: last_turn, advance: Advance::after(id, tip), begins: None }
    }

    fn new(conversation: NewConversation) -> Self {
        let advance = Advance::after(conversation.id.clone(), None);
        Self { previous: None, advance, begins: Some(conversation) }
    }
}
