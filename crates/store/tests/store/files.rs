//! What holds for files alone: permissions, what a second start finds, schemas of other versions, trouble with the disk,
//! and commits that are shared.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use sabir_store::{Clock, Kind, Store, Window};

use crate::bench::{Bench, Engine, Place, texts};

async fn reopen(place: &Place) -> sabir_store::Result<Store> {
    Store::open(&place.url, place.options("node-3", Clock::System)).await
}

/// Changes the file with nobody looking.
fn tamper(place: &Place, sql: &str) {
    let connection = rusqlite::Connection::open(place.folder.join("sabir.db")).unwrap();
    connection.execute_batch(sql).unwrap();
}

#[tokio::test]
async fn nobody_else_may_read_the_files() {
    let bench = Bench::open(Engine::File).await;
    bench.turn("t1", None, &["a"]).await;
    for name in ["sabir.db", "sabir.db-wal", "sabir.db-shm"] {
        let mode = fs::metadata(bench.place.folder.join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[tokio::test]
async fn what_was_closed_is_there_at_the_next_start() {
    let bench = Bench::open(Engine::File).await;
    let tip = bench.turn("t1", None, &["a", "b"]).await;
    let (owner, place) = (bench.owner.clone(), bench.place);
    drop(bench.store);
    let store = reopen(&place).await.unwrap();
    let history = store.history(&owner, tip, Window::default()).await.unwrap();
    assert_eq!(texts(&history), ["a", "b"]);
}

#[tokio::test]
async fn a_newer_schema_is_refused_with_words_that_help() {
    let place = Place::new(Engine::File).await;
    drop(reopen(&place).await.unwrap());
    tamper(&place, "INSERT INTO migration (number, checksum) VALUES (9999, 'x')");
    let error = reopen(&place).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Schema);
    assert!(error.to_string().contains("newer version"), "{error}");
}

#[tokio::test]
async fn a_changed_migration_is_refused() {
    let place = Place::new(Engine::File).await;
    drop(reopen(&place).await.unwrap());
    tamper(&place, "UPDATE migration SET checksum = 'x'");
    assert_eq!(reopen(&place).await.unwrap_err().kind(), Kind::Schema);
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused() {
    let place = Place::new(Engine::File).await;
    fs::write(
        place.folder.join("sabir.db"),
        "not a database, but long enough to be one".repeat(99),
    )
    .unwrap();
    assert_eq!(reopen(&place).await.unwrap_err().kind(), Kind::Corrupt);
}

#[tokio::test]
async fn a_folder_in_place_of_the_file_is_refused() {
    let place = Place::new(Engine::File).await;
    fs::create_dir(place.folder.join("sabir.db")).unwrap();
    assert_eq!(reopen(&place).await.unwrap_err().kind(), Kind::Unavailable);
}

#[tokio::test]
async fn a_file_that_another_process_locks_is_unavailable_until_it_lets_go() {
    let bench = Bench::open(Engine::File).await;
    let other = rusqlite::Connection::open(bench.place.folder.join("sabir.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused = bench.store.close_turn(bench.closing("t1", None, &["a"])).await;
    assert_eq!(refused.unwrap_err().kind(), Kind::Unavailable);
    other.execute_batch("ROLLBACK").unwrap();
    bench.turn("t1", None, &["a"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_closes_share_a_sync_of_the_disk() {
    let bench = Bench::open(Engine::File).await;
    let before = bench.store.activity();
    let closes = (0..400).map(|number| {
        let closing = bench.closing(&format!("t{number}"), None, &[&number.to_string()]);
        let store = bench.store.clone();
        tokio::spawn(async move { store.close_turn(closing).await })
    });
    for close in closes.collect::<Vec<_>>() {
        close.await.unwrap().unwrap();
    }
    let after = bench.store.activity();
    let (writes, commits) = (
        after.durable_writes - before.durable_writes,
        after.durable_commits - before.durable_commits,
    );
    assert_eq!(writes, 400);
    assert!(commits * 4 <= writes, "{commits} syncs for {writes} closes");
}
