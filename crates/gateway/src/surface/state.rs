//! How a protocol's clients ask for what the gateway remembers, and how they learn that it is not there.

use http::Method;
use sabir_wire::json::{Json, Text};
use sabir_wire::protocol::AnswerContext;
use sabir_wire::{Fault, FaultKind};

use crate::call::StateAsked;

/// What a protocol says of conversations that its server keeps.
pub(crate) struct State {
    /// Reads what a body asks for.
    pub(crate) read: fn(&str) -> sabir_wire::Result<StateAsked>,
    /// The member of a body that holds its conversation.
    pub(crate) messages: &'static str,
    /// Whether clients spell a message in several ways and encoders in one: what is recalled then stands in a request as it was
    /// sent, if nothing of it has to change.
    pub(crate) has_spellings: bool,
    /// What a method and a path below the version ask of what is kept.
    pub(crate) find: fn(&Method, &str) -> Option<Kept>,
    /// Members that are for whoever keeps the conversation, and for nobody else.
    pub(crate) own_members: &'static [&'static str],
    /// Whether an answer can be asked for again by its id, item by item.
    pub(crate) has_responses: bool,
    /// The whole answer that an event repeats, if it is the last of a stream.
    pub(crate) last_body: fn(&str) -> Option<String>,
    pub(crate) explain: fn(&Trouble<'_>) -> Fault<'static>,
    /// How answers look that are worked on while nobody waits, where the protocol has such.
    pub(crate) background: Option<Background>,
}

/// Answers that are worked on while nobody waits, and their streams.
#[derive(Clone, Copy)]
pub(crate) struct Background {
    /// The member of a request that asks for it.
    pub(crate) member: &'static str,
    /// The id of an answer that is made here.
    pub(crate) id: fn(&str) -> String,
    /// The error of an answer, as the body of a refusal has it.
    pub(crate) error: fn(&str) -> Json<'static>,
    /// The answer before anybody works on it.
    pub(crate) announce: fn(&AnswerContext<'_>) -> String,
    /// The same as it stands now.
    pub(crate) restate: fn(&str, &Standing<'_>) -> String,
    /// The frames that its stream begins with.
    pub(crate) announcement: fn(&str) -> String,
    /// The frame of a number that ends its stream, if one does.
    pub(crate) ending: fn(&str, u64) -> Option<String>,
    /// The number of an event.
    pub(crate) number: fn(&str) -> Option<u64>,
    /// The answer that an event repeats, if it is the last of a stream, however that ends.
    pub(crate) stated_end: fn(&str) -> Option<String>,
}

/// How far an answer has come that nobody waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Standing<'e> {
    Queued,
    Running,
    Cancelled,
    /// With the error in the protocol's words.
    Failed(&'e Json<'e>),
}

/// What a client may ask of what is kept for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    ReadAnswer(String),
    DeleteAnswer(String),
    ListInput(String),
    CancelAnswer(String),
    SubmitResults(String),
    CreateConversation,
    ReadConversation(String),
    ChangeConversation(String),
    DeleteConversation(String),
    ListItems(String),
    AddItems(String),
    ReadItem { conversation: String, item: String },
    DeleteItem { conversation: String, item: String },
}

impl Kept {
    /// Whether the body says more.
    pub(crate) fn has_body(&self) -> bool {
        match self {
            Self::SubmitResults(_)
            | Self::CreateConversation
            | Self::ChangeConversation(_)
            | Self::AddItems(_) => true,
            Self::ReadAnswer(_)
            | Self::DeleteAnswer(_)
            | Self::ListInput(_)
            | Self::CancelAnswer(_)
            | Self::ReadConversation(_)
            | Self::DeleteConversation(_)
            | Self::ListItems(_)
            | Self::ReadItem { .. }
            | Self::DeleteItem { .. } => false,
        }
    }
}

