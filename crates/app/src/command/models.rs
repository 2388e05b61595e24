//! `sabir models`: what can be asked for, and where it goes.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use sabir_gateway::config::Glob;
use sabir_gateway::config::types::{Config, Strategy};
use sabir_gateway::route;
use sabir_gateway::route::{Capabilities, Directory, Row};
use serde_json::{Value, json};

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
    /// Print JSON, with what is known of each model.
    #[arg(long)]
    json: bool,
}

impl Models {
    pub(crate) fn run(self) -> Result<ExitCode> {
        match self.file.load() {
            Ok(loaded) if self.json => {
                output::print(&format!("{:#}\n", described(loaded.config)))?;
                Ok(ExitCode::SUCCESS)
            }
            Ok(loaded) => {
                output::print(&rows(&loaded.config, 0))?;
                Ok(ExitCode::SUCCESS)
            }
            Err(problems) => Ok(configuration::refuse(&problems)),
        }
    }
}

/// Every name or pattern, with what is known of whoever answers a name first.
fn described(config: Config) -> Value {
    let rows = route::listing(&config);
    let directory = Directory::new(config, "");
    let models = rows.iter().map(|row| {
        let is_name = Glob::new(&row.asked).is_ok_and(|glob| glob.is_exact());
        let known = is_name.then(|| route::capabilities(&directory, &row.asked)).flatten();
        json!({
            "name": row.asked,
            "targets": row.targets,
            "route": row.route.label(),
            "capabilities": known.map(|known| capabilities(&known)),
        })
    });
    json!({"models": models.collect::<Vec<_>>()})
}

fn capabilities(known: &Capabilities) -> Value {
    let Capabilities { inputs, .. } = known;
    let kinds = [("image", inputs.image), ("audio", inputs.audio), ("video", inputs.video)];
    let kinds = kinds.into_iter().chain([("pdf", inputs.pdf)]).filter(|(_, is_taken)| *is_taken);
    json!({
        "family": known.family,
        "context_window": known.context_window,
        "max_output_tokens": known.max_output_tokens,
        "inputs": kinds.map(|(kind, _)| kind).collect::<Vec<_>>(),
        "thinking": known.thinking,
        "structured_output": known.structured_output,
    })
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
        Strategy::Weighted | Strategy::Fastest => " or ",
    };
    let targets = row.targets.join(separator);
    vec![printable(&row.asked), printable(&targets), row.route.label().into_owned()]
}
