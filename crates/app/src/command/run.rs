//! `sabir run`: an agent CLI on the gateway, without a change to the user's own files.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

use crate::agent::{Access, Agent, Folder};
use crate::configuration::ConfigFile;
use crate::gateway::Running;
use crate::{agent, configuration, output};

/// Start an agent CLI on the gateway.
///
/// Uses the gateway that runs at the configured address, else one that lives as long as the
/// agent does. The agent gets what it needs by variables, overrides and a private settings
/// file; the user's own files stay as they are. What follows `--` goes to the agent.
///
/// Exit codes: the agent's own; 127 if it is not installed.
///
/// Example:
///   sabir run claude --model sim -- --continue
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Run {
    #[command(flatten)]
    options: Options,

    /// Arguments for the agent
    #[arg(last = true, value_name = "ARGS")]
    arguments: Vec<OsString>,
}

/// What `run` and `env` have in common.
#[derive(Args)]
pub(crate) struct Options {
    /// The agent
    #[arg(value_enum)]
    pub(crate) agent: Agent,

    /// The model to ask for [default: the agent's own if somebody serves it, else what the gateway
    /// offers first]
    #[arg(long, value_name = "MODEL", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) model: Option<String>,

    #[command(flatten)]
    pub(crate) file: ConfigFile,

    /// Folder for Sabir's own files [default: the user's data folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
}

/// What shells say of a command that is not there.
const NOT_FOUND: u8 = 127;

impl Run {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let Options { agent, model, file, data } = self.options;
        let mut loaded = match file.load() {
            Ok(loaded) => loaded,
            Err(problems) => return Ok(configuration::refuse(&problems)),
        };
        if let Some(data) = &data {
            loaded.config.store.data_folder = Some(data.clone());
        }
        let Some(program) = agent::find_program(agent.program()) else {
            output::to_stderr(&not_installed(agent));
            return Ok(ExitCode::from(NOT_FOUND));
        };
        // The agent draws on the terminal: a log would write over it.
        let log =
            configuration::names_log_level().then(|| sabir_gateway::start_log(&loaded.config.log));
        let running = Running::find_or_start(&loaded.config)?;
        let access = Access::new(&loaded.config, agent, running.address(), model);
        let launch = agent.launch(&access, &Folder::new(data))?;
        if std::io::stderr().is_terminal() {
            output::to_stderr(&greeting(agent, &access, &running));
        }
        let code = agent::run(program, &launch, &self.arguments, running);
        log.inspect(|log| log.flush());
        code
    }
}

fn not_installed(agent: Agent) -> String {
    let (program, package) = (agent.program(), agent.package());
    format!("error: {program} is not installed; get it with: npm install -g {package}\n")
}

/// Which gateway and which model, in a line.
fn greeting(agent: Agent, access: &Access, running: &Running) -> String {
    let whose = match running {
        Running::Found(_) => "the gateway that runs",
        Running::Hosted(_) => "a gateway for this run",
    };
    let model = access.model.as_deref().unwrap_or("its own choice");
    let model = output::printable(model);
    format!("sabir: {} on {whose} at {}, model: {model}\n", agent.program(), access.base)
}
