//! Chat Completions as the gateway sees it. Many servers beside OpenAI's speak it.

mod strip_reasoning_fields;

use memchr::memmem;
use sabir_wire::Protocol;
use sabir_wire::target::{Dialect, Target};

use crate::call::Action;
use crate::surface::{
    Compaction, Counting, History, Paths, Session, Simulated, State, Surface, openai, session,
};

pub(super) static SURFACE: Surface = Surface {
    protocol: Protocol::OpenaiChat,
    vendor: openai::VENDOR,
    versions: openai::VERSIONS,
    adds_version: false,
    paths: Paths::Fixed(&[(Action::Generate, "/chat/completions")]),
    stream_query: None,
    embeddings: openai::EMBEDDINGS,
    owns_path: |_| false,
    is_sent_by_client: |_| false,
    collection: None,
    session: Session { parameters: &[], reference: None, refuse: session::refuse },
    state: State::none("messages"),
    compaction: Compaction::none(),
    socket: None,
    repeats_request: false,
    reports_overflow_in_stream: false,
    shorteners: &["transforms", "plugins"],
    closing_frame: "",
    auth: openai::auth(),
    headers: openai::headers(),
    counting: Counting { fields: &[], wrappers: &[], total: "input_tokens", tag: None },
    model_list: openai::MODEL_LIST,
    history: History {
        may_hold_foreign: may_hold_googles,
        strip: strip_reasoning_fields::without_refused,
        ..History::of(refuses_artefacts_of)
    },
    simulator: Simulated {
        name: "sim-chat",
        // Reasoning in a history is refused, as OpenAI does.
        dialect: Some(Dialect::OPENAI),
        partner: Protocol::AnthropicMessages,
    },
};

/// A server of Chat may be Google's, whose signatures the protocol has a field for; one that nobody knows gets what its
/// client sends.
fn refuses_artefacts_of(issuer: Protocol, target: &Target) -> bool {
    match issuer {
        Protocol::OpenaiChat => false,
        Protocol::Gemini => target.is_known_beside_google(),
        _ => true,
    }
}

fn may_hold_googles(body: &str, target: &Target) -> bool {
    target.is_known_beside_google()
        && memmem::find(body.as_bytes(), b"\"thought_signature\"").is_some()
}
