//! Finding out what becomes of every call and result, before anything is moved.

use std::collections::{BTreeSet, HashMap, HashSet};

use sabir_wire::conversation::{CallKey, CallKeys, Content, Role, ToolCall, ToolResult};
use sabir_wire::json::Text;

use super::open_calls::OpenCalls;
use super::takes_results;
use crate::policy::Misplaced;
use crate::turn::Turn;

/// Where a part stands: the index of its message and its own.
pub(super) type Position = (usize, usize);

/// What becomes of calls and results, each list in the order of positions.
#[derive(Default)]
pub(super) struct Plan {
    /// For each run, the index of the message behind it.
    pub(super) runs: Vec<usize>,
    pub(super) calls: Vec<CallPlan>,
    pub(super) results: Vec<ResultPlan>,
}

pub(super) struct CallPlan {
    pub(super) at: Position,
    pub(super) run: usize,
    /// When its result was found: how many were found before.
    pub(super) answered: Option<usize>,
}

pub(super) struct ResultPlan {
    pub(super) at: Position,
    pub(super) fate: Fate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Stays,
    /// It goes behind the run of that call.
    Moves(usize),
    /// No call asks for it.
    Orphan,
    /// Its call has another result.
    Second,
    /// It stands where no provider takes it.
    Misplaced,
}

/// A walk over the messages, with what it has not found a place for.
struct Walk<'m> {
    plan: Plan,
    open_calls: OpenCalls<'m>,
    /// The number of the current run's first call.
    first_call: usize,
    calls: Vec<&'m ToolCall<'m>>,
    /// How many results have been found for them.
    answers: usize,
    /// The ids of calls that earlier runs have left without results.
    left: HashSet<&'m Text<'m>>,
    /// Results for which the run before them has no call, each with its index in the plan.
    homeless: Vec<(usize, &'m ToolResult<'m>)>,
    /// Whether results may still come: behind the assistant, until somebody speaks.
    open: bool,
    misplaced: Misplaced,
}

impl Plan {
    pub(super) fn of(turns: &[Turn<'_>], misplaced: Misplaced) -> Self {
        let mut walk = Walk {
            plan: Self::default(),
            open_calls: OpenCalls::default(),
            first_call: 0,
            calls: Vec::new(),
            answers: 0,
            left: HashSet::new(),
            homeless: Vec::new(),
            open: false,
            misplaced,
        };
        let mut before = None;
        for (index, turn) in turns.iter().enumerate() {
            match turn.message.role {
                Role::Assistant => walk.run(index, turn, before),
                Role::System | Role::Developer | Role::User | Role::Tool => {
                    walk.stretch(index, turn);
                }
            }
            before = Some(turn.message.role);
        }
        walk.house();
        walk.plan
    }
}

impl<'m> Walk<'m> {
    /// Takes a message of the assistant.
    fn run(&mut self, index: usize, turn: &'m Turn<'_>, before: Option<Role>) {
        match self.plan.runs.last_mut() {
            Some(end) if before == Some(Role::Assistant) => *end = index + 1,
            _ => {
                self.plan.runs.push(index + 1);
                self.left.extend(self.open_calls.ids());
                self.open_calls.clear();
                self.first_call = self.calls.len();
            }
        }
        for (part_index, part) in turn.message.parts.iter().enumerate() {
            let at = (index, part_index);
            match part.content() {
                Content::ToolCall(call) => {
                    let run = self.plan.runs.len() - 1;
                    self.plan.calls.push(CallPlan { at, run, answered: None });
                    self.calls.push(call);
                    self.open_calls.push(call);
                }
                Content::ToolResult(result) => self.leave(at, result),
                _ => {}
            }
        }
        self.open = true;
    }

    /// Takes a message of anybody else.
    fn stretch(&mut self, index: usize, turn: &'m Turn<'_>) {
        self.open &= !turn.message.parts.is_empty();
        // These find their calls before all others of the message, and so stand before them if they move.
        let reserved = self.open_calls.reserve(&turn.message.parts);
        let first = self.answers;
        self.answers += reserved.len();
        let mut reserved = (first..).zip(reserved).peekable();
        for (part_index, part) in turn.message.parts.iter().enumerate() {
            let Content::ToolResult(result) = part.content() else {
                // A call that stands here goes, so that it stands in nobody's way.
                self.open &= matches!(part.content(), Content::ToolCall(_));
                continue;
            };
            let at = (index, part_index);
            let own = reserved.next_if(|(_, (index, _))| *index == part_index);
            let own = own.map(|(order, (_, number))| (order, number));
            let Some((order, number)) = own.or_else(|| self.answer(result)) else {
                self.leave(at, result);
                continue;
            };
            let call = self.first_call + number;
            let is_due = self.open && takes_results(turn.message.role);
            let fate = if is_due { Fate::Stays } else { self.misplaced(call) };
            self.settle(call, fate, order);
            self.plan.results.push(ResultPlan { at, fate });
        }
    }

