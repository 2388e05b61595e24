//! New ids for calls that share theirs with an earlier one: results find their calls by it alone.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use crate::alias::CallIdRule;
use crate::conversation::{Content, Request, Role};
use crate::protocol::calls::{Calls, Position};

/// The ids of calls that share theirs with an earlier one, and of the results that answer them.
pub(super) type FreshIds = BTreeMap<Position, String>;

/// The fresh ids of a request, each as `rule` takes it.
pub(super) fn fresh_ids(request: &Request<'_>, calls: &Calls<'_>, rule: CallIdRule) -> FreshIds {
    let mut walk = Walk::new(rule);
    if !calls.may_share_ids(request) {
        return walk.ids;
    }
    for (message_index, message) in request.messages.iter().enumerate() {
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

struct Walk<'c> {
    rule: CallIdRule,
    ids: FreshIds,
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
    fn new(rule: CallIdRule) -> Self {
        let (calls, taken) = (HashMap::new(), HashSet::new());
        Self { rule, ids: FreshIds::new(), round: 0, calls, taken }
    }

    fn call(&mut self, at: Position, id: Cow<'c, str>) {
        let other = self.taken.contains(&id).then(|| self.other(&id));
        if let Some(other) = &other {
            self.ids.insert(at, other.clone());
        }
        self.taken.insert(other.clone().map_or_else(|| id.clone(), Cow::Owned));
        self.calls.entry(id).or_default().push(self.round, other);
    }

    /// An id that no call before has. Those behind are not asked, so that what is appended to a conversation changes
    /// nothing before it. Fixture `request/ids/duplicate-call-ids`.
    fn other(&self, id: &str) -> String {
        let mut number = self.taken.len();
        loop {
            let numbered = format!("{id}_{number}");
            let other = self.rule.alias(&numbered);
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
    /// last round that has one. A second result answers the last call. Fixtures `request/ids/late-results-of-calls-of-three-rounds`
    /// and `request/ids/late-results-of-calls-that-share-an-id`.
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

    /// Walks over rounds of calls and results, each named by its id; a result begins with `=`.
    #[track_caller]
    fn check(rounds: &[&[&'static str]], expected: &[&str]) {
        let mut walk = Walk::new(CallIdRule::RESPONSES);
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
        let mut walk = Walk::new(CallIdRule::RESPONSES);
        walk.call((0, 0), long.into());
        for index in 1..2000 {
            walk.call((0, index), long.into());
            assert!(CallIdRule::RESPONSES.accepts(&walk.ids[&(0, index)]));
        }
        assert_eq!(walk.taken.len(), 2000);
    }
}
