//! How a conversation goes on: its tip moves from where the caller saw it, or not at all.

use super::read::read;
use super::{Addition, Conversation, NewConversation, TurnCount, searchable};
use crate::clock::Time;
use crate::engine::{Session, Work, optional};
use crate::error::{Error, Result};
use crate::id::{ConversationId, Hash, Name, Owner, TurnId};
use crate::limit::{ITEMS_MAX, MESSAGES_MAX, NAMES_MAX, count};
use crate::message::{Tip, append, base_at};
use crate::response::name_items;
use crate::retention::{Kind, suspect_orphan};
use crate::turn::{add_reference, drop_reference};

/// A step of a conversation, by a turn or by messages that were put there.
pub(crate) struct Step<'a> {
    pub(crate) from: Option<Hash>,
    pub(crate) to: Option<Tip>,
    /// Whether messages were added behind `from`, which is used by them from now on.
    pub(crate) is_longer: bool,
    pub(crate) turn: Option<&'a TurnId>,
    pub(crate) turns: TurnCount,
    pub(crate) protocol: Option<&'a Name>,
    pub(crate) model: Option<&'a Name>,
    pub(crate) now: Time,
}

impl Step<'_> {
    /// From nothing to nothing.
    pub(super) fn none(now: Time) -> Self {
        let (from, to, turn, protocol, model) = (None, None, None, None, None);
        Self { from, to, is_longer: false, turn, turns: TurnCount::default(), protocol, model, now }
    }
}

/// Messages put into a conversation without a call, or taken from its end: they stand after their base, which becomes part
/// of the path in place of `from`.
pub(crate) struct Append {
    pub(crate) owner: Owner,
    pub(crate) id: ConversationId,
    pub(crate) from: Option<Hash>,
    pub(crate) addition: Addition,
    pub(crate) now: Time,
}

impl Work for Append {
    type Output = Option<Hash>;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Option<Hash>> {
        let Addition { base, messages, turns, items } = &self.addition;
        count("messages", messages.len(), MESSAGES_MAX)?;
        count("items", items.len(), ITEMS_MAX)?;
        let after = base_at(session, &self.owner, base.as_ref()).await?;
        let to = append(session, &self.owner, after, messages, self.now).await?;
        name_items(session, &self.owner, &self.id, items).await?;
        let step = Step {
            from: self.from,
            to,
            is_longer: *base == self.from && !messages.is_empty(),
            turn: None,
            turns: *turns,
            protocol: None,
            model: None,
            now: self.now,
        };
        advance(session, &self.owner, &self.id, &step).await?;
        Ok(to.map(|to| to.hash))
    }
}

/// Begins a conversation with its first step, unless the owner has one of this id. Says whether it did.
pub(crate) async fn begin<S: Session>(
    session: &mut S,
    new: &NewConversation,
    step: &Step<'_>,
) -> Result<bool> {
    let search = searchable(&new.id, &new.title);
    let sql = "INSERT INTO conversation (owner, id, title, search, metadata, created_at,
            updated_at, used_at, turns, protocols, models, followed, tip, last_turn)
        VALUES ($1, $2, $3, $4, $5, $6, $6, $6, $8, $9, $10, $7, $11, $12)
        ON CONFLICT (owner, id) DO NOTHING";
    let params = [
        (&new.owner).into(),
        (&new.id).into(),
        (&new.title).into(),
        search.as_str().into(),
        (&new.metadata).into(),
        step.now.into(),
        new.origin.column().into(),
        step.turns.after(0).cast_signed().into(),
        step.protocol.map_or("", Name::as_str).into(),
        step.model.map_or("", Name::as_str).into(),
        Tip::column(step.to),
        optional(step.turn),
    ];
    Ok(session.execute(sql, &params).await? == 1)
}

