//! The calls of one run that wait for their results.

use std::collections::{HashMap, VecDeque};

use sabir_wire::conversation::{CallKey, CallKeys, Content, Part, ToolCall};
use sabir_wire::json::Text;

/// Calls in order. Results mostly come in the same order; where they do not, and the calls are many, an index keeps the
/// search short.
#[derive(Default)]
pub(super) struct OpenCalls<'m> {
    calls: Vec<(&'m ToolCall<'m>, State)>,
    /// All calls before this one are answered.
    next: usize,
    count: usize,
    index: HashMap<CallKey<'m>, VecDeque<usize>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Waits,
    Answered,
}

/// Up to so many calls are looked through one by one.
const FEW: usize = 8;

impl<'m> OpenCalls<'m> {
    pub(super) fn push(&mut self, call: &'m ToolCall<'_>) {
        self.calls.push((call, State::Waits));
        self.count += 1;
        self.index.clear();
    }

    pub(super) fn clear(&mut self) {
        self.calls.clear();
        self.index.clear();
        self.next = 0;
        self.count = 0;
    }

    /// How many calls have no result yet.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The ids of the calls that have no result yet.
    pub(super) fn ids(&self) -> impl Iterator<Item = &'m Text<'m>> {
        let waits = self.calls.iter().filter(|(_, state)| *state == State::Waits);
        waits.filter_map(|(call, _)| call.id.as_ref())
    }

    /// Gives the results that bear ids of waiting calls theirs, where results without an id come before them: these answer
    /// what is left. Returns the indices of the parts that have theirs, each with the number of its call.
    pub(super) fn reserve(&mut self, parts: &'m [Part<'_>]) -> Vec<(usize, usize)> {
        let mut reserved = Vec::new();
        let Some(without_id) = parts.iter().position(|part| matches!(id_of(part), Some(None)))
        else {
            return reserved;
        };
        if !parts[without_id..].iter().any(|part| matches!(id_of(part), Some(Some(_)))) {
            return reserved;
        }
        for (index, part) in parts.iter().enumerate() {
            if let Some(id) = id_of(part).flatten()
                && let Some(number) = self.answer([Some(CallKey::Id(id)), None])
            {
                reserved.push((index, number));
            }
        }
        reserved
    }

    /// Gives a result to the first call that waits for it; the answer is that call's number in the run.
    pub(super) fn answer(&mut self, keys: CallKeys<'m>) -> Option<usize> {
        let found = keys.into_iter().flatten().find_map(|key| self.find(key))?;
        self.calls[found].1 = State::Answered;
        self.count -= 1;
        while self.calls.get(self.next).is_some_and(|(_, state)| *state == State::Answered) {
            self.next += 1;
        }
        Some(found)
    }

    fn find(&mut self, key: CallKey<'m>) -> Option<usize> {
        match self.calls.get(self.next) {
            Some((call, _)) if key.matches(call) => Some(self.next),
            Some(_) if self.calls.len() <= FEW => self.search(key),
            Some(_) => self.look_up(key),
            None => None,
        }
    }

    fn search(&self, key: CallKey<'_>) -> Option<usize> {
        self.calls.iter().position(|(call, state)| *state == State::Waits && key.matches(call))
    }

    fn look_up(&mut self, key: CallKey<'m>) -> Option<usize> {
        if self.index.is_empty() {
            for (number, (call, _)) in self.calls.iter().enumerate() {
                for key in CallKey::of_call(call) {
                    self.index.entry(key).or_default().push_back(number);
                }
            }
        }
        let numbers = self.index.get_mut(&key)?;
        while let Some(number) = numbers.pop_front() {
            if self.calls[number].1 == State::Waits {
                return Some(number);
            }
        }
        None
    }
}

/// The id that a result states, if the part is one.
fn id_of<'p>(part: &'p Part<'_>) -> Option<Option<&'p Text<'p>>> {
    match part.content() {
        Content::ToolResult(result) => Some(result.call_id.as_ref()),
        _ => None,
    }
}
