//! What a prompt is assembled from.

use std::borrow::Cow;
use std::fmt;

/// How many bytes a prompt may have where nothing else is said.
pub const BYTES_MAX_DEFAULT: usize = 768 * 1024;

/// The parts of a prompt, free of routing markers; a [`Dialogue`](super::Dialogue) makes it from what was said.
///
/// Texts that are empty or blank count as absent.
#[derive(Clone)]
pub struct Input<'a> {
    /// What was said before, the oldest first.
    pub context: Vec<ContextMessage<'a>>,
    /// What the agent is to do now.
    pub current_message: Cow<'a, str>,
    /// What all participants work on.
    pub team_task: Option<Cow<'a, str>>,
    pub system_instruction: Option<Cow<'a, str>>,
    /// The text of the participant's instruction file.
    pub instruction_file: Option<Cow<'a, str>>,
    /// The budget, in bytes of UTF-8; what goes beside the prompt counts too.
    pub bytes_max: usize,
}

/// One message of the context.
#[derive(Clone, Default)]
pub struct ContextMessage<'a> {
    pub from: Cow<'a, str>,
    /// To whom it was said; nobody is everybody.
    pub to: Option<Cow<'a, str>>,
    pub content: Cow<'a, str>,
}

/// The addressee of a message that names none.
pub(super) const EVERYBODY: &str = "all";

impl<'a> Input<'a> {
    /// A task and nothing else, with the default budget.
    pub fn new(current_message: impl Into<Cow<'a, str>>) -> Self {
        Self { current_message: current_message.into(), ..Self::default() }
    }
}

impl Default for Input<'_> {
    fn default() -> Self {
        Self {
            context: Vec::new(),
            current_message: Cow::Borrowed(""),
            team_task: None,
            system_instruction: None,
            instruction_file: None,
            bytes_max: BYTES_MAX_DEFAULT,
        }
    }
}

impl<'a> ContextMessage<'a> {
    /// A message to everybody.
    pub fn new(from: impl Into<Cow<'a, str>>, content: impl Into<Cow<'a, str>>) -> Self {
        Self { from: from.into(), to: None, content: content.into() }
    }

    /// The same message, addressed.
    pub fn addressed(self, to: impl Into<Cow<'a, str>>) -> Self {
        Self { to: Some(to.into()), ..self }
    }

    /// Whom a line of context names as the addressee.
    pub(super) fn addressee(&self) -> &str {
        self.to.as_deref().filter(|to| !to.is_empty()).unwrap_or(EVERYBODY)
    }
}

/// Says how much there is, never what.
impl fmt::Debug for Input<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = |text: &Option<Cow<'_, str>>| text.as_ref().map(|text| text.len());
        f.debug_struct("Input")
            .field("context", &self.context.len())
            .field("current_message", &self.current_message.len())
            .field("team_task", &bytes(&self.team_task))
            .field("system_instruction", &bytes(&self.system_instruction))
            .field("instruction_file", &bytes(&self.instruction_file))
            .field("bytes_max", &self.bytes_max)
            .finish()
    }
}

/// Says how much there is, never what.
impl fmt::Debug for ContextMessage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContextMessage({} bytes)", self.content.len())
    }
}
