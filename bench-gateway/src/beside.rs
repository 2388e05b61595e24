//! How long small requests wait beside large ones that are being translated: nobody's body may hold up everybody's.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use sabir_wire::Protocol;

use crate::answers;
use crate::answers::{Request, Size};
use crate::load::Clients;
use crate::mock::Mode;
use crate::stage::{Effort, Stage};
use crate::verdicts::Verdicts;

/// How many large bodies are under way at any time.
const LARGE_CLIENTS: usize = 4;
/// How many small requests are: enough for every thread of the gateway to have some.
const SMALL_CLIENTS: usize = 4;
/// What a small request may wait for, in milliseconds, but for one in a hundred.
const BAR_MS: f64 = 20.0;

/// Small requests with nothing beside them, and beside four bodies of 20 MB.
pub(crate) fn measure(stage: &Stage, verdicts: &mut Verdicts) -> Result<()> {
    println!(
        "\n| Small requests | median, ms | 99 of 100 within, ms | bar | large ones meanwhile |"
    );
    println!("|---|---|---|---|---|");
    let duration = Duration::from_secs(if stage.effort == Effort::Quick { 5 } else { 20 });
    run(stage, None, duration)?.row("alone", verdicts);
    for large in Large::ALL {
        let name = format!("beside four bodies of 20 MB{}", large.as_str());
        run(stage, Some(large), duration)?.row(&name, verdicts);
    }
    Ok(())
}

/// What the large ones ask for.
#[derive(Clone, Copy)]
enum Large {
    Answer,
    /// An answer that is kept.
    StoredAnswer,
    /// An answer in a conversation of its own.
    Conversation,
}

impl Large {
    const ALL: [Self; 3] = [Self::Answer, Self::StoredAnswer, Self::Conversation];

    fn as_str(self) -> &'static str {
        match self {
            Self::Answer => "",
            Self::StoredAnswer => ", each stored",
            Self::Conversation => ", each a conversation",
        }
    }

    fn request(self, stage: &Stage) -> Request {
        let request = |client, size| to_chat(stage, client, size);
        match self {
            Self::Answer => request(Protocol::AnthropicMessages, Size::Enormous),
            Self::StoredAnswer => request(Protocol::OpenaiResponses, Size::Coarse).stored(),
            Self::Conversation => request(Protocol::AnthropicMessages, Size::Coarse)
                .with_header("sabir-conversation: new"),
        }
    }
}

fn to_chat(stage: &Stage, client: Protocol, size: Size) -> Request {
    answers::to_sabir(stage.sabir.address, client, Protocol::OpenaiChat, Mode::Whole, size)
}

/// What was seen of the small requests.
struct Seen {
    waits: Vec<Duration>,
    large: usize,
}

impl Seen {
    fn row(&self, name: &str, verdicts: &mut Verdicts) {
        let (median, late) = (self.within(50), self.within(99));
        let verdict = verdicts.judge(&format!("small requests {name}"), late, BAR_MS);
        println!("| {name} | {median:.1} | {verdict} | {BAR_MS} | {} |", self.large);
    }

    /// The milliseconds within which so many of a hundred were answered.
    fn within(&self, percent: usize) -> f64 {
        let place = (self.waits.len() * percent / 100).min(self.waits.len().saturating_sub(1));
        self.waits.get(place).map_or(f64::INFINITY, |wait| wait.as_secs_f64() * 1_000.0)
    }
}

fn run(stage: &Stage, beside: Option<Large>, duration: Duration) -> Result<Seen> {
    let small = to_chat(stage, Protocol::AnthropicMessages, Size::Small);
    let enormous = beside.map(|large| large.request(stage));
    let is_over = AtomicBool::new(false);
    let large = AtomicUsize::new(0);
    let ask = |enormous: &Request| ask_until(stage, &enormous.bytes, &is_over, &large);
    let mut waits = thread::scope(|scope| {
        let requests = enormous.iter().flat_map(|request| [request; LARGE_CLIENTS]);
        let asking: Vec<_> = requests.map(|request| scope.spawn(move || ask(request))).collect();
        let waits = small_requests(stage, &small.bytes, duration);
        is_over.store(true, Relaxed);
        for client in asking {
            client.join().map_err(|_| anyhow!("a client with large bodies panicked"))??;
        }
        waits
    })?;
    waits.sort_unstable();
    Ok(Seen { waits, large: large.into_inner() })
}

fn ask_until(
    stage: &Stage,
    request: &[u8],
    is_over: &AtomicBool,
    answered: &AtomicUsize,
) -> Result<()> {
    let mut clients = Clients::connect(stage.sabir.address, 1)?;
    while !is_over.load(Relaxed) {
        clients.ask(request, 1).context("a large body was not answered")?;
        answered.fetch_add(1, Relaxed);
    }
    Ok(())
}

/// Asks all the while, with a breath between two rounds: waits are to be seen, not a load of their own.
fn small_requests(stage: &Stage, request: &[u8], duration: Duration) -> Result<Vec<Duration>> {
    let mut clients = Clients::connect(stage.sabir.address, SMALL_CLIENTS)?;
    clients.ask(request, 10 * SMALL_CLIENTS)?;
    let until = Instant::now() + duration;
    let mut waits = Vec::new();
    while Instant::now() < until {
        let timings = clients.ask(request, SMALL_CLIENTS)?;
        waits.extend(timings.iter().map(|timing| timing.whole));
        thread::sleep(Duration::from_millis(5));
    }
    Ok(waits)
}
