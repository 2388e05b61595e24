//! What holds for conversations in files alone: their files are the truth, and what they cannot hold is refused.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use sabir_store::{
    Added, Addition, Advance, After, Change, Clock, Content, Deletion, Direction, Folder, Fork,
    Form, Hash, ItemId, Kind, NewConversation, NewItem, NewMessage, NodeId, Options, Origin,
    Outline, Owner, Page, Record, Replaces, Search, SessionId, Store, Time, Title, Window,
};

use crate::bench::{Bench, Engine, chain, conversation_id, other, record, texts, turn_id};

/// A form for tests: a line for each message, and the instructions behind `!`.
#[derive(Debug)]
pub(crate) struct Plain;

impl Form for Plain {
    fn read(&self, file: &[u8]) -> sabir_store::Result<Content> {
        let text = String::from_utf8(file.to_vec()).unwrap();
        let texts: Vec<&str> = text.lines().filter(|line| !line.starts_with('!')).collect();
        let system = text.lines().find_map(|line| line.strip_prefix('!'));
        Ok(Content {
            messages: chain(None, &texts),
            system: system.map(record),
            outline: self.outline(file),
        })
    }

    fn outline(&self, file: &[u8]) -> Outline {
        let text = String::from_utf8_lossy(file);
        let title = text.lines().find(|line| !line.starts_with('!')).unwrap_or_default();
        Outline {
            title: Title::new(title),
            created_at: None,
            turns: text.lines().count() as u64,
            unreadable: None,
        }
    }

    fn extend(&self, file: &[u8], added: &Added<'_>) -> sabir_store::Result<Vec<u8>> {
        let text = String::from_utf8(file.to_vec()).unwrap();
        let old = text.lines().find(|line| line.starts_with('!')).map(str::to_owned);
        let line = |record: &Record| String::from_utf8(record.as_bytes().to_vec()).unwrap();
        let system = match added.system {
            None => old,
            Some(system) => system.map(|system| format!("!{}", line(system))),
        };
        let mut lines: Vec<String> = system.into_iter().collect();
        let stays = added.after.map_or(usize::MAX, <[Record]>::len);
        let kept = text.lines().filter(|line| !line.starts_with('!')).take(stays);
        lines.extend(kept.map(str::to_owned));
        lines.extend(added.messages.iter().map(|message: &NewMessage| line(&message.record)));
        Ok(lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect::<String>().into_bytes())
    }

    fn empty(&self) -> Vec<u8> {
        Vec::new()
    }
}

fn file(bench: &Bench, id: &str) -> PathBuf {
    bench.place.folder.join("sessions").join(id).join("transcript.json")
}

/// Says something in a conversation.
async fn advance(bench: &Bench, id: &str, turn: &str) -> sabir_store::Result<()> {
    let id = conversation_id(id);
    let conversation = bench.store.conversation(&bench.owner, &id).await?;
    let previous = conversation.last_turn.as_ref().map(|turn| turn.as_str().to_owned());
    let mut closing = bench.closing(turn, None, &[]);
    closing.turn.previous = previous.map(|turn| turn_id(&turn));
    closing.turn.base = conversation.tip;
    closing.messages = chain(conversation.tip, &[turn]);
    closing.conversation = Some(Advance::after(id, conversation.tip));
    bench.store.close_turn(closing).await
}

async fn history(bench: &Bench, id: &str) -> Vec<String> {
    let found = bench.store.conversation(&bench.owner, &conversation_id(id)).await.unwrap();
    let Some(tip) = found.tip else { return Vec::new() };
    let history = bench.store.history(&bench.owner, tip, Window::default()).await.unwrap();
    texts(&history).into_iter().map(str::to_owned).collect()
}

