//! What a model was offered, as its provider knows it: what the calls of an answer are held against. Most answers have none, so that
//! what only calls need is made for the first of them.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use sabir_wire::Protocol;
use sabir_wire::conversation::{FunctionTool, Request, Tool, ToolKind};
use sabir_wire::json::{Json, Text};
use sabir_wire::protocol::{AnswerContext, parameter_language};
use sabir_wire::schema::{SchemaLanguage, translate};

use crate::govern::arguments::Schema;
use crate::govern::{ArgumentRule, Renamed, Rules, hosted};

/// The tools of a request with the rules that hold for their calls.
#[derive(Debug)]
pub struct Offer {
    pub(super) rules: Arc<Rules>,
    /// None where no rule asks for them.
    tools: Tools,
    /// Where the provider knows other names than the request has: its own, sorted, and that of the request for each.
    aliases: Vec<(String, String)>,
    /// Where the request has other names than the client.
    renamed: Renamed,
}

/// Tools on offer: one block of memory, which is taken apart for the first call.
#[derive(Debug, Default)]
struct Tools {
    /// One tool behind the other, each as its head, the name that the provider knows, and its schema.
    packed: Vec<u8>,
    /// The same by their names; of several with one name the first stands first.
    sorted: OnceLock<Vec<Offered>>,
}

/// A tool on offer.
#[derive(Debug)]
pub(super) struct Offered {
    /// The name that the provider knows.
    name: String,
    /// What the client says of its arguments, where somebody asks for it.
    parameters: Option<(Range<usize>, SchemaLanguage)>,
    /// The same, made of it for the first call.
    schema: OnceLock<Schema>,
    pub(super) takes_json: bool,
}

/// What stands before a tool: the bytes of its name, those of its schema, and what it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Head {
    name: usize,
    schema: usize,
    takes: Takes,
}

/// What a tool takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    Text,
    Json(Option<SchemaLanguage>),
}

impl Head {
    const BYTES: usize = 17;

    fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [self.takes.number(); Self::BYTES];
        bytes[..8].copy_from_slice(&(self.name as u64).to_le_bytes());
        bytes[8..16].copy_from_slice(&(self.schema as u64).to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (name, rest) = bytes.split_first_chunk::<8>()?;
        let (schema, rest) = rest.split_first_chunk::<8>()?;
        let takes = Takes::from_number(*rest.first()?)?;
        let [name, schema] = [name, schema].map(|it| u64::from_le_bytes(*it) as usize);
        Some(Self { name, schema, takes })
    }
}

impl Takes {
    fn number(self) -> u8 {
        match self {
            Self::Text => 0,
            Self::Json(None) => 1,
            Self::Json(Some(SchemaLanguage::JsonSchema)) => 2,
            Self::Json(Some(SchemaLanguage::OpenaiStrict)) => 3,
            Self::Json(Some(SchemaLanguage::AnthropicStrict)) => 4,
            Self::Json(Some(SchemaLanguage::GeminiJsonSchema)) => 5,
            Self::Json(Some(SchemaLanguage::GeminiSchema)) => 6,
        }
    }

    fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            0 => Self::Text,
            1 => Self::Json(None),
            2 => Self::Json(Some(SchemaLanguage::JsonSchema)),
            3 => Self::Json(Some(SchemaLanguage::OpenaiStrict)),
            4 => Self::Json(Some(SchemaLanguage::AnthropicStrict)),
            5 => Self::Json(Some(SchemaLanguage::GeminiJsonSchema)),
            6 => Self::Json(Some(SchemaLanguage::GeminiSchema)),
            _ => return None,
        })
    }
}

impl Offer {
    /// What a governed request of `protocol` offers, under the names that its answer's `context` has. It takes these over: whoever
    /// writes the answer finds the client's own.
    pub fn new(
        request: &Request<'_>,
        protocol: Protocol,
        (context, renamed): (&mut AnswerContext<'_>, Renamed),
        rules: &Arc<Rules>,
    ) -> Self {
        if !renamed.is_empty() && !context.custom_tools.is_empty() {
            context.restore_custom_tools(&|name| renamed.own(name, rules));
        }
        let mut aliases = Vec::new();
        if !context.names.is_empty() {
            let taken = std::mem::take(&mut context.names).into_iter();
            aliases.extend(taken.map(|(alias, name)| (text(alias), text(name))));
            aliases.sort_unstable();
        }
        let tools = match rules.asks_for_tools() {
            true => Offering { protocol, rules, aliases: &aliases }.tools(request),
            false => Tools::default(),
        };
        Self { rules: Arc::clone(rules), tools, aliases, renamed }
    }

    pub(super) fn tool(&self, name: &str) -> Option<&Offered> {
        self.tools.find(name)
    }

    /// What the arguments of a tool are held against.
    pub(super) fn schema<'o>(&'o self, tool: &'o Offered) -> &'o Schema {
        tool.schema.get_or_init(|| {
            let (json, language) = tool.parameters.clone().unzip();
            let json = json.and_then(|range| Json::parse(self.tools.text(range)).ok());
            let schema = json
                .zip(language)
                .map(|it| translate(&it.0, it.1, SchemaLanguage::JsonSchema).json);
            Schema::of(schema.as_ref().map(|schema| schema.as_str()))
        })
    }

    /// Whether calls of a tool may pass, by the client's own name.
    pub(super) fn allows(&self, own: &str) -> bool {
        self.renamed.allow(own, &self.rules)
    }

    /// The client's own name of a tool that the provider calls `name`.
    pub(super) fn client_name<'n>(&'n self, name: &'n str) -> &'n str {
        let found = self.aliases.binary_search_by_key(&name, |(alias, _)| alias);
        let name = found.map_or(name, |place| &self.aliases[place].1);
        self.renamed.own(name, &self.rules).unwrap_or(name)
    }
}

impl Tools {
    fn find(&self, name: &str) -> Option<&Offered> {
        let sorted = self.sorted.get_or_init(|| {
            let mut sorted = self.unpacked();
            sorted.sort_by(|one, other| one.name.cmp(&other.name));
            sorted
        });
        let place = sorted.partition_point(|tool| tool.name.as_str() < name);
        sorted.get(place).filter(|tool| tool.name == name)
    }

