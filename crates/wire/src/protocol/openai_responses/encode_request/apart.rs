//! Telling calls apart that share an id: results find their calls by it alone.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::HashMap;
use std::collections::HashSet;
use std::collections::VecDeque;

use crate::alias::CallIdRule;
use crate::conversation::Content;
use crate::conversation::Message;
use crate::conversation::Role;
use crate::json::Text;
use crate::protocol::calls::Calls;
use crate::protocol::calls::Position;

/// The ids of calls that share theirs with an earlier one, and of the results that answer them. They are looked for when
/// a call comes whose id may have come before: nearly always none has.
pub(super) struct Apart<'m> {
    messages: &'m [Message<'m>],
    /// For each mark whether an id had it.
    seen: [u64; 32],
    is_known: bool,
    ids: BTreeMap<Position, String>,
}

impl<'m> Apart<'m> {
    pub(super) fn new(messages: &'m [Message<'m>]) -> Self {
        Self { messages, seen: [0; 32], is_known: false, ids: BTreeMap::new() }
    }

    /// The next call has this id.
    pub(super) fn note(&mut self, id: &Text<'_>, calls: &Calls<'_>) {
        let mark = mark(&id.to_str());
        let (index, bit) = ((mark >> 59) as usize, 1 << (mark >> 53 & 63));
        let is_new = self.seen[index] & bit == 0;
        self.seen[index] |= bit;
        if !is_new && !self.is_known {
            self.is_known = true;
            self.ids = told_apart(self.messages, calls);
        }
    }

    /// The id of the call or result at a position, if it is not its own.
    pub(super) fn id(&self, at: Position) -> Option<Text<'static>> {
        match self.ids.is_empty() {
            true => None,
            false => self.ids.get(&at).cloned().map(Text::plain),
        }
    }
}

