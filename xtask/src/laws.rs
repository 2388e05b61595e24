//! Runs the laws over folders of fixtures or recordings and counts what holds.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Result, bail};
use sabir_testkit::laws::Violation;
use sabir_testkit::sample::Sample;
use sabir_testkit::{laws, sample};

/// How many violations of one sort are printed in full unless `--all` is given.
const PRINTED_MAX: usize = 5;

pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let printed_max =
        if arguments.iter().any(|it| it == "--all") { usize::MAX } else { PRINTED_MAX };
    let folders: Vec<&String> = arguments.iter().filter(|it| !it.starts_with("--")).collect();
    if folders.is_empty() {
        bail!("which folder? For example: cargo xtask laws fixtures");
    }
    let mut samples = Vec::new();
    for folder in folders {
        samples.extend(sample::below(Path::new(folder))?);
    }
    if samples.is_empty() {
        bail!(
            "no sample found: expected PROTOCOL/request.json and the like, or lines of exchanges"
        );
    }
    // A panic is a violation like another and is reported as one.
    std::panic::set_hook(Box::new(|_| {}));
    let law = if arguments.iter().any(|it| it == "--round-trip") {
        laws::round_trip::check
    } else {
        laws::check
    };
    let checked = check_all(&samples, law);
    let broken = print_violations(&samples, &checked, printed_max);
    Ok(if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Checks every sample on all cores; the results are in the order of the samples.
fn check_all(samples: &[Sample], law: fn(&Sample) -> Vec<Violation>) -> Vec<Vec<Violation>> {
    let next = AtomicUsize::new(0);
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let mut checked: Vec<(usize, Vec<Violation>)> = thread::scope(|scope| {
        let work = || {
            let mut done = Vec::new();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(sample) = samples.get(index) else { return done };
                done.push((index, law(sample)));
            }
        };
        let handles: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        handles.into_iter().flat_map(|handle| handle.join().unwrap_or_default()).collect()
    });
    checked.sort_by_key(|(index, _)| *index);
    checked.into_iter().map(|(_, violations)| violations).collect()
}

/// Prints the verdicts; answers how many samples break a law.
fn print_violations(samples: &[Sample], checked: &[Vec<Violation>], printed_max: usize) -> usize {
    let mut counts: BTreeMap<(&str, &str), (usize, usize)> = BTreeMap::new();
    let mut sorts: BTreeMap<String, usize> = BTreeMap::new();
    let mut broken = 0;
    for (sample, violations) in samples.iter().zip(checked) {
        let count = counts.entry((sample.protocol.as_str(), sample.kind.name())).or_default();
        count.0 += 1;
        count.1 += usize::from(!violations.is_empty());
        broken += usize::from(!violations.is_empty());
        for Violation { law, target, detail } in violations {
            let sort = match target {
                Some(target) => {
                    format!("{law:?} {} → {}", sample.protocol.as_str(), target.as_str())
                }
                None => format!("{law:?} {}", sample.protocol.as_str()),
            };
            let number = sorts.entry(sort.clone()).or_default();
            *number += 1;
            if *number <= printed_max {
                println!("{sort}\n    {}\n    {detail}", sample.name);
            }
        }
    }
    println!("\nviolations by law");
    sorts.iter().for_each(|(sort, number)| println!("{number:>7}  {sort}"));
    println!("\n{:<22} {:<10} {:>8} {:>8}", "protocol", "kind", "samples", "broken");
    for ((protocol, kind), (all, broken)) in counts {
        println!("{protocol:<22} {kind:<10} {all:>8} {broken:>8}");
    }
    println!("{} passed, {broken} failed", samples.len() - broken);
    broken
}
