//! What remembering costs: processor time, throughput, waits and memory of a gateway with a store, beside one without in the
//! same run; and what a store costs by itself.

mod history;
mod level;
mod rest;
mod stage;
mod stored;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use sabir_bench_gateway::verdicts::Verdicts;

use crate::stage::Stage;

/// What can be measured, by name.
type Measure = fn(&Stage, &mut Verdicts) -> Result<()>;
const MEASURES: [(&str, Measure); 8] = [
    ("levels", level::stateful),
    ("full", level::full),
    ("throughput", stored::throughput),
    ("saturated", stored::saturated),
    ("lone", stored::lone),
    ("rest", rest::measure),
    ("history", history::measure),
    ("lists", history::lists),
];

fn main() -> Result<ExitCode> {
    let (mut binary, mut repeats, mut only) = (PathBuf::new(), 5, Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--sabir" => binary = arguments.next().context("--sabir needs a path")?.into(),
            "--quick" => repeats = 2,
            _ => only.push(argument),
        }
    }
    let stage = Stage::set(&binary, repeats)?;
    let mut verdicts = Verdicts::default();
    for (name, measure) in MEASURES {
        if only.is_empty() || only.iter().any(|part| name.contains(part.as_str())) {
            measure(&stage, &mut verdicts).with_context(|| name)?;
        }
    }
    Ok(if verdicts.print() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