/// A number that is the same for the same id: the end of an id, which tells it from others, spread over all bits.
fn mark(id: &str) -> u64 {
    let end = match id.as_bytes().last_chunk() {
        Some(end) => u64::from_le_bytes(*end),
        None => id.bytes().fold(0, |end, byte| end << 8 | u64::from(byte)),
    };
    end.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn told_apart(messages: &[Message<'_>], calls: &Calls<'_>) -> BTreeMap<Position, String> {
    let mut walk = Walk::default();
    if are_different(messages) {
        return walk.ids;
    }
    for (message_index, message) in messages.iter().enumerate() {
        walk.round += usize::from(message.role != Role::Assistant);
        for (part_index, part) in message.parts.iter().enumerate() {
            let at = (message_index, part_index);
            match part.content() {
                Content::ToolCall(call) => walk.call(at, calls.call_id(at, call).into_str()),
                Content::ToolResult(result) => {
                    walk.result(at, &calls.result_id(at, result).to_str());
                }
                _ => {}
            }
        }
    }
    walk.ids
}

/// Whether the marks of all ids differ, and so the ids.
fn are_different(messages: &[Message<'_>]) -> bool {
    let parts = messages.iter().flat_map(|message| &message.parts);
    let ids = parts.filter_map(|part| match part.content() {
        Content::ToolCall(call) => call.id.as_ref(),
        _ => None,
    });
    let marks: Vec<u64> = ids.map(|id| mark(&id.to_str())).collect();
    // Each mark goes where its first bits say, or behind that; there is room for twice as many.
    let bits = (2 * marks.len()).next_power_of_two().trailing_zeros().max(1);
    let mut table = vec![0; 1 << bits];
    marks.into_iter().all(|mark| {
        let mark = mark | 1;
        let mut slot = (mark >> (64 - bits)) as usize;
        while table[slot] != 0 && table[slot] != mark {
            slot = (slot + 1) % table.len();
        }
        std::mem::replace(&mut table[slot], mark) == 0
    })
}

#[derive(Default)]
struct Walk<'c> {
    ids: BTreeMap<Position, String>,
    /// Which of the assistant's turns the walk is in.
    round: usize,
    /// The calls by the ids that they came with.
    calls: HashMap<Cow<'c, str>, Sharing>,
    /// The ids that are written.
    taken: HashSet<Cow<'c, str>>,
}

/// The calls of one id.
#[derive(Default)]
struct Sharing {
    /// Those that wait for their results, by their rounds.
    waiting: Vec<(usize, VecDeque<Option<String>>)>,
    /// The id that is written for the last of them, if it is another.
    last: Option<String>,
}

impl<'c> Walk<'c> {
    fn call(&mut self, at: Position, id: Cow<'c, str>) {
        let other = self.taken.contains(&id).then(|| self.other(&id));
        if let Some(other) = &other {
            self.ids.insert(at, other.clone());
        }
        self.taken.insert(other.clone().map_or_else(|| id.clone(), Cow::Owned));
        self.calls.entry(id).or_default().push(self.round, other);
    }

    /// An id that no call before has. Those behind are not asked, so that what is appended to a conversation changes
    /// nothing before it.
    fn other(&self, id: &str) -> String {
        let mut number = self.taken.len();
        loop {
            let numbered = format!("{id}_{number}");
            let other = CallIdRule::RESPONSES.alias(&numbered);
            if !self.taken.contains(&other) {
                return other.into_owned();
            }
            number += 1;
        }
    }

    fn result(&mut self, at: Position, id: &str) {
        if let Some(other) = self.calls.get_mut(id).and_then(Sharing::answer) {
            self.ids.insert(at, other);
        }
    }
}

impl Sharing {
    fn push(&mut self, round: usize, other: Option<String>) {
        self.last.clone_from(&other);
        match self.waiting.last_mut() {
            Some((last, calls)) if *last == round => calls.push_back(other),
            _ => self.waiting.push((round, [other].into())),
        }
    }

    /// The id that is written for the call that the next result answers, if it is another: the first that waits in the
    /// last round that has one. A second result answers the last call.
    fn answer(&mut self) -> Option<String> {
        let Some((_, calls)) = self.waiting.last_mut() else { return self.last.clone() };
        let other = calls.pop_front().flatten();
        if calls.is_empty() {
            self.waiting.pop();
        }
        other
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::Arguments;
    use crate::conversation::CallForm;
    use crate::conversation::Part;
    use crate::conversation::ToolCall;

    /// Walks over rounds of calls and results, each named by its id; a result begins with `=`.
    #[track_caller]
    fn check(rounds: &[&[&'static str]], expected: &[&str]) {
        let mut walk = Walk::default();
        let mut ids = Vec::new();
        for (round, parts) in rounds.iter().enumerate() {
            walk.round = round;
            for (index, part) in parts.iter().enumerate() {
                let at = (round, index);
                match part.strip_prefix('=') {
                    Some(id) => walk.result(at, id),
                    None => walk.call(at, Cow::Borrowed(part)),
                }
                let own = part.trim_start_matches('=');
                ids.push(walk.ids.get(&at).cloned().unwrap_or_else(|| own.to_owned()));
            }
        }
        assert_eq!(ids, expected);
    }

    #[test]
    fn results_answer_calls_of_one_id_in_order() {
        check(&[&["a", "a", "b", "=a", "=b", "=a"]], &["a", "a_1", "b", "a", "b", "a_1"]);
    }

    #[test]
    fn the_last_round_that_waits_comes_first() {
        check(&[&["a"], &["a", "=a", "=a"]], &["a", "a_1", "a_1", "a"]);
        check(&[&["a", "=a"], &["a", "=a", "=a"]], &["a", "a", "a_1", "a_1", "a_1"]);
    }

    #[test]
    fn an_id_made_up_is_nobody_elses() {
        check(&[&["a", "a_2", "a", "a_2", "=a_2"]], &["a", "a_2", "a_3", "a_2_3", "a_2"]);
        check(
            &[&["a", "a", "a_1", "=a_1", "=a", "=a"]],
            &["a", "a_1", "a_1_2", "a_1_2", "a", "a_1"],
        );
    }

    #[test]
    fn an_id_made_up_is_no_longer_than_the_vendor_takes() {
        let long: &'static str = "call_0123456789012345678901234567890123456789012345678901234567";
        let mut walk = Walk::default();
        walk.call((0, 0), long.into());
        for index in 1..2000 {
            walk.call((0, index), long.into());
            assert!(CallIdRule::RESPONSES.accepts(&walk.ids[&(0, index)]));
        }
        assert_eq!(walk.taken.len(), 2000);
    }

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
