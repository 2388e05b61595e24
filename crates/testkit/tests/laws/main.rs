//! The laws over fixtures, generated bodies and hostile bytes.

mod bytes;
mod fixtures;
mod generated;
mod generators;
mod growing;
mod memory;
mod names;
mod pieces;
mod plain;
mod spellings;
mod tiers;

use proptest::test_runner::{Config, RngSeed};

/// How many cases a property gets where `SABIR_CASES` does not say it.
const CASES: u32 = 24;

/// Where the random numbers begin unless `SABIR_SEED` says it: the same cases in every run, so that none fails by chance.
const SEED: u64 = 1;

/// The configuration of every property: a failing case prints its input and is not written to disk.
fn config() -> Config {
    let seed = number_from("SABIR_SEED").unwrap_or(SEED);
    Config {
        cases: number_from("SABIR_CASES").unwrap_or(CASES),
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        ..Config::default()
    }
}

fn number_from<N: std::str::FromStr>(variable: &str) -> Option<N> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is not a whole number: {text}")))
}
