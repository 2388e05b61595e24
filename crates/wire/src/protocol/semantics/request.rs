//! The semantics of a request as a whole.

use crate::json::{Json, Text};
use crate::owned::into_owned;
use crate::protocol::anthropic_messages::AnthropicSemantics;
use crate::protocol::gemini::GeminiSemantics;
use crate::protocol::openai_chat::ChatSemantics;
use crate::protocol::openai_responses::ResponsesSemantics;
use crate::protocol::semantics::{Extras, Shape, Speller, Spelling};

/// What a request meant that the conversation cannot say: shared meanings first, then a namespace per protocol.
#[derive(Clone, Debug, Default)]
pub struct Semantics<'a> {
    pub(super) session: Session<'a>,
    pub(super) tools_stated_empty: bool,
    pub(super) chat: Option<Box<ChatSemantics<'a>>>,
    pub(super) responses: Option<Box<ResponsesSemantics<'a>>>,
    pub(super) anthropic: Option<Box<AnthropicSemantics<'a>>>,
    pub(super) gemini: Option<Box<GeminiSemantics<'a>>>,
    pub(super) extras: Extras<'a>,
    pub(super) spelling: Spelling,
}

/// The conversation that the vendor holds and this request continues.
#[derive(Clone, Debug, Default)]
pub struct Session<'a> {
    pub previous_response_id: Option<Text<'a>>,
    pub conversation: Option<Json<'a>>,
}

impl<'a> Semantics<'a> {
    pub(in super::super) fn session_mut(&mut self) -> &mut Session<'a> {
        &mut self.session
    }

    /// Says that `tools` was there and had nothing in it.
    pub(in super::super) fn state_tools_empty(&mut self) {
        self.tools_stated_empty = true;
    }

    pub(in super::super) fn chat_mut(&mut self) -> &mut ChatSemantics<'a> {
        self.chat.get_or_insert_default()
    }

    pub(in super::super) fn responses_mut(&mut self) -> &mut ResponsesSemantics<'a> {
        self.responses.get_or_insert_default()
    }

    pub(in super::super) fn anthropic_mut(&mut self) -> &mut AnthropicSemantics<'a> {
        self.anthropic.get_or_insert_default()
    }

    pub(in super::super) fn gemini_mut(&mut self) -> &mut GeminiSemantics<'a> {
        self.gemini.get_or_insert_default()
    }

    pub(in super::super) fn extras_mut(&mut self) -> &mut Extras<'a> {
        &mut self.extras
    }

    pub(in super::super) fn add_shape<S: Speller>(&mut self, shape: Shape<S>) {
        self.spelling.merge(shape.into());
    }

    /// How the protocol of `S` spelled the request; a request of another protocol has no shape there.
    pub(in super::super) fn shape<S: Speller>(&self) -> Shape<S> {
        self.spelling.of()
    }

    pub(in super::super) fn spelling(&self) -> Spelling {
        self.spelling
    }

    pub(in super::super) fn has_shape<S: Speller>(&self, shape: Shape<S>) -> bool {
        self.shape::<S>().has(shape)
    }

    pub fn session(&self) -> &Session<'a> {
        &self.session
    }

    /// Whether the tool list was stated and empty, which some clients use to mean "none".
    pub fn tools_stated_empty(&self) -> bool {
        self.tools_stated_empty
    }

    pub fn chat(&self) -> Option<&ChatSemantics<'a>> {
        self.chat.as_deref()
    }

    pub fn responses(&self) -> Option<&ResponsesSemantics<'a>> {
        self.responses.as_deref()
    }

    pub fn anthropic(&self) -> Option<&AnthropicSemantics<'a>> {
        self.anthropic.as_deref()
    }

    pub fn gemini(&self) -> Option<&GeminiSemantics<'a>> {
        self.gemini.as_deref()
    }

    /// Undeclared fields in transit.
    pub fn extras(&self) -> &Extras<'a> {
        &self.extras
    }
}

into_owned! {
    pub struct Semantics {
        session, tools_stated_empty, chat, responses, anthropic, gemini, extras, spelling,
    }
    pub struct Session { previous_response_id, conversation }
}
