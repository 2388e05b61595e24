//! What a request costs in Sabir: processor time, throughput, latency and memory, with nginx beside it in the same run.

mod beside;
mod case;
mod fit;
mod latency;
mod memory;
mod nginx;
mod reload;
mod report;
mod socket;
mod sockets;
mod stage;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use sabir_bench_gateway::verdicts::Verdicts;
use sabir_bench_gateway::{answers, load, mock, process, sabir, verdicts};
use sabir_wire::Protocol;

use crate::case::{Group, Shape, Work};
use crate::stage::{Effort, Stage};

/// What to measure.
struct Plan {
    binary: PathBuf,
    effort: Effort,
    /// Parts of names; empty for everything.
    only: Vec<String>,
}

impl Plan {
    fn parse(arguments: impl Iterator<Item = String>) -> Result<Self> {
        let mut plan = Self { binary: PathBuf::new(), effort: Effort::Full, only: Vec::new() };
        let mut arguments = arguments.peekable();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--sabir" => plan.binary = arguments.next().context("--sabir needs a path")?.into(),
                "--quick" => plan.effort = Effort::Quick,
                _ => plan.only.push(argument),
            }
        }
        Ok(plan)
    }

    fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|part| name.contains(part.as_str()))
    }
}

fn main() -> Result<ExitCode> {
    let plan = Plan::parse(std::env::args().skip(1))?;
    let stage = Stage::set(&plan.binary, plan.effort)?;
    let mut verdicts = Verdicts::default();
    requests(&plan, &stage, &mut verdicts)?;
    if plan.wants("lone") {
        latency::lone(&stage, &mut verdicts)?;
    }
    if plan.wants("paced") {
        latency::paced(&stage, &mut verdicts)?;
    }
    if plan.wants("beside") {
        beside::measure(&stage, &mut verdicts)?;
    }
    if plan.wants("reload") {
        reload::measure(&stage, &mut verdicts)?;
    }
    if plan.wants("sockets") {
        sockets::measure(&stage, &plan.binary, &mut verdicts)?;
    }
    if plan.wants("fit") {
        fit::measure(&stage, &plan.binary, &mut verdicts)?;
    }
    if plan.wants("memory") {
        memory::measure(&stage, &plan.binary, &mut verdicts)?;
    }
    Ok(if verdicts.print() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The main rows at every number of connections, all other pairs at one.
fn requests(plan: &Plan, stage: &Stage, verdicts: &mut Verdicts) -> Result<()> {
    let mut groups: Vec<Group> = Vec::new();
    report::head();
    for upstream in Protocol::ALL {
        for shape in Shape::ALL {
            let works: Vec<Work> = Protocol::ALL
                .into_iter()
                .map(|client| Work { client, upstream, shape })
                .filter(|work| plan.wants(&work.name()))
                .collect();
            let measured = case::measure(stage, &works)?;
            measured.iter().for_each(|group| report::rows(group, verdicts));
            groups.extend(measured);
        }
    }
    report::flatness(&groups, verdicts);
    Ok(())
}
