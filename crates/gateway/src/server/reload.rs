//! When the configuration is read again without anybody asking over HTTP: the file changed, or the process got a SIGHUP.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use std::{fs, io};

use tokio::time::MissedTickBehavior;

use crate::Gateway;

/// How often the file is looked at. A notification from the system would be sooner, and would miss files on network drives,
/// behind links and in folders that are replaced whole.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Reads the file again whenever it has changed and stayed the same since the last look: it may be half written.
pub(super) async fn on_change(gateway: &Arc<Gateway>) {
    let Some(file) = gateway.config_file() else { return std::future::pending().await };
    let mut in_force = look(file).await;
    let mut last = in_force;
    let mut looks = tokio::time::interval(LOOK_EVERY);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        looks.tick().await;
        let now = look(file).await;
        if now == last && now != in_force {
            in_force = now;
            read_again(gateway).await;
        }
        last = now;
    }
}

/// Reads it on a thread that may wait for files. What comes of it is in the log.
async fn read_again(gateway: &Arc<Gateway>) {
    let gateway = Arc::clone(gateway);
    let _ = tokio::task::spawn_blocking(move || gateway.reload()).await;
}

/// What distinguishes one version of a file from the next; none while there is no file.
type Stamp = Option<(SystemTime, u64, u64)>;

async fn look(file: &Path) -> Stamp {
    let file = file.to_owned();
    let looked = tokio::task::spawn_blocking(move || stamp(&file)).await;
    looked.ok().and_then(io::Result::ok)
}

fn stamp(file: &Path) -> io::Result<(SystemTime, u64, u64)> {
    let found = fs::metadata(file)?;
    Ok((found.modified()?, found.len(), number(&found)))
}

/// Editors put a new file in the place of the old one, perhaps of the same length.
#[cfg(unix)]
fn number(found: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(found)
}

#[cfg(not(unix))]
fn number(_: &fs::Metadata) -> u64 {
    0
}

/// Every SIGHUP from now on.
#[cfg(unix)]
pub(super) struct Hangups {
    signals: io::Result<tokio::signal::unix::Signal>,
    has_terminal: bool,
}

#[cfg(unix)]
impl Hangups {
    pub(super) fn listen() -> Self {
        use std::io::IsTerminal;
        let kind = tokio::signal::unix::SignalKind::hangup();
        let signals = tokio::signal::unix::signal(kind);
        Self { signals, has_terminal: io::stdin().is_terminal() }
    }

    /// Reads the configuration again at every signal; ready once the terminal is gone, which the same signal says.
    pub(super) async fn follow(self, gateway: &Arc<Gateway>) {
        let Ok(mut signals) = self.signals else { return std::future::pending().await };
        while signals.recv().await.is_some() {
            if self.has_terminal && fs::File::open("/dev/tty").is_err() {
                return;
            }
            read_again(gateway).await;
        }
    }
}

#[cfg(not(unix))]
pub(super) struct Hangups;

#[cfg(not(unix))]
impl Hangups {
    pub(super) fn listen() -> Self {
        Self
    }

    pub(super) async fn follow(self, _: &Arc<Gateway>) {
        std::future::pending().await
    }
}
