//! Gemini as the gateway sees it: the path names the model, the action and the form of the answer.

mod call_signatures;

use http::HeaderName;
use sabir_backend::percent;
use sabir_wire::conversation::Request;
use sabir_wire::json::Writer;
use sabir_wire::{Protocol, Report};

use self::call_signatures::Signs;
use crate::call::{Action, Delivery};
use crate::surface::{
    Auth, Change, Compaction, Counting, FromPath, Head, Headers, History, Listed, ModelList, Path,
    Paths, Session, Simulated, State, Surface, session,
};

const KEY_HEADER: HeaderName = HeaderName::from_static("x-goog-api-key");

pub(super) static SURFACE: Surface = Surface {
    protocol: Protocol::Gemini,
    vendor: "google",
    versions: &["/v1beta", "/v1"],
    adds_version: true,
    paths: Paths::Model { read: read_path, write: write_path },
    stream_query: Some(SSE_QUERY),
    embeddings: None,
    owns_path,
    is_sent_by_client,
    collection: Some(COLLECTION),
    session: Session { parameters: &[], reference: None, refuse: session::refuse },
    state: State::none("contents"),
    compaction: Compaction::none(),
    socket: None,
    repeats_request: false,
    reports_overflow_in_stream: false,
    shorteners: &[],
    closing_frame: "",
    auth: Auth { header: KEY_HEADER, scheme: None, query: Some("key"), signer: None },
    headers: Headers {
        version: None,
        is_for_vendor: |name| name.starts_with("x-goog-") && name != KEY_HEADER.as_str(),
        answer_prefix: "x-goog-",
        request_id: None,
        public: &[],
    },
    counting: Counting {
        fields: &["contents", "generationConfig", "systemInstruction", "toolConfig", "tools"],
        wrappers: &["generateContentRequest", "generate_content_request"],
        total: "totalTokens",
        tag: None,
    },
    model_list: ModelList {
        whole_page: "?pageSize=1000",
        field: "models",
        write_head: |_, _| {},
        write_model,
    },
    history: History {
        may_hold_foreign: |body, target| {
            target.family.needs_thought_signature && call_signatures::may_be_needed(body)
        },
        adapt,
        ..History::of(|issuer, _| issuer != Protocol::Gemini)
    },
    simulator: Simulated { name: "sim-gemini", dialect: None, partner: Protocol::OpenaiChat },
};

/// What stands before a model's name in bodies.
const COLLECTION: &str = "models/";

/// What asks for server-sent events; a stream without it is one JSON list.
const SSE_QUERY: &str = "alt=sse";

const GENERATE: &str = "generateContent";
const STREAM: &str = "streamGenerateContent";
const COUNT: &str = "countTokens";

/// `/models/{model}:{verb}`, where the model may hold a slash, plain or percent-encoded.
fn read_path(below: &str, query: Option<&str>) -> Option<(Action, FromPath)> {
    let (model, verb) = below.strip_prefix("/models/")?.rsplit_once(':')?;
    let is_sse = query.is_some_and(|query| query.split('&').any(|pair| pair == SSE_QUERY));
    let (action, delivery) = match verb {
        GENERATE => (Action::Generate, Delivery::Whole),
        STREAM if is_sse => (Action::Generate, Delivery::Stream),
        STREAM => (Action::Generate, Delivery::Array),
        COUNT => (Action::CountTokens, Delivery::Whole),
        _ => return None,
    };
    Some((action, FromPath { model: percent::decode(model), delivery }))
}

fn write_path(path: &Path<'_>) -> String {
    let verb = match path.action {
        Action::CountTokens => COUNT,
        Action::Generate | Action::Compact if path.delivery.is_stream() => STREAM,
        Action::Generate | Action::Compact => GENERATE,
    };
    let model = path.model.strip_prefix(COLLECTION).unwrap_or(path.model);
    format!("/models/{}:{verb}", percent::encode_path(model))
}

/// Nobody else has such paths: versions of its own, and verbs behind a model.
fn owns_path(path: &str) -> bool {
    let path = path.strip_prefix("/upload").unwrap_or(path);
    path.starts_with("/v1beta")
        || path.starts_with("/v1alpha")
        || path.strip_prefix("/v1/models/").is_some_and(|rest| rest.contains(':'))
}

fn is_sent_by_client(head: &Head<'_>) -> bool {
    let is_key = |pair: &str| SURFACE.auth.key_in_pair(pair).is_some();
    head.path.starts_with("/v1beta")
        || head.headers.contains_key(KEY_HEADER)
        || head.query.is_some_and(|query| query.split('&').any(is_key))
}

fn write_model(model: &Listed, writer: &mut Writer) {
    let name = model.name.as_str();
    writer.field("name", format!("{COLLECTION}{name}").as_str());
    writer.field("displayName", name);
    writer.key("supportedGenerationMethods");
    writer.array(|methods| [GENERATE, STREAM, COUNT].into_iter().for_each(|it| methods.value(it)));
    let (input, output) = model.limits();
    writer.optional("inputTokenLimit", input.as_ref());
    writer.optional("outputTokenLimit", output.as_ref());
    writer.optional("thinking", model.capabilities.and_then(|it| it.thinking).as_ref());
}

/// Newer models want a signature on calls, those of other vendors included.
fn adapt(request: &mut Request<'_>, change: &Change<'_>) -> Report {
    if !change.target.family.needs_thought_signature {
        return Report::default();
    }
    let signs = if change.is_repaired { Signs::All } else { Signs::OfOthers };
    call_signatures::sign(request, signs)
}
