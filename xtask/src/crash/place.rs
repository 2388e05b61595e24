//! Where the store of a run is: a file in the run's folder, or a schema of a PostgreSQL server.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, Result, bail, ensure};

/// The variable with the URL of a server that runs already.
const SERVER: &str = "SABIR_TEST_POSTGRES";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Engine {
    Sqlite,
    Postgres,
    /// Loses everything, which shows that a loss is found.
    Memory,
}

impl Engine {
    pub(super) fn parse(name: &str) -> Result<Self> {
        match name {
            "sqlite" => Ok(Self::Sqlite),
            "postgres" => Ok(Self::Postgres),
            "memory" => Ok(Self::Memory),
            _ => bail!(
                "--store: expected `sqlite`, `postgres` or, to see what a loss looks like, `memory`"
            ),
        }
    }
}

/// A folder that is gone with the run, and the URL of the store.
pub(super) struct Place {
    pub(super) folder: PathBuf,
    pub(super) url: String,
    /// A database server of this run's own.
    server: Option<PathBuf>,
}

impl Place {
    pub(super) fn new(engine: Engine, seed: u64) -> Result<Self> {
        let folder = env::temp_dir().join(format!("sabir-crash-{}-{seed}", std::process::id()));
        fs::create_dir_all(&folder).context("cannot make a folder for the run")?;
        let mut place = Self { folder, url: String::new(), server: None };
        place.url = match (engine, env::var(SERVER)) {
            (Engine::Sqlite, _) => "sqlite:".to_owned(),
            (Engine::Memory, _) => "memory:".to_owned(),
            (Engine::Postgres, Ok(url)) => url,
            (Engine::Postgres, Err(_)) => place.start_server()?,
        };
        Ok(place)
    }

    fn start_server(&mut self) -> Result<String> {
        let folder = self.folder.join("postgres");
        let started = script("start", &folder)?;
        ensure!(started.status.success(), "{}", String::from_utf8_lossy(&started.stderr));
        self.server = Some(folder);
        Ok(String::from_utf8_lossy(&started.stdout).trim().to_owned())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(server) = &self.server {
            let _ = script("stop", server);
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn script(command: &str, folder: &Path) -> Result<std::process::Output> {
    let script = crate::project_root().join("scripts/postgres");
    // The server keeps its standard output open for as long as it runs, were it not redirected there.
    Command::new(script).arg(command).arg(folder).output().context("cannot run scripts/postgres")
}
