//! Doing what the plan says: parts are taken out, and what belongs behind a run is put there.

use sabir_wire::Protocol;
use sabir_wire::conversation::{Content, Message, Part, ResultOutput, Role, ToolCall, ToolResult};

use super::plan::{CallPlan, Fate, Plan, ResultPlan};
use super::takes_results;
use crate::draining::Draining;
use crate::log::REMOVING;
use crate::policy::{Policy, Unanswered};
use crate::step::Notes;
use crate::trace::{StepName, Words, words};
use crate::turn::Turn;

/// What a call is answered with that nobody has answered.
const NO_RESULT: &str = "Error: this tool call has no result";

const ORPHAN: Words = words!("tool result left out", "no call asks for it");
const SECOND: Words = words!("tool result left out", "its call has a result already");
const MISPLACED: Words = words!("tool result left out", "it does not stand behind its call");
const MOVED: Words = words!("tool result moved", "it belongs right behind its call");
const ANSWERED: Words = words!("error result added", "the tool call has no result");
const UNASKED: Words = words!("tool call left out", "it has no result");
const NOT_ITS_TURN: Words = words!("tool call left out", "nobody but the assistant calls tools");
const EMPTIED: Words = words!("message left out", "nothing is left of it");

/// A result that goes behind a run, with the number of its call.
struct Addition<'a> {
    run: usize,
    call: usize,
    turn: Turn<'a>,
}

/// Messages being taken apart.
struct Mending<'a, 'p> {
    plan: &'p Plan,
    policy: &'p Policy,
    notes: &'p mut Notes,
    additions: Vec<Addition<'a>>,
}

pub(super) fn mend<'a>(
    turns: Vec<Turn<'a>>,
    plan: &Plan,
    policy: &Policy,
    notes: &mut Notes,
) -> Vec<Turn<'a>> {
    let mut mending = Mending { plan, policy, notes, additions: Vec::new() };
    let (mut calls, mut results) = (plan.calls.as_slice(), plan.results.as_slice());
    let mut kept = Vec::with_capacity(turns.len());
    for (index, turn) in Draining::of(turns).enumerate() {
        let calls = of_message(&mut calls, |call| call.at.0 == index);
        let results = of_message(&mut results, |result| result.at.0 == index);
        kept.push(mending.take_apart(turn, calls, results));
    }
    let mut additions = mending.additions;
    // Results without ids are told apart by their order, so that they stand in the one in which they found their calls.
    // Those that are made up take what is left.
    additions.sort_by_key(|Addition { run, call, .. }| {
        (*run, plan.calls[*call].answered.unwrap_or(usize::MAX), *call)
    });
    assemble(kept, &plan.runs, additions)
}

/// Cuts off what belongs to one message.
fn of_message<'p, T>(rest: &mut &'p [T], is_its: impl Fn(&T) -> bool) -> &'p [T] {
    let count = rest.iter().take_while(|it| is_its(it)).count();
    let (own, later) = rest.split_at(count);
    *rest = later;
    own
}

impl<'a> Mending<'a, '_> {
    /// Takes out what does not stay, and answers what is left of the message.
    fn take_apart(
        &mut self,
        mut turn: Turn<'a>,
        calls: &[CallPlan],
        results: &[ResultPlan],
    ) -> Option<Turn<'a>> {
        self.answer(&turn, calls);
        let leaves = |index: usize| {
            let found = results.binary_search_by_key(&index, |result| result.at.1).ok()?;
            Some(results[found].fate).filter(|fate| *fate != Fate::Stays)
        };
        let unasked = |index: usize| {
            let found = calls.binary_search_by_key(&index, |call| call.at.1);
            self.policy.unanswered == Unanswered::Drop
                && found.is_ok_and(|found| calls[found].answered.is_none())
        };
        let strange = |index: usize| {
            turn.message.role != Role::Assistant
                && matches!(turn.message.parts[index].content(), Content::ToolCall(_))
        };
        let verdicts: Vec<Verdict> = (0..turn.message.parts.len())
            .map(|index| match leaves(index) {
                Some(fate) => Verdict::Result(fate),
                None if strange(index) => Verdict::NotItsTurn,
                None if unasked(index) => Verdict::Unasked,
                None => Verdict::Stays,
            })
            .collect();
        match verdicts.as_slice() {
            verdicts if verdicts.iter().all(|it| *it == Verdict::Stays) => Some(turn),
            [Verdict::Result(Fate::Moves(call))] if takes_results(turn.message.role) => {
                self.note(turn.part_pointer(&turn.message.parts[0]), MOVED);
                self.add(*call, turn);
                None
            }
            verdicts => {
                self.divide(&mut turn, verdicts);
                self.rest(turn)
            }
        }
    }

    /// Makes up results for the calls of a message that have none.
    fn answer(&mut self, turn: &Turn<'a>, calls: &[CallPlan]) {
        if self.policy.unanswered != Unanswered::Answer {
            return;
        }
        for plan in calls.iter().filter(|call| call.answered.is_none()) {
            let part = &turn.message.parts[plan.at.1];
            let Content::ToolCall(call) = part.content() else { continue };
            self.note(turn.part_pointer(part), ANSWERED);
            let result = Part::new(Content::ToolResult(Box::new(no_result(call, self.policy))));
            let number = self.plan.calls.partition_point(|other| other.at < plan.at);
            self.add(number, Turn::made(Message::new(Role::Tool, vec![result])));
        }
    }

    fn divide(&mut self, turn: &mut Turn<'a>, verdicts: &[Verdict]) {
        let sources = turn.sources();
        let parts = std::mem::take(&mut turn.message.parts);
        let (mut kept, mut kept_sources) = (Vec::new(), Vec::new());
        for ((part, source), verdict) in parts.into_iter().zip(sources).zip(verdicts) {
            let pointer = || turn.part_pointer(&part);
            match verdict {
                Verdict::Stays => {
                    kept.push(part);
                    kept_sources.push(source);
                }
                Verdict::Unasked => self.note(pointer(), UNASKED),
                Verdict::NotItsTurn => self.note(pointer(), NOT_ITS_TURN),
                Verdict::Result(Fate::Moves(call)) => {
                    self.note(pointer(), MOVED);
                    self.add(*call, Turn::taken(part, source));
                }
                Verdict::Result(fate) => {
                    self.notes.log.note(REMOVING);
                    self.note(pointer(), fate.words());
                }
            }
        }
        turn.edit(kept, kept_sources);
    }

    /// What is left of a message, if that says anything.
    fn rest(&mut self, turn: Turn<'a>) -> Option<Turn<'a>> {
        if !turn.message.is_blank() {
            return Some(turn);
        }
        if !turn.message.parts.is_empty() {
            self.note(turn.pointer(), EMPTIED);
        }
        None
    }

    fn add(&mut self, call: usize, turn: Turn<'a>) {
        let run = self.plan.calls[call].run;
        self.additions.push(Addition { run, call, turn });
    }

    fn note(&mut self, pointer: String, words: Words) {
        self.notes.trace.add(StepName::Pair, pointer, words);
    }
}

