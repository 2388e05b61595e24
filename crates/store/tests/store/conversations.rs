//! Conversations: made once, advanced by compare-and-set, listed newest first, forked and deleted.

use std::time::Duration;

use sabir_store::{
    Addition, Advance, After, Begun, Change, Deletion, Direction, Followed, Follows, Fork, Hash,
    Held, ItemId, Keep, Kind, NewConversation, NewItem, Origin, Page, Purpose, Search, Status,
    Time, Title, TurnCount,
};

use crate::bench::{
    Bench, Engine, chain, conversation_id, each_engine, each_engine_and_files,
    each_engine_refused_by_files, other, record, turn_id,
};

/// A turn that advances the conversation `c` from `from`.
async fn advance(bench: &Bench, id: &str, from: Option<(&str, Hash)>) -> sabir_store::Result<Hash> {
    let mut closing = bench.closing(id, from, &[id]);
    let tip = closing.messages[0].hash;
    closing.conversation = Some(Advance::after(conversation_id("c"), from.map(|(_, tip)| tip)));
    bench.store.close_turn(closing).await.map(|()| tip)
}

async fn listed(bench: &Bench, page: Page) -> (Vec<String>, bool) {
    let listing = bench.store.list_conversations(&bench.owner, page).await.unwrap();
    (listing.data.into_iter().map(|it| it.id.to_string()).collect(), listing.next.is_some())
}

each_engine_and_files! {
    async fn messages_are_put_in_and_taken_away_without_a_turn(bench) {
        let id = bench.conversation("c").await;
        let (store, owner) = (&bench.store, &bench.owner);
        let messages = chain(None, &["a", "b"]);
        let first = messages[0].hash;
        let addition = Addition { messages, ..Addition::default() };
        let tip = store.append(owner, &id, None, addition).await.unwrap();
        let stale = store.append(owner, &id, None, Addition::default()).await.unwrap_err();
        assert_eq!(stale.kind(), Kind::Conflict);
        let addition = Addition { base: Some(first), ..Addition::default() };
        store.append(owner, &id, tip, addition).await.unwrap();
        assert_eq!(store.conversation(owner, &id).await.unwrap().tip, Some(first));
    }

    async fn a_conversation_is_made_once(bench) {
        bench.conversation("c").await;
        let first = advance(&bench, "t1", None).await.unwrap();
        bench.conversation("c").await;
        let found = bench.store.conversation(&bench.owner, &conversation_id("c")).await.unwrap();
        assert_eq!((found.tip, found.last_turn, found.turns), (Some(first), Some(turn_id("t1")), 1));
        let error = bench.store.conversation(&other(), &conversation_id("c")).await.unwrap_err();
        assert_eq!(error.kind(), Kind::NotFound);
    }

    async fn a_conversation_that_began_with_a_turn_goes_with_it_while_nothing_is_said_in_it(bench) {
        let (store, owner, id) = (&bench.store, &bench.owner, conversation_id("c"));
        let begun = Begun { id: id.clone(), tip: None };
        let held = |turn: &'static str| {
            let purpose = Purpose::Conversation(id.clone());
            async move { store.hold(owner, purpose, &turn_id(turn)).await.unwrap() }
        };
        bench.conversation("c").await;
        assert_eq!(held("t1").await, Held::Taken);
        // Another turn has no say in it.
        store.abandon_turn(owner, &turn_id("t2"), Some(&begun)).await.unwrap();
        assert!(store.conversation(owner, &id).await.is_ok());
        store.abandon_turn(owner, &turn_id("t1"), Some(&begun)).await.unwrap();
        assert_eq!(store.conversation(owner, &id).await.unwrap_err().kind(), Kind::NotFound);
        bench.conversation("c").await;
        assert_eq!(held("t3").await, Held::Taken);
        advance(&bench, "t3", None).await.unwrap();
        assert_eq!(held("t4").await, Held::Taken);
        store.abandon_turn(owner, &turn_id("t4"), Some(&begun)).await.unwrap();
        assert_eq!(store.conversation(owner, &id).await.unwrap().turns, 1);
    }

    async fn a_tip_moves_only_from_where_it_was_seen(bench) {
        bench.conversation("c").await;
        let first = advance(&bench, "t1", None).await.unwrap();
        let error = advance(&bench, "t2", None).await.unwrap_err();
        assert_eq!(error.kind(), Kind::Conflict);
        // Nothing of the turn that lost is there.
        assert!(bench.store.turn(&bench.owner, &turn_id("t2")).await.is_err());
        advance(&bench, "t3", Some(("t1", first))).await.unwrap();
        let found = bench.store.conversation(&bench.owner, &conversation_id("c")).await.unwrap();
        assert_eq!((found.turns, found.protocols.len(), found.models.len()), (2, 1, 1));
    }

    async fn a_conversation_that_another_holds_does_not_move(bench) {
        bench.conversation("c").await;
        let (store, owner) = (&bench.store, &bench.owner);
        let held = store.hold(owner, Purpose::Conversation(conversation_id("c")), &turn_id("t1")).await.unwrap();
        assert_eq!(held, Held::Taken);
        assert_eq!(advance(&bench, "t2", None).await.unwrap_err().kind(), Kind::Conflict);
        advance(&bench, "t1", None).await.unwrap();
    }

    async fn a_deleted_conversation_leaves_its_turns_under_their_ids(bench) {
        let id = bench.conversation("c").await;
        advance(&bench, "t1", None).await.unwrap();
        let (store, owner) = (&bench.store, &bench.owner);
        let error = store.delete_conversation(&other(), &id, Deletion::Name).await.unwrap_err();
        assert_eq!(error.kind(), Kind::NotFound);
        store.delete_conversation(owner, &id, Deletion::Name).await.unwrap();
        assert!(store.conversation(owner, &id).await.is_err());
        assert!(store.turn(owner, &turn_id("t1")).await.is_ok());
    }
}

