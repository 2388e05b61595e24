//! The newest ids, for the completions of shells. Whoever presses a key wants no errors: where nothing can be asked, nothing is
//! offered.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use sabir_backend::percent;
use serde::Deserialize;

use super::PATH;
use crate::archive::{Archive, GatewayOptions};
use crate::output;
use crate::output::printable;

/// The ids of what is kept, one a line
#[derive(Args)]
pub(super) struct Ids {
    /// Only those that begin with this
    #[arg(value_name = "PREFIX", default_value = "")]
    prefix: String,
}

#[derive(Deserialize)]
struct Page {
    data: Vec<Row>,
    next: Option<String>,
}

#[derive(Deserialize)]
struct Row {
    id: String,
}

/// More nobody chooses from.
const IDS_MAX: usize = 100;

/// How many pages are looked through: a title may have the prefix where the id has it not.
const PAGES_MAX: usize = 20;

impl Ids {
    pub(super) fn run(self, place: &GatewayOptions) -> ExitCode {
        let _ = self.print(place);
        ExitCode::SUCCESS
    }

    fn print(&self, place: &GatewayOptions) -> Result<()> {
        let archive = place.open_to_read()?;
        let ids = self.find(&archive);
        archive.close();
        let ids = ids?;
        match ids.is_empty() {
            true => Ok(()),
            false => output::print(&ids.join("\n")),
        }
    }

    fn find(&self, archive: &Archive) -> Result<Vec<String>> {
        let first = format!("{PATH}?limit={IDS_MAX}&query={}", percent::encode(&self.prefix));
        let (mut ids, mut path) = (Vec::new(), first.clone());
        for _ in 0..PAGES_MAX {
            let Page { data, next } = serde_json::from_str(&archive.get(&path)?)?;
            let found = data.iter().filter(|row| row.id.starts_with(&self.prefix));
            ids.extend(found.map(|row| printable(&row.id)));
            match next {
                Some(next) if ids.len() < IDS_MAX => {
                    path = format!("{first}&after={}", percent::encode(&next));
                }
                _ => break,
            }
        }
        Ok(ids)
    }
}
