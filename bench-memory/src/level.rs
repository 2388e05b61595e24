//! What a gateway that keeps something takes for calls that ask for nothing, over one that keeps nothing.

use std::thread;
use std::time::Duration;

use anyhow::{Result, ensure};
use sabir_bench_gateway::answers;
use sabir_bench_gateway::answers::{Request, Size};
use sabir_bench_gateway::load::Clients;
use sabir_bench_gateway::mock::Mode;
use sabir_bench_gateway::process::Process;
use sabir_bench_gateway::verdicts::{Verdicts, ratio};
use sabir_wire::Protocol;

use crate::stage::Stage;
use crate::stored::median;

const CONNECTIONS: usize = 32;
/// How many rounds a repeat has: their ratios scatter, and the median of many does not.
const ROUNDS: usize = 3;
/// Longer than a row waits for its batch: what is written later belongs to the calls before it.
const SETTLED: Duration = Duration::from_millis(1_300);

/// One kind of call, and how many times the processor time of a gateway without a store it may take.
struct Row {
    client: Protocol,
    shape: Shape,
    bar: f64,
}

#[derive(Clone, Copy)]
enum Shape {
    Small,
    Large,
    Streamed,
    /// 2 KB that are new after 200 KB that are known.
    Grown,
}

impl Shape {
    fn as_str(self) -> &'static str {
        match self {
            Self::Small => "whole, 1 KB",
            Self::Large => "whole, 200 KB in",
            Self::Streamed => "streamed, 100 events",
            Self::Grown => "2 KB new of 200 KB",
        }
    }

    fn mode(self) -> Mode {
        match self {
            Self::Streamed => Mode::Stream,
            Self::Small | Self::Large | Self::Grown => Mode::Whole,
        }
    }

    fn size(self) -> Size {
        match self {
            Self::Small | Self::Streamed => Size::Small,
            Self::Large => Size::Large,
            Self::Grown => Size::Grown,
        }
    }

    /// How many calls take about half a second.
    fn calls(self) -> usize {
        match self {
            Self::Small => 10_000,
            Self::Large | Self::Streamed => 1_500,
            Self::Grown => 800,
        }
    }
}

const CHAT: Protocol = Protocol::OpenaiChat;
const MESSAGES: Protocol = Protocol::AnthropicMessages;

const STATEFUL: [Row; 6] = [
    Row { client: CHAT, shape: Shape::Small, bar: 1.3 },
    Row { client: MESSAGES, shape: Shape::Small, bar: 1.3 },
    Row { client: CHAT, shape: Shape::Large, bar: 1.05 },
    Row { client: MESSAGES, shape: Shape::Large, bar: 1.05 },
    Row { client: CHAT, shape: Shape::Streamed, bar: 1.05 },
    Row { client: MESSAGES, shape: Shape::Streamed, bar: 1.05 },
];

const FULL: [Row; 2] = [
    Row { client: CHAT, shape: Shape::Grown, bar: 2.0 },
    Row { client: MESSAGES, shape: Shape::Grown, bar: 1.35 },
];

pub(crate) fn stateful(stage: &Stage, verdicts: &mut Verdicts) -> Result<()> {
    table(stage, "stateful", &STATEFUL, verdicts)
}

pub(crate) fn full(stage: &Stage, verdicts: &mut Verdicts) -> Result<()> {
    table(stage, "full", &FULL, verdicts)
}

fn table(stage: &Stage, record: &str, rows: &[Row], verdicts: &mut Verdicts) -> Result<()> {
    println!(
        "\n| Calls that ask for no state | `off`, CPU µs | `{record}`, CPU µs | ratio | bar |"
    );
    println!("|---|---|---|---|---|");
    let (off, on) = (stage.gateway("off")?, stage.gateway(record)?);
    for row in rows {
        let mut pair = Pair([Runner::new(&off, row)?, Runner::new(&on, row)?]);
        let rounds = (0..stage.repeats * ROUNDS)
            .map(|number| pair.round(row.shape.calls(), number))
            .collect::<Result<Vec<_>>>()?;
        let figure = middle(rounds.iter().map(|[off, on]| ratio(*on, *off)).collect());
        let name = format!("{} → chat, {}", short(row.client), row.shape.as_str());
        let verdict = verdicts.judge(&format!("{record}, {name}"), figure, row.bar);
        let cpu = |at: usize| median(rounds.iter().map(|times| times[at]).collect());
        let [off, on] = [cpu(0), cpu(1)].map(|cpu| cpu.as_secs_f64() * 1e6);
        println!("| {name} | {off:.1} | {on:.1} | {verdict} | {} |", row.bar);
    }
    Ok(())
}

/// The median of ratios.
pub(crate) fn middle(mut figures: Vec<f64>) -> f64 {
    figures.sort_unstable_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or_default()
}

/// Two gateways that are asked in turns. What else the machine does meanwhile slows both.
struct Pair<'p>([Runner<'p>; 2]);

impl Pair<'_> {
    /// The processor time of a call at each of them. Another one is asked first each time.
    fn round(&mut self, calls: usize, number: usize) -> Result<[Duration; 2]> {
        let before = self.cpu();
        for place in [number % 2, 1 - number % 2] {
            self.0[place].ask(calls)?;
        }
        thread::sleep(SETTLED);
        let (after, calls) = (self.cpu(), u32::try_from(calls)?);
        Ok(std::array::from_fn(|place| after[place].saturating_sub(before[place]) / calls))
    }

    fn cpu(&self) -> [Duration; 2] {
        self.0.each_ref().map(|runner| runner.process.cpu())
    }
}

fn short(client: Protocol) -> &'static str {
    if client == MESSAGES { "messages" } else { "chat" }
}

/// Asks one gateway.
struct Runner<'p> {
    process: &'p Process,
    clients: Clients,
    request: Request,
}

impl<'p> Runner<'p> {
    fn new(process: &'p Process, row: &Row) -> Result<Self> {
        let (mode, size) = (row.shape.mode(), row.shape.size());
        let request = answers::to_sabir(process.address, row.client, CHAT, mode, size);
        let mut clients = Clients::connect(process.address, CONNECTIONS)?;
        let answer = clients.show(&request.bytes)?;
        let mark = if mode.is_stream() { answers::STREAM_MARK } else { answers::WHOLE_MARK };
        ensure!(answer.contains(mark), "an answer without what the mock says:\n{answer}");
        clients.ask(&request.bytes, CONNECTIONS * 4)?;
        thread::sleep(SETTLED);
        Ok(Self { process, clients, request })
    }

    fn ask(&mut self, calls: usize) -> Result<()> {
        self.clients.ask(&self.request.bytes, calls).map(|_| ())
    }
}