#[tokio::test]
async fn a_turn_is_in_its_file_when_it_has_ended() {
    let bench = Bench::open(Engine::Files).await;
    bench.conversation("c").await;
    assert_eq!(fs::read_to_string(file(&bench, "c")).unwrap(), "");
    advance(&bench, "c", "one").await.unwrap();
    advance(&bench, "c", "two").await.unwrap();
    assert_eq!(fs::read_to_string(file(&bench, "c")).unwrap(), "one\ntwo\n");
    let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(file(&bench, "c")), 0o600);
    assert_eq!(mode(file(&bench, "c").parent().unwrap().to_owned()), 0o700);
}

#[tokio::test]
async fn what_somebody_wrote_into_a_file_is_what_goes_on() {
    let bench = Bench::open(Engine::Files).await;
    bench.conversation("c").await;
    advance(&bench, "c", "one").await.unwrap();
    fs::write(file(&bench, "c"), "!be brief\nuno\ndos\n").unwrap();
    assert_eq!(history(&bench, "c").await, ["uno", "dos"]);
    let found = bench.store.conversation(&bench.owner, &conversation_id("c")).await.unwrap();
    assert_eq!((found.system, found.last_turn), (Some(Hash::of_bytes(b"be brief")), None));
    advance(&bench, "c", "tres").await.unwrap();
    assert_eq!(history(&bench, "c").await, ["uno", "dos", "tres"]);
}

#[tokio::test]
async fn a_file_that_appears_is_a_conversation_and_one_that_goes_is_none() {
    let bench = Bench::open(Engine::Files).await;
    fs::create_dir_all(file(&bench, "mine").parent().unwrap()).unwrap();
    fs::write(file(&bench, "mine"), "hello\n").unwrap();
    assert_eq!(history(&bench, "mine").await, ["hello"]);
    fs::remove_file(file(&bench, "mine")).unwrap();
    let gone = bench.store.conversation(&bench.owner, &conversation_id("mine")).await.unwrap_err();
    assert_eq!(gone.kind(), Kind::NotFound);
}

#[tokio::test]
async fn an_edit_during_a_turn_is_not_written_over() {
    let bench = Bench::open(Engine::Files).await;
    bench.conversation("c").await;
    advance(&bench, "c", "one").await.unwrap();
    let found = bench.store.conversation(&bench.owner, &conversation_id("c")).await.unwrap();
    let mut closing = bench.closing("two", None, &[]);
    closing.turn.base = found.tip;
    closing.messages = chain(found.tip, &["two"]);
    closing.conversation = Some(Advance::after(conversation_id("c"), found.tip));
    fs::write(file(&bench, "c"), "edited\n").unwrap();
    let error = bench.store.close_turn(closing).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Conflict);
    assert_eq!(history(&bench, "c").await, ["edited"]);
    advance(&bench, "c", "three").await.unwrap();
    assert_eq!(fs::read_to_string(file(&bench, "c")).unwrap(), "edited\nthree\n");
}

#[tokio::test]
async fn a_second_start_finds_everything() {
    let bench = Bench::open(Engine::Files).await;
    bench.conversation("c").await;
    advance(&bench, "c", "one").await.unwrap();
    let options = bench.place.options("node-2", Clock::System);
    let second = Store::open(&bench.place.url, options).await.unwrap();
    let found = second.conversation(&bench.owner, &conversation_id("c")).await.unwrap();
    let history =
        second.history(&bench.owner, found.tip.unwrap(), Window::default()).await.unwrap();
    assert_eq!(texts(&history), ["one"]);
}

