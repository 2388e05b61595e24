//! What it costs to decide whether a prompt fits: the same translation with a window that it hardly fits, and with none.

use std::path::Path;

use anyhow::{Context, Result};
use sabir_benches_wire::bodies;
use sabir_wire::Protocol;

use crate::answers;
use crate::answers::Size;
use crate::case::short;
use crate::load::Clients;
use crate::mock::Mode;
use crate::process::Process;
use crate::sabir;
use crate::sabir::Setup;
use crate::stage::Stage;
use crate::verdicts::{Verdicts, ratio};

/// How much more a translation may take.
const BAR: f64 = 1.05;
const UPSTREAM: Protocol = Protocol::OpenaiChat;
const REQUESTS: usize = 4_000;
const CONNECTIONS: usize = 8;

/// Tokens of which a body of 200 KB may have more by its length, and has fewer by its words: it is looked at, and sent.
const WINDOW: u64 = 60_000;

pub(crate) fn measure(stage: &Stage, binary: &Path, verdicts: &mut Verdicts) -> Result<()> {
    println!("\n| 200 KB in | no window, CPU µs | a window, CPU µs | ratio | bar |");
    println!("|---|---|---|---|---|");
    let table = windowed_model();
    let with = sabir::start(binary, stage.mock, &Setup { name: "-window", tables: &table })?;
    for client in [Protocol::AnthropicMessages, Protocol::OpenaiResponses, Protocol::Gemini] {
        row(stage, (&stage.sabir, &with), client, verdicts)?;
    }
    Ok(())
}

/// A window for the model that is asked for, under the same name.
fn windowed_model() -> String {
    let (provider, model) = (sabir::provider(UPSTREAM, Mode::Whole), bodies::model(UPSTREAM));
    format!(
        "\n[[model]]\nname = \"{provider}/{model}\"\ncontext_window = {WINDOW}\n\
         targets = [{{ provider = \"{provider}\", model = \"{model}\" }}]\n"
    )
}

fn row(
    stage: &Stage,
    (without, with): (&Process, &Process),
    client: Protocol,
    verdicts: &mut Verdicts,
) -> Result<()> {
    let count = stage.scaled(REQUESTS, CONNECTIONS);
    let spent = |gateway: &Process| {
        let address = gateway.address;
        let request = answers::to_sabir(address, client, UPSTREAM, Mode::Whole, Size::Large);
        let mut clients = Clients::connect(address, CONNECTIONS)?;
        let before = gateway.cpu();
        clients.ask(&request.bytes, count)?;
        let count = u32::try_from(count).context("a number of requests")?;
        anyhow::Ok((gateway.cpu() - before) / count)
    };
    let mut repeats = Vec::new();
    for _ in 0..stage.repeats {
        let (none, window) = (spent(without)?, spent(with)?);
        repeats.push((ratio(window, none), none, window));
    }
    repeats.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (ratio, none, window) = repeats[repeats.len() / 2];
    let name = format!("{} → {}", short(client), short(UPSTREAM));
    let verdict = verdicts.judge(&format!("{name}, whether it fits"), ratio, BAR);
    let [none, window] = [none, window].map(|it| it.as_secs_f64() * 1e6);
    println!("| {name} | {none:.1} | {window:.1} | {verdict} | {BAR} |");
    Ok(())
}
