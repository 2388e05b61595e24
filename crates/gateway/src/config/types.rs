//! The configuration as the rest of the gateway reads it: resolved, complete, every value valid.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, HeaderValue, Uri};
use sabir_backend::Secret;
use sabir_backend::agent::Permissions;
use sabir_backend::http::Tls;
use sabir_compose::assemble;
use sabir_compose::class::{Class, Intent};
use sabir_compose::govern::RuleTable;
use sabir_store::Keep;
use sabir_wire::Protocol;
use sabir_wire::target::{CacheMarkers, Dialect, Family, Inputs, LateSystem};

use crate::config::Glob;

/// Everything that is configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    pub listen: SocketAddr,
    /// Whether an address that is not loopback may be bound although no key is required.
    pub open_bind: bool,
    /// In the order of preference: those of the file, then those of the environment, then the simulators.
    pub providers: Vec<Arc<Provider>>,
    pub models: Vec<Arc<Model>>,
    /// Whether a model that nobody serves falls to another one: only without a config file.
    pub substitution: Substitution,
    pub auth: Auth,
    pub limits: Limits,
    pub log: Log,
    pub store: Store,
    pub compaction: Compaction,
    pub classing: Classing,
    /// The rules on tools that hold for all calls.
    pub tools: RuleTable,
    pub repair: Repair,
    pub allowed_hosts: Vec<String>,
    pub cors_origins: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provider {
    pub name: String,
    /// The protocols it speaks, the preferred one first; never empty.
    pub endpoints: Vec<Endpoint>,
    /// What it is called with; several take turns.
    pub keys: Vec<Secret>,
    /// Globs of the model names that it claims without being named.
    pub claims: Vec<Glob>,
    /// Headers to send with each request, beyond those that its protocol asks for.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    pub dialect: Option<Dialect>,
    pub timeouts: Timeouts,
    /// How often a request that failed before its first event is sent again to this provider.
    pub retries: u32,
    pub max_in_flight: Option<usize>,
    pub late_system: LateSystem,
    pub max_output_tokens: Option<u64>,
    /// The window of its models, where it is not what is known of them.
    pub context_window: Option<u64>,
    /// Whether requests without cache markers get some, where their own protocol needs none.
    pub cache: CacheMarkers,
    /// The `anthropic-version` to send, where the client's own does not go through.
    pub version: Option<HeaderValue>,
    /// Certificates of its own.
    pub tls: Option<Tls>,
    /// What the operator corrects of what is known of models, the widest pattern first.
    pub families: Arc<[FamilyCorrection]>,
    /// What to ask for when a model is substituted.
    pub default_model: Option<String>,
}

/// What the operator knows better of models whose names match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FamilyCorrection {
    pub pattern: Glob,
    pub context_window: Option<u64>,
    pub max_output_tokens: Option<u64>,
    /// What they take beside text.
    pub inputs: Option<Inputs>,
    pub structured_output: Option<bool>,
}

impl Provider {
    /// The key that all requests carry.
    pub(crate) fn sole_key(&self) -> Option<&Secret> {
        match &*self.keys {
            [key] => Some(key),
            _ => None,
        }
    }
}

impl Provider {
    /// Whether it is an agent that may change something on this machine.
    pub(crate) fn is_changing(&self) -> bool {
        self.endpoints.iter().any(|endpoint| match &endpoint.place {
            Location::Agent(agent) => {
                agent.work.as_ref().is_some_and(|it| it.permissions != Permissions::Read)
            }
            Location::Url(_) | Location::Simulator => false,
        })
    }
}

impl FamilyCorrection {
    pub(crate) fn apply(&self, family: &mut Family) {
        if self.context_window.is_some() {
            family.context_tokens = self.context_window;
            family.context_tokens_max = self.context_window;
        }
        family.output_tokens_max = self.max_output_tokens.or(family.output_tokens_max);
        family.inputs = self.inputs.unwrap_or(family.inputs);
        family.schema_output = self.structured_output.unwrap_or(family.schema_output);
    }
}

/// Where a provider speaks a protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    pub protocol: Protocol,
    pub place: Location,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// The base of all paths, with the version segment and without a slash at its end.
    Url(Uri),
    /// The simulator of that protocol, inside this process.
    Simulator,
    /// An agent CLI on this machine.
    Agent(Box<Agent>),
}

/// An agent CLI as a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    pub kind: assemble::Agent,
    /// The program and its first arguments; never empty.
    pub command: Vec<String>,
    /// The folder of another login than the user's own.
    pub login: Option<PathBuf>,
    /// All that is handed on of the environment.
    pub environment: Vec<(String, Secret)>,
    pub history: History,
    /// Where it works with its own tools; without it, it is nothing but its model.
    pub work: Option<Work>,
    /// The budget of an assembled prompt.
    pub bytes_max: usize,
    /// How many processes wait for calls.
    pub warm: usize,
    pub first_event: Duration,
    pub deadline: Duration,
}

