//! A folder of sessions: `sessions/{id}/transcript.json`, each replaced as a whole. What a file says is its reader's matter.

mod replace;
mod session_id;

use std::fs;
use std::fs::Metadata;
use std::io;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::clock::Time;
use crate::error::{Error, Kind, Result};
use crate::limit::RECORD_BYTES_MAX;

pub use session_id::SessionId;

const SESSIONS: &str = "sessions";
const FILE: &str = "transcript.json";

/// How many threads look at the sessions of a list, and how many sessions one looks at alone.
const LISTERS_MAX: usize = 4;
const LISTED_ALONE: usize = 1000;

/// A folder of sessions. Its calls wait for the disk.
#[derive(Clone, Debug)]
pub struct Folder {
    sessions: PathBuf,
}

/// What a session's file holds, and by what it is known again.
#[derive(Clone, PartialEq, Eq)]
pub struct SessionFile {
    pub bytes: Vec<u8>,
    pub stamp: Stamp,
}

/// A version of a file: whoever writes it, the next one has another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stamp {
    inode: u64,
    bytes: u64,
    modified_ns: i128,
}

/// What a save expects to replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaces {
    Anything,
    /// This version, or no file at all. Another one is a conflict, and stays.
    Version(Option<Stamp>),
}

/// A session in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub id: SessionId,
    pub modified_at: Time,
    pub stamp: Stamp,
}

impl Folder {
    /// The folder at that path, which need not be there: the first save makes it.
    pub fn new(path: impl AsRef<Path>) -> Self {
        Self { sessions: path.as_ref().join(SESSIONS) }
    }

    /// Makes the folder and looks whether it can be written.
    pub(crate) fn check(&self) -> Result<()> {
        replace::make_folder(&self.sessions)
    }

    /// Where a session is kept.
    pub fn path(&self, id: &SessionId) -> PathBuf {
        self.sessions.join(id.as_str()).join(FILE)
    }

    /// What a session's file holds; none if there is no such session.
    pub fn read(&self, id: &SessionId) -> Result<Option<SessionFile>> {
        let path = self.path(id);
        // A file that is replaced while it is read is read again.
        loop {
            let Some(stamp) = self.stamp(id)? else { return Ok(None) };
            if stamp.bytes > RECORD_BYTES_MAX as u64 {
                let text = format!("the session's file has more than {RECORD_BYTES_MAX} bytes");
                return Err(Error::invalid(text).in_file(&path));
            }
            let bytes = found(fs::read(&path)).map_err(|error| error.in_file(&path))?;
            let Some(bytes) = bytes else { return Ok(None) };
            if self.stamp(id)? == Some(stamp) {
                return Ok(Some(SessionFile { bytes, stamp }));
            }
        }
    }

    /// The version of a session's file.
    pub fn stamp(&self, id: &SessionId) -> Result<Option<Stamp>> {
        replace::refuse_link(&self.sessions.join(id.as_str()))?;
        let path = self.path(id);
        let metadata = found(fs::symlink_metadata(&path)).map_err(|error| error.in_file(&path))?;
        // Whoever opened a pipe would wait for its other end, and a link may lead out of the folder.
        if metadata.as_ref().is_some_and(|metadata| !metadata.is_file()) {
            return Err(Error::invalid("a session is a file, and this is none").in_file(&path));
        }
        Ok(metadata.map(|metadata| Stamp::of(&metadata)))
    }

    /// Replaces a session's file. When this returns it is on disk; if it is interrupted, the old file is whole.
    pub fn write(&self, id: &SessionId, bytes: &[u8], replaces: Replaces) -> Result<Stamp> {
        replace::replace(&self.sessions, id, bytes, replaces)
    }

    /// Takes a session away; whether there was one.
    pub fn delete(&self, id: &SessionId) -> Result<bool> {
        let folder = self.sessions.join(id.as_str());
        if self.stamp(id)?.is_none() {
            return Ok(false);
        }
        // The file first: a folder without one is no session.
        found(fs::remove_file(folder.join(FILE)))?;
        replace::sync_folder(&folder)?;
        // What else people put there is theirs.
        let _ = replace::remove_left_over(&folder, SystemTime::now());
        let _ = fs::remove_dir(&folder);
        Ok(true)
    }

    /// All sessions, the newest first. No file is opened, and each is looked at once.
    pub fn list(&self) -> Result<Vec<Listed>> {
        let Some(folders) = found(fs::read_dir(&self.sessions))? else { return Ok(Vec::new()) };
        let mut ids = Vec::new();
        for folder in folders {
            let folder = folder.map_err(|error| trouble(&error))?;
            let is_folder = folder.file_type().is_ok_and(|kind| kind.is_dir());
            let id = folder.file_name().to_str().map(SessionId::new);
            ids.extend(id.and_then(Result::ok).filter(|_| is_folder));
        }
        let mut sessions = self.look_at_all(&ids);
        sessions.sort_unstable_by(|one, other| {
            let newest = other.stamp.modified_ns.cmp(&one.stamp.modified_ns);
            newest.then_with(|| one.id.cmp(&other.id))
        });
        Ok(sessions)
    }

    /// Looks at sessions on several threads where there are many: a list takes hardly any other time.
    fn look_at_all(&self, ids: &[SessionId]) -> Vec<Listed> {
        let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
        let share = ids.len().div_ceil(threads.min(LISTERS_MAX)).max(LISTED_ALONE);
        let look = |ids: &[SessionId]| ids.iter().filter_map(|id| self.look_at(id)).collect();
        let (own, others) = ids.split_at(share.min(ids.len()));
        std::thread::scope(|scope| {
            let others: Vec<_> =
                others.chunks(share).map(|ids| scope.spawn(move || look(ids))).collect();
            let mut sessions: Vec<Listed> = look(own);
            sessions.extend(others.into_iter().flat_map(|it| it.join().unwrap_or_default()));
            sessions
        })
    }

    /// One that cannot be looked at does not hide the others.
    fn look_at(&self, id: &SessionId) -> Option<Listed> {
        let stamp = Stamp::of(&fs::symlink_metadata(self.path(id)).ok()?);
        let modified_at = Time(i64::try_from(stamp.modified_ns / 1_000_000).unwrap_or(0));
        Some(Listed { id: id.clone(), modified_at, stamp })
    }
}

impl Stamp {
    /// When the file was written, in nanoseconds since 1970.
    pub(crate) fn nanoseconds(&self) -> i64 {
        i64::try_from(self.modified_ns).unwrap_or(i64::MAX)
    }

    fn of(metadata: &Metadata) -> Self {
        let modified = metadata.modified().ok();
        let since = modified.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        Self {
            inode: inode(metadata),
            bytes: metadata.len(),
            modified_ns: since.map_or(0, |since| since.as_nanos().cast_signed()),
        }
    }
}

#[cfg(unix)]
fn inode(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn inode(_: &Metadata) -> u64 {
    0
}

/// What is not there is no error. A folder's place may be taken by a file, which is no session either.
fn found<T>(result: io::Result<T>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            Ok(None)
        }
        Err(error) => Err(trouble(&error)),
    }
}

/// What the system says of a file, without its path: that may hold an id.
fn trouble(error: &io::Error) -> Error {
    let kind = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Kind::Full,
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => Kind::ReadOnly,
        _ => Kind::Unavailable,
    };
    Error::new(kind, format!("the folder of sessions cannot be used: {error}"))
}

impl std::fmt::Debug for SessionFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SessionFile({} bytes)", self.bytes.len())
    }
}
