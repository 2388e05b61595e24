//! Answers of Responses that are kept on disk before their end leaves, beside the same that are not.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use sabir_bench_gateway::answers;
use sabir_bench_gateway::answers::{Request, Size};
use sabir_bench_gateway::load::Clients;
use sabir_bench_gateway::mock::Mode;
use sabir_bench_gateway::process::Process;
use sabir_bench_gateway::verdicts::{Verdicts, ratio};
use sabir_wire::Protocol;

use crate::level::middle;
use crate::stage::Stage;

const CONNECTIONS: usize = 256;
const THROUGHPUT_BAR: f64 = 0.95;
const CALLS_PER_SYNC_BAR: f64 = 16.0;
/// What a lone call may wait beyond one sync of the disk.
const LONE_BAR: Duration = Duration::from_millis(1);

/// Both kinds of call, to one gateway.
struct Both {
    gateway: Process,
    plain: Request,
    stored: Request,
}

impl Both {
    fn new(stage: &Stage, mode: Mode) -> Result<Self> {
        let gateway = stage.gateway("stateful")?;
        let request = || {
            let (client, upstream) = (Protocol::OpenaiResponses, Protocol::OpenaiChat);
            answers::to_sabir(gateway.address, client, upstream, mode, Size::Small)
        };
        let (plain, stored) = (request(), request().stored());
        let mut clients = Clients::connect(gateway.address, 1)?;
        for (request, store) in [(&plain, "\"store\":false"), (&stored, "\"store\":true")] {
            let answer = clients.show(&request.bytes)?;
            ensure!(answer.contains(store), "an answer without {store}:\n{answer}");
        }
        Ok(Self { gateway, plain, stored })
    }
}

/// How many calls a second come through where a provider takes its time.
pub(crate) fn throughput(stage: &Stage, verdicts: &mut Verdicts) -> Result<()> {
    println!("\n| 256 connections | not stored, 1/s | stored, 1/s | ratio | bar |");
    println!("|---|---|---|---|---|");
    let both = Both::new(stage, Mode::Wait)?;
    let mut clients = Clients::connect(both.gateway.address, CONNECTIONS)?;
    let calls = CONNECTIONS * 40;
    let mut rounds = Vec::new();
    for _ in 0..stage.repeats * 2 {
        let mut walls = [Duration::ZERO; 2];
        for (request, wall) in [&both.plain, &both.stored].into_iter().zip(&mut walls) {
            let began = Instant::now();
            clients.ask(&request.bytes, calls)?;
            *wall = began.elapsed();
        }
        rounds.push(walls);
    }
    let figure = middle(rounds.iter().map(|[plain, stored]| ratio(*plain, *stored)).collect());
    let verdict = verdicts.judge_least("stored calls", figure, THROUGHPUT_BAR);
    let [plain, stored] = [0, 1].map(|at| median(rounds.iter().map(|walls| walls[at]).collect()));
    let [plain, stored] = [plain, stored].map(|wall| calls as f64 / wall.as_secs_f64());
    println!(
        "| a provider that takes 50 ms | {plain:.0} | {stored:.0} | {verdict} | {THROUGHPUT_BAR} |"
    );
    Ok(())
}

/// How many calls share a sync of the disk where a provider answers at once.
pub(crate) fn saturated(stage: &Stage, verdicts: &mut Verdicts) -> Result<()> {
    println!("\n| 256 connections, saturated | stored, 1/s | calls for each sync | bar |");
    println!("|---|---|---|---|");
    let both = Both::new(stage, Mode::Whole)?;
    let mut clients = Clients::connect(both.gateway.address, CONNECTIONS)?;
    clients.ask(&both.stored.bytes, CONNECTIONS * 2)?;
    let calls = CONNECTIONS * 60;
    let (before, began) = (syncs(&both.gateway)?, Instant::now());
    clients.ask(&both.stored.bytes, calls)?;
    let (syncs, wall) = (syncs(&both.gateway)? - before, began.elapsed());
    let figure = calls as f64 / syncs;
    let verdict = verdicts.judge_least("calls for each sync", figure, CALLS_PER_SYNC_BAR);
    let per_second = calls as f64 / wall.as_secs_f64();
    println!(
        "| a provider that answers at once | {per_second:.0} | {verdict} | {CALLS_PER_SYNC_BAR} |"
    );
    Ok(())
}

/// The commits of a gateway that waited for the disk.
fn syncs(gateway: &Process) -> Result<f64> {
    let request = format!("GET /metrics HTTP/1.1\r\nhost: {}\r\n\r\n", gateway.address);
    let metrics = Clients::connect(gateway.address, 1)?.show(request.as_bytes())?;
    let line = metrics.lines().find_map(|line| line.strip_prefix("sabir_store_syncs_total "));
    Ok(line.context("no count of syncs")?.trim().parse()?)
}

/// What being stored adds to a lone call.
pub(crate) fn lone(stage: &Stage, verdicts: &mut Verdicts) -> Result<()> {
    println!("\n| One lone client | not stored, ms | stored adds, ms | one sync, ms | bar, ms |");
    println!("|---|---|---|---|---|");
    let both = Both::new(stage, Mode::Whole)?;
    let mut clients = Clients::connect(both.gateway.address, 1)?;
    let mut disk = Disk::new(both.gateway.folder())?;
    let mut waits = [Vec::new(), Vec::new()];
    let mut syncs = Vec::new();
    for _ in 0..200 * stage.repeats {
        for (request, waits) in [&both.plain, &both.stored].into_iter().zip(&mut waits) {
            waits.extend(clients.ask(&request.bytes, 1)?.iter().map(|timing| timing.whole));
        }
        syncs.push(disk.sync()?);
    }
    let [plain, stored] = waits.map(median);
    let (added, sync) = (stored.saturating_sub(plain), median(syncs));
    let millis = |duration: Duration| duration.as_secs_f64() * 1_000.0;
    let bar = millis(sync + LONE_BAR);
    let verdict = verdicts.judge("a lone stored call", millis(added), bar);
    println!("| whole, 1 KB | {:.2} | {verdict} | {:.2} | {bar:.2} |", millis(plain), millis(sync));
    Ok(())
}

pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// A file beside the store, to which some bytes are added as a commit adds them.
struct Disk(File);

impl Disk {
    fn new(folder: &Path) -> Result<Self> {
        Ok(Self(File::create(folder.join("sync"))?))
    }

    fn sync(&mut self) -> Result<Duration> {
        self.0.write_all(&[7; 8 * 4096])?;
        let began = Instant::now();
        self.0.sync_data()?;
        Ok(began.elapsed())
    }
}
