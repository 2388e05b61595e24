//! The agent CLIs that prompts are assembled for.

use super::layout::Layout;
use super::sections::Sections;
use super::trim::Fitted;
use super::{Input, Output, Overflow, Warning, claude, codex, gemini, plain, trim};

/// Who reads the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Agent {
    ClaudeCode,
    OpenaiCodex,
    GoogleGemini,
    /// Any other program: the same content without headers.
    Plain,
}

impl Agent {
    pub const ALL: [Self; 4] =
        [Self::ClaudeCode, Self::OpenaiCodex, Self::GoogleGemini, Self::Plain];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::OpenaiCodex => "openai-codex",
            Self::GoogleGemini => "google-gemini",
            Self::Plain => "plain",
        }
    }

    /// The short name, where there is one.
    pub fn alias(self) -> Option<&'static str> {
        match self {
            Self::ClaudeCode => Some("claude"),
            Self::OpenaiCodex => Some("codex"),
            Self::GoogleGemini => Some("gemini"),
            Self::Plain => None,
        }
    }

    /// The agent of this full or short name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|agent| agent.as_str() == name || agent.alias() == Some(name))
    }

    /// The agent of this name in any spelling; an unknown one gets the plain prompt, and the caller a warning.
    pub fn or_plain(name: &str) -> (Self, Option<Warning>) {
        let normalized = name.trim().to_lowercase();
        match Self::parse(&normalized) {
            Some(agent) => (agent, None),
            None => {
                let name = name.to_owned();
                (Self::Plain, Some(Warning::UnknownAgent { name, normalized }))
            }
        }
    }

    /// Assembles the prompt within the input's budget.
    ///
    /// The oldest context goes first, then the end of the task. Instructions and team task are never cut: where they alone
    /// do not fit, that is an error.
    ///
    /// ```
    /// use sabir_compose::assemble::{Agent, ContextMessage, Input};
    ///
    /// let mut input = Input::new("What do you suggest?");
    /// input.context.push(ContextMessage::new("kailai", "Hello"));
    /// let output = Agent::GoogleGemini.assemble(&input)?;
    /// assert_eq!(
    ///     output.prompt,
    ///     "Conversation so far:\n- kailai: Hello\n\nYour task:\nWhat do you suggest?"
    /// );
    /// # Ok::<(), sabir_compose::assemble::Overflow>(())
    /// ```
    pub fn assemble(self, input: &Input<'_>) -> Result<Output, Overflow> {
        let sections = Sections::of(input, self.layout());
        let Fitted { sections, bytes, trimmed } = trim::fit(sections, input.bytes_max)?;
        let system_flag = sections.flag();
        let prompt = sections.prompt(bytes - system_flag.as_ref().map_or(0, String::len));
        let output = Output { prompt, system_flag, trimmed };
        debug_assert_eq!(output.bytes(), bytes);
        Ok(output)
    }

    fn layout(self) -> &'static Layout {
        match self {
            Self::ClaudeCode => &claude::LAYOUT,
            Self::OpenaiCodex => &codex::LAYOUT,
            Self::GoogleGemini => &gemini::LAYOUT,
            Self::Plain => &plain::LAYOUT,
        }
    }
}
