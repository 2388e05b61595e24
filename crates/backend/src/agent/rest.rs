//! Processes that wait for their next call. They cost nothing but themselves: nobody listens to them meanwhile, and one thread sees to
//! it that they do not wait for ever.

use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::process::{Process, Resting};
use super::spawn::{Launch, Spawner};

/// How many processes wait for calls, and how long.
#[derive(Clone, Copy, Debug)]
pub struct Warmth {
    pub processes: usize,
    pub idle: Duration,
}

/// The processes of one agent that wait.
pub(super) struct Pool {
    warmth: Warmth,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: Vec<Waiting>,
    /// How many calls wait for a place.
    wanted: usize,
    /// How many are being started to wait here.
    prepared: usize,
    is_watched: bool,
    is_closed: bool,
}

struct Waiting {
    process: Resting,
    launch: Launch,
    until: Instant,
}

impl Pool {
    pub(super) fn new(warmth: Warmth) -> Arc<Self> {
        Arc::new(Self { warmth, state: Mutex::default(), changed: Condvar::new() })
    }

    /// One that was started in the same way and is still there.
    pub(super) fn take(&self, launch: &Launch) -> Option<Resting> {
        let mut state = guard(&self.state);
        let mut gone = Vec::new();
        let found = loop {
            let like = state.waiting.iter().rposition(|it| it.launch.is_like(launch));
            let Some(like) = like else { break None };
            let mut taken = state.waiting.swap_remove(like).process;
            match taken.is_gone() {
                true => gone.push(taken),
                false => break Some(taken),
            }
        };
        drop(state);
        found
    }

    /// Whether a process is to be started for another call like this one. The oldest that waits for something else gives way to it.
    pub(super) fn wants(&self, launch: &Launch) -> bool {
        let mut state = guard(&self.state);
        let is_full = state.waiting.len() + state.prepared >= self.warmth.processes;
        let is_served = state.waiting.iter().any(|it| it.launch.is_like(launch));
        let gives_way = !is_served && state.prepared == 0 && !state.waiting.is_empty();
        if state.is_closed || state.wanted > 0 || (is_full && !gives_way) {
            return false;
        }
        state.prepared += 1;
        let oldest = is_full.then(|| state.waiting.remove(0));
        drop(state);
        drop(oldest);
        true
    }

    /// What was wanted is here, or could not be started.
    pub(super) fn prepared(self: &Arc<Self>, process: Option<Resting>, launch: Launch) {
        guard(&self.state).prepared -= 1;
        if let Some(process) = process {
            self.put(process, launch);
        }
    }

    /// Lets a process wait, unless somebody waits for its place.
    fn put(self: &Arc<Self>, process: Resting, launch: Launch) {
        let mut state = guard(&self.state);
        let is_full = state.waiting.len() >= self.warmth.processes;
        if is_full || state.wanted > 0 || state.is_closed {
            drop(state);
            drop(process);
            return;
        }
        let until = Instant::now() + self.warmth.idle;
        state.waiting.push(Waiting { process, launch, until });
        if !state.is_watched {
            let pool = Arc::clone(self);
            let watch = thread::Builder::new().name("sabir-agent-rest".to_owned());
            state.is_watched = watch.spawn(move || pool.watch()).is_ok();
        }
        // Without a watch nobody would end it.
        let unwatched = if state.is_watched { None } else { state.waiting.pop() };
        drop(state);
        drop(unwatched);
    }

    /// Somebody needs a place: one that waits gives way, and none begins to wait until the place is there.
    pub(super) fn give_way(&self) -> Wanted<'_> {
        let mut state = guard(&self.state);
        state.wanted += 1;
        let oldest = (!state.waiting.is_empty()).then(|| state.waiting.remove(0));
        drop(state);
        drop(oldest);
        Wanted(self)
    }

    /// Ends all that wait; nobody waits here again.
    pub(super) fn close(&self) {
        let mut state = guard(&self.state);
        state.is_closed = true;
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        drop(waiting);
        self.changed.notify_all();
    }

    fn watch(&self) {
        let mut state = guard(&self.state);
        loop {
            let now = Instant::now();
            let late: Vec<_> = state.waiting.extract_if(.., |it| it.until <= now).collect();
            let Some(next) = state.waiting.iter().map(|it| it.until).min() else {
                state.is_watched = false;
                drop(state);
                drop(late);
                return;
            };
            drop(late);
            let wait = self.changed.wait_timeout(state, next.saturating_duration_since(now));
            state = wait.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// A call that waits for a place.
pub(super) struct Wanted<'p>(&'p Pool);

impl Drop for Wanted<'_> {
    fn drop(&mut self) {
        guard(&self.0.state).wanted -= 1;
    }
}

/// A process for one call, which may rest behind it.
#[derive(Debug)]
pub(super) struct Lent {
    pub(super) process: Process,
    pub(super) bed: Bed,
}

/// Where a process came from, and may rest.
#[derive(Debug)]
pub(super) struct Bed {
    launch: Launch,
    spawner: Arc<Spawner>,
}

impl Bed {
    pub(super) fn new(launch: Launch, spawner: &Arc<Spawner>) -> Self {
        Self { launch, spawner: Arc::clone(spawner) }
    }

    /// The call is over and the process as it was before.
    pub(super) fn rest(self, process: Process) {
        if let Some(resting) = process.rest() {
            self.spawner.pool().put(resting, self.launch);
        }
    }

    /// The call is over and its process knows too much: another begins to wait for the next.
    pub(super) fn replace(self) {
        self.spawner.prepare(self.launch);
    }

    /// The process says which version it is.
    pub(super) fn states_version(&self, version: Option<String>) {
        self.spawner.states_version(version);
    }
}

fn guard<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pool({:?})", self.warmth)
    }
}
