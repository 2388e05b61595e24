//! The process that leads a group, and the thread that waits for it. A program may be a launcher that leaves its child behind when it
//! dies: whoever ends it ends the group.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process_group, test_kill_process_group, waitid,
};
#[cfg(target_os = "linux")]
use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};

/// How long a process has to put its files in order once it was told to end: it may be refreshing its login.
const GRACE: Duration = Duration::from_millis(700);

/// How long those may take to die who were killed: on a busy machine the system does not get to them at once.
const DYING_MAX: Duration = Duration::from_secs(5);

/// How many groups there are in this process.
static LIVING: (Mutex<usize>, Condvar) = (Mutex::new(0), Condvar::new());

/// Waits until no agent runs any more, for so long.
pub fn settle(patience: Duration) {
    let living = guard(&LIVING.0);
    let wait = LIVING.1.wait_timeout_while(living, patience, |living| *living > 0);
    drop(wait.unwrap_or_else(PoisonError::into_inner));
}

/// A group of processes, as long as its leader's number is its own.
#[derive(Debug)]
pub(super) struct Leader {
    group: Mutex<Option<Pid>>,
    gone: Condvar,
}

impl Leader {
    pub(super) fn of(child: &Child) -> Arc<Self> {
        *guard(&LIVING.0) += 1;
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        Arc::new(Self { group: Mutex::new(group), gone: Condvar::new() })
    }

    /// Asks the group to end, and insists after a while.
    pub(super) fn end(self: &Arc<Self>) {
        if !self.signal(Signal::TERM) {
            return;
        }
        let leader = Arc::clone(self);
        let insist = move || leader.insist();
        if thread::Builder::new().name("sabir-agent-end".to_owned()).spawn(insist).is_err() {
            self.signal(Signal::KILL);
        }
    }

    /// Whether its leader has ended.
    pub(super) fn is_gone(&self) -> bool {
        guard(&self.group).is_none()
    }

    fn insist(&self) {
        let group = guard(&self.group);
        let wait = self.gone.wait_timeout_while(group, GRACE, |group| group.is_some());
        let (group, _) = wait.unwrap_or_else(PoisonError::into_inner);
        if let Some(group) = *group {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    /// Whether there was anybody to hear it.
    fn signal(&self, signal: Signal) -> bool {
        match *guard(&self.group) {
            Some(group) => kill_process_group(group, signal).is_ok(),
            None => false,
        }
    }

    /// Waits for the end of the leader, and ends whatever it left behind. Its exit code, if it had one.
    pub(super) fn wait(&self, mut child: Child) -> Option<i32> {
        let leader = *guard(&self.group);
        // Its number stays taken until the rest of its group is gone: nobody else is meant by it.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        if let Some(leader) = leader {
            while matches!(waitid(WaitId::Pid(leader), options), Err(Errno::INTR)) {}
        }
        let mut group = guard(&self.group);
        if let Some(group) = *group {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let status = child.wait();
        *group = None;
        drop(group);
        self.gone.notify_all();
        leader.into_iter().for_each(outlast);
        status.ok().and_then(|status| status.code())
    }

    /// The group and all that was its own are gone.
    pub(super) fn bury(self: Arc<Self>) {
        drop(self);
        let mut living = guard(&LIVING.0);
        *living = living.saturating_sub(1);
        LIVING.1.notify_all();
    }
}

fn guard<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until nobody is left of a group that was killed: whoever is killed goes on until the system gets to it, and may write into a folder
/// that is being deleted.
fn outlast(group: Pid) {
    let until = Instant::now() + DYING_MAX;
    while test_kill_process_group(group).is_ok() && is_alive(group) && Instant::now() < until {
        thread::sleep(Duration::from_millis(1));
    }
}

/// Whether anybody of a group does more than wait for somebody to take note of its end, as far as the system says.
fn is_alive(group: Pid) -> bool {
    let group = group.as_raw_nonzero().to_string();
    let is_alive = |path: PathBuf| {
        let stat = fs::read_to_string(path.join("stat")).ok()?;
        // Behind the name, which stands in brackets, are the state, the parent and the group.
        let mut behind = stat.rsplit_once(')')?.1.split_whitespace();
        let (state, of) = (behind.next()?, behind.nth(1)?);
        Some(of == group && !matches!(state, "Z" | "X"))
    };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.filter_map(|entry| is_alive(entry.path())).any(|it| it)
}

/// Ends whoever left the group of a process that is gone: all that it started has its folder for temporary files among the variables.
pub(super) fn end_strays(temporary: &Path) {
    let mark = [b"TMPDIR=", temporary.as_os_str().as_bytes()].concat();
    let until = Instant::now() + DYING_MAX;
    // Whoever is killed may have started another meanwhile.
    while kill_marked(&mark) > 0 && Instant::now() < until {
        thread::sleep(Duration::from_millis(1));
    }
}

/// Kills all that have a variable: how many there were.
#[cfg(target_os = "linux")]
fn kill_marked(mark: &[u8]) -> usize {
    let is_marked = |path: &Path| {
        let variables = fs::read(path.join("environ")).unwrap_or_default();
        variables.split(|byte| *byte == 0).any(|variable| variable == mark)
    };
    let kill = |path: PathBuf| {
        let process = path.file_name()?.to_str()?.parse().ok().and_then(Pid::from_raw)?;
        let process = is_marked(&path).then(|| pidfd_open(process, PidfdFlags::empty()).ok())??;
        // Its number may have become another's before it was held.
        is_marked(&path).then(|| pidfd_send_signal(process, Signal::KILL).ok())?
    };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.filter_map(|entry| kill(entry.path())).count()
}

/// Elsewhere nobody says which variables a process has.
#[cfg(not(target_os = "linux"))]
fn kill_marked(_mark: &[u8]) -> usize {
    0
}

/// Starts the thread that owns a process from its beginning to its end.
pub(super) fn in_own_thread(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name("sabir-agent".to_owned()).spawn(work).map(drop)
}
