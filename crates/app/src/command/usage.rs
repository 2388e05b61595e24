//! `sabir usage`: what calls cost, summed up.

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use sabir_backend::percent;
use serde::Deserialize;
use serde_json::Value;

use crate::archive::GatewayOptions;
use crate::output::printable;
use crate::table::{Column, Squeeze, fitted};
use crate::{output, terminal};

/// Show calls, errors and tokens, from what is kept.
///
/// Days are those of UTC, and the first one counts whole. A call is counted within a second of
/// its end. Where keys are required, a key sees its own calls, and one with `admin = true` those of all.
///
/// Example:
///   sabir usage --by day --since 30d
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Usage {
    /// What to sum up by
    #[arg(long, value_enum, default_value_t = By::Model)]
    by: By,

    /// How far to look back, such as 12h or 30d
    #[arg(long, value_name = "DURATION", default_value = "7d", value_parser = duration)]
    since: String,

    /// Print JSON for programs
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    place: GatewayOptions,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum By {
    Model,
    Key,
    Day,
    Provider,
}

#[derive(Deserialize)]
struct Sums {
    data: Vec<Value>,
    total: Value,
}

/// Each count with its head.
const COUNTS: [(&str, Column); 7] = [
    ("calls", Column::right("CALLS", Squeeze::Away(1))),
    ("errors", Column::right("ERRORS", Squeeze::Away(4))),
    ("input_tokens", Column::right("INPUT", Squeeze::Away(2))),
    ("output_tokens", Column::right("OUTPUT", Squeeze::Away(3))),
    ("cache_read_tokens", Column::right("CACHE READ", Squeeze::Away(5))),
    ("cache_write_tokens", Column::right("CACHE WRITE", Squeeze::Away(7))),
    ("reasoning_tokens", Column::right("REASONING", Squeeze::Away(6))),
];

impl Usage {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let archive = self.place.open_to_read()?;
        let (by, since) = (self.by.name(), percent::encode(&self.since));
        let answer = archive.get(&format!("/sabir/v1/usage?by={by}&since={since}"));
        archive.close();
        let answer = answer?;
        if self.json {
            output::print(&answer)?;
            return Ok(ExitCode::SUCCESS);
        }
        let sums: Sums =
            serde_json::from_str(&answer).context("the gateway answers no sums of calls")?;
        match sums.data.is_empty() {
            true => output::to_stderr("no calls are kept of that time\n"),
            false => output::print(&self.by.table(&sums, terminal::width()))?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl By {
    fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Key => "key",
            Self::Day => "day",
            Self::Provider => "provider",
        }
    }

    fn table(self, sums: &Sums, width: Option<usize>) -> String {
        let head = match self {
            Self::Model => "MODEL",
            Self::Key => "KEY",
            Self::Day => "DAY",
            Self::Provider => "PROVIDER",
        };
        let columns: Vec<Column> = [Column::left(head, Squeeze::To(10))]
            .into_iter()
            .chain(COUNTS.map(|(_, column)| column))
            .collect();
        let mut rows: Vec<Vec<String>> = sums
            .data
            .iter()
            .map(|row| cells(row[self.name()].as_str().unwrap_or(self.nobody()), row))
            .collect();
        if rows.len() > 1 {
            rows.push(cells("total", &sums.total));
        }
        fitted(&columns, &rows, width)
    }

    /// What stands in place of a name that there is not.
    fn nobody(self) -> &'static str {
        match self {
            Self::Key => "(no key)",
            Self::Model | Self::Day | Self::Provider => "(nobody was asked)",
        }
    }
}

fn cells(name: &str, row: &Value) -> Vec<String> {
    let counts = COUNTS.map(|(key, _)| grouped(row[key].as_u64().unwrap_or_default()));
    [printable(name)].into_iter().chain(counts).collect()
}

/// A number with a comma for each thousand.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

fn duration(text: &str) -> Result<String, &'static str> {
    let read = sabir_gateway::config::parse_duration(text);
    read.map(|_| text.to_owned()).ok_or("expected a duration such as 12h or 30d, up to 366d")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        for (number, expected) in
            [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")]
        {
            assert_eq!(grouped(number), expected);
        }
    }
}