#[tokio::test]
async fn what_the_form_cannot_hold_is_refused() {
    let bench = Bench::open(Engine::Files).await;
    let (store, owner) = (&bench.store, &bench.owner);
    let id = bench.conversation("c").await;
    advance(&bench, "c", "one").await.unwrap();
    let found = store.conversation(owner, &id).await.unwrap();
    let refused = |result: sabir_store::Result<()>| {
        assert_eq!(result.unwrap_err().kind(), Kind::Unsupported);
    };
    let beside = bench.closing("two", None, &["two"]);
    refused(store.close_turn(beside).await);
    let (id_of_part, message) = (ItemId::new("msg_1").unwrap(), found.tip.unwrap());
    let items = vec![NewItem { id: id_of_part, direction: Direction::Input, message, part: 0 }];
    let named = Addition { base: found.tip, items, ..Addition::default() };
    refused(store.append(owner, &id, found.tip, named).await.map(|_| ()));
    let title = Change { title: Some(Title::new("x")), ..Change::default() };
    refused(store.change_conversation(owner, &id, title).await.map(|_| ()));
    let metadata = Change { metadata: Some(record("{\"a\":1}")), ..Change::default() };
    refused(store.change_conversation(owner, &id, metadata).await.map(|_| ()));
    let after = Some(turn_id("one"));
    let fork = Fork { owner: owner.clone(), from: id.clone(), after, id: conversation_id("d") };
    refused(store.fork(fork).await.map(|_| ()));
    refused(store.record(Vec::new()).await);
    let new = NewConversation {
        owner: Owner::key("ann").unwrap(),
        id: conversation_id("e"),
        title: Title::default(),
        metadata: Record::default(),
        origin: Origin::Asked,
    };
    refused(store.ensure_conversation(new).await.map(|_| ()));
    assert!(store.list_conversations(&other(), Page::default()).await.unwrap().data.is_empty());
    assert_eq!(fs::read_to_string(file(&bench, "c")).unwrap(), "one\n");
}

#[tokio::test]
async fn a_conversation_that_goes_another_way_is_written_anew_from_there() {
    let bench = Bench::open(Engine::Files).await;
    let (store, owner) = (&bench.store, &bench.owner);
    let id = bench.conversation("c").await;
    fs::write(file(&bench, "c"), "!be brief\none\ntwo\nthree\n").unwrap();
    let tip = store.conversation(owner, &id).await.unwrap().tip;
    let first = chain(None, &["one"])[0].hash;
    let messages = chain(Some(first), &["other"]);
    let (base, end) = (Some(first), Some(messages[0].hash));
    let addition = Addition { base, messages, ..Addition::default() };
    store.append(owner, &id, tip, addition).await.unwrap();
    assert_eq!(fs::read_to_string(file(&bench, "c")).unwrap(), "!be brief\none\nother\n");
    let addition = Addition { messages: chain(None, &["new"]), ..Addition::default() };
    store.append(owner, &id, end, addition).await.unwrap();
    assert_eq!(fs::read_to_string(file(&bench, "c")).unwrap(), "!be brief\nnew\n");
    assert_eq!(history(&bench, "c").await, ["new"]);
}

#[tokio::test]
async fn instructions_stand_in_the_file_and_can_be_changed() {
    let bench = Bench::open(Engine::Files).await;
    let id = bench.conversation("c").await;
    advance(&bench, "c", "one").await.unwrap();
    let change = Change { system: Some(Some(record("be brief"))), ..Change::default() };
    bench.store.change_conversation(&bench.owner, &id, change).await.unwrap();
    assert_eq!(fs::read_to_string(file(&bench, "c")).unwrap(), "!be brief\none\n");
}

#[tokio::test]
async fn a_fork_is_a_second_file_and_a_deleted_one_is_gone() {
    let bench = Bench::open(Engine::Files).await;
    let (store, owner) = (&bench.store, &bench.owner);
    let id = bench.conversation("c").await;
    advance(&bench, "c", "one").await.unwrap();
    let fork =
        Fork { owner: owner.clone(), from: id.clone(), after: None, id: conversation_id("d") };
    store.fork(fork.clone()).await.unwrap();
    assert_eq!(store.fork(fork).await.unwrap_err().kind(), Kind::Conflict);
    advance(&bench, "d", "two").await.unwrap();
    assert_eq!((history(&bench, "c").await.len(), history(&bench, "d").await.len()), (1, 2));
    store.delete_conversation(owner, &id, Deletion::Turns).await.unwrap();
    assert!(!file(&bench, "c").exists() && !file(&bench, "c").parent().unwrap().exists());
    assert_eq!(history(&bench, "d").await, ["one", "two"]);
}

