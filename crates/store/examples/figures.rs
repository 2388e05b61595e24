//! Figures of a store, by its URL: what a close, an append, a recall and a list cost.
//! `cargo run --release -p sabir-store --example figures -- sqlite:FILE`; of `files:FOLDER`, what a list costs.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use sabir_store::{
    Added, Advance, Clock, Closing, Content, ConversationId, Ending, Form, Hash, Name,
    NewConversation, NewMessage, NodeId, Opening, Options, Origin, Outline, Owner, Page, Record,
    Search, Store, Title, TurnId, Window,
};

type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[tokio::main]
async fn main() -> Outcome<()> {
    let url = std::env::args().nth(1).ok_or("the URL of an empty store is missing")?;
    let options = Options {
        node: NodeId::new("figures")?,
        data_folder: PathBuf::from("."),
        clock: Clock::System,
        form: Some(Arc::new(Lines)),
    };
    let store = Store::open(&url, options).await?;
    if let Some(folder) = url.strip_prefix("files:") {
        return sessions(&store, Path::new(folder)).await;
    }
    println!("one sync of this disk      {:?}", sync()?);
    println!("a lone close               {:?}", lone_close(&store).await?);
    crowd(&store).await?;
    appends(&store).await?;
    recall(&store).await?;
    lists(&store).await
}

/// Files of a line, of which nothing but their title is needed.
#[derive(Debug)]
struct Lines;

impl Form for Lines {
    fn read(&self, file: &[u8]) -> sabir_store::Result<Content> {
        Ok(Content { outline: self.outline(file), ..Content::default() })
    }

    fn outline(&self, file: &[u8]) -> Outline {
        Outline { title: Title::new(&String::from_utf8_lossy(file)), ..Outline::default() }
    }

    fn extend(&self, file: &[u8], _: &Added<'_>) -> sabir_store::Result<Vec<u8>> {
        Ok(file.to_vec())
    }

    fn empty(&self) -> Vec<u8> {
        Vec::new()
    }
}

/// The first page of 10,000 sessions, for the first time and later.
async fn sessions(store: &Store, folder: &Path) -> Outcome<()> {
    for number in 0..10_000 {
        let session = folder.join("sessions").join(format!("session-{number}"));
        std::fs::create_dir_all(&session)?;
        std::fs::write(session.join("transcript.json"), format!("about {number}\n"))?;
    }
    let mut times = Vec::new();
    for _ in 0..21 {
        let started = Instant::now();
        store.list_conversations(&Owner::nobody(), Page { limit: 20, ..Page::default() }).await?;
        times.push(started.elapsed());
    }
    println!("a page of 10,000 sessions  {:?}, then {:?}", times[0], median(times[1..].to_vec()));
    Ok(())
}

/// The median of many.
fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn sync() -> Outcome<Duration> {
    let mut file = std::fs::File::create("figures.sync")?;
    let mut times = Vec::new();
    for _ in 0..200 {
        file.write_all(&[0; 4096])?;
        let started = Instant::now();
        file.sync_data()?;
        times.push(started.elapsed());
    }
    std::fs::remove_file("figures.sync")?;
    Ok(median(times))
}

fn closing(id: String, base: Option<(TurnId, Hash)>, size: usize) -> Outcome<Closing> {
    let (previous, base) = base.unzip();
    let mut parent = base;
    let mut messages = Vec::new();
    for role in ["user", "assistant"] {
        let text = format!("{role} {id} {}", "x".repeat(size / 2));
        let hash = Hash::of_message(parent.as_ref(), text.as_bytes());
        messages.push(NewMessage { hash, record: Record::new(text)? });
        parent = Some(hash);
    }
    let turn = Opening {
        owner: Owner::nobody(),
        id: TurnId::new(id)?,
        previous,
        base,
        protocol: Name::new("openai-responses")?,
        exchange: None,
    };
    Ok(Closing {
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
        conversation: None,
        begins: None,
        beside: None,
        follows: None,
        job: None,
    })
}

async fn lone_close(store: &Store) -> Outcome<Duration> {
    let mut times = Vec::new();
    for number in 0..200 {
        let closing = closing(format!("lone-{number}"), None, 2000)?;
        let started = Instant::now();
        store.close_turn(closing).await?;
        times.push(started.elapsed());
    }
    Ok(median(times))
}

