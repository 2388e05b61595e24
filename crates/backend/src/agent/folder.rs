//! A folder of a process's own: where it works, and where everything goes that it leaves on disk. It goes with the process.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::{fs, io, process};

use rustix::process::{Pid, test_kill_process};

/// The folder, readable by its owner alone.
#[derive(Debug)]
pub(super) struct Folder(PathBuf);

impl Folder {
    /// A new folder below `root`.
    pub(super) fn new(root: &Path) -> io::Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        private().recursive(true).create(root)?;
        let path = root.join(format!("{}-{}", process::id(), NUMBER.fetch_add(1, Relaxed)));
        private().create(&path)?;
        let folder = Self(path);
        private().create(folder.work())?;
        private().create(folder.temporary())?;
        Ok(folder)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Where the process works: nothing is there.
    pub(super) fn work(&self) -> PathBuf {
        self.0.join("work")
    }

    /// Where it puts what it needs for a moment.
    pub(super) fn temporary(&self) -> PathBuf {
        self.0.join("tmp")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Writes a file below a folder that nobody else may read.
pub(super) fn write(root: &Path, name: &str, content: &str) -> io::Result<()> {
    let path = root.join(name);
    if let Some(parent) = path.parent() {
        private().recursive(true).create(parent)?;
    }
    fs::write(path, content)
}

/// Does something on disk, where nobody who serves waits for it.
pub(super) async fn on_disk<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(io::Error::other).and_then(|done| done)
}

fn private() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.mode(0o700);
    builder
}

/// Removes what processes left behind whose gateway was killed.
pub(super) fn sweep(root: &Path) {
    let Ok(entries) = fs::read_dir(root) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(|name| name.split('-').next()?.parse().ok());
        let is_alive = owner.and_then(Pid::from_raw).is_none_or(|it| test_kill_process(it).is_ok());
        if !is_alive {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_goes_with_its_owner_and_what_others_left_is_swept() {
        let root = std::env::temp_dir().join(format!("sabir-folder-{}", process::id()));
        let folder = Folder::new(&root).unwrap();
        let left = root.join("2000000000-1");
        fs::create_dir(&left).unwrap();
        fs::write(folder.work().join("note"), "x").unwrap();
        sweep(&root);
        assert!(folder.work().join("note").exists() && !left.exists());
        let path = folder.path().to_owned();
        drop(folder);
        assert!(!path.exists());
        fs::remove_dir_all(root).unwrap();
    }
}
