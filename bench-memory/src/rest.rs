//! What memory a store takes: at rest, and for each open stream.

use std::thread;
use std::time::Duration;

use anyhow::Result;
use sabir_bench_gateway::answers;
use sabir_bench_gateway::answers::Size;
use sabir_bench_gateway::load::Clients;
use sabir_bench_gateway::mock::Mode;
use sabir_bench_gateway::process::Process;
use sabir_bench_gateway::verdicts::Verdicts;
use sabir_wire::Protocol;

use crate::stage::Stage;

const MEGABYTE: f64 = 1_000_000.0;
const REST_BAR: f64 = 15.0;
const STREAMS: usize = 3_000;
/// Kilobytes of an open stream above those of a gateway without a store: memory is not handed out by the byte.
const UNASKED_BAR: f64 = 1.0;
/// The same for an answer that will be kept: the call's own messages and settings, and the answer so far.
const STORED_BAR: f64 = 12.0;

pub(crate) fn measure(stage: &Stage, verdicts: &mut Verdicts) -> Result<()> {
    println!("\n| Memory | `off` | `stateful` | more | bar |");
    println!("|---|---|---|---|---|");
    let (off, on) = (rested(stage, "off")?, rested(stage, "stateful")?);
    row("at rest, after 5,000 calls, MB", [off, on], REST_BAR, verdicts);
    let plain = stream_of(stage, "off", Asking::Nothing)?;
    let unasked = stream_of(stage, "stateful", Asking::Nothing)?;
    row("each of 3,000 open streams, KB", [plain, unasked], UNASKED_BAR, verdicts);
    let stored = stream_of(stage, "stateful", Asking::Keeping)?;
    row("each of 3,000 open streams that are stored, KB", [plain, stored], STORED_BAR, verdicts);
    Ok(())
}

/// What a gateway holds that has served some calls and serves none.
fn rested(stage: &Stage, record: &str) -> Result<f64> {
    let gateway = stage.gateway(record)?;
    let chat = Protocol::OpenaiChat;
    let request = answers::to_sabir(gateway.address, chat, chat, Mode::Whole, Size::Small);
    Clients::connect(gateway.address, 16)?.ask(&request.bytes, 5_000)?;
    thread::sleep(Duration::from_secs(3));
    Ok(resident(&gateway))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Asking {
    Nothing,
    Keeping,
}

/// The kilobytes of one open stream of Responses, translated.
fn stream_of(stage: &Stage, record: &str, asking: Asking) -> Result<f64> {
    let gateway = stage.gateway(record)?;
    let request = |mode| {
        let (client, upstream) = (Protocol::OpenaiResponses, Protocol::OpenaiChat);
        let request = answers::to_sabir(gateway.address, client, upstream, mode, Size::Small);
        if asking == Asking::Keeping { request.stored() } else { request }
    };
    let mut clients = Clients::connect(gateway.address, 1)?;
    clients.ask(&request(Mode::Stream).bytes, 50)?;
    thread::sleep(Duration::from_millis(1_500));
    let before = resident(&gateway);
    clients.open(gateway.address, &request(Mode::Slow).bytes, STREAMS)?;
    let each = (resident(&gateway) - before) * 1_000.0 / STREAMS as f64;
    drop(clients);
    Ok(each)
}

fn resident(process: &Process) -> f64 {
    process.resident_bytes() as f64 / MEGABYTE
}

fn row(name: &str, [off, on]: [f64; 2], bar: f64, verdicts: &mut Verdicts) {
    let verdict = verdicts.judge(name, on - off, bar);
    println!("| {name} | {off:.2} | {on:.2} | {verdict} | {bar} |");
}
