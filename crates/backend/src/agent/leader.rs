//! The process that leads a group, and the thread that waits for it. A program may be a launcher that leaves its child behind when it
//! dies: whoever ends it ends the group.

use std::process::Child;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{io, thread};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// How long a process has to put its files in order once it was told to end: it may be refreshing its login.
const GRACE: Duration = Duration::from_millis(700);

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
        self.gone.notify_all();
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

/// Starts the thread that owns a process from its beginning to its end.
pub(super) fn in_own_thread(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name("sabir-agent".to_owned()).spawn(work).map(drop)
}
