//! Connections to a file or to memory, with the settings that the store's promises stand on.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::fault;
use crate::error::{Error, Kind, Result};

/// How long another process that writes the same file is waited for.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Statements that a connection keeps prepared; there are fewer in this crate.
const STATEMENTS: usize = 128;

/// Foreign keys are for servers, where transactions run beside each other. Here one follows the other, and each looks for what it
/// points to; nothing is gained by looking again.
const UNCHECKED: &str = "PRAGMA foreign_keys = OFF;";

pub(super) fn in_memory() -> Result<Connection> {
    let connection = Connection::open_in_memory().map_err(|error| fault::error(&error))?;
    apply(&connection, UNCHECKED)?;
    keep_statements(&connection)?;
    Ok(connection)
}

/// Opens the file for the one writer, and makes it where there is none: readable by nobody else.
pub(super) fn open_to_write(path: &Path) -> Result<Connection> {
    create(path).map_err(|error| cannot_create(path, &error))?;
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    // The vacuum's mode can only be chosen before the first table is there. What is deleted is written over.
    let settings = "PRAGMA auto_vacuum = INCREMENTAL;
        PRAGMA journal_mode = WAL;
        PRAGMA synchronous = NORMAL;
        PRAGMA secure_delete = ON;
        PRAGMA journal_size_limit = 16777216;
        PRAGMA cache_size = -4096;";
    apply(&connection, settings)?;
    apply(&connection, UNCHECKED)?;
    Ok(connection)
}

pub(super) fn open_to_read(path: &Path) -> Result<Connection> {
    // Opened for writing, since a reader of a write-ahead log keeps marks in its index; queries cannot write.
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    apply(&connection, "PRAGMA query_only = ON; PRAGMA cache_size = -1024;")?;
    Ok(connection)
}

/// Opens a file that cannot be written. Without a log the file is the whole store, and nobody who could write it is near; with
/// one, the index beside it is needed.
pub(super) fn open_unwritable(path: &Path) -> Result<Connection> {
    if !path.exists() {
        return Err(Error::not_found("store"));
    }
    let usual = open(path, OpenFlags::SQLITE_OPEN_READ_ONLY).and_then(readable);
    match usual {
        Err(_) if has_log(path) => Err(Error::new(Kind::ReadOnly, UNSETTLED)),
        Err(_) => open(&unchanging(path), READ_ONLY_URI).and_then(readable),
        usual => usual,
    }
}

const UNSETTLED: &str = "the store was not closed, and its log cannot be read in a folder that cannot be written: copy the folder to \
                         a place that can be";

const READ_ONLY_URI: OpenFlags = OpenFlags::SQLITE_OPEN_READ_ONLY.union(OpenFlags::SQLITE_OPEN_URI);

/// A connection that has read something.
fn readable(connection: Connection) -> Result<Connection> {
    let read = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()));
    read.map_err(|error| fault::error(&error))?;
    apply(&connection, "PRAGMA query_only = ON; PRAGMA cache_size = -1024;")?;
    Ok(connection)
}

/// Whether what was written last is not in the file yet.
fn has_log(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    std::fs::metadata(log).is_ok_and(|log| log.len() > 0)
}

/// The file as one that nobody changes, for SQLite, which then wants nothing beside it.
fn unchanging(path: &Path) -> PathBuf {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/_-.~".contains(byte);
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match is_plain(byte) {
            true => uri.push(char::from(*byte)),
            false => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    PathBuf::from(format!("{uri}?immutable=1"))
}

/// Opens the file for whoever brings the log into it, who reads nothing else.
pub(super) fn open_to_checkpoint(path: &Path) -> Result<Connection> {
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    apply(&connection, "PRAGMA cache_size = 0;")?;
    Ok(connection)
}

fn open(path: &Path, access: OpenFlags) -> Result<Connection> {
    let connection = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)
        .map_err(|error| fault::error(&error))?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(|error| fault::error(&error))?;
    keep_statements(&connection)?;
    Ok(connection)
}

/// Every statement is prepared once. Left to itself, SQLite prepares some anew whenever they are given other values, since a
/// plan might be better for these: that takes longer than to run them.
fn keep_statements(connection: &Connection) -> Result<()> {
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    let stable = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true);
    stable.map(|_| ()).map_err(|error| fault::error(&error))
}

fn apply(connection: &Connection, pragmas: &str) -> Result<()> {
    connection.execute_batch(pragmas).map_err(|error| fault::error(&error))
}

fn create(path: &Path) -> io::Result<()> {
    if path.exists() {
        return Ok(());
    }
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        private_folders().create(folder)?;
    }
    match private().write(true).create_new(true).open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        // SQLite gives the files beside it the permissions of this one.
        _ => Ok(()),
    }
}

/// For folders that are missing: what is in them is nobody else's to read either.
fn private_folders() -> DirBuilder {
    let mut folders = DirBuilder::new();
    folders.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folders, 0o700);
    folders
}

#[cfg(unix)]
fn private() -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

#[cfg(not(unix))]
fn private() -> OpenOptions {
    OpenOptions::new()
}

fn cannot_create(path: &Path, error: &io::Error) -> Error {
    let kind = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Kind::Full,
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => Kind::ReadOnly,
        _ => Kind::Unavailable,
    };
    let text = format!("the store's file {} cannot be made: {}", path.display(), error.kind());
    Error::new(kind, text)
}
