//! The newest ids, for the completions of shells. Whoever presses a key wants no errors: where nothing can be asked, nothing is
//! offered.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use sabir_backend::percent;
use serde::Deserialize;

use super::PATH;
use crate::archive::GatewayOptions;
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
}

#[derive(Deserialize)]
struct Row {
    id: String,
}

impl Ids {
    pub(super) fn run(self, place: &GatewayOptions) -> ExitCode {
        let _ = self.print(place);
        ExitCode::SUCCESS
    }

    fn print(&self, place: &GatewayOptions) -> Result<()> {
        let archive = place.open_to_read()?;
        let answer =
            archive.get(&format!("{PATH}?limit=100&query={}", percent::encode(&self.prefix)));
        archive.close();
        let Page { data } = serde_json::from_str(&answer?)?;
        let ids = data.iter().map(|row| printable(&row.id));
        let ids: Vec<String> = ids.filter(|id| id.starts_with(&self.prefix)).collect();
        match ids.is_empty() {
            true => Ok(()),
            false => output::print(&ids.join("\n")),
        }
    }
}
