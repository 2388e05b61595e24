//! What a call continues: the stretches of an earlier conversation that the gateway puts before its own messages.

use std::fmt;

use sabir_wire::protocol::{DecodedRequest, Kept};
use sabir_wire::{Loss, Protocol, Report};

use crate::summaries::{Summaries, is_trigger};

/// A conversation that was recalled for a call, and the call's body without what only the gateway understands.
#[derive(Clone)]
pub(crate) struct Recalled {
    pub(crate) client: Protocol,
    /// In the client's protocol: its own new messages and settings.
    pub(crate) body: String,
    /// The oldest first.
    pub(crate) stretches: Vec<Stretch>,
    /// The turns that the stretches are numbered by.
    pub(crate) turns: Vec<String>,
    /// What a call that has no instructions or tools of its own goes on with.
    pub(crate) settings: Option<Settings>,
    /// The provider that keeps the same conversation itself, under the id in the client's own body.
    pub(crate) kept_by: KeptBy,
    /// What stands for messages that are not sent any more.
    pub(crate) summaries: Summaries,
}

/// Messages of one turn in one protocol.
#[derive(Clone)]
pub(crate) struct Stretch {
    /// The number of the turn.
    pub(crate) turn: u32,
    pub(crate) kept: Kept,
}

/// Instructions and tools as a protocol spells them.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) system: Option<(Protocol, String)>,
    pub(crate) tools: Option<(Protocol, String)>,
}

impl Settings {
    /// What of the earlier settings stays in force beside these, if anything does, and all that is in force.
    pub(crate) fn before(self, earlier: Option<Settings>) -> (Option<Settings>, Settings) {
        let earlier = earlier.unwrap_or_default();
        let kept = Settings {
            system: earlier.system.filter(|_| self.system.is_none()),
            tools: earlier.tools.filter(|_| self.tools.is_none()),
        };
        let effective = Settings {
            system: self.system.or_else(|| kept.system.clone()),
            tools: self.tools.or_else(|| kept.tools.clone()),
        };
        let is_kept = kept.system.is_some() || kept.tools.is_some();
        (is_kept.then_some(kept), effective)
    }
}

/// Who else has the conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeptBy {
    Nobody,
    /// A provider of the client's own protocol, by its name.
    Provider(String),
    /// Something of it is not here; whoever of the client's own protocol is asked may have it.
    Somebody(Missing),
}

/// What a call names and nobody here has, by its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    Answer(String),
    Conversation(String),
    Item(String),
}

impl Recalled {
    /// A call that goes on from nothing.
    pub(crate) fn of(client: Protocol, body: String) -> Self {
        Self {
            client,
            body,
            stretches: Vec::new(),
            turns: Vec::new(),
            settings: None,
            kept_by: KeptBy::Nobody,
            summaries: Summaries::default(),
        }
    }

    /// A call that names something which is not here.
    pub(crate) fn without(client: Protocol, missing: Missing) -> Self {
        Self { kept_by: KeptBy::Somebody(missing), ..Self::of(client, String::new()) }
    }

    /// The whole conversation with the settings of the call.
    pub(crate) fn decoded(&self) -> sabir_wire::Result<DecodedRequest<'_>> {
        let mut decoded = self.client.decode_request_text(&self.body)?;
        if let Some(Settings { system, tools }) = &self.settings {
            restore(&mut decoded, system.as_ref(), tools.as_ref(), self.client)?;
        }
        let mut history = Vec::new();
        history.extend(self.summaries.kept.as_ref().map(|kept| kept.as_message()));
        for Stretch { turn, kept } in &self.stretches {
            history.extend(kept.messages(*turn, self.client)?);
        }
        // What asked for a compaction then asks for nothing now.
        history.retain(|message| !is_trigger(message));
        if !history.is_empty() {
            decoded.recall(history);
        }
        if !self.summaries.is_empty() {
            self.summaries.apply(&mut decoded.edit().messages);
        }
        Ok(decoded)
    }

    /// Whether the client's own body says it all to this provider.
    pub(crate) fn is_kept_by(&self, provider: &str) -> bool {
        match &self.kept_by {
            KeptBy::Nobody => false,
            KeptBy::Provider(keeper) => keeper == provider,
            KeptBy::Somebody(_) => true,
        }
    }

    /// What is not here.
    pub(crate) fn missing(&self) -> Option<&Missing> {
        match &self.kept_by {
            KeptBy::Somebody(missing) => Some(missing),
            KeptBy::Nobody | KeptBy::Provider(_) => None,
        }
    }

    /// Whether nothing stands before the call's own messages.
    pub(crate) fn is_fresh(&self) -> bool {
        self.stretches.is_empty() && self.settings.is_none() && self.summaries.is_empty()
    }

    /// A report with turns by their ids instead of their numbers.
    pub(crate) fn name_turns(&self, report: Report) -> Report {
        let mut named = Report::default();
        for Loss { pointer, kind, reason } in report.into_entries() {
            named.lose(self.named(pointer), kind, reason);
        }
        named
    }

    fn named(&self, pointer: String) -> String {
        let Some(rest) = pointer.strip_prefix("/turns/") else { return pointer };
        let (number, below) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let turn = number.parse().ok().and_then(|number: usize| self.turns.get(number));
        match turn {
            Some(turn) => format!("/turns/{turn}{below}"),
            None => pointer,
        }
    }

    /// How many bytes of text it has.
    pub(crate) fn bytes(&self) -> usize {
        let stretches = self.stretches.iter().map(|stretch| stretch.kept.as_body().len());
        self.body.len() + stretches.sum::<usize>()
    }
}

fn restore(
    decoded: &mut DecodedRequest<'_>,
    system: Option<&(Protocol, String)>,
    tools: Option<&(Protocol, String)>,
    client: Protocol,
) -> sabir_wire::Result<()> {
    if let Some((protocol, system)) = system {
        let (instructions, _) = protocol.restore_settings(Some(system), None, client)?;
        let own = std::mem::take(&mut decoded.edit().messages);
        decoded.edit().messages = instructions.into_iter().chain(own).collect();
    }
    if let Some((protocol, tools)) = tools {
        let (_, tools) = protocol.restore_settings(None, Some(tools), client)?;
        decoded.edit().tools = tools;
    }
    Ok(())
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds = (self.system.is_some(), self.tools.is_some());
        write!(f, "Settings({kinds:?})")
    }
}

impl fmt::Debug for Recalled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Recalled({} bytes in {} turns)", self.bytes(), self.turns.len())
    }
}
