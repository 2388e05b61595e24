//! Calls that wait for their results, where not all have ids.

use std::collections::BTreeMap;

use crate::conversation::{CallKey, Content, Part, Role, ToolCall, ToolResult};
use crate::protocol::calls::Position;

/// Few calls are looked through. Of many, each is looked at a few times at most.
#[derive(Default)]
pub(super) struct OpenCalls<'r> {
    /// All that were made since none was waiting, with their rounds.
    calls: Vec<(usize, Position, &'r ToolCall<'r>)>,
    /// By the numbers of calls, whether they are answered.
    answered: Vec<bool>,
    answered_count: usize,
    /// Which of the assistant's turns the cursor is in.
    round: usize,
    /// Where there are many, their numbers by what they are found by, and all of them under nothing.
    index: BTreeMap<Option<CallKey<'r>>, Rounds>,
}

/// So many calls are looked through one by one.
const FEW: usize = 16;

/// The numbers of calls, by the turn of the assistant that they stand in.
#[derive(Default)]
struct Rounds {
    /// In order, those of all rounds one behind the other.
    numbers: Vec<usize>,
    rounds: Vec<Round>,
}

struct Round {
    number: usize,
    /// Where its calls begin in the list, and the first of them that may still wait.
    begin: usize,
    next: usize,
}

/// The round of a call, and its number.
type Found = (usize, usize);

impl<'r> OpenCalls<'r> {
    /// A message of this role begins.
    pub(super) fn begin(&mut self, role: Role) {
        self.round += usize::from(role != Role::Assistant);
    }

    pub(super) fn push(&mut self, at: Position, call: &'r ToolCall<'r>) {
        if self.answered_count == self.calls.len() {
            self.start_over();
        }
        let number = self.calls.len();
        self.calls.push((self.round, at, call));
        self.answered.push(false);
        match number {
            0..FEW => {}
            FEW => (0..=FEW).for_each(|number| self.enter(number)),
            _ => self.enter(number),
        }
    }

    /// Nobody waits: what was answered is not asked for again.
    fn start_over(&mut self) {
        self.calls.clear();
        self.answered.clear();
        self.answered_count = 0;
        self.index.clear();
    }

    fn enter(&mut self, number: usize) {
        let (round, _, call) = self.calls[number];
        for key in CallKey::of_call(call).map(Some).chain([None]) {
            self.index.entry(key).or_default().push(round, number);
        }
    }

    /// Gives the results from an index on that bear ids of waiting calls theirs, so that a result without an id before them
    /// answers what is left. Gives the indices of those that have theirs.
    pub(super) fn reserve(&mut self, parts: &'r [Part<'r>], from: usize) -> Vec<usize> {
        let mut reserved = Vec::new();
        for (index, part) in parts.iter().enumerate().skip(from) {
            if let Content::ToolResult(result) = part.content()
                && let Some(id) = &result.call_id
                && let Some((_, call)) = self.first(Some(CallKey::Id(id)))
            {
                self.settle(call);
                reserved.push(index);
            }
        }
        reserved
    }

    /// The call that a result answers, if the result's own id does not decide it.
    pub(super) fn answer(
        &mut self,
        result: &'r ToolResult<'r>,
    ) -> Option<(Position, &'r ToolCall<'r>)> {
        let keys = CallKey::of_result(result);
        let found = keys.map(|key| self.first(Some(key?)));
        let has_id = result.call_id.is_some() && found[0].is_some();
        // The later round is the nearer one: a call that was left without its result is no reason to mistake those of
        // later rounds. Fixture `request/results/results-without-ids-answer-the-last-round`.
        let found = CallKey::choose(result, found, |one, other| one.0 > other.0);
        let is_bare = result.call_id.is_none() && result.name.is_none();
        let (_, number) = found.or_else(|| is_bare.then(|| self.first(None)).flatten())?;
        self.settle(number);
        let (_, at, call) = self.calls[number];
        (!has_id).then_some((at, call))
    }

    fn settle(&mut self, number: usize) {
        self.answered[number] = true;
        self.answered_count += 1;
    }

    /// The first waiting call that a key finds, in the last round that has one.
    fn first(&mut self, key: Option<CallKey<'r>>) -> Option<Found> {
        match self.calls.len() <= FEW {
            true => self.search(key),
            false => self.index.get_mut(&key)?.first(&self.answered),
        }
    }

    fn search(&self, key: Option<CallKey<'_>>) -> Option<Found> {
        let mut found: Option<Found> = None;
        for (number, (round, _, call)) in self.calls.iter().enumerate() {
            let is_later = found.is_none_or(|(last, _)| *round > last);
            let is_meant = || key.is_none_or(|key| key.matches(call));
            if is_later && !self.answered[number] && is_meant() {
                found = Some((*round, number));
            }
        }
        found
    }
}

impl Rounds {
    fn push(&mut self, round: usize, call: usize) {
        if self.rounds.last().is_none_or(|last| last.number != round) {
            let begin = self.numbers.len();
            self.rounds.push(Round { number: round, begin, next: begin });
        }
        self.numbers.push(call);
    }

