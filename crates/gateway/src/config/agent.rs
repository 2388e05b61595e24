//! Reading a `[[provider]]` that is an agent CLI: a program on this machine.

use std::time::Duration;

use sabir_backend::Secret;
use sabir_backend::agent::{Kind, OWN_CHOICE, Permissions};
use sabir_compose::assemble;
use sabir_compose::assemble::BYTES_MAX_DEFAULT;
use sabir_wire::target::{CacheMarkers, LateSystem};

use crate::config::problem::Collector;
use crate::config::secret_source::Outside;
use crate::config::section::{Item, Section};
use crate::config::types::{Agent, Endpoint, History, Location, Provider, Timeouts, Work};
use crate::config::{environment, keys, provider};
use crate::surface;

/// Keys of other providers that an agent has too.
const SHARED: [&str; 5] = ["name", "models", "retries", "max_output_tokens", "context_window"];

const AGENTS: [(&str, assemble::Agent); 4] = [
    ("claude-code", assemble::Agent::ClaudeCode),
    ("openai-codex", assemble::Agent::OpenaiCodex),
    ("google-gemini", assemble::Agent::GoogleGemini),
    ("plain", assemble::Agent::Plain),
];

const MODES: [(&str, Mode); 2] = [("model", Mode::Model), ("agent", Mode::Agent)];

/// Whether an agent is its model, or works with its own tools.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Model,
    Agent,
}

const PERMISSIONS: [(&str, Permissions); 3] =
    [("read", Permissions::Read), ("edit", Permissions::Edit), ("full", Permissions::Full)];

const HISTORIES: [(&str, History); 2] =
    [("replay", History::Replay), ("assembled", History::Assembled)];

/// What a program needs to start, to find its login and to reach its vendor. Nothing else of the environment is handed on.
const VARIABLES: [&str; 21] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TERM",
    "TZ",
    "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
];

const PROCESSES_MAX: u64 = 4;
const WARM: u64 = 1;
const IDLE: Duration = Duration::from_secs(5 * 60);
const DEADLINE: Duration = Duration::from_secs(30 * 60);
const FIRST_EVENT: Duration = Duration::from_secs(60);

/// What Claude Code asks for itself where nobody says how much.
const CLAUDE_OUTPUT_TOKENS: u64 = 32_000;

/// Reads an agent. `None` means that problems were noted.
pub(super) fn read(
    section: &Section<'_, '_>,
    outside: Outside<'_>,
    problems: &mut Collector<'_>,
) -> Option<Provider> {
    section.note_others(&[keys::of_agent(), &SHARED], "is no key of an agent; remove it", problems);
    let name = section.item("name").and_then(|item| item.as_string());
    if name.is_none() {
        section.lacks("`name`, which clients put before the name of the model", problems);
    }
    let kind = section.item("agent")?.choice(&AGENTS, problems)?;
    let command = command(section, kind, outside, problems)?;
    let work = work(section, (kind, &command), outside, problems);
    let agent = Agent {
        kind,
        command,
        login: section.item("login").and_then(|item| Some(outside.path(item.string(problems)?))),
        environment: variables(section, outside, problems),
        work,
        history: section
            .item("history")
            .and_then(|item| item.choice(&HISTORIES, problems))
            .unwrap_or(History::Replay),
        bytes_max: section
            .item("max_bytes")
            .and_then(|item| item.size(problems))
            .unwrap_or(BYTES_MAX_DEFAULT),
        warm: section
            .item("warm")
            .and_then(|item| item.number(0, problems))
            .map_or(WARM, |warm| warm)
            .try_into()
            .unwrap_or(usize::MAX),
        first_event: section
            .positive_duration("first_event_timeout", problems)
            .unwrap_or(FIRST_EVENT),
        deadline: section.positive_duration("deadline", problems).unwrap_or(DEADLINE),
    };
    let processes = section.item("processes_max").and_then(|item| item.number(1, problems));
    let processes = usize::try_from(processes.unwrap_or(PROCESSES_MAX)).unwrap_or(usize::MAX);
    let idle = section.positive_duration("idle", problems).unwrap_or(IDLE);
    let endpoint = Endpoint {
        protocol: surface::protocol_of_agent(kind),
        place: Location::Agent(Box::new(agent)),
    };
    let base = Provider {
        default_model: Some(OWN_CHOICE.to_owned()),
        max_output_tokens: matches!(kind, assemble::Agent::ClaudeCode)
            .then_some(CLAUDE_OUTPUT_TOKENS),
        late_system: LateSystem::Inline,
        cache: CacheMarkers::Stated,
        timeouts: Timeouts { idle, ..Timeouts::default() },
        ..Provider::new(name?, vec![endpoint])
    };
    let provider = provider::with_options(base, section, outside, problems);
    Some(Provider { max_in_flight: Some(processes), ..provider })
}

