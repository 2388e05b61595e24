//! The bits of shapes, by the node that carries them. Those below 22 belong to spellings.

use crate::protocol::Protocol;
use crate::protocol::semantics;

/// Spellings of this protocol, which no other protocol reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::protocol) struct Speaker;

impl semantics::Speller for Speaker {
    const PROTOCOL: Protocol = Protocol::Gemini;
}

/// How a node or a request of this protocol was spelled.
pub(in crate::protocol::gemini) type Shape = semantics::Shape<Speaker>;

/// Of requests: the model stands in the body behind `models/`.
pub(in crate::protocol::gemini) const MODEL_PREFIXED: Shape = Shape::bit(24);
/// Of requests: the model stands in the body by its bare name.
pub(in crate::protocol::gemini) const MODEL_PLAIN: Shape = Shape::bit(29);
/// Of requests: the schema of the answer is `responseJsonSchema`.
pub(in crate::protocol::gemini) const OUTPUT_JSON_SCHEMA: Shape = Shape::bit(25);
/// Of requests: tools have `parametersJsonSchema`.
pub(in crate::protocol::gemini) const TOOLS_JSON_SCHEMA: Shape = Shape::bit(30);
/// Of requests: a schema of the answer without its type.
pub(in crate::protocol::gemini) const OUTPUT_TYPE_ABSENT: Shape = Shape::bit(26);
/// Of requests: the thinking level is in lower case, as the vendor's examples have it.
pub(in crate::protocol::gemini) const LEVEL_LOWER: Shape = Shape::bit(27);
/// Of requests: there is no `contents`.
pub(in crate::protocol::gemini) const CONTENTS_ABSENT: Shape = Shape::bit(28);

/// Of requests: `contents` is one object, which the vendor takes for a list of one.
pub(in crate::protocol::gemini) const CONTENTS_ONE: Shape = Shape::bit(21);
/// Of requests: `tools` is one object.
pub(in crate::protocol::gemini) const TOOLS_ONE: Shape = Shape::bit(22);
/// Of requests: the mode of function calling is the number of its word.
pub(in crate::protocol::gemini) const MODE_NUMBER: Shape = Shape::bit(23);

/// Of messages: the system instruction.
pub(in crate::protocol::gemini) const SLOT: Shape = Shape::bit(22);
/// Of messages and candidates: no role, or one that is kept among the extras.
pub(in crate::protocol::gemini) const ROLE_ABSENT: Shape = Shape::bit(23);
/// Of messages and candidates: no `parts`.
pub(in crate::protocol::gemini) const PARTS_ABSENT: Shape = Shape::bit(24);
/// Of messages: instructions that stand among the turns.
pub(in crate::protocol::gemini) const AMONG_TURNS: Shape = Shape::bit(25);

/// Of messages: `parts` is one object.
pub(in crate::protocol::gemini) const PARTS_ONE: Shape = Shape::bit(26);

/// Of parts: `thought: false`.
pub(in crate::protocol::gemini) const THOUGHT_FALSE: Shape = Shape::bit(22);
/// Of parts that are not text: `thought: true`.
pub(in crate::protocol::gemini) const THOUGHT_TRUE: Shape = Shape::bit(23);
/// Of text parts: a signature and no text.
pub(in crate::protocol::gemini) const TEXT_ABSENT: Shape = Shape::bit(24);
/// Of calls: no `args`.
pub(in crate::protocol::gemini) const ARGS_ABSENT: Shape = Shape::bit(25);
/// Of calls in answers: a piece of a call, with a list of pieces of its arguments in their place.
pub(in crate::protocol::gemini) const CALL_PIECE: Shape = Shape::bit(26);
/// Of pieces of calls: more follow.
pub(in crate::protocol::gemini) const WILL_CONTINUE: Shape = Shape::bit(27);
/// Of results: no `response`.
pub(in crate::protocol::gemini) const RESPONSE_ABSENT: Shape = Shape::bit(26);
/// Of results: `parts` with nothing in it.
pub(in crate::protocol::gemini) const RESULT_PARTS_EMPTY: Shape = Shape::bit(27);
/// Of results: `parts` is one object.
pub(in crate::protocol::gemini) const RESULT_PARTS_ONE: Shape = Shape::bit(29);
/// Of thoughts: the signature stood in an empty part after it.
pub(in crate::protocol::gemini) const SEALED_APART: Shape = Shape::bit(28);

/// Of media: the bytes are in the URL-safe alphabet.
pub(in crate::protocol::gemini) const URL_SAFE: Shape = Shape::bit(29);
/// Of media in the URL-safe alphabet: without padding.
pub(in crate::protocol::gemini) const UNPADDED: Shape = Shape::bit(30);

/// Of tools: begins a new object of the list.
pub(in crate::protocol::gemini) const OPENS_TOOL: Shape = Shape::bit(22);
/// Of function tools: the parameters are `parametersJsonSchema`.
pub(in crate::protocol::gemini) const JSON_SCHEMA: Shape = Shape::bit(23);
/// Of function tools: the output schema is `responseJsonSchema`.
pub(in crate::protocol::gemini) const RESPONSE_JSON_SCHEMA: Shape = Shape::bit(24);
/// Of hosted tools: the definition is the whole object, not a member of it.
pub(in crate::protocol::gemini) const WHOLE_TOOL: Shape = Shape::bit(25);

/// Of the first function of a tool: `functionDeclarations` is one object.
pub(in crate::protocol::gemini) const DECLARATIONS_ONE: Shape = Shape::bit(26);

/// Of candidates: `index` is the position.
pub(in crate::protocol::gemini) const INDEX_STATED: Shape = Shape::bit(26);
/// Of candidates: no `content`.
pub(in crate::protocol::gemini) const CONTENT_ABSENT: Shape = Shape::bit(27);
/// Of candidates: it stands for a blocked prompt and was never there.
pub(in crate::protocol::gemini) const NO_CANDIDATE: Shape = Shape::bit(28);
/// Of candidates: its sources stand in `citationMetadata`.
pub(in crate::protocol::gemini) const CITED_APART: Shape = Shape::bit(29);
/// Of responses: no `candidates`.
pub(in crate::protocol::gemini) const CANDIDATES_ABSENT: Shape = Shape::bit(22);

/// Of usages: `promptTokenCount` was stated as zero.
pub(in crate::protocol::gemini) const PROMPT_ZERO: Shape = Shape::bit(22);
/// Of usages: `candidatesTokenCount` was stated as zero.
pub(in crate::protocol::gemini) const CANDIDATES_ZERO: Shape = Shape::bit(23);
/// Of usages: `candidatesTokenCount` was not stated, and is what the total leaves for it.
pub(in crate::protocol::gemini) const CANDIDATES_SUMMED: Shape = Shape::bit(24);
