//! Starting an agent CLI, passing it the signals that are meant for it, and ending as it ended.

use std::path::PathBuf;
use std::process::{Command, ExitCode, ExitStatus};
use std::time::{Duration, Instant};
use std::{env, fs};

use anyhow::{Context, Result};

use super::{Launch, TakenUp};
use crate::gateway::Running;

/// Runs the program until it ends; its exit code is the result.
pub(crate) fn run(
    program: PathBuf,
    launch: &Launch,
    TakenUp { arguments, files }: TakenUp,
    running: Running,
) -> Result<ExitCode> {
    let mut command = Command::new(&program);
    command.args(&launch.arguments).args(&arguments);
    for name in &launch.removed {
        command.env_remove(name);
    }
    command.envs(launch.variables.iter().map(|(name, value)| (name, value)));
    match running {
        Running::Found(_) if files.is_none() => replace(command),
        Running::Found(_) => {
            let ended = wait(command);
            drop(files);
            ended
        }
        Running::Hosted(hosted) => {
            let ended = wait(command);
            hosted.end();
            drop(files);
            // It is for a gateway that ends with this process. Its port is seldom had again, so that every run would
            // leave a file behind.
            let _ = launch.file.as_ref().map(fs::remove_file);
            ended
        }
    }
    .with_context(|| format!("cannot run {}", program.display()))
}

/// Looks for a program where the shell would.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let endings: &[&str] = if cfg!(windows) { &[".exe", ".cmd"] } else { &[""] };
    let path = env::var_os("PATH")?;
    let mut candidates = env::split_paths(&path).flat_map(|folder| {
        endings.iter().map(move |ending| folder.join(format!("{name}{ending}")))
    });
    candidates.find(|candidate| is_executable(candidate))
}

#[cfg(unix)]
fn is_executable(file: &std::path::Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(file: &std::path::Path) -> bool {
    file.is_file()
}

/// Becomes the program: with a gateway elsewhere there is nothing left to do here.
#[cfg(unix)]
fn replace(mut command: Command) -> Result<ExitCode> {
    use std::os::unix::process::CommandExt;
    Err(command.exec().into())
}

#[cfg(not(unix))]
fn replace(command: Command) -> Result<ExitCode> {
    wait(command)
}

fn wait(command: Command) -> Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        // Before the program starts: a signal in between would end this process and leave the program alone.
        let mut signals = signals::Signals::listen()?;
        let mut child = tokio::process::Command::from(command).spawn()?;
        let process = child.id();
        let (mut insistence, mut deadline) = (INSISTENCE.into_iter(), None);
        loop {
            tokio::select! {
                status = child.wait() => return Ok(exit_code(status?)),
                signal = signals.next() => {
                    if signal.is_final() {
                        deadline = deadline.or(Some(Instant::now() + PATIENCE));
                    }
                    signals::forward(signal, process);
                }
                () = until(deadline) => {
                    deadline = insistence.next().map(|signal| {
                        signals::send_to_all(signal, process);
                        Instant::now() + PATIENCE
                    });
                }
            }
        }
    })
}

/// How long a program may take to end that was told to, or whose terminal is gone. Gemini CLI does not end by itself then, and
/// the process that it starts in its place is told nothing.
const PATIENCE: Duration = Duration::from_secs(3);

/// What it and all that it started is sent thereafter, each if the one before was of no use.
const INSISTENCE: [&str; 2] = ["TERM", "KILL"];

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
        None => std::future::pending().await,
    }
}

