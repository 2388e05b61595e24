//! The processes of a run: the simulators, which stay, and a gateway, which is killed and started again on the same store.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::{env, fs};

use anyhow::{Context, Result, bail, ensure};

/// The providers of the gateway: name, protocol, path at the simulators.
pub(super) const PROVIDERS: [(&str, &str, &str); 4] = [
    ("chat", "openai-chat", "/openai/v1"),
    ("responses", "openai-responses", "/openai/v1"),
    ("anthropic", "anthropic-messages", "/anthropic"),
    ("gemini", "gemini", "/gemini"),
];

/// A process that listens, killed when this is dropped.
pub(super) struct Server {
    child: Child,
    pub(super) address: SocketAddr,
}

impl Server {
    /// The simulators of all providers.
    pub(super) fn simulators(binary: &Path, folder: &Path) -> Result<Self> {
        Self::start(Command::new(binary).args(["sim", "--listen", "127.0.0.1:0"]), folder)
    }

    pub(super) fn gateway(binary: &Path, folder: &Path) -> Result<Self> {
        let mut command = Command::new(binary);
        command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(folder.join("data"));
        command.arg("--config").arg(folder.join("sabir.toml"));
        Self::start(&mut command, folder)
    }

    fn start(command: &mut Command, folder: &Path) -> Result<Self> {
        let log = File::options().create(true).append(true).open(folder.join("log"))?;
        // Nothing of this machine's own configuration may play a part.
        command.env_clear().env("HOME", folder).current_dir(folder);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
        let mut child = command.spawn().context("cannot start sabir")?;
        let stdout = child.stdout.take().context("sabir has no output")?;
        let mut lines = BufReader::new(stdout);
        match address(&mut lines) {
            Some(address) => {
                // What it prints later is read, so that it never waits for a reader.
                std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
                Ok(Self { child, address })
            }
            None => {
                let _ = child.kill();
                let _ = child.wait();
                let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
                bail!("sabir does not start: {log}")
            }
        }
    }

    /// Kills the process as a crash would: no code of its own runs any more.
    pub(super) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    pub(super) fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The address that a server prints once it listens.
fn address(lines: &mut impl BufRead) -> Option<SocketAddr> {
    lines.lines().map_while(Result::ok).find_map(|line| {
        let (_, address) = line.split_once("http://")?;
        address.split_whitespace().next()?.parse().ok()
    })
}

/// Writes the gateway's configuration: every provider is a simulator, the store is at `url`.
pub(super) fn configure(folder: &Path, simulators: SocketAddr, url: &str) -> Result<()> {
    let providers = PROVIDERS.map(|(name, protocol, path)| {
        format!(
            "[[provider]]\nname = \"{name}\"\nprotocol = \"{protocol}\"\nbase_url = \"http://{simulators}{path}\"\n\
             api_key = {{ value = \"only-for-tests\" }}\n"
        )
    });
    let text = format!(
        "env_providers = false\n[log]\nlevel = \"warn\"\n[store]\nurl = \"{url}\"\n{}",
        providers.concat()
    );
    fs::write(folder.join("sabir.toml"), text).context("cannot write the configuration")
}

/// Builds the gateway, and says where it is.
pub(super) fn build() -> Result<PathBuf> {
    let root = crate::project_root();
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--package", "sabir"])
        .current_dir(root)
        .status()
        .context("cannot run cargo")?;
    ensure!(status.success(), "sabir does not build");
    let target = env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let target = target.unwrap_or_else(|| root.join("target"));
    Ok(fs::canonicalize(target)?.join("debug/sabir"))
}
