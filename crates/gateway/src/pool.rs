//! Work that takes long, on threads of its own: large bodies are unpacked, decoded, repaired and encoded here, while the
//! threads that serve connections go on serving. Threads and waiting work are bounded, and what nobody waits for any more
//! is not begun.

mod sweep;

use std::cell::Cell;
use std::collections::VecDeque;
use std::fmt;
use std::fmt::Write;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sabir_wire::FaultKind;
use tokio::sync::oneshot;

use crate::failure::{Failure, Result, Whose};

/// From this size on a body is worth a thread of its own. Below it a translation takes about as long as what else a
/// connection does in one go; `docs/decisions/0013` has the figures.
pub(crate) const LARGE_BYTES: usize = 256 * 1024;

/// How much work may wait for a thread.
const WAITING_MAX: usize = 1_024;

/// How long there is no work before memory is given back: whoever sends one large body often sends another.
const IDLE: Duration = Duration::from_secs(1);

thread_local! {
    static IS_FOR_LONG_WORK: Cell<bool> = const { Cell::new(false) };
}

/// Holds whoever reads so many bytes to the threads for long work, in builds for tests: on any other they would keep
/// everybody waiting.
pub(crate) fn check_thread(bytes: usize) {
    debug_assert!(
        bytes < LARGE_BYTES || IS_FOR_LONG_WORK.get(),
        "{bytes} bytes are read on the thread of a connection"
    );
}

/// The threads for long work. They start when there is some and end when there is none: what glibc keeps at hand for a
/// thread goes back only with the thread.
#[derive(Debug)]
pub(crate) struct Pool(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    threads_max: usize,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Job>,
    threads: usize,
    /// The most threads at once since memory was given back, and whether somebody waits to do so.
    threads_most: usize,
    is_swept: bool,
    /// How many jobs there ever were, which numbers them.
    jobs: u64,
}

struct Job {
    number: u64,
    run: Box<dyn FnOnce() + Send>,
}

/// Whether somebody still waits for a piece of work.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    is_abandoned: Arc<AtomicBool>,
}

impl Wanted {
    /// Ends work that nobody waits for. Long work asks between its steps.
    pub(crate) fn check(&self) -> Result<()> {
        match self.is_abandoned.load(Relaxed) {
            true => Err(abandoned()),
            false => Ok(()),
        }
    }
}

impl Pool {
    pub(crate) fn new(threads_max: usize) -> Self {
        Self(Arc::new(Shared { state: Mutex::default(), threads_max }))
    }

    /// Runs work on another thread and waits for what comes of it. Whoever stops waiting takes it back: what has not
    /// begun never will, and what has begun learns of it at its next check.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Wanted) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let wanted = Wanted::default();
        let (sender, receiver) = oneshot::channel();
        let run = {
            let wanted = wanted.clone();
            move || {
                let _ = sender.send(work(&wanted));
            }
        };
        let number = self.0.push(Box::new(run))?;
        let _waiting = JobWaiter { shared: &self.0, number, wanted };
        // Without a result the work has ended in a panic.
        receiver.await.unwrap_or_else(|_| Err(abandoned()))
    }

    /// The same for work that takes much memory in small blocks. It has a thread to itself, and `settle` makes what comes of
    /// it anew in other memory: a block that other threads keep, or have at hand for later, would hold all the memory back
    /// that lies before it.
    pub(crate) async fn run_apart<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Wanted) -> Result<T> + Send + 'static,
        settle: fn(T) -> T,
    ) -> Result<T> {
        let work = move |wanted: &Wanted| {
            let apart = || {
                stand_back();
                IS_FOR_LONG_WORK.set(true);
                work(wanted)
            };
            let worked = std::thread::scope(|scope| scope.spawn(apart).join());
            worked.unwrap_or_else(|_| Err(abandoned())).map(settle)
        };
        self.run(work).await
    }

    /// Runs work on the body of so many bytes: here if it is small.
    pub(crate) async fn run_on<T: Send + 'static>(
        &self,
        bytes: usize,
        work: impl FnOnce(&Wanted) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        match bytes >= LARGE_BYTES {
            true => self.run(work).await,
            false => work(&Wanted::default()),
        }
    }

    /// Adds what it has done to the counters, in the Prometheus text form.
    pub(crate) fn render(&self, out: &mut String) {
        let (jobs, waiting) = {
            let state = self.0.state();
            (state.jobs, state.waiting.len())
        };
        let _ = writeln!(
            out,
            "# HELP sabir_large_jobs_total Work on large bodies, begun or waiting.\n\
             # TYPE sabir_large_jobs_total counter\nsabir_large_jobs_total {jobs}\n\
             # HELP sabir_large_jobs_waiting Work on large bodies that waits for a thread.\n\
             # TYPE sabir_large_jobs_waiting gauge\nsabir_large_jobs_waiting {waiting}"
        );
    }
}

