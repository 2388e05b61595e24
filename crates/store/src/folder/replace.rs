//! Replacing a file as a whole: a new one beside it, on disk, then renamed over the old.

use std::fs;
use std::fs::{File, OpenOptions};
use std::io;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use super::{FILE, Replaces, SessionId, Stamp, found, trouble};
use crate::error::{Error, Result};
use crate::limit::RECORD_BYTES_MAX;

/// How long an unfinished file may belong to somebody who still writes it.
const UNFINISHED: Duration = Duration::from_secs(60 * 60);

/// What the name of an unfinished file begins with.
const UNFINISHED_PREFIX: &str = ".transcript-";

pub(super) fn replace(
    sessions: &Path,
    id: &SessionId,
    bytes: &[u8],
    replaces: Replaces,
) -> Result<Stamp> {
    if bytes.len() > RECORD_BYTES_MAX {
        return Err(Error::invalid(format!("a session has more than {RECORD_BYTES_MAX} bytes")));
    }
    let folder = sessions.join(id.as_str());
    refuse_link(&folder)?;
    make(sessions, &folder).map_err(|error| trouble(&error))?;
    let lock = Lock::of(&folder).map_err(|error| trouble(&error))?;
    let file = folder.join(FILE);
    refuse_link(&file)?;
    if let Replaces::Version(expected) = replaces {
        let is = found(fs::metadata(&file))?.map(|metadata| Stamp::of(&metadata));
        if is != expected {
            return Err(Error::conflict("the session's file was changed by somebody else"));
        }
    }
    let stamp = put(&folder, &file, bytes).map_err(|error| trouble(&error))?;
    lock.release();
    Ok(stamp)
}

/// A link in the place of a session's folder or file could lead out of the folder of sessions.
pub(super) fn refuse_link(path: &Path) -> Result<()> {
    match found(fs::symlink_metadata(path))? {
        Some(metadata) if metadata.is_symlink() => {
            let text = "a session has a folder and a file of its own, and this is a link";
            Err(Error::invalid(text).in_file(path))
        }
        _ => Ok(()),
    }
}

/// Makes a folder and tries to write in it.
pub(super) fn make_folder(folder: &Path) -> Result<()> {
    let tried = make(folder, folder).and_then(|()| open_new(&Unfinished::in_folder(folder).0));
    tried.map(|_| ()).map_err(|error| trouble(&error))
}

/// Makes the folder of a session, in one that its owner alone may read.
fn make(sessions: &Path, folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    sync(sessions)
}

/// Writes a file beside the old one and renames it. Whatever ends this half-way, one of both is there, whole.
fn put(folder: &Path, file: &Path, bytes: &[u8]) -> io::Result<Stamp> {
    let unfinished = Unfinished::in_folder(folder);
    let mut new = open_new(&unfinished.0)?;
    new.write_all(bytes)?;
    new.sync_all()?;
    let stamp = Stamp::of(&new.metadata()?);
    fs::rename(&unfinished.0, file)?;
    sync(folder)?;
    Ok(stamp)
}

/// A file that is taken away again unless it was renamed.
struct Unfinished(PathBuf);

impl Unfinished {
    fn in_folder(folder: &Path) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        // Those of writers that died stay behind.
        let _ = remove_left_over(folder, SystemTime::now() - UNFINISHED);
        Self(folder.join(format!("{UNFINISHED_PREFIX}{}-{number}", std::process::id())))
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn open_new(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Removes unfinished files that were last written before a time.
pub(super) fn remove_left_over(folder: &Path, before: SystemTime) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let is_ours = entry.file_name().to_string_lossy().starts_with(UNFINISHED_PREFIX);
        if is_ours && entry.metadata()?.modified()? <= before {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// The folder's entries are on disk when this returns.
pub(super) fn sync_folder(folder: &Path) -> Result<()> {
    sync(folder).map_err(|error| trouble(&error))
}

#[cfg(unix)]
fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync(_: &Path) -> io::Result<()> {
    Ok(())
}

/// One writer of a session at a time, across processes; it ends with its process.
struct Lock(#[cfg(unix)] File);

impl Lock {
    #[cfg(unix)]
    fn of(folder: &Path) -> io::Result<Self> {
        let folder = File::open(folder)?;
        match folder.lock() {
            // Some file systems have no locks: then the version alone is compared.
            Ok(()) => Ok(Self(folder)),
            Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(Self(folder)),
            Err(error) => Err(error),
        }
    }

    #[cfg(not(unix))]
    fn of(_: &Path) -> io::Result<Self> {
        Ok(Self())
    }

    fn release(self) {
        #[cfg(unix)]
        drop(self.0);
    }
}
