//! Turns: opened, closed with what they add, interrupted when their node dies.

use std::time::Duration;

use sabir_store::{Advance, Ending, Fork, Hash, Held, Kind, Opening, Purpose, Status, Turn};

use crate::bench::{
    Bench, Engine, conversation_id, each_engine, each_engine_and_files,
    each_engine_refused_by_files, other, record, turn_id,
};

each_engine_and_files! {
    async fn a_turn_after_an_unknown_message_is_refused_whole(bench) {
        let closing = bench.closing("t1", Some(("t0", Hash::of_bytes(b"nowhere"))), &["a"]);
        let hash = closing.messages[0].hash;
        assert!(bench.store.close_turn(closing).await.is_err());
        assert_eq!(bench.store.known(&bench.owner, vec![hash]).await.unwrap(), 0);
        assert!(bench.store.turn(&bench.owner, &turn_id("t1")).await.is_err());
    }

    async fn a_turn_without_an_answer_never_was(bench) {
        bench.store.open_turn(bench.opening("t1")).await.unwrap();
        bench.store.open_turn_late(bench.opening("t2")).await.unwrap();
        for name in ["t1", "t2"] {
            bench.store.abandon_turn(&bench.owner, &turn_id(name), None).await.unwrap();
        }
        // Nor is it opened later.
        bench.store.flush().await.unwrap();
        for name in ["t1", "t2"] {
            let error = bench.store.turn(&bench.owner, &turn_id(name)).await.unwrap_err();
            assert_eq!(error.kind(), Kind::NotFound);
        }
    }
}

each_engine_refused_by_files! {
    async fn a_turn_goes_from_opened_over_streaming_to_its_end(bench) {
        let (store, owner) = (&bench.store, &bench.owner);
        let closing = bench.closing("t1", None, &["a"]);
        store.open_turn(closing.turn.clone()).await.unwrap();
        // What is opened is not waited for; whatever is written after it is.
        store.heartbeat().await.unwrap();
        assert_eq!(store.turn(owner, &turn_id("t1")).await.unwrap().status, Status::Opened);
        store.stream_turn(owner, &turn_id("t1")).await.unwrap();
        store.heartbeat().await.unwrap();
        assert_eq!(store.turn(owner, &turn_id("t1")).await.unwrap().status, Status::Streaming);
        store.close_turn(closing.clone()).await.unwrap();
        let turn = store.turn(owner, &turn_id("t1")).await.unwrap();
        assert_eq!(turn.status, Status::Finished);
        assert_eq!(turn.tip, Some(closing.messages[0].hash));
        assert_eq!(turn.details, record("details"));
        assert_eq!(store.close_turn(closing).await.unwrap_err().kind(), Kind::Conflict);
    }

    async fn a_turn_whose_opening_was_lost_is_closed_all_the_same(bench) {
        let mut closing = bench.closing("t1", None, &["a"]);
        closing.ending = Ending::Failed;
        bench.store.close_turn(closing).await.unwrap();
        let turn = bench.store.turn(&bench.owner, &turn_id("t1")).await.unwrap();
        assert_eq!(turn.status, Status::Failed);
    }

    async fn a_turn_that_nobody_waits_for_is_the_same_whether_it_ends_before_it_is_written_or_after(bench) {
        let (store, owner) = (&bench.store, &bench.owner);
        let base = bench.turn("t0", None, &["a"]).await;
        let mut turns = Vec::new();
        for name in ["t1", "t2", "t3"] {
            let mut closing = bench.closing(name, Some(("t0", base)), &["b"]);
            (closing.system, closing.tools) = (Some(record("be brief")), Some(record("[]")));
            store.open_turn_late(closing.turn.clone()).await.unwrap();
            if name == "t1" {
                store.flush().await.unwrap();
                assert_eq!(store.turn(owner, &turn_id(name)).await.unwrap().status, Status::Opened);
            }
            match name {
                "t3" => store.close_turn(closing.clone()).await.unwrap(),
                _ => store.close_turn_late(closing.clone()).await.unwrap(),
            }
            let error = store.close_turn_late(closing).await.unwrap_err();
            assert_eq!(error.kind(), Kind::Conflict);
            turns.push(store.turn(owner, &turn_id(name)).await.unwrap());
        }
        let [written, ended, durable] = turns.try_into().unwrap();
        assert!(ended.closed_at.is_some_and(|it| it >= ended.opened_at));
        for other in [ended, durable] {
            let (id, opened_at) = (written.id.clone(), written.opened_at);
            let (closed_at, used_at) = (written.closed_at, written.used_at);
            assert_eq!(written, Turn { id, opened_at, closed_at, used_at, ..other });
        }
    }

    async fn settings_are_kept_once_and_read_by_their_hash(bench) {
        let mut closing = bench.closing("t1", None, &["a"]);
        (closing.system, closing.tools) = (Some(record("be brief")), Some(record("[]")));
        bench.store.close_turn(closing).await.unwrap();
        let turn = bench.store.turn(&bench.owner, &turn_id("t1")).await.unwrap();
        assert_eq!(turn.system, Some(Hash::of_bytes(b"be brief")));
        let system = turn.system.unwrap();
        assert_eq!(bench.store.setting(&bench.owner, system).await.unwrap(), record("be brief"));
        let error = bench.store.setting(&other(), system).await.unwrap_err();
        assert_eq!(error.kind(), Kind::NotFound);
    }

    async fn turns_are_listed_from_the_newest_back(bench) {
        let first = bench.turn("t1", None, &["a"]).await;
        let second = bench.turn("t2", Some(("t1", first)), &["b"]).await;
        bench.turn("t3", Some(("t2", second)), &["c"]).await;
        let turns = bench.store.turns(&bench.owner, &turn_id("t3"), 10).await.unwrap();
        assert_eq!(turns.iter().map(|it| it.id.as_str()).collect::<Vec<_>>(), ["t3", "t2", "t1"]);
        let turns = bench.store.turns(&bench.owner, &turn_id("t3"), 2).await.unwrap();
        assert_eq!(turns.len(), 2);
        assert!(bench.store.turns(&other(), &turn_id("t3"), 2).await.unwrap().is_empty());
    }
}