/// Where an agent works with its own tools, and what it may do there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    pub folder: PathBuf,
    pub permissions: Permissions,
}

/// How an agent learns what was said before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum History {
    /// Message by message, where the CLI takes a conversation.
    Replay,
    /// As one prompt.
    Assembled,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    pub connect: Duration,
    pub first_byte: Duration,
    pub idle: Duration,
}

/// A name that clients ask for, and where it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    pub name: Glob,
    pub strategy: Strategy,
    /// The window of its targets, where it is not what is known of them.
    pub context_window: Option<u64>,
    /// Never empty; where the class of a request decides, those of the class `default`.
    pub targets: Vec<Target>,
    /// Where the class of a request decides, the targets of each class but `default`.
    pub classes: Vec<ClassTargets>,
    /// How a target is chosen inside a class.
    pub class_strategy: Strategy,
    /// Whether the class of a user's turn holds through the tool loop that follows it.
    pub sticky: bool,
    /// The rules on tools that hold for its calls before those for all.
    pub tools: Option<RuleTable>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassTargets {
    pub class: Class,
    /// Never empty.
    pub targets: Vec<Target>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    Fallback,
    Weighted,
    /// By how long they took of late until their answers began.
    Fastest,
    /// By what kind of work a request is.
    Class,
}

/// What the classes of requests are told by, beside what is built in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Classing {
    /// Names of models that stand for work which nobody waits for.
    pub background: Vec<Glob>,
    pub intent: Intent,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The provider's name.
    pub provider: String,
    pub model: String,
    pub weight: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Substitution {
    Off,
    /// A name that nobody serves goes to the first real provider's default model, else to the simulators.
    On,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Auth {
    pub required: bool,
    pub keys: Vec<Arc<GatewayKey>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewayKey {
    pub name: String,
    pub value: Secret,
    /// Whether its holder may have the configuration read again.
    pub admin: bool,
    /// The rules on tools that hold for its holder before all others.
    pub tools: Option<RuleTable>,
}

/// Bounds that no client and no provider passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub body_bytes_max: usize,
    pub header_bytes_max: usize,
    pub answer_bytes_max: usize,
    pub frame_bytes_max: usize,
    /// What the bodies of all requests may take together.
    pub bodies_bytes_max: usize,
    pub connections_max: usize,
    pub requests_max: usize,
    pub stream_duration_max: Duration,
    /// How long streams may go on once the gateway was told to stop.
    pub shutdown_grace: Duration,
    /// How many requests may wait for a provider that has `max_in_flight`.
    pub queue_max: usize,
    pub queue_wait_max: Duration,
    /// How many answers may be worked on at once while nobody waits for them, and how long each.
    pub jobs_max: usize,
    pub job_duration_max: Duration,
    /// How long a WebSocket may be open, and how long its client may say nothing.
    pub socket_duration_max: Duration,
    pub socket_silence_max: Duration,
    pub header_read_timeout: Duration,
    /// How long a client may take nothing of what is sent to it.
    pub write_timeout: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// A filter such as `info` or `sabir_gateway=debug`.
    pub level: String,
    pub format: LogFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    Text,
    Json,
}

/// What is kept of calls, where and for how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    /// May hold a password.
    pub url: Secret,
    pub record: Level,
    pub keep: Keep,
    /// The folder of Sabir's own files; none where nobody names one and the user has no home.
    pub data_folder: Option<PathBuf>,
    pub access: StoreAccess,
}

/// What the store is opened for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StoreAccess {
    #[default]
    Full,
    /// One that cannot be written is opened all the same.
    Reading,
}

/// How long conversations are summarised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compaction {
    /// Who writes summaries; by default the model of the call.
    pub model: Option<String>,
    /// What is asked of it in place of the built-in prompt.
    pub prompt: Option<String>,
    /// When conversations of the gateway's own are summarised unasked.
    pub auto: AutoCompaction,
    /// From which part of a window on they are long, in thousandths.
    pub at_thousandths: u16,
    /// The newest turns of the user that stay whole.
    pub keep_turns: usize,
}

/// When a conversation of the gateway's own is summarised unasked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutoCompaction {
    Off,
    /// Where it would fail otherwise.
    Fit,
    /// As soon as it is long.
    Early,
}

/// How much is kept. Each level keeps all that those before it keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Off,
    /// A row for each call, without content.
    Metadata,
    /// Content where the client asks for state.
    Stateful,
    /// The content of every call.
    Full,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    Translated,
    Always,
    Off,
}
