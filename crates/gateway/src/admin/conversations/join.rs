//! A history that may be kept already, such as the session of an agent, from traffic or from an earlier import. It is found again
//! by its id and by what it means, and only what is new of it is added.

use sabir_store::{
    Addition, Conversation, ConversationId, Deletion, Fork, Hash, Kind as StoreKind, NewMessage,
    Time, TurnCount,
};
use sabir_wire::Protocol;
use sabir_wire::json::Reader;
use sabir_wire::protocol::{Coverage, Entry};

use super::begin::turns_of;
use super::import::{Import, Source};
use super::{Archive, is_made_id};
use crate::failure::Result;
use crate::recall::{
    End, HistoryLines, end_position, found, out_of_order, recollect_lines, trouble,
};
use crate::record::{HeldLines, Position};
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
    On(Branch),
    /// The history went another way.
    Apart(Branch),
}

/// What is new of a history, behind what is kept of it.
pub(super) struct Branch {
    /// The last line that both have.
    pub(super) base: Option<Hash>,
    pub(super) messages: Vec<NewMessage>,
    /// How many elements of the history stand before them.
    pub(super) known: usize,
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
            Some(branch) => Way::On(branch),
            None => self.way(&conversation, source).await?,
        };
        let from_user = &import.from_user;
        match way {
            Way::Known => Ok(Joined { conversation, added: 0, kept_as: None }),
            Way::On(branch) => {
                let new = from_user.get(branch.known..).unwrap_or_default();
                let turns = TurnCount::More(turns_of(new));
                self.extend(conversation, branch, (new.len(), turns)).await
            }
            Way::Apart(branch) => {
                let (new, turns) =
                    (from_user.len().saturating_sub(branch.known), turns_of(from_user));
                self.leave(conversation, branch, (new, TurnCount::All(turns))).await
            }
        }
    }

    /// Lets a conversation go another way, and keeps what it had under another id.
    async fn leave(
        &self,
        conversation: Conversation,
        branch: Branch,
        count: (usize, TurnCount),
    ) -> Result<Joined> {
        let kept_as = self.keep_apart(&conversation).await?;
        match self.extend(conversation, branch, count).await {
            Ok(joined) => Ok(Joined { kept_as: Some(kept_as), ..joined }),
            Err(failure) => {
                // The conversation is what it was; nobody needs it twice.
                let _ = self.store.delete_conversation(&self.owner, &kept_as, Deletion::Name).await;
                Err(failure)
            }
        }
    }

    /// Compares a history with a conversation that it does not go on from: either may lack what an agent adds on the way.
    async fn way(&self, conversation: &Conversation, source: Source) -> Result<Way> {
        let (tip, last) = (conversation.tip, conversation.last_turn.as_ref());
        let end = End { tip, last, summary: None };
        let kept = recollect_lines(self.pool, (&self.store, &self.owner), end).await?;
        let end = end_position(self.pool, (&self.store, &self.owner), conversation).await?;
        let bytes = kept.bytes();
        let work = move |_: &_| {
            let borders = borders(&kept)?;
            let mut known = Vec::new();
            for stretch in &kept.into_recollection().stretches {
                known.extend(stretch.kept.entries()?);
            }
            let (protocol, entries) = source.entries()?;
            let coverage = Coverage::of(&entries, &known);
            if coverage.elements == entries.len() {
                return Ok(Way::Known);
            }
            let common = match coverage.is_all {
                true => Common { elements: coverage.elements, base: tip, end },
                false => Common::of(&coverage, &borders, known),
            };
            let times = source.times(entries.len());
            let branch = common.branch(protocol, &entries, &times)?;
            Ok(if coverage.is_all { Way::On(branch) } else { Way::Apart(branch) })
        };
        self.pool.run_on(bytes, work).await
    }

    /// Puts a branch into a conversation, which ends with the last of it: so many messages, which stand for so many turns.
    pub(super) async fn extend(
        &self,
        conversation: Conversation,
        branch: Branch,
        (added, turns): (usize, TurnCount),
    ) -> Result<Joined> {
        let Branch { base, messages, .. } = branch;
        if messages.is_empty() {
            return Ok(Joined { conversation, added: 0, kept_as: None });
        }
        let (id, from) = (&conversation.id, conversation.tip);
        let addition = Addition { base, messages, turns, ..Addition::default() };
        let appended = self.store.append(&self.owner, id, from, addition).await;
        appended.map_err(|error| match error.kind() {
            StoreKind::Conflict => trouble(surface::DEFAULT, &Trouble::Locked),
            _ => out_of_order(&error),
        })?;
        let conversation = self.find(conversation.id.as_str()).await?;
        Ok(Joined { conversation, added, kept_as: None })
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

/// What a history and a conversation have in common.
struct Common {
    /// How many elements of the history.
    elements: usize,
    /// The last line of it.
    base: Option<Hash>,
    end: Position,
}

/// Where a line ends: behind so many elements of a conversation.
struct Border {
    elements: usize,
    line: Hash,
}

fn borders(kept: &HistoryLines) -> Result<Vec<Border>> {
    let mut elements = 0;
    let mut borders = Vec::with_capacity(kept.lines.len());
    for line in &kept.lines {
        let list = format!("[{}]", line.elements);
        Reader::new(&list).array(|_, element| {
            elements += 1;
            element.skip()
        })?;
        borders.extend(line.hash.map(|line| Border { elements, line }));
    }
    Ok(borders)
}

impl Common {
    /// The longest beginning of a history that ends where a line of the conversation does.
    fn of(coverage: &Coverage, borders: &[Border], mut known: Vec<Entry<'static>>) -> Self {
        let ends = coverage.ends.iter().enumerate();
        let found = ends.rev().find_map(|(last, end)| {
            let at = borders.binary_search_by_key(end, |border| border.elements).ok()?;
            Some((last + 1, &borders[at]))
        });
        let Some((elements, border)) = found else {
            return Self { elements: 0, base: None, end: Position::default() };
        };
        known.truncate(border.elements);
        let end = Position::of_lines(known, border.line);
        Self { elements, base: Some(border.line), end }
    }

    /// What is new of a history behind it.
    fn branch(
        self,
        protocol: Protocol,
        entries: &[Entry<'_>],
        times: &[Option<Time>],
    ) -> Result<Branch> {
        let mut lines = HeldLines::behind(protocol, self.end);
        for (entry, time) in entries.iter().zip(times).skip(self.elements) {
            let added = lines.add(&entry.json, &entry.content, *time);
            added.map_err(|error| out_of_order(&error))?;
        }
        let lines = lines.finish().map_err(|error| out_of_order(&error))?;
        Ok(Branch { base: self.base, messages: lines.messages, known: self.elements })
    }
}

impl Import {
    /// What stands behind this line, if it is one of them.
    fn behind(&self, tip: &Hash) -> Option<Branch> {
        let at = self.lines.messages.iter().position(|line| line.hash == *tip)?;
        let messages = self.lines.messages[at + 1..].to_vec();
        let known = self.lines.places.iter().rposition(|(line, _)| line == tip)?;
        Some(Branch { base: Some(*tip), messages, known: known + 1 })
    }
}
