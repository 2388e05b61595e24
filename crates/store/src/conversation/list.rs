//! An owner's conversations, the newest first, page by page.

use super::{After, Cursor, Listing, Overview, Page, names};
use crate::clock::Time;
use crate::engine::{Row, Session, Work};
use crate::error::{Error, Result};
use crate::id::Owner;
use crate::limit::page;

pub(crate) struct List {
    pub(crate) owner: Owner,
    pub(crate) page: Page,
}

/// What is searched stands in the index, so that only the rows of the page itself are read.
const NEWEST: &str = "SELECT c.id, c.title, c.created_at, c.updated_at, c.turns,
        c.protocols, c.models
    FROM (SELECT id, updated_at FROM conversation
        WHERE owner = $1 AND (updated_at, id) < ($2, $3) AND search LIKE $4 ESCAPE '!'
        ORDER BY updated_at DESC, id DESC LIMIT $5) newest
    JOIN conversation c ON c.owner = $1 AND c.id = newest.id
    ORDER BY newest.updated_at DESC, newest.id DESC";

impl Work for List {
    type Output = Listing;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Listing> {
        let Behind { time, id } = self.behind(session).await?;
        let limit = page(self.page.limit);
        let pattern = self.page.search.as_ref().map_or("%".to_owned(), |search| search.pattern());
        let params = [
            (&self.owner).into(),
            time.into(),
            id.as_str().into(),
            pattern.as_str().into(),
            (limit + 1).into(),
        ];
        let rows = session.query(NEWEST, &params).await?;
        let has_more = rows.len() as i64 > limit;
        let data = rows.into_iter().take(limit as usize).map(overview);
        let data = data.collect::<Result<Vec<Overview>>>()?;
        let last = data.last().filter(|_| has_more);
        let next = last.map(|last| Cursor { time: last.updated_at.0, id: last.id.clone() });
        Ok(Listing { data, next })
    }
}

/// What the rows of a page stand behind.
struct Behind {
    time: Time,
    id: String,
}

impl List {
    async fn behind<S: Session>(&self, session: &mut S) -> Result<Behind> {
        let after = match &self.page.after {
            None => return Ok(Behind { time: Time(i64::MAX), id: String::new() }),
            Some(After::Place(Cursor { time, id })) => {
                return Ok(Behind { time: Time(*time), id: id.as_str().to_owned() });
            }
            Some(After::Conversation(id)) => id,
        };
        let sql = "SELECT updated_at, id FROM conversation WHERE owner = $1 AND id = $2";
        let row = session.first(sql, &[(&self.owner).into(), after.into()]).await?;
        let mut row = row.ok_or_else(|| Error::not_found("conversation"))?;
        Ok(Behind { time: row.take()?, id: row.take()? })
    }
}

fn overview(mut row: Row) -> Result<Overview> {
    Ok(Overview {
        id: row.take()?,
        title: row.take()?,
        created_at: row.take()?,
        updated_at: row.take()?,
        turns: row.take::<i64>()?.cast_unsigned(),
        protocols: names(&row.take::<String>()?)?,
        models: names(&row.take::<String>()?)?,
        unreadable: None,
    })
}
