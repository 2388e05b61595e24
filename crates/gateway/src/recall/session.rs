//! Calls that ask for no state, where everything is kept: only what is new of them is stored, after the longest history that
//! is known. Nothing is changed on the way, nothing waits, and what goes wrong is nobody's failure.

use std::sync::Arc;

use sabir_store::{
    Advance, ConversationId, ExchangeId, Hash, Name, NewConversation, NewMessage, Opening, Record,
    Title,
};
use sabir_wire::Protocol;

use crate::answer::InFlight;
use crate::failure::Result;
use crate::ingress;
use crate::recall::base::found;
use crate::recall::read::{Continued, Read, read};
use crate::recall::{Task, out_of_order};
use crate::record::{Lines, Plan, Recorder, record};
use crate::trace::TurnNames;

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
        let conversation = self.session(&hashes[..known]).await?;
        let new: Vec<NewMessage> = input.messages.drain(known..).collect();
        input = Lines { messages: new, end: input.end, ..Lines::default() };
        let opening = Opening {
            owner: self.owner.clone(),
            id: self.turn_id()?,
            previous: None,
            base,
            protocol: Name::new(client.as_str()).map_err(|error| out_of_order(&error))?,
            exchange: ExchangeId::new(&*self.exchange).ok(),
        };
        let keep = |setting: Option<(Protocol, String)>| {
            let kept = setting.map(|(protocol, text)| record(protocol, &text)).transpose();
            kept.map_err(|error| out_of_order(&error))
        };
        let plan = Plan {
            opening,
            client,
            input,
            system: keep(effective.system)?,
            tools: keep(effective.tools)?,
            conversation,
            keeps_broken: true,
            is_named: false,
            is_awaited: false,
            settings: None,
        };
        let opened = self.store.open_turn(plan.opening.clone()).await;
        opened.map_err(|error| out_of_order(&error))?;
        let (turn, conversation) = (self.turn.clone(), None);
        flight.trace.set_turn(TurnNames { turn, conversation, is_answer_named: false });
        let snapshot = Arc::clone(flight.admission.snapshot());
        flight.watch(Box::new(Recorder::new(snapshot, self.store.clone(), plan)));
        Ok(())
    }

    /// The conversation of an agent's session, if this call goes on from its end. Others, such as those of sub-agents, stand
    /// beside it.
    async fn session(&self, known: &[Hash]) -> Result<Option<Advance>> {
        let named = SESSIONS.iter().find_map(|name| self.asker.call.header(name));
        let Some(id) = named.and_then(|name| ConversationId::new(name).ok()) else {
            return Ok(None);
        };
        let conversation = match found(self.store.conversation(&self.owner, &id).await)? {
            Some(conversation) => conversation,
            None => {
                let new = NewConversation {
                    owner: self.owner.clone(),
                    id,
                    title: Title::new(&self.title()),
                    metadata: Record::default(),
                };
                let begun = self.store.ensure_conversation(new).await;
                begun.map_err(|error| out_of_order(&error))?
            }
        };
        let goes_on = conversation.tip.is_none_or(|tip| known.last() == Some(&tip));
        Ok(goes_on.then_some(Advance { id: conversation.id, from: conversation.tip }))
    }
}
