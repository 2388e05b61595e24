//! The fewest tokens that a request can have, by a bound that holds for every vocabulary in use: what would not fit even so
//! need not be sent.
//!
//! Vocabularies cut a text at its blanks first, so that every word is a token at least; and in no text do their tokens have more
//! than sixteen bytes on average. Signs alone count nothing: a ruler of dashes may be one token.

use sabir_wire::conversation::{Arguments, Content, Part, Request, ResultOutput};
use sabir_wire::json::Text;

/// How many bytes of a word a token has at most.
const BYTES_PER_TOKEN: u64 = 16;

/// The fewest tokens of what a model certainly reads of a request. Thinking, media, schemas and whatever a provider may leave
/// out count nothing.
pub(super) fn tokens(request: &Request<'_>) -> u64 {
    request.messages.iter().map(|message| of_parts(&message.parts)).sum()
}

/// The most that [`tokens`] can be for a body of so many bytes: a word takes two of them, the last one a single one.
pub(super) fn most_tokens(body_bytes: u64) -> u64 {
    body_bytes.div_ceil(2) + body_bytes / BYTES_PER_TOKEN
}

fn of_parts(parts: &[Part<'_>]) -> u64 {
    parts.iter().map(|part| of_content(part.content())).sum()
}

fn of_content(content: &Content<'_>) -> u64 {
    match content {
        Content::Text(text) | Content::Refusal(text) => of_text(text),
        Content::ToolCall(call) => match &call.arguments {
            Arguments::Json(json) => of_bytes(json.as_str().as_bytes()),
            Arguments::Text(text) => of_text(text),
        },
        Content::ToolResult(result) => match &result.output {
            ResultOutput::Parts(parts) => of_parts(parts),
            ResultOutput::Object { .. } => of_parts(result.output.parts()),
        },
        Content::Media(_) | Content::Reasoning(_) | Content::Opaque(_) => 0,
    }
}

fn of_text(text: &Text<'_>) -> u64 {
    of_bytes(text.to_str().as_bytes())
}

/// The fewest tokens of a text.
pub(super) fn of_bytes(text: &[u8]) -> u64 {
    text.split(u8::is_ascii_whitespace).filter(|run| is_word(run)).map(of_word).sum()
}

fn is_word(run: &[u8]) -> bool {
    run.iter().any(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii())
}

fn of_word(word: &[u8]) -> u64 {
    (word.len() as u64).div_ceil(BYTES_PER_TOKEN)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::attempt::token_estimate::text;

    #[test]
    fn words_count_and_signs_do_not() {
        for (text, fewest) in [
            ("", 0),
            ("  \n ", 0),
            ("-------- ======== ....", 0),
            ("hello", 1),
            ("hello, world", 2),
            ("internationalisation", 2),
            ("\u{4eca}\u{5929}\u{65e9}\u{4e0a}", 1),
        ] {
            assert_eq!(of_bytes(text.as_bytes()), fewest, "{text:?}");
        }
        assert_eq!(of_bytes("x".repeat(160).as_bytes()), 10);
    }

    #[test]
    fn what_a_vocabulary_counts_is_never_less() {
        for (text, counted) in text::TEXTS {
            assert!(of_bytes(text.as_bytes()) <= *counted, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_has_more_than_its_bytes_allow(text in "[ a-z0-9.\u{4e00}-\u{4e20}-]{0,200}") {
            prop_assert!(of_bytes(text.as_bytes()) <= most_tokens(text.len() as u64));
        }

        #[test]
        fn a_longer_text_has_no_fewer(one in "[ a-z-]{0,80}", other in "[ a-z-]{0,80}") {
            let both = format!("{one} {other}");
            prop_assert_eq!(of_bytes(both.as_bytes()), of_bytes(one.as_bytes()) + of_bytes(other.as_bytes()));
        }
    }
}
