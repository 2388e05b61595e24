//! Clearing: what a client wants left out of a conversation that grows long. Old results of tools give way to a short note, and
//! old thinking to nothing. When that is worth it is judged by whoever counts tokens.

use std::collections::{HashMap, HashSet};

use sabir_wire::conversation::{
    Arguments, CallForm, Content, Message, Part, Request, ResultOutput, Role, ToolCall, ToolResult,
};
use sabir_wire::json::{Json, Text};

/// What stands for a result that was cleared.
const CLEARED: &str = "[this tool result was cleared to save context]";

/// What is to be cleared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Clearing {
    ToolUses(ToolUses),
    /// All thinking but that of the newest turns which have any.
    Thinking {
        keep_turns: usize,
    },
}

/// Which results of tools are cleared, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolUses {
    pub trigger: Trigger,
    /// The newest that stay.
    pub keep: usize,
    /// Unless so many tokens would be saved, nothing is cleared.
    pub tokens_min: u64,
    pub inputs: Inputs,
    /// Tools whose results stay.
    pub exclude: Vec<String>,
}

/// When results are cleared: beyond so many tokens of the whole request, or so many calls with their results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    Tokens(u64),
    ToolUses(usize),
}

/// Of which calls the arguments go with the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inputs {
    Keep,
    Clear,
    /// Those of some tools.
    ClearOf(Vec<String>),
}

/// What was cleared: so many calls with their results, or turns with thinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cleared {
    pub count: usize,
    pub tokens: u64,
}

