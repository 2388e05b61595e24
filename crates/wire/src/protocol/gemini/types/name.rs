//! Names in two spellings: the vendor writes lowerCamelCase and reads snake_case too.
//! Fixture `request/fields/gemini-snake-case-names`.

use crate::protocol::gemini::types::{PARAMETERS_JSON_SCHEMA, RESPONSE_JSON_SCHEMA, Shape};
use crate::protocol::semantics::Spelling;

/// A field of more than one word, and the bit of its node's shape that says it was spelled in snake_case.
pub(in super::super) struct Name {
    camel: &'static str,
    snake: &'static str,
    bit: Shape,
}

const fn name(number: u32, camel: &'static str, snake: &'static str) -> Name {
    Name { camel, snake, bit: Shape::bit(number).with(Shape::RESPELLED) }
}

/// The names in the body of a request, as far as the conversation has words for them.
pub(in super::super) const REQUEST_NAMES: &[Name] = &[
    name(0, "systemInstruction", "system_instruction"),
    name(1, "toolConfig", "tool_config"),
    name(2, "generationConfig", "generation_config"),
    name(3, "serviceTier", "service_tier"),
    name(4, "functionCallingConfig", "function_calling_config"),
    name(5, "allowedFunctionNames", "allowed_function_names"),
    name(6, "thinkingConfig", "thinking_config"),
    name(7, "includeThoughts", "include_thoughts"),
    name(8, "thinkingBudget", "thinking_budget"),
    name(9, "thinkingLevel", "thinking_level"),
    name(10, "topP", "top_p"),
    name(11, "topK", "top_k"),
    name(12, "candidateCount", "candidate_count"),
    name(13, "maxOutputTokens", "max_output_tokens"),
    name(14, "stopSequences", "stop_sequences"),
    name(15, "presencePenalty", "presence_penalty"),
    name(16, "frequencyPenalty", "frequency_penalty"),
    name(17, "responseLogprobs", "response_logprobs"),
    name(18, "responseMimeType", "response_mime_type"),
    name(19, "responseSchema", "response_schema"),
    name(20, "responseJsonSchema", "response_json_schema"),
];

/// The names in a part.
pub(in super::super) const PART_NAMES: &[Name] = &[
    name(0, "inlineData", "inline_data"),
    name(1, "mimeType", "mime_type"),
    name(2, "fileData", "file_data"),
    name(3, "fileUri", "file_uri"),
    name(4, "functionCall", "function_call"),
    name(5, "functionResponse", "function_response"),
    name(6, "thoughtSignature", "thought_signature"),
];

/// The names in a tool. One that requests have too has the same bit.
pub(in super::super) const TOOL_NAMES: &[Name] = &[
    name(1, "parametersJsonSchema", "parameters_json_schema"),
    name(20, "responseJsonSchema", "response_json_schema"),
];

/// The name that `key` means; a snake_case spelling is noted in `shape`, for the pointers of reports.
pub(in super::super) fn camel<'k>(
    names: &'static [Name],
    key: &'k str,
    shape: &mut Shape,
) -> &'k str {
    if !key.contains('_') {
        return key;
    }
    match names.iter().find(|name| name.snake == key) {
        Some(name) => {
            *shape = shape.with(name.bit);
            name.camel
        }
        None => key,
    }
}

/// A pointer below a node, with its names as that node spells them. What stands below the last of them has one spelling.
pub(in crate::protocol) fn respelled(suffix: &str, spelling: Spelling) -> String {
    let shape: Shape = spelling.of();
    let (mut stated, mut rest) = (String::new(), suffix);
    while let Some(path) = rest.strip_prefix('/') {
        let (name, below) = path.split_at(path.find('/').unwrap_or(path.len()));
        let Some(name) = spelled(name, shape) else { break };
        stated.extend(["/", name]);
        rest = below;
    }
    stated + rest
}

/// How a node of that shape spells a name that has several spellings.
fn spelled(name: &str, shape: Shape) -> Option<&'static str> {
    let camel = match name {
        "parameters" if shape.has(PARAMETERS_JSON_SCHEMA) => "parametersJsonSchema",
        "response" | "responseSchema" if shape.has(RESPONSE_JSON_SCHEMA) => "responseJsonSchema",
        name => name,
    };
    let mut names = [REQUEST_NAMES, PART_NAMES, TOOL_NAMES].into_iter().flatten();
    let name = names.find(|name| name.camel == camel)?;
    Some(if shape.has(name.bit) { name.snake } else { name.camel })
}