// Files know nothing of other nodes.
each_engine! {
    async fn open_turns_of_a_dead_node_are_interrupted_within_30_seconds(bench) {
        let Some(second) = bench.another_node().await else { return };
        bench.store.open_turn(bench.opening("t1")).await.unwrap();
        bench.store.heartbeat().await.unwrap();
        bench.wait(Duration::from_secs(20));
        assert_eq!(second.recover().await.unwrap(), 0);
        bench.store.heartbeat().await.unwrap();
        bench.wait(Duration::from_secs(20));
        assert_eq!(second.recover().await.unwrap(), 0);
        bench.wait(Duration::from_secs(10));
        assert_eq!(second.recover().await.unwrap(), 1);
        let turn = second.turn(&bench.owner, &turn_id("t1")).await.unwrap();
        assert_eq!(turn.status, Status::Interrupted);
        // It was not dead after all: what it has is not thrown away.
        bench.store.close_turn(bench.closing("t1", None, &["a"])).await.unwrap();
        let turn = second.turn(&bench.owner, &turn_id("t1")).await.unwrap();
        assert_eq!(turn.status, Status::Finished);
    }

    async fn a_turn_that_died_with_its_node_stays_the_last_of_its_conversation(bench) {
        let Some(second) = bench.another_node().await else { return };
        let (owner, conversation) = (&bench.owner, conversation_id("c"));
        bench.conversation("c").await;
        let mut first = bench.closing("t1", None, &["a"]);
        first.system = Some(record("be brief"));
        let tip = first.messages[0].hash;
        first.conversation = Some(Advance::after(conversation.clone(), None));
        bench.store.close_turn(first).await.unwrap();
        // Whether it is found by the upkeep, or by the next call.
        for (dead, next) in [("t2", None), ("t3", Some("t4"))] {
            let last = bench.store.conversation(owner, &conversation).await.unwrap().last_turn;
            let held = Purpose::Conversation(conversation.clone());
            assert_eq!(bench.store.hold(owner, held.clone(), &turn_id(dead)).await.unwrap(), Held::Taken);
            let opening = Opening { previous: last, base: Some(tip), ..bench.opening(dead) };
            bench.store.open_turn(opening).await.unwrap();
            // What is opened is not waited for; whatever is written after it is.
            bench.store.heartbeat().await.unwrap();
            let working = second.working_turn(owner, &conversation).await.unwrap();
            assert_eq!(working.unwrap().id, turn_id(dead));
            bench.wait(Duration::from_secs(30));
            match next {
                None => assert_eq!(second.recover().await.unwrap(), 1),
                Some(next) => {
                    let taken = second.hold(owner, held, &turn_id(next)).await.unwrap();
                    assert_eq!(taken, Held::Taken);
                    second.release(owner, &turn_id(next)).await.unwrap();
                }
            }
            let found = second.conversation(owner, &conversation).await.unwrap();
            assert_eq!((found.last_turn, found.tip), (Some(turn_id(dead)), Some(tip)));
        }
        let turns = second.turns(owner, &turn_id("t3"), 9).await.unwrap();
        let ended: Vec<_> = turns.iter().map(|turn| (turn.id.as_str(), turn.status)).collect();
        let expected = [("t3", Status::Interrupted), ("t2", Status::Interrupted), ("t1", Status::Finished)];
        assert_eq!(ended, expected);
        assert!(turns.iter().all(|turn| turn.system == turns[2].system));
        assert_eq!(second.conversation(owner, &conversation).await.unwrap().turns, 3);
        let fork = Fork { owner: owner.clone(), from: conversation, after: Some(turn_id("t2")), id: conversation_id("f") };
        assert_eq!(second.fork(fork).await.unwrap().tip, Some(tip));
        // It was not dead after all, and counts once.
        let mut late = bench.closing("t3", Some(("t2", tip)), &["b"]);
        late.conversation = Some(Advance::after(conversation_id("c"), Some(tip)));
        bench.store.close_turn(late).await.unwrap();
        assert_eq!(second.conversation(owner, &conversation_id("c")).await.unwrap().turns, 3);
    }
}
