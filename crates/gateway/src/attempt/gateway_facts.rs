//! What an answer states of the gateway's own keeping, which no provider knows.

use sabir_wire::json::Text;
use sabir_wire::protocol::AnswerContext;

use crate::attempt::notes::Notes;
use crate::call::Call;
use crate::surface;

pub(super) struct GatewayFacts {
    /// Whether an answer with open calls asks for their results, in a protocol whose answers can be continued by them.
    requires_action: bool,
    in_background: bool,
    /// The conversation that an answer names as its own, in a protocol whose answers name one.
    conversation: Option<Text<'static>>,
    /// What ids are made of.
    seed: Text<'static>,
}

impl GatewayFacts {
    pub(super) fn of(call: &Call<'_>, notes: &Notes<'_>) -> Self {
        let has_responses = surface::of(call.client).state.has_responses;
        let header = call.header("sabir-requires-action");
        let conversation = notes.conversation().filter(|_| has_responses);
        Self {
            requires_action: has_responses
                && header.is_some_and(|value| value.eq_ignore_ascii_case("true")),
            in_background: call.asked.in_background,
            conversation: conversation.map(|id| Text::plain(id.to_owned())),
            seed: Text::plain(notes.id().to_owned()),
        }
    }

    /// Whether the provider's answer needs none of them.
    pub(super) fn are_default(&self) -> bool {
        !self.requires_action && !self.in_background && self.conversation.is_none()
    }

    pub(super) fn added_to(self, context: AnswerContext) -> AnswerContext {
        let Self { requires_action, in_background, conversation, seed } = self;
        AnswerContext { requires_action, in_background, conversation, seed, ..context }
    }
}
