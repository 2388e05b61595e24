//! `sabir run`: an agent CLI on the gateway, without a change to the user's own files.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use sabir_client::{ErrorKind, Gateway};
use sabir_compose::assemble::BYTES_MAX_DEFAULT;

use crate::agent::{Access, Agent, At, Folder, HANDOFF_PROTOCOL, Handoff, Invocation, TakenUp};
use crate::configuration::ConfigFile;
use crate::gateway::Running;
use crate::{agent, configuration, output};

/// Start an agent CLI on the gateway.
///
/// Uses the gateway that runs at the configured address, else one that lives as long as the
/// agent does. The agent gets what it needs by variables, overrides and a private settings
/// file; the user's own files stay as they are. What follows `--` goes to the agent.
///
/// With --continue the agent begins with a prompt of a stored conversation, whoever had it before.
///
/// Exit codes: the agent's own; 127 if it is not installed.
///
/// Example:
///   sabir run claude --model sim -- --continue
///   sabir run claude --continue tour
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Run {
    #[command(flatten)]
    options: Options,

    /// Hand a stored conversation to the agent; `sabir conversations list` has the ids
    #[arg(long = "continue", value_name = "CONVERSATION")]
    #[arg(value_parser = clap::builder::NonEmptyStringValueParser::new())]
    conversation: Option<String>,

    /// How many bytes the prompt of that conversation may have
    #[arg(long, value_name = "N", requires = "conversation", default_value_t = BYTES_MAX_DEFAULT)]
    max_bytes: usize,

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
        let folder = Folder::new(data);
        folder.remove_left_over();
        let order = Order { conversation: self.conversation, bytes_max: self.max_bytes };
        let started = order
            .take_up(agent, (&access, &folder), &self.arguments)
            .and_then(|taken_up| Ok((taken_up, agent.launch(&access, &folder)?)));
        let (taken_up, launch) = match started {
            Ok(started) => started,
            Err(error) => {
                running.end();
                return Err(error);
            }
        };
        if std::io::stderr().is_terminal() {
            output::to_stderr(&greeting(agent, &access, &running));
        }
        let code = agent::run(program, &launch, taken_up, running);
        log.inspect(|log| log.flush());
        code
    }
}

/// Which conversation the agent is to go on with, if any.
struct Order {
    conversation: Option<String>,
    bytes_max: usize,
}

impl Order {
    fn take_up(
        &self,
        agent: Agent,
        (access, folder): (&Access, &Folder),
        users: &[OsString],
    ) -> Result<TakenUp> {
        let Some(id) = &self.conversation else {
            return Ok(TakenUp { arguments: users.to_vec(), files: None });
        };
        let failed = || format!("{} cannot be handed on", output::printable(id));
        let history = history(id, access).with_context(failed)?;
        let handoff = Handoff::of(agent, &history, self.bytes_max).with_context(failed)?;
        for note in &handoff.notes {
            output::to_stderr(&format!("sabir: {note}\n"));
        }
        let at = if std::io::stdin().is_terminal() { At::Terminal } else { At::Elsewhere };
        handoff.write(agent, folder, &Invocation { arguments: users, at })
    }
}

/// What was said in a conversation, as the gateway has it.
fn history(id: &str, access: &Access) -> Result<String> {
    let gateway = Gateway::new(&access.base)?.with_key(access.key.expose())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match runtime.block_on(gateway.messages_as(id, HANDOFF_PROTOCOL)) {
        Ok(history) => Ok(history.as_str().to_owned()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(output::advised(error, "sabir conversations list"))
        }
        Err(error) => Err(error.into()),
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
