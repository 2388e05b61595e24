//! The benchmark's command line: `time` prints the tables, `list` the names of the cases, and `run NAME TIMES` runs one
//! case that often for a tool that counts instructions.

use std::error::Error;
use std::process::ExitCode;
use std::{env, panic};

use sabir_benches_wire::case::{Case, Input};
use sabir_benches_wire::table::Outcome;
use sabir_benches_wire::{clock, table};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["time"] => Ok(time("")),
        ["time", part] => Ok(time(part)),
        ["list"] => {
            for case in Case::all() {
                println!("{}\t{}", case.name(), case.prepare().bytes());
            }
            Ok(ExitCode::SUCCESS)
        }
        ["run", name, times] => run(name, times.parse()?).map(|()| ExitCode::SUCCESS),
        _ => Err("expected `time [PART-OF-NAME]`, `list` or `run [reference:]NAME TIMES`".into()),
    }
}

/// Measures the cases whose names hold `part` and prints the tables.
fn time(part: &str) -> ExitCode {
    let cases = Case::all().into_iter().filter(|case| case.name().contains(part));
    let outcomes: Vec<Outcome> = cases
        .map(|case| Outcome { case, bar: case.bar(), times: measure(case, &case.prepare()) })
        .collect();
    println!("{}", table::render(&outcomes));
    let within = outcomes.iter().filter(|outcome| outcome.is_within()).count();
    println!("{within} within their bar, {} not", outcomes.len() - within);
    match within == outcomes.len() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// A case that fails or panics must not hide the others, so both are results like any other.
fn measure(case: Case, input: &Input) -> Result<clock::Times, String> {
    let compare = || clock::compare(&|| case.run(input), &|| input.reference());
    match panic::catch_unwind(panic::AssertUnwindSafe(compare)) {
        Ok(times) => times.map_err(|error| error.to_string()),
        Err(_) => Err("panicked".to_owned()),
    }
}

/// Runs one case after a warm-up, in a function that a tool can tell from the preparation.
fn run(name: &str, times: usize) -> Result<(), Box<dyn Error>> {
    let name = name
        .strip_prefix("reference:")
        .map_or((name, Case::run as Measured), |name| (name, |_, input| input.reference()));
    let (name, measured) = name;
    let case = Case::all().into_iter().find(|case| case.name() == name).ok_or("no such case")?;
    let input = case.prepare();
    measured(case, &input)?;
    counted(times, &|| measured(case, &input))
}

type Measured = fn(Case, &Input) -> Result<usize, Box<dyn Error>>;

#[inline(never)]
fn counted(times: usize, run: clock::Run<'_>) -> Result<(), Box<dyn Error>> {
    for _ in 0..times {
        run()?;
    }
    Ok(())
}