impl Shared {
    fn push(self: &Arc<Self>, run: Box<dyn FnOnce() + Send>) -> Result<u64> {
        let mut state = self.state();
        if state.waiting.len() >= WAITING_MAX {
            return Err(full());
        }
        let number = state.jobs;
        state.jobs += 1;
        state.waiting.push_back(Job { number, run });
        if state.threads < self.threads_max {
            state.threads += 1;
            state.threads_most = state.threads_most.max(state.threads);
            drop(state);
            self.start_thread(number)?;
        }
        Ok(number)
    }

    /// Starts a thread. A job that no other thread would take is refused if the system has none left.
    fn start_thread(self: &Arc<Self>, number: u64) -> Result<()> {
        let shared = Arc::clone(self);
        let thread = std::thread::Builder::new().name("sabir-large".to_owned());
        if thread.spawn(move || shared.work()).is_ok() {
            return Ok(());
        }
        let mut state = self.state();
        state.threads -= 1;
        if state.threads > 0 {
            return Ok(());
        }
        drop(state);
        self.withdraw(number);
        Err(full())
    }

    /// Takes one job after the other while there are any.
    fn work(self: &Arc<Self>) {
        stand_back();
        IS_FOR_LONG_WORK.set(true);
        while let Some(job) = self.next() {
            // A panic has been reported; the work of others goes on.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job.run));
        }
    }

    /// The next job. Where there is none the thread is counted out under the same lock, so that no job is left behind.
    fn next(self: &Arc<Self>) -> Option<Job> {
        let mut state = self.state();
        let job = state.waiting.pop_front();
        if job.is_none() {
            state.threads -= 1;
            if state.threads == 0 && !std::mem::replace(&mut state.is_swept, true) {
                drop(state);
                self.start_sweeping();
            }
        }
        job
    }

    /// Starts a thread that gives memory back when there has been no work for a while.
    fn start_sweeping(self: &Arc<Self>) {
        let shared = Arc::clone(self);
        let thread = std::thread::Builder::new().name("sabir-sweep".to_owned());
        if thread.spawn(move || sweep::sweep(shared.wait_until_idle())).is_err() {
            self.state().is_swept = false;
        }
    }

    /// Waits until there has been no work for a while, and says how many threads had some before.
    fn wait_until_idle(&self) -> usize {
        let mut jobs = self.state().jobs;
        loop {
            std::thread::sleep(IDLE);
            let mut state = self.state();
            if state.threads == 0 && state.jobs == jobs {
                state.is_swept = false;
                return std::mem::take(&mut state.threads_most);
            }
            jobs = state.jobs;
        }
    }

