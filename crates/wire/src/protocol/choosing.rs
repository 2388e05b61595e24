//! The choice among tools, as far as the tools that it names are offered: a target that lacks one cannot be made to
//! call it, and every vendor refuses a choice among nothing.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::conversation::{AllowedTool, HostedTool, Request, Tool, ToolChoice, ToolKind};
use crate::json::Text;
use crate::loss::LossKind;
use crate::protocol::Field;
use crate::protocol::reporter::Reporter;

/// What a target offers of the tools of a request.
#[derive(Default)]
pub(super) struct Offer<'r> {
    /// How many tools there are to choose from.
    count: usize,
    /// Whether the choice names tools; without that nobody asks for names.
    is_by_name: bool,
    /// The names of those that the client runs.
    names: HashSet<Cow<'r, str>>,
    /// The names of those that the vendor runs.
    hosted: HashSet<String>,
}

impl<'r> Offer<'r> {
    /// The tools of `request` that the client runs, and the hosted ones that the target has by `takes`.
    pub(super) fn of(request: &'r Request<'r>, takes: impl Fn(&HostedTool<'_>) -> bool) -> Self {
        let is_by_name = matches!(
            request.tool_choice,
            Some(ToolChoice::Named { .. } | ToolChoice::Allowed { .. })
        );
        let mut offer = Self { is_by_name, ..Self::default() };
        request.tools.iter().for_each(|tool| offer.add(tool, &takes));
        offer
    }

    /// Whether there is nothing to call.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn add(&mut self, tool: &'r Tool<'r>, takes: &impl Fn(&HostedTool<'_>) -> bool) {
        match &tool.kind {
            ToolKind::Function(function) => self.named(&function.name),
            ToolKind::Custom(custom) => self.named(&custom.name),
            ToolKind::Hosted(hosted) if takes(hosted) => {
                self.count += 1;
                if self.is_by_name {
                    let name = hosted.json.reader().peek_tag("name").ok().flatten();
                    self.hosted.extend(name.map(|name| name.to_str().into_owned()));
                }
            }
            ToolKind::Hosted(_) => {}
            ToolKind::Namespace(namespace) => {
                namespace.tools.iter().for_each(|tool| self.add(tool, takes));
            }
        }
    }

    fn named(&mut self, name: &'r Text<'r>) {
        self.count += 1;
        if self.is_by_name {
            self.names.insert(name.to_str());
        }
    }

    fn has(&self, name: &Text<'_>) -> bool {
        self.names.contains(&*name.to_str())
    }

    /// The choice of `request` without the tools that are not offered; what that takes from it is reported.
    pub(super) fn choice(
        &self,
        request: &'r Request<'r>,
        reporter: &mut Reporter<'_>,
    ) -> Option<Cow<'r, ToolChoice<'r>>> {
        let choice = request.tool_choice.as_ref()?;
        let mut lose = |kind, reason: &'static str| reporter.lose(Field::ToolChoice, kind, reason);
        match choice {
            _ if self.is_empty() => {
                let is_idle = matches!(choice, ToolChoice::Auto | ToolChoice::None);
                let kind = if is_idle { LossKind::Implied } else { LossKind::Dropped };
                lose(kind, "there is no tool to choose");
                None
            }
            ToolChoice::Named { name, form: _ } if !self.has(name) => {
                if self.count == 1 && self.hosted.contains(&*name.to_str()) {
                    lose(LossKind::Renamed, "a call of the only tool is required");
                    return Some(Cow::Owned(ToolChoice::Required));
                }
                lose(LossKind::Dropped, "the tool that is chosen is not offered");
                None
            }
            ToolChoice::Allowed { mode, tools } => {
                let kept = self.kept(tools);
                if !kept.iter().any(|tool| tool.name.is_some()) {
                    lose(LossKind::Dropped, "none of the allowed tools is offered");
                    return None;
                }
                if kept.len() == tools.len() {
                    return Some(Cow::Borrowed(choice));
                }
                lose(LossKind::Approximated, "not all of the allowed tools are offered");
                Some(Cow::Owned(ToolChoice::Allowed { mode: *mode, tools: kept }))
            }
            ToolChoice::Auto
            | ToolChoice::None
            | ToolChoice::Required
            | ToolChoice::Named { .. }
            | ToolChoice::Other { .. } => Some(Cow::Borrowed(choice)),
        }
    }

    /// The allowed tools without those that are known by name and not offered.
    fn kept(&self, tools: &'r [AllowedTool<'r>]) -> Vec<AllowedTool<'r>> {
        let is_offered = |tool: &&AllowedTool<'_>| tool.name.as_ref().is_none_or(|it| self.has(it));
        tools.iter().filter(is_offered).cloned().collect()
    }
}
