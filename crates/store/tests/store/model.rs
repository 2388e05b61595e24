//! Random sequences of calls by two owners, held against a model of a few maps: who sees what, where conversations stand,
//! who has a lock, and what is left after a sweep.

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::{Just, Strategy, prop_oneof};
use proptest::test_runner::{Config, TestRunner};
use sabir_store::{Advance, Deletion, Fork, Hash, Held, Keep, Kind, Owner, Page, Purpose, Window};

use crate::bench::{Bench, Engine, conversation_id, other, texts, turn_id};

const LEASE_END: Duration = Duration::from_secs(31);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const KEEP_DAYS: i64 = 10;

/// One call. Owners, conversations and turns are numbers, so that sequences meet.
#[derive(Clone, Copy, Debug)]
enum Call {
    Begin {
        owner: usize,
        conversation: u8,
    },
    /// A turn on the conversation, from the tip that is there or from a wrong one.
    Turn {
        owner: usize,
        conversation: u8,
        from: From,
    },
    Fork {
        owner: usize,
        from: u8,
        to: u8,
    },
    Delete {
        owner: usize,
        conversation: u8,
        deletion: Deletion,
    },
    Lock {
        owner: usize,
        conversation: u8,
        turn: u8,
    },
    Unlock {
        owner: usize,
        turn: u8,
    },
    /// The node is silent for so long that its locks end.
    Silence,
    Days(u8),
    Sweep,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    Tip,
    Elsewhere,
}

/// What the store must hold.
#[derive(Default)]
struct Model {
    conversations: BTreeMap<(usize, u8), Talk>,
    /// Who has the lock of a conversation.
    locks: BTreeMap<(usize, u8), u8>,
    day: i64,
    turns: usize,
}

#[derive(Clone, Default)]
struct Talk {
    texts: Vec<String>,
    tip: Option<Hash>,
    last_turn: Option<String>,
    used: i64,
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let (owner, conversation, turn) = (0..2_usize, 0..3_u8, 0..2_u8);
    let from = prop_oneof![5 => Just(From::Tip), 1 => Just(From::Elsewhere)];
    let deletion = prop_oneof![Just(Deletion::Name), Just(Deletion::Turns)];
    let call = prop_oneof![
        3 => (owner.clone(), conversation.clone())
            .prop_map(|(owner, conversation)| Call::Begin { owner, conversation }),
        8 => (owner.clone(), conversation.clone(), from)
            .prop_map(|(owner, conversation, from)| Call::Turn { owner, conversation, from }),
        3 => (owner.clone(), conversation.clone(), conversation.clone())
            .prop_map(|(owner, from, to)| Call::Fork { owner, from, to }),
        1 => (owner.clone(), conversation.clone(), deletion)
            .prop_map(|(owner, conversation, deletion)| Call::Delete { owner, conversation, deletion }),
        3 => (owner.clone(), conversation, turn.clone())
            .prop_map(|(owner, conversation, turn)| Call::Lock { owner, conversation, turn }),
        2 => (owner, turn).prop_map(|(owner, turn)| Call::Unlock { owner, turn }),
        1 => Just(Call::Silence),
        2 => (1..8_u8).prop_map(Call::Days),
        2 => Just(Call::Sweep),
    ];
    proptest::collection::vec(call, 1..40)
}

