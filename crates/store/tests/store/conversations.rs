//! Conversations: made once, advanced by compare-and-set, listed newest first, forked and deleted.

use std::time::Duration;

use sabir_store::{
    Addition, Advance, Change, Deletion, Direction, Followed, Fork, Hash, Held, ItemId, Kind,
    NewConversation, NewItem, Origin, Page, Purpose, Search, Title,
};

use crate::bench::{
    Bench, Engine, chain, conversation_id, each_engine, each_engine_and_files,
    each_engine_refused_by_files, other, record, turn_id,
};

/// A turn that advances the conversation `c` from `from`.
async fn advance(bench: &Bench, id: &str, from: Option<(&str, Hash)>) -> sabir_store::Result<Hash> {
    let mut closing = bench.closing(id, from, &[id]);
    let tip = closing.messages[0].hash;
    closing.conversation =
        Some(Advance { id: conversation_id("c"), from: from.map(|(_, tip)| tip) });
    bench.store.close_turn(closing).await.map(|()| tip)
}

async fn listed(bench: &Bench, page: Page) -> (Vec<String>, bool) {
    let listing = bench.store.list_conversations(&bench.owner, page).await.unwrap();
    (listing.data.into_iter().map(|it| it.id.to_string()).collect(), listing.has_more)
}

each_engine_and_files! {
    async fn a_conversation_is_made_once(bench) {
        bench.conversation("c").await;
        let first = advance(&bench, "t1", None).await.unwrap();
        bench.conversation("c").await;
        let found = bench.store.conversation(&bench.owner, &conversation_id("c")).await.unwrap();
        assert_eq!((found.tip, found.last_turn, found.turns), (Some(first), Some(turn_id("t1")), 1));
        let error = bench.store.conversation(&other(), &conversation_id("c")).await.unwrap_err();
        assert_eq!(error.kind(), Kind::NotFound);
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
            closing.conversation = Some(Advance { id: id.clone(), from: None });
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

    async fn what_stands_beside_it_can_be_changed(bench) {
        let id = bench.conversation("c").await;
        let (store, owner) = (&bench.store, &bench.owner);
        let change = Change {
            title: Some(Title::new("Täglich")),
            metadata: Some(record("{\"a\":1}")),
            system: Some(Some(record("be brief"))),
            tools: None,
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
            after: after.map(conversation_id),
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
}
