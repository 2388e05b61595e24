//! Calls that wait for their results, where not all tell ids.

use std::collections::HashMap;
use std::collections::HashSet;
use std::collections::VecDeque;

use super::Position;
use crate::conversation::Role;
use crate::conversation::ToolCall;
use crate::conversation::ToolResult;
use crate::json::Text;

/// Every call is looked at a few times at most, however many there are.
#[derive(Default)]
pub(super) struct Waiting<'r> {
    calls: Vec<(Position, &'r ToolCall<'r>)>,
    /// The numbers of calls that are answered.
    answered: HashSet<usize>,
    /// Which of the assistant's turns the cursor is in.
    round: usize,
    by_id: HashMap<&'r Text<'r>, VecDeque<usize>>,
    /// By the name of their tool, and all of them under none.
    by_name: HashMap<Option<&'r Text<'r>>, Named>,
}

/// The numbers of calls that bear one name.
#[derive(Default)]
struct Named {
    all: Rounds,
    /// Those without an id.
    anonymous: Rounds,
}

/// Calls by the turn of the assistant that they stand in.
#[derive(Default)]
struct Rounds(Vec<(usize, VecDeque<usize>)>);

impl<'r> Waiting<'r> {
    /// A message of this role begins.
    pub(super) fn begin(&mut self, role: Role) {
        self.round += usize::from(role != Role::Assistant);
    }

    pub(super) fn push(&mut self, at: Position, call: &'r ToolCall<'r>) {
        let number = self.calls.len();
        self.calls.push((at, call));
        if let Some(id) = &call.id {
            self.by_id.entry(id).or_default().push_back(number);
        }
        for name in [None, Some(&call.name)] {
            let named = self.by_name.entry(name).or_default();
            named.all.push(self.round, number);
            if call.id.is_none() {
                named.anonymous.push(self.round, number);
            }
        }
    }

    /// The call that a result answers, if the result's own id does not tell.
    pub(super) fn answer(
        &mut self,
        result: &'r ToolResult<'r>,
    ) -> Option<(Position, &'r ToolCall<'r>)> {
        let found = match (&result.call_id, &result.name) {
            (Some(id), name) => {
                if let Some(number) = self.numbered(id) {
                    self.answered.insert(number);
                    return None;
                }
                // A client may number what it answers although the calls came without numbers.
                self.anonymous(Some(name.as_ref()?))
            }
            (None, Some(name)) => self.any(Some(name)),
            (None, None) => self.anonymous(None).or_else(|| self.any(None)),
        }?;
        self.answered.insert(found);
        Some(self.calls[found])
    }

    /// The first waiting call of an id.
    fn numbered(&mut self, id: &'r Text<'r>) -> Option<usize> {
        first(self.by_id.get_mut(id)?, &self.answered)
    }

    /// The first waiting call of a name that has no id, in the last round that has one.
    fn anonymous(&mut self, name: Option<&'r Text<'r>>) -> Option<usize> {
        self.by_name.get_mut(&name)?.anonymous.first(&self.answered)
    }

    /// The first waiting call of a name, in the last round that has one: a call that was left without its result is no
    /// reason to mistake those of later rounds.
    fn any(&mut self, name: Option<&'r Text<'r>>) -> Option<usize> {
        self.by_name.get_mut(&name)?.all.first(&self.answered)
    }
}

impl Rounds {
    fn push(&mut self, round: usize, number: usize) {
        match self.0.last_mut() {
            Some((last, calls)) if *last == round => calls.push_back(number),
            _ => self.0.push((round, VecDeque::from([number]))),
        }
    }

    fn first(&mut self, answered: &HashSet<usize>) -> Option<usize> {
        while let Some((_, calls)) = self.0.last_mut() {
            if let Some(number) = first(calls, answered) {
                return Some(number);
            }
            self.0.pop();
        }
        None
    }
}

/// The first call of a list that waits; those before it are forgotten.
fn first(calls: &mut VecDeque<usize>, answered: &HashSet<usize>) -> Option<usize> {
    while calls.front().is_some_and(|number| answered.contains(number)) {
        calls.pop_front();
    }
    calls.front().copied()
}