/// Properties have the same cases in every run unless `SABIR_SEED` or `SABIR_CASES` say otherwise; see CONTRIBUTING.md.
fn check(engine: Engine, cases: u32) {
    let cases = std::env::var("SABIR_CASES").ok().and_then(|it| it.parse().ok()).unwrap_or(cases);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let outcome = TestRunner::new(config).run(&calls(), |calls| {
        runtime.block_on(async {
            let bench = Bench::open(engine).await;
            let mut model = Model::default();
            for call in calls {
                model.make(&bench, call).await;
                model.compare(&bench).await;
            }
            if engine == Engine::File {
                check_references(&bench);
            }
        });
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

/// All that points to a row points to one that is there, which SQLite is not asked to check by itself.
fn check_references(bench: &Bench) {
    let connection = rusqlite::Connection::open(bench.place.folder.join("sabir.db")).unwrap();
    let mut statement = connection.prepare("PRAGMA foreign_key_check").unwrap();
    assert!(!statement.exists([]).unwrap());
}

#[test]
fn any_sequence_of_calls_leaves_what_the_model_says_in_memory() {
    check(Engine::Memory, 64);
}

#[test]
fn any_sequence_of_calls_leaves_what_the_model_says_in_a_file() {
    check(Engine::File, 16);
}

#[test]
fn any_sequence_of_calls_leaves_what_the_model_says_in_postgres() {
    if crate::postgres::is_there() {
        check(Engine::Postgres, 8);
    }
}

fn owner(bench: &Bench, number: usize) -> Owner {
    if number == 0 { bench.owner.clone() } else { other() }
}

fn id(conversation: u8) -> sabir_store::ConversationId {
    conversation_id(&format!("c{conversation}"))
}

/// The turn that a lock is for.
fn locker(turn: u8) -> sabir_store::TurnId {
    turn_id(&format!("locker-{turn}"))
}

impl Model {
    async fn make(&mut self, bench: &Bench, call: Call) {
        match call {
            Call::Begin { owner, conversation } => self.begin(bench, owner, conversation).await,
            Call::Turn { owner, conversation, from } => {
                self.turn(bench, (owner, conversation), from).await;
            }
            Call::Fork { owner, from, to } => self.fork(bench, owner, (from, to)).await,
            Call::Delete { owner, conversation, deletion } => {
                self.delete(bench, (owner, conversation), deletion).await;
            }
            Call::Lock { owner, conversation, turn } => {
                self.lock(bench, (owner, conversation), turn).await;
            }
            Call::Unlock { owner: number, turn } => {
                bench.store.release(&owner(bench, number), &locker(turn)).await.unwrap();
                self.locks.retain(|key, holder| key.0 != number || *holder != turn);
            }
            Call::Silence => {
                bench.wait(LEASE_END);
                bench.store.recover().await.unwrap();
                self.locks.clear();
            }
            Call::Days(days) => {
                bench.wait(DAY * u32::from(days));
                bench.store.recover().await.unwrap();
                self.locks.clear();
                self.day += i64::from(days);
            }
            Call::Sweep => self.sweep(bench).await,
        }
    }

    async fn begin(&mut self, bench: &Bench, number: usize, conversation: u8) {
        let new = sabir_store::NewConversation {
            owner: owner(bench, number),
            id: id(conversation),
            title: sabir_store::Title::new("title"),
            metadata: crate::bench::record("{}"),
            origin: sabir_store::Origin::Asked,
        };
        bench.store.ensure_conversation(new).await.unwrap();
        let day = self.day;
        let talk = Talk { used: day, ..Talk::default() };
        self.conversations.entry((number, conversation)).or_insert(talk);
    }

    async fn turn(&mut self, bench: &Bench, key: (usize, u8), from: From) {
        self.turns += 1;
        let name = format!("turn-{}", self.turns);
        let talk = self.conversations.get(&key).cloned();
        let previous = talk.as_ref().and_then(|talk| Some((talk.last_turn.as_deref()?, talk.tip?)));
        let mut closing = bench.closing(&name, previous, &[&name]);
        closing.turn.owner = owner(bench, key.0);
        let seen = match from {
            From::Tip => talk.as_ref().and_then(|talk| talk.tip),
            From::Elsewhere => Some(Hash::of_bytes(b"elsewhere")),
        };
        closing.conversation = Some(Advance::after(id(key.1), seen));
        let tip = closing.messages[0].hash;
        let outcome = bench.store.close_turn(closing).await.map_err(|error| error.kind());
        let is_locked = self.locks.contains_key(&key);
        match self.conversations.get_mut(&key) {
            None => assert_eq!(outcome, Err(Kind::NotFound)),
            Some(_) if from == From::Elsewhere || is_locked => {
                assert_eq!(outcome, Err(Kind::Conflict));
            }
            Some(talk) => {
                assert_eq!(outcome, Ok(()));
                talk.texts.push(name.clone());
                (talk.tip, talk.last_turn, talk.used) = (Some(tip), Some(name), self.day);
            }
        }
    }

    async fn fork(&mut self, bench: &Bench, number: usize, (from, to): (u8, u8)) {
        let fork = Fork { owner: owner(bench, number), from: id(from), after: None, id: id(to) };
        let outcome = bench.store.fork(fork).await.map(|_| ()).map_err(|error| error.kind());
        let origin = self.conversations.get(&(number, from)).cloned();
        match origin {
            None => assert_eq!(outcome, Err(Kind::NotFound)),
            Some(_) if self.conversations.contains_key(&(number, to)) => {
                assert_eq!(outcome, Err(Kind::Conflict));
            }
            Some(talk) => {
                assert_eq!(outcome, Ok(()));
                self.conversations.insert((number, to), Talk { used: self.day, ..talk });
            }
        }
    }

    async fn delete(&mut self, bench: &Bench, key: (usize, u8), deletion: Deletion) {
        let owner = owner(bench, key.0);
        let outcome = bench.store.delete_conversation(&owner, &id(key.1), deletion).await;
        match self.conversations.remove(&key) {
            None => assert_eq!(outcome.unwrap_err().kind(), Kind::NotFound),
            Some(_) => {
                outcome.unwrap();
                self.locks.remove(&key);
            }
        }
    }

    async fn lock(&mut self, bench: &Bench, key: (usize, u8), turn: u8) {
        let (owner, purpose) = (owner(bench, key.0), Purpose::Conversation(id(key.1)));
        let held = bench.store.hold(&owner, purpose, &locker(turn)).await.unwrap();
        // A lock that is taken renews the node's lease, so all locks go on.
        let holder = *self.locks.entry(key).or_insert(turn);
        assert_eq!(held, if holder == turn { Held::Taken } else { Held::Busy });
    }

    async fn sweep(&mut self, bench: &Bench) {
        let keep = Keep::For(DAY * KEEP_DAYS as u32);
        while bench.store.sweep(keep).await.unwrap().more {}
        let oldest = self.day - KEEP_DAYS;
        let (kept, gone) = std::mem::take(&mut self.conversations)
            .into_iter()
            .partition::<BTreeMap<_, _>, _>(|(_, talk)| talk.used >= oldest);
        self.conversations = kept;
        self.locks.retain(|key, _| !gone.contains_key(key));
    }

    /// Every conversation that there should be is there with its whole history, and no owner has any other.
    async fn compare(&self, bench: &Bench) {
        for number in 0..2 {
            let owner = owner(bench, number);
            let page = Page { limit: 100, ..Page::default() };
            let listing = bench.store.list_conversations(&owner, page).await.unwrap();
            let mut listed = listing.data.iter().map(|it| it.id.to_string()).collect::<Vec<_>>();
            listed.sort_unstable();
            let expected = self.conversations.iter().filter(|(key, _)| key.0 == number);
            let ids = expected.clone().map(|(key, _)| id(key.1).to_string()).collect::<Vec<_>>();
            assert_eq!(listed, ids);
            for (key, talk) in expected {
                self.compare_one(bench, *key, talk).await;
            }
        }
    }

    async fn compare_one(&self, bench: &Bench, key: (usize, u8), talk: &Talk) {
        let Some(tip) = talk.tip else { return };
        let mine = owner(bench, key.0);
        let history = bench.store.history(&mine, tip, Window::default()).await.unwrap();
        assert_eq!(texts(&history), talk.texts);
        let last = turn_id(talk.last_turn.as_deref().unwrap());
        let turns = bench.store.turns(&mine, &last, 1000).await.unwrap();
        assert_eq!(turns.len(), talk.texts.len());
        let theirs = owner(bench, 1 - key.0);
        assert!(bench.store.turns(&theirs, &last, 1).await.unwrap().is_empty());
    }
}
