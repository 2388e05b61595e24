//! What a request or an answer states, as facts that can be compared across protocols, each with its place in the input.
//!
//! A conversation is compared as a sequence of parts by speaker: where one message ends and the next of the same speaker
//! begins, and which ids connect a call with its result, are shapes that each protocol has its own way for.

mod align;
mod answer;
mod compare;
mod defaults;
mod normal;
mod pairing;
mod part;
mod request;
mod tool;
mod values;

use sabir_wire::conversation::Response;
use sabir_wire::protocol::DecodedRequest;
use sabir_wire::{Protocol, Report};
use serde_json::Value;

pub use compare::Difference;

/// Everything that a body states.
#[derive(Clone, Debug)]
pub struct Statement {
    protocol: Protocol,
    /// What is stated of the whole.
    facts: Vec<Fact>,
    /// Parts of the conversation, tools and answers, in their order.
    lists: Vec<Vec<Node>>,
}

/// The speaker whose turns an answer becomes.
const ASSISTANT: &str = "assistant";

/// The fact that an answer failed.
const FAILURE: &str = "failure";

/// One stated value.
#[derive(Clone, Debug)]
struct Fact {
    name: String,
    /// Facts of one group say the same thing in different ways: an effort and a budget, for example.
    group: Group,
    value: Value,
    pointer: String,
    /// The frame of a stream in which it stands, and where; its place in the answer is one for several frames.
    origin: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    Alone,
    /// A protocol's own spelling of something that is canonical too.
    Spelling,
    Thinking,
    Output,
    Choice,
    User,
    Logprobs,
    Cache,
    Usage,
    Finish,
}

/// A part, a tool or the head of a message: what sort of thing it is, and what is stated of it.
#[derive(Clone, Debug)]
struct Node {
    sort: String,
    place: String,
    facts: Vec<Fact>,
}

impl Statement {
    pub fn of_request(decoded: &DecodedRequest<'_>) -> Self {
        request::statement(decoded)
    }

    pub fn of_answer(protocol: Protocol, response: &Response<'_>) -> Self {
        answer::statement(protocol, response)
    }

    fn states(&self, group: Group) -> bool {
        self.facts.iter().any(|fact| fact.group == group && !normal::is_void(&fact.value))
    }

    /// Whether this is an answer that failed.
    pub fn has_failed(&self) -> bool {
        self.facts.iter().any(|fact| fact.name == FAILURE && !fact.value.is_null())
    }

    /// What `after` states otherwise, and no entry of `report` covers; and what is reported as dropped and arrived.
    pub fn unreported(&self, after: &Statement, report: &Report) -> Vec<Difference> {
        compare::compare(self, after, report)
    }

    /// What is said in a request and the tools, apart from its settings, with every signature on its own part.
    pub fn of_conversation(decoded: &DecodedRequest<'_>) -> Self {
        let turns = part::of_messages_as_signed(&decoded.request().messages, decoded);
        let tools = tool::of_tools(&decoded.request().tools, decoded);
        Self { protocol: decoded.protocol(), facts: Vec::new(), lists: vec![turns, tools] }
    }

    /// What the assistant says in a request, with every signature on its own part.
    pub fn of_assistant(decoded: &DecodedRequest<'_>) -> Self {
        let mut nodes = part::of_messages_as_signed(&decoded.request().messages, decoded);
        nodes.retain(|node| node.sort.starts_with(ASSISTANT));
        Self { protocol: decoded.protocol(), facts: Vec::new(), lists: vec![nodes] }
    }

    /// The parts of an answer alone, without how it ended and what it cost.
    pub fn parts(mut self) -> Self {
        self.facts.clear();
        self.lists.iter_mut().for_each(|nodes| nodes.retain(|node| !node.sort.starts_with("end ")));
        self
    }

    /// How many calls an answer makes.
    pub fn calls(&self) -> usize {
        self.lists.iter().flatten().filter(|node| node.sort.ends_with(" call")).count()
    }

    /// The same without calls that were cut off.
    pub fn without_cut_calls(mut self) -> Self {
        let is_cut = |node: &Node| {
            let of = |name: &str| node.facts.iter().find(|fact| fact.name == name);
            let is_function = of("form").is_some_and(|form| normal::is_void(&form.value));
            is_function && of("arguments").is_some_and(|arguments| arguments.value.is_string())
        };
        self.lists.iter_mut().for_each(|nodes| nodes.retain(|node| !is_cut(node)));
        self
    }

