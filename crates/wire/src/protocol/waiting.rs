//! Calls that wait for their results. Each is found at once, however many wait: a request may hold as many calls as fit
//! into its bytes.

use std::collections::BTreeMap;
use std::collections::VecDeque;

use crate::conversation::ToolCall;
use crate::conversation::ToolResult;
use crate::json::Text;
use crate::protocol::calls::Position;

/// The calls of a conversation so far that no result has answered.
#[derive(Default)]
pub(super) struct Waiting<'r> {
    /// In order; those that were answered are gone.
    calls: Vec<Option<(Position, &'r ToolCall<'r>)>>,
    by_id: BTreeMap<&'r Text<'r>, Vec<usize>>,
    by_name: BTreeMap<&'r Text<'r>, Rounds>,
    all: Rounds,
}

/// Calls in the order of the rounds that they were made in; some may have been answered.
#[derive(Default)]
struct Rounds(Vec<Round>);

struct Round {
    number: usize,
    without_id: VecDeque<usize>,
    with_id: VecDeque<usize>,
}

impl<'r> Waiting<'r> {
    /// Adds a call of a round; rounds only go up.
    pub(super) fn push(&mut self, at: Position, call: &'r ToolCall<'r>, round: usize) {
        let index = self.calls.len();
        self.calls.push(Some((at, call)));
        if let Some(id) = &call.id {
            self.by_id.entry(id).or_default().push(index);
        }
        for rounds in [self.by_name.entry(&call.name).or_default(), &mut self.all] {
            rounds.push(index, call, round);
        }
    }

    /// A result came for the calls of that id.
    pub(super) fn answer_id(&mut self, id: &Text<'r>) {
        for index in self.by_id.remove(id).unwrap_or_default() {
            self.calls[index] = None;
        }
    }

    /// The call that a result without an id answers: the first waiting one of its name, in the last round that has one, since
    /// a call that was left without its result is no reason to mistake those of later rounds. A call without an id comes
    /// first, since a client that was given one would have sent it back.
    pub(super) fn answer(
        &mut self,
        result: &ToolResult<'r>,
    ) -> Option<(Position, &'r ToolCall<'r>)> {
        let rounds = match &result.name {
            Some(name) => self.by_name.get_mut(name)?,
            None => &mut self.all,
        };
        let index = rounds.next(&self.calls)?;
        self.calls[index].take()
    }
}

impl Rounds {
    fn push(&mut self, index: usize, call: &ToolCall<'_>, number: usize) {
        if self.0.last().is_none_or(|last| last.number != number) {
            self.0.push(Round { number, without_id: VecDeque::new(), with_id: VecDeque::new() });
        }
        if let Some(round) = self.0.last_mut() {
            match call.id {
                Some(_) => round.with_id.push_back(index),
                None => round.without_id.push_back(index),
            }
        }
    }

    /// The call whose turn it is of those that still wait.
    fn next<T>(&mut self, calls: &[Option<T>]) -> Option<usize> {
        while let Some(round) = self.0.last_mut() {
            for queue in [&mut round.without_id, &mut round.with_id] {
                while let Some(index) = queue.pop_front() {
                    if calls[index].is_some() {
                        return Some(index);
                    }
                }
            }
            self.0.pop();
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::Arguments;
    use crate::conversation::CallForm;
    use crate::conversation::ResultOutput;
    use crate::json::Json;

    fn call(id: Option<&'static str>, name: &'static str) -> ToolCall<'static> {
        let arguments = Arguments::Json(Json::literal("{}"));
        ToolCall {
            id: id.map(Text::literal),
            name: Text::literal(name),
            arguments,
            form: CallForm::default(),
        }
    }

    fn result(name: Option<&'static str>) -> ToolResult<'static> {
        ToolResult {
            call_id: None,
            name: name.map(Text::literal),
            output: ResultOutput::Parts(Vec::new()),
            is_error: None,
            form: CallForm::default(),
        }
    }

    #[test]
    fn the_last_round_comes_first_and_in_it_calls_without_an_id() {
        let calls = [call(None, "a"), call(Some("1"), "a"), call(None, "a"), call(None, "b")];
        let mut waiting = Waiting::default();
        for (index, (call, round)) in calls.iter().zip([0, 1, 1, 1]).enumerate() {
            waiting.push((index, 0), call, round);
        }
        let mut answered = |name| waiting.answer(&result(name)).map(|(at, _)| at.0);
        assert_eq!(answered(Some("a")), Some(2));
        assert_eq!(answered(Some("a")), Some(1));
        assert_eq!(answered(Some("c")), None);
        assert_eq!(answered(None), Some(3));
        assert_eq!(answered(None), Some(0));
        assert_eq!(answered(None), None);
        assert_eq!(answered(Some("b")), None);
    }

    #[test]
    fn an_id_answers_all_calls_that_share_it() {
        let calls = [call(Some("1"), "a"), call(Some("1"), "a"), call(Some("2"), "a")];
        let mut waiting = Waiting::default();
        for (index, call) in calls.iter().enumerate() {
            waiting.push((index, 0), call, 0);
        }
        waiting.answer_id(&Text::literal("1"));
        assert_eq!(waiting.answer(&result(Some("a"))).map(|(at, _)| at.0), Some(2));
        assert_eq!(waiting.answer(&result(Some("a"))).map(|(at, _)| at.0), None);
    }
}
