//! Reading along: what can be told of an answer that is passed on as it is, without taking it apart.

use crate::error::Result;
use crate::json::Kind;
use crate::json::Reader;
use crate::protocol::Protocol;

/// What an answer cost. What its provider does not say is absent, not zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All input, cached or not.
    pub input: Option<u64>,
    pub cache_read: Option<u64>,
    /// All output, reasoning included.
    pub output: Option<u64>,
    pub reasoning: Option<u64>,
}

impl Counts {
    /// Takes what a later report says and keeps the rest.
    pub fn update(&mut self, later: Self) {
        let newer = |old: &mut Option<u64>, new: Option<u64>| *old = new.or(*old);
        newer(&mut self.input, later.input);
        newer(&mut self.cache_read, later.cache_read);
        newer(&mut self.output, later.output);
        newer(&mut self.reasoning, later.reasoning);
    }
}

impl Protocol {
    /// The counts in a whole answer, or in the data of a stream's frame; none where it holds none.
    ///
    /// ```
    /// use sabir_wire::Protocol;
    ///
    /// let body = r#"{"id":"c","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":5}}"#;
    /// let counts = Protocol::OpenaiChat.counts_in(body).unwrap();
    /// assert_eq!((counts.input, counts.output), (Some(3), Some(5)));
    /// ```
    pub fn counts_in(self, json: &str) -> Option<Counts> {
        // Most frames of a stream hold no usage, and this is far cheaper than reading them.
        memchr::memmem::find(json.as_bytes(), b"\"usage")?;
        let mut found = None;
        self.look(&mut Reader::new(json), &mut found).ok()?;
        found
    }

    /// Tells the number of every candidate that a frame's data speaks of, and whether it ends there. Protocols that have one
    /// answer tell of none.
    ///
    /// ```
    /// use sabir_wire::Protocol;
    ///
    /// let frame = r#"{"choices":[{"index":1,"delta":{},"finish_reason":"stop"}]}"#;
    /// let mut seen = Vec::new();
    /// Protocol::OpenaiChat.candidates_in(frame, &mut |number, ends| seen.push((number, ends))).unwrap();
    /// assert_eq!(seen, [(1, true)]);
    /// ```
    pub fn candidates_in(self, json: &str, see: &mut dyn FnMut(u64, bool)) -> Result<()> {
        let (list, end) = match self {
            Self::OpenaiChat => ("choices", "finish_reason"),
            Self::Gemini => ("candidates", "finishReason"),
            Self::OpenaiResponses | Self::AnthropicMessages => return Ok(()),
        };
        Reader::new(json).object(|key, reader| match reader.kind()? {
            Kind::Array if key == list => reader.array(|_, reader| {
                let (number, ends) = read_candidate(reader, end)?;
                see(number, ends);
                Ok(())
            }),
            _ => reader.skip(),
        })
    }

    /// Looks for the usage in an object and in the answer that a frame may wrap.
    fn look(self, reader: &mut Reader<'_>, found: &mut Option<Counts>) -> Result<()> {
        reader.object(|key, reader| {
            match (&*key, reader.kind()?) {
                ("usage" | "usageMetadata", Kind::Object) => *found = Some(self.read(reader)?),
                // Groq states the usage of a stream in a field of its own.
                ("x_groq", Kind::Object) if found.is_none() => self.look(reader, found)?,
                ("message" | "response", Kind::Object) => self.look(reader, found)?,
                _ => reader.skip()?,
            }
            Ok(())
        })
    }

    fn read(self, reader: &mut Reader<'_>) -> Result<Counts> {
        let mut usage = Tally::default();
        usage.read(self, reader)?;
        Ok(usage.counts())
    }
}