/// Why a conversation cannot go on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Trouble<'a> {
    UnknownAnswer(&'a str),
    MisspeltAnswer(&'a str),
    UnknownThread(&'a str),
    ThreadContinued,
    ThreadInFlight,
    UnknownConversation(&'a str),
    /// The turn that a fork is to go on from.
    UnknownTurn(&'a str),
    UnknownItem(&'a str),
    Locked,
    Several,
    /// Nothing may be kept.
    Unkept,
    /// Nobody is to wait for the answer, and nobody is to keep it.
    UnkeptBackground,
}

impl State {
    /// A protocol whose clients send everything with each call.
    pub(super) const fn none(messages: &'static str) -> Self {
        Self {
            read: |_| Ok(StateAsked::default()),
            messages,
            has_spellings: false,
            find: |_, _| None,
            own_members: &[],
            has_responses: false,
            last_body: |_| None,
            explain,
            background: None,
        }
    }
}

/// What any client is told, in OpenAI's words where it has some.
pub(super) fn explain(trouble: &Trouble<'_>) -> Fault<'static> {
    let (kind, message) = match trouble {
        Trouble::UnknownAnswer(id) => {
            (FaultKind::BadRequest, format!("Previous response with id '{id}' not found."))
        }
        Trouble::MisspeltAnswer(id) => (
            FaultKind::BadRequest,
            format!(
                "Invalid 'previous_response_id': '{id}'. Expected an ID that contains letters, numbers, underscores, or \
                 dashes, but this value contained additional characters."
            ),
        ),
        Trouble::UnknownThread(id) => (
            FaultKind::NotFound,
            format!("`thread`: no message with id '{id}' is kept here."),
        ),
        Trouble::ThreadContinued => {
            (FaultKind::BadRequest, "This message has been continued already.".to_owned())
        }
        Trouble::ThreadInFlight => {
            (FaultKind::BadRequest, "Another call continues this message.".to_owned())
        }
        Trouble::UnknownConversation(id) => {
            (FaultKind::NotFound, format!("Conversation with id '{id}' not found."))
        }
        Trouble::UnknownTurn(id) => {
            (FaultKind::NotFound, format!("Turn with id '{id}' not found."))
        }
        Trouble::UnknownItem(id) => (
            FaultKind::NotFound,
            format!(
                "Item with id '{id}' not found. Items are not persisted when `store` is set to false. Try again with \
                 `store` set to true, or remove this item from your input."
            ),
        ),
        Trouble::Locked => (
            FaultKind::BadRequest,
            "Another process is currently operating on this conversation. Please retry in a few seconds.".to_owned(),
        ),
        Trouble::Several => (
            FaultKind::BadRequest,
            "Mutually exclusive parameters: name one of `previous_response_id`, `conversation` and the header \
             `sabir-conversation`."
                .to_owned(),
        ),
        Trouble::UnkeptBackground => {
            (FaultKind::BadRequest, "Background mode requires 'store' to be true.".to_owned())
        }
        Trouble::Unkept => (
            FaultKind::BadRequest,
            "This gateway keeps no conversations: set `record = \"stateful\"` in the section `[store]` of its \
             configuration."
                .to_owned(),
        ),
    };
    let mut fault = Fault::new(kind, Text::plain(message));
    fault.param = trouble.param().map(Text::literal);
    fault.code = trouble.code().map(Text::literal);
    fault.retry_after_s = matches!(trouble, Trouble::Locked).then_some(1);
    fault
}

impl Trouble<'_> {
    fn param(&self) -> Option<&'static str> {
        match self {
            Self::UnknownAnswer(_) | Self::MisspeltAnswer(_) => Some("previous_response_id"),
            Self::Locked | Self::UnknownConversation(_) | Self::UnknownTurn(_) => {
                Some("conversation")
            }
            Self::UnknownItem(_) => Some("input"),
            Self::UnknownThread(_) | Self::ThreadContinued | Self::ThreadInFlight => Some("thread"),
            Self::UnkeptBackground => Some("background"),
            Self::Several | Self::Unkept => None,
        }
    }

    pub(super) fn code(&self) -> Option<&'static str> {
        match self {
            Self::UnknownAnswer(_) => Some("previous_response_not_found"),
            Self::UnknownThread(_) => Some("thread_not_found"),
            Self::ThreadContinued => Some("thread_already_continued"),
            Self::ThreadInFlight => Some("thread_continue_in_flight"),
            Self::Locked => Some("conversation_locked"),
            Self::Several => Some("mutually_exclusive_parameters"),
            Self::MisspeltAnswer(_)
            | Self::UnknownConversation(_)
            | Self::UnknownTurn(_)
            | Self::UnknownItem(_)
            | Self::UnkeptBackground
            | Self::Unkept => None,
        }
    }
}
