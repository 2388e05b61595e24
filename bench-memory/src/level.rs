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

const CONNECTIONS: usize = 32;
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
    println!("\n| Calls that ask for no state | `off`, CPU µs | `{record}`, CPU µs | ratio | bar |");
    println!("|---|---|---|---|---|");
    let (off, on) = (stage.gateway("off")?, stage.gateway(record)?);
    for row in rows {
        let mut both = [Runner::new(&off, row)?, Runner::new(&on, row)?];
        for _ in 0..stage.repeats {
            both.iter_mut().try_for_each(|runner| runner.run(row.shape.calls()))?;
        }
        let [off, on] = both.map(|runner| runner.cpu);
        let name = format!("{} → chat, {}", short(row.client), row.shape.as_str());
        let verdict = verdicts.judge(&format!("{record}, {name}"), ratio(on, off), row.bar);
        let [off, on] = [off, on].map(|cpu| cpu.as_secs_f64() * 1e6);
        println!("| {name} | {off:.1} | {on:.1} | {verdict} | {} |", row.bar);
    }
    Ok(())
}

fn short(client: Protocol) -> &'static str {
    if client == MESSAGES { "messages" } else { "chat" }
}

/// Asks one gateway, and keeps the least processor time that a call took.
struct Runner<'p> {
    process: &'p Process,
    clients: Clients,
    request: Request,
    cpu: Duration,
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
        Ok(Self { process, clients, request, cpu: Duration::MAX })
    }

    fn run(&mut self, calls: usize) -> Result<()> {
        let before = self.process.cpu();
        self.clients.ask(&self.request.bytes, calls)?;
        thread::sleep(SETTLED);
        let cpu = self.process.cpu().saturating_sub(before) / u32::try_from(calls)?;
        self.cpu = self.cpu.min(cpu);
        Ok(())
    }
}