/// Moves the tip by compare-and-set. A turn that lost its hold to another may not move it either.
pub(crate) async fn advance<S: Session>(
    session: &mut S,
    owner: &Owner,
    id: &ConversationId,
    step: &Step<'_>,
) -> Result<()> {
    let was = read(session, owner, id).await?;
    let protocols = with(&was.protocols, step.protocol);
    let models = with(&was.models, step.model);
    let turn = last_turn(session, owner, &was, step).await?;
    // A turn that was taken for dead and is not counts once.
    let is_new = step.turn.is_none() || step.turn != was.last_turn.as_ref();
    let turns = if is_new { step.turns.after(was.turns) } else { was.turns };
    let sql =
        "UPDATE conversation SET tip = $3, last_turn = $4, turns = $5, protocols = $6, models = $7,
            updated_at = $8, used_at = $8
        WHERE owner = $1 AND id = $2 AND last_turn IS NOT DISTINCT FROM $10
            AND tip IS NOT DISTINCT FROM
                (SELECT number FROM message WHERE owner = $1 AND hash = $9)
            AND NOT EXISTS (SELECT 1 FROM hold JOIN node ON node.id = hold.node
                WHERE hold.owner = $1 AND hold.purpose = 'conversation' AND hold.id = $2
                    AND hold.turn <> $11 AND node.alive_until >= $8)";
    let params = [
        owner.into(),
        id.into(),
        Tip::column(step.to),
        optional(turn.as_ref()),
        turns.cast_signed().into(),
        protocols.as_str().into(),
        models.as_str().into(),
        step.now.into(),
        optional(step.from.as_ref()),
        optional(was.last_turn.as_ref()),
        step.turn.map_or("", TurnId::as_str).into(),
    ];
    // A message that is gone has no number, as has none at all.
    if was.tip != step.from || session.execute(sql, &params).await? == 0 {
        return Err(Error::conflict("the conversation has gone on, or another call works on it"));
    }
    if step.turn.is_some() || turn != was.last_turn {
        drop_reference(session, owner, was.last_turn.as_ref()).await?;
    }
    // A turn that ends counts the conversation itself.
    if let Some(turn) =
        turn.filter(|turn| step.turn.is_none() && was.last_turn.as_ref() != Some(turn))
    {
        add_reference(session, owner, &turn, step.now).await?;
    }
    let left = was.tip.filter(|tip| !step.is_longer && step.to.map(|to| to.hash) != Some(*tip));
    suspect_orphan(session, owner, Kind::Message, left.as_ref()).await
}

/// The turn that a conversation ends on after a step.
async fn last_turn<S: Session>(
    session: &mut S,
    owner: &Owner,
    was: &Conversation,
    step: &Step<'_>,
) -> Result<Option<TurnId>> {
    match (step.turn, step.turns, &was.last_turn) {
        (Some(turn), ..) => Ok(Some(turn.clone())),
        (None, TurnCount::All(_), Some(last)) => {
            let params = [owner.into(), last.into(), Tip::column(step.to)];
            let row = session.first(NEWEST_ON_PATH, &params).await?;
            row.map(|mut row| row.take()).transpose()
        }
        (None, _, last) => Ok(last.clone()),
    }
}

/// The newest of a turn and those before it that ends with a message of a path.
const NEWEST_ON_PATH: &str = "WITH RECURSIVE chain (place, id, previous, tip) AS (
        SELECT CAST(1 AS BIGINT), id, previous, tip FROM turn WHERE owner = $1 AND id = $2
        UNION ALL
        SELECT chain.place + 1, t.id, t.previous, t.tip
        FROM chain JOIN turn t ON t.owner = $1 AND t.id = chain.previous
    ), path (number, parent) AS (
        SELECT number, parent FROM message WHERE number = $3
        UNION ALL
        SELECT m.number, m.parent FROM path JOIN message m ON m.number = path.parent
    )
    SELECT chain.id FROM chain JOIN path ON path.number = chain.tip ORDER BY chain.place LIMIT 1";

impl TurnCount {
    /// How many there are after so many before.
    fn after(self, before: u64) -> u64 {
        match self {
            Self::More(more) => before.saturating_add(more),
            Self::All(all) => all,
        }
    }
}

/// The names with one more, if it is new and there is room.
fn with(names: &[Name], name: Option<&Name>) -> String {
    let is_new = |name: &&Name| !names.contains(name) && names.len() < NAMES_MAX;
    let all = names.iter().chain(name.filter(is_new)).map(Name::as_str);
    all.collect::<Vec<_>>().join("\n")
}
