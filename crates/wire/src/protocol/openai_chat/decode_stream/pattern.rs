//! Chunks that differ from the last one in nothing but their text: most of a stream. They are known by their bytes, and
//! nobody has to read what was read before.

use std::fmt;

use memchr::memmem;

use crate::json::Text;
use crate::protocol::{Delta, Event, PartId};

/// What the last chunk was but for its text, if the text was all that it held.
#[derive(Default)]
pub(super) struct Pattern {
    /// The part that the text went to; none if there is no pattern.
    part: Option<PartId>,
    before: String,
    after: String,
    /// What follows the padding by which some servers hide the length of the text: it is different in every chunk.
    /// Fixture `stream/framing/obfuscation-and-empty-deltas`.
    behind_padding: Option<&'static str>,
    /// How many patterns in a row fitted nothing.
    useless: u32,
}

/// A pattern is no longer than this; those of all known servers have a few hundred bytes.
const BYTES_MAX: usize = 4096;

/// After so many patterns that fitted nothing, a stream is taken to repeat itself in no way that is known here.
const USELESS_MAX: u32 = 8;

const PADDING: &str = r#""obfuscation":""#;
/// What ends a chunk behind its padding.
const END: &str = r#""}"#;

impl Pattern {
    /// The text of a chunk that fits.
    pub(super) fn text_of<'f>(&mut self, data: &'f str) -> Option<(PartId, Text<'f>)> {
        let part = self.part?;
        let (text, rest) = Text::clean_prefix(data.strip_prefix(&*self.before)?);
        let mut rest = rest.strip_prefix(&*self.after)?;
        if let Some(behind) = self.behind_padding {
            rest = Text::clean_prefix(rest).1.strip_prefix(behind)?;
        }
        // A text without words opens no part.
        let fits = rest.is_empty() && !text.is_empty();
        self.useless = if fits { 0 } else { self.useless };
        fits.then_some((part, text))
    }

    /// Another chunk has been read: what the last one was no longer matters.
    pub(super) fn forget(&mut self) {
        self.part = None;
    }

    /// Takes a chunk as the pattern for those that follow, if it held nothing but a text.
    pub(super) fn learn(&mut self, data: &str, content: &ChunkContent<'_>) {
        if self.useless < USELESS_MAX
            && let ChunkContent::Text(part, text) = content
            && let Some((before, after)) = around(data, text)
            && before.len() + after.len() <= BYTES_MAX
        {
            self.part = Some(*part);
            self.useless += 1;
            let (after, behind) = split_at_padding(after);
            before.clone_into(&mut self.before);
            after.clone_into(&mut self.after);
            self.behind_padding = behind;
        }
    }
}

/// Says how long it is, never what stands in it.
impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pattern({} bytes)", self.before.len() + self.after.len())
    }
}

/// What stands on both sides of a slice.
fn around<'d>(data: &'d str, text: &str) -> Option<(&'d str, &'d str)> {
    let start = text.as_ptr().addr().checked_sub(data.as_ptr().addr())?;
    Some((data.get(..start)?, data.get(start + text.len()..)?))
}

/// What stands before the padding of a chunk, and behind it, if there is any. It is the last member of the chunk itself:
/// what has the same name elsewhere, or ends in it, is a vendor's own field.
fn split_at_padding(after: &str) -> (&str, Option<&'static str>) {
    let Some(at) = memmem::find(after.as_bytes(), PADDING.as_bytes()) else { return (after, None) };
    let (before, padded) = after.split_at(at + PADDING.len());
    let is_whole_key = !after[..at].ends_with('\\');
    match Text::clean_prefix(padded).1 {
        END if is_whole_key => (before, Some(END)),
        _ => (after, None),
    }
}

/// The content of a chunk.
#[derive(Default)]
pub(super) enum ChunkContent<'f> {
    #[default]
    Nothing,
    /// A text that can be seen in the chunk, and nothing else.
    Text(PartId, &'f str),
    Other,
}

impl<'f> ChunkContent<'f> {
    pub(super) fn observe(&mut self, event: &Event<'f>) {
        *self = match (&*self, event) {
            (Self::Nothing, Event::Delta(part, Delta::Text(text))) => match text.as_borrowed() {
                Some(text) => Self::Text(*part, text),
                None => Self::Other,
            },
            _ => Self::Other,
        };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Decoder;
    use super::*;
    use crate::protocol::machine::DecodeStream;
    use crate::sse::Frame;

    /// Every event of a stream, as the decoder emits it.
    fn events(chunks: &[String], learns: bool) -> (Vec<String>, bool) {
        let mut decoder = Decoder::default();
        let mut events = Vec::new();
        let mut has_pattern = false;
        for chunk in chunks {
            if !learns {
                decoder.pattern.useless = USELESS_MAX;
            }
            let mut emit = |event: Event<'_>| match event {
                Event::Delta(part, Delta::Text(text)) => {
                    events.push(format!("{part:?} {}", text.to_str()));
                }
                other => events.push(format!("{other:?}")),
            };
            let _ = decoder.step(&Frame { event: None, data: chunk }, &mut emit);
            has_pattern |= decoder.pattern.part.is_some();
        }
        Box::new(decoder).end(&mut |event| events.push(format!("{event:?}")));
        (events, has_pattern)
    }

    fn chunk(index: u32, delta: &str, behind: &str, end: &str) -> String {
        format!(
            r#"{{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{{"index":{index},"delta":{{{delta}}}{behind}}}]{end}}}"#
        )
    }

