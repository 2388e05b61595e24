//! What a request costs in Sabir: processor time, throughput, latency and memory, with nginx beside it in the same run.

mod agents;
mod beside;
mod case;
mod fit;
mod latency;
mod memory;
mod nginx;
mod played;
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
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [first, rest @ ..] = arguments.as_slice()
        && first == "play"
    {
        played::play(rest)?;
        return Ok(ExitCode::SUCCESS);
    }
    let plan = Plan::parse(arguments.into_iter())?;
    let mut verdicts = Verdicts::default();
    if plan.wants("agents") {
        agents::measure(&plan.binary, plan.effort, &mut verdicts)?;
    }
    if plan.only != ["agents"] {
        beside_nginx(&plan, &mut verdicts)?;
    }
    Ok(if verdicts.print() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// All that needs nginx, or the mock that it stands before.
fn beside_nginx(plan: &Plan, verdicts: &mut Verdicts) -> Result<()> {
    let stage = Stage::set(&plan.binary, plan.effort)?;
    requests(plan, &stage, verdicts)?;
    if plan.wants("lone") {
        latency::lone(&stage, verdicts)?;
    }
    if plan.wants("paced") {
        latency::paced(&stage, verdicts)?;
    }
    if plan.wants("beside") {
        beside::measure(&stage, verdicts)?;
    }
    if plan.wants("reload") {
        reload::measure(&stage, verdicts)?;
    }
    if plan.wants("sockets") {
        sockets::measure(&stage, &plan.binary, verdicts)?;
    }
    if plan.wants("fit") {
        fit::measure(&stage, &plan.binary, verdicts)?;
    }
    if plan.wants("memory") {
        memory::measure(&stage, &plan.binary, verdicts)?;
    }
    Ok(())
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
