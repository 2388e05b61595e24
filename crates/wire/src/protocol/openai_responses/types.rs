//! What only this protocol says, and how it may be spelled.

use crate::json::Text;
use crate::protocol::semantics::{Declared, Extras, implied, namespace, renamed};
use crate::protocol::{Protocol, semantics};

/// Spellings of this protocol, which no other protocol reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Speaker;

impl semantics::Speller for Speaker {
    const PROTOCOL: Protocol = Protocol::OpenaiResponses;
}

/// How a node or a request of this protocol was spelled.
pub(super) type Shape = semantics::Shape<Speaker>;

/// The protocol of this folder.
pub(super) const SELF: Protocol = Protocol::OpenaiResponses;

namespace! {
    /// What only Responses can say of a request.
    pub struct ResponsesSemantics {
        /// Which vendor programmes the request takes part in.
        access_programs: "access_programs" => Dropped, "only this vendor has access programmes";
        /// Whether the answer is made while the client does not wait.
        background: "background" => Dropped, "no other protocol answers in the background";
        /// What the client sends the vendor about itself, as agent CLIs do.
        client_metadata: "client_metadata" => Dropped, "only this vendor reads the client's own notes";
        /// When the vendor is to compact the conversation by itself.
        context_management: "context_management" => Dropped, "no other protocol compacts in this way";
        /// How images in the context are treated.
        image: "image" => Dropped, "no other protocol compresses images on request";
        /// What the answer is to hold beyond its text; log probabilities among it are asked for elsewhere too.
        include: "include" => Implied, "the target returns it without being asked";
        /// How often hosted tools may be called.
        max_tool_calls: "max_tool_calls" => Dropped, "no other protocol limits the calls of hosted tools";
        /// How the vendor is to moderate.
        moderation: "moderation" => Dropped, "no other protocol moderates on request";
        /// A prompt that the vendor holds, with its variables.
        prompt: "prompt" => Dropped, "the prompt is held by this vendor";
        /// Which turns' reasoning is kept.
        reasoning_context: "reasoning/context" => Dropped, "no other protocol chooses which reasoning is kept";
        /// The older word for `reasoning/summary`.
        generate_summary: "reasoning/generate_summary" => Dropped, "a setting that its own vendor has given up";
        /// Whether the model reasons in its standard or its professional way.
        reasoning_mode: "reasoning/mode" => Dropped, "no other protocol has modes of reasoning";
        /// How the stream is framed, such as with obfuscation.
        stream_options: "stream_options" => Implied, "it concerns padding that only this vendor sends";
        /// What happens when the conversation is too long.
        truncation: "truncation" => Dropped, "no other protocol truncates on request";
    }
}

const ECHO: &str = "it repeats the request";
const BOOKS: &str = "the vendor's own bookkeeping";
const DEFAULT: &str = "it is the default, or repeats the request";

/// Fields of messages, parts, tools and answers that only this protocol has, and what becomes of them elsewhere.
pub(in super::super) const DECLARED: &[Declared] = &[
    implied("annotations", "a list without citations"),
    implied("background", DEFAULT),
    implied("billing", BOOKS),
    implied("caller", "other protocols know no caller but the model"),
    implied("completed_at", "an answer that has arrived is complete"),
    implied("conversation", ECHO),
    implied("frequency_penalty", ECHO),
    implied("instructions", ECHO),
    implied("max_output_tokens", ECHO),
    implied("max_tool_calls", ECHO),
    implied("metadata", ECHO),
    renamed("namespace", "the namespace is joined to the name of the tool"),
    implied("output_text", "it repeats the output"),
    implied("parallel_tool_calls", ECHO),
    implied("presence_penalty", ECHO),
    implied("previous_response_id", ECHO),
    implied("prompt_cache_diagnostics", BOOKS),
    implied("prompt_cache_key", ECHO),
    implied("prompt_cache_options", ECHO),
    implied("prompt_cache_retention", ECHO),
    implied("reasoning", ECHO),
    implied("safety_identifier", ECHO),
    implied("store", ECHO),
    implied("temperature", ECHO),
    implied("text", ECHO),
    implied("tool_choice", ECHO),
    implied("tool_usage", BOOKS),
    implied("tools", ECHO),
    implied("top_logprobs", ECHO),
    implied("top_p", ECHO),
    implied("truncation", DEFAULT),
    implied("user", ECHO),
];

/// The message stood in `instructions`, which the vendor does not keep with the conversation.
pub(super) const INSTRUCTIONS: Shape = Shape::bit(0);
/// The part belongs to the item of the part before it.
pub(super) const CONTINUES: Shape = Shape::bit(1);
/// What nobody knows stands in the content of a message rather than being an item.
pub(super) const IN_CONTENT: Shape = Shape::bit(2);

/// The smallest limit of output tokens that is accepted. Fixture `request/sampling/output-limit-below-the-minimum`.
pub(super) const MAX_OUTPUT_TOKENS_MIN: u64 = 16;

/// The entry of `include` that asks for log probabilities.
pub(super) const INCLUDE_LOGPROBS: &str = "message.output_text.logprobs";

/// What joins the name of a namespace to that of its tool, so that names mean the same everywhere.
const NAMESPACE_JOINT: &str = "__";

/// The one name of a tool in a namespace. A function that was found by a search is called in a namespace of its own name,
/// which says nothing more.
pub(super) fn qualified<'t>(namespace: &str, name: Text<'t>) -> Text<'t> {
    if name == *namespace {
        return name;
    }
    Text::plain(format!("{namespace}{NAMESPACE_JOINT}{}", name.to_str()))
}

/// The tool's name inside its namespace; a name that does not belong to it stays as it is.
pub(super) fn unqualified<'t>(namespace: &str, name: &'t Text<'_>) -> Text<'t> {
    let whole = name.to_str();
    match whole.strip_prefix(namespace).and_then(|rest| rest.strip_prefix(NAMESPACE_JOINT)) {
        Some(own) => Text::plain(own.to_owned()),
        None => name.reborrow(),
    }
}

/// The namespace that an item states, if it does.
pub(super) fn namespace_of(extras: &Extras<'_>) -> Option<String> {
    let extra = extras.within("").find(|extra| extra.key == "namespace")?;
    extra.json.reader().string().ok().map(|text| text.to_str().into_owned())
}

/// The lists of pieces that reasoning has, with the type of their pieces.
pub(super) const SUMMARY: (&str, &str) = ("summary", "summary_text");
pub(super) const THOUGHTS: (&str, &str) = ("content", "reasoning_text");

/// The scope of the extras of one piece of reasoning.
pub(super) fn piece_scope(list: &str, index: usize) -> String {
    format!("{list}/{index}")
}
