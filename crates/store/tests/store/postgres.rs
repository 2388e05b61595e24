//! What holds for PostgreSQL alone, and a schema of its own for each test of the suite.

use std::time::Duration;

use sabir_store::{Clock, Held, Kind, Purpose, Store};

use crate::bench::{Bench, Engine, Place, conversation_id, turn_id};

/// Whether a server is named. `scripts/test` starts one, and says so where it cannot.
pub(crate) fn is_there() -> bool {
    std::env::var_os("SABIR_TEST_POSTGRES").is_some()
}

fn server() -> String {
    std::env::var("SABIR_TEST_POSTGRES").unwrap()
}

/// The URL of an empty schema.
pub(crate) async fn new_schema(name: &str) -> String {
    run(&format!("DROP SCHEMA IF EXISTS {name} CASCADE; CREATE SCHEMA {name}")).await;
    let url = server();
    let sign = if url.contains('?') { '&' } else { '?' };
    format!("{url}{sign}application_name={name}&options=-csearch_path%3D{name}")
}

async fn run(sql: &str) {
    let url = server();
    let plain = url.split('?').next().unwrap();
    let (client, connection) = tokio_postgres::connect(plain, tokio_postgres::NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    client.batch_execute(sql).await.unwrap();
    drop(client);
    connection.await.unwrap().unwrap();
}

#[tokio::test]
async fn broken_connections_are_made_anew() {
    if !is_there() {
        return;
    }
    let bench = Bench::open(Engine::Postgres).await;
    bench.turn("t1", None, &["a"]).await;
    let schema = bench.place.url.rsplit("%3D").next().unwrap();
    run(&format!(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '{schema}'"
    ))
    .await;
    bench.turn("t2", None, &["b"]).await;
    assert!(bench.store.turn(&bench.owner, &turn_id("t2")).await.is_ok());
}

/// The connections of a store that are open now.
async fn connections(application: &str) -> i64 {
    let url = server();
    let plain = url.split('?').next().unwrap();
    let (client, connection) = tokio_postgres::connect(plain, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    let sql = "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1";
    client.query_one(sql, &[&application]).await.unwrap().get(0)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_connection_outlives_the_runtime_of_whoever_asked_first() {
    if !is_there() {
        return;
    }
    let bench = Bench::open(Engine::Postgres).await;
    let schema = bench.place.url.rsplit("%3D").next().unwrap().to_owned();
    let store = bench.store.clone();
    let asking = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        // At once, so that the one connection that there is from the start is not enough.
        runtime.block_on(async {
            let (one, two, three) =
                tokio::join!(store.heartbeat(), store.heartbeat(), store.heartbeat());
            one.and(two).and(three).unwrap();
        });
    });
    asking.join().unwrap();
    assert!(connections(&schema).await >= 3, "some ended with the runtime");
    bench.store.heartbeat().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_that_start_at_once_make_the_tables_once() {
    if !is_there() {
        return;
    }
    let place = Place::new(Engine::Postgres).await;
    let starts = (0..6).map(|number| {
        let options = place.options(&format!("node-{number}"), Clock::System);
        let url = place.url.clone();
        tokio::spawn(async move { Store::open(&url, options).await })
    });
    for start in starts.collect::<Vec<_>>() {
        start.await.unwrap().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_many_nodes_gets_the_lock() {
    if !is_there() {
        return;
    }
    let bench = Bench::open(Engine::Postgres).await;
    let second = bench.another_node().await.unwrap();
    let takes = (0..20).map(|number| {
        let store = if number % 2 == 0 { bench.store.clone() } else { second.clone() };
        let (owner, turn) = (bench.owner.clone(), turn_id(&format!("t{number}")));
        tokio::spawn(async move {
            store.hold(&owner, Purpose::Conversation(conversation_id("c")), &turn).await
        })
    });
    let mut taken = 0;
    for take in takes.collect::<Vec<_>>() {
        taken += usize::from(take.await.unwrap().unwrap() == Held::Taken);
    }
    assert_eq!(taken, 1);
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unavailable_and_its_password_stays_secret() {
    let place = Place::new(Engine::Memory).await;
    let url = "postgres://u:hunter2@127.0.0.1:1/db";
    let open = Store::open(url, place.options("node-1", Clock::System));
    let error = tokio::time::timeout(Duration::from_secs(10), open).await.unwrap().unwrap_err();
    assert_eq!(error.kind(), Kind::Unavailable);
    assert!(!format!("{error} {error:?}").contains("hunter2"));
}

/// The server of `scripts/postgres` has a certificate that only the file beside it vouches for.
#[tokio::test]
async fn tls_is_checked_where_it_is_asked_for() {
    if !is_there() || !server().contains("sslrootcert=") {
        return;
    }
    let place = Place::new(Engine::Postgres).await;
    let schema = place.url.rsplit("%3D").next().unwrap();
    let open = async |mode: &str| {
        let plain = server().split('?').next().unwrap().to_owned();
        let url = format!("{plain}?{mode}&options=-csearch_path%3D{schema}");
        Store::open(&url, place.options("node-1", Clock::System)).await
    };
    Store::open(&place.url, place.options("node-1", Clock::System)).await.unwrap();
    open("sslmode=prefer").await.unwrap();
    open("sslmode=disable").await.unwrap();
    assert_eq!(open("sslmode=require").await.unwrap_err().kind(), Kind::Unavailable);
    let missing = open("sslmode=verify-full&sslrootcert=nowhere.crt").await.unwrap_err();
    assert_eq!(missing.kind(), Kind::Url);
}
