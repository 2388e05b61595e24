//! The gateway under test, with a provider for each protocol and each way in which the mock answers.

use std::fmt::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Result;
use sabir_wire::Protocol;

use crate::mock::Mode;
use crate::process;
use crate::process::Process;

/// What one gateway has of its own.
#[derive(Clone, Copy, Debug, Default)]
pub struct Setup<'s> {
    /// What its folder is called by.
    pub name: &'s str,
    /// More tables for its configuration.
    pub tables: &'s str,
}

pub fn start(binary: &Path, upstream: SocketAddr, setup: &Setup<'_>) -> Result<Process> {
    let address = process::free_address()?;
    let folder = process::folder(&format!("sabir{}", setup.name))?;
    let config = process::write(&folder, "sabir.toml", &(config(upstream) + setup.tables))?;
    let mut command = Command::new(binary);
    command.arg("serve").arg("--config").arg(config);
    command.arg("--data").arg(&folder);
    command.arg("--listen").arg(address.to_string()).stdout(Stdio::null());
    Process::start(command, address, folder, None)
}

/// The name of the provider that speaks a protocol and answers in a certain way.
pub fn provider(protocol: Protocol, mode: Mode) -> String {
    format!("{}-{}", protocol.as_str(), mode.as_str())
}

fn config(upstream: SocketAddr) -> String {
    // Connections wait while others are measured, longer than a server should let strangers do.
    let mut text = String::from(
        "env_providers = false\n\n[log]\nlevel = \"warn\"\n\n[limits]\nheader_read_timeout = \"10m\"\n",
    );
    for protocol in Protocol::ALL {
        for mode in Mode::ALL {
            let name = provider(protocol, mode);
            let (protocol, mode) = (protocol.as_str(), mode.as_str());
            // The largest bodies are beyond the windows of the models that they name.
            let _ = write!(
                text,
                "\n[[provider]]\nname = \"{name}\"\nprotocol = [\"{protocol}\"]\n\
                 base_url = \"http://{upstream}/{protocol}/{mode}\"\nretries = 0\n\
                 context_window = 100000000\n"
            );
        }
    }
    text
}
