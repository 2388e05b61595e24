//! That no query reads a whole table: one run through everything that the store is asked, with a look at how each engine
//! finds its rows.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

use crate::engine::plans;
use crate::*;

const NOW: i64 = 1_800_000_000_000;

fn record(text: &str) -> Record {
    Record::new(text).unwrap()
}

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

fn turn_id(id: &str) -> TurnId {
    TurnId::new(id).unwrap()
}

fn options(clock: &Arc<AtomicI64>) -> Options {
    Options {
        node: NodeId::new("node").unwrap(),
        data_folder: PathBuf::new(),
        clock: Clock::Manual(Arc::clone(clock)),
        form: None,
    }
}

fn closing(owner: &Owner, id: &str, previous: Option<(&str, Hash)>) -> Closing {
    let base = previous.map(|(_, base)| base);
    let hash = Hash::of_message(base.as_ref(), id.as_bytes());
    let item = |id: String, direction| NewItem {
        id: ItemId::new(id).unwrap(),
        direction,
        message: hash,
        part: 0,
    };
    Closing {
        turn: Opening {
            owner: owner.clone(),
            id: turn_id(id),
            previous: previous.map(|(id, _)| turn_id(id)),
            base,
            protocol: name("protocol"),
            exchange: None,
        },
        ending: Ending::Finished,
        provider: Some(name("provider")),
        model: Some(name("model")),
        messages: vec![NewMessage { hash, record: record(id) }],
        system: Some(record("system")),
        tools: Some(record("tools")),
        details: record("details"),
        responses: vec![NewResponse {
            id: ResponseId::new(format!("resp_{id}")).unwrap(),
            body: record("{}"),
        }],
        items: vec![
            item(format!("in_{id}"), Direction::Input),
            item(format!("out_{id}"), Direction::Output),
        ],
        conversation: None,
        begins: None,
        beside: None,
        follows: None,
        job: None,
    }
}

/// Asks a store everything that it can be asked.
async fn ask_everything(store: &Store, clock: &AtomicI64) {
    let owner = Owner::key("ann").unwrap();
    let first = turns(store, &owner).await;
    let id = conversations(store, &owner, first).await;
    responses(store, &owner).await;
    jobs(store, &owner).await;
    rows_without_content(store, &owner).await;
    store.delete_conversation(&owner, &id, Deletion::Turns).await.unwrap();
    clock.store(NOW + 1_000_000_000_000, std::sync::atomic::Ordering::Relaxed);
    store.recover().await.unwrap();
    while store.sweep(Keep::For(Duration::from_secs(1))).await.unwrap().more {}
}

async fn turns(store: &Store, owner: &Owner) -> Hash {
    let first = closing(owner, "t1", None);
    let tip = first.messages[0].hash;
    store.open_turn(first.turn.clone()).await.unwrap();
    store.stream_turn(owner, &turn_id("t1")).await.unwrap();
    store.close_turn(first).await.unwrap();
    store.close_turn(closing(owner, "t2", Some(("t1", tip)))).await.unwrap();
    store.open_turn(closing(owner, "t3", None).turn).await.unwrap();
    store.abandon_turn(owner, &turn_id("t3"), None).await.unwrap();
    store.open_turn(closing(owner, "t4", None).turn).await.unwrap();
    store.known(owner, vec![tip]).await.unwrap();
    store.history(owner, tip, Window::default()).await.unwrap();
    store.message_beginning(owner, &tip.as_bytes()[..20]).await.unwrap();
    let turn = store.turn(owner, &turn_id("t1")).await.unwrap();
    store.setting(owner, turn.system.unwrap()).await.unwrap();
    store.turns(owner, &turn_id("t2"), 10).await.unwrap();
    tip
}

