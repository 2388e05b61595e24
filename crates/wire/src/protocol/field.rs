//! The fields of the canonical conversation, by name: what each protocol calls them and what becomes of them there.

use crate::conversation::Count;
use crate::loss::LossKind;
use crate::protocol::semantics::Speller;
use crate::protocol::usage::Table;

macro_rules! fields {
    ($( $(#[$doc:meta])* $variant:ident => $name:literal; )*) => {
        /// A field of the canonical request or response.
        ///
        /// Each protocol's `losses.rs` states of every field where it stands in that protocol and what becomes of it on
        /// the way there. A new variant breaks the build in all of them until each has its row.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Field {
            $( $(#[$doc])* $variant, )*
        }

        impl Field {
            pub const ALL: &'static [Self] = &[ $( Self::$variant, )* ];

            /// The field's name for people.
            pub fn name(self) -> &'static str {
                match self {
                    $( Self::$variant => $name, )*
                }
            }
        }
    };
}

fields! {
    // The request as a whole.
    Model => "model";
    Stream => "stream";
    MaxOutputTokens => "max output tokens";
    Temperature => "temperature";
    TopP => "top p";
    TopK => "top k";
    Seed => "seed";
    PresencePenalty => "presence penalty";
    FrequencyPenalty => "frequency penalty";
    Stop => "stop sequences";
    Candidates => "number of answers";
    Logprobs => "log probabilities";
    TopLogprobs => "top log probabilities";
    OutputFormat => "output format";
    OutputSchema => "output schema";
    OutputSchemaName => "output schema: name";
    OutputSchemaDescription => "output schema: description";
    OutputSchemaStrict => "output schema: strict";
    Verbosity => "verbosity";
    ThinkingMode => "thinking: mode";
    ThinkingEffort => "thinking: effort";
    ThinkingBudget => "thinking: budget";
    ThinkingShow => "thinking: shown";
    ToolChoice => "tool choice";
    ParallelToolCalls => "parallel tool calls";
    SafetyIdentifier => "safety identifier";
    User => "user";
    Metadata => "metadata";
    ServiceTier => "service tier";
    Store => "store";
    CacheKey => "prompt cache key";
    CacheOptions => "prompt cache options";
    CacheRetention => "prompt cache retention";
    PreviousResponse => "previous response";
    Conversation => "conversation";
    ToolsStatedEmpty => "tools stated empty";
    // Messages.
    /// The role word itself; the message is lost with it only by its own fate.
    Role => "message: role";
    MessageName => "message: name";
    // Parts.
    Text => "text";
    Image => "image";
    Audio => "audio";
    Video => "video";
    Document => "document";
    MediaDetail => "media: detail";
    MediaName => "media: name";
    MediaFile => "media: file id";
    MediaUrl => "media: URL";
    ToolCall => "tool call";
    CallId => "tool call: id";
    CallName => "tool call: name";
    CallArguments => "tool call: arguments";
    CustomCall => "custom tool call";
    ToolResult => "tool result";
    ResultCallId => "tool result: call id";
    ResultName => "tool result: tool name";
    ResultOutput => "tool result: output";
    ResultMedia => "tool result: media";
    ResultIsError => "tool result: error flag";
    Reasoning => "reasoning";
    Signature => "reasoning: signature";
    Ciphertext => "reasoning: ciphertext";
    Refusal => "refusal";
    Opaque => "vendor's own content";
    CacheMarker => "cache marker";
    Citations => "citations";
    PartLogprobs => "part: log probabilities";
    ItemId => "item id";
    ItemStatus => "item status";
    ItemPhase => "item phase";
    // Tools.
    Tool => "function tool";
    ToolName => "tool: name";
    ToolDescription => "tool: description";
    ToolParameters => "tool: parameters";
    ToolStrict => "tool: strict";
    ToolOutputSchema => "tool: output schema";
    ToolCacheMarker => "tool: cache marker";
    CustomTool => "custom tool";
    CustomFormat => "custom tool: format";
    HostedTool => "hosted tool";
    NamespaceTool => "tool namespace";
    // The response as a whole.
    ResponseId => "response: id";
    ResponseModel => "response: model";
    ResponseCreated => "response: time";
    ResponseServiceTier => "response: service tier";
    FinishReason => "finish reason";
    StopSequence => "stop sequence met";
    FinishDetails => "finish details";
    UsageInput => "usage: input";
    UsageCacheRead => "usage: cache read";
    UsageCacheWrite => "usage: cache write";
    UsageCacheWrite5m => "usage: cache write, 5 minutes";
    UsageCacheWrite1h => "usage: cache write, 1 hour";
    UsageToolPrompt => "usage: tool prompt";
    UsageOutput => "usage: output";
    UsageReasoning => "usage: reasoning";
    UsageTotal => "usage: total";
}

/// A set of fields, small enough to be asked about every part of a request.
#[derive(Clone, Copy)]
pub(super) struct FieldSet(u128);

const _: () = assert!(Field::ALL.len() <= u128::BITS as usize, "a bit for each field");

impl FieldSet {
    pub(super) const fn with(self, field: Field) -> Self {
        Self(self.0 | 1 << field as u32)
    }

    pub(super) const fn has(self, field: Field) -> bool {
        self.0 >> field as u32 & 1 == 1
    }
}

/// What a protocol does with one canonical field.
#[derive(Clone, Copy)]
pub(super) struct Row {
    field: Field,
    /// Where it stands below its node; empty for a whole node, or for a field whose place the node already names.
    pub(super) pointer: &'static str,
    pub(super) fate: Fate,
}

pub(super) const fn row(field: Field, pointer: &'static str, fate: Fate) -> Row {
    Row { field, pointer, fate }
}

/// What a protocol does with every canonical field, in the order of their declaration.
pub(super) struct Fields([Row; Field::ALL.len()]);

impl Fields {
    /// The table of all fields, of which the usage has its own. One that is missing or out of order breaks the build.
    pub(super) const fn of<S: Speller>(
        rows: [Row; Field::UsageInput as usize],
        usage: &Table<S>,
    ) -> Self {
        let mut all = [rows[0]; Field::ALL.len()];
        let mut at = 0;
        while at < all.len() {
            let field = Field::ALL[at];
            all[at] = match Count::of(field) {
                Some(count) => row(field, usage.row(count).pointer, usage.row(count).fate),
                None => rows[at],
            };
            assert!(all[at].field as usize == at, "a row is out of order");
            at += 1;
        }
        Self(all)
    }

    pub(super) const fn row(&self, field: Field) -> &Row {
        &self.0[field as usize]
    }

    /// The fields that never arrive as they were.
    pub(super) const fn lost(&self) -> FieldSet {
        let mut lost = FieldSet(0);
        let mut at = 0;
        while at < self.0.len() {
            if let Fate::Lost(..) = self.0[at].fate {
                lost = lost.with(self.0[at].field);
            }
            at += 1;
        }
        lost
    }
}

/// What becomes of a canonical field in a target protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It arrives.
    Carried,
    /// It depends on the value or the model; the encoder reports what it does. The words name what it depends on.
    Depends(&'static str),
    /// It does not arrive and need not, because the target does so anyway or has its own; no report names it.
    Implied(&'static str),
    /// It never arrives as it was.
    Lost(LossKind, &'static str),
}

impl Fate {
    /// What is lost of a field that never arrives as it was.
    pub(super) fn loss(self) -> Option<(LossKind, &'static str)> {
        match self {
            Self::Lost(kind, reason) => Some((kind, reason)),
            Self::Carried | Self::Depends(_) | Self::Implied(_) => None,
        }
    }
}

pub(super) const CARRIED: Fate = Fate::Carried;

pub(super) const fn depends(words: &'static str) -> Fate {
    Fate::Depends(words)
}

pub(super) const fn implied(reason: &'static str) -> Fate {
    Fate::Implied(reason)
}

pub(super) const fn approximated(reason: &'static str) -> Fate {
    Fate::Lost(LossKind::Approximated, reason)
}

pub(super) const fn dropped(reason: &'static str) -> Fate {
    Fate::Lost(LossKind::Dropped, reason)
}
