//! One protocol as a record: what reads it, what writes it, and how it differs where all are treated alike.

use crate::alias::{CallIdRule, ToolNameRule};
use crate::conversation::{Request, Response, Thinking, Tool};
use crate::error::Result;
use crate::fault::Fault;
use crate::json::Reader;
use crate::loss::Report;
use crate::protocol::conventions::Conventions;
use crate::protocol::field::{FieldSet, Fields};
use crate::protocol::handing::Rule;
use crate::protocol::machine::{DecodeStream, EncodeStream};
use crate::protocol::semantics::{Declared, Semantics, Spelling};
use crate::protocol::tier::Words;
use crate::protocol::watch::Progress;
use crate::protocol::{AnswerContext, DecodedRequest, Facts, Field, Protocol};
use crate::schema::SchemaLanguage;
use crate::sse::Frame;
use crate::target::Target;

/// What a request states, and what its protocol meant beside.
pub(super) type RequestAndSemantics<'a> = (Request<'a>, Semantics<'a>);

/// What a protocol's folder offers to the rest of `protocol`.
pub(super) struct Codec {
    pub(super) facts: Facts,
    pub(super) decode_request: fn(Reader<'_>) -> Result<RequestAndSemantics<'_>>,
    pub(super) encode_request: fn(&DecodedRequest<'_>, &Target, &mut Report) -> Result<String>,
    pub(super) decode_response: fn(&str) -> Result<Response<'_>>,
    pub(super) encode_response:
        fn(&Response<'_>, Protocol, &AnswerContext<'_>, &mut Report) -> String,
    /// What a client adds to its history for a whole answer, as elements of a request.
    pub(super) answer_elements: fn(&str) -> Result<Vec<String>>,
    pub(super) stream_decoder: fn() -> Box<dyn DecodeStream>,
    pub(super) stream_encoder:
        for<'a> fn(Protocol, AnswerContext<'a>) -> Box<dyn EncodeStream + 'a>,
    /// Reads what a frame that passes as it is states of the answer, and a whole answer whether it is an error.
    pub(super) watch_frame: fn(&Frame<'_>, &mut Progress) -> Result<()>,
    pub(super) watch_whole: fn(&str, &mut Progress) -> Result<bool>,
    pub(super) decode_fault: fn(Option<u16>, &str) -> Fault<'static>,
    pub(super) encode_fault: fn(&Fault<'_>) -> (u16, String),
    /// The body of a fault under another status than its kind has.
    pub(super) encode_fault_under: fn(u16, &Fault<'_>) -> String,
    /// Where a canonical field stands below its node.
    pub(super) pointer: fn(Field, Spelling) -> &'static str,
    /// What becomes of a canonical field on its way into the protocol.
    pub(super) fields: &'static Fields,
    /// The fields that never arrive as they were.
    pub(super) lost: FieldSet,
    /// Fields of messages, parts, tools and answers that only this protocol has.
    pub(super) declared_of_nodes: &'static [Declared],
    /// Fields of a request that only this protocol has.
    pub(super) declared_of_requests: &'static [Declared],
    /// Whether the only stop sequence of a request stands there by itself instead of in a list.
    pub(super) is_stop_string: fn(Spelling) -> bool,
    pub(super) schemas: Schemas,
    /// Whether a client that leaves the setting for showing out expects to see the thinking it asks for.
    pub(super) shows_thinking_unasked: fn(&Thinking<'_>) -> bool,
    /// What is taken as names of tools and ids of calls, for the model and server of the target.
    pub(super) call_rules: fn(&Target) -> (ToolNameRule, CallIdRule),
    /// Where the signatures of foreign texts and calls go; none where they stay on their parts.
    pub(super) signatures: Option<Rule>,
    /// Whether fields that carry foreign artefacts must be base64.
    pub(super) carries_base64: bool,
    pub(super) tiers: Words,
    pub(super) conventions: Conventions,
}

/// Which schema language stands where in a request.
pub(super) struct Schemas {
    pub(super) parameters: fn(&Tool<'_>) -> SchemaLanguage,
    pub(super) results: fn(&Tool<'_>) -> SchemaLanguage,
    pub(super) output: fn(&Semantics<'_>) -> SchemaLanguage,
}

impl Schemas {
    /// JSON Schema everywhere.
    pub(super) const JSON_SCHEMA: Self = Self {
        parameters: |_| SchemaLanguage::JsonSchema,
        results: |_| SchemaLanguage::JsonSchema,
        output: |_| SchemaLanguage::JsonSchema,
    };
}

impl Protocol {
    /// Whether a client of this protocol that leaves the setting for showing out expects to see the thinking it asks for.
    pub(super) fn shows_unasked(self, thinking: &Thinking<'_>) -> bool {
        (self.codec().shows_thinking_unasked)(thinking)
    }
}
