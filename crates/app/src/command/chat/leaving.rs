//! When the system wants the program to end: it is told to terminate, or its terminal is closed.

use std::io;
use std::process::ExitCode;

/// Listens for it from its making on. Who listens is not ended by the signal, and must leave by itself.
pub(in crate::command) struct Leaving {
    signals: signals::Signals,
    code: Option<ExitCode>,
}

impl Leaving {
    /// Needs a runtime around it.
    pub(in crate::command) fn listen() -> io::Result<Self> {
        Ok(Self { signals: signals::Signals::listen()?, code: None })
    }

    /// The exit code to leave with, once it is time to.
    pub(in crate::command) fn code(&self) -> Option<ExitCode> {
        self.code
    }

    /// Ready as soon as it is time to leave, and from then on.
    pub(in crate::command) async fn asked(&mut self) -> ExitCode {
        if let Some(code) = self.code {
            return code;
        }
        // What a shell says of a program that the signal ended.
        let code = ExitCode::from(128 + self.signals.next().await);
        self.code = Some(code);
        code
    }
}

#[cfg(unix)]
mod signals {
    use std::io;

    use tokio::signal::unix::{Signal, SignalKind, signal};

    pub(super) struct Signals {
        hang_up: Signal,
        terminate: Signal,
    }

    impl Signals {
        pub(super) fn listen() -> io::Result<Self> {
            let hang_up = signal(SignalKind::hangup())?;
            Ok(Self { hang_up, terminate: signal(SignalKind::terminate())? })
        }

        /// The number of the next one.
        pub(super) async fn next(&mut self) -> u8 {
            tokio::select! {
                _ = self.hang_up.recv() => 1,
                _ = self.terminate.recv() => 15,
            }
        }
    }
}

#[cfg(not(unix))]
mod signals {
    use std::io;

    pub(super) struct Signals;

    impl Signals {
        pub(super) fn listen() -> io::Result<Self> {
            Ok(Self)
        }

        pub(super) async fn next(&mut self) -> u8 {
            std::future::pending().await
        }
    }
}
