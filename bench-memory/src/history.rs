//! What a store on disk costs by itself: a turn more of a long conversation, a history recalled, and one conversation among
//! many.

use std::path::PathBuf;
use std::time::{Duration, Instant};
use std::{fs, process};

use anyhow::{Context, Result};
use sabir_bench_gateway::process::{cpu_of, folder};
use sabir_bench_gateway::verdicts::{Verdicts, ratio};
use sabir_benches_wire::bodies;
use sabir_benches_wire::conversation::Conversation;
use sabir_store::{
    Advance, After, Clock, Closing, ConversationId, Ending, Hash, Name, NewConversation,
    NewMessage, NodeId, Opening, Options, Origin, Owner, Page, Record, Search, Store, Title,
    TurnId, Window,
};
use sabir_wire::Protocol;
use sabir_wire::protocol::Kept;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::stage::Stage;
use crate::stored::median;

const SHORT: usize = 10;
const LONG: usize = 10_000;
/// Turns that are added at either length.
const ADDED: usize = 300;
const APPEND_BAR: f64 = 1.2;
const RECALL_BAR: f64 = 1.5;
const CONVERSATIONS: usize = 100_000;
const LIST_BAR: f64 = 20.0;

/// A store in a folder that goes with it.
struct Place {
    store: Store,
    runtime: Runtime,
    folder: PathBuf,
}

impl Place {
    fn new(name: &str) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build()?;
        let folder = folder(name)?;
        let (node, data_folder) = (NodeId::new("bench")?, folder.clone());
        let options = Options { node, data_folder, clock: Clock::System, form: None };
        let store = runtime.block_on(Store::open("sqlite:", options))?;
        Ok(Self { store, runtime, folder })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

pub(crate) fn measure(_: &Stage, verdicts: &mut Verdicts) -> Result<()> {
    println!("\n| The store, SQLite | | than | ratio | bar |");
    println!("|---|---|---|---|---|");
    append(verdicts)?;
    recall(verdicts)
}

/// A conversation to which turns of 2 KB are added.
struct Growing {
    id: ConversationId,
    turns: usize,
    last: Option<(TurnId, Hash)>,
}

impl Growing {
    async fn begin(store: &Store, name: &str) -> Result<Self> {
        Ok(Self { id: begin(store, name).await?, turns: 0, last: None })
    }

