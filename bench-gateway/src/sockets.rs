//! What a turn over a WebSocket costs beside the same turn by server-sent events, and what a socket holds that nobody uses.

use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use sabir_wire::Protocol;

use crate::answers;
use crate::answers::{Request, Size};
use crate::case::short;
use crate::load::Clients;
use crate::mock::Mode;
use crate::sabir;
use crate::sabir::Setup;
use crate::socket::{Socket, frame};
use crate::stage::Stage;
use crate::verdicts::{Verdicts, ratio};

/// How much more processor time than by events a turn may take.
const TURN_BAR: f64 = 1.1;
const TURNS: usize = 6_000;
const CONNECTIONS: usize = 8;

const IDLE: usize = 5_000;
/// Turns that go before them, for what is made once.
const FIRST: usize = 100;
/// Kilobytes of a socket that nobody uses.
const IDLE_BAR: f64 = 20.0;

pub(crate) fn measure(stage: &Stage, binary: &Path, verdicts: &mut Verdicts) -> Result<()> {
    println!("\n| A turn of 100 events | by events, CPU µs | by WebSocket, CPU µs | ratio | bar |");
    println!("|---|---|---|---|---|");
    for upstream in [Protocol::OpenaiChat, Protocol::OpenaiResponses] {
        for is_stored in [false, true] {
            turns(stage, upstream, is_stored, verdicts)?;
        }
    }
    println!("\n| Sockets | Sabir | bar |");
    println!("|---|---|---|");
    idle(stage, binary, verdicts)
}

fn turns(stage: &Stage, upstream: Protocol, is_stored: bool, verdicts: &mut Verdicts) -> Result<()> {
    let client = Protocol::OpenaiResponses;
    let address = stage.sabir.address;
    let request = answers::to_sabir(address, client, upstream, Mode::Stream, Size::Small);
    let request = if is_stored { request.stored() } else { request };
    let count = stage.scaled(TURNS, CONNECTIONS);
    let mut repeats = Vec::new();
    // By turns, since the machine drifts.
    for _ in 0..stage.repeats {
        let by_events = spent(stage, count, || by_events(stage, &request, count))?;
        let by_socket = spent(stage, count, || by_socket(stage, &request, count))?;
        repeats.push((ratio(by_socket, by_events), by_events, by_socket));
    }
    repeats.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (ratio, by_events, by_socket) = repeats[repeats.len() / 2];
    let kept = if is_stored { ", stored" } else { "" };
    let name = format!("{} → {}{kept}", short(client), short(upstream));
    let verdict = verdicts.judge(&format!("{name}, by WebSocket"), ratio, TURN_BAR);
    let [by_events, by_socket] = [by_events, by_socket].map(|it| it.as_secs_f64() * 1e6);
    println!("| {name} | {by_events:.1} | {by_socket:.1} | {verdict} | {TURN_BAR} |");
    Ok(())
}

/// The processor time of the gateway for each of so many turns.
fn spent(stage: &Stage, count: usize, work: impl FnOnce() -> Result<()>) -> Result<Duration> {
    let before = stage.sabir.cpu();
    work()?;
    let count = u32::try_from(count).context("a number of turns")?;
    Ok((stage.sabir.cpu() - before) / count)
}

fn by_events(stage: &Stage, request: &Request, count: usize) -> Result<()> {
    let mut clients = Clients::connect(stage.sabir.address, CONNECTIONS)?;
    clients.ask(&request.bytes, count).map(drop)
}

fn by_socket(stage: &Stage, request: &Request, count: usize) -> Result<()> {
    let frame = frame(request);
    thread::scope(|scope| {
        let ask = || -> Result<()> {
            let mut socket = Socket::open(stage.sabir.address)?;
            (0..count / CONNECTIONS).try_for_each(|_| socket.turn(&frame))
        };
        let asking: Vec<_> = (0..CONNECTIONS).map(|_| scope.spawn(ask)).collect();
        let ended = asking.into_iter().map(|it| it.join().expect("clients do not panic"));
        ended.collect::<Result<()>>()
    })
}

/// Each has had a turn before. Few went before them: memory that many gave back would be taken again, and not be seen. So what
/// the gateway keeps of its last calls counts as well, which it would keep without sockets.
fn idle(stage: &Stage, binary: &Path, verdicts: &mut Verdicts) -> Result<()> {
    let fresh = sabir::start(binary, stage.mock, &Setup::default())?;
    let (client, upstream) = (Protocol::OpenaiResponses, Protocol::OpenaiChat);
    let request = answers::to_sabir(fresh.address, client, upstream, Mode::Stream, Size::Small);
    let frame = frame(&request);
    let open = || -> Result<Socket> {
        let mut socket = Socket::open(fresh.address)?;
        socket.turn(&frame)?;
        Ok(socket)
    };
    (0..FIRST).try_for_each(|_| open().map(drop))?;
    let before = fresh.resident_bytes();
    let sockets = (0..IDLE).map(|_| open()).collect::<Result<Vec<_>>>()?;
    let each = (fresh.resident_bytes() as f64 - before as f64) / 1_000.0 / sockets.len() as f64;
    let name = format!("each of {IDLE} idle sockets behind a turn, KB");
    let verdict = verdicts.judge(&name, each, IDLE_BAR);
    println!("| {name} | {verdict} | {IDLE_BAR} |");
    Ok(())
}
