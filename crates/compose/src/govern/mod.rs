//! Governing tools: which are offered, under which names and within which limits, and what of an answer's calls reaches the
//! client. All that is read is the canonical request and the events of its answer.
//!
//! A request has no way to the body that it was read from:
//!
//! ```compile_fail,E0599
//! fn raw<'r>(request: &'r sabir_wire::conversation::Request<'r>) -> &'r str {
//!     request.body()
//! }
//! ```
//!
//! Nor to what was diagnosed of it, which is made of a decoded request alone:
//!
//! ```compile_fail,E0308
//! fn diagnosed(request: &sabir_wire::conversation::Request<'_>) {
//!     sabir_wire::Diagnostics::of(request);
//! }
//! ```
//!
//! And what was meant by its nodes can be read, not written:
//!
//! ```compile_fail,E0616
//! fn forge(tool: &mut sabir_wire::conversation::Tool<'_>) {
//!     tool.semantics = sabir_wire::protocol::NodeSemantics::default();
//! }
//! ```

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
pub use request::{Governed, Plan, check_rounds, plan};
pub use rounds::rounds;
pub use rules::{ArgumentRule, HostedRule, NameRule, RuleTable, Rules, UndeclaredRule};
pub use violation::Violation;
