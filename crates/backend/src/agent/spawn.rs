//! The one place that starts a process: no shell, nothing of the environment that was not named, a group of its own, and a thread
//! that owns it to its end.

use std::fmt;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Once};
use std::time::Duration;

use tokio::sync::{OnceCell, OwnedSemaphorePermit, Semaphore, oneshot};

use super::folder;
use super::folder::Folder;
use super::leader::{Leader, end_strays, in_own_thread};
use super::process::{Process, Resting};
use super::rest::{Bed, Lent, Pool, Warmth};
use super::suspend::Returned;
use super::task::Workplace;
use super::version::{Version, numbers, stated as stated_version};
use crate::Secret;

/// A program and what all its processes have in common.
pub struct Program {
    /// The program and its first arguments; never empty.
    pub command: Vec<String>,
    /// The whole environment, but for what the agent itself needs.
    pub environment: Vec<(String, Secret)>,
    /// The folder of another login than the user's own.
    pub login: Option<PathBuf>,
    /// Where each process has a folder of its own.
    pub folders: PathBuf,
    /// How many processes there may be at once.
    pub processes_max: usize,
    /// Where it works with its own tools, if it does.
    pub workplace: Option<Workplace>,
}

/// How one process of a program is started.
#[derive(Clone, Debug, Default)]
pub(super) struct Launch {
    pub(super) arguments: Vec<String>,
    pub(super) variables: Vec<(&'static str, String)>,
    /// What is written below its folder before it starts, by its path there.
    pub(super) files: Vec<(&'static str, String)>,
    pub(super) furnish: Option<Furnish>,
    /// Where it works; in its own empty folder without one.
    pub(super) workplace: Option<PathBuf>,
    /// The folder of what outlives it; its own, which goes with it, without one.
    pub(super) kept: Option<PathBuf>,
}

/// Puts what is the user's into the folder of a process, and names variables that lead there.
pub(super) type Furnish = fn(&Path, &Program) -> io::Result<Vec<(&'static str, String)>>;

impl Launch {
    /// Whether a process that was started in this way does for the other.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let Self { arguments, variables, files, furnish: _, workplace, kept } = self;
        (arguments, variables, files) == (&other.arguments, &other.variables, &other.files)
            && (workplace, kept) == (&other.workplace, &other.kept)
    }
}

impl Program {
    /// A variable of its environment.
    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        let found = self.environment.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.expose())
    }
}

/// How long a program may take to say which version it is.
const VERSION_PATIENCE: Duration = Duration::from_secs(10);

/// Starts processes of one program.
pub(super) struct Spawner {
    program: Arc<Program>,
    places: Arc<Semaphore>,
    pool: Arc<Pool>,
    swept: Once,
    version: Version,
    /// What the program said when it was asked for its version.
    asked_version: OnceCell<Option<String>>,
}

/// A process that has begun, on its way from its thread.
struct Begun {
    pipes: (ChildStdin, ChildStdout, ChildStderr),
    leader: Arc<Leader>,
    folder: PathBuf,
}

impl Begun {
    fn resting(self, exit: oneshot::Receiver<Option<i32>>) -> Resting {
        Resting::new(self.pipes, self.leader, (exit, self.folder))
    }
}

impl Spawner {
    pub(super) fn new(program: Program, warmth: Warmth) -> Self {
        let places = Arc::new(Semaphore::new(program.processes_max.max(1)));
        let version = Version::default();
        Self {
            program: Arc::new(program),
            places,
            pool: Pool::new(warmth),
            swept: Once::new(),
            version,
            asked_version: OnceCell::new(),
        }
    }

    /// The name of the program, for people.
    pub(super) fn name(&self) -> &str {
        self.program.command.first().map_or("", String::as_str)
    }

    pub(super) fn program(&self) -> &Program {
        &self.program
    }

