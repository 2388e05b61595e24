//! Everybody who takes part: the mock upstream, nginx before it and Sabir before it.

use std::net::SocketAddr;
use std::path::Path;

use anyhow::Result;

use crate::process::Process;
use crate::sabir::Setup;
use crate::{mock, nginx, sabir};

pub(crate) struct Stage {
    pub(crate) mock: SocketAddr,
    pub(crate) nginx: Process,
    pub(crate) sabir: Process,
    pub(crate) repeats: usize,
    pub(crate) effort: Effort,
}

/// How thoroughly to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// For development: the figures are rough.
    Quick,
    Full,
}

impl Stage {
    pub(crate) fn set(binary: &Path, effort: Effort) -> Result<Self> {
        let mock = mock::start()?;
        let repeats = match effort {
            Effort::Quick => 2,
            Effort::Full => 5,
        };
        let (nginx, sabir) = (nginx::start(mock)?, sabir::start(binary, mock, &Setup::default())?);
        Ok(Self { mock, nginx, sabir, repeats, effort })
    }

    /// How many requests to make: a lone connection cannot use all cores, so it gets fewer.
    pub(crate) fn scaled(&self, requests: usize, connections: usize) -> usize {
        let requests = if connections == 1 { requests / 4 } else { requests };
        match self.effort {
            Effort::Quick => requests / 3,
            Effort::Full => requests,
        }
    }
}
