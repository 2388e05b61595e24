//! Finding out fast that no two calls of a request share an id, as nearly always none do.

use smallvec::SmallVec;

use crate::conversation::{Content, Message};

/// Spreads a number over all bits.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// So many ids are compared one by one.
const FEW: usize = 16;

/// So many places of the table are tried for an id; whoever needs more may share it.
const TRIES_MAX: usize = 64;

/// Whether all calls have ids of their own, as far as can be told at a glance: false may be wrong, true never is.
pub(super) fn are_different(messages: &[Message<'_>]) -> bool {
    let parts = messages.iter().flat_map(|message| &message.parts);
    let mut marks: SmallVec<[u64; FEW]> = SmallVec::new();
    parts.for_each(|part| {
        if let Content::ToolCall(call) = part.content()
            && let Some(id) = &call.id
        {
            marks.push(mark(&id.to_str()) | 1);
        }
    });
    if marks.len() <= FEW {
        return (1..marks.len()).all(|index| !marks[..index].contains(&marks[index]));
    }
    // Each mark goes where its first bits say, or behind that; there is room for twice as many.
    let bits = (2 * marks.len()).next_power_of_two().trailing_zeros().max(1);
    let mut table: Vec<u64> = vec![0; 1 << bits];
    marks.into_iter().all(|mark| {
        let first = (mark >> (64 - bits)) as usize;
        let mut slots = (first..first + TRIES_MAX).map(|slot| slot & ((1 << bits) - 1));
        let slot = slots.find(|slot| table[*slot] == 0 || table[*slot] == mark);
        slot.is_some_and(|slot| std::mem::replace(&mut table[slot], mark) == 0)
    })
}

/// A number that is the same for the same id: the end of an id, which tells it from others, spread over all bits.
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
    use crate::conversation::{Arguments, CallForm, Part, Role, ToolCall};
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

    #[test]
    fn ids_that_crowd_one_place_are_not_called_different() {
        // The numbers by which marks multiply to the same first bits, one after another.
        let inverse = (0..6).fold(1_u64, |inverse, _| {
            inverse.wrapping_mul(2_u64.wrapping_sub(FACTOR.wrapping_mul(inverse)))
        });
        let end = |number: u64| (number << 1 | 1).wrapping_mul(inverse).to_le_bytes();
        let ids = (0..100_000).map(end).filter_map(|end| String::from_utf8(end.to_vec()).ok());
        let call = |id| ToolCall {
            id: Some(Text::plain(id)),
            name: Text::literal("f"),
            arguments: Arguments::Text(Text::default()),
            form: CallForm::Function,
        };
        let parts: Vec<_> =
            ids.map(|id| Part::new(Content::ToolCall(Box::new(call(id))))).collect();
        assert!(parts.len() > TRIES_MAX);
        assert!(!are_different(&[Message::new(Role::Assistant, parts)]));
    }
}