    /// What only one protocol has, as far as it was written as often as it is stated.
    pub fn opaque_as_written(&self, written: &[Value]) -> Vec<Value> {
        let stated: Vec<&Value> = self.lists.iter().flatten().filter_map(part::opaque).collect();
        let is_written = |value: &&&Value| {
            let stated = stated.iter().filter(|it| it == value).count();
            stated == written.iter().filter(|it| it == *value).count()
        };
        stated.iter().filter(is_written).map(|value| (*value).clone()).collect()
    }

    /// The same without what only one protocol has, if it is one of these.
    pub fn without_opaque(mut self, values: &[Value]) -> Self {
        let is_meant = |node: &Node| part::opaque(node).is_some_and(|it| values.contains(it));
        self.lists.iter_mut().for_each(|nodes| nodes.retain(|node| !is_meant(node)));
        self
    }

    /// The same with texts and thoughts in one piece that a stream cut.
    pub fn joined(mut self) -> Self {
        self.lists = self.lists.into_iter().map(part::joined).collect();
        self
    }

    /// The same with thoughts before texts, texts before refusals, and these before calls.
    pub fn texts_first(mut self) -> Self {
        let rank = |node: &Node| match node.sort.rsplit(' ').next() {
            Some("reasoning") => 0,
            Some("refusal") => 2,
            Some("call") => 3,
            _ => 1,
        };
        self.lists.iter_mut().for_each(|nodes| nodes.sort_by_key(rank));
        self.joined()
    }

    /// Whether a difference is the signature of a thought, which the part behind the thought may bear as well: it is not on the
    /// thought, or there is that of the part instead.
    pub fn is_seal_of_thought(&self, difference: &Difference) -> bool {
        let is_here = |node: &Node| node.facts.iter().any(|it| it.pointer == difference.pointer);
        let is_seal = |fact: &Fact| difference.is_change_to(&fact.name, &fact.value);
        let is_of_thought = |nodes: &Vec<Node>| {
            let Some(at) = nodes.iter().position(is_here) else { return false };
            let behind = nodes[at + 1..].iter().find(|it| !part::is_fleeting(it));
            let behind = behind.filter(|it| !part::is_thought(it));
            part::is_thought(&nodes[at])
                && (difference.is_gone() || behind.is_some_and(|it| it.facts.iter().any(is_seal)))
        };
        difference.is_sealed() && self.lists.iter().any(is_of_thought)
    }

    /// Whether a difference is the signature of a thought on the part behind the thought, or behind several. What need not
    /// arrive may stand between them.
    pub fn is_seal_behind_thought(&self, difference: &Difference) -> bool {
        let is_here = |node: &Node| node.facts.iter().any(|it| it.pointer == difference.pointer);
        let is_seal = |fact: &Fact| difference.is_addition_of(&fact.name, &fact.value);
        let follows_thought = |nodes: &Vec<Node>| {
            let at = nodes.iter().position(is_here).unwrap_or_default();
            let nodes = nodes[..at].iter().rev().skip_while(|it| part::is_fleeting(it));
            // The seal of a blank is that of the thought before it.
            let seals = |it: &&Node| part::is_thought(it) || part::is_seal_of_blanks(it);
            let run: Vec<&Node> = nodes.take_while(seals).collect();
            let first = run.iter().rposition(|it| part::is_thought(it));
            first.is_some_and(|first| run[..=first].iter().flat_map(|it| &it.facts).any(is_seal))
        };
        difference.is_sealed() && self.lists.iter().any(follows_thought)
    }

    /// Whether a difference is the signature of a thought without words on the thought before it, with which it is one.
    pub fn is_seal_of_wordless_thought(&self, difference: &Difference) -> bool {
        let is_here = |node: &Node| node.facts.iter().any(|it| it.pointer == difference.pointer);
        let is_seal = |fact: &Fact| difference.is_addition_of(&fact.name, &fact.value);
        let precedes_seal = |nodes: &Vec<Node>| {
            let Some(at) = nodes.iter().position(is_here) else { return false };
            let behind = nodes.get(at + 1).filter(|it| part::is_thought(it));
            let seal = behind.filter(|it| part::is_seal_of_blanks(it));
            part::is_thought(&nodes[at]) && seal.is_some_and(|it| it.facts.iter().any(is_seal))
        };
        difference.is_sealed() && self.lists.iter().any(precedes_seal)
    }

