//! That what an earlier version kept is there after the step to numbers, in both engines.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

use super::{MIGRATIONS, bring_up_to_date};
use crate::engine::{Durability, Engine, Param, Postgres, Session, Sqlite, Work};
use crate::error::Result;
use crate::id::Hash;
use crate::{Clock, ConversationId, Keep, NodeId, Options, Owner, Store, TurnId, Window};

const NOW: i64 = 1_800_000_000_000;

/// A database of schema 5: a conversation of two turns, one of them open, and a message that nothing uses.
struct Old;

fn hash(text: &str) -> Hash {
    Hash::of_bytes(text.as_bytes())
}

impl Work for Old {
    type Output = ();

    async fn run<S: Session>(&self, session: &mut S) -> Result<()> {
        bring_up_to_date(session, &MIGRATIONS[..5]).await?;
        let [first, second, lost] = ["first", "second", "lost"].map(hash);
        let [system, tools] = ["system", "tools"].map(hash);
        let sql = "INSERT INTO message (owner, hash, parent, depth, created_at, record)
            VALUES ('ann', $1, $2, $3, 1, $4)";
        let parent = Param::from(&first);
        for (hash, parent, depth, text) in [
            (&first, Param::Null, 0, "first"),
            (&second, parent, 1, "second"),
            (&lost, parent, 1, "lost"),
        ] {
            let record = Param::Bytes(text.as_bytes());
            session.execute(sql, &[hash.into(), parent, depth.into(), record]).await?;
        }
        let sql = "INSERT INTO setting (owner, hash, record) VALUES ('ann', $1, $2)";
        for (hash, text) in [(&system, "system"), (&tools, "tools")] {
            session.execute(sql, &[hash.into(), Param::Bytes(text.as_bytes())]).await?;
        }
        let sql =
            "INSERT INTO turn (owner, id, previous, base, tip, status, node, protocol, system,
                tools, opened_at, closed_at, used_at, refs, details)
            VALUES ('ann', $1, $2, $3, $4, $5, 'gone', 'p', $6, $7, 1, $8, 1, 1, $9)";
        let closed = ["t1".into(), Param::Null, Param::Null, (&second).into(), "finished".into()];
        let settings = [(&system).into(), (&tools).into(), 1.into(), Param::Bytes(b"details")];
        session.execute(sql, &[&closed[..], &settings].concat()).await?;
        let open = ["t2".into(), "t1".into(), (&second).into(), Param::Null, "opened".into()];
        let nothing = [Param::Null, Param::Null, Param::Null, Param::Bytes(b"")];
        session.execute(sql, &[&open[..], &nothing].concat()).await?;
        let sql = "INSERT INTO conversation (owner, id, tip, last_turn, system, title, search,
                metadata, created_at, updated_at, used_at, turns, protocols, models, followed)
            VALUES ('ann', 'c', $1, 't1', $2, 'Title', 'title', $3, 1, 1, 1, 1, 'p', 'm', 1)";
        let params = [(&second).into(), (&system).into(), Param::Bytes(b"{}")];
        session.execute(sql, &params).await?;
        let sql = "INSERT INTO orphan (owner, kind, hash) VALUES ('ann', 'message', $1)";
        session.execute(sql, &[(&lost).into()]).await.map(|_| ())
    }
}

async fn check(url: &str, folder: &Path) {
    let clock = Arc::new(AtomicI64::new(NOW));
    let options = Options {
        node: NodeId::new("node").unwrap(),
        data_folder: folder.to_owned(),
        clock: Clock::Manual(clock),
        form: None,
    };
    let store = Store::open(url, options).await.unwrap();
    let owner = Owner::key("ann").unwrap();
    let id = ConversationId::new("c").unwrap();
    let kept = store.conversation(&owner, &id).await.unwrap();
    assert_eq!((kept.tip, kept.system), (Some(hash("second")), Some(hash("system"))));
    assert_eq!((kept.title.as_str(), kept.metadata.as_bytes()), ("Title", &b"{}"[..]));
    let followed = store.follow(&owner, vec![hash("first"), hash("second")]).await.unwrap();
    assert_eq!(followed.conversation.map(|it| it.id), Some(id));
    let history = store.history(&owner, hash("second"), Window::default()).await.unwrap();
    let texts: Vec<&[u8]> = history.messages.iter().map(|it| it.record.as_bytes()).collect();
    assert_eq!((texts, history.is_complete()), (vec![&b"first"[..], b"second"], true));
    let [closed, open] = ["t1", "t2"].map(|id| TurnId::new(id).unwrap());
    let turn = store.turn(&owner, &closed).await.unwrap();
    assert_eq!((turn.base, turn.tip), (None, Some(hash("second"))));
    let tools = store.setting(&owner, turn.tools.unwrap()).await.unwrap();
    assert_eq!((tools.as_bytes(), turn.details.as_bytes()), (&b"tools"[..], &b"details"[..]));
    let turns = store.turns(&owner, &open, 9).await.unwrap();
    assert_eq!(turns.iter().map(|turn| turn.base).collect::<Vec<_>>(), [turn.tip, None]);
    // What nothing used goes, and nothing else.
    let mut contents = 0;
    loop {
        let swept = store.sweep(Keep::For(Duration::from_millis(NOW as u64))).await.unwrap();
        contents += swept.contents;
        if !swept.more {
            break;
        }
    }
    assert_eq!(contents, 1);
    assert_eq!(store.known(&owner, vec![hash("first"), hash("second")]).await.unwrap(), 2);
}

#[tokio::test]
async fn an_old_file_is_brought_up_to_date() {
    let folder = std::env::temp_dir().join(format!("sabir-migration-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let old = Sqlite::open(&folder.join("sabir.db")).unwrap();
    Engine::Sqlite(old).write(Durability::Durable, Old).await.unwrap();
    check("sqlite:", &folder).await;
    std::fs::remove_dir_all(&folder).unwrap();
}

#[tokio::test]
async fn an_old_server_is_brought_up_to_date() {
    let Ok(server) = std::env::var("SABIR_TEST_POSTGRES") else {
        return;
    };
    let plain = server.split('?').next().unwrap();
    let (client, connection) = tokio_postgres::connect(plain, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    let schema = "DROP SCHEMA IF EXISTS test_migration CASCADE; CREATE SCHEMA test_migration";
    client.batch_execute(schema).await.unwrap();
    let url = format!("{plain}?options=-csearch_path%3Dtest_migration");
    let old = Engine::Postgres(Postgres::new(&url).unwrap());
    old.write(Durability::Durable, Old).await.unwrap();
    check(&url, &PathBuf::new()).await;
}
