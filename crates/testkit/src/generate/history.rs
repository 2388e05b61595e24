//! Histories: lists of turns in which calls and results pair up, or do not.

use proptest::collection::vec;
use proptest::prelude::{BoxedStrategy, Just, Strategy, any};
use proptest::prop_oneof;
use proptest::sample::{Index, select, subsequence};
use sabir_wire::Protocol;
use serde_json::Value;

use crate::generate::Generator;
use crate::generate::text::id;

/// How well the calls of a history pair with its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum History {
    /// Every call has its result at once, and every result its call.
    Paired,
    /// Messages may be missing, doubled or out of order.
    Broken,
}

/// What goes wrong with a list of messages.
#[derive(Clone, Debug)]
enum Mishap {
    Lost(Index),
    Doubled(Index),
    Swapped(Index, Index),
}

/// Turns, each of one message or more, as one list.
pub(super) fn turns(
    history: History,
    turn: impl Strategy<Value = Vec<Value>> + 'static,
) -> BoxedStrategy<Vec<Value>> {
    let mishaps = match history {
        History::Paired => Just(Vec::new()).boxed(),
        History::Broken => vec(mishap(), 1..4).boxed(),
    };
    (vec(turn, 1..5), mishaps)
        .prop_map(|(turns, mishaps)| {
            mishaps.into_iter().fold(turns.concat(), |messages, mishap| mishap.strike(messages))
        })
        .boxed()
}

fn mishap() -> BoxedStrategy<Mishap> {
    prop_oneof![
        any::<Index>().prop_map(Mishap::Lost),
        any::<Index>().prop_map(Mishap::Doubled),
        any::<(Index, Index)>().prop_map(|(one, other)| Mishap::Swapped(one, other)),
    ]
    .boxed()
}

impl Mishap {
    fn strike(self, mut messages: Vec<Value>) -> Vec<Value> {
        let count = messages.len();
        match self {
            _ if count == 0 => {}
            Self::Lost(index) => drop(messages.remove(index.index(count))),
            Self::Doubled(index) => {
                let double = messages[index.index(count)].clone();
                messages.insert(index.index(count), double);
            }
            Self::Swapped(one, other) => messages.swap(one.index(count), other.index(count)),
        }
        messages
    }
}

/// Names of tools, as clients choose them.
const NAMES: &[&str] = &["lookup", "get_weather", "read-file", "mcp__tides__list", "T1", "a_b"];

/// The name of a tool that is called: one of the usual, or one that the protocol allows and others do not.
pub(super) fn tool_name(protocol: Protocol) -> BoxedStrategy<String> {
    let odd = (Generator::of(protocol).odd_name)();
    prop_oneof![12 => select(NAMES).prop_map(str::to_owned), 2 => odd].boxed()
}

pub(super) fn tool_name_value(protocol: Protocol) -> BoxedStrategy<Value> {
    tool_name(protocol).prop_map(Value::from).boxed()
}

/// Tools of different names.
pub(super) fn tools_named(
    tool: fn(&'static str) -> BoxedStrategy<Value>,
) -> BoxedStrategy<Vec<Value>> {
    subsequence(NAMES.to_vec(), 1..4)
        .prop_flat_map(move |names| names.into_iter().map(tool).collect::<Vec<_>>())
        .boxed()
}

/// Takes out a choice among tools where there are none, or not those that it names: every provider refuses it.
pub(super) fn choose_from_tools(mut body: Value) -> Value {
    let tools = body["tools"].to_string();
    let is_named = |name: &str| tools.contains(&format!("\"name\":\"{name}\""));
    let has_tools = body["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    let choice = body["tool_choice"].to_string();
    let mut names = NAMES.iter().filter(|name| choice.contains(&format!("\"{name}\"")));
    if has_tools && names.all(|name| is_named(name)) {
        return body;
    }
    if let Some(members) = body.as_object_mut() {
        members.remove("tool_choice");
        if !has_tools {
            members.remove("parallel_tool_calls");
        }
    }
    body
}

/// Calls and their results, which share an id with the given prefix.
pub(super) fn pairs(
    prefix: &'static str,
    call: fn(&str) -> BoxedStrategy<Value>,
    result: fn(&str) -> BoxedStrategy<Value>,
) -> BoxedStrategy<Vec<(Value, Value)>> {
    vec(id(prefix).prop_flat_map(move |id| (call(&id), result(&id))), 1..4).boxed()
}