#[tokio::test]
async fn a_sweep_leaves_the_files_alone() {
    let bench = Bench::open(Engine::Files).await;
    bench.conversation("c").await;
    advance(&bench, "c", "one").await.unwrap();
    bench.wait(std::time::Duration::from_secs(90 * 24 * 60 * 60));
    while bench.store.sweep(sabir_store::Keep::For(std::time::Duration::ZERO)).await.unwrap().more {
    }
    assert_eq!(history(&bench, "c").await, ["one"]);
}

/// Sets when a file was last changed.
#[tokio::test]
async fn what_is_no_file_is_neither_opened_nor_in_the_way() {
    let bench = Bench::open(Engine::Files).await;
    bench.conversation("good").await;
    advance(&bench, "good", "t1").await.unwrap();
    fs::create_dir_all(file(&bench, "folder")).unwrap();
    let pipe = file(&bench, "pipe");
    fs::create_dir_all(pipe.parent().unwrap()).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let page = Page { after: None, limit: 9, search: None };
    let listed = bench.store.list_conversations(&bench.owner, page).await.unwrap();
    let mut ids: Vec<&str> = listed.data.iter().map(|it| it.id.as_str()).collect();
    ids.sort_unstable();
    assert_eq!(ids, ["folder", "good", "pipe"]);
    let unreadable = listed.data.iter().filter(|it| it.unreadable.is_some()).count();
    assert_eq!(unreadable, 2);
    for id in ["folder", "pipe"] {
        let error = bench.store.conversation(&bench.owner, &conversation_id(id)).await.unwrap_err();
        assert!(error.to_string().contains(id), "{error}");
    }
    assert_eq!(history(&bench, "good").await.len(), 1);
}

fn date(path: PathBuf, seconds: u64) {
    let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
    fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

#[tokio::test]
async fn a_list_of_files_is_newest_first_by_pages() {
    let bench = Bench::open(Engine::Files).await;
    for (age, id) in ["one", "two", "three"].into_iter().enumerate() {
        bench.conversation(id).await;
        advance(&bench, id, &format!("about {id}")).await.unwrap();
        date(file(&bench, id), 1_800_000_000 + age as u64);
    }
    let list = async |after: Option<&str>, search: Option<&str>| {
        let after = after.map(|after| After::parse(after).unwrap());
        let page = Page { after, limit: 2, search: search.map(Search::new) };
        let listing = bench.store.list_conversations(&bench.owner, page).await.unwrap();
        let ids: Vec<String> = listing.data.iter().map(|it| it.id.to_string()).collect();
        (ids.join(" "), listing.next.is_some())
    };
    assert_eq!(list(None, None).await, ("three two".to_owned(), true));
    assert_eq!(list(Some("two"), None).await, ("one".to_owned(), false));
    assert_eq!(list(None, Some("ABOUT T")).await, ("three two".to_owned(), false));
    assert_eq!(list(None, Some("nothing")).await, (String::new(), false));
    // The place of a page holds, whatever becomes of its conversations.
    let page = Page { after: None, limit: 2, search: None };
    let first = bench.store.list_conversations(&bench.owner, page).await.unwrap();
    let next = first.next.unwrap().to_string();
    assert_eq!(list(Some(&next), None).await, ("one".to_owned(), false));
    date(file(&bench, "two"), 1_900_000_000);
    assert_eq!(list(Some(&next), None).await, ("one".to_owned(), false));
    fs::remove_file(file(&bench, "two")).unwrap();
    assert_eq!(list(Some(&next), None).await, ("one".to_owned(), false));
}

/// A number that the environment may raise: tests are short, and figures are taken with more.
fn count(variable: &str, usual: u32) -> u32 {
    std::env::var(variable).ok().and_then(|it| it.parse().ok()).unwrap_or(usual)
}

/// Counts what is read of files for a list.
#[derive(Clone, Debug, Default)]
struct Counting {
    files: Arc<AtomicUsize>,
    bytes: Arc<AtomicUsize>,
}

impl Counting {
    fn take(&self) -> (usize, usize) {
        (self.files.swap(0, Ordering::Relaxed), self.bytes.swap(0, Ordering::Relaxed))
    }
}

impl Form for Counting {
    fn read(&self, file: &[u8]) -> sabir_store::Result<Content> {
        Plain.read(file)
    }

    fn outline(&self, file: &[u8]) -> Outline {
        self.files.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(file.len(), Ordering::Relaxed);
        Plain.outline(file)
    }

    fn extend(&self, file: &[u8], added: &Added<'_>) -> sabir_store::Result<Vec<u8>> {
        Plain.extend(file, added)
    }

    fn empty(&self) -> Vec<u8> {
        Plain.empty()
    }
}

/// More than one thread looks at.
const MANY: usize = 2500;

fn write_many(folder: &Path) {
    for number in 0..MANY {
        let folder = folder.join("sessions").join(format!("session-{number}"));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("transcript.json"), format!("about {number:04}\n")).unwrap();
        date(folder.join("transcript.json"), 1_800_000_000 + number as u64);
    }
}

