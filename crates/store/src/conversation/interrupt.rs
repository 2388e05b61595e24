//! Turns that died with their node: each stays the last of its conversation, interrupted and without messages.

use super::TurnCount;
use super::advance::{Step, advance};
use super::read::read;
use crate::clock::Time;
use crate::engine::{Session, optional};
use crate::error::{Kind, Result};
use crate::hold::CONVERSATION;
use crate::id::{ConversationId, NodeId, Owner, TurnId};
use crate::message::tip_of;
use crate::turn;
use crate::turn::add_reference;

/// Ends the turns that hold conversations for a dead node, and says how many those are.
pub(crate) async fn interrupt_all<S: Session>(
    session: &mut S,
    node: &NodeId,
    now: Time,
) -> Result<u64> {
    let mut turns = 0;
    let sql = "SELECT hold.owner, hold.id, hold.turn FROM hold
        JOIN turn ON turn.owner = hold.owner AND turn.id = hold.turn AND turn.closed_at IS NULL
        WHERE hold.node = $1 AND hold.purpose = $2 AND hold.settled = 0";
    for mut row in session.query(sql, &[node.into(), CONVERSATION.into()]).await? {
        let owner = Owner::from_column(row.take()?);
        let (id, turn): (ConversationId, TurnId) = (row.take()?, row.take()?);
        interrupt(session, &owner, (&id, &turn), now).await?;
        turns += 1;
    }
    Ok(turns)
}

/// Ends a turn of a dead node that held a conversation.
pub(crate) async fn interrupt<S: Session>(
    session: &mut S,
    owner: &Owner,
    (id, turn): (&ConversationId, &TurnId),
    now: Time,
) -> Result<()> {
    let sql = "UPDATE turn SET status = 'interrupted', node = '', closed_at = $3
        WHERE owner = $1 AND id = $2 AND closed_at IS NULL";
    if session.execute(sql, &[owner.into(), turn.into(), now.into()]).await? == 0 {
        return Ok(());
    }
    let conversation = match read(session, owner, id).await {
        Err(error) if error.kind() == Kind::NotFound => return Ok(()),
        conversation => conversation?,
    };
    let dead = turn::read(session, owner, turn).await?;
    // The conversation has gone on without it.
    if dead.previous != conversation.last_turn {
        return Ok(());
    }
    // What was in force goes on being so.
    let (system, tools) = match &conversation.last_turn {
        Some(last) => {
            let last = turn::read(session, owner, last).await?;
            (last.system, last.tools)
        }
        None => (conversation.system, conversation.tools),
    };
    let sql = "UPDATE turn SET
            system = (SELECT number FROM setting WHERE owner = $1 AND hash = $3),
            tools = (SELECT number FROM setting WHERE owner = $1 AND hash = $4)
        WHERE owner = $1 AND id = $2";
    let (system, tools) = (optional(system.as_ref()), optional(tools.as_ref()));
    session.execute(sql, &[owner.into(), turn.into(), system, tools]).await?;
    let to = match &conversation.tip {
        Some(tip) => Some(tip_of(session, owner, tip).await?),
        None => None,
    };
    let step = Step {
        from: conversation.tip,
        to,
        is_longer: false,
        turn: Some(turn),
        turns: TurnCount::More(1),
        protocol: Some(&dead.protocol),
        model: None,
        now,
    };
    advance(session, owner, id, &step).await?;
    add_reference(session, owner, turn, now).await
}
