//! What SQLite reports, as errors of the store: what it means, and what to do.

use rusqlite::ErrorCode;

use crate::error::{Error, Kind};

pub(super) fn error(error: &rusqlite::Error) -> Error {
    let Some(code) = error.sqlite_error_code() else {
        return Error::corrupt("the store's file answers in a way that this program does not know");
    };
    let (kind, text) = meaning(code);
    Error::new(kind, text)
}

fn meaning(code: ErrorCode) -> (Kind, &'static str) {
    match code {
        ErrorCode::DiskFull => {
            (Kind::Full, "the disk of the store is full: make room, or lower `keep`")
        }
        ErrorCode::ReadOnly
        | ErrorCode::PermissionDenied
        | ErrorCode::AuthorizationForStatementDenied => (
            Kind::ReadOnly,
            "the store's file cannot be written: check its permissions, its folder's and the file system's",
        ),
        ErrorCode::DatabaseBusy
        | ErrorCode::DatabaseLocked
        | ErrorCode::FileLockingProtocolFailed => (
            Kind::Unavailable,
            "another process keeps the store's file locked: stop it, or give this one a file of its own",
        ),
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::TypeMismatch => (
            Kind::Corrupt,
            "the store's file is damaged or no SQLite database: restore a copy, or move it away",
        ),
        ErrorCode::CannotOpen | ErrorCode::NotFound | ErrorCode::NoLargeFileSupport => (
            Kind::Unavailable,
            "the store's file cannot be opened: check that its folder is there and may be read and written",
        ),
        ErrorCode::ConstraintViolation => {
            (Kind::Conflict, "what this would be added to has changed or gone meanwhile")
        }
        ErrorCode::TooBig => (Kind::Invalid, "a value is larger than SQLite can keep"),
        ErrorCode::OutOfMemory => (Kind::Unavailable, "there is not enough memory for the store"),
        _ => (
            Kind::Unavailable,
            "the store's disk reports an error: check the disk and the system's log",
        ),
    }
}
