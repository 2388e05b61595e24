//! The rules on a request: what it may not ask for, and what of it is changed.

use sabir_wire::conversation::{Content, Message, Rename, Request, Tool, ToolKind};
use sabir_wire::json::Text;
use sabir_wire::{LossKind, Report};

use crate::govern::renamed::NameTaken;
use crate::govern::{Renamed, Rules, Violation, choice, hosted, results, rounds};

/// What became of a request.
#[derive(Debug, Default)]
#[must_use = "a change that nobody reads is a silent one"]
pub struct Governed {
    /// What was left out or cut.
    pub report: Report,
    /// What has another name, of which a report can be made as well.
    pub renamed: Renamed,
}

/// Where the settings that come with tools stand in the input.
#[derive(Clone, Copy, Debug)]
pub struct Pointers<'p> {
    /// The choice among the tools.
    pub choice: &'p str,
    /// Whether several may be called at once.
    pub parallel: &'p str,
}

/// What the rules change of a request, known before anything of it is touched.
#[derive(Debug)]
pub struct Plan {
    denies: bool,
    cuts: bool,
    renames: bool,
    /// The names of what is on offer.
    renamed: Renamed,
}

/// What the rules change of a request; an error if it is beyond their limits.
pub fn plan(request: &Request<'_>, rules: &Rules) -> Result<Plan, Violation> {
    check_rounds(&request.messages, rules)?;
    let (mut count, mut longest) = (0, None);
    let (mut renamed, mut taken) = (Renamed::default(), None);
    let mut denies = false;
    each(&request.tools, &mut |tool| {
        let is_allowed = is_allowed(tool, rules);
        if let ToolKind::Hosted(hosted) = &tool.kind
            && rules.forbids()
        {
            renamed.judge(hosted, is_allowed);
        }
        if !is_allowed {
            denies = true;
            return;
        }
        let number = count;
        count += 1;
        if let Some(max) = rules.schema_bytes_max.filter(|_| longest.is_none()) {
            longest = check_schema(tool, max).err();
        }
        if rules.renames() {
            taken = taken.or(offer((number, tool), &mut renamed, rules).err());
        }
    });
    denies = denies || rules.forbids() && choice::is_denied(request, (rules, &renamed));
    if let Some(max) = rules.count_max.filter(|max| count > *max) {
        return Err(Violation::TooManyTools { count, max });
    }
    longest.map_or(Ok(()), Err)?;
    if let Some(NameTaken(place)) = taken {
        return Err(Violation::NameTaken(rules.seen(place).to_str().into_owned()));
    }
    let renames = !renamed.is_empty() || rules.renames() && is_called(request, &renamed, rules);
    let cuts = rules.result_bytes_max.is_some_and(|max| results::are_longer(request, max));
    Ok(Plan { denies, cuts, renames, renamed })
}

/// Refuses a conversation in which tools are called for too long.
pub fn check_rounds(messages: &[Message<'_>], rules: &Rules) -> Result<(), Violation> {
    let Some(max) = rules.rounds_max else { return Ok(()) };
    match rounds(messages) {
        rounds if rounds > max => Err(Violation::TooManyRounds { rounds, max }),
        _ => Ok(()),
    }
}

impl Plan {
    /// Whether the rules change anything of the request.
    pub fn changes(&self) -> bool {
        self.denies || self.cuts || self.renames
    }

    /// What becomes of a request of which nothing is changed.
    pub fn unchanged(self) -> Governed {
        Governed { report: Report::default(), renamed: self.renamed }
    }

    /// Changes the request that was planned for.
    pub fn apply<'r>(
        self,
        request: &mut Request<'r>,
        rules: &'r Rules,
        pointers: Pointers<'_>,
    ) -> Governed {
        let mut report = Report::default();
        if self.denies {
            retain(&mut request.tools, rules, &mut report);
            choice::fit(request, (rules, &self.renamed), (pointers, &mut report));
        }
        if let Some(max) = rules.result_bytes_max.filter(|_| self.cuts) {
            results::cut(request, max, &mut report);
        }
        let mut renaming = Renaming { rules, renamed: self.renamed };
        if self.renames {
            request.rename_tools(&mut renaming);
        }
        Governed { report, renamed: renaming.renamed }
    }
}

/// Visits all tools, in place of a namespace those that it has.
pub(super) fn each<'t>(tools: &'t [Tool<'t>], visit: &mut impl FnMut(&'t Tool<'t>)) {
    for tool in tools {
        match &tool.kind {
            ToolKind::Namespace(namespace) => each(&namespace.tools, visit),
            ToolKind::Function(_) | ToolKind::Custom(_) | ToolKind::Hosted(_) => visit(tool),
        }
    }
}

#[inline]
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

fn check_schema(tool: &Tool<'_>, max: usize) -> Result<(), Violation> {
    let ToolKind::Function(function) = &tool.kind else { return Ok(()) };
    let bytes = function.parameters.as_ref().map_or(0, |schema| schema.as_str().len());
    match bytes > max {
        true => {
            let name = function.name.to_str().into_owned();
            Err(Violation::SchemaTooLong { name, bytes, max })
        }
        false => Ok(()),
    }
}

/// What a tool on offer is called; an error if two would have one name. Those that vendors define keep theirs.
fn offer(
    (number, tool): (usize, &Tool<'_>),
    renamed: &mut Renamed,
    rules: &Rules,
) -> Result<(), NameTaken> {
    if let ToolKind::Hosted(hosted) = &tool.kind {
        return hosted::called(hosted).map_or(Ok(()), |name| renamed.fix(&name, rules));
    }
    let Some(name) = tool.name().map(Text::to_str) else { return Ok(()) };
    match rules.renaming(&name) {
        Some(place) => renamed.offer(number, (place, rules)),
        None => renamed.keep(&name, rules),
    }
}

/// Whether a tool that the history names has another name.
fn is_called(request: &Request<'_>, renamed: &Renamed, rules: &Rules) -> bool {
    let place = |name: &Text<'_>| rules.renaming(&name.to_str());
    called(request).filter_map(place).any(|place| renamed.is_free(place))
}

/// Tools as they get other names.
struct Renaming<'r> {
    rules: &'r Rules,
    renamed: Renamed,
}

impl<'r> Rename<'r> for Renaming<'r> {
    fn offered(&mut self, name: &str) -> Option<Text<'r>> {
        self.renamed.seen(name, self.rules).map(Text::reborrow)
    }

    /// A tool of the history alone keeps its name where one on offer has the other: a call of that is no call of this.
    fn named(&mut self, name: &str) -> Option<Text<'r>> {
        let place = self.rules.renaming(name)?;
        self.renamed.give(place, self.rules).ok()?;
        Some(self.rules.seen(place).reborrow())
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
            let reason = "the gateway's rules deny this tool";
            report.lose(tool.semantics().place(), LossKind::Dropped, reason);
        }
        is_allowed
    });
}