    fn withdraw(&self, number: u64) {
        let withdrawn = {
            let mut state = self.state();
            let place = state.waiting.iter().position(|job| job.number == number);
            place.and_then(|place| state.waiting.remove(place))
        };
        // What it holds may be large, and is let go when nobody waits for the lock.
        drop(withdrawn);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Leaves the processor to the threads that serve connections whenever they want it: on two cores, small requests beside
/// four bodies of 20 MB waited twice as long without.
#[cfg(target_os = "linux")]
fn stand_back() {
    // Here a thread has a priority of its own. Without it work is done all the same.
    let _ = rustix::process::nice(NICENESS);
}

/// A tenth of the weight of the other threads, so that large bodies come through on a busy machine too.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 10;

#[cfg(not(target_os = "linux"))]
fn stand_back() {}

/// Somebody who waits for a job.
struct JobWaiter<'p> {
    shared: &'p Shared,
    number: u64,
    wanted: Wanted,
}

impl Drop for JobWaiter<'_> {
    fn drop(&mut self) {
        self.wanted.is_abandoned.store(true, Relaxed);
        self.shared.withdraw(self.number);
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Job({})", self.number)
    }
}

fn full() -> Box<Failure> {
    let message = "this gateway has as many large bodies to translate as it may; try again soon";
    let mut failure = Failure::new(Whose::Gateway, FaultKind::Overloaded, message);
    failure.fault.retry_after_s = Some(1);
    failure
}

fn abandoned() -> Box<Failure> {
    Failure::new(Whose::Gateway, FaultKind::Internal, "the translation was given up")
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::task::{Context, Waker};

    use super::*;

    /// Begins to wait for work without ever coming back to it.
    fn begin<T>(waiting: &mut std::pin::Pin<Box<impl Future<Output = T>>>) {
        assert!(waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }

    #[tokio::test]
    async fn work_is_done_elsewhere_and_handed_back() {
        let pool = Pool::new(2);
        let here = std::thread::current().id();
        let there = pool.run(|_| Ok(std::thread::current().id())).await.unwrap();
        assert_ne!(here, there);
        let small = pool.run_on(LARGE_BYTES - 1, |_| Ok(std::thread::current().id())).await;
        assert_eq!(small.unwrap(), here);
    }

    #[tokio::test]
    async fn work_that_nobody_waits_for_is_not_begun_and_ends_at_its_next_check() {
        let pool = Pool::new(1);
        let (begun, has_begun) = mpsc::channel();
        let (go_on, may_go_on) = mpsc::channel::<()>();
        let (ended, has_ended) = mpsc::channel();
        let mut first = Box::pin(pool.run(move |wanted| {
            begun.send(()).unwrap();
            may_go_on.recv().unwrap();
            ended.send(wanted.check().is_err()).unwrap();
            Ok(())
        }));
        begin(&mut first);
        has_begun.recv().unwrap();
        let (late, is_late) = mpsc::channel();
        let mut second = Box::pin(pool.run(move |_| {
            late.send(()).unwrap();
            Ok(())
        }));
        begin(&mut second);
        drop(second);
        assert!(is_late.try_recv() == Err(mpsc::TryRecvError::Disconnected), "it is gone at once");
        drop(first);
        go_on.send(()).unwrap();
        assert!(has_ended.recv().unwrap(), "running work learns that it is not wanted");
    }

    #[tokio::test]
    async fn more_work_than_may_wait_is_refused() {
        let pool = Pool::new(1);
        let (go_on, may_go_on) = mpsc::channel::<()>();
        let mut running = Box::pin(pool.run(move |_| Ok(may_go_on.recv().is_err())));
        begin(&mut running);
        while !pool.0.state().waiting.is_empty() {
            std::thread::yield_now();
        }
        let mut waiting: Vec<_> =
            (0..WAITING_MAX).map(|_| Box::pin(pool.run(|_| Ok(())))).collect();
        waiting.iter_mut().for_each(begin);
        let refused = pool.run(|_| Ok(())).await.unwrap_err();
        assert_eq!(refused.fault.kind, FaultKind::Overloaded);
        assert_eq!(refused.fault.retry_after_s, Some(1));
        drop(go_on);
        assert!(running.await.unwrap());
    }

    #[tokio::test]
    async fn a_panic_ends_one_job_alone() {
        let pool = Pool::new(1);
        let failed = pool.run(|_| -> Result<()> { panic!("as a translation may") }).await;
        assert_eq!(failed.unwrap_err().fault.kind, FaultKind::Internal);
        assert_eq!(pool.run(|_| Ok(7)).await.unwrap(), 7);
    }
}
