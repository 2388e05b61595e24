//! What a configuration that is read again costs: the reload itself, and the small requests beside it.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};
use std::{fs, thread};

use anyhow::{Context, Result, ensure};
use sabir_wire::Protocol;

use crate::answers;
use crate::answers::Size;
use crate::load::Clients;
use crate::mock::Mode;
use crate::stage::{Effort, Stage};
use crate::verdicts::Verdicts;

/// Far more often than anybody edits a file.
const EVERY: Duration = Duration::from_millis(50);
/// How many small requests are under way.
const CLIENTS: usize = 4;
/// How many are asked between two looks at the clock.
const ROUND: usize = 200;
/// What a small request may wait for, in milliseconds, but for one in a hundred.
const BAR_MS: f64 = 20.0;

/// Small requests with no reload, and with one after the other in which every provider has changed.
pub(crate) fn measure(stage: &Stage, verdicts: &mut Verdicts) -> Result<()> {
    println!(
        "\n| Small requests | CPU µs | median, ms | 99 of 100 within, ms | bar | reloads | median of a reload, ms |"
    );
    println!("|---|---|---|---|---|---|---|");
    let duration = Duration::from_secs(if stage.effort == Effort::Quick { 3 } else { 15 });
    for (name, reloading) in
        [("no reload", Reloading::Never), ("a reload every 50 ms", Reloading::Often)]
    {
        run(stage, reloading, duration)?.row(name, verdicts);
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reloading {
    Never,
    Often,
}

struct Measured {
    waits: Vec<Duration>,
    cpu: Duration,
    reloads: Vec<Duration>,
}

impl Measured {
    fn row(&self, name: &str, verdicts: &mut Verdicts) {
        let cpu = self.cpu.as_secs_f64() * 1e6 / self.waits.len() as f64;
        let (median, late) = (within(&self.waits, 50), within(&self.waits, 99));
        let verdict = verdicts.judge(&format!("small requests, {name}"), late, BAR_MS);
        let reload = match self.reloads.as_slice() {
            [] => String::new(),
            reloads => format!("{:.2}", within(reloads, 50)),
        };
        let reloads = self.reloads.len();
        println!(
            "| {name} | {cpu:.1} | {median:.2} | {verdict} | {BAR_MS} | {reloads} | {reload} |"
        );
    }
}

/// The milliseconds within which so many of a hundred were over.
fn within(sorted: &[Duration], percent: usize) -> f64 {
    let place = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
    sorted.get(place).map_or(f64::INFINITY, |wait| wait.as_secs_f64() * 1_000.0)
}

fn run(stage: &Stage, reloading: Reloading, duration: Duration) -> Result<Measured> {
    let is_over = AtomicBool::new(false);
    let began = stage.sabir.cpu();
    let (waits, reloads) = thread::scope(|scope| {
        let reloads = scope.spawn(|| match reloading {
            Reloading::Never => Ok(Vec::new()),
            Reloading::Often => reload_while(stage, &is_over),
        });
        let waits = small_requests(stage, duration);
        is_over.store(true, Relaxed);
        (waits, reloads.join())
    });
    let cpu = stage.sabir.cpu().saturating_sub(began);
    let reloads = reloads.ok().context("the thread that reloads has panicked")?;
    let (mut waits, mut reloads) = (waits?, reloads?);
    waits.sort_unstable();
    reloads.sort_unstable();
    Ok(Measured { waits, cpu, reloads })
}

fn small_requests(stage: &Stage, duration: Duration) -> Result<Vec<Duration>> {
    let chat = Protocol::OpenaiChat;
    let request = answers::to_sabir(stage.sabir.address, chat, chat, Mode::Whole, Size::Small);
    let mut clients = Clients::connect(stage.sabir.address, CLIENTS)?;
    let until = Instant::now() + duration;
    let mut waits = Vec::new();
    while Instant::now() < until {
        let timings = clients.ask(&request.bytes, ROUND)?;
        waits.extend(timings.iter().map(|timing| timing.whole));
    }
    Ok(waits)
}

/// Changes every provider of the file and has it read, as long as the others ask.
fn reload_while(stage: &Stage, is_over: &AtomicBool) -> Result<Vec<Duration>> {
    let file = stage.sabir.folder().join("sabir.toml");
    let first = fs::read_to_string(&file)?;
    let second = first.replace("retries = 0", "retries = 1");
    ensure!(first != second, "the configuration has nothing to change");
    let mut clients = Clients::connect(stage.sabir.address, 1)?;
    let request = format!(
        "POST /sabir/v1/reload HTTP/1.1\r\nhost: {}\r\ncontent-length: 0\r\n\r\n",
        stage.sabir.address
    );
    let mut reloads = Vec::new();
    for text in [&second, &first].into_iter().cycle() {
        if is_over.load(Relaxed) {
            break;
        }
        fs::write(&file, text)?;
        let timings = clients.ask(request.as_bytes(), 1)?;
        reloads.extend(timings.iter().map(|timing| timing.whole));
        thread::sleep(EVERY);
    }
    fs::write(&file, &first)?;
    Ok(reloads)
}
