//! Responses as the gateway sees it.

use memchr::memmem;
use sabir_wire::Protocol;
use sabir_wire::conversation::{Content, Part, ReasoningForm};
use sabir_wire::json::Kind;

use crate::call::Action;
use crate::surface::{
    Asks, Counting, History, Paths, Session, SessionParameter, Simulated, Surface, openai, session,
};

pub(super) static SURFACE: Surface = Surface {
    protocol: Protocol::OpenaiResponses,
    vendor: openai::VENDOR,
    versions: openai::VERSIONS,
    adds_version: false,
    paths: Paths::Fixed(&[
        (Action::Generate, "/responses"),
        (Action::CountTokens, "/responses/input_tokens"),
    ]),
    stream_query: None,
    embeddings: openai::EMBEDDINGS,
    owns_path: |path| path.starts_with("/v1/responses") || path.starts_with("/v1/conversations"),
    is_sent_by_client: |_| false,
    collection: None,
    session: Session {
        parameters: &[
            SessionParameter { name: "background", asks: Asks::True },
            SessionParameter { name: "previous_response_id", asks: Asks::Of(&[Kind::String]) },
            SessionParameter {
                name: "conversation",
                asks: Asks::Of(&[Kind::String, Kind::Object]),
            },
        ],
        reference: Some("item_reference"),
        refuse: session::refuse,
    },
    repeats_request: true,
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