/// What the list takes is looking at the files; how long that is, is a figure of the manual.
#[tokio::test]
async fn of_many_sessions_a_list_reads_what_it_shows_once() {
    let (bench, counting) = (Bench::open(Engine::Files).await, Counting::default());
    write_many(&bench.place.folder);
    let options = Options {
        node: NodeId::new("lists").unwrap(),
        data_folder: bench.place.folder.clone(),
        clock: Clock::System,
        form: Some(Arc::new(counting.clone())),
    };
    let store = Store::open(&bench.place.url, options).await.unwrap();
    let list = async |after: Option<usize>, search: Option<&str>| {
        let after = after.map(|number| conversation_id(&format!("session-{number}")));
        let after = after.map(After::Conversation);
        let page = Page { limit: 20, after, search: search.map(Search::new) };
        let listing = store.list_conversations(&Owner::nobody(), page).await.unwrap();
        let ids: Vec<String> = listing.data.iter().map(|it| it.id.to_string()).collect();
        (ids, listing.next.is_some())
    };
    let newest = |from: usize| (from - 20..from).rev().map(|number| format!("session-{number}"));
    assert_eq!(list(None, None).await, (newest(MANY).collect(), true));
    // One more than it shows says that there are more.
    assert_eq!(counting.take(), (21, 21 * 11));
    assert_eq!(list(None, None).await.0, newest(MANY).collect::<Vec<_>>());
    assert_eq!(counting.take(), (0, 0));
    assert_eq!(list(Some(1000), None).await, (newest(1000).collect(), true));
    assert_eq!(counting.take(), (21, 21 * 11));
    fs::write(file(&bench, "session-0"), "about pears\n").unwrap();
    assert_eq!(list(None, Some("pears")).await, (vec!["session-0".to_owned()], false));
    assert_eq!(counting.take().0, MANY - 42);
    assert_eq!(list(None, Some("0007")).await.0, ["session-7"]);
    assert_eq!(counting.take(), (0, 0));
}

#[test]
fn a1_7_a_writer_that_is_killed_leaves_the_old_file_or_the_new_one() {
    crate::kills::kill_writers(count("SABIR_KILLS", 20));
}

