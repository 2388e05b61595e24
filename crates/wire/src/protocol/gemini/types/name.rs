//! Names in two spellings: the vendor writes lowerCamelCase and reads snake_case too.

use crate::protocol::gemini::types::Shape;

/// A field of more than one word, and the bit of its node's shape that says it was spelled in snake_case.
pub(in crate::protocol::gemini) struct Name {
    camel: &'static str,
    snake: &'static str,
    bit: Shape,
}

const fn name(number: u32, camel: &'static str, snake: &'static str) -> Name {
    Name { camel, snake, bit: Shape::bit(number) }
}

/// The names in the body of a request, as far as the conversation has words for them.
pub(in crate::protocol::gemini) const REQUEST_NAMES: &[Name] = &[
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
pub(in crate::protocol::gemini) const PART_NAMES: &[Name] = &[
    name(0, "inlineData", "inline_data"),
    name(1, "mimeType", "mime_type"),
    name(2, "fileData", "file_data"),
    name(3, "fileUri", "file_uri"),
    name(4, "functionCall", "function_call"),
    name(5, "functionResponse", "function_response"),
    name(6, "thoughtSignature", "thought_signature"),
];

/// The names in a tool.
pub(in crate::protocol::gemini) const TOOL_NAMES: &[Name] = &[
    name(0, "functionDeclarations", "function_declarations"),
    name(1, "parametersJsonSchema", "parameters_json_schema"),
    name(2, "responseJsonSchema", "response_json_schema"),
];

/// The name that `key` means; a snake_case spelling is noted in `shape`.
pub(in crate::protocol::gemini) fn camel<'k>(
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

/// The spelling of a name in a node of that shape.
pub(in crate::protocol::gemini) fn spelled(
    names: &'static [Name],
    camel: &'static str,
    shape: Shape,
) -> &'static str {
    if shape == Shape::default() {
        return camel;
    }
    names
        .iter()
        .find(|name| name.camel == camel && shape.has(name.bit))
        .map_or(camel, |name| name.snake)
}

/// The spelling of a name in a part or in a tool of that shape; the two have no name in common.
pub(in crate::protocol::gemini) fn spelled_below(camel: &str, shape: Shape) -> &str {
    let mut names = PART_NAMES.iter().chain(TOOL_NAMES);
    names.find(|name| name.camel == camel && shape.has(name.bit)).map_or(camel, |name| name.snake)
}

/// Whether any of the names is in snake_case.
pub(in crate::protocol::gemini) fn is_respelled(names: &'static [Name], shape: Shape) -> bool {
    names.iter().any(|name| shape.has(name.bit))
}

/// The scope of extras in `generationConfig`, as the request spells it.
pub(in crate::protocol::gemini) fn generation_scope(shape: Shape) -> &'static str {
    spelled(REQUEST_NAMES, "generationConfig", shape)
}

/// The scope of extras in `thinkingConfig`.
pub(in crate::protocol::gemini) fn thinking_scope(shape: Shape) -> &'static str {
    let outer = generation_scope(shape) == "generationConfig";
    let inner = spelled(REQUEST_NAMES, "thinkingConfig", shape) == "thinkingConfig";
    match (outer, inner) {
        (true, true) => "generationConfig/thinkingConfig",
        (true, false) => "generationConfig/thinking_config",
        (false, true) => "generation_config/thinkingConfig",
        (false, false) => "generation_config/thinking_config",
    }
}

/// The scope of extras in `toolConfig`.
pub(in crate::protocol::gemini) fn tool_config_scope(shape: Shape) -> &'static str {
    spelled(REQUEST_NAMES, "toolConfig", shape)
}

/// The scope of extras in `functionCallingConfig`.
pub(in crate::protocol::gemini) fn tool_choice_scope(shape: Shape) -> &'static str {
    let outer = tool_config_scope(shape) == "toolConfig";
    let inner = spelled(REQUEST_NAMES, "functionCallingConfig", shape) == "functionCallingConfig";
    match (outer, inner) {
        (true, true) => "toolConfig/functionCallingConfig",
        (true, false) => "toolConfig/function_calling_config",
        (false, true) => "tool_config/functionCallingConfig",
        (false, false) => "tool_config/function_calling_config",
    }
}
