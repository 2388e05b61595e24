//! The rules on a request: what it may not ask for, and what of it is changed.

use std::borrow::Cow;

use sabir_wire::conversation::{Content, Message, Request, Tool, ToolKind};
use sabir_wire::json::Text;
use sabir_wire::{LossKind, Report};

use crate::govern::{Rules, Violation, choice, hosted, results, rounds};

/// What became of a request.
#[derive(Debug, Default)]
#[must_use = "a change that nobody reads is a silent one"]
pub struct Governed<'r> {
    pub report: Report,
    /// Pairs of a name that the model sees and the client's own for it.
    pub renamed: Vec<(&'r str, &'r str)>,
}

/// What the rules change of a request, known before anything of it is touched.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Plan<'r> {
    denies: bool,
    cuts: bool,
    /// Pairs of a name that the model sees and the client's own for it, each once.
    renamed: Vec<(&'r str, &'r str)>,
}

/// What the rules change of a request; an error if it is beyond their limits.
pub fn plan<'r>(request: &Request<'_>, rules: &'r Rules) -> Result<Plan<'r>, Violation> {
    check_rounds(&request.messages, rules)?;
    let (mut count, mut longest) = (0, None);
    let mut renaming = Renaming { rules, renamed: Vec::new(), kept: Vec::new(), taken: None };
    let mut denies = rules.forbids() && choice::is_denied(request, rules);
    each(&request.tools, &mut |tool| {
        if !is_allowed(tool, rules) {
            denies = true;
            return;
        }
        count += 1;
        longest = longest.take().or_else(|| check_schema(tool, rules.schema_bytes_max).err());
        if rules.renames() {
            renaming.offer(tool);
        }
    });
    if let Some(max) = rules.count_max.filter(|max| count > *max) {
        return Err(Violation::TooManyTools { count, max });
    }
    longest.map_or(Ok(()), Err)?;
    let renamed = match rules.renames() {
        true => renaming.names(request)?,
        false => Vec::new(),
    };
    let cuts = rules.result_bytes_max.is_some_and(|max| results::are_longer(request, max));
    Ok(Plan { denies, cuts, renamed })
}

