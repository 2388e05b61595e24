//! Responses as the gateway sees it.

mod background;
mod compaction;
mod socket;

use http::Method;
use memchr::memmem;
use sabir_backend::percent;
use sabir_wire::Protocol;
use sabir_wire::conversation::{Content, Part, ReasoningForm};
use sabir_wire::json::{Kind, Reader};

use crate::call::{Action, Link, StateAsked};
use crate::surface::{
    Asks, Counting, History, Kept, Paths, Session, SessionParameter, Simulated, State, Surface,
    openai, session, state,
};

pub(super) static SURFACE: Surface = Surface {
    protocol: Protocol::OpenaiResponses,
    vendor: openai::VENDOR,
    versions: openai::VERSIONS,
    adds_version: false,
    paths: Paths::Fixed(&[
        (Action::Generate, "/responses"),
        (Action::CountTokens, "/responses/input_tokens"),
        (Action::Compact, "/responses/compact"),
    ]),
    stream_query: None,
    embeddings: openai::EMBEDDINGS,
    owns_path: |path| path.starts_with("/v1/responses") || path.starts_with("/v1/conversations"),
    is_sent_by_client: |_| false,
    collection: None,
    session: Session {
        parameters: &[
            SessionParameter { name: "previous_response_id", asks: Asks::Of(&[Kind::String]) },
            SessionParameter {
                name: "conversation",
                asks: Asks::Of(&[Kind::String, Kind::Object]),
            },
        ],
        reference: Some("item_reference"),
        refuse: session::refuse,
    },
    state: State {
        read: read_state,
        messages: "input",
        has_spellings: true,
        find: find_kept,
        own_members: &["previous_response_id", "conversation"],
        has_responses: true,
        last_body,
        explain: state::explain,
        background: Some(background::BACKGROUND),
    },
    compaction: compaction::COMPACTING,
    socket: Some(socket::SOCKET),
    repeats_request: true,
    reports_overflow_in_stream: true,
    shorteners: &["truncation", "context_management"],
    // The vendor sends none, its clients take it, and readers of the open specification wait for it.
    closing_frame: "data: [DONE]\n\n",
    auth: openai::auth(),
    headers: openai::headers(),
    counting: Counting {
        fields: &[
            "input",
            "instructions",
            "model",
            "parallel_tool_calls",
            "reasoning",
            "text",
            "tool_choice",
            "tools",
            "truncation",
        ],
        wrappers: &[],
        total: "input_tokens",
        tag: Some(("object", "response.input_tokens")),
    },
    model_list: openai::MODEL_LIST,
    history: History {
        may_hold_foreign: |body, _| may_hold_unsigned(body),
        is_foreign_unsigned,
        ..History::of(|issuer, _| issuer != Protocol::OpenaiResponses)
    },
    simulator: Simulated {
        name: "sim-responses",
        dialect: None,
        partner: Protocol::AnthropicMessages,
    },
};

/// How the ids begin that this gateway gives to reasoning of other vendors: the item's prefix, then the exchange's.
const MINTED: &str = "rs_ex_";

