//! Where each canonical field stands in this protocol, and what becomes of it on the way here.

use crate::loss::LossKind;
use crate::protocol::{Fate, Field};
use crate::protocol::field::{Fields, Row, dropped, row};
use crate::protocol::miniature::usage::USAGE;
use crate::protocol::semantics::Spelling;

/// Where a canonical field stands, below its node.
pub(in super::super) fn pointer(field: Field, _: Spelling) -> &'static str {
    FIELDS.row(field).pointer
}

/// What this protocol says to every field.
pub(super) static FIELDS: Fields = Fields::of(TABLE, &USAGE);

const TABLE: [Row; Field::UsageInput as usize] = {
    let mut rows = [row(Field::Model, "", Fate::Carried); Field::UsageInput as usize];
    let mut at = 0;
    while at < rows.len() {
        let field = Field::ALL[at];
        rows[at] = row(field, place(field), fate(field));
        at += 1;
    }
    rows
};

/// Fields that no input of this protocol sets stand nowhere.
const fn place(field: Field) -> &'static str {
    match field {
        Field::Model | Field::ResponseModel => "/model",
        Field::Stream => "/stream",
        Field::MaxOutputTokens => "/limit",
        Field::Role => "/who",
        Field::Text => "/text",
        Field::ResponseId => "/id",
        Field::FinishReason => "/end",
        _ => "",
    }
}

/// What becomes of a canonical field on its way into this protocol. The list is complete, so that a new field breaks the
/// build here.
#[rustfmt::skip]
const fn fate(field: Field) -> Fate {
    use Field::*;
    match field {
        Model | Stream | MaxOutputTokens | ResponseId | ResponseModel => Fate::Carried,
        Role => Fate::Depends("developers speak as the system"),
        Text => Fate::Depends("texts of one answer are joined"),
        FinishReason => Fate::Depends("an answer is done or cut off"),
        ToolsStatedEmpty => Fate::Implied("there are no tools"),
        ItemId | ItemStatus => Fate::Implied("parts have no ids"),
        ResponseCreated => Fate::Implied("no creation time is stated"),
        Refusal => Fate::Lost(LossKind::Approximated, "sent as plain text"),
        Temperature | TopP | TopK | Seed | PresencePenalty | FrequencyPenalty | Stop | Candidates
        | Logprobs | TopLogprobs | OutputFormat | OutputSchema | OutputSchemaName
        | OutputSchemaDescription | OutputSchemaStrict | Verbosity | ThinkingMode | ThinkingEffort
        | ThinkingBudget | ThinkingShow | SafetyIdentifier | User | Metadata | ServiceTier | Store
        | CacheKey | CacheOptions | CacheRetention | PreviousResponse | Conversation => {
            dropped("Miniature has no such setting")
        }
        ToolChoice | ParallelToolCalls | ToolCall | CustomCall | ToolResult | Tool | CustomTool
        | HostedTool | NamespaceTool => dropped("Miniature has no tools"),
        MessageName | Image | Audio | Video | Document | Reasoning | Signature | Ciphertext | Opaque
        | CacheMarker | Citations | PartLogprobs | ItemPhase => {
            dropped("a turn is a text and nothing else")
        }
        MediaDetail | MediaName | MediaFile | MediaUrl | CallId | CallName | CallArguments
        | ResultCallId | ResultName | ResultOutput | ResultMedia | ResultIsError | ToolName
        | ToolDescription | ToolParameters | ToolStrict | ToolOutputSchema | ToolCacheMarker
        | CustomFormat => Fate::Implied("it goes with what it belongs to"),
        ResponseServiceTier | StopSequence | FinishDetails => {
            dropped("an answer states its end in one word")
        }
        UsageInput | UsageCacheRead | UsageCacheWrite | UsageCacheWrite5m | UsageCacheWrite1h
        | UsageToolPrompt | UsageOutput | UsageReasoning | UsageTotal => Fate::Depends("see `usage.rs`"),
    }
}
