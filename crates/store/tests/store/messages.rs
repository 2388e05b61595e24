//! The log of messages: paths, windows, what is known of a history, and whose it is.

use sabir_store::{Hash, Kind, Window};

use crate::bench::{Bench, Engine, chain, each_engine, each_engine_refused_by_files, other, texts};

each_engine_refused_by_files! {
    async fn a_history_is_the_path_from_its_tip(bench) {
        let first = bench.turn("t1", None, &["a", "b"]).await;
        let second = bench.turn("t2", Some(("t1", first)), &["c", "d"]).await;
        let history = bench.store.history(&bench.owner, second, Window::default()).await.unwrap();
        assert_eq!(texts(&history), ["a", "b", "c", "d"]);
        assert!(history.is_complete());
        assert_eq!(history.messages[3].depth, 3);
    }

    async fn a_window_shows_the_end(bench) {
        let tip = bench.turn("t1", None, &["aaaa", "bbbb", "cccc"]).await;
        for (messages, bytes, shown) in [(2, 1000, 2), (9, 8, 2), (9, 5, 2), (9, 4, 1), (0, 0, 1)] {
            let window = Window { messages, bytes, after: None };
            let history = bench.store.history(&bench.owner, tip, window).await.unwrap();
            assert_eq!(texts(&history), ["aaaa", "bbbb", "cccc"][3 - shown..], "{window:?}");
            assert!(!history.is_complete());
        }
    }

    async fn a_window_counts_bytes_as_they_were_told(bench) {
        let long = "abcd".repeat(1_000);
        let tip = bench.turn("t1", None, &[&format!("1{long}"), &format!("2{long}"), &format!("3{long}")]).await;
        for (bytes, shown) in [(1, 1), (4_001, 1), (4_002, 2), (8_003, 3), (u64::MAX, 3)] {
            let window = Window { messages: 9, bytes, after: None };
            let history = bench.store.history(&bench.owner, tip, window).await.unwrap();
            assert_eq!(history.messages.len(), shown, "{window:?}");
            assert_eq!(history.messages[shown - 1].record.as_bytes(), format!("3{long}").as_bytes());
        }
    }

    async fn a_window_may_begin_after_a_message(bench) {
        let first = bench.turn("t1", None, &["a", "b"]).await;
        let second = bench.turn("t2", Some(("t1", first)), &["c", "d"]).await;
        let other = bench.turn("t3", None, &["x"]).await;
        for (tip, after, shown, is_behind) in [
            (second, first, &["c", "d"][..], true),
            (second, second, &[], true),
            // One that is no part of the conversation leaves all of it.
            (second, other, &["a", "b", "c", "d"], false),
        ] {
            let window = Window { after: Some(after), ..Window::default() };
            let history = bench.store.history(&bench.owner, tip, window).await.unwrap();
            assert_eq!(texts(&history), shown);
            assert_eq!((history.is_complete(), history.after), (true, is_behind.then_some(after)));
        }
        let window = Window { messages: 1, after: Some(first), ..Window::default() };
        let history = bench.store.history(&bench.owner, second, window).await.unwrap();
        assert!(!history.is_complete());
    }

    async fn a_fork_is_a_second_child_and_equal_prefixes_are_one(bench) {
        let first = bench.turn("t1", None, &["a", "b"]).await;
        let left = bench.turn("t2", Some(("t1", first)), &["left"]).await;
        let right = bench.turn("t3", None, &["a", "b", "right"]).await;
        for (tip, last) in [(left, "left"), (right, "right")] {
            let history = bench.store.history(&bench.owner, tip, Window::default()).await.unwrap();
            assert_eq!(texts(&history), ["a", "b", last]);
            assert_eq!(history.messages[1].hash, first);
        }
    }

    async fn a_history_that_begins_as_others_did_goes_on_where_they_end(bench) {
        let texts = ["a", "b", "c", "d", "e", "f", "g"];
        bench.turn("t0", None, &texts[..5]).await;
        for end in 1..=7 {
            let tip = bench.turn(&format!("t{end}"), None, &texts[..end]).await;
            let history = bench.store.history(&bench.owner, tip, Window::default()).await.unwrap();
            assert_eq!(crate::bench::texts(&history), texts[..end]);
            let depths = history.messages.iter().map(|it| it.depth).collect::<Vec<_>>();
            assert_eq!(depths, (0..end as u64).collect::<Vec<_>>());
        }
    }

    async fn what_is_known_of_a_history_is_its_beginning(bench) {
        let texts = (0..40).map(|number| number.to_string()).collect::<Vec<_>>();
        let texts = texts.iter().map(String::as_str).collect::<Vec<_>>();
        bench.turn("t1", None, &texts[..27]).await;
        let hashes = chain(None, &texts).iter().map(|it| it.hash).collect::<Vec<_>>();
        for end in 0..=40 {
            let known = bench.store.known(&bench.owner, hashes[..end].to_vec()).await.unwrap();
            assert_eq!(known, end.min(27), "of {end}");
        }
        assert_eq!(bench.store.known(&other(), hashes).await.unwrap(), 0);
    }

    async fn a_message_is_found_by_the_beginning_of_its_hash(bench) {
        let tip = bench.turn("t1", None, &["a", "b"]).await;
        for length in [20, 32] {
            let found = bench.store.message_beginning(&bench.owner, &tip.as_bytes()[..length]);
            assert_eq!(found.await.unwrap().hash, tip);
        }
        let unknown = bench.store.message_beginning(&bench.owner, &[7; 20]).await.unwrap_err();
        let foreign = bench.store.message_beginning(&other(), &tip.as_bytes()[..20]).await;
        assert_eq!((unknown.kind(), foreign.unwrap_err()), (Kind::NotFound, unknown));
    }

    async fn another_owner_sees_nothing(bench) {
        let tip = bench.turn("t1", None, &["a"]).await;
        let error = bench.store.history(&other(), tip, Window::default()).await.unwrap_err();
        let unknown = Hash::of_bytes(b"unknown");
        let missing = bench.store.history(&bench.owner, unknown, Window::default()).await;
        assert_eq!(error.kind(), Kind::NotFound);
        assert_eq!(missing.unwrap_err(), error);
    }
}
