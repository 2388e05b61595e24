//! Processes that wait: for their next call, or for the results of the calls that they made. They cost nothing but themselves: nobody
//! listens to them meanwhile, and one thread sees to it that they do not wait for ever.

use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::faults::{Failed, unstarted};
use super::process::{Process, Resting};
use super::spawn::{Launch, Spawner};
use super::suspend::{Left, Returned, Suspended};

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
    /// Those that wait for results, the oldest first.
    suspended: Vec<Asking>,
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

/// A process that waits for results: whose they will be, and what comes with them.
struct Asking {
    waiting: Waiting,
    owner: String,
    suspended: Suspended,
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
            let taken = state.waiting.swap_remove(like).process;
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
        self.watched(state);
    }

    /// Lets a process wait for results, unless somebody waits for its place. There are no more of them than places.
    fn suspend(
        self: &Arc<Self>,
        process: Resting,
        (launch, owner): (Launch, String),
        suspended: Suspended,
    ) {
        let mut state = guard(&self.state);
        if !self.suspends() || state.wanted > 0 || state.is_closed {
            drop(state);
            drop(process);
            return;
        }
        let until = Instant::now() + self.warmth.idle;
        let waiting = Waiting { process, launch, until };
        state.suspended.push(Asking { waiting, owner, suspended });
        self.watched(state);
    }

    /// Whether processes wait for results: where none is to wait for calls, none waits at all.
    pub(super) fn suspends(&self) -> bool {
        self.warmth.processes > 0
    }

    /// The one that waits for exactly these results, of exactly this owner.
    pub(super) fn resume(
        &self,
        launch: &Launch,
        owner: &str,
        returned: &Returned,
    ) -> Option<(Resting, Left)> {
        let mut state = guard(&self.state);
        let found = state.suspended.iter().rposition(|it| {
            it.owner == owner
                && it.waiting.launch.is_like(launch)
                && it.suspended.is_answered_by(returned)
        })?;
        let Asking { waiting, suspended, .. } = state.suspended.remove(found);
        drop(state);
        (!waiting.process.is_gone()).then_some((waiting.process, suspended.left))
    }

    /// Has somebody watch those that wait. Without a watch nobody would end them.
    fn watched(self: &Arc<Self>, mut state: MutexGuard<'_, State>) {
        if !state.is_watched {
            let pool = Arc::clone(self);
            let watch = thread::Builder::new().name("sabir-agent-rest".to_owned());
            state.is_watched = watch.spawn(move || pool.watch()).is_ok();
        }
        let unwatched = (!state.is_watched).then(|| state.take_all());
        drop(state);
        drop(unwatched);
    }

    /// Somebody needs a place: one that waits gives way, and none begins to wait until the place is there.
    pub(super) fn give_way(&self) -> Wanted<'_> {
        let mut state = guard(&self.state);
        state.wanted += 1;
        // One that is gone has no place any more.
        let gone = state.take_those(|it| it.process.is_gone());
        let oldest = state.take_oldest();
        drop(state);
        drop((gone, oldest));
        Wanted(self)
    }

    /// Ends all that wait; nobody waits here again.
    pub(super) fn close(&self) {
        let mut state = guard(&self.state);
        state.is_closed = true;
        let waiting = state.take_all();
        drop(state);
        drop(waiting);
        self.changed.notify_all();
    }

    fn watch(&self) {
        let mut state = guard(&self.state);
        loop {
            let now = Instant::now();
            let late = state.take_those(|it| it.until <= now);
            let Some(next) = state.next_end() else {
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

impl State {
    /// The one that can best be spared: what is started ahead comes back soon, what was told does not.
    fn take_oldest(&mut self) -> Option<Waiting> {
        match (self.waiting.is_empty(), self.suspended.is_empty()) {
            (false, _) => Some(self.waiting.remove(0)),
            (true, false) => Some(self.suspended.remove(0).waiting),
            (true, true) => None,
        }
    }

    fn take_those(&mut self, fits: impl Fn(&Waiting) -> bool) -> Vec<Waiting> {
        let asking = self.suspended.extract_if(.., |it| fits(&it.waiting));
        let mut taken: Vec<_> = asking.map(|it| it.waiting).collect();
        taken.extend(self.waiting.extract_if(.., |it| fits(it)));
        taken
    }

    fn take_all(&mut self) -> Vec<Waiting> {
        let asking = self.suspended.drain(..).map(|it| it.waiting);
        asking.chain(self.waiting.drain(..)).collect()
    }

    /// When the next of them has waited long enough.
    fn next_end(&self) -> Option<Instant> {
        let asking = self.suspended.iter().map(|it| &it.waiting);
        self.waiting.iter().chain(asking).map(|it| it.until).min()
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
    /// What it goes on with, if it waited for the results that the call has.
    pub(super) left: Option<Left>,
}

/// Where a process came from, and may rest.
#[derive(Debug)]
pub(super) struct Bed {
    launch: Launch,
    spawner: Arc<Spawner>,
    /// Whose call it is.
    owner: String,
}

impl Bed {
    pub(super) fn new(launch: Launch, spawner: &Arc<Spawner>, owner: String) -> Self {
        Self { launch, spawner: Arc::clone(spawner), owner }
    }

    /// Whether a process may wait for results.
    pub(super) fn suspends(&self) -> bool {
        self.spawner.pool().suspends()
    }

    /// The process waits for the results of its calls.
    pub(super) fn suspend(&self, process: Process, suspended: Suspended) {
        if let Some(resting) = process.rest() {
            let from = (self.launch.clone(), self.owner.clone());
            self.spawner.pool().suspend(resting, from, suspended);
        }
    }

    /// Another process for the same call, which knows nothing.
    pub(super) async fn another(&self) -> Result<Process, Failed> {
        tracing::debug!(program = self.spawner.name(), "the conversation is told anew");
        let process = self.spawner.take(&self.launch).await;
        process.map_err(|error| unstarted(self.spawner.name(), &error))
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
