//! What a proxy adds to the wait of a client: for lone requests, and for streams whose events come slowly.

use std::time::Duration;

use anyhow::Result;
use sabir_wire::Protocol;

use crate::answers;
use crate::answers::{Request, Size};
use crate::case::short;
use crate::load::{Clients, Timing};
use crate::mock::Mode;
use crate::stage::{Effort, Stage};
use crate::verdicts::{Verdicts, ratio};

/// How often each process is asked in a repeat. They take turns with each request: a proxy adds a hundredth of a
/// millisecond to a stream, and the machine drifts by more from one second to the next.
const LONE_ROUNDS: usize = 400;
/// How much more than nginx a lone request may be made to wait.
const LONE_BAR: f64 = 2.5;

const PACED_CONNECTIONS: usize = 256;
const PACED_FIRST_BAR: f64 = 1.2;
const PACED_CPU_BARS: [(Protocol, f64); 2] =
    [(Protocol::OpenaiChat, 1.5), (Protocol::AnthropicMessages, 2.0)];

/// One request at a time: how much later its answer is complete than without a proxy.
pub(crate) fn lone(stage: &Stage, verdicts: &mut Verdicts) -> Result<()> {
    println!("\n| One lone client | direct | nginx adds | Sabir adds | ratio | bar |");
    println!("|---|---|---|---|---|---|");
    for mode in [Mode::Whole, Mode::Stream] {
        for client in [Protocol::OpenaiChat, Protocol::AnthropicMessages] {
            lone_row(stage, client, mode, verdicts)?;
        }
    }
    Ok(())
}

fn lone_row(stage: &Stage, client: Protocol, mode: Mode, verdicts: &mut Verdicts) -> Result<()> {
    let upstream = Protocol::OpenaiChat;
    let to_mock = |address| answers::to_mock(address, upstream, mode, Size::Small);
    let to_sabir = answers::to_sabir(stage.sabir.address, client, upstream, mode, Size::Small);
    let mut all = [
        Lone::new(stage.mock, to_mock(stage.mock))?,
        Lone::new(stage.nginx.address, to_mock(stage.nginx.address))?,
        Lone::new(stage.sabir.address, to_sabir)?,
    ];
    let mut repeats = Vec::new();
    for _ in 0..stage.repeats {
        for _ in 0..LONE_ROUNDS {
            all.iter_mut().try_for_each(Lone::run)?;
        }
        repeats.push(Added::of(all.each_mut().map(Lone::settle)));
    }
    // A repeat in which nginx adds nothing that can be measured says nothing of the ratio.
    repeats.sort_by(|one, other| one.ratio().total_cmp(&other.ratio()));
    let Some(Added { direct, nginx, sabir }) = repeats.first() else { return Ok(()) };
    let ratio = ratio(*sabir, *nginx);
    let what = if mode.is_stream() { "stream of 100 events" } else { "small request" };
    let name = format!("{} → {}, {what}", short(client), short(upstream));
    let verdict = verdicts.judge(&name, ratio, LONE_BAR);
    println!("| {name} | {direct:.0?} | {nginx:.0?} | {sabir:.0?} | {verdict} | {LONE_BAR} |");
    Ok(())
}

/// What was added in one repeat.
struct Added {
    direct: Duration,
    nginx: Duration,
    sabir: Duration,
}

impl Added {
    fn of([direct, nginx, sabir]: [Duration; 3]) -> Self {
        let [nginx, sabir] = [nginx, sabir].map(|median| median.saturating_sub(direct));
        Self { direct, nginx, sabir }
    }

    /// Endless where one of them adds nothing, which only the clock can be the reason of.
    fn ratio(&self) -> f64 {
        match self.nginx.is_zero() || self.sabir.is_zero() {
            true => f64::INFINITY,
            false => ratio(self.sabir, self.nginx),
        }
    }
}

/// A lone client of one process.
struct Lone {
    clients: Clients,
    request: Request,
    /// Those of the current repeat.
    timings: Vec<Timing>,
}

impl Lone {
    fn new(address: std::net::SocketAddr, request: Request) -> Result<Self> {
        let mut clients = Clients::connect(address, 1)?;
        clients.ask(&request.bytes, 10)?;
        Ok(Self { clients, request, timings: Vec::new() })
    }

    fn run(&mut self) -> Result<()> {
        self.timings.extend(self.clients.ask(&self.request.bytes, 1)?);
        Ok(())
    }

    /// Ends a repeat.
    fn settle(&mut self) -> Duration {
        median(&std::mem::take(&mut self.timings), |timing| timing.whole)
    }
}

fn median(timings: &[Timing], of: impl Fn(&Timing) -> Duration) -> Duration {
    let mut all: Vec<Duration> = timings.iter().map(of).collect();
    all.sort_unstable();
    all.get(all.len() / 2).copied().unwrap_or_default()
}

/// Many streams at once with an event each 10 ms: what they cost, and when their first event comes.
pub(crate) fn paced(stage: &Stage, verdicts: &mut Verdicts) -> Result<()> {
    let rounds = if stage.effort == Effort::Quick { 1 } else { 4 };
    let times = PACED_CONNECTIONS * rounds;
    let upstream = Protocol::OpenaiChat;
    let plain = answers::to_mock(stage.nginx.address, upstream, Mode::Paced, Size::Small);
    let mut nginx = Paced::new(&stage.nginx, plain)?;
    let mut others = Vec::new();
    for (client, bar) in PACED_CPU_BARS {
        let address = stage.sabir.address;
        let request = answers::to_sabir(address, client, upstream, Mode::Paced, Size::Small);
        others.push((client, bar, Paced::new(&stage.sabir, request)?));
    }
    for _ in 0..stage.repeats {
        nginx.run(times)?;
        for (_, _, paced) in &mut others {
            paced.run(times)?;
        }
    }
    println!(
        "\n| 256 paced streams | nginx, CPU | Sabir, CPU | ratio | bar | nginx, first event | Sabir, first event | ratio | bar |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for (client, bar, paced) in others {
        let name = format!("{} → {}, paced", short(client), short(upstream));

        let cpu = verdicts.judge(&name, ratio(paced.cpu, nginx.cpu), bar);
        let first = ratio(paced.first, nginx.first);
        let first = verdicts.judge(&format!("{name}, first event"), first, PACED_FIRST_BAR);
        println!(
            "| {name} | {:.0?} | {:.0?} | {cpu} | {bar} | {:.1?} | {:.1?} | {first} | {PACED_FIRST_BAR} |",
            nginx.cpu, paced.cpu, nginx.first, paced.first
        );
    }
    Ok(())
}

struct Paced<'p> {
    process: &'p crate::process::Process,
    clients: Clients,
    request: Request,
    /// Processor time of one stream.
    cpu: Duration,
    first: Duration,
}

impl<'p> Paced<'p> {
    fn new(process: &'p crate::process::Process, request: Request) -> Result<Self> {
        let clients = Clients::connect(process.address, PACED_CONNECTIONS)?;
        Ok(Self { process, clients, request, cpu: Duration::MAX, first: Duration::MAX })
    }

    fn run(&mut self, times: usize) -> Result<()> {
        let before = self.process.cpu();
        let timings = self.clients.ask(&self.request.bytes, times)?;
        let cpu = self.process.cpu().saturating_sub(before) / u32::try_from(times)?;
        self.cpu = self.cpu.min(cpu);
        self.first = self.first.min(median(&timings, |timing| timing.first));
        Ok(())
    }
}
