//! What an answer states.

use sabir_wire::Protocol;
use sabir_wire::conversation::{Candidate, Count, Response, Usage};
use sabir_wire::protocol::{Extra, Field, NodeSemantics};
use serde_json::Value;

use super::{Fact, Group, Node, Statement, normal, part};

pub(super) fn statement(protocol: Protocol, response: &Response<'_>) -> Statement {
    let empty = Candidate::default();
    let first = response.candidates.first().unwrap_or(&empty);
    let at = |node: &NodeSemantics<'_>, field: Field| first.pointer(protocol, node, field);
    let root = response.semantics();
    let mut facts = vec![
        fact(
            Field::ResponseModel,
            response.model.as_ref().map(normal::text),
            at(root, Field::ResponseModel),
        ),
        tier(response, at(root, Field::ResponseServiceTier)),
        Fact::new(
            super::FAILURE,
            response.fault.as_ref().map(|fault| format!("{:?}", fault.kind)),
            format!("{}/error", root.place()),
        ),
    ];
    facts.extend(part::semantics(protocol, root, &|field| at(root, field)));
    if let Some(usage) = &response.usage {
        facts.extend(of_usage(protocol, usage, &|field| at(usage.semantics(), field)));
    }
    let mut nodes = Vec::new();
    for (number, candidate) in response.candidates.iter().enumerate() {
        nodes.extend(of_candidate(protocol, candidate, number));
    }
    Statement { protocol, facts, lists: vec![nodes] }
}

/// The tier, which a stream may state late, beside its usage.
fn tier(response: &Response<'_>, pointer: String) -> Fact {
    if let Some(tier) = &response.service_tier {
        return fact(Field::ResponseServiceTier, Some(normal::tier(&tier.to_str())), pointer);
    }
    let usage = response.usage.as_ref().map(|usage| usage.semantics());
    let late = usage.and_then(|usage| Some((usage, usage.extras()?.iter().find(is_tier)?)));
    let Some((usage, late)) = late else { return fact(Field::ResponseServiceTier, None, pointer) };
    let word = normal::json(&late.json).as_str().map(normal::tier);
    let pointer = format!("{}{}", usage.place(), late.pointer());
    fact(Field::ResponseServiceTier, word, pointer)
}

fn is_tier(extra: &&Extra<'_>) -> bool {
    extra.scope.is_empty() && matches!(&*extra.key, "serviceTier" | "service_tier")
}

fn fact(field: Field, value: Option<Value>, pointer: String) -> Fact {
    Fact::new(field.name(), value.unwrap_or_default(), pointer)
}

fn of_candidate(protocol: Protocol, candidate: &Candidate<'_>, number: usize) -> Vec<Node> {
    let at = |node: &NodeSemantics<'_>, field: Field| candidate.pointer(protocol, node, field);
    let mut nodes = part::of_answer(&candidate.message, (protocol, number), &at);
    let own = candidate.semantics();
    let mut end = Node::new(format!("end {number}"), own.place().to_string());
    end.facts.extend(part::semantics(protocol, own, &|field| at(own, field)));
    let finish = candidate.finish.as_ref();
    let facts = [
        (Field::FinishReason, finish.map(|it| Value::from(format!("{:?}", it.kind)))),
        (Field::StopSequence, finish.and_then(|it| Some(normal::text(it.stop_sequence.as_ref()?)))),
        (Field::FinishDetails, finish.and_then(|it| Some(normal::json(it.details.as_ref()?)))),
    ];
    let facts = facts.map(|(field, value)| fact(field, value, at(own, field)));
    end.facts.extend(facts.map(|fact| fact.of(Group::Finish)));
    nodes.push(end);
    nodes
}

fn of_usage(protocol: Protocol, usage: &Usage<'_>, at: &dyn Fn(Field) -> String) -> Vec<Fact> {
    let is_needed = |(count, number): &(Count, u64)| {
        *number > 0 && !(*count == Count::Total && is_sum(usage, *number))
    };
    let stated = |count: Count| usage.counts[count].map(|number| (count, number));
    let number = |count: Count| stated(count).filter(is_needed).map(|(_, number)| number.into());
    let counts = Count::ALL.into_iter().map(|count| {
        let field = count.field();
        fact(field, number(count), at(field)).of(Group::Usage)
    });
    let mut facts: Vec<Fact> = counts.collect();
    let own = part::semantics(protocol, usage.semantics(), at).into_iter();
    let is_count = |fact: &Fact| fact.value.as_f64() != Some(0.0);
    let is_tier = |fact: &Fact| fact.name.to_lowercase().ends_with("tier");
    let own = own.filter(|fact| is_count(fact) && !is_tier(fact));
    // The answer may have fields of the same names.
    facts.extend(own.map(|fact| Fact { name: format!("usage: {}", fact.name), ..fact }));
    facts
}

/// Whether the total is the sum of the other counts, with the results of hosted tools or without, as vendors have it.
fn is_sum(usage: &Usage<'_>, total: u64) -> bool {
    let count = |count: Count| usage.counts[count].unwrap_or(0);
    let sum = count(Count::Input).saturating_add(count(Count::Output));
    total == sum || total == sum.saturating_add(count(Count::ToolPrompt))
}
