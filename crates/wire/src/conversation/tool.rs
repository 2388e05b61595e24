//! Tools that the model may use, and how it may choose.

use crate::json::{Json, Text};
use crate::owned::into_owned;
use crate::protocol::{NodeSemantics, Protocol};

/// One tool on offer.
#[derive(Clone, Debug)]
pub struct Tool<'a> {
    pub kind: ToolKind<'a>,
    pub(crate) semantics: NodeSemantics<'a>,
}

#[derive(Clone, Debug)]
pub enum ToolKind<'a> {
    Function(FunctionTool<'a>),
    Custom(CustomTool<'a>),
    Hosted(HostedTool<'a>),
    Namespace(NamespaceTool<'a>),
}

/// A tool of the client with a schema for its arguments.
#[derive(Clone, Debug)]
pub struct FunctionTool<'a> {
    pub name: Text<'a>,
    pub description: Option<Text<'a>>,
    /// JSON Schema as the protocol spells it; absent means no arguments.
    pub parameters: Option<Json<'a>>,
    pub strict: Option<bool>,
    pub output_schema: Option<Json<'a>>,
}

/// A tool of the client that takes free text.
#[derive(Clone, Debug)]
pub struct CustomTool<'a> {
    pub name: Text<'a>,
    pub description: Option<Text<'a>>,
    pub format: Option<CustomFormat<'a>>,
}

#[derive(Clone, Debug)]
pub enum CustomFormat<'a> {
    Text,
    Grammar { definition: Text<'a>, syntax: Text<'a> },
}

/// A tool that the vendor runs or defines; `json` is its whole definition.
#[derive(Clone, Debug)]
pub struct HostedTool<'a> {
    pub protocol: Protocol,
    pub service: HostedService,
    /// The `type` or member name by which the protocol names it.
    pub kind: Text<'a>,
    pub json: Json<'a>,
}

/// What a hosted tool does, where another vendor has the like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HostedService {
    WebSearch,
    WebFetch,
    CodeExecution,
    Other,
}

/// Tools under a common name.
#[derive(Clone, Debug)]
pub struct NamespaceTool<'a> {
    pub name: Text<'a>,
    pub description: Option<Text<'a>>,
    pub tools: Vec<Tool<'a>>,
}

/// How the model may choose among the tools.
#[derive(Clone, Debug)]
pub enum ToolChoice<'a> {
    Auto,
    None,
    Required,
    Named {
        name: Text<'a>,
        form: crate::conversation::CallForm,
    },
    /// Some of the tools, without touching the list itself.
    Allowed {
        mode: AllowedMode,
        tools: Vec<AllowedTool<'a>>,
    },
    /// A choice that only this protocol has, such as one hosted tool.
    Other {
        protocol: Protocol,
        json: Json<'a>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AllowedMode {
    Auto,
    Required,
}

/// A tool named by [`ToolChoice::Allowed`].
#[derive(Clone, Debug)]
pub struct AllowedTool<'a> {
    /// The tool's name; absent for hosted tools that have none.
    pub name: Option<Text<'a>>,
    /// The element as the protocol spelled it.
    pub json: Option<Json<'a>>,
}

impl<'a> Tool<'a> {
    pub fn new(kind: ToolKind<'a>) -> Self {
        Self { kind, semantics: NodeSemantics::default() }
    }

    /// What the wire meant by this tool beyond its definition.
    pub fn semantics(&self) -> &NodeSemantics<'a> {
        &self.semantics
    }

    /// The name by which the model calls the tool, if it does so by one that the client chose.
    pub fn name(&self) -> Option<&Text<'a>> {
        match &self.kind {
            ToolKind::Function(function) => Some(&function.name),
            ToolKind::Custom(custom) => Some(&custom.name),
            ToolKind::Hosted(_) | ToolKind::Namespace(_) => None,
        }
    }

    pub(crate) fn forget_semantics(&mut self) {
        self.semantics = NodeSemantics::default();
        if let ToolKind::Namespace(namespace) = &mut self.kind {
            namespace.tools.iter_mut().for_each(Tool::forget_semantics);
        }
    }

    pub(crate) fn with_semantics(mut self, semantics: NodeSemantics<'a>) -> Self {
        self.semantics = semantics;
        self
    }
}

into_owned! {
    pub struct Tool { kind, semantics }
    pub enum ToolKind { Function(tool), Custom(tool), Hosted(tool), Namespace(tool) }
    pub struct FunctionTool { name, description, parameters, strict, output_schema }
    pub struct CustomTool { name, description, format }
    pub enum CustomFormat { Text, Grammar { definition, syntax } }
    pub struct HostedTool { protocol, service, kind, json }
    pub struct NamespaceTool { name, description, tools }
    pub enum ToolChoice {
        Auto,
        None,
        Required,
        Named { name, form },
        Allowed { mode, tools },
        Other { protocol, json },
    }
    pub struct AllowedTool { name, json }
}
