//! What an answer of an agent CLI costs the gateway beside the same deltas from a provider, at the same pace. Programs play the CLIs, since
//! only the gateway's own time counts.

use std::env;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::answers::STREAM_MARK;
use crate::load::Clients;
use crate::played;
use crate::played::{Cli, Score};
use crate::process::Process;
use crate::sabir;
use crate::sabir::Setup;
use crate::stage::Effort;
use crate::verdicts::{Verdicts, ratio};

/// How much more processor time than by HTTP an answer may take, with the start of its process.
const BAR: f64 = 2.0;

const PROCESSES_MAX: usize = 8;

/// A way in which answers come.
struct Pace {
    name: &'static str,
    score: Score,
    connections: usize,
    calls: usize,
    /// What is started for a call counts most in a short answer, which has no bar.
    has_bar: bool,
}

const fn score(deltas: usize, micros: u64) -> Score {
    Score { deltas, pace: Duration::from_micros(micros) }
}

const PACES: [Pace; 3] = [
    Pace { name: "8 deltas", score: score(8, 0), connections: 1, calls: 200, has_bar: false },
    Pace {
        name: "2000 deltas at once",
        score: score(2_000, 0),
        connections: 1,
        calls: 60,
        has_bar: true,
    },
    Pace {
        name: "1000 deltas, one each 2 ms",
        score: score(1_000, 2_000),
        connections: 4,
        calls: 16,
        has_bar: true,
    },
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Http,
    Agent,
}

pub(crate) fn measure(binary: &Path, effort: Effort, verdicts: &mut Verdicts) -> Result<()> {
    let upstream = played::provide()?;
    let tables = tables(upstream)?;
    let sabir = sabir::start(binary, upstream, &Setup { name: "-agents", tables: &tables })?;
    println!("\n| CPU of an answer | by HTTP, ms | as an agent, ms | ratio | bar |");
    println!("|---|---|---|---|---|");
    for cli in Cli::ALL {
        for pace in &PACES {
            row(&sabir, cli, (pace, effort), verdicts)?;
        }
    }
    Ok(())
}

fn row(
    sabir: &Process,
    cli: Cli,
    (pace, effort): (&Pace, Effort),
    verdicts: &mut Verdicts,
) -> Result<()> {
    let (repeats, calls) = match effort {
        Effort::Quick => (1, pace.calls / 2),
        Effort::Full => (3, pace.calls),
    };
    let mut measured = Vec::new();
    // By turns, since the machine drifts.
    for _ in 0..repeats {
        let [http, agent] =
            [Way::Http, Way::Agent].map(|way| spent(sabir, (cli, way), pace, calls));
        let (http, agent) = (http?, agent?);
        measured.push((ratio(agent, http), http, agent));
    }
    measured.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (ratio, http, agent) = measured[measured.len() / 2];
    let name = format!("{}, {}", cli.as_str(), pace.name);
    let (figure, bar) = match pace.has_bar {
        true => (verdicts.judge(&name, ratio, BAR), BAR.to_string()),
        false => (format!("{ratio:.2}"), String::new()),
    };
    let [http, agent] = [http, agent].map(|it| it.as_secs_f64() * 1_000.0);
    println!("| {name} | {http:.2} | {agent:.2} | {figure} | {bar} |");
    Ok(())
}

/// What one call takes of the gateway.
fn spent(sabir: &Process, (cli, way): (Cli, Way), pace: &Pace, calls: usize) -> Result<Duration> {
    let request = request(sabir.address, (cli, way), pace.score);
    let mut clients = Clients::connect(sabir.address, pace.connections)?;
    let shown = clients.show(request.as_bytes())?;
    ensure!(shown.contains(STREAM_MARK), "{cli:?} {way:?} says something else: {shown}");
    ensure!(!shown.contains("\"error\""), "{cli:?} {way:?} failed: {shown}");
    let before = sabir.own_cpu();
    clients.ask(request.as_bytes(), calls)?;
    let calls = u32::try_from(calls).context("too many calls")?;
    Ok(sabir.own_cpu().saturating_sub(before) / calls)
}

fn provider(cli: Cli, way: Way, score: Score) -> String {
    let way = if way == Way::Http { "http" } else { "agent" };
    format!("{}-{way}-{}-{}", cli.as_str(), score.deltas, score.pace.as_micros())
}

fn request(address: SocketAddr, (cli, way): (Cli, Way), score: Score) -> String {
    let model = match cli {
        Cli::Claude => "claude-sonnet-5-1",
        Cli::Codex => "gpt-5.6",
        Cli::Gemini => "gemini-2.5-flash",
    };
    let provider = provider(cli, way, score);
    let body = format!(
        r#"{{"model":"{provider}/{model}","stream":true,"messages":[{{"role":"user","content":"hello"}}]}}"#
    );
    let length = body.len();
    format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n\r\n{body}"
    )
}

/// A provider for each CLI, way and pace.
fn tables(upstream: SocketAddr) -> Result<String> {
    let own = env::current_exe()?;
    let own = own.to_str().context("a path that is no text")?;
    let mut text = String::new();
    for cli in Cli::ALL {
        for Pace { score, .. } in PACES {
            let (agent, protocol) = match cli {
                Cli::Claude => ("claude-code", "anthropic-messages"),
                Cli::Codex => ("openai-codex", "openai-responses"),
                Cli::Gemini => ("google-gemini", "gemini"),
            };
            let (http, played) =
                (provider(cli, Way::Http, score), provider(cli, Way::Agent, score));
            let (name, path) = (cli.as_str(), played::path(cli, score));
            let Score { deltas, pace } = score;
            let micros = pace.as_micros();
            text += &format!(
                "\n[[provider]]\nname = \"{http}\"\nprotocol = [\"{protocol}\"]\nbase_url = \"http://{upstream}{path}\"\nretries = 0\n\
                 \n[[provider]]\nname = \"{played}\"\nagent = \"{agent}\"\nprocesses_max = {PROCESSES_MAX}\n\
                 command = [\"{own}\", \"play\", \"{name}\", \"{deltas}\", \"{micros}\"]\n"
            );
        }
    }
    Ok(text)
}
