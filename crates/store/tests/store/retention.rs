//! What is deleted when: whole chains from their end, never what something still uses, and the space with it.

use std::time::Duration;

use sabir_store::{
    Advance, Deletion, Hash, Keep, NewConversation, NewResponse, Origin, ResponseId, Swept, Title,
    Window,
};

use crate::bench::{
    Bench, Engine, conversation_id, each_engine, each_engine_and_files,
    each_engine_refused_by_files, record, turn_id,
};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const KEEP: Keep = Keep::For(Duration::from_secs(30 * 24 * 60 * 60));

/// Sweeps until nothing is left to do; the sum of all steps.
async fn sweep(bench: &Bench, keep: Keep) -> Swept {
    let mut sum = Swept::default();
    loop {
        let step = bench.store.sweep(keep).await.unwrap();
        (sum.rows, sum.contents) = (sum.rows + step.rows, sum.contents + step.contents);
        if !step.more {
            return sum;
        }
    }
}

each_engine_and_files! {
    async fn open_turns_stay(bench) {
        bench.store.open_turn(bench.opening("t1")).await.unwrap();
        bench.wait(90 * DAY);
        assert_eq!(sweep(&bench, KEEP).await.rows, 0);
    }

    async fn what_its_owner_deletes_with_its_turns_goes_at_once(bench) {
        let (store, owner) = (&bench.store, &bench.owner);
        let id = bench.conversation("c").await;
        let mut closing = bench.closing("t1", None, &["a"]);
        let first = closing.messages[0].hash;
        closing.conversation = Some(Advance::after(id.clone(), None));
        store.close_turn(closing).await.unwrap();
        let mut closing = bench.closing("t2", Some(("t1", first)), &["b"]);
        closing.conversation = Some(Advance::after(id.clone(), Some(first)));
        store.close_turn(closing).await.unwrap();
        store.delete_conversation(owner, &id, Deletion::Turns).await.unwrap();
        let swept = sweep(&bench, Keep::Forever).await;
        assert_eq!((swept.rows, swept.contents), (2, 2));
        assert!(store.conversation(owner, &conversation_id("c")).await.is_err());
    }
}

each_engine_refused_by_files! {
    async fn a_chain_goes_whole_when_it_was_not_used_for_long(bench) {
        let first = bench.turn("t1", None, &["a", "b"]).await;
        let mut closing = bench.closing("t2", Some(("t1", first)), &["c"]);
        closing.tools = Some(record("tools"));
        bench.store.close_turn(closing).await.unwrap();
        bench.wait(30 * DAY);
        assert_eq!(sweep(&bench, KEEP).await.rows, 0);
        bench.wait(DAY);
        assert_eq!(sweep(&bench, Keep::Forever).await.rows, 0);
        let swept = sweep(&bench, KEEP).await;
        // Two turns, three messages and one setting.
        assert_eq!((swept.rows, swept.contents), (2, 4));
        assert_eq!(bench.store.known(&bench.owner, vec![first]).await.unwrap(), 0);
    }

    async fn what_is_used_keeps_all_that_it_stands_on(bench) {
        let first = bench.turn("t1", None, &["a", "b"]).await;
        bench.turn("old", Some(("t1", first)), &["dead end"]).await;
        bench.wait(20 * DAY);
        let tip = bench.turn("t2", Some(("t1", first)), &["c"]).await;
        bench.wait(20 * DAY);
        let swept = sweep(&bench, KEEP).await;
        assert_eq!((swept.rows, swept.contents), (1, 1));
        let history = bench.store.history(&bench.owner, tip, Window::default()).await.unwrap();
        assert_eq!(history.messages.len(), 3);
        assert!(bench.store.turn(&bench.owner, &turn_id("t1")).await.is_ok());
    }

    async fn a_deleted_response_goes_unless_another_goes_on_from_it(bench) {
        let (store, owner) = (&bench.store, &bench.owner);
        let mut tips = Vec::new();
        for turn in ["alone", "continued"] {
            let mut closing = bench.closing(turn, None, &[turn]);
            let id = ResponseId::new(turn).unwrap();
            closing.responses = vec![NewResponse { id, body: record("{}") }];
            tips.push(closing.messages[0].hash);
            store.close_turn(closing).await.unwrap();
        }
        let tip = bench.turn("next", Some(("continued", tips[1])), &["more"]).await;
        for turn in ["alone", "continued"] {
            store.delete_response(owner, &ResponseId::new(turn).unwrap()).await.unwrap();
        }
        let swept = sweep(&bench, Keep::Forever).await;
        assert_eq!((swept.rows, swept.contents), (1, 1));
        assert_eq!(store.history(owner, tip, Window::default()).await.unwrap().messages.len(), 2);
    }
}

// Files are their owner's to delete, whatever is to be kept.
each_engine! {
    async fn a_read_is_a_use(bench) {
        let id = bench.conversation("c").await;
        bench.wait(20 * DAY);
        bench.store.conversation(&bench.owner, &id).await.unwrap();
        bench.wait(20 * DAY);
        assert_eq!(sweep(&bench, KEEP).await.rows, 0);
        bench.wait(20 * DAY);
        assert_eq!(sweep(&bench, KEEP).await.rows, 1);
    }

    async fn a_conversation_keeps_its_turns(bench) {
        let id = bench.conversation("c").await;
        let mut closing = bench.closing("t1", None, &["a"]);
        closing.conversation = Some(Advance::after(id.clone(), None));
        bench.store.close_turn(closing).await.unwrap();
        bench.wait(20 * DAY);
        bench.store.conversation(&bench.owner, &id).await.unwrap();
        bench.wait(20 * DAY);
        assert_eq!(sweep(&bench, KEEP).await.rows, 0);
        assert!(bench.store.turn(&bench.owner, &turn_id("t1")).await.is_ok());
    }
}

