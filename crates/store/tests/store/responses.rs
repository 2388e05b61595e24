//! Ids of answers and items: found, paged, deleted, and unknown to others.

use sabir_store::{Direction, ItemId, ItemPage, Kind, NewItem, NewResponse, Order, ResponseId};

use crate::bench::{
    Bench, Engine, each_engine, each_engine_refused_by_files, other, record, turn_id,
};

fn response(id: &str) -> ResponseId {
    ResponseId::new(id).unwrap()
}

/// A turn `t1` with the response `resp_1`, five items of input and one of output.
async fn respond(bench: &Bench) {
    let mut closing = bench.closing("t1", None, &["a", "b"]);
    closing.responses = vec![NewResponse { id: response("resp_1"), body: record("{}") }];
    let (input, output) = (closing.messages[0].hash, closing.messages[1].hash);
    let item = |id: &str, direction, message, part| NewItem {
        id: ItemId::new(id).unwrap(),
        direction,
        message,
        part,
    };
    closing.items = (0..5).map(|n| item(&format!("msg_{n}"), Direction::Input, input, n)).collect();
    closing.items.push(item("rs_1", Direction::Output, output, 0));
    bench.store.close_turn(closing).await.unwrap();
}

async fn page(bench: &Bench, order: Order, after: Option<&str>, limit: u32) -> Vec<String> {
    let after = after.map(|id| ItemId::new(id).unwrap());
    let page = ItemPage { direction: Direction::Input, order, after, limit };
    let items = bench.store.list_items(&bench.owner, &turn_id("t1"), page).await.unwrap();
    items.into_iter().map(|item| item.id.to_string()).collect()
}

