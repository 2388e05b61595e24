//! What PostgreSQL reports, as errors of the store. Only its code is read: its messages may quote values.

use deadpool_postgres::PoolError;
use tokio_postgres::error::SqlState;

use crate::error::{Error, Kind};

pub(super) fn error(error: &tokio_postgres::Error) -> Error {
    let Some(code) = error.code() else {
        return unreachable();
    };
    let (kind, text) = meaning(code);
    Error::new(kind, format!("{text} (SQLSTATE {})", code.code()))
}

/// Whether the transaction met another and may succeed when it is run again.
pub(super) fn is_conflict(error: &tokio_postgres::Error) -> bool {
    const CONFLICTS: &[SqlState] = &[
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::UNIQUE_VIOLATION,
        SqlState::FOREIGN_KEY_VIOLATION,
        // Two nodes that make the tables at once.
        SqlState::DUPLICATE_TABLE,
    ];
    error.code().is_some_and(|code| CONFLICTS.contains(code))
}

/// Whether the connection is gone. The server undid what was not committed.
pub(super) fn is_broken(error: &tokio_postgres::Error) -> bool {
    const SHUTDOWNS: &[SqlState] = &[SqlState::ADMIN_SHUTDOWN, SqlState::CRASH_SHUTDOWN];
    let shuts_down = error.code().is_some_and(|code| SHUTDOWNS.contains(code));
    shuts_down || error.is_closed() || is_cut(error)
}

fn is_cut(error: &tokio_postgres::Error) -> bool {
    let source = std::error::Error::source(error);
    source.is_some_and(|source| source.is::<std::io::Error>())
}

pub(super) fn no_connection(pool: &PoolError) -> Error {
    match pool {
        PoolError::Backend(backend) => error(backend),
        PoolError::Timeout(_) => Error::new(
            Kind::Unavailable,
            "PostgreSQL gives no connection in time: check that it runs and how many it allows",
        ),
        PoolError::Closed | PoolError::NoRuntimeSpecified | PoolError::PostCreateHook(_) => {
            unreachable()
        }
    }
}

fn unreachable() -> Error {
    let text = "PostgreSQL cannot be reached, or broke off: check that it runs, and host, port and TLS in `store.url`";
    Error::new(Kind::Unavailable, text)
}

fn meaning(code: &SqlState) -> (Kind, &'static str) {
    let class = code.code().get(..2).unwrap_or_default();
    match (code.code(), class) {
        ("53100" | "54000", _) => {
            (Kind::Full, "the disk of PostgreSQL is full: make room, or lower `keep`")
        }
        ("25006", _) => (
            Kind::ReadOnly,
            "PostgreSQL takes no writes here: name the primary server in `store.url`",
        ),
        ("42501", _) => (
            Kind::ReadOnly,
            "PostgreSQL does not let this user write: grant it, or name another in `store.url`",
        ),
        ("3D000", _) => {
            (Kind::Unavailable, "PostgreSQL has no such database: make it, or correct `store.url`")
        }
        (_, "28") => {
            (Kind::Unavailable, "PostgreSQL refuses the user or the password of `store.url`")
        }
        (_, "XX") => (Kind::Corrupt, "PostgreSQL reports damaged data: see the server's log"),
        (_, "23" | "40") => {
            (Kind::Conflict, "what this would be added to has changed or gone meanwhile")
        }
        (_, "22") => (Kind::Invalid, "PostgreSQL cannot keep a value that was given"),
        (_, "42") => (
            Kind::Schema,
            "PostgreSQL has other tables than this program: give it a database of its own",
        ),
        _ => (Kind::Unavailable, "PostgreSQL reports trouble: see the server's log"),
    }
}
