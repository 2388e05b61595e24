//! Where a node stood in the input it was read from, small enough to sit on every node.
//!
//! Pointers are wanted only for what goes wrong or gets lost, so they are kept as steps and rendered on demand.

use std::fmt;

use crate::json::push_whole;
use crate::protocol::Protocol;

/// A JSON pointer into the input, as up to four steps of a static path and an index.
///
/// The default place is the root, which is also where nodes stand that no input spoke of.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    steps: [Step; STEPS_MAX],
    indices: [u32; STEPS_MAX],
}

const STEPS_MAX: usize = 4;
const NO_INDEX: u32 = u32::MAX;

/// What the number of a protocol takes beside that of a turn.
const PROTOCOL_BITS: u32 = 3;

/// What the pointer of a place mostly takes, so that it seldom grows.
const POINTER_BYTES: usize = 32;

macro_rules! steps {
    ($( $(#[$doc:meta])* $step:ident => $path:literal; )*) => {
        /// A fixed stretch of path in one of the four protocols.
        #[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub(crate) enum Step {
            #[default]
            None,
            $( $(#[$doc])* $step, )*
        }

        impl Step {
            fn path(self) -> &'static str {
                match self {
                    Self::None => "",
                    $( Self::$step => $path, )*
                }
            }
        }
    };
}

steps! {
    Annotation => "/annotation";
    Annotations => "/annotations";
    Audio => "/audio";
    Candidates => "/candidates";
    Choices => "/choices";
    Citation => "/citation";
    CitationMetadata => "/citationMetadata";
    CodeExecution => "/codeExecution";
    Content => "/content";
    ContentBlock => "/content_block";
    Contents => "/contents";
    Delta => "/delta";
    /// An earlier turn of the conversation; the number of its protocol stands in the last bits of its own.
    EarlierTurns => "/turns";
    FileSearch => "/fileSearch";
    /// The number of a frame in a stream; it has no name of its own.
    Frame => "";
    FunctionCall => "/function_call";
    FunctionDeclarations => "/functionDeclarations";
    FunctionDeclarationsSnake => "/function_declarations";
    FunctionResponseParts => "/functionResponse/parts";
    Functions => "/functions";
    GoogleMaps => "/googleMaps";
    GoogleSearch => "/googleSearch";
    GoogleSearchRetrieval => "/googleSearchRetrieval";
    GroundingMetadata => "/groundingMetadata";
    Input => "/input";
    Instructions => "/instructions";
    Item => "/item";
    /// What a conversation keeps of an earlier request; its number is that of the protocol, and it has no name.
    Kept => "";
    Logprobs => "/logprobs";
    LogprobsResult => "/logprobsResult";
    Message => "/message";
    Messages => "/messages";
    Output => "/output";
    Part => "/part";
    Parts => "/parts";
    PromptFeedback => "/promptFeedback";
    Reasoning => "/reasoning";
    ReasoningContent => "/reasoning_content";
    ReasoningDetails => "/reasoning_details";
    Refusal => "/refusal";
    Response => "/response";
    System => "/system";
    SystemInstruction => "/systemInstruction";
    SystemInstructionSnake => "/system_instruction";
    Text => "/text";
    ToolCalls => "/tool_calls";
    Tools => "/tools";
    UrlContext => "/urlContext";
    Usage => "/usage";
    XGroqUsage => "/x_groq/usage";
    UsageMetadata => "/usageMetadata";
    WebSearchOptions => "/web_search_options";
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

    /// The place as one of an earlier turn, which was written in `protocol`.
    pub(crate) fn in_turn(self, turn: u32, protocol: Protocol) -> Self {
        let turn = turn.min(u32::MAX >> PROTOCOL_BITS) << PROTOCOL_BITS;
        self.below(Step::EarlierTurns, turn | protocol as u32)
    }

    /// The place as one of an earlier request, which was written in `protocol`.
    pub(crate) fn kept(self, protocol: Protocol) -> Self {
        self.below(Step::Kept, protocol as u32)
    }

    /// The place one step further in, seen from outside; the deepest of four steps is left out.
    fn below(mut self, step: Step, index: u32) -> Self {
        self.steps.rotate_right(1);
        self.indices.rotate_right(1);
        (self.steps[0], self.indices[0]) = (step, index);
        self
    }

    /// The protocol in which the node was written, if that is not the request's own matter: it came from an earlier one.
    pub(crate) fn protocol(&self) -> Option<Protocol> {
        let number = (self.indices[0] & ((1 << PROTOCOL_BITS) - 1)) as usize;
        let is_earlier = matches!(self.steps[0], Step::EarlierTurns | Step::Kept);
        is_earlier.then(|| Protocol::ALL.get(number).copied()).flatten()
    }

    /// Which element of the list at `pointer` of the request this is or stands in; what is no list has one.
    pub(crate) fn element_of(&self, pointer: &str) -> Option<usize> {
        let is_inside = self.steps[0] != Step::None && self.steps[0].path() == pointer;
        is_inside.then_some(if self.indices[0] == NO_INDEX { 0 } else { self.indices[0] as usize })
    }

    pub fn is_root(&self) -> bool {
        self.steps[0] == Step::None
    }

    /// Whether this is an element of a list.
    pub(crate) fn is_element(&self) -> bool {
        self.last().is_some_and(|last| self.indices[last] != NO_INDEX)
    }

    /// The place of the Responses item whose content the node at this place stands in, or the place itself.
    pub(crate) fn of_item(self) -> Self {
        if self.ends_with(Step::Content) { self.parent() } else { self }
    }

    /// The place of the answer, as one of several, that the node at this place stands in, or the place itself.
    pub(crate) fn of_candidate(mut self) -> Self {
        let is_list = |step: &Step| matches!(step, Step::Candidates | Step::Choices);
        if let Some(list) = self.steps.iter().position(is_list) {
            self.steps[list + 1..].fill(Step::None);
        }
        self
    }

    /// The place one step further out; the root stays where it is.
    pub(crate) fn parent(mut self) -> Self {
        if let Some(last) = self.last() {
            self.steps[last] = Step::None;
        }
        self
    }

    /// Whether this is a step inside the rest of the place: the delta of a chunk, a whole item in an event of Responses, the feedback
    /// on a prompt that was blocked, or the one call of a message in Chat's older form.
    pub(crate) fn ends_with(&self, step: Step) -> bool {
        self.last().is_some_and(|last| self.steps[last] == step)
    }

    fn last(&self) -> Option<usize> {
        self.steps.iter().rposition(|step| *step != Step::None)
    }

    /// The pointer of `suffix` below this place; `suffix` is empty or begins with a slash, or with `../` for each step that
    /// it goes outwards first.
    pub(crate) fn pointer(&self, suffix: &str) -> String {
        let Some(outside) = suffix.strip_prefix("..") else { return self.inner_pointer(suffix) };
        let further = outside.strip_prefix('/').filter(|rest| rest.starts_with(".."));
        self.parent().pointer(further.unwrap_or(outside))
    }

    fn inner_pointer(&self, suffix: &str) -> String {
        let mut pointer = String::with_capacity(suffix.len() + POINTER_BYTES);
        for (step, index) in self.steps.iter().zip(self.indices) {
            if *step == Step::None {
                break;
            }
            pointer.push_str(step.path());
            let number = match step {
                Step::EarlierTurns => Some(index >> PROTOCOL_BITS),
                Step::Kept => None,
                _ => Some(index).filter(|index| *index != NO_INDEX),
            };
            if let Some(number) = number {
                pointer.push('/');
                push_whole(&mut pointer, number.into());
            }
        }
        pointer.push_str(suffix);
        pointer
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.inner_pointer(""))
    }
}

impl From<Place> for String {
    fn from(place: Place) -> Self {
        place.inner_pointer("")
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}
