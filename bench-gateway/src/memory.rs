//! What memory the gateway holds: at rest, with large bodies in flight, with thousands of open streams, and afterwards.

use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::Result;
use sabir_wire::Protocol;

use crate::answers::Size;
use crate::case::short;
use crate::load::Clients;
use crate::mock::{HOLD, Mode};
use crate::process::Process;
use crate::sabir::Setup;
use crate::stage::Stage;
use crate::verdicts::Verdicts;
use crate::{answers, sabir};

const MEGABYTE: f64 = 1_000_000.0;

const IDLE_BAR: f64 = 20.0;
const IN_FLIGHT: usize = 32;
/// Memory over the bytes of bodies in flight.
const IN_FLIGHT_BAR: f64 = 2.5;
/// What may stay behind once all bodies are gone, in megabytes above the rest.
const LEFT_BAR: f64 = 20.0;
const STREAMS: usize = 5_000;
/// Kilobytes of one open stream.
const STREAM_BAR: f64 = 40.0;

/// Each question is put to a gateway that has done nothing else before.
pub(crate) fn measure(stage: &Stage, binary: &Path, verdicts: &mut Verdicts) -> Result<()> {
    println!("\n| Memory | Sabir | bar |");
    println!("|---|---|---|");
    let fresh = sabir::start(binary, stage.mock, &Setup::default())?;
    thread::sleep(Duration::from_millis(300));
    row("at rest, MB", resident(&fresh), IDLE_BAR, verdicts);
    drop(fresh);
    for client in [Protocol::OpenaiChat, Protocol::AnthropicMessages] {
        in_flight(stage, binary, client, verdicts)?;
    }
    for client in [Protocol::OpenaiChat, Protocol::AnthropicMessages] {
        open_streams(stage, binary, client, verdicts)?;
    }
    Ok(())
}

fn in_flight(
    stage: &Stage,
    binary: &Path,
    client: Protocol,
    verdicts: &mut Verdicts,
) -> Result<()> {
    let upstream = Protocol::OpenaiChat;
    let fresh = sabir::start(binary, stage.mock, &Setup::default())?;
    let request = answers::to_sabir(fresh.address, client, upstream, Mode::Hold, Size::Huge);
    let before = resident(&fresh);
    let mut clients = Clients::connect(fresh.address, IN_FLIGHT)?;
    let peak = thread::scope(|scope| {
        let watching = scope.spawn(|| watch(&fresh));
        clients.ask(&request.bytes, IN_FLIGHT * 2)?;
        let peak = watching.join().unwrap_or_default();
        anyhow::Ok(peak)
    })?;
    let bodies = (IN_FLIGHT * request.body_bytes) as f64 / MEGABYTE;
    let way = format!("{} → {}", short(client), short(upstream));
    let name = format!("{way}, {IN_FLIGHT} bodies of 2 MB in flight, times their bytes");
    row(&name, (peak - before) / bodies, IN_FLIGHT_BAR, verdicts);
    drop(clients);
    thread::sleep(Duration::from_secs(2));
    row(
        &format!("{way}, left of it afterwards, MB"),
        resident(&fresh) - before,
        LEFT_BAR,
        verdicts,
    );
    Ok(())
}

/// The most memory that is seen while requests are held back twice.
fn watch(process: &Process) -> f64 {
    let looks = 2 * HOLD.as_millis() / 20;
    let look = |_| {
        thread::sleep(Duration::from_millis(20));
        resident(process)
    };
    (0..looks).map(look).fold(0.0, f64::max)
}

fn open_streams(
    stage: &Stage,
    binary: &Path,
    client: Protocol,
    verdicts: &mut Verdicts,
) -> Result<()> {
    let upstream = Protocol::OpenaiChat;
    let fresh = sabir::start(binary, stage.mock, &Setup::default())?;
    let request = answers::to_sabir(fresh.address, client, upstream, Mode::Stream, Size::Small);
    let mut clients = Clients::connect(fresh.address, 1)?;
    clients.ask(&request.bytes, 10)?;
    let before = resident(&fresh);
    let request = answers::to_sabir(fresh.address, client, upstream, Mode::Slow, Size::Small);
    clients.open(fresh.address, &request.bytes, STREAMS)?;
    let each = (resident(&fresh) - before) * 1_000.0 / STREAMS as f64;
    let way = format!("{} → {}", short(client), short(upstream));
    row(&format!("{way}, each of {STREAMS} open streams, KB"), each, STREAM_BAR, verdicts);
    drop(clients);
    Ok(())
}

fn resident(process: &Process) -> f64 {
    process.resident_bytes() as f64 / MEGABYTE
}

fn row(name: &str, value: f64, bar: f64, verdicts: &mut Verdicts) {
    let verdict = verdicts.judge(name, value, bar);
    println!("| {name} | {verdict} | {bar} |");
}
