//! Finding out fast that no two calls of a request share an id, as nearly always none do.

use smallvec::SmallVec;

use crate::conversation::Message;

/// Spreads a number over all bits.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Whether all calls have ids of their own, as far as can be told at a glance: false may be wrong, true never is.
pub(super) fn are_different(messages: &[Message<'_>]) -> bool {
    let parts = messages.iter().flat_map(|message| &message.parts);
    let mut marks: SmallVec<[u64; 16]> = SmallVec::new();
    let ids = parts.filter_map(|part| part.tool_call()?.id.as_ref());
    ids.for_each(|id| marks.push(mark(&id.to_str())));
    marks.sort_unstable();
    marks.is_sorted_by(|one, other| one < other)
}

/// A number that is the same for the same id: the end of an id, which differs from that of others, spread over all bits.
pub(super) fn mark(id: &str) -> u64 {
    let end = match id.as_bytes().last_chunk() {
        Some(end) => u64::from_le_bytes(*end),
        None => id.bytes().fold(0, |end, byte| end << 8 | u64::from(byte)),
    };
    end.wrapping_mul(FACTOR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::{Arguments, CallForm, Content, Part, Role, ToolCall};
    use crate::json::Text;

    #[test]
    fn marks_of_many_ids_differ() {
        let message = |count: usize| {
            let call = |number| ToolCall {
                id: Some(Text::plain(format!("call_{number}"))),
                name: Text::literal("f"),
                arguments: Arguments::Text(Text::default()),
                form: CallForm::Function,
            };
            let parts = (0..count).map(|it| Part::new(Content::ToolCall(Box::new(call(it)))));
            Message::new(Role::Assistant, parts.collect::<Vec<_>>())
        };
        for count in [0, 1, 2, 3, 700] {
            assert!(are_different(&[message(count)]), "{count}");
        }
        assert!(!are_different(&[message(700), message(1)]));
    }

    #[test]
    fn marks_of_short_ids_differ_too() {
        assert_ne!(mark("1"), mark("2"));
        assert_ne!(mark("call_1_0"), mark("call_2_0"));
    }
}