/// The number of a candidate, and whether it has the member that ends it.
fn read_candidate(reader: &mut Reader<'_>, end: &str) -> Result<(u64, bool)> {
    let (mut number, mut ends) = (0, false);
    reader.object(|key, reader| {
        match (&*key, reader.kind()?) {
            ("index", Kind::Number) => number = reader.number()?.as_u64().unwrap_or_default(),
            (key, Kind::String) if key == end => {
                ends = true;
                reader.skip()?;
            }
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok((number, ends))
}

/// The counts as the vendors divide them.
#[derive(Default)]
struct Tally {
    /// Each may be part of the input or stand beside it: Anthropic counts what is cached apart.
    input: Option<u64>,
    beside_input: u64,
    cache_read: Option<u64>,
    output: Option<u64>,
    /// Gemini counts thoughts apart.
    beside_output: u64,
    reasoning: Option<u64>,
}

impl Tally {
    fn read(&mut self, protocol: Protocol, reader: &mut Reader<'_>) -> Result<()> {
        reader.object(|key, reader| {
            match reader.kind()? {
                Kind::Number => {
                    let count = reader.number()?.as_u64();
                    self.note(protocol, &key, count.unwrap_or_default());
                }
                Kind::Object => self.read(protocol, reader)?,
                _ => reader.skip()?,
            }
            Ok(())
        })
    }

    fn note(&mut self, protocol: Protocol, key: &str, count: u64) {
        match (protocol, key) {
            (_, "prompt_tokens" | "input_tokens" | "promptTokenCount") => self.input = Some(count),
            (_, "completion_tokens" | "output_tokens" | "candidatesTokenCount") => {
                self.output = Some(count);
            }
            (_, "cached_tokens" | "cachedContentTokenCount") => self.cache_read = Some(count),
            (_, "reasoning_tokens" | "thinking_tokens") => self.reasoning = Some(count),
            (_, "cache_read_input_tokens") => {
                self.cache_read = Some(count);
                self.beside_input += count;
            }
            (_, "cache_creation_input_tokens" | "toolUsePromptTokenCount") => {
                self.beside_input += count;
            }
            (_, "thoughtsTokenCount") => {
                self.reasoning = Some(count);
                self.beside_output += count;
            }
            _ => {}
        }
    }

    fn counts(self) -> Counts {
        let with = |count: Option<u64>, beside: u64| match (count, beside) {
            (None, 0) => None,
            (count, beside) => Some(count.unwrap_or_default().saturating_add(beside)),
        };
        Counts {
            input: with(self.input, self.beside_input),
            cache_read: self.cache_read,
            output: with(self.output, self.beside_output),
            reasoning: self.reasoning,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(protocol: Protocol, json: &str, expected: Option<(u64, u64, u64, u64)>) {
        let counts = protocol.counts_in(json).map(|counts| {
            let or_zero = |count: Option<u64>| count.unwrap_or_default();
            let Counts { input, cache_read, output, reasoning } = counts;
            (or_zero(input), or_zero(cache_read), or_zero(output), or_zero(reasoning))
        });
        assert_eq!(counts, expected, "{json}");
    }

    #[test]
    fn counts_are_found_where_each_protocol_puts_them() {
        check(
            Protocol::OpenaiChat,
            r#"{"usage":{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":2},
                "completion_tokens_details":{"reasoning_tokens":3}}}"#,
            Some((9, 2, 4, 3)),
        );
        check(
            Protocol::OpenaiResponses,
            r#"{"type":"response.completed","response":{"usage":{"input_tokens":9,"output_tokens":4,
                "input_tokens_details":{"cached_tokens":2},"output_tokens_details":{"reasoning_tokens":3}}}}"#,
            Some((9, 2, 4, 3)),
        );
        check(
            Protocol::AnthropicMessages,
            r#"{"type":"message_start","message":{"usage":{"input_tokens":5,"cache_read_input_tokens":3,
                "cache_creation_input_tokens":1,"cache_creation":{"ephemeral_5m_input_tokens":1},"output_tokens":4}}}"#,
            Some((9, 3, 4, 0)),
        );
        check(
            Protocol::Gemini,
            r#"{"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":1,"thoughtsTokenCount":3,
                "cachedContentTokenCount":2}}"#,
            Some((9, 2, 4, 3)),
        );
    }

    #[test]
    fn what_holds_no_counts_gives_none() {
        check(Protocol::OpenaiChat, r#"{"choices":[],"usage":null}"#, None);
        check(Protocol::OpenaiChat, r#"{"choices":[{"delta":{"content":"\"usage\":{}"}}]}"#, None);
        check(Protocol::Gemini, r#"{"usageMetadata":"#, None);
        check(Protocol::Gemini, "[DONE]", None);
    }
}
