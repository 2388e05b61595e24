//! The laws over fixtures, generated bodies and hostile bytes.

mod bytes;
mod fixtures;
mod generated;
mod generators;

use proptest::test_runner::Config;

/// How many cases a property gets where `SABIR_CASES` does not say it.
const CASES: u32 = 24;

/// The configuration of every property: a failing case prints its input and is not written to disk.
fn config() -> Config {
    let cases = std::env::var("SABIR_CASES").ok().and_then(|cases| cases.parse().ok());
    Config { cases: cases.unwrap_or(CASES), failure_persistence: None, ..Config::default() }
}
