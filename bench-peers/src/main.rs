//! Runs the crates that others have published over the same bodies and streams, and prints the same tables.

mod franca;
mod switchyard;

use std::error::Error;
use std::panic;

use sabir_benches_wire::case::{Case, Input};
use sabir_benches_wire::table::Outcome;
use sabir_benches_wire::{clock, table};
use sabir_wire::Protocol;

/// Runs a case once, from bytes to bytes; none if the crate has no such translation.
type Translate = fn(Case, &Input) -> Option<Result<usize, Box<dyn Error>>>;

fn main() {
    let peers: [(&str, Translate); 3] = [
        ("linguafranca 0.3.16", franca::translate),
        ("switchyard-translation 0.3.0", switchyard::translate),
        ("sabir-wire", |case, input| Some(case.run(input))),
    ];
    for (name, translate) in peers {
        println!("## {name}\n\n{}", table::render(&outcomes(translate)));
    }
}

/// Measures the pairs that all peers have, which leaves Gemini out. Nobody is held to a bar here.
fn outcomes(translate: Translate) -> Vec<Outcome> {
    let is_common = |case: &Case| match case {
        Case::Request { from, to, .. } | Case::Stream { from, to } => {
            *from != Protocol::Gemini && *to != Protocol::Gemini
        }
        Case::Schemas { .. } | Case::Family { .. } | Case::Splice { .. } => false,
    };
    let cases = Case::all().into_iter().filter(is_common);
    let measured =
        cases.map(|case| Outcome { case, bar: f64::INFINITY, times: measure(case, translate) });
    measured.collect()
}

/// What cannot be translated is a result too, and must not hide the others.
fn measure(case: Case, translate: Translate) -> Result<clock::Times, String> {
    let input = case.prepare();
    let run = || translate(case, &input).unwrap_or_else(|| Err("none".into()));
    let compare = || clock::compare(&run, &|| input.reference());
    match panic::catch_unwind(panic::AssertUnwindSafe(compare)) {
        Ok(times) => times.map_err(|error| error.to_string()),
        Err(_) => Err("panicked".to_owned()),
    }
}
