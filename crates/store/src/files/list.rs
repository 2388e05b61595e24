//! Lists of sessions: by the times of their files, of which those are opened that are shown.

use std::collections::HashMap;

use super::form::{Form, Outline};
use crate::conversation::{After, Cursor, Listing, Overview, Page};
use crate::error::{Error, Result};
use crate::folder::{Folder, Listed, SessionId, Stamp};
use crate::id::ConversationId;
use crate::limit;

/// How many outlines are kept in memory.
const OUTLINES_MAX: usize = 50_000;

/// What was last read of each file.
#[derive(Debug, Default)]
pub(super) struct Outlines(HashMap<SessionId, (Stamp, Outline)>);

impl Outlines {
    /// The page of the sessions in a folder.
    pub(super) fn page(
        &mut self,
        (folder, form): (&Folder, &dyn Form),
        page: &Page,
    ) -> Result<Listing> {
        let all = folder.list()?;
        let start = start(&all, page.after.as_ref())?;
        let most = usize::try_from(limit::page(page.limit)).unwrap_or(usize::MAX);
        let (mut data, mut next) = (Vec::new(), None);
        for listed in &all[start..] {
            let outline = self.outline(folder, form, listed)?;
            let is_sought =
                |search: &crate::Search| search.finds(listed.id.as_str(), &outline.title);
            if !page.search.as_ref().is_none_or(is_sought) {
                continue;
            }
            if data.len() == most {
                return Ok(Listing { data, next });
            }
            data.push(overview(listed, outline)?);
            next = Some(cursor(listed)?);
        }
        Ok(Listing { data, next: None })
    }

    fn outline(&mut self, folder: &Folder, form: &dyn Form, listed: &Listed) -> Result<Outline> {
        if let Some((stamp, outline)) = self.0.get(&listed.id)
            && *stamp == listed.stamp
        {
            return Ok(outline.clone());
        }
        // What cannot be read is listed all the same, with the reason.
        let file = match folder.read(&listed.id) {
            Ok(Some(file)) => file,
            Ok(None) => return Ok(Outline::default()),
            Err(error) => {
                let unreadable = Some(error.to_string());
                return Ok(Outline { unreadable, ..Outline::default() });
            }
        };
        let outline = form.outline(&file.bytes);
        if self.0.len() >= OUTLINES_MAX {
            self.0.clear();
        }
        self.0.insert(listed.id.clone(), (file.stamp, outline.clone()));
        Ok(outline)
    }
}

/// The number of the first that a page shows.
fn start(all: &[Listed], after: Option<&After>) -> Result<usize> {
    match after {
        None => Ok(0),
        Some(After::Conversation(id)) => {
            let place = all.iter().position(|listed| listed.id.as_str() == id.as_str());
            place.map(|place| place + 1).ok_or_else(|| Error::not_found("conversation"))
        }
        Some(After::Place(Cursor { time, id })) => Ok(all.partition_point(|listed| {
            let at = listed.stamp.nanoseconds();
            at > *time || at == *time && listed.id.as_str() <= id.as_str()
        })),
    }
}

fn cursor(listed: &Listed) -> Result<Cursor> {
    let id = ConversationId::new(listed.id.as_str())?;
    Ok(Cursor { time: listed.stamp.nanoseconds(), id })
}

fn overview(listed: &Listed, outline: Outline) -> Result<Overview> {
    Ok(Overview {
        id: ConversationId::new(listed.id.as_str())?,
        title: outline.title,
        created_at: outline.created_at.unwrap_or(listed.modified_at),
        updated_at: listed.modified_at,
        turns: outline.turns,
        protocols: Vec::new(),
        models: Vec::new(),
        unreadable: outline.unreadable,
    })
}
