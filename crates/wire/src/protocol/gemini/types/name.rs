//! Names in two spellings: the vendor writes lowerCamelCase and reads snake_case too.

use crate::protocol::gemini::types::Shape;

/// A field of more than one word, and the bit of its node's shape that says it was spelled in snake_case.
pub(in crate::protocol::gemini) struct Name {
    camel: &'static str,
    snake: &'static str,
    bit: Shape,
    /// Where the snake_case spelling stands in a request, and where the other does; empty below nodes that have a shape of
    /// their own.
    paths: &'static [&'static str],
}

const fn name(number: u32, camel: &'static str, snake: &'static str) -> Name {
    Name { camel, snake, bit: Shape::bit(number), paths: &[] }
}

/// A name in the body of a request, below `parent`.
macro_rules! request_name {
    ($number:literal, $parent:literal, $camel:literal, $snake:literal) => {
        Name {
            paths: &[concat!($parent, $snake), concat!($parent, $camel)],
            ..name($number, $camel, $snake)
        }
    };
}

/// The names in the body of a request, as far as the conversation has words for them.
pub(in crate::protocol::gemini) const REQUEST_NAMES: &[Name] = &[
    request_name!(0, "", "systemInstruction", "system_instruction"),
    request_name!(1, "", "toolConfig", "tool_config"),
    request_name!(2, "", "generationConfig", "generation_config"),
    request_name!(3, "", "serviceTier", "service_tier"),
    request_name!(4, "toolConfig/", "functionCallingConfig", "function_calling_config"),
    request_name!(
        5,
        "toolConfig/functionCallingConfig/",
        "allowedFunctionNames",
        "allowed_function_names"
    ),
    request_name!(6, "generationConfig/", "thinkingConfig", "thinking_config"),
    request_name!(7, "generationConfig/thinkingConfig/", "includeThoughts", "include_thoughts"),
    request_name!(8, "generationConfig/thinkingConfig/", "thinkingBudget", "thinking_budget"),
    request_name!(9, "generationConfig/thinkingConfig/", "thinkingLevel", "thinking_level"),
    request_name!(10, "generationConfig/", "topP", "top_p"),
    request_name!(11, "generationConfig/", "topK", "top_k"),
    request_name!(12, "generationConfig/", "candidateCount", "candidate_count"),
    request_name!(13, "generationConfig/", "maxOutputTokens", "max_output_tokens"),
    request_name!(14, "generationConfig/", "stopSequences", "stop_sequences"),
    request_name!(15, "generationConfig/", "presencePenalty", "presence_penalty"),
    request_name!(16, "generationConfig/", "frequencyPenalty", "frequency_penalty"),
    request_name!(17, "generationConfig/", "responseLogprobs", "response_logprobs"),
    request_name!(18, "generationConfig/", "responseMimeType", "response_mime_type"),
    request_name!(19, "generationConfig/", "responseSchema", "response_schema"),
    request_name!(20, "generationConfig/", "responseJsonSchema", "response_json_schema"),
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

/// Where the snake_case names of a request stand; one inside another goes with it.
pub(in crate::protocol::gemini) fn respelled_paths(
    shape: Shape,
) -> impl Iterator<Item = &'static str> {
    let respelled = move || REQUEST_NAMES.iter().filter(move |name| shape.has(name.bit));
    let is_inside = move |path: &str| {
        let mut outer = respelled().filter_map(|name| name.paths.get(1));
        outer.any(|outer| path.strip_prefix(outer).is_some_and(|rest| rest.starts_with('/')))
    };
    let paths = respelled().filter_map(|name| name.paths.first().copied());
    paths.filter(move |path| !is_inside(path))
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

/// Where the mode of function calling stands.
pub(in crate::protocol::gemini) fn mode_path(shape: Shape) -> &'static str {
    match tool_choice_scope(shape) {
        "toolConfig/functionCallingConfig" => "toolConfig/functionCallingConfig/mode",
        "toolConfig/function_calling_config" => "toolConfig/function_calling_config/mode",
        "tool_config/functionCallingConfig" => "tool_config/functionCallingConfig/mode",
        _ => "tool_config/function_calling_config/mode",
    }
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
