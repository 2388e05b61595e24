//! Agent CLIs on this machine: asked for answers and for nothing else.

use std::path::Path;
use std::task::{Context, Poll};

use ::http::{HeaderMap, Method};
use bytes::Bytes;
use sabir_backend::agent;
use sabir_backend::agent::{Answer, Kind, OWN_CHOICE, Patience, Program, Warmth, Workplace};
use sabir_backend::http::Client;
use sabir_compose::assemble;
use sabir_wire::json::{Text, Writer};
use sabir_wire::protocol::Event;
use sabir_wire::{Fault, FaultKind};

use crate::config::types;
use crate::config::types::History;
use crate::failure::{Failure, Result, Whose};
use crate::pool::Pool;
use crate::redact::Redactor;
use crate::upstream::body::Events;
use crate::upstream::{Backend, Body, Reply, Request};

/// Where the folders of processes are, below that of Sabir's own files.
const FOLDERS: &str = "agents/processes";

/// Where the sessions are kept of agents that work.
const SESSIONS: &str = "agents/sessions";

/// An agent CLI.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) config: types::Agent,
    agent: agent::Agent,
    redactor: Redactor,
}

impl Agent {
    pub(super) fn new(
        config: &types::Agent,
        provider: &types::Provider,
        data_folder: Option<&Path>,
    ) -> Self {
        let root = data_folder.map_or_else(|| std::env::temp_dir().join("sabir"), Path::to_owned);
        let program = Program {
            command: config.command.clone(),
            environment: config.environment.clone(),
            login: config.login.clone(),
            folders: root.join(FOLDERS),
            processes_max: provider.max_in_flight.unwrap_or(1),
            workplace: config.work.as_ref().map(|work| Workplace {
                folder: work.folder.clone(),
                permissions: work.permissions,
                sessions: root.join(SESSIONS).join(&provider.name),
            }),
        };
        let types::Agent { first_event, deadline, warm, .. } = *config;
        let patience = Patience { first_event, deadline };
        let warmth = Warmth { processes: warm, idle: provider.timeouts.idle };
        let agent = agent::Agent::new(kind(config.kind), program, patience, warmth);
        Self { config: config.clone(), agent, redactor: Redactor::of(provider) }
    }
}

pub(crate) fn kind(agent: assemble::Agent) -> Kind {
    match agent {
        assemble::Agent::ClaudeCode => Kind::ClaudeCode,
        assemble::Agent::OpenaiCodex => Kind::OpenaiCodex,
        assemble::Agent::GoogleGemini => Kind::GoogleGemini,
        assemble::Agent::Plain => Kind::Plain,
    }
}

impl Agent {
    /// Asks the CLI for its version and abilities, once.
    pub(crate) async fn probe(&self, model: &str) {
        self.agent.probe(model).await;
    }

    /// How it gets the history: as configured, and as its version takes it.
    pub(crate) fn history(&self) -> History {
        match self.agent.abilities().replays {
            true => self.config.history,
            false => History::Assembled,
        }
    }

    /// Ends the processes that wait for calls.
    pub(crate) fn close(&self) {
        self.agent.close();
    }
}

impl Backend for Agent {
    /// Asks for an answer. The path is the model's name; a real path is that of something else, and there is only the list of
    /// models.
    async fn ask(&self, _client: &Client, _pool: &Pool, request: Request<'_>) -> Result<Reply> {
        let Request { method, path, body, owner, .. } = request;
        match path.strip_prefix('/') {
            None => {
                let asked = self.agent.ask(path, body.whole(), owner.unwrap_or_default()).await;
                let answer = asked.map_err(|fault| self.unasked(fault))?;
                let body =
                    Body::Events(Box::new(Answering { answer, redactor: self.redactor.clone() }));
                Ok(Reply { status: 200, headers: HeaderMap::new(), body })
            }
            Some(below) if method == Method::GET && below.starts_with("models") => {
                let body = Body::Own(Some(models()));
                Ok(Reply { status: 200, headers: HeaderMap::new(), body })
            }
            Some(_) => {
                let message = "an agent answers conversations and has nothing else to ask for";
                Err(Failure::client(FaultKind::NotFound, message))
            }
        }
    }
}

impl Agent {
    /// An agent that was not even asked. One that did not start may do so for somebody else's sake, but not at once.
    fn unasked(&self, fault: Box<Fault<'static>>) -> Box<Failure> {
        let fault = redacted(*fault, &self.redactor);
        match fault.kind {
            FaultKind::Internal => Failure::stating(Whose::Upstream, fault).with_status(503),
            kind => Failure::stating(Whose::of_upstream(kind), fault),
        }
    }
}

/// What an agent is asked for by name where nobody knows better.
fn models() -> Bytes {
    let mut writer = Writer::default();
    writer.object(|it| {
        it.key("data");
        it.array(|it| it.object(|it| it.field("id", OWN_CHOICE)));
    });
    writer.into_string().into()
}

/// An answer without the operator's secrets.
#[derive(Debug)]
struct Answering {
    answer: Answer,
    redactor: Redactor,
}

impl Events for Answering {
    fn poll_events(
        &mut self,
        cx: &mut Context<'_>,
        take: &mut dyn FnMut(Event<'static>),
    ) -> Poll<Option<sabir_backend::Result<()>>> {
        let Self { answer, redactor } = self;
        let polled = answer.poll_events(cx, &mut |event| match event {
            Event::Fault(fault) => take(Event::Fault(redacted(fault, redactor))),
            event => take(event),
        });
        polled.map(|events| events.map(Ok))
    }
}

/// Errors may quote a key.
fn redacted(fault: Fault<'static>, redactor: &Redactor) -> Fault<'static> {
    let message = redactor.redact_body(fault.message.to_str().into_owned().into_bytes());
    let message = Text::plain(String::from_utf8_lossy(&message).into_owned());
    Fault { message, ..fault }
}
