//! A request: messages and tools in their unified form, translated into the protocol of the server.

use sabir_wire::json::{Json, Writer};
use sabir_wire::protocol::AnswerContext;
use sabir_wire::target::Target;
use sabir_wire::unified::{UnifiedMessage, UnifiedTool};
use sabir_wire::{Protocol, Report};

use crate::error::{Error, Result};
use crate::names::Names;
use crate::surface;
use crate::surface::{Delivery, UNIFIED};

/// The answer's limit where a protocol demands one and nobody gives another.
const OUTPUT_TOKENS: u64 = 4096;

/// What is asked of a model.
pub(crate) struct Question<'a> {
    pub(crate) model: &'a str,
    pub(crate) messages: &'a [UnifiedMessage],
    pub(crate) tools: &'a [UnifiedTool],
    pub(crate) output_tokens_max: Option<u64>,
    pub(crate) delivery: Delivery,
}

/// A body to send, and what must be known to read its answer.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) body: String,
    pub(crate) losses: Report,
    pub(crate) names: Names,
}

impl Question<'_> {
    /// The request in a protocol. In the protocol of the unified form it is that form, word for word.
    pub(crate) fn prepare(&self, protocol: Protocol) -> Result<Prepared> {
        let unified = self.unified(protocol);
        let unreadable = |error: sabir_wire::Error| Error::invalid(error.to_string());
        let mut decoded = UNIFIED.decode_request_text(&unified).map_err(unreadable)?;
        let demanded = protocol.facts().demands_output_limit.then_some(OUTPUT_TOKENS);
        if let Some(tokens) = self.output_tokens_max.or(demanded) {
            let number = Json::parse(tokens.to_string()).map_err(unreadable)?;
            let number = number.reader().number().map_err(unreadable)?.into_owned();
            decoded.edit().max_output_tokens = Some(number);
        }
        let target = Target::for_model(self.model);
        let encoded = decoded.encode(protocol, &target).map_err(unreadable)?;
        let context = AnswerContext::by(&decoded, protocol, &target);
        let names = Names::new(&context.names, self.messages);
        Ok(Prepared { body: encoded.body, losses: encoded.report, names })
    }

    /// The request in the protocol of the unified form.
    fn unified(&self, protocol: Protocol) -> String {
        let mut writer = Writer::with_capacity(4096);
        writer.object(|body| {
            body.field("model", self.model);
            body.field("messages", self.messages);
            if !self.tools.is_empty() {
                body.field("tools", self.tools);
                if surface::of(protocol).states_tool_choice {
                    body.field("tool_choice", "auto");
                }
            }
            if self.delivery == Delivery::Streamed {
                body.field("stream", &true);
                body.key("stream_options");
                body.object(|options| options.field("include_usage", &true));
            }
        });
        writer.into_string()
    }
}
