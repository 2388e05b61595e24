//! Assembling and trimming a long context, against writing all of its lines once without measuring anything.
//!
//! The reference is linear, so ratios that stay under their bar at every size say that assembling is linear too.

use std::error::Error;
use std::hint::black_box;

use sabir_benches_wire::clock;
use sabir_benches_wire::clock::Times;
use sabir_compose::assemble::{Agent, BYTES_MAX_DEFAULT, ContextMessage, Input};

use crate::table::Table;

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];
const BAR: f64 = 2.0;

/// How much of the prompt the budget leaves.
#[derive(Clone, Copy)]
enum Budget {
    Whole,
    Half,
    Default,
    /// So little that the task is cut as well.
    Least,
}

pub(crate) fn measure() -> Result<Table, Box<dyn Error>> {
    let budgets = [
        (Budget::Whole, "everything fits"),
        (Budget::Half, "half fits"),
        (Budget::Default, "768 KiB"),
        (Budget::Least, "no context fits"),
    ];
    let mut rows = Vec::new();
    for agent in Agent::ALL {
        for (budget, name) in budgets {
            let cells: Result<Vec<Times>, _> =
                SIZES.into_iter().map(|size| compare(agent, budget, size)).collect();
            rows.push((format!("{}, {name}", agent.as_str()), cells?));
        }
    }
    let columns = SIZES.map(|size| format!("{size} messages")).to_vec();
    Ok(Table { name: "assemble", columns, rows, bar: BAR })
}

fn compare(agent: Agent, budget: Budget, size: usize) -> Result<Times, Box<dyn Error>> {
    let mut input = Input { bytes_max: usize::MAX, ..conversation(size) };
    let whole = agent.assemble(&input)?.bytes();
    input.bytes_max = match budget {
        Budget::Whole => whole,
        Budget::Half => whole / 2,
        Budget::Default => BYTES_MAX_DEFAULT,
        Budget::Least => 200,
    };
    let candidate = || Ok(black_box(agent.assemble(black_box(&input))?).bytes());
    let write = match agent {
        Agent::ClaudeCode | Agent::OpenaiCodex => addressed_lines,
        Agent::GoogleGemini | Agent::Plain => lines,
    };
    let reference = || Ok(black_box(write(black_box(&input), whole)).len());
    clock::compare(&candidate, &reference)
}

/// What any rendering must do at least: every line written once, into memory that is large enough.
fn lines(input: &Input<'_>, capacity: usize) -> String {
    let mut out = String::with_capacity(capacity);
    for message in &input.context {
        out.push_str("- ");
        out.push_str(&message.from);
        out.push_str(": ");
        out.push_str(&message.content);
        out.push('\n');
    }
    out
}

/// The same with addressees.
fn addressed_lines(input: &Input<'_>, capacity: usize) -> String {
    let mut out = String::with_capacity(capacity);
    for message in &input.context {
        out.push_str("- ");
        out.push_str(&message.from);
        out.push_str(" -> ");
        out.push_str(message.to.as_deref().unwrap_or_default());
        out.push_str(": ");
        out.push_str(&message.content);
        out.push('\n');
    }
    out
}

/// A talk among three, in sentences of different lengths.
fn conversation(size: usize) -> Input<'static> {
    let names = ["ada", "bea", "cem"];
    let message = |index: usize| {
        let content = "The reader loses the last line. ".repeat(1 + index % 7);
        ContextMessage::new(names[index % 3], content).addressed(names[(index + 1) % 3])
    };
    Input {
        context: (0..size).map(message).collect(),
        team_task: Some("Ship the new parser this week".into()),
        system_instruction: Some("You are Bea, a reviewer of code".into()),
        instruction_file: Some("Point at lines and say why it is so".into()),
        ..Input::new("Is the fix complete? ".repeat(40))
    }
}
