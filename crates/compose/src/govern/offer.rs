//! What a model was offered, as its provider knows it: what the calls of an answer are held against. Most answers have none, so that
//! what only calls need is made for the first of them.

use std::sync::{Arc, OnceLock};

use sabir_wire::Protocol;
use sabir_wire::conversation::{Request, Tool, ToolKind};
use sabir_wire::json::Text;
use sabir_wire::protocol::{AnswerContext, ParameterSchema};

use crate::govern::arguments::Schema;
use crate::govern::{ArgumentRule, Rules, UndeclaredRule, hosted};

/// The tools of a request with the rules that hold for their calls.
#[derive(Debug)]
pub struct Offer {
    pub(super) rules: Arc<Rules>,
    /// None where no rule asks for them.
    tools: Vec<Offered>,
    /// The places of the tools, sorted by their names.
    sorted: OnceLock<Vec<usize>>,
    /// Where the provider knows other names than the client: its own, sorted, and the client's for each.
    names: Vec<(String, String)>,
}

/// A tool on offer.
#[derive(Debug)]
pub(super) struct Offered {
    /// The name that the provider knows.
    name: String,
    /// What the client says of its arguments, where somebody asks for it.
    parameters: Option<ParameterSchema>,
    /// The same, made of it for the first call.
    schema: OnceLock<Schema>,
    pub(super) takes_json: bool,
}

impl Offered {
    pub(super) fn schema(&self) -> &Schema {
        self.schema.get_or_init(|| {
            let schema = self.parameters.as_ref().map(ParameterSchema::to_json_schema);
            Schema::of(schema.as_ref().map(|schema| schema.as_str()))
        })
    }
}

impl Offer {
    /// What a governed request of `protocol` offers, under the names that its answer's `context` has. It takes these over: whoever
    /// writes the answer finds the client's own.
    pub fn new(
        request: &Request<'_>,
        protocol: Protocol,
        (context, renamed): (&mut AnswerContext<'_>, &[(&str, &str)]),
        rules: &Arc<Rules>,
    ) -> Self {
        context.restore_names(renamed);
        let taken = std::mem::take(&mut context.names).into_iter();
        let mut names: Vec<(String, String)> =
            taken.map(|(other, own)| (text(other), text(own))).collect();
        names.sort_unstable();
        let mut offering =
            Offering { protocol, rules, known: known(&names, renamed), tools: vec![] };
        if rules.arguments != ArgumentRule::Pass || rules.undeclared != UndeclaredRule::Pass {
            request.tools.iter().for_each(|tool| offering.add(tool));
        }
        let tools = offering.tools;
        Self { rules: Arc::clone(rules), tools, sorted: OnceLock::new(), names }
    }

    pub(super) fn tool(&self, name: &str) -> Option<&Offered> {
        let named = |place: &usize| self.tools[*place].name.as_str();
        let sorted = self.sorted.get_or_init(|| {
            let mut sorted: Vec<usize> = (0..self.tools.len()).collect();
            sorted.sort_by_key(named);
            sorted
        });
        // Of several tools with one name the first is meant.
        let place = sorted.partition_point(|place| named(place) < name);
        let found = sorted.get(place).filter(|place| named(place) == name);
        found.map(|place| &self.tools[*place])
    }

    /// The client's own name of a tool that the provider calls `name`.
    pub(super) fn client_name<'n>(&'n self, name: &'n str) -> &'n str {
        let found = self.names.binary_search_by_key(&name, |(other, _)| other);
        found.map_or(name, |place| &self.names[place].1)
    }
}

/// Tools as they are gathered.
struct Offering<'o> {
    protocol: Protocol,
    rules: &'o Rules,
    known: Vec<(&'o str, &'o str)>,
    tools: Vec<Offered>,
}

impl Offering<'_> {
    fn add(&mut self, tool: &Tool<'_>) {
        if let ToolKind::Namespace(namespace) = &tool.kind {
            return namespace.tools.iter().for_each(|tool| self.add(tool));
        }
        let name = match &tool.kind {
            ToolKind::Hosted(tool) => hosted::called(tool),
            _ => tool.name().map(|name| self.known_name(name)),
        };
        let Some(name) = name else { return };
        let takes_json = matches!(tool.kind, ToolKind::Function(_));
        let parameters = match self.rules.arguments {
            ArgumentRule::Pass => None,
            ArgumentRule::Repair | ArgumentRule::Refuse => ParameterSchema::of(self.protocol, tool),
        };
        self.tools.push(Offered { name, parameters, schema: OnceLock::new(), takes_json });
    }

    /// The name of a tool as the provider knows it.
    fn known_name(&self, name: &Text<'_>) -> String {
        let name = name.to_str();
        match self.known.binary_search_by_key(&&*name, |(written, _)| written) {
            Ok(place) => self.known[place].1.to_owned(),
            Err(_) => name.into_owned(),
        }
    }
}

/// Names of tools as the request has them, sorted, and those that the provider knows, where they differ.
fn known<'n>(
    names: &'n [(String, String)],
    renamed: &[(&'n str, &'n str)],
) -> Vec<(&'n str, &'n str)> {
    let written = |own: &'n str| {
        let renamed = renamed.iter().find(|(_, known)| *known == own);
        renamed.map_or(own, |(other, _)| *other)
    };
    let pairs = names.iter().map(|(other, own)| (written(own), other.as_str()));
    let mut known: Vec<(&str, &str)> = pairs.filter(|(written, other)| written != other).collect();
    known.sort_unstable();
    known
}

fn text(text: Text<'_>) -> String {
    text.into_str().into_owned()
}
