//! Reading requests: the body's fields here, messages, parts, tools and options in files of their own.

pub(super) mod content;
pub(super) mod message;
mod options;
mod tools;

use crate::conversation::Request;
use crate::error::{Error, ErrorKind, Result};
use crate::json::{Json, Reader, Text};
use crate::place::Step;
use crate::protocol::codec::RequestAndSemantics;
use crate::protocol::object::{read_object, set};
use crate::protocol::openai_chat::ChatSemantics;
use crate::protocol::openai_chat::types::request_shape;
use crate::protocol::semantics::{Extras, Semantics};
use crate::target::{Family, TokenLimit};

pub(in super::super) fn decode_request(mut reader: Reader<'_>) -> Result<RequestAndSemantics<'_>> {
    let mut decoding = Decoding::default();
    let mut extras = Extras::default();
    read_object(&mut reader, "", &mut extras, |key, reader| decoding.member(key, reader))?;
    reader.finish()?;
    decoding.semantics.extras_mut().update(extras);
    decoding.finish()
}

/// Fields that say the same as another one. Fixture `request/fields/both-spellings-of-one-chat-option`.
const LATER: [&str; 7] = [
    "max_tokens",
    "functions",
    "function_call",
    "random_seed",
    "reasoning",
    "thinking",
    "web_search_options",
];

/// A request in the making.
#[derive(Default)]
struct Decoding<'a> {
    request: Request<'a>,
    semantics: Semantics<'a>,
    has_messages: bool,
    /// Those of [`LATER`] that were given; the other one wins wherever it stands.
    later: Vec<(&'static str, Json<'a>)>,
}

impl<'a> Decoding<'a> {
    fn member(&mut self, key: &str, reader: &mut Reader<'a>) -> Result<()> {
        let request = &mut self.request;
        match key {
            "messages" => {
                self.has_messages = true;
                request.messages = message::read_messages(reader)?;
            }
            "model" => request.model = Some(reader.string()?),
            "stream" => request.stream = Some(reader.boolean()?),
            "tools" => self.tools(reader, Step::Tools)?,
            "tool_choice" => request.tool_choice = Some(tools::read_choice(reader)?),
            "parallel_tool_calls" => request.parallel_tool_calls = Some(reader.boolean()?),
            "max_completion_tokens" => {
                request.max_output_tokens = Some(reader.number()?);
                self.semantics.add_shape(request_shape::MAX_COMPLETION_TOKENS);
            }
            "stop" => self.stop(reader)?,
            "response_format" => self.format(reader)?,
            "verbosity" => request.verbosity = Some(reader.string()?),
            "reasoning_effort" => request.thinking.effort = Some(reader.string()?),
            "safety_identifier" => request.safety_identifier = Some(reader.string()?),
            "user" => request.user = Some(reader.string()?),
            "metadata" => request.metadata = Some(reader.raw()?),
            "service_tier" => request.service_tier = Some(reader.string()?),
            "store" => request.store = Some(reader.boolean()?),
            "prompt_cache_key" => request.cache.key = Some(reader.string()?),
            "prompt_cache_options" => request.cache.options = Some(reader.raw()?),
            "prompt_cache_retention" => request.cache.retention = Some(reader.string()?),
            _ => return self.sampling(key, reader),
        }
        Ok(())
    }

    fn sampling(&mut self, key: &str, reader: &mut Reader<'a>) -> Result<()> {
        let sampling = &mut self.request.sampling;
        match key {
            "temperature" => set(&mut sampling.temperature, reader.number()),
            "top_p" => set(&mut sampling.top_p, reader.number()),
            "seed" => set(&mut sampling.seed, reader.number()),
            "presence_penalty" => set(&mut sampling.presence_penalty, reader.number()),
            "frequency_penalty" => set(&mut sampling.frequency_penalty, reader.number()),
            "n" => set(&mut sampling.candidates, reader.number()),
            "logprobs" => set(&mut sampling.logprobs, reader.boolean()),
            "top_logprobs" => set(&mut sampling.top_logprobs, reader.number()),
            _ => self.declared(key, reader),
        }
    }

    fn declared(&mut self, key: &str, reader: &mut Reader<'a>) -> Result<()> {
        let mut ahead = reader.checkpoint();
        let json = ahead.raw()?;
        if let Some(name) = LATER.into_iter().find(|name| *name == key) {
            self.later.push((name, json));
        } else if !ChatSemantics::DECLARED.iter().any(|it| it.path == key)
            || self.semantics.chat_mut().take(key, json).is_err()
        {
            return Ok(());
        }
        *reader = ahead;
        Ok(())
    }

    fn finish(mut self) -> Result<RequestAndSemantics<'a>> {
        if !self.has_messages {
            return Err(Error::new(ErrorKind::Missing, "expected `messages`, found none"));
        }
        // Web search comes last of these names, after the functions that it stands beside.
        self.later.sort_by_key(|(name, _)| *name);
        for (name, json) in std::mem::take(&mut self.later) {
            if !self.later(name, &json).map_err(|error| error.under_key(name))? {
                self.semantics.extras_mut().keep("", name.into(), json);
            }
        }
        // A limit that the request leaves out would stand in the field that the model has for it.
        let takes_newer = |model: &Text<'_>| {
            Family::of(&model.to_str()).token_limit == TokenLimit::MaxCompletionTokens
        };
        let is_missing = self.request.max_output_tokens.is_none();
        if is_missing && self.request.model.as_ref().is_some_and(takes_newer) {
            self.semantics.add_shape(request_shape::MAX_COMPLETION_TOKENS);
        }
        Ok((self.request, self.semantics))
    }
}