    pub(super) fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }

    /// A process says which version it is.
    pub(super) fn states_version(&self, version: Option<String>) {
        self.version.note(self.name(), version);
    }

    /// The version that a process stated last.
    pub(super) fn version(&self) -> Option<String> {
        self.version.known()
    }

    /// Whether the program says that it is this version or a newer one. It is asked once, but for one that does not start: it may be
    /// there the next time.
    pub(super) async fn is_since(&self, version: [u32; 3]) -> bool {
        let ask = || stated_version(self, VERSION_PATIENCE);
        let stated = self.asked_version.get_or_try_init(ask).await.ok();
        stated.and_then(Option::as_deref).is_some_and(|stated| numbers(stated) >= version)
    }

    /// All places at once, when no process is left.
    #[cfg(test)]
    pub(super) async fn all_places(&self) -> OwnedSemaphorePermit {
        let places = u32::try_from(self.program.processes_max).expect("there are few");
        Arc::clone(&self.places).acquire_many_owned(places).await.expect("it is never closed")
    }

    /// Ends all that wait.
    pub(super) fn close(&self) {
        self.pool.close();
    }

    /// Has a process wait for the next call like this one, if there is a place that nobody needs.
    pub(super) fn prepare(&self, launch: Launch) {
        if !self.pool.wants(&launch) {
            return;
        }
        let (program, pool) = (Arc::clone(&self.program), Arc::clone(&self.pool));
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
            pool.prepared(None, launch);
            return;
        };
        let (ended, exit) = oneshot::channel();
        let (waiting, own_pool) = (launch.clone(), Arc::clone(&pool));
        let work = move || {
            let receive = |begun: io::Result<Begun>| {
                let process = begun.ok().map(|begun| begun.resting(exit));
                own_pool.prepared(process, waiting);
                true
            };
            own(&program, launch, place, (receive, ended));
        };
        if in_own_thread(work).is_err() {
            pool.prepared(None, Launch::default());
        }
    }

    /// A process for somebody's call: the one that waits for the results that it has, one that waits, or a new one.
    pub(super) async fn lend(
        self: &Arc<Self>,
        launch: Launch,
        (owner, returned): (&str, Option<&Returned>),
    ) -> io::Result<Lent> {
        let resumed = returned.and_then(|it| self.pool.resume(&launch, owner, it));
        let resumed = resumed.and_then(|(process, left)| Some((process.wake().ok()?, left)));
        let (process, left) = match resumed {
            Some((process, left)) => {
                tracing::debug!(program = self.name(), "results go to the process that waits");
                (process, Some(left))
            }
            None => (self.take(&launch).await?, None),
        };
        Ok(Lent { process, bed: Bed::new(launch, self, owner.to_owned()), left })
    }

    /// A process that knows nothing: one that waits, or a new one.
    pub(super) async fn take(&self, launch: &Launch) -> io::Result<Process> {
        match self.pool.take(launch).map(Resting::wake) {
            Some(Ok(process)) => Ok(process),
            Some(Err(_)) | None => self.spawn(launch.clone()).await,
        }
    }

    /// Starts a process as soon as there is a place for one.
    pub(super) async fn spawn(&self, launch: Launch) -> io::Result<Process> {
        let place = self.place().await?;
        self.swept.call_once(|| self.sweep());
        let program = Arc::clone(&self.program);
        let (begun, receiver) = oneshot::channel();
        let (ended, exit) = oneshot::channel();
        let receive = |it| begun.send(it).is_ok();
        in_own_thread(move || own(&program, launch, place, (receive, ended)))?;
        receiver.await.map_err(io::Error::other)??.resting(exit).wake()
    }

    fn sweep(&self) {
        folder::sweep(&self.program.folders);
        if let Some(workplace) = &self.program.workplace {
            workplace.sweep();
        }
    }

    /// A place for a process. One that only waits gives way.
    async fn place(&self) -> io::Result<OwnedSemaphorePermit> {
        if let Ok(place) = Arc::clone(&self.places).try_acquire_owned() {
            return Ok(place);
        }
        let _wanted = self.pool.give_way();
        Arc::clone(&self.places).acquire_owned().await.map_err(io::Error::other)
    }
}

/// The life of a process: begun, waited for, and all that was its own released.
fn own(
    program: &Program,
    launch: Launch,
    place: OwnedSemaphorePermit,
    (receive, ended): (impl FnOnce(io::Result<Begun>) -> bool, oneshot::Sender<Option<i32>>),
) {
    let (mut child, folder) = match start(program, launch) {
        Ok(started) => started,
        Err(error) => {
            drop(place);
            receive(Err(error));
            return;
        }
    };
    let leader = Leader::of(&child);
    let pipes = child.stdin.take().zip(child.stdout.take()).zip(child.stderr.take());
    let pipes = pipes.map(|((input, output), complaints)| (input, output, complaints));
    let is_wanted = match pipes {
        Some(pipes) => {
            let (leader, folder) = (Arc::clone(&leader), folder.path().to_owned());
            receive(Ok(Begun { pipes, leader, folder }))
        }
        None => false,
    };
    if !is_wanted {
        leader.end();
    }
    let code = leader.wait(child);
    end_strays(&folder.temporary());
    drop(folder);
    drop(place);
    leader.bury();
    let _ = ended.send(code);
}

fn start(program: &Program, launch: Launch) -> io::Result<(Child, Folder)> {
    let folder = Folder::new(&program.folders)?;
    let Launch { arguments, mut variables, files, furnish, workplace, kept } = launch;
    let root = kept.as_deref().unwrap_or(folder.path());
    for (name, content) in files {
        folder::write(root, name, &content)?;
    }
    if let Some(furnish) = furnish {
        variables.extend(furnish(root, program)?);
    }
    let Some((name, first)) = program.command.split_first() else {
        return Err(io::ErrorKind::NotFound.into());
    };
    let given = program.environment.iter().map(|(name, value)| (name.as_str(), value.expose()));
    let child = Command::new(name)
        .args(first)
        .args(arguments)
        .env_clear()
        .envs(given)
        .envs(variables)
        .env("TMPDIR", folder.temporary())
        .current_dir(workplace.unwrap_or_else(|| folder.work()))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()?;
    Ok((child, folder))
}

impl Drop for Spawner {
    fn drop(&mut self) {
        self.close();
    }
}

impl fmt::Debug for Spawner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Spawner({})", self.name())
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Program({:?})", self.command.first())
    }
}
