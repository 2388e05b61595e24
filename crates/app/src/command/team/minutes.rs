//! What a team said, as a conversation of the gateway: who speaks to whom stands in each message, as markers that every
//! protocol carries.

use std::time::{SystemTime, UNIX_EPOCH};

use sabir_client::{
    Conversation, Gateway, Message, NewConversation, Transcript, TranscriptMessage,
};
use sabir_compose::assemble::{clean, mark};
use sabir_compose::team::USER;

/// What was said, and whether it is kept.
pub(super) struct Minutes {
    transcript: Transcript,
    /// What of it the gateway does not have yet.
    new: Transcript,
    state: State,
}

enum State {
    /// The gateway keeps it, under this id once it has one.
    Kept(Option<String>),
    /// Nobody does, for this reason.
    Unkept(String),
}

impl Minutes {
    /// `unkept` says why nothing would be kept for long, if so.
    pub(super) fn new(unkept: Option<String>) -> Self {
        let state = unkept.map_or(State::Kept(None), State::Unkept);
        Self { transcript: Transcript::default(), new: Transcript::default(), state }
    }

    /// Takes down what somebody said.
    pub(super) fn add(&mut self, from: &str, to: &[&str], text: &str) {
        let marked = mark(from, to.iter().copied(), &clean(text).text);
        let message = match from == USER {
            true => Message::user(marked),
            false => Message::assistant(marked),
        };
        let message = TranscriptMessage::new(message, now_ms());
        self.transcript.push(message.clone());
        self.new.push(message);
    }

    /// Hands on what is new. A gateway that keeps nothing says why, once.
    pub(super) async fn keep(&mut self, gateway: &Gateway) {
        let State::Kept(id) = &self.state else { return };
        let new = std::mem::take(&mut self.new);
        if let Some(id) = id
            && gateway.append(id, &new).await.is_ok()
        {
            return;
        }
        // In any doubt the gateway finds out by itself what it has.
        let whole = NewConversation { id: id.clone(), transcript: Some(self.transcript.clone()) };
        self.state = match gateway.keep(&whole).await {
            Ok(Conversation { id, .. }) => State::Kept(Some(id)),
            Err(error) => State::Unkept(error.to_string()),
        };
    }

    /// Where it is, in words.
    pub(super) fn place(&self) -> String {
        match &self.state {
            State::Kept(Some(id)) => format!("conversation: {id}"),
            State::Kept(None) => "nothing was said".to_owned(),
            State::Unkept(reason) => format!("not kept: {reason}"),
        }
    }
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or_default()
}
