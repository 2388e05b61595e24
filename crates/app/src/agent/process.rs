//! Starting an agent CLI, passing it the signals that are meant for it, and ending as it ended.

use std::path::PathBuf;
use std::process::{Command, ExitCode, ExitStatus};
use std::{env, fs};

use anyhow::{Context, Result};

use super::{Launch, TakenUp};
use crate::gateway::Running;

/// Runs the program until it ends; its exit code is the result.
pub(crate) fn run(
    program: PathBuf,
    launch: &Launch,
    taken_up: &TakenUp,
    running: Running,
) -> Result<ExitCode> {
    let mut command = Command::new(&program);
    command.args(&launch.arguments).args(&taken_up.arguments);
    for name in &launch.removed {
        command.env_remove(name);
    }
    command.envs(launch.variables.iter().map(|(name, value)| (name, value)));
    match running {
        Running::Found(_) if taken_up.files.is_empty() => replace(command),
        Running::Found(_) => {
            let ended = wait(command);
            forget(&taken_up.files);
            ended
        }
        Running::Hosted(hosted) => {
            let ended = wait(command);
            hosted.end();
            forget(&taken_up.files);
            // It is for a gateway that ends with this process. Its port is seldom had again, so that every run would
            // leave a file behind.
            forget(&launch.file);
            ended
        }
    }
    .with_context(|| format!("cannot run {}", program.display()))
}

fn forget<'f>(files: impl IntoIterator<Item = &'f PathBuf>) {
    for file in files {
        let _ = fs::remove_file(file);
    }
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
        loop {
            tokio::select! {
                status = child.wait() => return Ok(exit_code(status?)),
                signal = signals.next() => signals::forward(signal, process),
            }
        }
    })
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
    use std::process::Stdio;

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
        // The shell has this built in; the system call itself would need code that is not checked.
        let mut kill = std::process::Command::new("/bin/sh");
        kill.args(["-c", "kill -s \"$0\" \"$1\"", name, &process.to_string()]);
        let _ = kill.stdin(Stdio::null()).stderr(Stdio::null()).status();
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

        pub(super) async fn next(&mut self) {
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    pub(super) fn forward((): (), _process: Option<u32>) {}
}