    /// The first waiting call of the last round that has one; what was answered before it is forgotten.
    fn first(&mut self, answered: &[bool]) -> Option<Found> {
        while let Some(round) = self.rounds.last_mut() {
            while let Some(&call) = self.numbers.get(round.next) {
                if !answered[call] {
                    return Some((round.number, call));
                }
                round.next += 1;
            }
            self.numbers.truncate(round.begin);
            self.rounds.pop();
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::{Arguments, CallForm, ResultOutput};
    use crate::json::{Json, Text};

    fn call(id: Option<&'static str>, name: &'static str) -> ToolCall<'static> {
        let arguments = Arguments::Json(Json::literal("{}"));
        ToolCall {
            id: id.map(Text::literal),
            name: Text::literal(name),
            arguments,
            form: CallForm::default(),
        }
    }

    fn result(id: Option<&'static str>, name: Option<&'static str>) -> ToolResult<'static> {
        ToolResult {
            call_id: id.map(Text::literal),
            name: name.map(Text::literal),
            output: ResultOutput::Parts(Vec::new().into()),
            is_error: None,
            form: CallForm::default(),
        }
    }

    fn open_calls<'r>(calls: &'r [(usize, ToolCall<'r>)]) -> OpenCalls<'r> {
        let mut open_calls = OpenCalls::default();
        for (index, (round, call)) in calls.iter().enumerate() {
            while open_calls.round < *round {
                open_calls.begin(Role::User);
            }
            open_calls.push((index, 0), call);
        }
        open_calls
    }

    #[track_caller]
    fn check(
        calls: &[(usize, ToolCall<'static>)],
        results: &[(Option<&'static str>, Option<&'static str>, Option<usize>)],
    ) {
        let results: Vec<_> =
            results.iter().map(|(id, name, expected)| (result(*id, *name), expected)).collect();
        let mut open_calls = open_calls(calls);
        for (number, (result, expected)) in results.iter().enumerate() {
            let found = open_calls.answer(result).map(|(at, _)| at.0);
            assert_eq!(found, **expected, "result {number}");
        }
    }

    #[test]
    fn the_last_round_comes_first_and_in_it_calls_without_an_id() {
        let calls = [
            (0, call(None, "a")),
            (1, call(Some("1"), "a")),
            (1, call(None, "a")),
            (1, call(None, "b")),
        ];
        let (a, b, c) = (Some("a"), Some("b"), Some("c"));
        check(&calls, &[(None, a, Some(2)), (None, a, Some(1)), (None, a, Some(0))]);
        check(&calls, &[(None, c, None), (None, b, Some(3)), (None, b, None)]);
        // A result without id and name is for a call without an id, if there is one.
        check(&calls, &[(None, None, Some(2)), (None, None, Some(3)), (None, None, Some(0))]);
    }

    #[test]
    fn a_result_without_an_id_leaves_the_call_that_another_names() {
        let calls = [(0, call(Some("1"), "a")), (0, call(None, "a"))];
        check(&calls, &[(None, Some("a"), Some(1)), (Some("1"), Some("a"), None)]);
    }

    #[test]
    fn calls_that_later_results_name_are_reserved_for_them() {
        let calls = [(0, call(Some("1"), "a")), (0, call(Some("2"), "a")), (0, call(None, "a"))];
        let part = |id, name| Part::new(Content::ToolResult(Box::new(result(id, Some(name)))));
        let parts = [part(None, "a"), part(Some("1"), "a"), part(None, "a"), part(Some("8"), "b")];
        let without_id = result(None, Some("a"));
        let mut open_calls = open_calls(&calls);
        assert_eq!(open_calls.reserve(&parts, 0), [1]);
        assert_eq!(open_calls.answer(&without_id).map(|(at, _)| at.0), Some(2));
        assert_eq!(open_calls.answer(&without_id).map(|(at, _)| at.0), Some(1));
        assert!(open_calls.reserve(&parts, 0).is_empty());
    }

    #[test]
    fn an_id_is_found_in_an_earlier_round_than_a_name() {
        let calls = [(0, call(Some("1"), "a")), (1, call(None, "a"))];
        check(&calls, &[(Some("1"), Some("a"), None), (None, Some("a"), Some(1))]);
    }

    #[test]
    fn an_id_answers_the_first_call_that_bears_it() {
        let calls =
            [(0, call(Some("1"), "a")), (0, call(Some("1"), "a")), (0, call(Some("2"), "a"))];
        check(&calls, &[(Some("1"), None, None), (None, Some("a"), Some(1))]);
    }

    #[test]
    fn an_id_that_no_call_bears_answers_a_call_without_one() {
        let calls = [(0, call(Some("1"), "a")), (0, call(None, "a")), (0, call(None, "b"))];
        check(&calls, &[(Some("9"), Some("b"), Some(2)), (Some("8"), Some("a"), Some(1))]);
        check(&calls, &[(Some("9"), None, None), (Some("9"), Some("c"), None)]);
    }
}
