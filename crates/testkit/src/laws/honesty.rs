//! Law 5: what the target's encoder wrote, decoded again, states what was read; every difference is in the report.

use sabir_wire::Protocol;
use sabir_wire::Report;

use crate::canonical::Statement;
use crate::laws::Law;
use crate::laws::Violation;
use crate::laws::violation;

/// Compares what was read with what was written, by what both of them state.
pub(super) fn check(
    target: Protocol,
    before: &Statement,
    after: &Statement,
    report: &Report,
) -> Option<Violation> {
    let differences = before.unreported(after, report);
    if differences.is_empty() {
        return None;
    }
    let list: Vec<String> = differences.iter().map(ToString::to_string).collect();
    let detail = format!("not reported: {}", list.join("\n        "));
    Some(violation(Law::Honest, target, detail))
}