#[test]
fn links_do_not_lead_out_of_the_folder() {
    let folder =
        PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("links-{}", std::process::id()));
    let sessions = Folder::new(folder.join("kept"));
    let [whole, of_a_link] = ["folder", "file"].map(|id| SessionId::new(id).unwrap());
    sessions.write(&of_a_link, b"one", Replaces::Anything).unwrap();
    let outside = folder.join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("transcript.json"), b"theirs").unwrap();
    std::os::unix::fs::symlink(&outside, folder.join("kept/sessions/folder")).unwrap();
    let file = sessions.path(&of_a_link);
    fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink(outside.join("transcript.json"), &file).unwrap();
    for id in [&whole, &of_a_link] {
        assert_eq!(sessions.read(id).unwrap_err().kind(), Kind::Invalid);
        let written = sessions.write(id, b"two", Replaces::Anything);
        assert_eq!(written.unwrap_err().kind(), Kind::Invalid);
        assert_eq!(sessions.delete(id).unwrap_err().kind(), Kind::Invalid);
    }
    assert_eq!(fs::read(outside.join("transcript.json")).unwrap(), b"theirs");
    assert!(sessions.list().unwrap().iter().all(|listed| listed.id != whole));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_stale_writer_does_not_replace_what_it_did_not_see() {
    let folder =
        PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("stale-{}", std::process::id()));
    let sessions = Folder::new(&folder);
    let id = SessionId::new("s").unwrap();
    let first = sessions.write(&id, b"one", Replaces::Version(None)).unwrap();
    sessions.write(&id, b"two", Replaces::Version(Some(first))).unwrap();
    let stale = sessions.write(&id, b"three", Replaces::Version(Some(first))).unwrap_err();
    assert_eq!(stale.kind(), Kind::Conflict);
    assert_eq!(
        sessions.write(&id, b"x", Replaces::Version(None)).unwrap_err().kind(),
        Kind::Conflict
    );
    assert_eq!(sessions.read(&id).unwrap().unwrap().bytes, b"two");
    let names: Vec<_> = fs::read_dir(folder.join("sessions/s")).unwrap().collect();
    assert_eq!(names.len(), 1, "nothing unfinished is left");
    assert!(sessions.delete(&id).unwrap() && !sessions.delete(&id).unwrap());
    fs::remove_dir_all(folder).unwrap();
}

/// What people and calls do to a file.
#[derive(Clone, Debug)]
enum Step {
    Turn(String),
    Edit(Vec<String>),
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => "[a-z]{1,8}".prop_map(Step::Turn),
        2 => prop::collection::vec("[a-z]{1,8}", 0..4).prop_map(Step::Edit),
        1 => Just(Step::Reopen),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_file_and_what_goes_on_are_always_the_same(steps in prop::collection::vec(step(), 1..12)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut bench = Bench::open(Engine::Files).await;
            bench.conversation("c").await;
            let mut expected: Vec<String> = Vec::new();
            for (number, step) in steps.into_iter().enumerate() {
                match step {
                    Step::Turn(text) => {
                        let text = format!("{text}{number}");
                        advance(&bench, "c", &text).await.unwrap();
                        expected.push(text);
                    }
                    Step::Edit(lines) => {
                        let file = file(&bench, "c");
                        fs::write(&file, lines.iter().map(|it| format!("{it}\n")).collect::<String>()).unwrap();
                        date(file, 1_900_000_000 + number as u64);
                        expected = lines;
                    }
                    Step::Reopen => {
                        let options = bench.place.options("node-3", Clock::System);
                        bench.store = Store::open(&bench.place.url, options).await.unwrap();
                    }
                }
                assert_eq!(history(&bench, "c").await, expected);
                let written = fs::read_to_string(file(&bench, "c")).unwrap();
                assert_eq!(written.lines().collect::<Vec<_>>(), expected);
            }
        });
    }
}

#[test]
fn times_of_lists_are_those_of_the_files() {
    let folder =
        PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("times-{}", std::process::id()));
    let sessions = Folder::new(&folder);
    let id = SessionId::new("s").unwrap();
    sessions.write(&id, b"one", Replaces::Anything).unwrap();
    date(sessions.path(&id), 1_800_000_000);
    assert_eq!(sessions.list().unwrap()[0].modified_at, Time(1_800_000_000_000));
    fs::remove_dir_all(folder).unwrap();
}
