//! The tokens of a request by the lengths of its texts alone, without a look at them: for every request that is translated, since
//! its answer may come without a count.

use sabir_compose::class::tool_bytes;
use sabir_wire::conversation::{
    Arguments, Content, OutputFormat, Part, Request, ResultOutput, Source,
};
use sabir_wire::json::Text;

use super::{BYTES_PER_TOKEN, MEDIA_TOKENS, MESSAGE_TOKENS};

/// About as many tokens as a request has, rather too many than too few: names of fields count nothing, escapes do.
pub(super) fn tokens(request: &Request<'_>) -> u64 {
    let messages = request.messages.iter();
    let messages = messages.map(|it| MESSAGE_TOKENS + of_parts(&it.parts)).sum::<u64>();
    let schema = match &request.output {
        OutputFormat::JsonSchema(format) => {
            format.schema.as_ref().map_or(0, |it| it.as_str().len())
        }
        OutputFormat::Unset | OutputFormat::Text | OutputFormat::JsonObject => 0,
    };
    messages + of_bytes(request.tools.iter().map(tool_bytes).sum::<usize>() + schema)
}

fn of_bytes(bytes: usize) -> u64 {
    bytes.div_ceil(BYTES_PER_TOKEN) as u64
}

fn of_parts(parts: &[Part<'_>]) -> u64 {
    parts.iter().map(|part| of_content(part.content())).sum()
}

fn of_content(content: &Content<'_>) -> u64 {
    match content {
        Content::Text(text) | Content::Refusal(text) => of_bytes(text.len_hint()),
        Content::Media(media) => match &media.source {
            Source::Text { text, .. } => of_bytes(text.len_hint()),
            Source::Base64 { .. } | Source::Url { .. } | Source::File { .. } => MEDIA_TOKENS,
        },
        Content::ToolCall(call) => {
            let arguments = match &call.arguments {
                Arguments::Json(json) => json.as_str().len(),
                Arguments::Text(text) => text.len_hint(),
            };
            of_bytes(call.name.len_hint() + arguments)
        }
        Content::ToolResult(result) => match &result.output {
            ResultOutput::Parts(parts) => of_parts(parts),
            ResultOutput::Object { response, .. } => {
                of_bytes(response.as_str().len()) + of_parts(result.output.parts())
            }
        },
        Content::Reasoning(reasoning) => of_bytes(reasoning.texts.iter().map(Text::len_hint).sum()),
        Content::Opaque(opaque) => of_bytes(opaque.json.as_str().len()),
    }
}

#[cfg(test)]
mod tests {
    use sabir_wire::Protocol;

    use super::*;
    use crate::attempt::token_estimate::text;

    #[test]
    fn a_length_comes_close_to_what_the_words_say() {
        for (text, counted) in text::TEXTS.iter().filter(|(text, _)| text.len() > 80) {
            let text = text.repeat(50);
            let content = serde_json::Value::from(text);
            let body =
                format!(r#"{{"model":"m","messages":[{{"role":"user","content":{content}}}]}}"#);
            let decoded = Protocol::OpenaiChat.decode_request(body.as_bytes()).unwrap();
            let (estimated, counted) = (tokens(decoded.request()), counted * 50);
            let off = estimated.abs_diff(counted) * 100;
            assert!(off <= counted * 45, "{estimated} for {counted}: {body:.120}");
        }
    }

    #[test]
    fn pictures_count_as_pictures_and_tools_count() {
        let picture = "A".repeat(100_000);
        let body = format!(
            r#"{{"model":"m","messages":[{{"role":"user","content":[{{"type":"image_url","image_url":{{"url":"data:image/png;base64,{picture}"}}}}]}}],
            "tools":[{{"type":"function","function":{{"name":"find","description":"{}","parameters":{{"type":"object"}}}}}}]}}"#,
            "word ".repeat(400)
        );
        let decoded = Protocol::OpenaiChat.decode_request(body.as_bytes()).unwrap();
        let tokens = tokens(decoded.request());
        assert!((1_265..1_300).contains(&tokens), "{tokens}");
    }
}
