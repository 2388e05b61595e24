//! The names of tools that vendors run or define. Each has one in every protocol and a date behind it in some; rules know it by all
//! of them, so that they are the same for all clients.

use sabir_wire::conversation::{HostedService, HostedTool};
use sabir_wire::json::{Json, Kind};

use crate::govern::Rules;

/// Whether a tool may be offered: by its kind, by the name that the model calls it by, and by what it does where other vendors have
/// the like.
pub(super) fn is_allowed(tool: &HostedTool<'_>, rules: &Rules) -> bool {
    let (kind, name) = (tool.kind.to_str(), called(tool));
    let names = [Some(&*kind), name.as_deref(), service(tool.service)];
    let names: Vec<&str> = names.into_iter().flatten().collect();
    rules.allow_any(&names)
}

/// What the rules say of the tools of one request that vendors run or define, by all names under which choices and calls have them.
/// Most requests have none, and take no memory for it.
#[derive(Clone, Debug, Default)]
pub(super) struct Verdicts(Option<Box<Known>>);

/// Names, and whether the tool of each may be offered.
#[derive(Clone, Debug, Default)]
struct Known(Vec<(String, bool)>);

impl Verdicts {
    pub(super) fn add(&mut self, tool: &HostedTool<'_>, is_allowed: bool) {
        let Known(known) = &mut **self.0.get_or_insert_default();
        known.push((tool.kind.to_str().into_owned(), is_allowed));
        known.extend(called(tool).map(|name| (name, is_allowed)));
    }

    /// Whether a tool of this name may be offered; none if it is no such tool.
    pub(super) fn of(&self, name: &str) -> Option<bool> {
        let Known(known) = self.0.as_deref()?;
        known.iter().find(|(known, _)| known == name).map(|(_, is_allowed)| *is_allowed)
    }
}

/// The name that the model calls a tool by, if it has one.
pub(super) fn called(tool: &HostedTool<'_>) -> Option<String> {
    member(&tool.json, "name")
}

/// A member of an object that is a string.
pub(super) fn member(json: &Json<'_>, name: &str) -> Option<String> {
    let mut found = None;
    let read = json.reader().object(|key, reader| {
        match reader.kind()? {
            Kind::String if *key == *name => found = Some(reader.string()?.to_str().into_owned()),
            _ => reader.skip()?,
        }
        Ok(())
    });
    read.ok().and(found)
}

fn service(service: HostedService) -> Option<&'static str> {
    match service {
        HostedService::WebSearch => Some("web_search"),
        HostedService::WebFetch => Some("web_fetch"),
        HostedService::CodeExecution => Some("code_execution"),
        HostedService::Other => None,
    }
}
