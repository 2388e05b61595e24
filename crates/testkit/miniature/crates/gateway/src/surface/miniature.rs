//! Miniature as the gateway sees it.

use http::header::AUTHORIZATION;
use sabir_wire::Protocol;

use crate::call::Action;
use crate::surface::{Auth, Compaction, Counting, Headers, History, ModelList, Paths, Session, Simulated, State, Surface, session};

pub(super) static SURFACE: Surface = Surface {
    protocol: Protocol::Miniature,
    vendor: "miniature",
    versions: &["/m1"],
    adds_version: true,
    paths: Paths::Fixed(&[(Action::Generate, "/answer")]),
    stream_query: None,
    embeddings: None,
    owns_path: |path| path.starts_with("/m1/"),
    is_sent_by_client: |head| head.path.starts_with("/m1/"),
    collection: None,
    session: Session { parameters: &[], reference: None, refuse: session::refuse },
    state: State::none("turns"),
    compaction: Compaction::none(),
    socket: None,
    repeats_request: false,
    reports_overflow_in_stream: false,
    shorteners: &[],
    closing_frame: "",
    auth: Auth { header: AUTHORIZATION, scheme: Some("Bearer"), query: None, signer: None },
    headers: Headers {
        version: None,
        is_for_vendor: |_| false,
        answer_prefix: "miniature-",
        request_id: None,
        public: &[],
    },
    counting: Counting { fields: &[], wrappers: &[], total: "in", tag: None },
    model_list: ModelList {
        whole_page: "",
        field: "models",
        write_head: |_, _| {},
        write_model: |model, writer| writer.field("id", &*model.name),
    },
    history: History::of(|issuer, _| issuer != Protocol::Miniature),
    simulator: Simulated {
        name: "sim-miniature",
        dialect: None,
        partner: Protocol::OpenaiChat,
    },
};