/// Where it works, if it does.
fn work(
    section: &Section<'_, '_>,
    (kind, command): (assemble::Agent, &[String]),
    outside: Outside<'_>,
    problems: &mut Collector<'_>,
) -> Option<Work> {
    let mode = section.item("mode").and_then(|item| item.choice(&MODES, problems));
    if mode != Some(Mode::Agent) {
        for item in ["folder", "permissions"].iter().filter_map(|key| section.item(key)) {
            item.wrong("is for agents that work; add `mode = \"agent\"`, or remove it", problems);
        }
        return None;
    }
    let has_tools = match kind {
        assemble::Agent::ClaudeCode | assemble::Agent::OpenaiCodex => true,
        assemble::Agent::GoogleGemini => Kind::GoogleGemini.takes_conversation(command),
        assemble::Agent::Plain => false,
    };
    if !has_tools {
        let item = section.item("mode");
        let advice = "a program that gets nothing but a prompt has no tools that are known here; \
                      remove `mode`";
        item.into_iter().for_each(|item| item.remark(advice, problems));
    }
    if let Some(item) = section.item("history") {
        item.wrong("is for `mode = \"model\"`: an agent that works has sessions", problems);
    }
    let permissions = section.item("permissions").and_then(|it| it.choice(&PERMISSIONS, problems));
    let Some(item) = section.item("folder") else {
        section.lacks("`folder`: where an agent of `mode = \"agent\"` works", problems);
        return None;
    };
    let folder = outside.path(item.string(problems)?);
    let folder = std::path::absolute(&folder).unwrap_or(folder);
    if !folder.is_dir() {
        item.wrong("is no folder; make it, or name another", problems);
    }
    Some(Work { folder, permissions: permissions.unwrap_or(Permissions::Read) })
}

/// The program with its first arguments; by default the CLI's own name. A path leads from the config file's folder, as all paths do: the
/// process works in another.
fn command(
    section: &Section<'_, '_>,
    kind: assemble::Agent,
    outside: Outside<'_>,
    problems: &mut Collector<'_>,
) -> Option<Vec<String>> {
    let Some(item) = section.item("command") else {
        if kind.alias().is_none() {
            section.lacks("`command`: which program is to be started", problems);
        }
        return kind.alias().map(|program| vec![program.to_owned()]);
    };
    let mut command: Vec<String> = match item.elements() {
        None => vec![item.string(problems)?.to_owned()],
        Some(elements) => {
            elements.iter().filter_map(|it| it.as_string()).map(str::to_owned).collect()
        }
    };
    let is_whole = item.elements().is_none_or(|elements| elements.len() == command.len());
    if command.first().is_none_or(String::is_empty) || !is_whole {
        item.expected("a program, or a list of a program and its arguments", problems);
        return None;
    }
    if let Some(program) = command.first_mut().filter(|program| program.contains('/')) {
        let path = outside.path(program);
        *program = std::path::absolute(&path).unwrap_or(path).to_string_lossy().into_owned();
    }
    Some(command)
}

fn variables(
    section: &Section<'_, '_>,
    outside: Outside<'_>,
    problems: &mut Collector<'_>,
) -> Vec<(String, Secret)> {
    let value = |name: &str| environment::value(outside.variable, name);
    let usual =
        VARIABLES.iter().filter_map(|name| Some(((*name).to_owned(), Secret::new(value(name)?))));
    let mut variables: Vec<(String, Secret)> = usual.collect();
    let named = section.item("env").map(|item| item.strings(problems)).unwrap_or_default();
    for (name, item) in named {
        match value(name) {
            Some(value) => variables.push((name.to_owned(), Secret::new(value))),
            None => unset(name, item, problems),
        }
    }
    variables
}

fn unset(name: &str, item: Item<'_, '_>, problems: &mut Collector<'_>) {
    let shown = crate::config::section::shortened(name);
    item.remark(
        format!("the environment variable `{shown}` is not set; set it, or remove it here"),
        problems,
    );
}

impl Agent {
    /// The values that the operator handed on by name.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        let is_named = |(name, _): &&(String, Secret)| !VARIABLES.contains(&name.as_str());
        self.environment.iter().filter(is_named).map(|(_, value)| value.expose())
    }
}
