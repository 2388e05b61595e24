//! Calls that ask for no state, where everything is kept: only what is new of them is stored, after the longest history that
//! is known. Nothing is changed on the way, nothing waits, and what goes wrong is nobody's failure.

use std::borrow::Cow;
use std::sync::Arc;

use sabir_store::{Advance, Conversation, ConversationId, Hash, NewConversation, Origin, TurnId};
use sabir_wire::json::Survey;
use sabir_wire::protocol::Coverage;

use crate::answer::InFlight;
use crate::failure::Result;
use crate::ingress;
use crate::recall::base::found;
use crate::recall::history::recollect;
use crate::recall::sent::{Sender, SentHistory, read_sent};
use crate::recall::{Asker, Draft, Task, out_of_order};
use crate::record::Lines;
use crate::trace::TurnNames;

/// The conversation that a call is part of.
struct Followed {
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
        let mut sent = self.sent_history(body.clone(), None).await?;
        self.memory.underway().settled(&self.owner, &sent.states).await;
        let known = self.store.known(&self.owner, sent.hashes.clone()).await;
        let known = known.map_err(|error| out_of_order(&error))?;
        let base = known.checked_sub(1).map(|last| sent.hashes[last]);
        let title = self.title(body.clone()).await?;
        let followed = match self.joined(&sent.hashes[..known], body.clone()).await? {
            Joined::Conversation(conversation) => Followed::after(*conversation),
            Joined::None(id) => {
                Followed::new(self.new_conversation(&id, &title, Origin::Followed)?)
            }
        };
        let Followed { previous, advance, begins } = followed;
        let beside = self.new_conversation(&self.made_id(), &title, Origin::Followed)?;
        let messages = match sent.lines_after(known) {
            Some(new) => new,
            // What was read before is not kept any more, or was another node's to keep.
            None => {
                let mut whole = self.sent_history(body, Some(known)).await?;
                whole.lines_after(known).unwrap_or_default()
            }
        };
        let draft = Draft {
            previous,
            base,
            input: Lines { messages, end: sent.end, ..Lines::default() },
            settings: sent.settings,
            conversation: Some(advance),
            begins,
            beside: Some(beside),
            keeps_broken: true,
            is_named: false,
            is_awaited: false,
            request: None,
        };
        let names = TurnNames {
            turn: self.turn.clone(),
            conversation: None,
            is_named_by_header: false,
            is_answer_named: false,
        };
        self.open(draft, names, flight).await
    }

    /// Reads the history of the call.
    async fn sent_history(
        &self,
        body: Option<String>,
        first: Option<usize>,
    ) -> Result<SentHistory> {
        let Asker { call, key, .. } = self.asker;
        let owner = key.map(|key| key.name.clone()).unwrap_or_default();
        let sender = Sender { owner, client: call.client };
        let readings = Arc::clone(self.memory.readings());
        match (&body, call.large) {
            (None, None) => read_sent(&readings, &sender, &call.survey, first),
            _ => {
                let work = move |body: Cow<'_, str>| {
                    read_sent(&readings, &sender, &Survey::new(&body), first)
                };
                self.on_body(body, work).await
            }
        }
    }

    /// The conversation that a call with this known beginning goes on with: that of the agent's session, else the one with the
    /// longest history that the call begins with. Calls of a session that do not go on from its end, such as those of
    /// sub-agents, are known by their histories alone.
    async fn joined(&self, known: &[Hash], body: Option<String>) -> Result<Joined> {
        let named = self.asker.call.session_name();
        if let Some(session) = named.and_then(|name| ConversationId::new(name).ok()) {
            match found(self.store.conversation(&self.owner, &session).await)? {
                None => return Ok(Joined::None(session.as_str().to_owned())),
                Some(conversation) if goes_on(&conversation, known) => {
                    return Ok(Joined::Conversation(Box::new(conversation)));
                }
                Some(conversation) if self.retells(&conversation, body).await? => {
                    return Ok(Joined::Conversation(Box::new(conversation)));
                }
                Some(_) => {}
            }
        }
        let joined = self.store.followed_conversation(&self.owner, known.to_vec()).await;
        let joined = joined.map_err(|error| out_of_order(&error))?;
        Ok(match joined {
            Some(conversation) => Joined::Conversation(Box::new(conversation)),
            None => Joined::None(self.made_id()),
        })
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

/// Whether all that was said in a conversation is known at the beginning of a call.
fn goes_on(conversation: &Conversation, known: &[Hash]) -> bool {
    conversation.tip.is_none_or(|tip| known.contains(&tip))
}

impl Followed {
    fn after(conversation: Conversation) -> Self {
        let Conversation { id, tip, last_turn, .. } = conversation;
        Self { previous: last_turn, advance: Advance { id, from: tip }, begins: None }
    }

    fn new(conversation: NewConversation) -> Self {
        let advance = Advance { id: conversation.id.clone(), from: None };
        Self { previous: None, advance, begins: Some(conversation) }
    }
}
