//! What a model was offered, as its provider knows it: what the calls of an answer are held against.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use sabir_wire::Protocol;
use sabir_wire::conversation::{Request, Tool, ToolKind};
use sabir_wire::protocol::{AnswerContext, parameters_schema};

use crate::govern::arguments::Schema;
use crate::govern::{ArgumentRule, Rules};

/// The tools of a request with the rules that hold for their calls.
#[derive(Debug)]
pub struct Offer {
    pub(super) rules: Arc<Rules>,
    /// By the names that the provider knows.
    tools: HashMap<String, Offered>,
    /// The clients' names, where the provider knows others.
    names: HashMap<String, String>,
}

/// A tool on offer.
#[derive(Debug, Default)]
pub(super) struct Offered {
    /// The schema of its arguments as JSON text, where somebody asks for it.
    schema_text: Option<String>,
    /// The same, made of it for the first call.
    schema: OnceLock<Schema>,
    pub(super) takes_json: bool,
}

impl Offered {
    pub(super) fn schema(&self) -> &Schema {
        self.schema.get_or_init(|| Schema::of(self.schema_text.as_deref()))
    }
}

impl Offer {
    /// What a governed request of `protocol` offers, under the names that its answer's `context` has.
    pub fn new(
        request: &Request<'_>,
        protocol: Protocol,
        (context, renamed): (&AnswerContext<'_>, &[(String, String)]),
        rules: &Arc<Rules>,
    ) -> Self {
        let own = |(other, own): &(_, _)| (text(other), text(own));
        let names: HashMap<String, String> = context.names.iter().map(own).collect();
        let known: HashMap<&str, &str> =
            names.iter().map(|(other, own)| (own.as_str(), other.as_str())).collect();
        let mut offer =
            Self { rules: Arc::clone(rules), tools: HashMap::new(), names: HashMap::new() };
        let mut tools: Vec<&Tool<'_>> = request.tools.iter().collect();
        while let Some(tool) = tools.pop() {
            if let ToolKind::Namespace(namespace) = &tool.kind {
                tools.extend(&namespace.tools);
            }
            let Some(name) = tool.name().map(text) else { continue };
            let own = renamed.iter().find(|(other, _)| *other == name);
            let own = own.map_or(name.as_str(), |(_, own)| own.as_str());
            let name = known.get(own).map_or_else(|| name.clone(), |name| (*name).to_owned());
            offer.tools.insert(name, offer.offered(tool, protocol));
        }
        offer.names = names;
        offer
    }

    fn offered(&self, tool: &Tool<'_>, protocol: Protocol) -> Offered {
        let takes_json = matches!(tool.kind, ToolKind::Function(_));
        let schema = match self.rules.arguments {
            ArgumentRule::Pass => None,
            ArgumentRule::Repair | ArgumentRule::Refuse => parameters_schema(protocol, tool),
        };
        let schema_text = schema.map(|schema| schema.as_str().to_owned());
        Offered { schema_text, schema: OnceLock::new(), takes_json }
    }

    pub(super) fn tool(&self, name: &str) -> Option<&Offered> {
        self.tools.get(name)
    }

    /// The client's own name of a tool that the provider calls `name`.
    pub(super) fn client_name<'n>(&'n self, name: &'n str) -> &'n str {
        self.names.get(name).map_or(name, String::as_str)
    }
}

fn text(text: &sabir_wire::json::Text<'_>) -> String {
    text.to_str().into_owned()
}
