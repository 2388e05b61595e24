//! What only this protocol says, and how it may be spelled.

use crate::protocol::semantics::{Declared, approximated, dropped, implied, namespace};
use crate::protocol::{Protocol, semantics};

/// Spellings of this protocol, which no other protocol reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Speaker;

impl semantics::Speller for Speaker {
    const PROTOCOL: Protocol = Protocol::AnthropicMessages;
}

/// How a node or a request of this protocol was spelled.
pub(super) type Shape = semantics::Shape<Speaker>;

/// The protocol of this folder.
pub(super) const SELF: Protocol = Protocol::AnthropicMessages;

namespace! {
    /// What only Anthropic Messages can say of a request.
    pub struct AnthropicSemantics {
        /// The edition that Bedrock and Vertex want in the body.
        anthropic_version: "anthropic_version" => Implied, "each protocol states its own version";
        /// Beta features that Bedrock and Vertex want in the body.
        anthropic_beta: "anthropic_beta" => Dropped, "beta features of this vendor";
        /// Marks the last block that can be cached.
        cache_control: "cache_control" => Approximated, "other vendors cache by themselves, for a time of their own";
        /// Summaries of the conversation that the vendor makes.
        compaction: "compaction" => Dropped, "no other protocol compacts for the client";
        /// Where code runs and skills live.
        container: "container" => Dropped, "no other protocol has containers by id";
        /// What the vendor removes from the context by itself.
        context_management: "context_management" => Dropped, "no other protocol edits the context";
        /// Which earlier message to compare with.
        diagnostics: "diagnostics" => Dropped, "no other protocol has diagnostics";
        /// Pays for a fallback that was announced.
        fallback_credit_token: "fallback_credit_token" => Dropped, "no other protocol has fallbacks";
        /// Models that the vendor may fall back to.
        fallbacks: "fallbacks" => Dropped, "no other protocol has fallbacks";
        /// Where the model must run.
        inference_geo: "inference_geo" => Dropped, "no other protocol chooses where the model runs";
        /// Servers whose tools the vendor calls.
        mcp_servers: "mcp_servers" => Dropped, "servers that only this vendor calls";
        /// A speed that costs more.
        speed: "speed" => Dropped, "no other protocol has such a switch";
        /// Tokens that a whole task may take.
        task_budget: "output_config/task_budget" => Dropped, "no other protocol has a budget for a task";
        /// A conversation that the vendor holds.
        thread: "thread" => Dropped, "a conversation that only this vendor holds";
    }
}

/// Fields of messages, parts, tools and answers that only this protocol has, and what becomes of them elsewhere.
pub(in super::super) const DECLARED: &[Declared] = &[
    dropped("allowed_callers", "no other protocol restricts who may call a tool"),
    implied("caller", "other protocols know no caller but the model"),
    dropped("citations", "no other protocol can request citations"),
    dropped("container", "no other protocol has containers by id"),
    approximated("content", "only the text of a search result can be sent to another vendor"),
    dropped("context", "no other protocol takes notes on a document"),
    dropped("context_management", "no other protocol edits the context"),
    dropped("defer_loading", "no other protocol loads tools late"),
    dropped("diagnostics", "no other protocol has diagnostics"),
    implied("eager_input_streaming", "other protocols stream arguments as they come"),
    dropped("input_examples", "no other protocol has examples of arguments"),
    approximated("source", "only the text of a search result can be sent to another vendor"),
    approximated("source/content", "only the text of a document can be sent to another vendor"),
    dropped("toolset_name", "no other protocol has sets of tools"),
    dropped("transformations", "no other protocol sets how large images are handled"),
];

/// A request: the output format stands in `output_format`, as it did while it was in beta.
pub(super) const OUTPUT_FORMAT: Shape = Shape::bit(0);

/// A document: its text is the content of a source of type `content`.
pub(super) const CONTENT_SOURCE: Shape = Shape::bit(1);

/// A document: the content of its source is a list of blocks, whose texts are the document.
pub(super) const CONTENT_BLOCKS: Shape = Shape::bit(2);

/// A document: it is the result of a search, whose texts are the document.
pub(super) const SEARCH_RESULT: Shape = Shape::bit(3);