/// Whether there may be items of reasoning without encrypted content: there is less of that than there are items.
fn may_hold_unsigned(body: &str) -> bool {
    let after = |word: &'static str| {
        let places = memmem::find_iter(body.as_bytes(), word);
        places.map(move |at| body[at + word.len()..].trim_start())
    };
    let items = after(r#""reasoning""#).filter(|rest| !rest.starts_with(':')).count();
    let is_encrypted = |rest: &str| {
        rest.strip_prefix(':').is_some_and(|value| value.trim_start().starts_with('"'))
    };
    items > 0 && items > after(r#""encrypted_content""#).filter(|rest| is_encrypted(rest)).count()
}

fn is_foreign_unsigned(part: &Part<'_>) -> bool {
    let id = part.semantics().item().and_then(|item| item.id.as_ref());
    match (id, part.content()) {
        // OpenAI would look for an item of that name among those that it keeps.
        (Some(id), _) => id.to_str().starts_with(MINTED),
        // A summary is for people: without an id and encrypted content no model can use it.
        (None, Content::Reasoning(it)) => it.form == ReasoningForm::Summary,
        (None, _) => false,
    }
}

/// An answer is kept unless the client says otherwise.
fn read_state(body: &str) -> sabir_wire::Result<StateAsked> {
    let (mut is_kept, mut in_background) = (true, false);
    let (mut previous, mut conversation) = (None, None);
    Reader::new(body).object(|key, reader| {
        match (&*key, reader.kind()?) {
            ("store", Kind::Boolean) => is_kept = reader.boolean()?,
            ("background", Kind::Boolean) => in_background = reader.boolean()?,
            ("previous_response_id", Kind::String) => previous = Some(reader.string()?),
            ("conversation", Kind::String) => conversation = Some(reader.string()?),
            ("conversation", Kind::Object) => {
                conversation = reader.peek_tag("id")?;
                reader.skip()?;
            }
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let link = match (previous, conversation) {
        (None, None) => Link::Nothing,
        (Some(id), None) => Link::Answer(id.into_str().into_owned()),
        (None, Some(id)) => Link::Conversation(id.into_str().into_owned()),
        (Some(_), Some(_)) => Link::Several,
    };
    Ok(StateAsked { is_kept, in_background, link })
}

/// The last event repeats the answer.
fn last_body(data: &str) -> Option<String> {
    let reader = Reader::new(data);
    let kind = reader.peek_tag("type").ok()??;
    if kind != *"response.completed" && kind != *"response.incomplete" {
        return None;
    }
    response_in(data)
}

/// The answer as an event has it.
fn response_in(data: &str) -> Option<String> {
    let mut body = None;
    let read = Reader::new(data).object(|key, reader| match &*key {
        "response" => {
            body = Some(reader.raw()?.as_str().to_owned());
            Ok(())
        }
        _ => reader.skip(),
    });
    read.ok().and(body)
}

/// What is asked of answers and conversations that were kept.
fn find_kept(method: &Method, below: &str) -> Option<Kept> {
    let mut steps = below.strip_prefix('/')?.split('/').map(percent::decode);
    let (collection, id) = (steps.next()?, steps.next());
    let (part, item) = (steps.next(), steps.next());
    if steps.next().is_some() || id.as_deref() == Some("") {
        return None;
    }
    let kept = match (&*collection, method.as_str(), id, part.as_deref(), item) {
        ("responses", "GET", Some(id), None, None) => Kept::ReadAnswer(id),
        ("responses", "DELETE", Some(id), None, None) => Kept::DeleteAnswer(id),
        ("responses", "GET", Some(id), Some("input_items"), None) => Kept::ListInput(id),
        ("responses", "POST", Some(id), Some("cancel"), None) => Kept::CancelAnswer(id),
        ("responses", "POST", Some(id), Some("submit_tool_outputs"), None) => {
            Kept::SubmitResults(id)
        }
        ("conversations", "POST", None, None, None) => Kept::CreateConversation,
        ("conversations", "GET", Some(id), None, None) => Kept::ReadConversation(id),
        ("conversations", "POST", Some(id), None, None) => Kept::ChangeConversation(id),
        ("conversations", "DELETE", Some(id), None, None) => Kept::DeleteConversation(id),
        ("conversations", "GET", Some(id), Some("items"), None) => Kept::ListItems(id),
        ("conversations", "POST", Some(id), Some("items"), None) => Kept::AddItems(id),
        ("conversations", "GET", Some(conversation), Some("items"), Some(item)) => {
            Kept::ReadItem { conversation, item }
        }
        ("conversations", "DELETE", Some(conversation), Some("items"), Some(item)) => {
            Kept::DeleteItem { conversation, item }
        }
        _ => return None,
    };
    Some(kept)
}