async fn conversations(store: &Store, owner: &Owner, tip: Hash) -> ConversationId {
    let id = ConversationId::new("c").unwrap();
    let (title, metadata) = (Title::new("title"), record("{}"));
    let new = NewConversation {
        owner: owner.clone(),
        id: id.clone(),
        title,
        metadata,
        origin: Origin::Followed,
    };
    store.ensure_conversation(new.clone()).await.unwrap();
    let t5 = turn_id("t5");
    store.hold(owner, Purpose::Conversation(id.clone()), &t5).await.unwrap();
    store.hold(owner, Purpose::Conversation(id.clone()), &turn_id("t6")).await.unwrap();
    let mut last = closing(owner, "t5", Some(("t1", tip)));
    last.conversation = Some(Advance::after(id.clone(), None));
    let end = last.messages[0].hash;
    store.close_turn(last).await.unwrap();
    store.follow(owner, vec![tip, end]).await.unwrap().conversation.unwrap();
    let mut follows = closing(owner, "t17", Some(("t1", tip)));
    let begins = NewConversation { id: ConversationId::new("d").unwrap(), ..new };
    (follows.turn.previous, follows.follows) = (None, Some(Follows { sent: 1, begins }));
    store.open_turn(follows.turn.clone()).await.unwrap();
    store.close_turn(follows).await.unwrap();
    store.put_summary(owner, &id, tip, record("summary")).await.unwrap();
    store.summary(owner, &id).await.unwrap();
    let (from, after) = (id.clone(), Some(t5.clone()));
    let fork = ConversationId::new("fork").unwrap();
    store.fork(Fork { owner: owner.clone(), from, after, id: fork }).await.unwrap();
    let item = NewItem {
        id: ItemId::new("own").unwrap(),
        direction: Direction::Input,
        message: tip,
        part: 0,
    };
    let addition = Addition { base: Some(tip), items: vec![item], ..Addition::default() };
    store.append(owner, &id, Some(end), addition).await.unwrap();
    let change = Change { system: Some(Some(record("other"))), ..Change::default() };
    store.change_conversation(owner, &id, change).await.unwrap();
    store.conversation(owner, &id).await.unwrap();
    for after in [None, Some(id.clone())] {
        let after = after.map(crate::After::Conversation);
        let page = Page { after, limit: 10, search: Some(Search::new("c")) };
        store.list_conversations(owner, page).await.unwrap();
    }
    store.release(owner, &t5).await.unwrap();
    id
}

async fn responses(store: &Store, owner: &Owner) {
    let id = ResponseId::new("resp_t2").unwrap();
    store.response(owner, &id).await.unwrap();
    let item = ItemId::new("in_t2").unwrap();
    store.items(owner, vec![item.clone()]).await.unwrap();
    for order in [Order::Ascending, Order::Descending] {
        let after = Some(item.clone());
        let page = ItemPage { direction: Direction::Input, order, after, limit: 10 };
        store.list_items(owner, &turn_id("t2"), page).await.unwrap();
    }
    store.delete_response(owner, &id).await.unwrap();
}

async fn jobs(store: &Store, owner: &Owner) {
    for id in ["resp_j1", "resp_j2", "resp_j3"] {
        let job = NewJob {
            owner: owner.clone(),
            id: ResponseId::new(id).unwrap(),
            turn: turn_id("t4"),
            provider: None,
            is_streamed: true,
            body: record("{}"),
        };
        store.add_job(job).await.unwrap();
    }
    let [first, second] = ["resp_j1", "resp_j2"].map(|id| ResponseId::new(id).unwrap());
    assert!(store.begin_job(owner, &first, record("{}")).await.unwrap());
    let piece = Piece { first: 0, last: 1, record: record("event") };
    assert!(store.add_piece(owner, &first, piece).await.unwrap());
    store.pieces(owner, &first, 1).await.unwrap();
    store.job(owner, &first).await.unwrap();
    store.end_job(owner, &first, JobStatus::Failed, record("{}")).await.unwrap();
    let mut closing = closing(owner, "t7", None);
    closing.job = Some(second);
    store.close_turn(closing).await.unwrap();
}

async fn rows_without_content(store: &Store, owner: &Owner) {
    let digest = Hash::of_bytes(b"call");
    let (issuer, call) = (name("issuer"), name("call"));
    let key = ArtefactKey { owner: owner.clone(), issuer: issuer.clone(), call, digest };
    let expires_at = Time(NOW + 1);
    let artefact = Artefact { key, record: record("signature"), expires_at };
    store.put_artefacts(vec![artefact]).await.unwrap();
    store.artefacts(owner, &issuer, vec![name("call")]).await.unwrap();
    let attempt =
        Attempt { provider: name("p"), model: name("m"), outcome: name("ok"), milliseconds: 1 };
    let exchange = Exchange {
        owner: owner.clone(),
        id: ExchangeId::new("e").unwrap(),
        at: Time(NOW),
        turn: None,
        protocol: name("protocol"),
        provider: None,
        model: None,
        outcome: name("ok"),
        has_failed: false,
        milliseconds: 1,
        first_milliseconds: Some(1),
        tokens: Tokens::default(),
        losses: 0,
        attempts: vec![attempt],
    };
    store.record(vec![exchange]).await.unwrap();
    store.exchange(owner, &ExchangeId::new("e").unwrap()).await.unwrap();
    store.usage(owner, Time(NOW)).await.unwrap();
    for by in [Grouping::Model, Grouping::Provider, Grouping::Day, Grouping::Owner] {
        store.usage_by(owner, by, Time(NOW)).await.unwrap();
    }
}

