//! What comes of assembling: a prompt with an account of what was cut, or the refusal to cut what must stay.

use std::fmt;

use super::Warning;

/// How many bytes Linux takes in one argument of a command; one more, and the command does not start.
pub const FLAG_BYTES_MAX: usize = 128 * 1024 - 1;

/// An assembled prompt.
#[derive(Clone, PartialEq, Eq)]
pub struct Output {
    /// What goes to the agent's standard input.
    pub prompt: String,
    /// The instructions, where the agent takes them as an argument.
    pub system_flag: Option<String>,
    pub trimmed: Trimmed,
}

/// What the budget cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trimmed {
    /// How many messages of the context were left out; they are the oldest.
    pub context_messages: usize,
    /// How many bytes were cut from the end of the task.
    pub task_bytes: usize,
}

/// The parts that are never cut do not fit the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overflow {
    pub needed_bytes: usize,
    pub allowed_bytes: usize,
}

impl Output {
    /// What counts against the budget.
    pub fn bytes(&self) -> usize {
        self.prompt.len() + self.system_flag.as_ref().map_or(0, String::len)
    }

    /// Whether the flag is too long to be an argument.
    pub fn warning(&self) -> Option<Warning> {
        let bytes = self.system_flag.as_ref()?.len();
        (bytes > FLAG_BYTES_MAX).then_some(Warning::FlagTooLong { bytes })
    }
}

impl Trimmed {
    /// Whether all of the input is in the output.
    pub fn is_nothing(self) -> bool {
        self == Self::default()
    }
}

/// Says how much there is, never what.
impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Output")
            .field("prompt", &self.prompt.len())
            .field("system_flag", &self.system_flag.as_ref().map(String::len))
            .field("trimmed", &self.trimmed)
            .finish()
    }
}

impl fmt::Display for Overflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { needed_bytes, allowed_bytes } = self;
        write!(
            f,
            "instructions and team task need {needed_bytes} bytes, {allowed_bytes} are allowed"
        )
    }
}

impl std::error::Error for Overflow {}