    fn pack(&mut self, head: Head, [name, schema]: [&str; 2]) {
        let bytes = Head::BYTES + name.len() + schema.len();
        match self.packed.capacity() {
            0 => self.packed = Vec::with_capacity(bytes),
            _ => self.packed.reserve(bytes),
        }
        self.packed.extend_from_slice(&head.to_bytes());
        self.packed.extend_from_slice(name.as_bytes());
        self.packed.extend_from_slice(schema.as_bytes());
    }

    fn unpacked(&self) -> Vec<Offered> {
        let mut tools = Vec::new();
        let mut at = 0;
        while let Some(head) = Head::from_bytes(&self.packed[at..]) {
            let name = at + Head::BYTES..at + Head::BYTES + head.name;
            let schema = name.end..name.end + head.schema;
            at = schema.end;
            let language = match head.takes {
                Takes::Text => None,
                Takes::Json(language) => language,
            };
            tools.push(Offered {
                name: self.text(name).to_owned(),
                parameters: language.map(|language| (schema, language)),
                schema: OnceLock::new(),
                takes_json: head.takes != Takes::Text,
            });
        }
        tools
    }

    fn text(&self, range: Range<usize>) -> &str {
        str::from_utf8(&self.packed[range]).expect("a stretch that was packed as text")
    }
}

/// What tools are gathered by.
struct Offering<'o> {
    protocol: Protocol,
    rules: &'o Rules,
    aliases: &'o [(String, String)],
}

impl Offering<'_> {
    fn tools(&self, request: &Request<'_>) -> Tools {
        let turned = self.aliases.iter().map(|(alias, name)| (name.as_str(), alias.as_str()));
        let mut known: Vec<(&str, &str)> = turned.collect();
        known.sort_unstable();
        let mut tools = Tools::default();
        request.tools.iter().for_each(|tool| self.add(tool, &known, &mut tools));
        tools
    }

    /// What a tool says of its arguments, where somebody asks for it.
    fn schema<'t>(&self, function: &'t FunctionTool<'_>) -> Option<&'t str> {
        let asks = self.rules.arguments != ArgumentRule::Pass;
        function.parameters.as_ref().filter(|_| asks).map(Json::as_str)
    }

    /// Adds a tool under the name that the provider knows; `known` has names of the request, sorted, and the alias of each.
    fn add(&self, tool: &Tool<'_>, known: &[(&str, &str)], tools: &mut Tools) {
        let (name, schema, takes) = match &tool.kind {
            ToolKind::Namespace(namespace) => {
                return namespace.tools.iter().for_each(|tool| self.add(tool, known, tools));
            }
            ToolKind::Hosted(hosted) => match hosted::called(hosted) {
                Some(name) => (name.into(), None, Takes::Text),
                None => return,
            },
            ToolKind::Custom(custom) => (custom.name.to_str(), None, Takes::Text),
            ToolKind::Function(function) => {
                let schema = self.schema(function);
                let language = schema.map(|_| parameter_language(self.protocol, tool));
                (function.name.to_str(), schema, Takes::Json(language))
            }
        };
        let alias = known.binary_search_by_key(&&*name, |(name, _)| name);
        let name = alias.map_or(&*name, |place| known[place].1);
        let schema = schema.unwrap_or_default();
        tools.pack(Head { name: name.len(), schema: schema.len(), takes }, [name, schema]);
    }
}

fn text(text: Text<'_>) -> String {
    text.into_str().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_found_as_they_were_packed() {
        let mut tools = Tools::default();
        let takes: Vec<Takes> = (0..).map_while(Takes::from_number).collect();
        assert_eq!(takes.len(), 7);
        for (number, takes) in takes.iter().enumerate() {
            let (name, schema) = (format!("\0{number}\u{e4}"), "{}".repeat(number));
            let head = Head { name: name.len(), schema: schema.len(), takes: *takes };
            tools.pack(head, [&name, &schema]);
        }
        // Of several with one name the first is meant.
        let name = "\u{0}4\u{e4}";
        tools.pack(Head { name: name.len(), schema: 0, takes: Takes::Text }, [name, ""]);
        for (number, takes) in takes.iter().enumerate() {
            let found = tools.find(&format!("\0{number}\u{e4}")).unwrap();
            assert_eq!(found.takes_json, *takes != Takes::Text);
            if let Some((range, language)) = found.parameters.clone() {
                assert_eq!(tools.text(range), "{}".repeat(number));
                assert_eq!(*takes, Takes::Json(Some(language)));
            }
        }
        assert!(tools.find("\0").is_none() && tools.find("z").is_none());
    }
}
