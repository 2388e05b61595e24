//! What only this protocol says, and how it may be spelled.

use crate::json::{Kind, Reader};
use crate::protocol::object::put;
use crate::protocol::semantics::{Declared, approximated, dropped, implied, namespace};
use crate::protocol::{DecodedRequest, Protocol, semantics};

/// Spellings of this protocol, which no other protocol reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Speaker;

impl semantics::Speller for Speaker {
    const PROTOCOL: Protocol = Protocol::OpenaiChat;
}

/// How a node or a request of this protocol was spelled.
pub(super) type Shape = semantics::Shape<Speaker>;

/// The protocol of this folder.
pub(super) const SELF: Protocol = Protocol::OpenaiChat;

namespace! {
    /// What only Chat Completions can say of a request.
    pub struct ChatSemantics {
        /// The voice and the format of spoken answers.
        audio: "audio" => Dropped, "no other protocol has these speech settings";
        /// Likelihoods of single tokens.
        logit_bias: "logit_bias" => Dropped, "no other protocol biases single tokens";
        /// Whether the answer is text, speech or both.
        modalities: "modalities" => Dropped, "no other protocol chooses between text and speech like this";
        /// Moderation beside the answer.
        moderation: "moderation" => Dropped, "no other protocol moderates by these settings";
        /// Text that the answer is expected to repeat.
        prediction: "prediction" => Dropped, "no other protocol takes a predicted answer";
        /// What a stream holds beside the answer.
        stream_options: "stream_options" => Implied, "usage is requested from every upstream and passed on to clients that asked for it";
    }
}

/// Fields of messages, parts, tools and answers that only this protocol has, and what becomes of them elsewhere.
pub(in super::super) const DECLARED: &[Declared] = &[
    approximated("max_tokens", "the limit is given under both its names; the newer one is used"),
    implied("index", "implied by the position in the list"),
    dropped("system_fingerprint", "no other protocol names the system's configuration"),
    approximated("x_groq", "a vendor's own field, of which only the usage is carried"),
    dropped("native_finish_reason", "the finish reason is mapped to the target's own values"),
];

/// How messages, parts and answers may be spelled.
pub(super) mod shape {
    use super::Shape;

    /// `function_call` and the role `function`, of before there were tools.
    pub(in super::super) const LEGACY: Shape = Shape::bit(0);
    /// The part stands in the list `content`, although its kind has a field of its own as well.
    pub(in super::super) const IN_CONTENT: Shape = Shape::bit(1);
    /// The part stands among `tool_calls`.
    pub(in super::super) const IN_CALLS: Shape = Shape::bit(2);
    /// Reasoning in `reasoning` instead of `reasoning_content`.
    pub(in super::super) const REASONING: Shape = Shape::bit(3);
}

/// How the fields of a request may be spelled.
pub(super) mod request_shape {
    use super::Shape;

    /// The limit was `max_completion_tokens`, not `max_tokens`.
    pub(in super::super) const MAX_COMPLETION_TOKENS: Shape = Shape::bit(0);
    /// The one stop sequence was no list.
    pub(in super::super) const STOP_STRING: Shape = Shape::bit(1);
    /// The tools were `functions`.
    pub(in super::super) const FUNCTIONS: Shape = Shape::bit(2);
    /// The choice was `function_call`.
    pub(in super::super) const FUNCTION_CALL: Shape = Shape::bit(3);
    /// Reasoning was steered by an object `reasoning`.
    pub(in super::super) const REASONING_OBJECT: Shape = Shape::bit(4);
    /// The seed was `random_seed`.
    pub(in super::super) const RANDOM_SEED: Shape = Shape::bit(5);
    /// Reasoning was switched by an object `thinking`.
    pub(in super::super) const THINKING_SWITCH: Shape = Shape::bit(6);
}

/// Where Google's own Chat endpoint has the signature of a call, as the scopes of what else stands there.
pub(super) const EXTRA_CONTENT: &str = "extra_content";
pub(super) const EXTRA_CONTENT_GOOGLE: &str = "extra_content/google";

/// The name of files that have none.
pub(in super::super) const UNNAMED_FILE: &str = "document.pdf";

/// Whether a request asks for the usage of its stream, which only clients of this protocol must.
pub(super) fn asks_for_usage(decoded: &DecodedRequest<'_>) -> bool {
    let options = decoded.semantics().chat().and_then(|chat| chat.stream_options());
    let mut asks = false;
    let read = options.map(|options| {
        let ask = |reader: &mut Reader<'_>| put(&mut asks, reader.boolean());
        options.reader().member("include_usage", Kind::Boolean, ask)
    });
    asks && read.is_some_and(|read| read.is_ok())
}
