//! Answers that are worked on while nobody waits: their ends meet, their events are read again, and a dead node leaves none.

use std::time::Duration;

use sabir_store::{
    EVENTS_KEPT, JobStatus, Keep, Kind, NewJob, NewResponse, Piece, ResponseId, Store,
};

use crate::bench::{
    Bench, Engine, each_engine, each_engine_and_files, each_engine_refused_by_files, name, other,
    record, turn_id,
};

fn id() -> ResponseId {
    ResponseId::new("resp_1").unwrap()
}

async fn add(bench: &Bench) {
    let job = NewJob {
        owner: bench.owner.clone(),
        id: id(),
        turn: turn_id("t1"),
        provider: None,
        is_streamed: true,
        body: record("queued"),
    };
    bench.store.add_job(job).await.unwrap();
}

async fn status(bench: &Bench, store: &Store) -> JobStatus {
    store.job(&bench.owner, &id()).await.unwrap().status
}

fn piece(first: u64, last: u64) -> Piece {
    Piece { first, last, record: record(&format!("{first}-{last}")) }
}

async fn numbers(bench: &Bench, from: u64) -> Vec<u64> {
    let pieces = bench.store.pieces(&bench.owner, &id(), from).await.unwrap();
    pieces.into_iter().map(|piece| piece.first).collect()
}

each_engine_and_files! {
    async fn a_job_is_found_by_its_owner_as_it_stands(bench) {
        add(&bench).await;
        assert_eq!(status(&bench, &bench.store).await, JobStatus::Queued);
        assert!(bench.store.begin_job(&bench.owner, &id(), record("running")).await.unwrap());
        let job = bench.store.job(&bench.owner, &id()).await.unwrap();
        assert_eq!((job.status, job.body), (JobStatus::Running, record("running")));
        let error = bench.store.job(&other(), &id()).await.unwrap_err();
        assert_eq!(error.kind(), Kind::NotFound);
        assert!(!bench.store.begin_job(&other(), &id(), record("x")).await.unwrap());
    }

    async fn events_are_read_again_from_any_number_on(bench) {
        add(&bench).await;
        for (first, last) in [(0, 1), (2, 2), (3, 7)] {
            assert!(bench.store.add_piece(&bench.owner, &id(), piece(first, last)).await.unwrap());
        }
        assert_eq!(numbers(&bench, 0).await, [0, 2, 3]);
        assert_eq!(numbers(&bench, 2).await, [2, 3]);
        assert_eq!(numbers(&bench, 5).await, [3]);
        assert!(numbers(&bench, 8).await.is_empty());
        assert!(bench.store.pieces(&other(), &id(), 0).await.unwrap().is_empty());
    }

    async fn events_go_before_what_they_led_to(bench) {
        add(&bench).await;
        bench.store.add_piece(&bench.owner, &id(), piece(0, 3)).await.unwrap();
        bench.store.end_job(&bench.owner, &id(), JobStatus::Failed, record("why")).await.unwrap();
        let keep = Keep::For(Duration::from_secs(24 * 60 * 60));
        bench.store.sweep(keep).await.unwrap();
        assert_eq!(numbers(&bench, 0).await, [0]);
        bench.wait(EVENTS_KEPT + Duration::from_secs(1));
        bench.store.sweep(keep).await.unwrap();
        assert!(numbers(&bench, 0).await.is_empty());
        let job = bench.store.job(&bench.owner, &id()).await.unwrap();
        assert!(job.is_silent);
        assert_eq!(job.body, record("why"));
        bench.wait(Duration::from_secs(26 * 60 * 60));
        bench.store.sweep(keep).await.unwrap();
        assert!(bench.store.job(&bench.owner, &id()).await.is_err());
    }

    async fn what_is_cancelled_or_deleted_says_nothing_more(bench) {
        add(&bench).await;
        bench.store.end_job(&bench.owner, &id(), JobStatus::Cancelled, record("")).await.unwrap();
        assert!(!bench.store.add_piece(&bench.owner, &id(), piece(0, 0)).await.unwrap());
        bench.store.delete_response(&bench.owner, &id()).await.unwrap();
        assert!(bench.store.job(&bench.owner, &id()).await.is_err());
        assert!(!bench.store.add_piece(&bench.owner, &id(), piece(0, 0)).await.unwrap());
        assert!(bench.store.delete_response(&bench.owner, &id()).await.is_err());
    }
}

each_engine_refused_by_files! {
    async fn a_job_ends_once(bench) {
        add(&bench).await;
        let id = id();
        let end = |status| bench.store.end_job(&bench.owner, &id, status, record("end"));
        assert!(end(JobStatus::Cancelled).await.unwrap());
        assert!(!end(JobStatus::Failed).await.unwrap());
        assert_eq!(status(&bench, &bench.store).await, JobStatus::Cancelled);
        let mut closing = bench.closing("t1", None, &["a"]);
        closing.job = Some(id.clone());
        closing.responses = vec![NewResponse { id: id.clone(), body: record("{}") }];
        let error = bench.store.close_turn(closing).await.unwrap_err();
        assert_eq!(error.kind(), Kind::Conflict);
        assert!(bench.store.response(&bench.owner, &id).await.is_err(), "nothing of it is kept");
    }

    async fn the_answer_and_the_end_of_its_job_are_one(bench) {
        add(&bench).await;
        let mut closing = bench.closing("t1", None, &["a"]);
        closing.job = Some(id());
        closing.responses = vec![NewResponse { id: id(), body: record("{}") }];
        bench.store.close_turn(closing).await.unwrap();
        assert_eq!(status(&bench, &bench.store).await, JobStatus::Finished);
        assert!(!bench.store.end_job(&bench.owner, &id(), JobStatus::Cancelled, record("")).await.unwrap());
        assert!(bench.store.response(&bench.owner, &id()).await.is_ok());
    }
}

// Files know nothing of other nodes.
each_engine! {
    async fn a_dead_node_leaves_no_job_running_for_more_than_30_seconds(bench) {
        let Some(second) = bench.another_node().await else { return };
        add(&bench).await;
        bench.wait(Duration::from_secs(20));
        second.recover().await.unwrap();
        assert_eq!(status(&bench, &second).await, JobStatus::Queued);
        bench.wait(Duration::from_secs(10));
        second.recover().await.unwrap();
        assert_eq!(status(&bench, &second).await, JobStatus::Interrupted);
    }

    async fn a_job_that_its_provider_works_on_is_not_its_nodes(bench) {
        let Some(second) = bench.another_node().await else { return };
        let job = NewJob {
            owner: bench.owner.clone(),
            id: id(),
            turn: turn_id("t1"),
            provider: Some(name("openai")),
            is_streamed: false,
            body: record("{}"),
        };
        bench.store.add_job(job).await.unwrap();
        bench.wait(Duration::from_secs(60));
        second.recover().await.unwrap();
        let job = second.job(&bench.owner, &id()).await.unwrap();
        assert_eq!((job.status, job.provider), (JobStatus::Passed, Some(name("openai"))));
    }
}
