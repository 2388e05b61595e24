//! The choice among tools, once some of them are not offered any more.

use sabir_wire::conversation::{AllowedTool, Request, ToolChoice};
use sabir_wire::json::{Json, Text};
use sabir_wire::{LossKind, Report};

use crate::govern::{Pointers, Renamed, Rules, hosted};

/// The rules, and the names of what is on offer.
type Named<'n> = (&'n Rules, &'n Renamed);

/// Whether the choice names a tool that is denied.
pub(super) fn is_denied(request: &Request<'_>, rules: Named<'_>) -> bool {
    match &request.tool_choice {
        Some(ToolChoice::Named { name, .. }) => denies(rules, name),
        Some(ToolChoice::Allowed { tools, .. }) => {
            tools.iter().any(|tool| denies_tool(rules, tool))
        }
        Some(ToolChoice::Other { json, .. }) => denies_hosted(rules, json),
        Some(ToolChoice::Auto | ToolChoice::None | ToolChoice::Required) | None => false,
    }
}

/// Takes out of the choice what is not offered any more.
pub(super) fn fit(
    request: &mut Request<'_>,
    rules: Named<'_>,
    (pointers, report): (Pointers<'_>, &mut Report),
) {
    let pointer = pointers.choice;
    if request.tools.is_empty() && !report.is_empty() {
        if request.tool_choice.take().is_some() {
            report.lose(pointer, LossKind::Dropped, "the gateway's rules leave no tool to choose");
        }
        // Some providers refuse to hear of it without tools.
        if request.parallel_tool_calls.take().is_some() {
            let reason = "the gateway's rules leave no tool to call at once with others";
            report.lose(pointers.parallel, LossKind::Implied, reason);
        }
        return;
    }
    let Some(choice) = &mut request.tool_choice else { return };
    match choice {
        ToolChoice::Named { name, .. } if denies(rules, name) => {
            *choice = ToolChoice::Auto;
            let reason = "the gateway's rules deny the tool of the choice: the model chooses";
            report.lose(pointer, LossKind::Approximated, reason);
        }
        ToolChoice::Other { json, .. } if denies_hosted(rules, json) => {
            *choice = ToolChoice::Auto;
            let reason = "the gateway's rules deny the tool of the choice: the model chooses";
            report.lose(pointer, LossKind::Approximated, reason);
        }
        ToolChoice::Allowed { tools, .. } => {
            let before = tools.len();
            tools.retain(|tool| !denies_tool(rules, tool));
            if tools.is_empty() {
                *choice = ToolChoice::None;
            } else if tools.len() == before {
                return;
            }
            let reason = "the gateway's rules deny a tool of the choice";
            report.lose(pointer, LossKind::Approximated, reason);
        }
        ToolChoice::Named { .. }
        | ToolChoice::Auto
        | ToolChoice::None
        | ToolChoice::Required
        | ToolChoice::Other { .. } => {}
    }
}

fn denies_tool(rules: Named<'_>, tool: &AllowedTool<'_>) -> bool {
    match (&tool.name, &tool.json) {
        (Some(name), _) => denies(rules, name),
        (None, Some(json)) => denies_hosted(rules, json),
        (None, None) => false,
    }
}

/// Whether a hosted tool is denied that a choice names by its kind.
fn denies_hosted(rules: Named<'_>, json: &Json<'_>) -> bool {
    hosted::member(json, "type").is_some_and(|kind| denies_name(rules, &kind))
}

fn denies(rules: Named<'_>, name: &Text<'_>) -> bool {
    denies_name(rules, &name.to_str())
}

fn denies_name((rules, renamed): Named<'_>, name: &str) -> bool {
    !renamed.allow(name, rules)
}
