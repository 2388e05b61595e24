//! Governing tools: which are offered, under which names and within which limits, and what of an answer's calls reaches the
//! client. All that is read is the canonical request and the events of its answer.
//!
//! A request has no way to the body that it was read from, nor to what was diagnosed of it, and what was meant by its nodes can be read and not
//! written: `crates/wire/tests/wire/compile_fail` has what does not compile, and why.

mod answer;
mod arguments;
mod choice;
mod hosted;
mod offer;
mod renamed;
mod request;
mod results;
mod rounds;
mod rules;
#[cfg(test)]
mod tests;
mod violation;

pub use answer::Governor;
pub use offer::Offer;
pub use renamed::Renamed;
pub use request::{Governed, Plan, Pointers, check_rounds, plan};
pub use rounds::rounds;
pub use rules::{ArgumentRule, HostedRule, NameRule, RuleTable, Rules, UndeclaredRule};
pub use violation::Violation;
