//! Reading log probabilities: the tokens that were chosen and, in a list beside them, those that might have been.

use crate::error::Result;
use crate::json::{Json, Kind, Number, Reader, Text, Writer};
use crate::protocol::Logprobs;
use crate::protocol::object::{put, set};
use crate::protocol::semantics::Fidelity;

/// Reads a `logprobsResult`; none if it has no tokens or an unexpected shape.
pub(in super::super) fn read_logprobs(result: &Json<'_>) -> Option<Logprobs<'static>> {
    let parsed = LogprobsResult::read(&mut result.reader()).ok()?;
    if parsed.chosen.is_empty() {
        return None;
    }
    let fidelity = Fidelity::whole_if(parsed.is_plain && parsed.is_paired());
    Some(Logprobs::new(parsed.entries()).with_original(result.clone().into_owned(), fidelity))
}

/// The bytes of a token, if it is whole text: half a character is shown as the mark of an unknown one.
pub(in super::super) fn token_bytes(token: &str) -> Option<&[u8]> {
    (!token.contains(char::REPLACEMENT_CHARACTER)).then_some(token.as_bytes())
}

/// A `logprobsResult`, read.
struct LogprobsResult<'a> {
    chosen: Vec<Token<'a>>,
    /// For each chosen token those that might have stood in its place.
    top: Vec<Vec<Token<'a>>>,
    /// Whether it holds nothing else.
    is_plain: bool,
}

#[derive(Default)]
struct Token<'a> {
    token: Option<Text<'a>>,
    logprob: Option<Number<'a>>,
}

impl<'a> LogprobsResult<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self> {
        let mut parsed = Self { chosen: Vec::new(), top: Vec::new(), is_plain: true };
        reader.object(|key, reader| match (&*key, reader.kind()?) {
            ("chosenCandidates", Kind::Array) => {
                parsed.tokens(reader).map(|tokens| parsed.chosen = tokens)
            }
            ("topCandidates", Kind::Array) => parsed.all_alternatives(reader),
            _ => parsed.unread(reader),
        })?;
        Ok(parsed)
    }

    fn unread(&mut self, reader: &mut Reader<'a>) -> Result<()> {
        self.is_plain = false;
        reader.skip()
    }

    fn all_alternatives(&mut self, reader: &mut Reader<'a>) -> Result<()> {
        reader.array(|_, reader| {
            let mut tokens = Vec::new();
            reader.object(|key, reader| match (&*key, reader.kind()?) {
                ("candidates", Kind::Array) => put(&mut tokens, self.tokens(reader)),
                _ => self.unread(reader),
            })?;
            self.top.push(tokens);
            Ok(())
        })
    }

    fn tokens(&mut self, reader: &mut Reader<'a>) -> Result<Vec<Token<'a>>> {
        reader.list(|_, reader| {
            let mut token = Token::default();
            reader.object(|key, reader| match (&*key, reader.kind()?) {
                ("token", Kind::String) => set(&mut token.token, reader.string()),
                ("logProbability", Kind::Number) => set(&mut token.logprob, reader.number()),
                _ => self.unread(reader),
            })?;
            self.is_plain &= token.token.is_some() && token.logprob.is_some();
            Ok(token)
        })
    }

    /// Whether every chosen token has its alternatives, or none has any.
    fn is_paired(&self) -> bool {
        let has_any = self.top.iter().any(|tokens| !tokens.is_empty());
        self.top.is_empty() || has_any && self.top.len() == self.chosen.len()
    }

    /// The list as other protocols have it.
    fn entries(&self) -> Json<'static> {
        Json::of_list(|list| {
            for (index, token) in self.chosen.iter().enumerate() {
                list.object(|entry| {
                    token.write(entry);
                    entry.array_field("top_logprobs", |list| {
                        for token in self.top.get(index).into_iter().flatten() {
                            list.object(|entry| token.write(entry));
                        }
                    });
                });
            }
        })
    }
}

impl Token<'_> {
    fn write(&self, entry: &mut Writer) {
        let token = self.token.as_ref().map(Text::to_str).unwrap_or_default();
        entry.field("token", &token);
        match &self.logprob {
            Some(logprob) => entry.field("logprob", logprob),
            // The vendor leaves out zeros.
            None => entry.field("logprob", &0_u32),
        }
        entry.key("bytes");
        match token_bytes(&token) {
            Some(bytes) => {
                entry.array(|list| bytes.iter().for_each(|byte| list.value(&u32::from(*byte))))
            }
            None => entry.null(),
        }
    }
}
