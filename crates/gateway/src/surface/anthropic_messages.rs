//! Messages as the gateway sees it.

mod compaction;
mod edits;
mod thinking_off;

use http::{HeaderName, HeaderValue};
use memchr::memmem;
use sabir_wire::conversation::Request;
use sabir_wire::json::{Json, Kind, Reader, Text, Writer};
use sabir_wire::{Fault, FaultKind, Protocol, Report};

use crate::call::{Action, Link, StateAsked};
use crate::surface::{
    Asks, Auth, Change, Counting, Headers, History, Listed, ModelList, Paths, Session,
    SessionParameter, Simulated, State, Surface, Trouble, state,
};

const VERSION_HEADER: HeaderName = HeaderName::from_static("anthropic-version");

pub(super) static SURFACE: Surface = Surface {
    protocol: Protocol::AnthropicMessages,
    vendor: "anthropic",
    versions: &["/v1"],
    adds_version: true,
    paths: Paths::Fixed(&[
        (Action::Generate, "/messages"),
        (Action::CountTokens, "/messages/count_tokens"),
    ]),
    stream_query: None,
    embeddings: None,
    owns_path: |path| path.starts_with("/v1/messages"),
    is_sent_by_client: |head| head.headers.contains_key(VERSION_HEADER),
    collection: None,
    session: Session {
        parameters: &[SessionParameter { name: "thread", asks: Asks::Typed("continue") }],
        reference: None,
        refuse: refuse_thread,
    },
    state: State {
        read: read_state,
        messages: "messages",
        has_spellings: false,
        find: |_, _| None,
        own_members: &["thread"],
        has_responses: false,
        last_body: |_| None,
        explain: explain_thread,
        background: None,
    },
    compaction: compaction::COMPACTING,
    socket: None,
    repeats_request: false,
    reports_overflow_in_stream: false,
    shorteners: &["context_management", "compaction"],
    closing_frame: "",
    auth: Auth {
        header: HeaderName::from_static("x-api-key"),
        scheme: None,
        query: None,
        signer: None,
    },
    headers: Headers {
        version: Some((VERSION_HEADER, HeaderValue::from_static("2023-06-01"))),
        is_for_vendor: |name| matches!(name, "anthropic-version" | "anthropic-beta"),
        answer_prefix: "anthropic-",
        request_id: Some(HeaderName::from_static("request-id")),
        public: &["anthropic-version", "anthropic-beta"],
    },
    counting: Counting {
        fields: &[
            "messages",
            "model",
            "system",
            "thinking",
            "tool_choice",
            "tools",
            "output_config",
        ],
        wrappers: &[],
        total: "input_tokens",
        tag: None,
    },
    model_list: ModelList {
        whole_page: "?limit=1000",
        field: "data",
        write_head: write_list_head,
        write_model,
    },
    history: History {
        may_hold_foreign: |body, _| may_hold_unsigned(body) || thinking_off::may_be_needed(body),
        // Anthropic signs all thinking of its own.
        is_foreign_unsigned: |_| true,
        adapt,
        ..History::of(|issuer, _| issuer != Protocol::AnthropicMessages)
    },
    simulator: Simulated {
        name: "sim-anthropic",
        dialect: None,
        partner: Protocol::OpenaiResponses,
    },
};

fn write_list_head(models: &[Listed], writer: &mut Writer) {
    writer.field("has_more", &false);
    writer.optional("first_id", models.first().map(|it| it.name.as_str()));
    writer.optional("last_id", models.last().map(|it| it.name.as_str()));
}

fn write_model(model: &Listed, writer: &mut Writer) {
    let name = model.name.as_str();
    writer.field("type", "model");
    writer.field("id", name);
    writer.field("display_name", name);
    writer.field("created_at", "1970-01-01T00:00:00Z");
    let (input, output) = model.limits();
    writer.optional("max_input_tokens", input.as_ref());
    writer.optional("max_tokens", output.as_ref());
}

fn refuse_thread(message: String, _parameter: &'static str) -> Fault<'static> {
    let fault = Fault::new(FaultKind::NotFound, Text::plain(message));
    with_details(fault, "thread_not_found")
}

fn explain_thread(trouble: &Trouble<'_>) -> Fault<'static> {
    let fault = state::explain(trouble);
    match trouble.code() {
        Some(code) => with_details(fault, code),
        None => fault,
    }
}

/// Clients that keep a thread send the whole conversation again if it is not found, and know that by a code which
/// stands nowhere else in the protocol's errors.
fn with_details(mut fault: Fault<'static>, code: &str) -> Fault<'static> {
    let kind = match fault.kind {
        FaultKind::NotFound => "not_found_error",
        _ => "invalid_request_error",
    };
    let mut writer = Writer::with_capacity(512);
    writer.object(|body| {
        body.field("type", "error");
        body.key("error");
        body.object(|error| {
            error.field("type", kind);
            error.field("message", &*fault.message.to_str());
            error.key("details");
            error.object(|details| details.field("error_code", code));
        });
    });
    let body = Json::parse(writer.into_string()).ok();
    fault.original = body.map(|body| (Protocol::AnthropicMessages, body));
    fault
}

/// A thread begins with everything, and goes on from a message with what is new.
fn read_state(body: &str) -> sabir_wire::Result<StateAsked> {
    let mut asked = StateAsked::default();
    if memmem::find(body.as_bytes(), b"\"thread\"").is_none() {
        return Ok(asked);
    }
    Reader::new(body).object(|key, reader| {
        if key == "thread" && reader.kind()? == Kind::Object {
            let is = |kind: &str| matches!(reader.peek_tag("type"), Ok(Some(it)) if it == *kind);
            asked.is_kept = is("create") || is("continue");
            if is("continue")
                && let Some(id) = reader.peek_tag("previous_message_id")?
            {
                asked.link = Link::Thread(id.into_str().into_owned());
            }
        }
        reader.skip()
    })?;
    Ok(asked)
}

/// Whether there may be thinking that nobody signed: its signature is empty.
fn may_hold_unsigned(body: &str) -> bool {
    const KEY: &str = r#""signature":"#;
    memmem::find_iter(body.as_bytes(), KEY)
        .any(|at| body[at + KEY.len()..].trim_start().starts_with(r#""""#))
}

/// Where the history is not all Anthropic's, the model may not be able to go on thinking.
fn adapt(request: &mut Request<'_>, change: &Change<'_>) -> Report {
    match change.is_changed || thinking_off::holds_foreign_calls(request) {
        true => thinking_off::switch_off(request, change.target.family.thinking),
        false => Report::default(),
    }
}