each_engine_refused_by_files! {
    async fn a_response_names_its_turn(bench) {
        respond(&bench).await;
        let found = bench.store.response(&bench.owner, &response("resp_1")).await.unwrap();
        assert_eq!((found.turn, found.body), (turn_id("t1"), record("{}")));
        let error = bench.store.response(&other(), &response("resp_1")).await.unwrap_err();
        let unknown = bench.store.response(&bench.owner, &response("resp_2")).await.unwrap_err();
        assert_eq!((error.kind(), &error), (Kind::NotFound, &unknown));
    }

    async fn items_are_paged_in_both_orders(bench) {
        respond(&bench).await;
        use Order::{Ascending, Descending};
        assert_eq!(page(&bench, Ascending, None, 2).await, ["msg_0", "msg_1"]);
        assert_eq!(page(&bench, Ascending, Some("msg_1"), 9).await, ["msg_2", "msg_3", "msg_4"]);
        assert_eq!(page(&bench, Descending, None, 2).await, ["msg_4", "msg_3"]);
        assert_eq!(page(&bench, Descending, Some("msg_1"), 9).await, ["msg_0"]);
        assert!(page(&bench, Ascending, Some("msg_4"), 9).await.is_empty());
        let after = Some(ItemId::new("nobody").unwrap());
        let wrong = ItemPage { direction: Direction::Input, order: Ascending, after, limit: 1 };
        let error = bench.store.list_items(&bench.owner, &turn_id("t1"), wrong).await.unwrap_err();
        assert_eq!(error.kind(), Kind::NotFound);
    }

    async fn items_that_are_named_one_after_the_other_are_found_like_any(bench) {
        let mut closing = bench.closing("t1", None, &["a", "b"]);
        let (input, output) = (closing.messages[0].hash, closing.messages[1].hash);
        let item = |id: String, direction, message, part| NewItem {
            id: ItemId::new(id).unwrap(),
            direction,
            message,
            part,
        };
        closing.items = (0..12).map(|n| item(format!("in_t1_{n}"), Direction::Input, input, 20 + n)).collect();
        closing.items.push(item("own".to_owned(), Direction::Input, input, 0));
        closing.items.push(item("out_0".to_owned(), Direction::Output, output, 0));
        bench.store.close_turn(closing).await.unwrap();
        use Order::{Ascending, Descending};
        assert_eq!(page(&bench, Ascending, Some("in_t1_9"), 3).await, ["in_t1_10", "in_t1_11", "own"]);
        assert_eq!(page(&bench, Ascending, None, 2).await, ["in_t1_0", "in_t1_1"]);
        assert_eq!(page(&bench, Descending, None, 3).await, ["own", "in_t1_11", "in_t1_10"]);
        assert_eq!(page(&bench, Descending, Some("in_t1_2"), 9).await, ["in_t1_1", "in_t1_0"]);
        assert!(page(&bench, Ascending, Some("own"), 9).await.is_empty());
        let ids = ["in_t1_11", "in_t1_0", "in_t1_12", "in_t1", "out_0", "own"];
        let ids = ids.map(|id| ItemId::new(id).unwrap()).to_vec();
        let found = bench.store.items(&bench.owner, ids.clone()).await.unwrap();
        let parts = found.iter().map(|it| it.as_ref().map(|it| (it.id.as_str(), it.part)));
        assert_eq!(
            parts.collect::<Vec<_>>(),
            [Some(("in_t1_11", 31)), Some(("in_t1_0", 20)), None, None, Some(("out_0", 0)), Some(("own", 0))]
        );
        assert!(bench.store.items(&other(), ids).await.unwrap().iter().all(Option::is_none));
    }

    async fn an_item_that_came_back_is_that_of_the_first_turn(bench) {
        for turn in ["t1", "t2"] {
            let mut closing = bench.closing(turn, None, &[turn]);
            let message = closing.messages[0].hash;
            let ids = if turn == "t1" { &["x_0", "x_1"][..] } else { &["x_1"] };
            closing.items = ids.iter().map(|id| NewItem {
                id: ItemId::new(*id).unwrap(),
                direction: Direction::Input,
                message,
                part: 0,
            }).collect();
            bench.store.close_turn(closing).await.unwrap();
        }
        let found = bench.store.items(&bench.owner, vec![ItemId::new("x_1").unwrap()]).await.unwrap();
        assert_eq!(found[0].as_ref().unwrap().turn, turn_id("t1"));
    }

    async fn items_are_found_by_id_in_the_order_asked(bench) {
        respond(&bench).await;
        let ids = ["rs_1", "rs_2", "msg_3"].map(|id| ItemId::new(id).unwrap()).to_vec();
        let items = bench.store.items(&bench.owner, ids.clone()).await.unwrap();
        assert_eq!(items[0].as_ref().unwrap().direction, Direction::Output);
        assert!(items[1].is_none());
        assert_eq!(items[2].as_ref().unwrap().part, 3);
        assert_eq!(bench.store.items(&other(), ids).await.unwrap(), [None, None, None]);
    }

    async fn a_deleted_response_and_its_items_are_unknown(bench) {
        respond(&bench).await;
        let id = response("resp_1");
        let error = bench.store.delete_response(&other(), &id).await.unwrap_err();
        assert_eq!(error.kind(), Kind::NotFound);
        bench.store.delete_response(&bench.owner, &id).await.unwrap();
        assert!(bench.store.response(&bench.owner, &id).await.is_err());
        assert!(page(&bench, Order::Ascending, None, 9).await.is_empty());
        assert!(bench.store.delete_response(&bench.owner, &id).await.is_err());
    }

    async fn two_owners_may_have_the_same_ids(bench) {
        respond(&bench).await;
        let mut closing = bench.closing("t1", None, &["mine"]);
        closing.turn.owner = other();
        closing.responses = vec![NewResponse { id: response("resp_1"), body: record("[]") }];
        bench.store.close_turn(closing).await.unwrap();
        let mine = bench.store.response(&other(), &response("resp_1")).await.unwrap();
        assert_eq!(mine.body, record("[]"));
    }
}
