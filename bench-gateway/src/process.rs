//! A process under test: what it costs in processor time and memory, read from `/proc`, and its end.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};
use std::{fs, thread};

use anyhow::{Context, Result, bail};

/// How long a process may take to listen, and to end.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub struct Process {
    child: Child,
    pub address: SocketAddr,
    folder: PathBuf,
    /// The signal that ends it; without one it is killed.
    stop: Option<Command>,
}

impl Process {
    /// Starts a process and waits until it listens. The folder is its own and goes with it.
    pub fn start(
        mut command: Command,
        address: SocketAddr,
        folder: PathBuf,
        stop: Option<Command>,
    ) -> Result<Self> {
        let child = command.spawn().with_context(|| format!("cannot run {command:?}"))?;
        let mut process = Self { child, address, folder, stop };
        let started = Instant::now();
        while TcpStream::connect(address).is_err() {
            if let Some(status) = process.child.try_wait()? {
                bail!("{command:?} ended at once: {status}");
            }
            if started.elapsed() > PATIENCE {
                bail!("{command:?} does not listen on {address}");
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(process)
    }

    /// Where it keeps what it writes.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The processor time that the process and its children have taken.
    pub fn cpu(&self) -> Duration {
        self.ids().into_iter().map(cpu_of).sum()
    }

    /// The processor time of the process without its children, but with threads that have ended; in hundredths of a second, which is what
    /// the system counts such time in.
    pub fn own_cpu(&self) -> Duration {
        let stat =
            fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap_or_default();
        let behind_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        let ticks = behind_name.split_whitespace().skip(11).take(2);
        let ticks: u64 = ticks.filter_map(|it| it.parse::<u64>().ok()).sum();
        Duration::from_millis(ticks * 10)
    }

    /// The bytes of memory that the process and its children hold.
    pub fn resident_bytes(&self) -> u64 {
        self.ids().into_iter().filter_map(resident_bytes_of).sum()
    }

    fn ids(&self) -> Vec<u32> {
        let own = self.child.id();
        let mut ids = vec![own];
        let others = fs::read_dir("/proc").into_iter().flatten().flatten();
        let others = others.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        ids.extend(others.filter(|id| parent_of(*id) == Some(own)));
        ids
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        match &mut self.stop {
            Some(stop) => drop(stop.status()),
            None => drop(self.child.kill()),
        }
        let asked_at = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) {
            if asked_at.elapsed() > PATIENCE {
                let _ = self.child.kill();
            }
            thread::sleep(Duration::from_millis(10));
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Sums up what the scheduler knows of each thread, to the nanosecond.
pub fn cpu_of(id: u32) -> Duration {
    let threads = fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
    let nanoseconds = threads.filter_map(|thread| {
        let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(nanoseconds.sum())
}

fn resident_bytes_of(id: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().ok()?;
    Some(kilobytes * 1024)
}

fn parent_of(id: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let (_, behind_name) = stat.rsplit_once(')')?;
    behind_name.split_whitespace().nth(1)?.parse().ok()
}

/// An address of this machine that nobody listens on.
pub fn free_address() -> Result<SocketAddr> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

/// A new folder for the files of one process.
pub fn folder(name: &str) -> Result<PathBuf> {
    let folder = std::env::temp_dir().join(format!("sabir-bench-{}-{name}", std::process::id()));
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

pub fn write(folder: &Path, name: &str, text: &str) -> Result<PathBuf> {
    let path = folder.join(name);
    fs::write(&path, text)?;
    Ok(path)
}