each_engine_refused_by_files! {
    async fn parts_of_what_was_put_in_have_names_as_long_as_a_conversation_has_them(bench) {
        let id = bench.conversation("c").await;
        let (store, owner) = (&bench.store, &bench.owner);
        let messages = chain(None, &["a", "b"]);
        let [first, second] = [messages[0].hash, messages[1].hash];
        let name = ItemId::new("msg_1").unwrap();
        let item = |message| NewItem { id: name.clone(), direction: Direction::Input, message, part: 0 };
        let named = async || {
            let items = store.items(owner, vec![name.clone()]).await.unwrap();
            items.into_iter().next().flatten().map(|item| item.message)
        };
        let addition = Addition { messages, items: vec![item(first)], ..Addition::default() };
        let tip = store.append(owner, &id, None, addition).await.unwrap();
        assert_eq!(named().await, Some(first));
        assert_eq!(store.items(&other(), vec![name.clone()]).await.unwrap(), [None]);
        // Whoever takes something out puts the rest in again.
        let addition = Addition { base: tip, items: vec![item(second)], ..Addition::default() };
        store.append(owner, &id, tip, addition).await.unwrap();
        assert_eq!(named().await, Some(second));
        let fork = Fork { owner: owner.clone(), from: id.clone(), after: None, id: conversation_id("f") };
        store.fork(fork).await.unwrap();
        store.delete_conversation(owner, &id, Deletion::Name).await.unwrap();
        assert_eq!(named().await, Some(second));
        store.delete_conversation(owner, &conversation_id("f"), Deletion::Name).await.unwrap();
        assert_eq!(named().await, None);
    }

    async fn a_conversation_that_nobody_asked_for_is_known_by_its_end(bench) {
        let (store, owner) = (&bench.store, &bench.owner);
        let begun = async |id: &str, turn: &str, texts: &[&str], origin| {
            let id = conversation_id(id);
            let mut closing = bench.closing(turn, None, texts);
            closing.conversation = Some(Advance::after(id.clone(), None));
            let (owner, title) = (bench.owner.clone(), Title::new(turn));
            let metadata = record("{}");
            closing.begins = Some(NewConversation { owner, id, title, metadata, origin });
            store.close_turn(closing).await
        };
        begun("f", "t1", &["a", "b"], Origin::Followed).await.unwrap();
        // Whoever begins the same one at once has come too late.
        let error = begun("f", "t2", &["a", "c"], Origin::Followed).await.unwrap_err();
        assert_eq!(error.kind(), Kind::Conflict);
        begun("asked", "t3", &["a", "d"], Origin::Asked).await.unwrap();
        let end = async |texts: &[&str]| {
            let hashes = chain(None, texts).iter().map(|it| it.hash).collect::<Vec<_>>();
            let found = store.follow(owner, hashes.clone()).await.unwrap();
            assert_eq!(store.follow(&other(), hashes).await.unwrap(), Followed::default());
            found.conversation.map(|found| (found.id.to_string(), found.turns))
        };
        let expected = Some(("f".to_owned(), 1));
        assert_eq!(end(&["a", "b"]).await, expected);
        assert_eq!(end(&["a", "b", "x", "y"]).await, expected);
        for unknown in [&["a"][..], &["a", "c"], &["a", "d"], &[]] {
            assert_eq!(end(unknown).await, None);
        }
        // The newest of those that have come to the same end.
        bench.clock.fetch_add(1000, std::sync::atomic::Ordering::Relaxed);
        begun("g", "t4", &["a", "b"], Origin::Followed).await.unwrap();
        assert_eq!(end(&["a", "b"]).await, Some(("g".to_owned(), 1)));
    }

    async fn a_turn_whose_conversation_has_gone_on_may_begin_one_beside_it(bench) {
        let (store, owner) = (&bench.store, &bench.owner);
        let new = |name: &str| NewConversation {
            owner: bench.owner.clone(),
            id: conversation_id(name),
            title: Title::new(name),
            metadata: record("{}"),
            origin: Origin::Followed,
        };
        bench.conversation("c").await;
        let close = async |turn: &str, beside: Option<&str>| {
            let mut closing = bench.closing(turn, None, &[turn]);
            closing.conversation = Some(Advance::after(conversation_id("c"), None));
            closing.beside = beside.map(new);
            store.close_turn(closing).await
        };
        close("t1", None).await.unwrap();
        close("t2", Some("d")).await.unwrap();
        assert_eq!(close("t3", None).await.unwrap_err().kind(), Kind::Conflict);
        for (name, turn) in [("c", "t1"), ("d", "t2")] {
            let conversation = store.conversation(owner, &conversation_id(name)).await.unwrap();
            assert_eq!((conversation.turns, conversation.last_turn), (1, Some(turn_id(turn))));
            assert_eq!(conversation.tip, Some(chain(None, &[turn])[0].hash));
        }
        assert!(store.turn(owner, &turn_id("t3")).await.is_err());
    }

    async fn what_a_turn_follows_is_found_when_it_is_written(bench) {
        let (store, owner) = (&bench.store, &bench.owner);
        let new = |name: &str| NewConversation {
            owner: bench.owner.clone(),
            id: conversation_id(name),
            title: Title::new(name),
            metadata: record("{}"),
            origin: Origin::Followed,
        };
        let mut first = bench.closing("t0", None, &["a", "b"]);
        first.conversation = Some(Advance::after(conversation_id("f"), None));
        first.begins = Some(new("f"));
        let [a, b] = [first.messages[0].hash, first.messages[1].hash];
        store.close_turn(first).await.unwrap();
        // What is sent after `a`, whether the turn is opened before, and what it then goes on with.
        let cases = [
            ("t1", &["x", "answer"][..], 1, ("t1", None, a)),
            ("t2", &["b", "c", "answer"], 2, ("f", Some("t0"), b)),
            ("t3", &["b", "c", "answer", "d", "answer"], 4, ("f", Some("t2"), chain(Some(a), &["b", "c", "answer"])[2].hash)),
            ("t4", &["b", "c", "other"], 2, ("t4", None, chain(Some(a), &["b", "c"])[1].hash)),
            ("t5", &["answer"], 0, ("t5", None, a)),
        ];
        for (turn, texts, sent, (conversation, previous, base)) in cases {
            let mut closing = bench.closing(turn, Some(("t0", a)), texts);
            closing.turn.previous = None;
            closing.follows = Some(Follows { sent, begins: new(turn) });
            let tip = closing.messages.last().unwrap().hash;
            if turn != "t2" {
                store.open_turn_late(closing.turn.clone()).await.unwrap();
            }
            if turn == "t3" {
                store.flush().await.unwrap();
            }
            store.close_turn_late(closing).await.unwrap();
            let kept = store.turn(owner, &turn_id(turn)).await.unwrap();
            assert_eq!((kept.previous, kept.base), (previous.map(turn_id), Some(base)), "{turn}");
            assert_eq!((kept.tip, kept.status), (Some(tip), Status::Finished), "{turn}");
            let found = store.conversation(owner, &conversation_id(conversation)).await.unwrap();
            assert_eq!((found.tip, found.last_turn), (Some(tip), Some(turn_id(turn))), "{turn}");
        }
        assert_eq!(store.conversation(owner, &conversation_id("f")).await.unwrap().turns, 3);
    }

    async fn a_turn_that_follows_what_is_gone_or_worked_on(bench) {
        let (store, owner) = (&bench.store, &bench.owner);
        let new = |name: &str| NewConversation {
            owner: bench.owner.clone(),
            id: conversation_id(name),
            title: Title::new(name),
            metadata: record("{}"),
            origin: Origin::Followed,
        };
        let follow = async |turn: &str, base: Hash| {
            let mut closing = bench.closing(turn, Some(("t0", base)), &[turn]);
            closing.turn.previous = None;
            closing.follows = Some(Follows { sent: 1, begins: new(turn) });
            store.close_turn_late(closing).await
        };
        let mut first = bench.closing("t0", None, &["a"]);
        first.conversation = Some(Advance::after(conversation_id("f"), None));
        first.begins = Some(new("f"));
        let a = first.messages[0].hash;
        store.close_turn(first).await.unwrap();
        let held = Purpose::Conversation(conversation_id("f"));
        assert_eq!(store.hold(owner, held, &turn_id("other")).await.unwrap(), Held::Taken);
        follow("t1", a).await.unwrap();
        let beside = store.conversation(owner, &conversation_id("t1")).await.unwrap();
        assert_eq!((beside.turns, beside.last_turn), (1, Some(turn_id("t1"))));
        let worked_on = store.conversation(owner, &conversation_id("f")).await.unwrap();
        assert_eq!((worked_on.tip, worked_on.last_turn), (Some(a), Some(turn_id("t0"))));
        // Nothing is kept of one behind a message that is not there, and from then on nothing is taken for kept.
        let epoch = store.epoch();
        let error = follow("t2", Hash::of_bytes(b"gone")).await.unwrap_err();
        assert_eq!(error.kind(), Kind::NotFound);
        assert_ne!(store.epoch(), epoch);
        assert!(store.turn(owner, &turn_id("t2")).await.is_err());
        let epoch = store.epoch();
        store.sweep(Keep::Forever).await.unwrap();
        assert_ne!(store.epoch(), epoch);
    }

    async fn what_stands_beside_it_can_be_changed(bench) {
        let id = bench.conversation("c").await;
        let (store, owner) = (&bench.store, &bench.owner);
        let change = Change {
            title: Some(Title::new("Täglich")),
            metadata: Some(record("{\"a\":1}")),
            system: Some(Some(record("be brief"))),
            ..Change::default()
        };
        let changed = store.change_conversation(owner, &id, change.clone()).await.unwrap();
        assert_eq!(changed.system, Some(Hash::of_bytes(b"be brief")));
        let cleared = Change { system: Some(None), ..Change::default() };
        let changed = store.change_conversation(owner, &id, cleared).await.unwrap();
        assert_eq!((changed.system, changed.title.as_str()), (None, "Täglich"));
        assert_eq!(changed.metadata, record("{\"a\":1}"));
        let error = store.change_conversation(&other(), &id, change).await.unwrap_err();
        assert_eq!(error.kind(), Kind::NotFound);
    }

    async fn a_fork_shares_the_beginning_and_goes_its_own_way(bench) {
        let id = bench.conversation("c").await;
        let (store, owner) = (&bench.store, &bench.owner);
        let first = advance(&bench, "t1", None).await.unwrap();
        let second = advance(&bench, "t2", Some(("t1", first))).await.unwrap();
        store.put_summary(owner, &id, first, record("so far")).await.unwrap();
        let fork = |id: &str, after: Option<&str>| Fork {
            owner: owner.clone(),
            from: conversation_id("c"),
            after: after.map(turn_id),
            id: conversation_id(id),
        };
        let early = store.fork(fork("early", Some("t1"))).await.unwrap();
        assert_eq!((early.tip, early.turns), (Some(first), 1));
        assert_eq!(store.fork(fork("late", None)).await.unwrap().tip, Some(second));
        assert_eq!(store.fork(fork("late", None)).await.unwrap_err().kind(), Kind::Conflict);
        let error = store.fork(fork("x", Some("t9"))).await.unwrap_err();
        assert_eq!(error.kind(), Kind::NotFound);
        let summary = store.summary(owner, &early.id).await.unwrap().unwrap();
        assert_eq!(summary.record, record("so far"));
        store.put_summary(owner, &id, second, record("all")).await.unwrap();
        store.fork(fork("again", Some("t1"))).await.unwrap();
        assert!(store.summary(owner, &conversation_id("again")).await.unwrap().is_none());
        assert!(store.summary(&other(), &id).await.unwrap().is_none());
    }
}