/// Clears a conversation; none if nothing of it was to be cleared. `tokens` counts those of a request.
pub fn clear(
    request: &mut Request<'_>,
    clearing: &Clearing,
    tokens: impl Fn(&Request<'_>) -> u64,
) -> Option<Cleared> {
    let before = tokens(request);
    let kept = request.messages.clone();
    let count = match clearing {
        Clearing::ToolUses(uses) => uses.apply(&mut request.messages, before),
        Clearing::Thinking { keep_turns } => clear_thinking(&mut request.messages, *keep_turns),
    };
    let cleared = Cleared { count, tokens: before.saturating_sub(tokens(request)) };
    let tokens_min = match clearing {
        Clearing::ToolUses(uses) => uses.tokens_min,
        Clearing::Thinking { .. } => 0,
    };
    if cleared.count == 0 || cleared.tokens < tokens_min {
        request.messages = kept;
        return None;
    }
    Some(cleared)
}

impl ToolUses {
    fn apply(&self, messages: &mut [Message<'_>], tokens: u64) -> usize {
        let uses = tool_uses(messages);
        let is_due = match self.trigger {
            Trigger::Tokens(most) => tokens > most,
            Trigger::ToolUses(most) => uses.len() > most,
        };
        let old = uses.len().saturating_sub(self.keep);
        let is_cleared = |(id, name): &(String, String)| {
            (!self.exclude.contains(name)).then(|| (id.clone(), self.inputs.covers(name)))
        };
        let old = uses[..old].iter().filter(|_| is_due).filter_map(is_cleared);
        let cleared: HashMap<String, bool> = old.collect();
        if !cleared.is_empty() {
            replace(messages, |part| without(part, &cleared));
        }
        cleared.len()
    }
}

impl Inputs {
    fn covers(&self, tool: &str) -> bool {
        match self {
            Self::Keep => false,
            Self::Clear => true,
            Self::ClearOf(tools) => tools.iter().any(|it| it == tool),
        }
    }
}

/// The calls that have a result, by their ids, with the names of their tools, in the order of the results.
fn tool_uses(messages: &[Message<'_>]) -> Vec<(String, String)> {
    let (mut names, mut uses, mut seen) = (HashMap::new(), Vec::new(), HashSet::new());
    for part in messages.iter().flat_map(|message| &message.parts) {
        match part.content() {
            Content::ToolCall(call) => {
                let id = call.id.as_ref().map(|id| id.to_str().into_owned());
                names.extend(id.map(|id| (id, call.name.to_str().into_owned())));
            }
            Content::ToolResult(result) => {
                let id = result.call_id.as_ref().map(|id| id.to_str().into_owned());
                let Some(id) = id.filter(|id| seen.insert(id.clone())) else { continue };
                if let Some(name) = names.get(&id) {
                    uses.push((id, name.clone()));
                }
            }
            _ => {}
        }
    }
    uses
}

/// A part without what was cleared of it; `cleared` says of each call whether its arguments go as well.
fn without<'p>(part: Part<'p>, cleared: &HashMap<String, bool>) -> Option<Part<'p>> {
    let found = |id: &Option<Text<'_>>| cleared.get(&*id.as_ref()?.to_str()).copied();
    Some(match part.content() {
        Content::ToolResult(result) if found(&result.call_id).is_some() => {
            let ToolResult { call_id, name, is_error, form, .. } = (**result).clone();
            let output = ResultOutput::Parts(Part::text(CLEARED).into());
            let result = ToolResult { call_id, name, output, is_error, form };
            Part::new(Content::ToolResult(Box::new(result)))
        }
        Content::ToolCall(call) if found(&call.id) == Some(true) => {
            let ToolCall { id, name, form, .. } = (**call).clone();
            let arguments = match form {
                CallForm::Function => Arguments::Json(Json::literal("{}")),
                CallForm::Custom => Arguments::Text(Text::literal("")),
            };
            Part::new(Content::ToolCall(Box::new(ToolCall { id, name, arguments, form })))
        }
        _ => part,
    })
}

/// Leaves out thinking; how many turns had any.
fn clear_thinking(messages: &mut [Message<'_>], keep_turns: usize) -> usize {
    let is_thinking = |part: &Part<'_>| matches!(part.content(), Content::Reasoning(_));
    let mut turns: Vec<usize> = Vec::new();
    let (mut turn, mut turn_of) = (0, Vec::with_capacity(messages.len()));
    for message in &*messages {
        turn += usize::from(opens_turn(message));
        turn_of.push(turn);
        if message.parts.iter().any(is_thinking) && turns.last() != Some(&turn) {
            turns.push(turn);
        }
    }
    let cleared = turns.len().saturating_sub(keep_turns);
    let Some(&last) = cleared.checked_sub(1).and_then(|last| turns.get(last)) else { return 0 };
    let old = turn_of.partition_point(|turn| *turn <= last);
    replace(&mut messages[..old], |part| (!is_thinking(&part)).then_some(part));
    cleared
}

/// Whether a message is a word of the user, and not the result of a tool.
fn opens_turn(message: &Message<'_>) -> bool {
    let is_result = |part: &Part<'_>| matches!(part.content(), Content::ToolResult(_));
    message.role == Role::User && !message.parts.iter().any(is_result)
}

fn replace<'m>(messages: &mut [Message<'m>], replaced: impl Fn(Part<'m>) -> Option<Part<'m>>) {
    for message in messages {
        let parts = std::mem::take(&mut message.parts);
        message.parts = parts.into_iter().filter_map(&replaced).collect();
    }
}

#[cfg(test)]
mod tests {
    use sabir_wire::conversation::{Reasoning, ReasoningForm};

    use super::*;
    use crate::step::testing::{call, rendered, result, text, turns};

    fn thought(words: &'static str) -> Message<'static> {
        let reasoning = Reasoning { form: ReasoningForm::Raw, texts: vec![words.into()] };
        Message::new(
            Role::Assistant,
            vec![Part::new(Content::Reasoning(Box::new(reasoning))), Part::text("said")],
        )
    }

    fn request(messages: Vec<Message<'static>>) -> Request<'static> {
        Request { messages, ..Request::default() }
    }

    /// A token for each byte.
    fn tokens(request: &Request<'_>) -> u64 {
        crate::compact::weight(&request.messages) as u64
    }

    fn uses(keep: usize) -> ToolUses {
        let (trigger, inputs, exclude) = (Trigger::ToolUses(0), Inputs::Keep, Vec::new());
        ToolUses { trigger, keep, tokens_min: 0, inputs, exclude }
    }

    fn three_rounds() -> Request<'static> {
        let rounds = ["1", "2", "3"].into_iter().flat_map(|id| [call(id), result(id)]);
        request([text(Role::User, "go")].into_iter().chain(rounds).collect())
    }

    fn outputs(request: &Request<'_>) -> Vec<bool> {
        let parts = request.messages.iter().flat_map(|message| &message.parts);
        let is_cleared = |part: &Part<'_>| match part.content() {
            Content::ToolResult(result) => match result.output.parts()[0].content() {
                Content::Text(text) => Some(*text == *CLEARED),
                _ => None,
            },
            _ => None,
        };
        parts.filter_map(is_cleared).collect()
    }

    #[test]
    fn the_newest_results_stay() {
        let mut request = three_rounds();
        let long = "x".repeat(1_000);
        let Content::ToolResult(result) = request.messages[2].parts[0].content() else { panic!() };
        let output = ResultOutput::Parts(Part::text(long).into());
        let result = ToolResult { output, ..(**result).clone() };
        request.messages[2].parts = Part::new(Content::ToolResult(Box::new(result))).into();
        let cleared = clear(&mut request, &Clearing::ToolUses(uses(1)), tokens).unwrap();
        assert_eq!(cleared.count, 2);
        assert!(cleared.tokens > 800, "{cleared:?}");
        assert_eq!(outputs(&request), [true, true, false]);
        // Calls and results are where they were.
        let lines = rendered(&turns(request.messages));
        assert_eq!(lines[1..3], ["assistant: ?1", "tool: =1"]);
    }

    #[test]
    fn nothing_is_cleared_before_it_is_due_or_worth_it() {
        for uses in [
            uses(3),
            ToolUses { trigger: Trigger::Tokens(1 << 20), ..uses(0) },
            ToolUses { trigger: Trigger::ToolUses(3), ..uses(0) },
            ToolUses { tokens_min: 1 << 20, ..uses(0) },
            ToolUses { exclude: vec!["look".to_owned()], ..uses(0) },
        ] {
            let mut request = three_rounds();
            assert_eq!(
                clear(&mut request, &Clearing::ToolUses(uses.clone()), tokens),
                None,
                "{uses:?}"
            );
            assert_eq!(outputs(&request), [false; 3]);
        }
    }

    #[test]
    fn arguments_go_where_that_is_wanted() {
        for (inputs, expected) in [
            (Inputs::Keep, "{\"a\":1}"),
            (Inputs::Clear, "{}"),
            (Inputs::ClearOf(vec!["look".to_owned()]), "{}"),
            (Inputs::ClearOf(vec!["other".to_owned()]), "{\"a\":1}"),
        ] {
            let mut request = three_rounds();
            let Content::ToolCall(call) = request.messages[1].parts[0].content() else { panic!() };
            let arguments = Arguments::Json(Json::literal("{\"a\":1}"));
            let call = ToolCall { arguments, ..(**call).clone() };
            request.messages[1].parts = Part::new(Content::ToolCall(Box::new(call))).into();
            let clearing = Clearing::ToolUses(ToolUses { inputs, ..uses(0) });
            clear(&mut request, &clearing, |_| 9);
            let Content::ToolCall(call) = request.messages[1].parts[0].content() else { panic!() };
            let Arguments::Json(arguments) = &call.arguments else { panic!() };
            assert_eq!(arguments.as_str(), expected);
        }
    }

    #[test]
    fn thinking_of_the_newest_turns_stays() {
        let user = |words| text(Role::User, words);
        let messages = || {
            vec![
                user("1"),
                thought("a"),
                user("2"),
                thought("b"),
                call("7"),
                result("7"),
                thought("c"),
                user("3"),
                text(Role::Assistant, "none"),
                user("4"),
                thought("d"),
            ]
        };
        let left = |keep_turns| {
            let mut request = request(messages());
            let cleared = clear(&mut request, &Clearing::Thinking { keep_turns }, tokens);
            let parts = request.messages.iter().flat_map(|message| &message.parts);
            let thoughts = parts.filter(|part| matches!(part.content(), Content::Reasoning(_)));
            (cleared.map(|cleared| cleared.count), thoughts.count())
        };
        // One turn with a round of tools is one turn.
        assert_eq!(left(1), (Some(2), 1));
        assert_eq!(left(2), (Some(1), 3));
        assert_eq!(left(3), (None, 4));
        assert_eq!(left(0), (Some(3), 0));
    }
}
