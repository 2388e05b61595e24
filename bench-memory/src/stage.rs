//! Gateways that keep more or less, before the same mock.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::Result;
use sabir_bench_gateway::process::Process;
use sabir_bench_gateway::sabir::Setup;
use sabir_bench_gateway::{mock, sabir};

pub(crate) struct Stage {
    binary: PathBuf,
    mock: SocketAddr,
    pub(crate) repeats: usize,
}

impl Stage {
    pub(crate) fn set(binary: &Path, repeats: usize) -> Result<Self> {
        Ok(Self { binary: binary.to_owned(), mock: mock::start()?, repeats })
    }

    /// A gateway that keeps so much, in an empty store on disk.
    pub(crate) fn gateway(&self, record: &str) -> Result<Process> {
        let tables = format!("\n[store]\nrecord = \"{record}\"\n");
        let setup = Setup { name: &format!("-{record}"), tables: &tables };
        sabir::start(&self.binary, self.mock, &setup)
    }
}