// Lists of files are by the times of the files: `sessions.rs` has them.
each_engine! {
    async fn a_list_is_newest_first_by_pages(bench) {
        for id in ["one", "two", "three", "Four%"] {
            bench.conversation(id).await;
            bench.wait(Duration::from_secs(1));
        }
        let page = |after: Option<&str>, search: Option<&str>| Page {
            after: after.map(|after| After::parse(after).unwrap()),
            limit: 2,
            search: search.map(Search::new),
        };
        let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
        assert_eq!(listed(&bench, page(None, None)).await, (ids(&["Four%", "three"]), true));
        assert_eq!(listed(&bench, page(Some("three"), None)).await, (ids(&["two", "one"]), false));
        assert_eq!(listed(&bench, page(None, Some("FOUR%"))).await, (ids(&["Four%"]), false));
        assert_eq!(listed(&bench, page(None, Some("%"))).await, (ids(&["Four%"]), false));
        assert_eq!(listed(&bench, page(None, Some("t"))).await, (ids(&["three", "two"]), false));
        let theirs = bench.store.list_conversations(&other(), page(None, None)).await.unwrap();
        assert!(theirs.data.is_empty());
    }

    async fn the_place_of_a_page_holds_whatever_becomes_of_its_conversations(bench) {
        for id in ["one", "two", "three", "four"] {
            bench.conversation(id).await;
            bench.wait(Duration::from_secs(1));
        }
        let page = |after: Option<&str>| Page {
            after: after.map(|after| After::parse(after).unwrap()),
            limit: 2,
            search: None,
        };
        let first = bench.store.list_conversations(&bench.owner, page(None)).await.unwrap();
        let next = first.next.unwrap().to_string();
        let rest = async || listed(&bench, page(Some(&next))).await;
        assert_eq!(rest().await, (vec!["two".to_owned(), "one".to_owned()], false));
        // Its last one is used, and then it is gone.
        let addition = Addition { messages: chain(None, &["a"]), ..Addition::default() };
        let (store, owner, id) = (&bench.store, &bench.owner, conversation_id("three"));
        store.append(owner, &id, None, addition).await.unwrap();
        assert_eq!(rest().await, (vec!["two".to_owned(), "one".to_owned()], false));
        store.delete_conversation(owner, &id, Deletion::Name).await.unwrap();
        assert_eq!(rest().await, (vec!["two".to_owned(), "one".to_owned()], false));
        let gone = store.list_conversations(owner, page(Some("three"))).await.unwrap_err();
        assert_eq!(gone.kind(), Kind::NotFound);
    }

    async fn a_conversation_that_goes_another_way_has_the_turns_of_that_way(bench) {
        let id = bench.conversation("c").await;
        let first = advance(&bench, "t1", None).await.unwrap();
        let second = advance(&bench, "t2", Some(("t1", first))).await.unwrap();
        let (store, owner) = (&bench.store, &bench.owner);
        let found = async || {
            let it = store.conversation(owner, &id).await.unwrap();
            (it.tip, it.last_turn, it.turns)
        };
        assert_eq!(found().await, (Some(second), Some(turn_id("t2")), 2));
        let messages = chain(Some(first), &["a", "b"]);
        let last = messages[1].hash;
        let (base, turns) = (Some(first), TurnCount::All(3));
        let addition = Addition { base, messages, turns, ..Addition::default() };
        store.append(owner, &id, Some(second), addition).await.unwrap();
        assert_eq!(found().await, (Some(last), Some(turn_id("t1")), 3));
        let messages = chain(None, &["x"]);
        let (tip, turns) = (messages[0].hash, TurnCount::All(1));
        let addition = Addition { base: None, messages, turns, ..Addition::default() };
        store.append(owner, &id, Some(last), addition).await.unwrap();
        assert_eq!(found().await, (Some(tip), None, 1));
    }

    async fn a_conversation_may_have_begun_elsewhere(bench) {
        let id = bench.conversation("c").await;
        let change = Change { created_at: Some(Time(7)), ..Change::default() };
        bench.store.change_conversation(&bench.owner, &id, change).await.unwrap();
        let changed = bench.store.change_conversation(&bench.owner, &id, Change::default()).await;
        assert_eq!(changed.unwrap().created_at, Time(7));
    }
}
