//! What only one turn at a time may do, and that a dead node does not keep it.

use std::time::Duration;

use sabir_store::{Ending, Held, Purpose};

use crate::bench::{
    Bench, Engine, conversation_id, each_engine, each_engine_refused_by_files, other, turn_id,
};

each_engine_refused_by_files! {
    async fn a_conversation_is_held_by_one_turn_at_a_time(bench) {
        let (store, owner) = (&bench.store, &bench.owner);
        let hold = |turn| {
            let turn = turn_id(turn);
            async move { store.hold(owner, Purpose::Conversation(conversation_id("c")), &turn).await.unwrap() }
        };
        assert_eq!(hold("t1").await, Held::Taken);
        assert_eq!(hold("t1").await, Held::Taken);
        assert_eq!(hold("t2").await, Held::Busy);
        let elsewhere = store.hold(&other(), Purpose::Conversation(conversation_id("c")), &turn_id("t2")).await;
        assert_eq!(elsewhere.unwrap(), Held::Taken);
        store.close_turn(bench.closing("t1", None, &["a"])).await.unwrap();
        assert_eq!(hold("t2").await, Held::Taken);
        store.release(owner, &turn_id("t2")).await.unwrap();
        assert_eq!(hold("t3").await, Held::Taken);
    }

    async fn what_may_be_done_once_is_used_up_by_success_alone(bench) {
        let (store, owner) = (&bench.store, &bench.owner);
        let turn = turn_id("t0");
        for (id, purpose) in [("c", Purpose::Continue(turn.clone())), ("s", Purpose::Submit(turn))] {
            let (failing, winning) = (format!("{id}-1"), format!("{id}-2"));
            let hold = |turn: &str| {
                let (turn, purpose) = (turn_id(turn), purpose.clone());
                async move { store.hold(owner, purpose, &turn).await.unwrap() }
            };
            assert_eq!(hold(&failing).await, Held::Taken);
            assert_eq!(hold(&winning).await, Held::Busy);
            let mut closing = bench.closing(&failing, None, &["a"]);
            closing.ending = Ending::Failed;
            store.close_turn(closing).await.unwrap();
            assert_eq!(hold(&winning).await, Held::Taken);
            store.close_turn(bench.closing(&winning, None, &["a"])).await.unwrap();
            assert_eq!(hold("another").await, Held::Used);
        }
    }
}

// Files know nothing of other nodes.
each_engine! {
    async fn a_dead_node_holds_nothing_for_more_than_30_seconds(bench) {
        let Some(second) = bench.another_node().await else { return };
        let hold = |store: &sabir_store::Store, turn| {
            let (store, owner, turn) = (store.clone(), bench.owner.clone(), turn_id(turn));
            async move { store.hold(&owner, Purpose::Conversation(conversation_id("c")), &turn).await.unwrap() }
        };
        assert_eq!(hold(&bench.store, "t1").await, Held::Taken);
        bench.wait(Duration::from_secs(15));
        assert_eq!(hold(&second, "t2").await, Held::Busy);
        bench.store.heartbeat().await.unwrap();
        bench.wait(Duration::from_secs(15));
        assert_eq!(hold(&second, "t2").await, Held::Busy);
        bench.wait(Duration::from_secs(15));
        assert_eq!(hold(&second, "t2").await, Held::Taken);
        second.heartbeat().await.unwrap();
        assert_eq!(hold(&bench.store, "t1").await, Held::Busy);
    }
}
