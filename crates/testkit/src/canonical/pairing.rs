//! Which result answers which call, found here once more so that the law need not trust the code that it holds.

use std::cmp::Reverse;
use std::collections::VecDeque;

use sabir_wire::conversation::{Content, Message, Role, ToolResult};

/// A call, by which a result is known, and not by an id.
#[derive(Clone)]
pub(super) struct Call {
    pub(super) number: usize,
    /// Which turn it was made in.
    turn: usize,
    id: Option<String>,
    name: String,
    is_answered: bool,
}

/// The call of every result, in their order. A result is of the open call that it names by its id. One without such a call
/// is of the first of its name that is left in the last turn that has one, else of the answered call of its id.
pub(super) fn pairs(messages: &[Message<'_>]) -> VecDeque<Option<Call>> {
    let (mut calls, mut pairs) = (Vec::new(), VecDeque::new());
    let runs = messages.chunk_by(|one, other| is_assistant(one) == is_assistant(other));
    let numbered = runs.enumerate().flat_map(|(turn, run)| run.iter().map(move |it| (turn, it)));
    for (turn, message) in numbered {
        let mut results = Vec::new();
        for part in &message.parts {
            match part.content() {
                Content::ToolCall(call) => calls.push(Call {
                    number: calls.len(),
                    turn,
                    id: call.id.as_ref().map(|id| id.to_str().into_owned()),
                    name: call.name.to_str().into_owned(),
                    is_answered: false,
                }),
                Content::ToolResult(result) => results.push(&**result),
                _ => {}
            }
        }
        pairs.extend(answered(&results, &mut calls));
    }
    pairs
}

fn is_assistant(message: &Message<'_>) -> bool {
    message.role == Role::Assistant
}

/// The calls that the results of one message answer.
fn answered(results: &[&ToolResult<'_>], calls: &mut [Call]) -> Vec<Option<Call>> {
    let answer = |call: &mut Call| {
        call.is_answered = true;
        call.clone()
    };
    let id = |result: &ToolResult<'_>| Some(result.call_id.as_ref()?.to_str().into_owned());
    let mut by_id = |result: &&ToolResult<'_>| {
        let id = Some(id(result)?);
        calls.iter_mut().find(|call| call.id == id && !call.is_answered).map(answer)
    };
    let mut found: Vec<Option<Call>> = results.iter().map(&mut by_id).collect();
    for (result, found) in results.iter().zip(&mut found).filter(|(_, found)| found.is_none()) {
        let by_name = by_name(result, calls).map(answer);
        let earlier = || calls.iter().rfind(|call| call.id.is_some() && call.id == id(result));
        *found = by_name.or_else(|| earlier().cloned());
    }
    found
}

/// The call that a result answers by the name of its tool. One with an id is answered by results with that id, or without
/// any; of those in one turn, one without an id comes first.
fn by_name<'c>(result: &ToolResult<'_>, calls: &'c mut [Call]) -> Option<&'c mut Call> {
    let name = result.name.as_ref()?.to_str();
    let is_meant = |call: &&mut Call| {
        !call.is_answered && call.name == *name && (call.id.is_none() || result.call_id.is_none())
    };
    let order = |call: &&mut Call| (Reverse(call.turn), call.id.is_some());
    calls.iter_mut().filter(is_meant).min_by_key(order)
}
