//! `sabir conversations list`: a line for each, the newest first.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use clap::Args;
use sabir_backend::percent;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{PATH, Reader};
use crate::archive::{Archive, GatewayOptions};
use crate::output::printable;
use crate::shell::word;
use crate::table::{Column, Squeeze, fitted};
use crate::{output, terminal};

/// List what is kept, the newest first.
///
/// Example:
///   sabir conversations list --query pears --limit 5
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(super) struct List {
    /// How many to list
    #[arg(long, value_name = "N", default_value_t = LIMIT, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,

    /// Only those whose title or id has this text
    #[arg(long, value_name = "TEXT")]
    query: Option<String>,

    /// Those behind this one: an id, or what the page before named
    #[arg(long, value_name = "ID")]
    after: Option<String>,
}

const LIMIT: u32 = 20;

/// What the gateway lists at once.
const PAGE_MAX: u32 = 100;

/// A page as the gateway answers it; what programs are given is passed on as it is.
#[derive(Deserialize)]
struct Page {
    data: Vec<Value>,
    has_more: bool,
    /// Where the next page begins; a gateway of an earlier version has none.
    next: Option<String>,
}

/// What people are shown of a conversation.
#[derive(Deserialize)]
struct Row {
    id: String,
    title: String,
    updated_at: i64,
    turns: u64,
    models: Vec<String>,
    unreadable: Option<String>,
}

const COLUMNS: [Column; 5] = [
    Column::left("ID", Squeeze::Never),
    Column::left("UPDATED", Squeeze::Away(1)),
    Column::right("TURNS", Squeeze::Away(2)),
    Column::left("MODELS", Squeeze::Away(3)),
    Column::left("TITLE", Squeeze::To(12)),
];

impl Default for List {
    fn default() -> Self {
        Self { limit: LIMIT, query: None, after: None }
    }
}

impl List {
    pub(super) fn run(
        self,
        archive: &Archive,
        reader: Reader,
        place: &GatewayOptions,
    ) -> Result<()> {
        let page = self.page(archive)?;
        match reader {
            Reader::Program => {
                let Page { data, has_more, next } = page;
                let mut listing = json!({"data": data, "has_more": has_more});
                if let Some(next) = next {
                    listing["next"] = Value::String(next);
                }
                output::print(&listing.to_string())
            }
            Reader::Person => self.print(page, place),
        }
    }

    /// As many as are asked for, in as many questions as that takes.
    fn page(&self, archive: &Archive) -> Result<Page> {
        let mut all = Page { data: Vec::new(), has_more: true, next: None };
        let mut after = self.after.clone();
        while all.has_more && all.data.len() < self.limit as usize {
            let left = self.limit - u32::try_from(all.data.len()).unwrap_or(self.limit);
            let mut path = format!("{PATH}?limit={}", left.min(PAGE_MAX));
            for (name, value) in [("after", &after), ("query", &self.query)] {
                if let Some(value) = value {
                    path.push_str(&format!("&{name}={}", percent::encode(value)));
                }
            }
            let page: Page = serde_json::from_str(&archive.get(&path)?).context(NO_LIST)?;
            let last = || page.data.last().and_then(|it| it["id"].as_str()).map(str::to_owned);
            after = page.next.clone().or_else(last).filter(|_| page.has_more);
            all.has_more = after.is_some();
            all.next.clone_from(&after);
            all.data.extend(page.data);
        }
        Ok(all)
    }

    fn print(&self, page: Page, place: &GatewayOptions) -> Result<()> {
        let rows = page.data.into_iter().map(serde_json::from_value);
        let rows: Vec<Row> = rows.collect::<Result<_, _>>().context(NO_LIST)?;
        if rows.is_empty() {
            output::to_stderr(match self.query {
                Some(_) => "nothing that is kept has this text in its title or id\n",
                None => {
                    "nothing is kept yet: begin with `sabir chat`, or with the header `sabir-conversation`\n"
                }
            });
            return Ok(());
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_secs());
        let cells: Vec<Vec<String>> = rows.iter().map(|row| row.cells(now.cast_signed())).collect();
        output::print(&fitted(&COLUMNS, &cells, terminal::width()))?;
        if let Some(next) = &page.next {
            output::to_stderr(&self.more(next, place));
        }
        Ok(())
    }
}

impl List {
    /// How to list what comes behind the last.
    fn more(&self, next: &str, place: &GatewayOptions) -> String {
        let limit = (self.limit != LIMIT).then(|| format!(" --limit {}", self.limit));
        let query = self.query.as_deref().map(|query| format!(" --query {}", word(query)));
        let repeated: String = limit.into_iter().chain(query).collect();
        let more = format!(
            "more: sabir conversations list --after {}{repeated}{}",
            word(next),
            place.again()
        );
        format!("{}\n", printable(&more))
    }
}

const NO_LIST: &str = "the gateway answers no list of conversations";

impl Row {
    fn cells(&self, now: i64) -> Vec<String> {
        let (turns, title) = match &self.unreadable {
            None => (self.turns.to_string(), self.title.clone()),
            Some(reason) => ("?".to_owned(), format!("({reason})")),
        };
        vec![
            printable(&self.id),
            age(now - self.updated_at),
            turns,
            printable(&self.models.join(", ")),
            printable(&title),
        ]
    }
}

/// How long ago something was, in the unit that says most.
fn age(seconds: i64) -> String {
    let units = [("d", 86_400), ("h", 3_600), ("min", 60)];
    match units.into_iter().find(|(_, unit)| seconds >= *unit) {
        Some((name, unit)) => format!("{} {name} ago", seconds / unit),
        None => "just now".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_told_in_the_unit_that_says_most() {
        let ages = [(0, "just now"), (61, "1 min ago"), (7_300, "2 h ago"), (864_000, "10 d ago")];
        for (seconds, expected) in ages {
            assert_eq!(age(seconds), expected);
        }
    }
}