/// What becomes of a part.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Stays,
    /// A call that nobody answers.
    Unasked,
    /// A call of somebody else than the assistant.
    NotItsTurn,
    Result(Fate),
}

impl Fate {
    fn words(self) -> Words {
        match self {
            Self::Orphan => ORPHAN,
            Self::Second => SECOND,
            Self::Misplaced => MISPLACED,
            Self::Stays | Self::Moves(_) => MOVED,
        }
    }
}

/// The result of a call that has none, with what its reader has fields for.
fn no_result<'a>(call: &ToolCall<'a>, policy: &Policy) -> ToolResult<'a> {
    let facts = policy.target.map(Protocol::facts);
    let is_flagged = facts.is_none_or(|facts| facts.flags_failed_results);
    let is_named = call.id.is_none() || facts.is_some_and(|facts| facts.names_results);
    ToolResult {
        call_id: call.id.clone(),
        name: is_named.then(|| call.name.clone()),
        output: ResultOutput::Parts(Part::text(NO_RESULT).into()),
        is_error: is_flagged.then_some(true),
        form: call.form,
    }
}

/// Puts the messages together again, with the additions behind their runs.
fn assemble<'a>(
    kept: Vec<Option<Turn<'a>>>,
    runs: &[usize],
    additions: Vec<Addition<'a>>,
) -> Vec<Turn<'a>> {
    let mut additions = additions.into_iter().peekable();
    let mut assembly = Assembly::default();
    let mut run = 0;
    for (index, turn) in Draining::of(kept).enumerate() {
        if runs.get(run) == Some(&index) {
            assembly.settle();
            assembly.take_additions(&mut additions, run);
            run += 1;
        }
        if let Some(turn) = turn {
            assembly.push(turn);
        }
    }
    assembly.settle();
    assembly.take_additions(&mut additions, run);
    assembly.settle();
    assembly.turns
}

#[derive(Default)]
struct Assembly<'a> {
    turns: Vec<Turn<'a>>,
    /// Results that wait for the end of those that already stand behind their run.
    waiting: Vec<Turn<'a>>,
    /// The message that takes them in, where results share messages.
    host: Option<usize>,
}

impl<'a> Assembly<'a> {
    fn take_additions(
        &mut self,
        additions: &mut std::iter::Peekable<impl Iterator<Item = Addition<'a>>>,
        run: usize,
    ) {
        while let Some(addition) = additions.next_if(|addition| addition.run == run) {
            self.waiting.push(addition.turn);
        }
    }

    fn push(&mut self, turn: Turn<'a>) {
        if self.waiting.is_empty() {
            return self.turns.push(turn);
        }
        let results = leading_results(&turn.message);
        if turn.message.role == Role::Assistant || results == 0 {
            self.settle();
            return self.turns.push(turn);
        }
        let has_more = results < turn.message.parts.len();
        self.host = (has_more || turn.message.role != Role::Tool).then_some(self.turns.len());
        self.turns.push(turn);
        if has_more {
            self.settle();
        }
    }

    /// Puts what waits behind the results that stand there.
    fn settle(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        match self.host.take().and_then(|host| self.turns.get_mut(host)) {
            Some(host) if !waiting.is_empty() => take_in(host, waiting),
            _ => self.turns.extend(waiting),
        }
    }
}

/// Puts results behind those that a message begins with.
fn take_in<'a>(host: &mut Turn<'a>, guests: Vec<Turn<'a>>) {
    let end = leading_results(&host.message);
    let mut sources = host.sources();
    sources.splice(end..end, guests.iter().flat_map(Turn::sources));
    let mut parts = std::mem::take(&mut host.message.parts).into_vec();
    parts.splice(end..end, guests.into_iter().flat_map(|turn| turn.message.parts));
    host.edit(parts, sources);
}

fn leading_results(message: &Message<'_>) -> usize {
    let is_result = |part: &&Part<'_>| matches!(part.content(), Content::ToolResult(_));
    message.parts.iter().take_while(is_result).count()
}
