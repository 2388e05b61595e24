//! `sabir models`: what can be asked for, and where it goes.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use sabir_gateway::config::types::{Config, Strategy};
use sabir_gateway::route;
use sabir_gateway::route::Row;

use crate::configuration::ConfigFile;
use crate::output::printable;
use crate::table::table;
use crate::{configuration, output};

/// List what can be asked for, and where it goes.
///
/// Each line has a name or pattern, who answers it as PROVIDER/MODEL, and why: `alias` is a
/// [[model]] of the config file, `direct` names the provider, `claim` is a name that a provider
/// calls its own, `substituted` is a name that nobody serves. The first line that fits a name
/// decides; of patterns that fit, the most specific does.
///
/// Example:
///   sabir models
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Models {
    #[command(flatten)]
    file: ConfigFile,
}

impl Models {
    pub(crate) fn run(self) -> Result<ExitCode> {
        match self.file.load() {
            Ok(loaded) => {
                output::print(&rows(&loaded.config, 0))?;
                Ok(ExitCode::SUCCESS)
            }
            Err(problems) => Ok(configuration::refuse(&problems)),
        }
    }
}

/// A line for every name or pattern.
pub(crate) fn rows(config: &Config, indent: usize) -> String {
    let rows: Vec<_> = route::listing(config).iter().map(cells).collect();
    table(&rows, indent)
}

fn cells(row: &Row) -> Vec<String> {
    let separator = match row.strategy {
        Strategy::Fallback => ", then ",
        Strategy::Class => ", ",
        Strategy::Weighted => " or ",
    };
    let targets = row.targets.join(separator);
    vec![printable(&row.asked), printable(&targets), row.route.label().into_owned()]
}