    /// Whether a difference is the signature of a part behind a thought that says nothing but blanks: it seals the thought.
    /// Whether blanks may be left out is another question.
    pub fn is_mere_seal_behind_thought(&self, difference: &Difference) -> bool {
        let is_here = |node: &Node| node.facts.iter().any(|it| it.pointer == difference.pointer);
        let follows_thought = |nodes: &Vec<Node>| {
            let Some(at) = nodes.iter().position(is_here) else { return false };
            let last = nodes[..at].iter().rev().find(|it| !part::is_fleeting(it));
            part::is_seal_of_blanks(&nodes[at]) && last.is_some_and(part::is_thought)
        };
        difference.is_sealed() && self.lists.iter().any(follows_thought)
    }

    /// The same with the seals of thoughts on the part behind them where `after` has all that stand together in one.
    pub fn with_seals_handed_on(mut self, after: &Statement) -> Self {
        let thoughts = after.lists.iter().flatten().filter(|it| part::is_thought(it));
        let thoughts: Vec<String> = thoughts.map(part::thought).collect();
        self.lists.iter_mut().for_each(|nodes| part::hand_on_seals(nodes, &thoughts));
        self
    }

    /// Whether all text of what is missing stands somewhere here.
    pub fn has_words_of(&self, difference: &Difference) -> bool {
        let facts = self.lists.iter().flatten().flat_map(|node| &node.facts);
        let words: Vec<&str> = facts.flat_map(|fact| values::strings(&fact.value)).collect();
        difference.words().iter().all(|it| words.iter().any(|word| word.contains(it)))
    }

    /// Whether the texts here hold this text, white space apart and in whatever pieces.
    fn holds_text(&self, words: &[&str]) -> bool {
        let spelled = |words: &[&str]| words.concat().split_whitespace().collect::<String>();
        let facts = self.lists.iter().flatten().flat_map(|node| &node.facts);
        let texts = facts.filter(|fact| fact.name == part::TEXT);
        let all: Vec<&str> = texts.filter_map(|fact| fact.value.as_str()).collect();
        let wanted = spelled(words);
        !wanted.is_empty() && spelled(&all).contains(&wanted)
    }

    /// The same with places for what `other` states at the same place, and without any for everything else.
    pub fn placed_where_in(mut self, other: &Statement) -> Self {
        let is_there = |node: &Node| {
            other.lists.iter().flatten().any(|it| {
                it.place == node.place && it.sort == node.sort && compare::same_facts(node, it)
            })
        };
        for node in self.lists.iter_mut().flatten().filter(|node| !is_there(node)) {
            node.place.clear();
            node.facts.iter_mut().for_each(|fact| fact.pointer.clear());
        }
        self
    }

    /// Gives every place by another name, where it has one.
    pub fn placed(mut self, place: impl Fn(&str) -> Option<String>) -> Self {
        let rename = |pointer: &mut String| {
            if let Some(other) = place(pointer) {
                *pointer = other;
            }
        };
        let rename_fact = |fact: &mut Fact| {
            fact.origin = Some(fact.pointer.clone());
            rename(&mut fact.pointer);
        };
        self.facts.iter_mut().for_each(rename_fact);
        for node in self.lists.iter_mut().flatten() {
            rename(&mut node.place);
            node.facts.iter_mut().for_each(rename_fact);
        }
        self
    }
}

impl Fact {
    fn new(name: impl Into<String>, value: impl Into<Value>, pointer: String) -> Self {
        let group = Group::Alone;
        Self { name: name.into(), group, value: value.into(), pointer, origin: None }
    }

    fn of(mut self, group: Group) -> Self {
        self.group = group;
        self
    }
}

impl Node {
    fn new(sort: impl Into<String>, place: String) -> Self {
        Self { sort: sort.into(), place, facts: Vec::new() }
    }

    fn with(mut self, name: impl Into<String>, value: impl Into<Value>, pointer: String) -> Self {
        self.facts.push(Fact::new(name, value, pointer));
        self
    }
}