/// The program's own code; what a signal ended has none, and gets the one that shells give it.
fn exit_code(status: ExitStatus) -> ExitCode {
    #[cfg(unix)]
    let by_signal = std::os::unix::process::ExitStatusExt::signal(&status).map(|it| it + 128);
    #[cfg(not(unix))]
    let by_signal = None;
    let code = status.code().or(by_signal).unwrap_or(1);
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

#[cfg(unix)]
mod signals {
    use std::io::IsTerminal;
    use std::process::{Command, Stdio};

    use tokio::signal::unix::{Signal as Stream, SignalKind, signal};

    /// The signals that would end this process.
    pub(super) struct Signals {
        interrupt: Stream,
        quit: Stream,
        terminate: Stream,
        hang_up: Stream,
    }

    #[derive(Clone, Copy)]
    pub(super) enum Signal {
        Interrupt,
        Quit,
        Terminate,
        HangUp,
    }

    impl Signal {
        /// Whether the program is to end, whatever it does.
        pub(super) fn is_final(self) -> bool {
            matches!(self, Self::Terminate | Self::HangUp)
        }
    }

    impl Signals {
        pub(super) fn listen() -> std::io::Result<Self> {
            Ok(Self {
                interrupt: signal(SignalKind::interrupt())?,
                quit: signal(SignalKind::quit())?,
                terminate: signal(SignalKind::terminate())?,
                hang_up: signal(SignalKind::hangup())?,
            })
        }

        pub(super) async fn next(&mut self) -> Signal {
            tokio::select! {
                _ = self.interrupt.recv() => Signal::Interrupt,
                _ = self.quit.recv() => Signal::Quit,
                _ = self.terminate.recv() => Signal::Terminate,
                _ = self.hang_up.recv() => Signal::HangUp,
            }
        }
    }

    /// Sends the signal on. A terminal has sent its own to the program already, and a second one means something else.
    pub(super) fn forward(signal: Signal, process: Option<u32>) {
        let Some(process) = process else { return };
        let name = match signal {
            Signal::Interrupt | Signal::Quit if std::io::stdin().is_terminal() => return,
            Signal::Interrupt => "INT",
            Signal::Quit => "QUIT",
            Signal::Terminate => "TERM",
            Signal::HangUp => "HUP",
        };
        send(name, &[process]);
    }

    /// Sends a signal to a process and to all that it started.
    pub(super) fn send_to_all(name: &str, process: Option<u32>) {
        let Some(process) = process else { return };
        send(name, &family(process, &children()));
    }

    fn send(name: &str, processes: &[u32]) {
        // The shell has this built in; the system call itself would need code that is not checked.
        let mut kill = Command::new("/bin/sh");
        kill.args([
            "-c",
            "signal=$0; for process; do kill -s \"$signal\" \"$process\"; done",
            name,
        ]);
        kill.args(processes.iter().map(u32::to_string));
        let _ = kill.stdin(Stdio::null()).stderr(Stdio::null()).status();
    }

    /// Every process with its parent; nothing where the system does not say.
    fn children() -> Vec<(u32, u32)> {
        let listed = Command::new("ps").args(["-A", "-o", "pid=,ppid="]).output();
        let listed = listed.map(|it| String::from_utf8_lossy(&it.stdout).into_owned());
        let numbers = |line: &str| {
            let (process, parent) = line.trim().split_once(char::is_whitespace)?;
            Some((process.parse().ok()?, parent.trim().parse().ok()?))
        };
        listed.unwrap_or_default().lines().filter_map(numbers).collect()
    }

    /// A process and all that came of it.
    fn family(first: u32, children: &[(u32, u32)]) -> Vec<u32> {
        let mut family = vec![first];
        let mut next = 0;
        while let Some(parent) = family.get(next).copied() {
            next += 1;
            let own = children.iter().filter(|(_, it)| *it == parent).map(|(child, _)| *child);
            let new: Vec<u32> = own.filter(|child| !family.contains(child)).collect();
            family.extend(new);
        }
        family
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_family_is_all_that_came_of_a_process() {
            let children = [(2, 1), (3, 2), (4, 3), (5, 1), (6, 3), (0, 0)];
            assert_eq!(family(2, &children), [2, 3, 4, 6]);
            assert_eq!(family(7, &children), [7]);
            assert!(children_of_this().contains(&std::process::id()));
        }

        fn children_of_this() -> Vec<u32> {
            super::children().into_iter().map(|(process, _)| process).collect()
        }
    }
}

#[cfg(not(unix))]
mod signals {
    /// Ctrl-C, which the program gets as well.
    pub(super) struct Signals;

    impl Signals {
        pub(super) fn listen() -> std::io::Result<Self> {
            Ok(Self)
        }

        pub(super) async fn next(&mut self) -> Signal {
            match tokio::signal::ctrl_c().await {
                Ok(()) => Signal,
                Err(_) => std::future::pending().await,
            }
        }
    }

    pub(super) struct Signal;

    impl Signal {
        pub(super) fn is_final(&self) -> bool {
            false
        }
    }

    pub(super) fn forward(_signal: Signal, _process: Option<u32>) {}

    pub(super) fn send_to_all(_name: &str, _process: Option<u32>) {}
}
