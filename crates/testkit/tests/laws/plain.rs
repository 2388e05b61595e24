//! A plain conversation with a tool is translated with few entries: reports that are always long are not read.

use std::fs;

use sabir_testkit::translate;
use sabir_wire::{Loss, Protocol};

use crate::fixtures::folder;

/// The request with a call and its result, and the two answers of such a conversation.
const REQUEST: &str = "request/tools/tool-round-of-a-plain-history";
const ANSWERS: [&str; 2] = ["answer/tools/tool-call-only", "answer/text/text"];

/// The most entries that the reports of one pair of protocols may have on average: a third of the 25.6 that they had when
/// every difference of a way back was an entry, too.
const MEAN_MAX: f64 = 8.5;

#[test]
fn reports_of_a_plain_tool_conversation_are_short() {
    let mut entries = Vec::new();
    for from in Protocol::ALL {
        for to in Protocol::ALL.into_iter().filter(|to| *to != from) {
            let losses = losses(from, to);
            let list: Vec<String> = losses.iter().map(shown).collect();
            println!("{} → {}: {}\n{}", from.as_str(), to.as_str(), list.len(), list.concat());
            entries.push(losses.len());
        }
    }
    let mean = entries.iter().sum::<usize>() as f64 / entries.len() as f64;
    println!("mean {mean:.1}");
    assert!(mean <= MEAN_MAX, "{mean:.1} entries on average: {entries:?}");
}

fn shown(Loss { pointer, kind, reason }: &Loss) -> String {
    format!("    {kind} {pointer}: {reason}\n")
}

/// The entries of all reports of the conversation: its request, its answers, and these as streams.
fn losses(from: Protocol, to: Protocol) -> Vec<Loss> {
    let read = |case: &str, file: &str| {
        fs::read(folder().join(case).join(from.as_str()).join(file)).expect("the file is there")
    };
    let request = translate::request_as_sent(from, to, &read(REQUEST, "request.json"), None);
    let mut losses = request.expect("it can be translated").1.into_entries();
    for answer in ANSWERS {
        let whole = translate::response(from, to, &read(answer, "response.json"));
        losses.extend(whole.expect("it can be translated").1.into_entries());
        losses.extend(translate::stream(from, to, &read(answer, "stream.sse")).1.into_entries());
    }
    losses
}
