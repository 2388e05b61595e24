//! The thread that brings the write-ahead log into the file. Whoever writes does not wait for the syncs that this takes.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;

use rusqlite::Connection;

use super::{connection, fault};
use crate::error::{Error, Kind, Result};

/// Pages of the log that are worth a checkpoint: what was written several times goes into the file once.
const MANY: i32 = 4_000;
/// So many pages are too many: the writer waits for the other thread, however slow its disk is. Where writes never pause, the log
/// begins anew only if the writer itself brings in what is left.
const TOO_MANY: i32 = 16_000;

/// Has the log of this writer brought in by another thread, for as long as its connection is open.
pub(super) fn start(path: &Path, writer: &mut Connection) -> Result<()> {
    let beside = connection::open_to_checkpoint(path)?;
    let (sender, looks) = mpsc::sync_channel::<()>(1);
    let underway = Arc::new(Mutex::new(()));
    let other = Arc::clone(&underway);
    let serve = move || {
        looks.iter().for_each(|()| {
            let _turn = other.lock().unwrap_or_else(PoisonError::into_inner);
            bring_in(&beside);
        });
    };
    thread::Builder::new()
        .name("store-log".to_owned())
        .spawn(serve)
        .map_err(|_| Error::new(Kind::Unavailable, "no thread for the store's log"))?;
    // What cannot be brought in stays in the log and is tried again after the next commit, which is whole in any case.
    let hook = move |log: &mut rusqlite::hooks::Wal, pages| {
        if pages >= TOO_MANY {
            let _turn = underway.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = log.checkpoint();
        } else if pages >= MANY {
            let _ = sender.try_send(());
        }
        Ok(())
    };
    writer.wal_hook(Some(hook)).map_err(|error| fault::error(&error))
}

/// Brings all of the log into the file, which then is the whole store, and empties the log. Whoever writes waits for the end of
/// that alone.
pub(super) fn settle(path: &Path) -> Result<()> {
    let connection = connection::open_to_checkpoint(path)?;
    bring_in(&connection);
    empty(&connection)
}

/// The same by a connection that is there.
pub(super) fn empty(connection: &Connection) -> Result<()> {
    let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
    let is_busy = connection.query_row(checkpoint, [], |row| row.get::<_, i64>(0));
    match is_busy.map_err(|error| fault::error(&error))? {
        0 => Ok(()),
        _ => {
            Err(Error::new(Kind::Unavailable, "the store's log cannot be emptied while it is read"))
        }
    }
}

fn bring_in(connection: &Connection) {
    let _ = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
}
