//! Where a node stood in the input it was read from, small enough to sit on every node.
//!
//! Pointers are wanted only for what goes wrong or gets lost, so they are kept as steps and rendered on demand.

use std::fmt;

use crate::json::push_whole;

/// A JSON pointer into the input, as up to four steps of a static path and an index.
///
/// The default place is the root, which is also where nodes stand that no input spoke of.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Place {
    steps: [Step; STEPS_MAX],
    indices: [u32; STEPS_MAX],
}

const STEPS_MAX: usize = 4;
const NO_INDEX: u32 = u32::MAX;

/// What the pointer of a place mostly takes, so that it seldom grows.
const POINTER_BYTES: usize = 32;

/// A fixed stretch of path in one of the four protocols.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Step {
    #[default]
    None,
    Annotations,
    Audio,
    Candidates,
    Choices,
    Citations,
    CodeExecution,
    Content,
    ContentBlock,
    Contents,
    Delta,
    DeltaToolCalls,
    FileSearch,
    /// The number of a frame in a stream; it has no name of its own.
    Frame,
    FunctionCall,
    FunctionDeclarations,
    FunctionDeclarationsSnake,
    Functions,
    FunctionResponseParts,
    GoogleMaps,
    GoogleSearch,
    GoogleSearchRetrieval,
    Input,
    Instructions,
    Item,
    Message,
    MessageContent,
    MessageToolCalls,
    Messages,
    Output,
    Part,
    Parts,
    Reasoning,
    ReasoningContent,
    ReasoningDetails,
    Refusal,
    Response,
    ResponseOutput,
    Summary,
    System,
    SystemInstruction,
    SystemInstructionSnake,
    ToolCalls,
    Tools,
    UrlContext,
    Usage,
    WebSearchOptions,
    UsageMetadata,
}

impl Step {
    fn path(self) -> &'static str {
        match self {
            Self::None | Self::Frame => "",
            Self::Annotations => "/annotations",
            Self::Audio => "/audio",
            Self::Candidates => "/candidates",
            Self::Choices => "/choices",
            Self::CodeExecution => "/codeExecution",
            Self::Citations => "/citations",
            Self::Content => "/content",
            Self::ContentBlock => "/content_block",
            Self::Contents => "/contents",
            Self::Delta => "/delta",
            Self::FileSearch => "/fileSearch",
            Self::DeltaToolCalls => "/delta/tool_calls",
            Self::FunctionCall => "/function_call",
            Self::FunctionDeclarationsSnake => "/function_declarations",
            Self::FunctionDeclarations => "/functionDeclarations",
            Self::Functions => "/functions",
            Self::GoogleSearchRetrieval => "/googleSearchRetrieval",
            Self::GoogleSearch => "/googleSearch",
            Self::GoogleMaps => "/googleMaps",
            Self::FunctionResponseParts => "/functionResponse/parts",
            Self::Input => "/input",
            Self::Instructions => "/instructions",
            Self::Item => "/item",
            Self::Message => "/message",
            Self::MessageContent => "/message/content",
            Self::MessageToolCalls => "/message/tool_calls",
            Self::Messages => "/messages",
            Self::Output => "/output",
            Self::Part => "/part",
            Self::Parts => "/parts",
            Self::Reasoning => "/reasoning",
            Self::ReasoningContent => "/reasoning_content",
            Self::ReasoningDetails => "/reasoning_details",
            Self::Refusal => "/refusal",
            Self::Response => "/response",
            Self::ResponseOutput => "/response/output",
            Self::Summary => "/summary",
            Self::System => "/system",
            Self::SystemInstructionSnake => "/system_instruction",
            Self::SystemInstruction => "/systemInstruction",
            Self::ToolCalls => "/tool_calls",
            Self::UrlContext => "/urlContext",
            Self::Tools => "/tools",
            Self::UsageMetadata => "/usageMetadata",
            Self::Usage => "/usage",
            Self::WebSearchOptions => "/web_search_options",
        }
    }
}

impl Place {
    /// The place one step further in; past the deepest step the place stays where it is.
    pub(crate) fn step(mut self, step: Step) -> Self {
        self.push(step, NO_INDEX);
        self
    }

    /// The place of element `index` of the list at `step`.
    pub(crate) fn element(mut self, step: Step, index: usize) -> Self {
        self.push(step, u32::try_from(index).unwrap_or(NO_INDEX));
        self
    }

    fn push(&mut self, step: Step, index: u32) {
        if let Some(free) = self.steps.iter().position(|step| *step == Step::None) {
            self.steps[free] = step;
            self.indices[free] = index;
        }
    }

    pub fn is_root(&self) -> bool {
        self.steps[0] == Step::None
    }

    /// The place of the Responses item whose content the node at this place stands in, or the place itself.
    pub(crate) fn of_item(mut self) -> Self {
        let last = self.steps.iter().rposition(|step| *step != Step::None);
        if let Some(last) = last.filter(|last| self.steps[*last] == Step::Content) {
            self.steps[last] = Step::None;
        }
        self
    }

    /// The pointer of `suffix` below this place; `suffix` is empty or begins with a slash.
    pub(crate) fn pointer(&self, suffix: &str) -> String {
        let mut pointer = String::with_capacity(suffix.len() + POINTER_BYTES);
        for (step, index) in self.steps.iter().zip(self.indices) {
            pointer.push_str(step.path());
            if index != NO_INDEX && *step != Step::None {
                pointer.push('/');
                push_whole(&mut pointer, index.into());
            }
        }
        pointer.push_str(suffix);
        pointer
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.pointer(""))
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}