/// Refuses a conversation in which tools are called for too long.
pub fn check_rounds(messages: &[Message<'_>], rules: &Rules) -> Result<(), Violation> {
    let Some(max) = rules.rounds_max else { return Ok(()) };
    match rounds(messages) {
        rounds if rounds > max => Err(Violation::TooManyRounds { rounds, max }),
        _ => Ok(()),
    }
}

impl<'r> Plan<'r> {
    /// Whether the rules change anything of the request.
    pub fn changes(&self) -> bool {
        *self != Self::default()
    }

    /// Changes the request that was planned for. `choice` is where the choice among the tools stands in the input.
    pub fn apply(self, request: &mut Request<'r>, rules: &Rules, choice: &str) -> Governed<'r> {
        let mut report = Report::default();
        if self.denies {
            retain(&mut request.tools, rules, &mut report);
            choice::fit(request, rules, (choice, &mut report));
        }
        if let Some(max) = rules.result_bytes_max.filter(|_| self.cuts) {
            results::cut(request, max, &mut report);
        }
        if !self.renamed.is_empty() {
            each(&request.tools, &mut |tool| self.report_renamed(tool, &mut report));
            request.rename_tools(&|name| self.seen(name));
        }
        Governed { report, renamed: self.renamed }
    }

    /// The name that the model sees of a client's tool, if that is another.
    fn seen(&self, own: &str) -> Option<&'r str> {
        self.renamed.iter().find(|(_, known)| *known == own).map(|(seen, _)| *seen)
    }

    fn report_renamed(&self, tool: &Tool<'_>, report: &mut Report) {
        if tool.name().is_some_and(|name| self.seen(&name.to_str()).is_some()) {
            let pointer = tool.semantics().place().to_string();
            let reason = "the gateway's rules give the tool another name for the model";
            report.lose(pointer, LossKind::Renamed, reason);
        }
    }
}

/// Visits all tools, in place of a namespace those that it has.
fn each<'t>(tools: &'t [Tool<'t>], visit: &mut dyn FnMut(&'t Tool<'t>)) {
    for tool in tools {
        match &tool.kind {
            ToolKind::Namespace(namespace) => each(&namespace.tools, visit),
            ToolKind::Function(_) | ToolKind::Custom(_) | ToolKind::Hosted(_) => visit(tool),
        }
    }
}

fn is_allowed(tool: &Tool<'_>, rules: &Rules) -> bool {
    if !rules.forbids() {
        return true;
    }
    match &tool.kind {
        ToolKind::Function(function) => rules.allows(&function.name.to_str()),
        ToolKind::Custom(custom) => rules.allows(&custom.name.to_str()),
        ToolKind::Hosted(tool) => hosted::is_allowed(tool, rules),
        ToolKind::Namespace(_) => true,
    }
}

fn check_schema(tool: &Tool<'_>, max: Option<usize>) -> Result<(), Violation> {
    let (Some(max), ToolKind::Function(function)) = (max, &tool.kind) else { return Ok(()) };
    let bytes = function.parameters.as_ref().map_or(0, |schema| schema.as_str().len());
    match bytes > max {
        true => {
            let name = function.name.to_str().into_owned();
            Err(Violation::SchemaTooLong { name, bytes, max })
        }
        false => Ok(()),
    }
}

/// The names that rules change, as they are gathered.
struct Renaming<'r, 't> {
    rules: &'r Rules,
    /// Pairs of a name that the model sees and the client's own for it.
    renamed: Vec<(&'r str, &'r str)>,
    /// Names that rules give, and a tool on offer has by itself.
    kept: Vec<Cow<'t, str>>,
    /// A name that two tools would have.
    taken: Option<&'r str>,
}

impl<'r, 't> Renaming<'r, 't> {
    fn offer(&mut self, tool: &'t Tool<'t>) {
        let Some(name) = tool.name().map(Text::to_str) else { return };
        match self.rules.renaming(&name) {
            Some((seen, own)) if self.is_new(own) => {
                self.taken = self.taken.or(self.gives(seen).then_some(seen));
                self.renamed.push((seen, own));
            }
            Some(_) => {}
            None if self.rules.gives(&name) => self.kept.push(name),
            None => {}
        }
    }

    /// The names once all of the offer is known, with those of the history; an error if two tools on offer would have one.
    fn names(mut self, request: &Request<'_>) -> Result<Vec<(&'r str, &'r str)>, Violation> {
        let own = self.kept.iter().find(|own| self.gives(own));
        if let Some(taken) = self.taken.or(own.map(|own| &**own)) {
            return Err(Violation::NameTaken(taken.to_owned()));
        }
        for name in called(request) {
            // A tool of the history alone keeps its name where one on offer has the other: a call of that is no call of this.
            if let Some((seen, own)) = self.rules.renaming(&name.to_str())
                && self.is_new(own)
                && !self.gives(seen)
                && !self.kept.iter().any(|kept| **kept == *seen)
            {
                self.renamed.push((seen, own));
            }
        }
        Ok(self.renamed)
    }

    fn is_new(&self, own: &str) -> bool {
        !self.renamed.iter().any(|(_, known)| *known == own)
    }

    fn gives(&self, seen: &str) -> bool {
        self.renamed.iter().any(|(given, _)| *given == seen)
    }
}

/// The names of tools in the history.
fn called<'r>(request: &'r Request<'r>) -> impl Iterator<Item = &'r Text<'r>> {
    let parts = request.messages.iter().flat_map(|message| &message.parts);
    parts.filter_map(|part| match part.content() {
        Content::ToolCall(call) => Some(&call.name),
        Content::ToolResult(result) => result.name.as_ref(),
        _ => None,
    })
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