/// What is read from its first row on: a queue, the migrations, and the rows that a query has itself made.
const READ_WHOLE: [&str; 6] =
    ["SCAN orphan", "SCAN migration", "SCAN p", "SCAN path", "SCAN chain", "SCAN newest"];

#[tokio::test]
async fn sqlite_finds_every_row_by_an_index() {
    let clock = Arc::new(AtomicI64::new(NOW));
    let store = Store::open("memory:", options(&clock)).await.unwrap();
    ask_everything(&store, &clock).await;
    let seen = plans::SEEN.lock().unwrap();
    assert!(seen.len() > 60, "only {} queries were seen", seen.len());
    for (sql, steps) in &*seen {
        for step in steps {
            let scanned = step.split(" USING").next().unwrap_or(step);
            let is_fine = !step.starts_with("SCAN") || READ_WHOLE.contains(&scanned);
            assert!(is_fine, "{step}: {sql}");
            // All rows of an owner are as good as a whole table.
            let reads_all = step.contains("AUTOMATIC") || step.ends_with("(owner=?)");
            assert!(!reads_all, "{step}: {sql}");
        }
    }
}

/// Some plans hang on the values that they are given; to prepare such a query takes longer than to run it.
#[tokio::test]
async fn sqlite_prepares_no_query_of_a_turn_twice() {
    let clock = Arc::new(AtomicI64::new(NOW));
    let store = Store::open("memory:", options(&clock)).await.unwrap();
    let owner = Owner::key("ann").unwrap();
    let mut last: Option<(String, Hash)> = None;
    for number in 0..4 {
        let id = format!("t{number}");
        let previous = last.as_ref().map(|(id, tip)| (id.as_str(), *tip));
        let mut closing = closing(&owner, &id, previous);
        closing.conversation =
            Some(Advance::after(ConversationId::new("c").unwrap(), previous.map(|(_, tip)| tip)));
        closing.begins = Some(NewConversation {
            owner: owner.clone(),
            id: ConversationId::new("c").unwrap(),
            title: Title::new("title"),
            metadata: record("{}"),
            origin: Origin::Followed,
        });
        let tip = closing.messages[0].hash;
        store.open_turn(closing.turn.clone()).await.unwrap();
        store.close_turn(closing).await.unwrap();
        assert!(store.follow(&owner, vec![tip]).await.unwrap().conversation.is_some());
        last = Some((id, tip));
    }
    // Migrations change the tables, and with them the plans.
    let again = plans::PREPARED_AGAIN.lock().unwrap();
    let again: Vec<_> = again
        .iter()
        .filter(|sql| !sql.contains("migration") && !sql.starts_with("PRAGMA"))
        .collect();
    assert!(again.is_empty(), "{again:?}");
}

/// With sequential scans made dear, the server does one only where no index serves.
#[tokio::test]
async fn postgres_finds_every_row_by_an_index() {
    let Ok(server) = std::env::var("SABIR_TEST_POSTGRES") else {
        return;
    };
    let plain = server.split('?').next().unwrap();
    let (client, connection) = tokio_postgres::connect(plain, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client
        .batch_execute("DROP SCHEMA IF EXISTS test_plans CASCADE; CREATE SCHEMA test_plans")
        .await
        .unwrap();
    let options_of_url =
        "application_name=test_plans&options=-csearch_path%3Dtest_plans%20-cenable_seqscan%3Doff";
    let url = format!("{plain}?{options_of_url}");
    let clock = Arc::new(AtomicI64::new(NOW));
    drop(Store::open(&url, options(&clock)).await.unwrap());
    let before = scans(&client).await;
    let store = Store::open(&url, options(&clock)).await.unwrap();
    ask_everything(&store, &clock).await;
    drop(store);
    let after = scans(&client).await;
    let grown = after.into_iter().filter(|scan| !before.contains(scan)).collect::<Vec<_>>();
    assert_eq!(grown, [], "tables that were read whole, with how often");
}

/// How often each table was read whole. A server tells when a connection has ended, so their end is waited for.
async fn scans(client: &tokio_postgres::Client) -> Vec<(String, i64)> {
    let open = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'test_plans'";
    while !client.query(open, &[]).await.unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    let counts = "SELECT relname::text, seq_scan FROM pg_stat_user_tables
        WHERE schemaname = 'test_plans' AND relname NOT IN ('migration', 'orphan')";
    let rows = client.query(counts, &[]).await.unwrap();
    rows.iter().map(|row| (row.get(0), row.get(1))).collect()
}
