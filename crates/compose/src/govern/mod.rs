//! Governing tools: which are offered, under which names and within which limits, and what of an answer's calls reaches the
//! client. All that is read is the canonical request and the events of its answer.

mod answer;
mod arguments;
mod choice;
mod offer;
mod request;
mod results;
mod rounds;
mod rules;
#[cfg(test)]
mod tests;
mod violation;

pub use answer::Governor;
pub use offer::Offer;
pub use request::{Governed, apply, changes, check, check_rounds};
pub use rounds::rounds;
pub use rules::{ArgumentRule, HostedRule, NameRule, RuleTable, Rules, UndeclaredRule};
pub use violation::Violation;
