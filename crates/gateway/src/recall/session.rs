//! Calls that ask for no state, where everything is kept: only what is new of them is stored, after the longest history that
//! is known. Nothing is changed on the way, nothing waits, and what goes wrong is nobody's failure.

use sabir_store::{Advance, Conversation, ConversationId, Hash, NewMessage, TurnId};

use crate::answer::InFlight;
use crate::failure::Result;
use crate::ingress;
use crate::recall::base::found;
use crate::recall::read::{Continued, Read, read};
use crate::recall::{Draft, Task, out_of_order};
use crate::record::Lines;

/// The headers by which agents name their sessions.
const SESSIONS: [&str; 2] = ["x-claude-code-session-id", "session-id"];

impl Task<'_> {
    /// Records a call that did not ask for it.
    pub(super) async fn follow(self, flight: &mut InFlight) {
        if let Err(failure) = self.followed(flight).await {
            tracing::debug!(target: "sabir", kind = ?failure.fault.kind, "a call could not be recorded");
        }
    }

    async fn followed(&self, flight: &mut InFlight) -> Result<()> {
        ingress::check_density(&self.asker.call.survey)?;
        let (client, body) = (self.client(), self.asker.call.survey.source().to_owned());
        let work = move |_: &_| read(client, &body, Continued::default());
        let Read { mut input, effective, .. } =
            self.pool.run_on(self.asker.call.body.len(), work).await?;
        let hashes: Vec<Hash> = input.messages.iter().map(|message| message.hash).collect();
        let known = self.store.known(&self.owner, hashes.clone()).await;
        let known = known.map_err(|error| out_of_order(&error))?;
        let base = known.checked_sub(1).map(|last| hashes[last]);
        let session = self.session(&hashes[..known]).await?;
        let new: Vec<NewMessage> = input.messages.drain(known..).collect();
        let (previous, conversation) = session.unzip();
        let draft = Draft {
            previous: previous.flatten(),
            base,
            input: Lines { messages: new, end: input.end, ..Lines::default() },
            settings: effective,
            conversation,
            keeps_broken: true,
            is_named: false,
            is_awaited: false,
            request: None,
        };
        self.open(draft, None, flight).await
    }

    /// The conversation of an agent's session with its last turn, if this call goes on from its end. Others, such as those of
    /// sub-agents, stand beside it.
    async fn session(&self, known: &[Hash]) -> Result<Option<(Option<TurnId>, Advance)>> {
        let named = SESSIONS.iter().find_map(|name| self.asker.call.header(name));
        let Some(id) = named.and_then(|name| ConversationId::new(name).ok()) else {
            return Ok(None);
        };
        let conversation = match found(self.store.conversation(&self.owner, &id).await)? {
            Some(conversation) => conversation,
            None => self.begin_conversation(id.as_str()).await?,
        };
        let Conversation { id, tip, last_turn, .. } = conversation;
        let goes_on = tip.is_none_or(|tip| known.last() == Some(&tip));
        Ok(goes_on.then_some((last_turn, Advance { id, from: tip })))
    }
}