    /// The chunks of a stream but for their words and their padding, which are `WORD` and `PAD`.
    fn any_template() -> impl Strategy<Value = String> {
        let delta = prop_oneof![
            6 => Just(r#""content":"WORD""#),
            2 => Just(r#""role":"assistant","content":"WORD""#),
            2 => Just(r#""content":"","reasoning_content":"WORD""#),
            1 => Just(r#""reasoning":"WORD","content":null"#),
            1 => Just(r#""content":"a","reasoning":"WORD""#),
            1 => Just(r#""refusal":"WORD""#),
            1 => Just(r#""content":"a","audio":{"data":"WORD"}"#),
            1 => Just(r#""content":"WORD","audio":{"data":"a"}"#),
            1 => Just(r#""content":"WORD","obfuscation":"PAD""#),
            1 => Just(
                r#""content":"WORD","reasoning_details":[{"type":"reasoning.text","text":"b"}]"#
            ),
            1 => Just(
                r#""content":"WORD","tool_c\u0061lls":[{"index":0,"id":"i","function":{"name":"f","arguments":"1"}}]"#
            ),
        ];
        let behind = prop_oneof![
            6 => Just(r#","logprobs":null,"finish_reason":null"#),
            1 => Just(""),
            1 => Just(r#","finish_reason":"stop""#),
            1 => Just(r#","vendor":1"#),
            1 => Just(r#","obfuscation":"PAD""#),
        ];
        let end = prop_oneof![
            6 => Just(""),
            3 => Just(r#","obfuscation":"PAD""#),
            1 => Just(r#","x\"obfuscation":"PAD""#),
            1 => Just(r#","vendor":{"obfuscation":"PAD"}"#),
            1 => Just(r#","usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}"#),
            1 => Just(r#","service_tier":"default""#),
        ];
        let index = prop_oneof![8 => Just(0_u32), 1 => Just(1)];
        (index, delta, behind, end)
            .prop_map(|(index, delta, behind, end)| chunk(index, delta, behind, end))
    }

    fn any_chunks() -> impl Strategy<Value = Vec<String>> {
        let word = prop_oneof![6 => "[a-zü ]{1,9}", 1 => "", 1 => r#"[a-z]\\n\\""#];
        let filled = (0..6_usize, word, "[ab]{0,2}");
        let templates = proptest::collection::vec(any_template(), 1..5);
        (templates, proptest::collection::vec(filled, 1..30)).prop_map(|(templates, filled)| {
            // Streams repeat themselves: the first template comes most often.
            let fill = |(place, word, padding): (usize, String, String)| {
                let template = &templates[(place * place / 9) % templates.len()];
                template.replace("WORD", &word).replace("PAD", &padding)
            };
            filled.into_iter().map(fill).collect()
        })
    }

    proptest! {
        #[test]
        fn chunks_that_fit_are_told_as_if_they_had_been_read(chunks in any_chunks()) {
            prop_assert_eq!(events(&chunks, true).0, events(&chunks, false).0);
        }
    }

    #[test]
    fn a_text_that_goes_on_is_a_pattern_and_most_else_is_not() {
        let is_pattern = |delta: &str, behind: &str, end: &str| {
            let chunks = vec![chunk(0, delta, behind, end); 3];
            events(&chunks, true).1
        };
        assert!(is_pattern(r#""content":"a""#, r#","finish_reason":null"#, ""));
        assert!(is_pattern(r#""content":null,"reasoning_content":"a""#, "", ""));
        assert!(is_pattern(r#""content" : "a""#, "", ""));
        assert!(is_pattern(r#""content":"a""#, "", r#","obfuscation":"xy""#));
        assert!(!is_pattern(r#""content":"a","audio":{"data":"b"}"#, "", ""));
        assert!(!is_pattern(r#""content":"a\n""#, "", ""));
        assert!(!is_pattern(r#""content":"a""#, r#","finish_reason":"stop""#, ""));
        assert!(!is_pattern(r#""content":"a""#, "", r#","usage":{"prompt_tokens":1}"#));
    }

    #[test]
    fn a_chunk_fits_by_all_its_bytes() {
        let mut pattern = Pattern::default();
        let data = r#"{"choices":[{"delta":{"content":"one"}}],"obfuscation":"x"}"#;
        let at = data.find("one").unwrap();
        pattern.learn(data, &ChunkContent::Text(PartId(3), &data[at..at + 3]));
        let mut text_of = |data| {
            let (part, text) = pattern.text_of(data)?;
            Some((part.0, text.to_str().into_owned()))
        };
        let fits = r#"{"choices":[{"delta":{"content":"zwölf"}}],"obfuscation":"yz"}"#;
        assert_eq!(text_of(fits), Some((3, "zwölf".to_owned())));
        for other in [
            r#"{"choices":[{"delta":{"content":""}}],"obfuscation":"x"}"#,
            r#"{"choices":[{"delta":{"content":"a\n"}}],"obfuscation":"x"}"#,
            r#"{"choices":[{"delta":{"content":"a"}}],"obfuscation":"x"} "#,
            r#"{"choices":[{"delta":{"content":"a"}}],"obfuscation":"x""#,
            r#"{"choices":[{"delta":{"content":"a"},"index":1}],"obfuscation":"x"}"#,
            r#"{"choices":[{"delta":{"content":"a"#,
        ] {
            assert_eq!(text_of(other), None, "{other}");
        }
    }
}
