//! Sabir's own folder for what agent CLIs need as files: theirs to read, nobody else's.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context, Result};
use sabir_gateway::config::{Platform, data_folder};

/// Where private files of agents are kept.
#[derive(Debug)]
pub(crate) struct Folder(PathBuf);

/// Files of one run's own, which go with it. One that is killed leaves them to the next run.
#[derive(Debug)]
pub(crate) struct RunFiles {
    folder: PathBuf,
    /// Held as long as the run lasts, however it ends.
    _lock: File,
}

/// Where runs have their own files, a folder each.
const RUNS: &str = "handed";
const LOCK: &str = ".lock";

impl Folder {
    /// Below the folder that the user names, else below the user's data folder, else below the system's temporary one.
    pub(crate) fn new(named: Option<PathBuf>) -> Self {
        let users = || data_folder(Platform::HERE, &|name| env::var(name).ok());
        let data = named.or_else(users).unwrap_or_else(|| env::temp_dir().join("sabir"));
        let data = std::path::absolute(&data).unwrap_or(data);
        Self(data.join("agents"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// A place for the files of one run, by a name that no other has.
    pub(crate) fn begin_run(&self, name: &str) -> Result<RunFiles> {
        let (runs, folder) = (self.path(RUNS), self.path(RUNS).join(name));
        let failed = || format!("cannot write {}", folder.display());
        create_private(&folder).with_context(failed)?;
        // Nobody takes away what another is just beginning.
        let _turn = locked(&runs).with_context(failed)?;
        let lock = locked(&folder).with_context(failed)?;
        Ok(RunFiles { folder, _lock: lock })
    }

    /// Takes away the files of runs that were killed.
    pub(crate) fn remove_left_over(&self) {
        let runs = self.path(RUNS);
        let Ok(entries) = fs::read_dir(&runs) else { return };
        let Ok(_turn) = locked(&runs) else { return };
        for folder in entries.flatten().map(|entry| entry.path()) {
            let is_over = |lock: File| lock.try_lock().is_ok();
            if File::open(folder.join(LOCK)).is_ok_and(is_over) {
                let _ = fs::remove_dir_all(&folder);
            }
        }
    }

    /// Writes a file whole or not at all: another run may read it at the same time.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<PathBuf> {
        let file = self.path(name);
        write_private(&file, text)?;
        Ok(file)
    }
}

impl RunFiles {
    pub(super) fn write(&self, name: &str, text: &str) -> Result<PathBuf> {
        let file = self.folder.join(name);
        write_private(&file, text)?;
        Ok(file)
    }
}

impl Drop for RunFiles {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The lock of a folder, waited for. Where there are no locks, nobody waits and nothing is taken away.
fn locked(folder: &Path) -> std::io::Result<File> {
    let lock = open_private(&folder.join(LOCK))?;
    let _ = lock.lock();
    Ok(lock)
}

/// Writes a file that the user alone can read, whole or not at all.
pub(super) fn write_private(file: &Path, text: &str) -> Result<()> {
    let failed = || format!("cannot write {}", file.display());
    file.parent().map_or(Ok(()), create_private).with_context(failed)?;
    let draft = file.with_extension(format!("{}.new", std::process::id()));
    let written = open_private(&draft)
        .and_then(|mut open| open.write_all(text.as_bytes()))
        .and_then(|()| fs::rename(&draft, file));
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written.with_context(failed)
}

fn create_private(folder: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn open_private(file: &Path) -> std::io::Result<File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)
}
