//! What a disk in trouble does to the writer: errors with their kinds, and work as before once it is over.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc;

use super::super::{Durability, Session, Work};
use super::reader::Reader;
use super::sync::Disk;
use super::writer::Writer;
use super::{Sqlite, connection};
use crate::error::{Kind, Result};

/// Statements to run, which may change how the connection behaves.
struct Run(&'static str);

/// A row with so many bytes.
struct Insert(usize);

impl Work for Run {
    type Output = ();

    async fn run<S: Session>(&self, session: &mut S) -> Result<()> {
        session.batch(self.0).await
    }
}

impl Work for Insert {
    type Output = ();

    async fn run<S: Session>(&self, session: &mut S) -> Result<()> {
        let bytes = vec![0; self.0];
        let params = [super::super::Param::Bytes(&bytes)];
        session.execute("INSERT INTO a (b) VALUES ($1)", &params).await.map(|_| ())
    }
}

async fn sqlite() -> Sqlite {
    let sqlite = Sqlite::in_memory().unwrap();
    write(&sqlite, Run("CREATE TABLE a (b BLOB)")).await.unwrap();
    sqlite
}

async fn write<W: Work>(sqlite: &Sqlite, work: W) -> Result<W::Output> {
    sqlite.write(Durability::Durable, work).await
}

#[tokio::test]
async fn a_full_disk_fails_what_does_not_fit_and_nothing_else() {
    let sqlite = sqlite().await;
    write(&sqlite, Run("PRAGMA max_page_count = 20")).await.unwrap();
    assert_eq!(write(&sqlite, Insert(200_000)).await.unwrap_err().kind(), Kind::Full);
    // After trouble, even what is not waited for is.
    assert_eq!(
        sqlite.start(Durability::Volatile, Insert(200_000)).await.unwrap_err().kind(),
        Kind::Full
    );
    write(&sqlite, Insert(10)).await.unwrap();
    write(&sqlite, Run("PRAGMA max_page_count = 1000")).await.unwrap();
    write(&sqlite, Insert(200_000)).await.unwrap();
    sqlite.start(Durability::Volatile, Insert(10)).await.unwrap();
}

#[tokio::test]
async fn a_database_that_cannot_be_written_says_so() {
    let sqlite = sqlite().await;
    write(&sqlite, Run("PRAGMA query_only = ON")).await.unwrap();
    assert_eq!(write(&sqlite, Insert(10)).await.unwrap_err().kind(), Kind::ReadOnly);
}

#[tokio::test]
async fn work_that_fails_is_undone_alone() {
    let sqlite = sqlite().await;
    let failing =
        write(&sqlite, Run("INSERT INTO a (b) VALUES (x'00'); INSERT INTO missing VALUES (1)"));
    let (failed, done) = tokio::join!(failing, write(&sqlite, Insert(10)));
    assert!(failed.is_err());
    done.unwrap();
    let rows = sqlite.read(Count).await.unwrap();
    assert_eq!(rows, 1);
}

#[tokio::test]
async fn what_may_be_late_waits_for_company_or_for_whoever_needs_it() {
    let sqlite = sqlite().await;
    for _ in 0..3 {
        sqlite.start(Durability::Late, Insert(10)).await.unwrap();
    }
    sqlite.flush().await.unwrap();
    assert_eq!(sqlite.read(Count).await.unwrap(), 3);
    // Nobody else comes.
    sqlite.write(Durability::Late, Insert(10)).await.unwrap();
    assert_eq!(sqlite.read(Count).await.unwrap(), 4);
    // One that fails is undone alone, and whoever brought it knows.
    let failing = sqlite.write(Durability::Late, Run("INSERT INTO missing VALUES (1)"));
    let (failed, done) = tokio::join!(failing, sqlite.write(Durability::Late, Insert(10)));
    assert!(failed.is_err());
    done.unwrap();
    assert_eq!(sqlite.read(Count).await.unwrap(), 5);
}

#[tokio::test]
async fn what_nobody_waits_for_takes_no_part_in_the_transactions_of_others_until_it_is_due() {
    let sqlite = sqlite().await;
    sqlite.start(Durability::Late, Insert(10)).await.unwrap();
    write(&sqlite, Insert(10)).await.unwrap();
    assert_eq!(sqlite.read(Count).await.unwrap(), 1);
    // By the time that something else has been as late as it may be, so has this.
    sqlite.write(Durability::Late, Insert(10)).await.unwrap();
    assert_eq!(sqlite.read(Count).await.unwrap(), 3);
    // Nobody else comes.
    sqlite.start(Durability::Late, Insert(10)).await.unwrap();
    see(&sqlite, 4).await;
}

#[tokio::test]
async fn what_may_be_late_is_written_when_the_store_is_closed() {
    let (folder, sqlite) = on_disk("late").await;
    let late = sqlite.writer().unwrap().start_late(Insert(10)).unwrap();
    sqlite.start(Durability::Late, Insert(10)).await.unwrap();
    drop(sqlite);
    late.await.unwrap().unwrap();
    let sqlite = Sqlite::open(&folder.join("sabir.db")).unwrap();
    see(&sqlite, 2).await;
    drop(sqlite);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[tokio::test]
async fn the_log_is_brought_into_the_file_and_stays_short() {
    let (folder, sqlite) = on_disk("log").await;
    let length = |name: &str| std::fs::metadata(folder.join(name)).unwrap().len();
    for _ in 0..400 {
        sqlite.write(Durability::Volatile, Insert(256 * 1024)).await.unwrap();
    }
    assert!(length("sabir.db") > 32 << 20, "{} bytes in the file", length("sabir.db"));
    assert!(length("sabir.db-wal") < 80 << 20, "{} bytes in the log", length("sabir.db-wal"));
    drop(sqlite);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[tokio::test]
async fn a_settled_store_is_its_file_alone() {
    let (folder, sqlite) = on_disk("settled").await;
    sqlite.write(Durability::Durable, Insert(10_000)).await.unwrap();
    sqlite.settle().await.unwrap();
    assert_eq!(std::fs::metadata(folder.join("sabir.db-wal")).unwrap().len(), 0);
    std::fs::copy(folder.join("sabir.db"), folder.join("copy.db")).unwrap();
    let copy = rusqlite::Connection::open(folder.join("copy.db")).unwrap();
    let bytes = copy.query_row("SELECT length(b) FROM a", [], |row| row.get::<_, i64>(0));
    assert_eq!(bytes.unwrap(), 10_000);
    drop(sqlite);
    std::fs::remove_dir_all(&folder).unwrap();
}

async fn on_disk(name: &str) -> (PathBuf, Sqlite) {
    let folder = std::env::temp_dir().join(format!("sabir-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let sqlite = Sqlite::open(&folder.join("sabir.db")).unwrap();
    write(&sqlite, Run("CREATE TABLE a (b BLOB)")).await.unwrap();
    (folder, sqlite)
}

/// A disk whose syncs end as and when the test says; once it says no more, they succeed at once.
struct Scripted(mpsc::Receiver<io::Result<()>>);

impl Disk for Scripted {
    fn sync(&mut self) -> io::Result<()> {
        self.0.recv().unwrap_or(Ok(()))
    }
}

async fn on_scripted_disk(name: &str) -> (PathBuf, Sqlite, mpsc::Sender<io::Result<()>>) {
    let folder = std::env::temp_dir().join(format!("sabir-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("sabir.db");
    let (outcomes, script) = mpsc::channel();
    let writer = Writer::start(connection::open_to_write(&path).unwrap(), Some(Scripted(script)));
    let reader = Some(Reader::start(|| connection::open_to_read(&path)).unwrap());
    let sqlite = Sqlite { writer: Some(writer.unwrap()), reader, path: Some(path) };
    outcomes.send(Ok(())).unwrap();
    write(&sqlite, Run("CREATE TABLE a (b BLOB)")).await.unwrap();
    (folder, sqlite, outcomes)
}

/// Waits until others see so many rows.
async fn see(sqlite: &Sqlite, rows: i64) {
    while sqlite.read(Count).await.unwrap() < rows {}
}

#[tokio::test]
async fn what_must_be_on_disk_is_answered_after_a_sync_that_began_behind_it() {
    let (folder, sqlite, outcomes) = on_scripted_disk("synced").await;
    let mut first = Box::pin(write(&sqlite, Insert(10)));
    tokio::select! {
        biased;
        _ = &mut first => panic!("it is not on disk"),
        () = see(&sqlite, 1) => {}
    }
    // These share the next transaction, and one sync, for which that of the first does not do.
    let mut others = Box::pin(async {
        let [one, other] = [Insert(10), Insert(10)].map(|insert| write(&sqlite, insert));
        tokio::join!(one, other)
    });
    tokio::select! {
        biased;
        _ = &mut first => panic!("it is not on disk"),
        _ = &mut others => panic!("they are not on disk"),
        () = std::future::ready(()) => {}
    }
    let before = sqlite.activity();
    outcomes.send(Ok(())).unwrap();
    first.await.unwrap();
    tokio::select! {
        biased;
        _ = &mut others => panic!("they are not on disk"),
        () = see(&sqlite, 3) => {}
    }
    outcomes.send(Ok(())).unwrap();
    let (one, other) = others.await;
    one.and(other).unwrap();
    let after = sqlite.activity();
    assert_eq!(after.durable_writes - before.durable_writes, 3);
    assert_eq!(after.durable_commits - before.durable_commits, 2);
    drop(sqlite);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[tokio::test]
async fn after_a_sync_that_failed_the_log_is_brought_in_before_anything_is_taken_for_durable() {
    let (folder, sqlite, outcomes) = on_scripted_disk("torn").await;
    let length = |name: &str| std::fs::metadata(folder.join(name)).unwrap().len();
    let is_brought_in = || length("sabir.db") > 256 << 10 && length("sabir.db-wal") < 64 << 10;
    let (failed, behind) = tokio::join!(write(&sqlite, Insert(256 * 1024)), async {
        see(&sqlite, 1).await;
        // Its transaction may be in the making when the sync fails.
        let behind = write(&sqlite, Insert(10));
        outcomes.send(Err(io::Error::other("the disk is gone"))).unwrap();
        drop(outcomes);
        behind.await
    });
    assert!(failed.unwrap_err().is_outage());
    assert!(behind.is_err() || is_brought_in());
    write(&sqlite, Insert(10)).await.unwrap();
    assert!(is_brought_in());
    assert_eq!(sqlite.read(Count).await.unwrap(), 3);
    drop(sqlite);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn writes_go_on_when_the_file_is_known_by_a_link() {
    let (folder, sqlite) = on_disk("link").await;
    drop(sqlite);
    let linked = folder.join("linked");
    std::fs::create_dir_all(&linked).unwrap();
    std::os::unix::fs::symlink(folder.join("sabir.db"), linked.join("link.db")).unwrap();
    let sqlite = Sqlite::open(&linked.join("link.db")).unwrap();
    write(&sqlite, Insert(10)).await.unwrap();
    drop(sqlite);
    std::fs::remove_dir_all(&folder).unwrap();
}

struct Count;

impl Work for Count {
    type Output = i64;

    async fn run<S: Session>(&self, session: &mut S) -> Result<i64> {
        session.query("SELECT count(*) FROM a WHERE rowid > 0", &[]).await?.remove(0).take()
    }
}

#[test]
fn a_folder_that_cannot_be_made_is_an_error() {
    let error = Sqlite::open(Path::new("/dev/null/folder/file")).unwrap_err();
    assert!(error.is_outage(), "{error}");
}