    async fn add(&mut self, store: &Store) -> Result<()> {
        let id = TurnId::new(format!("{}-{}", self.id.as_str(), self.turns))?;
        let (previous, base) = self.last.clone().unzip();
        let texts = ["user", "assistant"];
        let texts = texts.map(|role| format!("{role} {} {}", id.as_str(), "x".repeat(1_000)));
        let messages = chain(base, &texts)?;
        let tip = messages.last().map(|message| message.hash);
        let turn = opening(id.clone(), previous, base)?;
        store.open_turn(turn.clone()).await?;
        let conversation = Some(Advance::after(self.id.clone(), base));
        store.close_turn(closing(turn, messages, conversation)).await?;
        self.last = tip.map(|tip| (id, tip));
        self.turns += 1;
        Ok(())
    }
}

/// Messages with these texts, each after the one before it.
fn chain(base: Option<Hash>, texts: &[String]) -> Result<Vec<NewMessage>> {
    let mut parent = base;
    let mut messages = Vec::new();
    for text in texts {
        let hash = Hash::of_message(parent.as_ref(), text.as_bytes());
        messages.push(NewMessage { hash, record: Record::new(text.as_str())? });
        parent = Some(hash);
    }
    Ok(messages)
}

fn opening(id: TurnId, previous: Option<TurnId>, base: Option<Hash>) -> Result<Opening> {
    let (owner, protocol) = (Owner::nobody(), Name::new("openai-chat")?);
    Ok(Opening { owner, id, previous, base, protocol, exchange: None })
}

fn closing(turn: Opening, messages: Vec<NewMessage>, conversation: Option<Advance>) -> Closing {
    Closing {
        turn,
        ending: Ending::Finished,
        provider: None,
        model: None,
        messages,
        system: None,
        tools: None,
        details: Record::default(),
        responses: Vec::new(),
        items: Vec::new(),
        conversation,
        begins: None,
        beside: None,
        follows: None,
        job: None,
    }
}

async fn begin(store: &Store, name: &str) -> Result<ConversationId> {
    let (owner, id, title) = (Owner::nobody(), ConversationId::new(name)?, Title::new(name));
    let (metadata, origin) = (Record::default(), Origin::Asked);
    let new = NewConversation { owner, id, title, metadata, origin };
    Ok(store.ensure_conversation(new).await?.id)
}

/// The processor time of a turn more, at the 10th and at the 10,000th; those of both take turns.
fn append(verdicts: &mut Verdicts) -> Result<()> {
    let Place { store, runtime, .. } = &Place::new("append")?;
    let [short, long] = runtime.block_on(async {
        let mut long = Growing::begin(store, "long").await?;
        while long.turns < LONG {
            long.add(store).await?;
        }
        let mut short = Growing::begin(store, "short-0").await?;
        let mut spent = [Vec::new(), Vec::new()];
        for number in 1..=ADDED {
            if short.turns > 2 * SHORT {
                short = Growing::begin(store, &format!("short-{number}")).await?;
            }
            for (growing, spent) in [&mut short, &mut long].into_iter().zip(&mut spent) {
                let before = cpu_of(process::id());
                growing.add(store).await?;
                spent.push(cpu_of(process::id()).saturating_sub(before));
            }
        }
        anyhow::Ok(spent.map(median))
    })?;
    let verdict = verdicts.judge("a turn after 10,000", ratio(long, short), APPEND_BAR);
    println!(
        "| a turn after {LONG}, CPU | {long:.0?} | after {SHORT}: {short:.0?} | {verdict} | {APPEND_BAR} |"
    );
    Ok(())
}

/// The time from the tip of a kept history of 200 KB to its messages in a request, beside the reference of the wire benchmark
/// for as much JSON.
fn recall(verdicts: &mut Verdicts) -> Result<()> {
    let Place { store, runtime, .. } = &Place::new("recall")?;
    let protocol = Protocol::OpenaiChat;
    let body = bodies::body(protocol, &Conversation::of_rounds(100, 1_050));
    let decoded = protocol.decode_request_text(&body)?;
    let elements: Vec<String> =
        decoded.entries()?.entries.iter().map(|entry| entry.json.to_string()).collect();
    let tip = runtime.block_on(keep(store, &elements))?;
    let json = format!("[{}]", elements.join(","));
    let recall: &dyn Fn() -> Result<usize> = &|| recalled(runtime, store, tip);
    let reference: &dyn Fn() -> Result<usize> = &|| reference(&json);
    let mut least = [Duration::MAX; 2];
    for _ in 0..200 {
        for (run, least) in [recall, reference].into_iter().zip(&mut least) {
            let began = Instant::now();
            run()?;
            *least = (*least).min(began.elapsed());
        }
    }
    let [recalled, reference] = least;
    let verdict = verdicts.judge("recall of 200 KB", ratio(recalled, reference), RECALL_BAR);
    println!(
        "| {} KB of history recalled | {recalled:.0?} | reference: {reference:.0?} | {verdict} | {RECALL_BAR} |",
        json.len() / 1_000
    );
    Ok(())
}

/// Keeps a history, four messages to the turn, and answers where it ends.
async fn keep(store: &Store, elements: &[String]) -> Result<Hash> {
    let (mut base, mut previous) = (None, None);
    for (number, elements) in elements.chunks(4).enumerate() {
        let messages = chain(base, elements)?;
        let tip = messages.last().map(|message| message.hash);
        let id = TurnId::new(format!("turn-{number}"))?;
        let turn = opening(id.clone(), previous, base)?;
        store.close_turn(closing(turn, messages, None)).await?;
        (base, previous) = (tip, Some(id));
    }
    base.context("a history has an end")
}

fn recalled(runtime: &Runtime, store: &Store, tip: Hash) -> Result<usize> {
    let history = runtime.block_on(store.history(&Owner::nobody(), tip, Window::default()))?;
    let protocol = Protocol::OpenaiChat;
    let mut kept: Option<Kept> = None;
    for message in &history.messages {
        let element = std::str::from_utf8(message.record.as_bytes())?;
        match &mut kept {
            Some(kept) => kept.push(element),
            None => kept = Some(Kept::new(protocol, element)),
        }
    }
    let kept = kept.context("a history has messages")?;
    Ok(kept.messages(0, protocol)?.len())
}

fn reference(json: &str) -> Result<usize> {
    let value: serde_json::Value = serde_json::from_slice(json.as_bytes())?;
    Ok(serde_json::to_vec(&value)?.len())
}

/// One page, and one conversation, among many.
pub(crate) fn lists(_: &Stage, verdicts: &mut Verdicts) -> Result<()> {
    println!("\n| Among 100,000 conversations, SQLite | median, ms | bar, ms |");
    println!("|---|---|---|");
    let Place { store, runtime, .. } = &Place::new("lists")?;
    runtime.block_on(fill(store))?;
    let page = |search: Option<&str>, after: Option<&str>| {
        let search = search.map(Search::new);
        let after = after.map(ConversationId::new).transpose()?.map(After::Conversation);
        let page = Page { limit: 20, after, search };
        runtime.block_on(store.list_conversations(&Owner::nobody(), page))?;
        anyhow::Ok(())
    };
    let one = |id: &str| {
        runtime.block_on(store.conversation(&Owner::nobody(), &ConversationId::new(id)?))?;
        anyhow::Ok(())
    };
    let measures: [(&str, &dyn Fn() -> Result<()>); 4] = [
        ("the newest 20", &|| page(None, None)),
        ("20 from the middle", &|| page(None, Some("conversation-50000"))),
        ("20 that a search finds", &|| page(Some("conversation-77"), None)),
        ("one opened", &|| one("conversation-5")),
    ];
    for (name, run) in measures {
        let verdict = verdicts.judge(name, median_ms(run)?, LIST_BAR);
        println!("| {name} | {verdict} | {LIST_BAR} |");
    }
    println!(
        "| a search that finds none | {:.2} | |",
        median_ms(&|| page(Some("not there"), None))?
    );
    Ok(())
}

fn median_ms(run: &dyn Fn() -> Result<()>) -> Result<f64> {
    let time = |_| {
        let began = Instant::now();
        run()?;
        anyhow::Ok(began.elapsed())
    };
    let times = (0..50).map(time).collect::<Result<Vec<_>>>()?;
    Ok(median(times).as_secs_f64() * 1_000.0)
}

async fn fill(store: &Store) -> Result<()> {
    let numbers: Vec<usize> = (0..CONVERSATIONS).collect();
    for part in numbers.chunks(1_000) {
        let mut making = JoinSet::new();
        for number in part {
            let (store, name) = (store.clone(), format!("conversation-{number}"));
            making.spawn(async move { begin(&store, &name).await.map(|_| ()) });
        }
        while let Some(made) = making.join_next().await {
            made??;
        }
    }
    Ok(())
}
