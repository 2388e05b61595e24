//! A folder of a process's own: where it works, and where everything goes that it leaves on disk. It goes with the process.

use std::collections::BTreeSet;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{fs, io, process};

use rustix::process::{Pid, test_kill_process};

use super::leader::end_strays;

/// The folder, readable by its owner alone.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// No other folder of this gateway has it.
    number: u64,
}

/// The numbers of the folders that there are.
static LIVING: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());

fn living() -> MutexGuard<'static, BTreeSet<u64>> {
    LIVING.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Folder {
    /// A new folder below `root`.
    pub(super) fn new(root: &Path) -> io::Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        private().recursive(true).create(root)?;
        let number = NUMBER.fetch_add(1, Relaxed);
        let path = root.join(format!("{}-{number}", process::id()));
        living().insert(number);
        let folder = Self { path, number };
        private().create(folder.path())?;
        private().create(folder.work())?;
        private().create(folder.temporary())?;
        Ok(folder)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Where the process works: nothing is there.
    pub(super) fn work(&self) -> PathBuf {
        self.path.join("work")
    }

    /// Where it puts what it needs for a moment.
    pub(super) fn temporary(&self) -> PathBuf {
        temporary(&self.path)
    }
}

fn temporary(folder: &Path) -> PathBuf {
    folder.join("tmp")
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
        living().remove(&self.number);
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

/// Ends what goes on and removes what was left behind by a gateway that was killed. It may have had the number of this one: in a container every gateway has
/// the same.
pub(super) fn sweep(root: &Path) {
    let Ok(entries) = fs::read_dir(root) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if name.to_str().is_some_and(is_left) {
            end_strays(&temporary(&entry.path()));
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether nobody has the folder of that name any more.
fn is_left(name: &str) -> bool {
    let Some((owner, number)) = name.split_once('-') else { return false };
    match owner.parse().ok().and_then(Pid::from_raw) {
        Some(owner) if u32::try_from(owner.as_raw_nonzero().get()) == Ok(process::id()) => {
            number.parse().is_ok_and(|number| !living().contains(&number))
        }
        Some(owner) => test_kill_process(owner).is_err(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::os::unix::process::ExitStatusExt as _;

    use rustix::process::Signal;

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

    #[cfg(target_os = "linux")]
    #[test]
    fn whoever_outlived_a_gateway_that_was_killed_is_ended() {
        let root = std::env::temp_dir().join(format!("sabir-orphans-{}", process::id()));
        let left = root.join("2000000000-2");
        fs::create_dir_all(&left).unwrap();
        let mut waiting = process::Command::new("sh");
        waiting.args(["-c", "echo begun; read never"]).env("TMPDIR", temporary(&left));
        let piped = || process::Stdio::piped();
        let mut orphan = waiting.stdin(piped()).stdout(piped()).spawn().unwrap();
        // Only a program that runs shows its variables.
        let mut begun = [0; 6];
        orphan.stdout.as_mut().unwrap().read_exact(&mut begun).unwrap();
        sweep(&root);
        // Its input ends with the waiting: one that goes on would end by itself, and not by a signal.
        assert_eq!(orphan.wait().unwrap().signal(), Some(Signal::KILL.as_raw()));
        assert!(!left.exists());
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn what_a_gateway_of_the_same_number_left_is_swept() {
        let root = std::env::temp_dir().join(format!("sabir-restarted-{}", process::id()));
        let folder = Folder::new(&root).unwrap();
        let left = root.join(format!("{}-{}", process::id(), u64::MAX));
        fs::create_dir(&left).unwrap();
        fs::write(left.join("prompt"), "x").unwrap();
        let others = ["notes", "1-x", &format!("{}-x", process::id())].map(|it| root.join(it));
        others.iter().for_each(|it| fs::create_dir(it).unwrap());
        sweep(&root);
        assert!(folder.work().exists() && !left.exists());
        assert!(others.iter().all(|it| it.exists()));
        drop(folder);
        fs::remove_dir_all(root).unwrap();
    }
}
