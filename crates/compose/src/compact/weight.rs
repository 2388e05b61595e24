//! How much room messages take, in bytes of text.

use sabir_wire::conversation::{Arguments, Content, Message, Part, ResultOutput};

/// What a medium counts for: about what an image of a usual size takes at four bytes for each token.
const MEDIA_BYTES: usize = 4 * 765;

/// What a message counts for beside its parts: its role, and what providers put around it.
pub(crate) const MESSAGE_BYTES: usize = 16;

/// The room that messages take, as bytes of text. Media count for what a model makes of them, not for their encoding.
pub fn weight(messages: &[Message<'_>]) -> usize {
    messages.iter().map(of_message).sum()
}

pub(super) fn of_message(message: &Message<'_>) -> usize {
    MESSAGE_BYTES + message.parts.iter().map(of_part).sum::<usize>()
}

pub(crate) fn of_part(part: &Part<'_>) -> usize {
    match part.content() {
        Content::Text(text) | Content::Refusal(text) => text.len_hint(),
        Content::Media(_) => MEDIA_BYTES,
        Content::ToolCall(call) => call.name.len_hint() + of_arguments(&call.arguments),
        Content::ToolResult(result) => of_output(&result.output),
        Content::Reasoning(reasoning) => reasoning.texts.iter().map(|it| it.len_hint()).sum(),
        Content::Opaque(opaque) => opaque.json.as_str().len(),
    }
}

fn of_arguments(arguments: &Arguments<'_>) -> usize {
    match arguments {
        Arguments::Json(json) => json.as_str().len(),
        Arguments::Text(text) => text.len_hint(),
    }
}

fn of_output(output: &ResultOutput<'_>) -> usize {
    let object = match output {
        ResultOutput::Object { response, .. } => response.as_str().len(),
        ResultOutput::Parts(_) => 0,
    };
    object + output.parts().iter().map(of_part).sum::<usize>()
}