#[tokio::test]
async fn space_is_given_back() {
    let bench = Bench::open(Engine::File).await;
    // Digits of hashes do not pack.
    let large: String = (0..10_000).map(digits).collect();
    for number in 0..40 {
        bench.turn(&format!("t{number}"), None, &[&format!("{number}{large}")]).await;
    }
    let size = || std::fs::metadata(bench.place.folder.join("sabir.db")).unwrap().len();
    sweep(&bench, KEEP).await;
    checkpoint(&bench);
    let full = size();
    bench.wait(90 * DAY);
    sweep(&bench, KEEP).await;
    for _ in 0..20 {
        bench.store.sweep(KEEP).await.unwrap();
    }
    checkpoint(&bench);
    assert!(size() * 4 < full, "{} of {full} bytes are left", size());
}

fn digits(number: u32) -> String {
    format!("{:?}", Hash::of_bytes(&number.to_le_bytes()))
}

/// A conversation with one turn, with a word in everything that it leaves.
async fn keep(bench: &Bench, word: &str, number: u32) {
    let text = |what: &str| format!("{word} {what} {number} {}", digits(number));
    let id = conversation_id(&digits(number));
    let new = NewConversation {
        owner: bench.owner.clone(),
        id: id.clone(),
        title: Title::new(&text("title")),
        metadata: record(&text("metadata")),
        origin: Origin::Asked,
    };
    bench.store.ensure_conversation(new).await.unwrap();
    let long: String =
        if number.is_multiple_of(50) { (0..2_000).map(digits).collect() } else { String::new() };
    let texts = [text("question"), text("answer") + &long];
    let mut closing = bench.closing(&digits(number), None, &[&texts[0], &texts[1]]);
    closing.system = Some(record(&text("system")));
    closing.tools = Some(record(&text("tools")));
    closing.details = record(&text("details"));
    let response = ResponseId::new(digits(number)).unwrap();
    closing.responses = vec![NewResponse { id: response, body: record(&text("body")) }];
    closing.conversation = Some(Advance::after(id, None));
    bench.store.close_turn(closing).await.unwrap();
}

async fn delete(bench: &Bench, number: u32) {
    let (store, owner, id) = (&bench.store, &bench.owner, digits(number));
    store.delete_conversation(owner, &conversation_id(&id), Deletion::Turns).await.unwrap();
    store.delete_response(owner, &ResponseId::new(id).unwrap()).await.unwrap();
}

/// How often a word stands in the files of a store, its log included.
fn count(bench: &Bench, word: &str) -> usize {
    let files = std::fs::read_dir(&bench.place.folder).unwrap();
    let texts = files.map(|file| std::fs::read(file.unwrap().path()).unwrap());
    texts.map(|text| text.windows(word.len()).filter(|it| *it == word.as_bytes()).count()).sum()
}

#[tokio::test]
async fn nothing_is_left_in_the_files_of_what_was_deleted() {
    let bench = Bench::open(Engine::File).await;
    for number in 0..400 {
        let word = if number % 100 == 50 { "SECRET" } else { "public" };
        keep(&bench, word, number).await;
    }
    assert!(count(&bench, "SECRET") >= 28);
    for number in [50, 150, 250, 350] {
        delete(&bench, number).await;
    }
    sweep(&bench, Keep::Forever).await;
    assert_eq!(count(&bench, "SECRET"), 0);
    assert!(count(&bench, "public") >= 7 * 396);
}

#[tokio::test]
async fn a_long_conversation_is_deleted_in_few_steps() {
    let bench = Bench::open(Engine::Memory).await;
    let id = bench.conversation("c").await;
    let (mut last, count) = (None, 500);
    for number in 0..count {
        let turn = format!("t{number}");
        let previous = last.as_ref().map(|(turn, tip): &(String, Hash)| (turn.as_str(), *tip));
        let mut closing = bench.closing(&turn, previous, &[&turn]);
        let from = previous.map(|(_, tip)| tip);
        closing.conversation = Some(Advance::after(id.clone(), from));
        last = Some((turn, closing.messages[0].hash));
        bench.store.close_turn(closing).await.unwrap();
    }
    bench.store.delete_conversation(&bench.owner, &id, Deletion::Turns).await.unwrap();
    let mut steps = 0;
    let mut rows = 0;
    loop {
        let step = bench.store.sweep(Keep::Forever).await.unwrap();
        (steps, rows) = (steps + 1, rows + step.rows);
        if !step.more {
            break;
        }
    }
    assert_eq!(rows, count);
    assert!(steps < 30, "{steps} steps");
}

/// What SQLite does by itself as soon as its log has some pages.
fn checkpoint(bench: &Bench) {
    let connection = rusqlite::Connection::open(bench.place.folder.join("sabir.db")).unwrap();
    connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
}
