//! A history that may be kept already, such as the session of an agent, from traffic or from an earlier import. It is found again
//! by its id and by what it means, and only what is new of it is added.

use sabir_store::{
    Addition, Conversation, ConversationId, Fork, Hash, Kind as StoreKind, NewMessage,
};
use sabir_wire::protocol::Coverage;

use super::begin::turns_of;
use super::import::{Import, Source};
use super::{Archive, is_made_id};
use crate::failure::Result;
use crate::recall::{end_position, found, out_of_order, recollect, trouble};
use crate::record::lines;
use crate::surface;
use crate::surface::Trouble;

/// What became of a history.
pub(super) struct Joined {
    pub(super) conversation: Conversation,
    /// How many of its messages the conversation did not have before.
    pub(super) added: usize,
    /// The conversation that has what was kept under this one's id, where the history went another way.
    pub(super) kept_as: Option<ConversationId>,
}

/// How a conversation goes on with a history.
enum Way {
    /// It has all of it.
    Known,
    /// These messages follow: all but so many elements of the history.
    On(Vec<NewMessage>, usize),
    /// The history went another way, behind so many elements.
    Apart(usize),
}

impl Archive<'_> {
    /// The conversation that a history belongs to: by its id, or because it ends with what the history begins with. One that
    /// somebody asked for, or that has the name of another session, is known by its name alone.
    pub(super) async fn same(
        &self,
        id: Option<&str>,
        import: &Import,
    ) -> Result<Option<Conversation>> {
        if let Some(id) = id.and_then(|id| ConversationId::new(id).ok())
            && let Some(conversation) = found(self.store.conversation(&self.owner, &id).await)?
        {
            return Ok(Some(conversation));
        }
        let hashes: Vec<Hash> = import.lines.messages.iter().map(|line| line.hash).collect();
        let followed = self.store.follow(&self.owner, hashes).await;
        let followed = followed.map_err(|error| out_of_order(&error))?.conversation;
        Ok(followed.filter(|conversation| is_made_id(conversation.id.as_str())))
    }

    /// Adds to a conversation what it does not have yet.
    pub(super) async fn join(
        &self,
        conversation: Conversation,
        (source, import): (Source, Import),
    ) -> Result<Joined> {
        let Some(tip) = conversation.tip else {
            let added = import.lines.places.len();
            let conversation = self.fill(&conversation, import).await?;
            return Ok(Joined { conversation, added, kept_as: None });
        };
        let way = match import.behind(&tip) {
            Some((new, known)) => Way::On(new, known),
            None => self.way(&conversation, source).await?,
        };
        let new = |known: usize| &import.from_user[known.min(import.from_user.len())..];
        match way {
            Way::Known => Ok(Joined { conversation, added: 0, kept_as: None }),
            Way::On(messages, known) => {
                self.extend(conversation, (Some(tip), messages), new(known)).await
            }
            Way::Apart(known) => {
                let kept_as = self.keep_apart(&conversation).await?;
                let whole = (None, import.lines.messages);
                let joined = self.extend(conversation, whole, new(known)).await?;
                Ok(Joined { kept_as: Some(kept_as), ..joined })
            }
        }
    }

    /// Compares a history with a conversation that it does not go on from: either may lack what an agent adds on the way.
    async fn way(&self, conversation: &Conversation, source: Source) -> Result<Way> {
        let (tip, last) = (conversation.tip, conversation.last_turn.as_ref());
        let kept = recollect(self.pool, (&self.store, &self.owner), tip, last).await?.stretches;
        let end = end_position(self.pool, (&self.store, &self.owner), conversation).await?;
        let bytes: usize = kept.iter().map(|stretch| stretch.kept.as_body().len()).sum();
        let work = move |_: &_| {
            let mut known = Vec::new();
            for stretch in &kept {
                known.extend(stretch.kept.entries()?);
            }
            let (protocol, entries) = source.entries()?;
            let coverage = Coverage::of(&entries, &known);
            let new = &entries[coverage.elements..];
            Ok(match coverage {
                _ if new.is_empty() => Way::Known,
                Coverage { is_all: false, elements } => Way::Apart(elements),
                Coverage { is_all: true, elements } => {
                    let lines = lines(protocol, end, new).map_err(|error| out_of_order(&error))?;
                    Way::On(lines.messages, elements)
                }
            })
        };
        self.pool.run_on(bytes, work).await
    }

    /// Puts messages behind `after.0`, and lets the conversation end with the last of them. Of each new element it is known
    /// whether the user says something in it.
    async fn extend(
        &self,
        conversation: Conversation,
        after: (Option<Hash>, Vec<NewMessage>),
        from_user: &[bool],
    ) -> Result<Joined> {
        if after.1.is_empty() {
            return Ok(Joined { conversation, added: 0, kept_as: None });
        }
        let (id, from) = (&conversation.id, conversation.tip);
        let (base, messages) = after;
        let addition =
            Addition { base, messages, turns: turns_of(from_user), ..Addition::default() };
        let appended = self.store.append(&self.owner, id, from, addition).await;
        appended.map_err(|error| match error.kind() {
            StoreKind::Conflict => trouble(surface::DEFAULT, &Trouble::Locked),
            _ => out_of_order(&error),
        })?;
        let conversation = self.find(conversation.id.as_str()).await?;
        Ok(Joined { conversation, added: from_user.len(), kept_as: None })
    }

    /// Gives what a conversation has another id, since its own will be that of a history that went another way, as after a
    /// rewind or a compaction.
    async fn keep_apart(&self, conversation: &Conversation) -> Result<ConversationId> {
        let id = ConversationId::new(self.made_id()).map_err(|error| out_of_order(&error))?;
        let (owner, from) = (self.owner.clone(), conversation.id.clone());
        let forked = self.store.fork(Fork { owner, from, after: None, id }).await;
        Ok(forked.map_err(|error| out_of_order(&error))?.id)
    }
}

impl Import {
    /// The lines behind this one, if it is one of them, and how many elements stand before them.
    fn behind(&self, tip: &Hash) -> Option<(Vec<NewMessage>, usize)> {
        let at = self.lines.messages.iter().position(|line| line.hash == *tip)?;
        let new = self.lines.messages[at + 1..].to_vec();
        let known = self.lines.places.iter().rposition(|(line, _)| line == tip)?;
        Some((new, known + 1))
    }
}
