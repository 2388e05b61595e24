//! Tools that the model may use, and how it may choose.

use crate::json::Json;
use crate::json::Text;
use crate::protocol::NodeSemantics;
use crate::protocol::Protocol;

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
    /// The `type` or member name by which the protocol tells it.
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
    pub(crate) fn name(&self) -> Option<&Text<'a>> {
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

    pub fn into_owned(self) -> Tool<'static> {
        Tool { kind: self.kind.into_owned(), semantics: self.semantics.into_owned() }
    }
}

impl ToolKind<'_> {
    pub fn into_owned(self) -> ToolKind<'static> {
        match self {
            Self::Function(tool) => ToolKind::Function(tool.into_owned()),
            Self::Custom(tool) => ToolKind::Custom(tool.into_owned()),
            Self::Hosted(tool) => ToolKind::Hosted(tool.into_owned()),
            Self::Namespace(tool) => ToolKind::Namespace(tool.into_owned()),
        }
    }
}

impl FunctionTool<'_> {
    pub fn into_owned(self) -> FunctionTool<'static> {
        FunctionTool {
            name: self.name.into_owned(),
            description: self.description.map(Text::into_owned),
            parameters: self.parameters.map(Json::into_owned),
            strict: self.strict,
            output_schema: self.output_schema.map(Json::into_owned),
        }
    }
}

impl CustomTool<'_> {
    pub fn into_owned(self) -> CustomTool<'static> {
        CustomTool {
            name: self.name.into_owned(),
            description: self.description.map(Text::into_owned),
            format: self.format.map(CustomFormat::into_owned),
        }
    }
}

impl CustomFormat<'_> {
    pub fn into_owned(self) -> CustomFormat<'static> {
        match self {
            Self::Text => CustomFormat::Text,
            Self::Grammar { definition, syntax } => CustomFormat::Grammar {
                definition: definition.into_owned(),
                syntax: syntax.into_owned(),
            },
        }
    }
}

impl HostedTool<'_> {
    pub fn into_owned(self) -> HostedTool<'static> {
        HostedTool {
            protocol: self.protocol,
            service: self.service,
            kind: self.kind.into_owned(),
            json: self.json.into_owned(),
        }
    }
}

impl NamespaceTool<'_> {
    pub fn into_owned(self) -> NamespaceTool<'static> {
        NamespaceTool {
            name: self.name.into_owned(),
            description: self.description.map(Text::into_owned),
            tools: self.tools.into_iter().map(Tool::into_owned).collect(),
        }
    }
}

impl ToolChoice<'_> {
    pub fn into_owned(self) -> ToolChoice<'static> {
        match self {
            Self::Auto => ToolChoice::Auto,
            Self::None => ToolChoice::None,
            Self::Required => ToolChoice::Required,
            Self::Named { name, form } => ToolChoice::Named { name: name.into_owned(), form },
            Self::Allowed { mode, tools } => ToolChoice::Allowed {
                mode,
                tools: tools.into_iter().map(AllowedTool::into_owned).collect(),
            },
            Self::Other { protocol, json } => {
                ToolChoice::Other { protocol, json: json.into_owned() }
            }
        }
    }
}

impl AllowedTool<'_> {
    pub fn into_owned(self) -> AllowedTool<'static> {
        AllowedTool { name: self.name.map(Text::into_owned), json: self.json.map(Json::into_owned) }
    }
}
