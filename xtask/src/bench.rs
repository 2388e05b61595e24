//! Runs the benchmarks, which are workspaces of their own, and compares instruction counts with those on record.

mod counts;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail, ensure};

use self::counts::Counts;

const USAGE: &str = "expected `wire`, `wire --check`, `wire --record`, `compose`, `compose --count`, `peers`, `gateway [--quick] [NAME…]` or `memory [--quick] [NAME…]`";

pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["wire"] => time(&WIRE),
        ["wire", "--check"] => check(),
        ["wire", "--record"] => record(),
        ["compose"] => time(&COMPOSE),
        ["compose", "--count"] => count_chat(),
        ["peers"] => time(&PEERS),
        ["gateway", rest @ ..] => with_gateway(&GATEWAY, rest),
        ["memory", rest @ ..] => with_gateway(&MEMORY, rest),
        _ => bail!(USAGE),
    }
}

/// A benchmark's folder and its binary.
struct Bench {
    folder: &'static str,
    binary: &'static str,
    /// What the binary is called with to print its tables.
    arguments: &'static [&'static str],
}

const WIRE: Bench =
    Bench { folder: "benches-wire", binary: "sabir-benches-wire", arguments: &["time"] };
const COMPOSE: Bench =
    Bench { folder: "bench-compose", binary: "sabir-bench-compose", arguments: &[] };
const PEERS: Bench = Bench { folder: "bench-peers", binary: "sabir-bench-peers", arguments: &[] };
const GATEWAY: Bench =
    Bench { folder: "bench-gateway", binary: "sabir-bench-gateway", arguments: &[] };

const MEMORY: Bench =
    Bench { folder: "bench-memory", binary: "sabir-bench-memory", arguments: &[] };

impl Bench {
    /// Builds the benchmark and answers where its binary is. A peer may ask for a newer compiler than it needs. Code that is
    /// compiled piece by piece, as a developer may have set it, takes some per cent more instructions.
    fn build(&self) -> Result<PathBuf> {
        let folder = crate::project_root().join(self.folder);
        let status = Command::new(env!("CARGO"))
            .args(["build", "--release", "--quiet", "--ignore-rust-version"])
            .args(["--target-dir", "target"])
            .env("CARGO_INCREMENTAL", "0")
            .current_dir(&folder)
            .status()
            .context("cannot run cargo")?;
        ensure!(status.success(), "{} does not build", self.folder);
        Ok(folder.join("target/release").join(self.binary))
    }
}

fn time(bench: &Bench) -> Result<ExitCode> {
    let binary = bench.build()?;
    let status = Command::new(&binary).args(bench.arguments).status().context("cannot run it")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Builds the gateway as it is released, and measures it.
fn with_gateway(bench: &Bench, arguments: &[&str]) -> Result<ExitCode> {
    let root = crate::project_root();
    let status = Command::new(env!("CARGO"))
        .args(["build", "--release", "--quiet", "--package", "sabir", "--target-dir", "target"])
        .env("CARGO_INCREMENTAL", "0")
        .current_dir(root)
        .status()
        .context("cannot run cargo")?;
    ensure!(status.success(), "sabir does not build");
    let binary = bench.build()?;
    let mut command = Command::new(&binary);
    command.arg("--sabir").arg(root.join("target/release/sabir")).args(arguments);
    let status = command.status().context("cannot run it")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn counts_path() -> PathBuf {
    crate::project_root().join(WIRE.folder).join("counts.txt")
}

fn record() -> Result<ExitCode> {
    let counts = Counts::measure(&WIRE.build()?)?;
    fs::write(counts_path(), counts.render()).context("cannot write the counts")?;
    conclude(&counts.uneven())
}

fn check() -> Result<ExitCode> {
    let text = fs::read_to_string(counts_path())
        .context("no counts on record: run `cargo xtask bench wire --record` first")?;
    let recorded = Counts::parse(&text)?;
    let counts = Counts::measure(&WIRE.build()?)?;
    let faster = counts.faster_than(&recorded);
    faster.iter().for_each(|line| println!("note: {line}"));
    let mut findings = counts.slower_than(&recorded);
    findings.extend(counts.uneven());
    conclude(&findings)
}

/// Counts what rules on tools and the choice of a class add to translations.
fn count_chat() -> Result<ExitCode> {
    let counts = Counts::measure(&COMPOSE.build()?)?;
    counts.beside("plain").iter().for_each(|line| println!("{line}"));
    Ok(ExitCode::SUCCESS)
}

fn conclude(findings: &[String]) -> Result<ExitCode> {
    findings.iter().for_each(|line| println!("{line}"));
    println!("{} findings", findings.len());
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
