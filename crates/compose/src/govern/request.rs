//! The rules on a request: what it may not ask for, and what of it is changed.

use std::borrow::Cow;
use std::collections::BTreeMap;

use sabir_wire::conversation::{Content, Message, Request, Tool, ToolKind};
use sabir_wire::json::Text;
use sabir_wire::{LossKind, Report};

use crate::govern::{Rules, Violation, choice, results, rounds};

/// What became of a request.
#[derive(Debug, Default)]
#[must_use = "a change that nobody reads is a silent one"]
pub struct Governed {
    pub report: Report,
    /// Pairs of a name that the model sees and the client's own for it.
    pub renamed: Vec<(String, String)>,
}

/// Refuses a request that is beyond the limits of the rules.
pub fn check(request: &Request<'_>, rules: &Rules) -> Result<(), Violation> {
    check_rounds(&request.messages, rules)?;
    let mut offered = Vec::new();
    request.tools.iter().for_each(|tool| list(tool, rules, &mut offered));
    if let Some(max) = rules.count_max
        && offered.len() > max
    {
        return Err(Violation::TooManyTools { count: offered.len(), max });
    }
    offered.iter().try_for_each(|tool| check_schema(tool, rules))?;
    check_names(&offered, rules)
}

/// Refuses a conversation in which tools are called for too long.
pub fn check_rounds(messages: &[Message<'_>], rules: &Rules) -> Result<(), Violation> {
    let Some(max) = rules.rounds_max else { return Ok(()) };
    match rounds(messages) {
        rounds if rounds > max => Err(Violation::TooManyRounds { rounds, max }),
        _ => Ok(()),
    }
}

/// Whether the rules change anything of a request.
pub fn changes(request: &Request<'_>, rules: &Rules) -> bool {
    let is_denied = |tool: &Tool<'_>| rules.forbids() && has_denied(tool, rules);
    request.tools.iter().any(is_denied)
        || choice::is_denied(request, rules)
        || rules.renames() && !renames(request, rules).is_empty()
        || rules.result_bytes_max.is_some_and(|max| results::are_longer(request, max))
}

/// Changes a request as the rules say. `choice` is where the choice among the tools stands in the input.
pub fn apply(request: &mut Request<'_>, rules: &Rules, choice: &str) -> Governed {
    let mut report = Report::default();
    if rules.forbids() {
        retain(&mut request.tools, rules, &mut report);
        choice::fit(request, rules, (choice, &mut report));
    }
    if let Some(max) = rules.result_bytes_max {
        results::cut(request, max, &mut report);
    }
    let renamed = renames(request, rules);
    if !renamed.is_empty() {
        request.tools.iter().for_each(|tool| report_renamed(tool, rules, &mut report));
        request.rename_tools(&|name| rules.renamed(name).map(str::to_owned));
    }
    Governed { report, renamed }
}

/// The tools that are offered under the rules, those of namespaces included.
fn list<'t>(tool: &'t Tool<'t>, rules: &Rules, offered: &mut Vec<&'t Tool<'t>>) {
    match &tool.kind {
        ToolKind::Namespace(namespace) => {
            namespace.tools.iter().for_each(|tool| list(tool, rules, offered));
        }
        ToolKind::Function(_) | ToolKind::Custom(_) | ToolKind::Hosted(_) => {
            if is_allowed(tool, rules) {
                offered.push(tool);
            }
        }
    }
}

/// The name that rules know a tool by: the client's own, of a hosted one its kind. A namespace has none.
pub(super) fn name<'t>(tool: &'t Tool<'_>) -> Option<&'t Text<'t>> {
    match &tool.kind {
        ToolKind::Function(function) => Some(&function.name),
        ToolKind::Custom(custom) => Some(&custom.name),
        ToolKind::Hosted(hosted) => Some(&hosted.kind),
        ToolKind::Namespace(_) => None,
    }
}