    fn leave(&mut self, at: Position, result: &'m ToolResult<'_>) {
        self.homeless.push((self.plan.results.len(), result));
        self.plan.results.push(ResultPlan { at, fate: Fate::Orphan });
    }

    /// The number of the call in its run that a result answers, and when it was found.
    fn answer(&mut self, result: &'m ToolResult<'_>) -> Option<(usize, usize)> {
        let number = self.open_calls.answer(keys(result, &self.left))?;
        Some((self.next_order(), number))
    }

    fn next_order(&mut self) -> usize {
        self.answers += 1;
        self.answers - 1
    }

    /// A result of this call was found.
    fn settle(&mut self, call: usize, fate: Fate, order: usize) {
        if fate != Fate::Misplaced {
            self.plan.calls[call].answered = Some(order);
        }
    }

    fn misplaced(&self, call: usize) -> Fate {
        match self.misplaced {
            Misplaced::Move => Fate::Moves(call),
            Misplaced::Drop => Fate::Misplaced,
            Misplaced::Keep => Fate::Stays,
        }
    }

    /// Finds calls for the homeless: in the last run before them that has one without a result, else in the first behind.
    fn house(&mut self) {
        let mut free: Free<'m> = HashMap::new();
        for (number, call) in self.calls.iter().enumerate() {
            if self.plan.calls[number].answered.is_none() {
                for key in CallKey::of_call(call) {
                    free.entry(key).or_default().insert(number);
                }
            }
        }
        let known: HashSet<&Text<'_>> =
            self.calls.iter().filter_map(|call| call.id.as_ref()).collect();
        for (index, result) in std::mem::take(&mut self.homeless) {
            let at = self.plan.results[index].at;
            let Some(number) = self.plan.nearest(result, at, keys(result, &known), &free) else {
                if result.call_id.as_ref().is_some_and(|id| known.contains(id)) {
                    self.plan.results[index].fate = Fate::Second;
                }
                continue;
            };
            let fate = self.misplaced(number);
            self.plan.results[index].fate = fate;
            let order = self.next_order();
            self.settle(number, fate, order);
            if fate != Fate::Misplaced {
                for key in CallKey::of_call(self.calls[number]) {
                    free.entry(key).and_modify(|numbers| {
                        numbers.remove(&number);
                    });
                }
            }
        }
    }
}

/// The numbers of calls without results, by what results find them by.
type Free<'m> = HashMap<CallKey<'m>, BTreeSet<usize>>;

impl Plan {
    /// The call that a result at this place answers, of those that are free.
    fn nearest(
        &self,
        result: &ToolResult<'_>,
        at: Position,
        keys: CallKeys<'_>,
        free: &Free<'_>,
    ) -> Option<usize> {
        let behind = self.calls.partition_point(|call| call.at < at);
        let found = keys.map(|key| self.first_of_nearest(free.get(&key?)?, behind));
        // Both keys look in the same direction, and the second finds at least what the first does.
        CallKey::choose(result, found, |one, other| self.calls[*one].run != self.calls[*other].run)
    }

    /// The first of the numbers in the last run that has one before `border`, else in the first run from there on.
    fn first_of_nearest(&self, numbers: &BTreeSet<usize>, border: usize) -> Option<usize> {
        let Some(last) = numbers.range(..border).next_back() else {
            return numbers.range(border..).next().copied();
        };
        let run = self.calls[*last].run;
        let start = self.calls.partition_point(|call| call.run < run);
        numbers.range(start..).next().copied()
    }
}

/// What a result names its call by. An id that a call bears is for that call and no other.
fn keys<'m>(result: &'m ToolResult<'_>, known: &HashSet<&Text<'_>>) -> CallKeys<'m> {
    let [first, second] = CallKey::of_result(result);
    let is_known = result.call_id.as_ref().is_some_and(|id| known.contains(id));
    [first, second.filter(|_| !is_known)]
}