/// 256 callers that close one turn after the other.
async fn crowd(store: &Store) -> Outcome<()> {
    let (before, started) = (store.activity(), Instant::now());
    let callers = (0..256).map(|caller| {
        let store = store.clone();
        tokio::spawn(async move {
            for number in 0..40 {
                let closing = closing(format!("crowd-{caller}-{number}"), None, 2000)?;
                store.open_turn(closing.turn.clone()).await?;
                store.close_turn(closing).await?;
            }
            Outcome::Ok(())
        })
    });
    for caller in callers.collect::<Vec<_>>() {
        caller.await??;
    }
    let (after, seconds) = (store.activity(), started.elapsed().as_secs_f64());
    let writes = (after.durable_writes - before.durable_writes) as f64;
    let commits = (after.durable_commits - before.durable_commits) as f64;
    println!(
        "256 callers                {:.0} closes/s, {:.1} for each commit",
        writes / seconds,
        writes / commits
    );
    Ok(())
}

async fn begin(store: &Store, id: &str) -> Outcome<ConversationId> {
    let id = ConversationId::new(id)?;
    let (owner, title) = (Owner::nobody(), Title::new(id.as_str()));
    let metadata = Record::default();
    store
        .ensure_conversation(NewConversation {
            owner,
            id: id.clone(),
            title,
            metadata,
            origin: Origin::Asked,
        })
        .await?;
    Ok(id)
}

/// A conversation of 10,100 turns; the time of a turn around its 10th and its 10,000th.
async fn appends(store: &Store) -> Outcome<()> {
    let id = begin(store, "long").await?;
    let mut last = None;
    let mut times = Vec::new();
    for number in 0..10_100 {
        let mut closing = closing(format!("long-{number}"), last.clone(), 2000)?;
        let from = last.as_ref().map(|(_, tip)| *tip);
        closing.conversation = Some(Advance::after(id.clone(), from));
        let tip = closing.messages.last().ok_or("a turn has messages")?.hash;
        last = Some((closing.turn.id.clone(), tip));
        let started = Instant::now();
        store.close_turn(closing).await?;
        times.push(started.elapsed());
    }
    let early = median(times[10..110].to_vec());
    let late = median(times[10_000..].to_vec());
    println!("a turn after 10            {early:?}");
    println!("a turn after 10,000        {late:?}");
    Ok(())
}

async fn recall(store: &Store) -> Outcome<()> {
    let tip = store.conversation(&Owner::nobody(), &ConversationId::new("long")?).await?.tip;
    let tip = tip.ok_or("the long conversation has a tip")?;
    for messages in [200, 20_200] {
        let mut times = Vec::new();
        let mut bytes = 0;
        for _ in 0..20 {
            let started = Instant::now();
            let window = Window { messages, ..Window::default() };
            let history = store.history(&Owner::nobody(), tip, window).await?;
            times.push(started.elapsed());
            bytes = history.messages.iter().map(|it| it.record.as_bytes().len()).sum();
        }
        println!("recall of {messages:6} messages  {:?} ({} KB)", median(times), bytes / 1000);
    }
    Ok(())
}

async fn lists(store: &Store) -> Outcome<()> {
    let numbers = (0..100_000).collect::<Vec<u32>>();
    for part in numbers.chunks(1000) {
        let makes = part.iter().map(|number| {
            let store = store.clone();
            let id = format!("conversation-{number}");
            tokio::spawn(async move { begin(&store, &id).await.map(|_| ()) })
        });
        for make in makes.collect::<Vec<_>>() {
            make.await??;
        }
    }
    let nobody = Owner::nobody();
    for search in [None, Some("conversation-77"), Some("not there")] {
        let mut times = Vec::new();
        for _ in 0..20 {
            let search = search.map(Search::new);
            let started = Instant::now();
            store.list_conversations(&nobody, Page { limit: 20, after: None, search }).await?;
            times.push(started.elapsed());
        }
        println!("a page of 100,000          {:?} (search {search:?})", median(times));
    }
    let started = Instant::now();
    store.conversation(&nobody, &ConversationId::new("conversation-5")?).await?;
    println!("one of 100,000             {:?}", started.elapsed());
    Ok(())
}