fn is_allowed(tool: &Tool<'_>, rules: &Rules) -> bool {
    name(tool).is_none_or(|name| rules.allows(&name.to_str()))
}

fn has_denied(tool: &Tool<'_>, rules: &Rules) -> bool {
    match &tool.kind {
        ToolKind::Namespace(namespace) => namespace.tools.iter().any(|it| has_denied(it, rules)),
        _ => !is_allowed(tool, rules),
    }
}

fn check_schema(tool: &Tool<'_>, rules: &Rules) -> Result<(), Violation> {
    let (Some(max), ToolKind::Function(function)) = (rules.schema_bytes_max, &tool.kind) else {
        return Ok(());
    };
    let bytes = function.parameters.as_ref().map_or(0, |schema| schema.as_str().len());
    match bytes > max {
        true => {
            let name = function.name.to_str().into_owned();
            Err(Violation::SchemaTooLong { name, bytes, max })
        }
        false => Ok(()),
    }
}

/// Refuses names that would stand for two tools once they are changed.
fn check_names(offered: &[&Tool<'_>], rules: &Rules) -> Result<(), Violation> {
    let own = || offered.iter().filter_map(|tool| tool.name()).map(Text::to_str);
    // The names that the rules give, with the client's own for each.
    let mut given: BTreeMap<&str, String> = BTreeMap::new();
    for own in own() {
        if let Some(seen) = rules.renamed(&own)
            && given.insert(seen, own.to_string()).is_some_and(|other| other != *own)
        {
            return Err(Violation::NameTaken(seen.to_owned()));
        }
    }
    let is_taken = |own: &Cow<'_, str>| rules.renamed(own).is_none() && given.contains_key(&**own);
    match own().find(is_taken) {
        Some(own) => Err(Violation::NameTaken(own.into_owned())),
        None => Ok(()),
    }
}

/// The names of a request that the rules change, each once.
fn renames(request: &Request<'_>, rules: &Rules) -> Vec<(String, String)> {
    let mut renamed = Vec::new();
    let mut add = |own: &Text<'_>| {
        let own = own.to_str();
        if let Some(other) = rules.renamed(&own)
            && !renamed.iter().any(|(_, known)| *known == *own)
        {
            renamed.push((other.to_owned(), own.into_owned()));
        }
    };
    let mut tools: Vec<&Tool<'_>> = request.tools.iter().collect();
    while let Some(tool) = tools.pop() {
        match &tool.kind {
            ToolKind::Namespace(namespace) => tools.extend(&namespace.tools),
            _ => tool.name().into_iter().for_each(&mut add),
        }
    }
    for part in request.messages.iter().flat_map(|message| &message.parts) {
        if let Content::ToolCall(call) = part.content() {
            add(&call.name);
        }
    }
    renamed
}

/// Leaves out what is denied; a namespace goes with the last of its tools.
fn retain(tools: &mut Vec<Tool<'_>>, rules: &Rules, report: &mut Report) {
    tools.retain_mut(|tool| {
        if let ToolKind::Namespace(namespace) = &mut tool.kind {
            let was_empty = namespace.tools.is_empty();
            retain(&mut namespace.tools, rules, report);
            return was_empty || !namespace.tools.is_empty();
        }
        let is_allowed = is_allowed(tool, rules);
        if !is_allowed {
            let pointer = tool.semantics().place().to_string();
            report.lose(pointer, LossKind::Dropped, "the gateway's rules deny this tool");
        }
        is_allowed
    });
}

fn report_renamed(tool: &Tool<'_>, rules: &Rules, report: &mut Report) {
    if let ToolKind::Namespace(namespace) = &tool.kind {
        return namespace.tools.iter().for_each(|tool| report_renamed(tool, rules, report));
    }
    if tool.name().is_some_and(|name| rules.renamed(&name.to_str()).is_some()) {
        let pointer = tool.semantics().place().to_string();
        let reason = "the gateway's rules give the tool another name for the model";
        report.lose(pointer, LossKind::Renamed, reason);
    }
}
