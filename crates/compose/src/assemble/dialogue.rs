//! From a dialogue of named participants to the input of an assembler: a window on what was said, without markers.

use std::borrow::Cow;
use std::fmt;

use super::marker::clean;
use super::text::trimmed;
use super::{BYTES_MAX_DEFAULT, ContextMessage, Input, Warning};

/// How many messages before the current one are shown where nothing else is said.
pub const WINDOW_DEFAULT: usize = 5;

/// How many bytes a team task may have.
pub const TEAM_TASK_BYTES_MAX: usize = 5 * 1024;

/// What participants said, and what one of them has to know to answer the last message.
#[derive(Clone)]
pub struct Dialogue<'a> {
    /// The oldest first; the last is the one to be answered.
    pub utterances: Vec<Utterance<'a>>,
    /// How many messages before the last are shown.
    pub window: usize,
    /// What all participants work on; without one the newest team task marker in the dialogue counts.
    pub team_task: Option<Cow<'a, str>>,
    pub system_instruction: Option<Cow<'a, str>>,
    pub instruction_file: Option<Cow<'a, str>>,
    pub bytes_max: usize,
}

/// One message of a dialogue, as it was said: markers included.
#[derive(Clone, Default)]
pub struct Utterance<'a> {
    pub id: Option<Cow<'a, str>>,
    pub from: Cow<'a, str>,
    /// To whom it was said; nobody is everybody.
    pub to: Vec<Cow<'a, str>>,
    pub content: Cow<'a, str>,
}

/// What came of a dialogue.
#[derive(Clone, Debug)]
pub struct Prepared<'a> {
    pub input: Input<'a>,
    /// How many messages are older than the window.
    pub left_out: usize,
    pub warnings: Vec<Warning>,
}

impl Default for Dialogue<'_> {
    fn default() -> Self {
        Self {
            utterances: Vec::new(),
            window: WINDOW_DEFAULT,
            team_task: None,
            system_instruction: None,
            instruction_file: None,
            bytes_max: BYTES_MAX_DEFAULT,
        }
    }
}

impl Dialogue<'_> {
    /// The input for whoever is to answer the last message.
    pub fn prepare(&self) -> Prepared<'_> {
        let (earlier, current) = self.earlier_and_current();
        let left_out = earlier.len().saturating_sub(self.window);
        let (team_task, warning) = self.team_task();
        let input = Input {
            context: earlier[left_out..].iter().map(Utterance::to_context).collect(),
            current_message: current.map_or(Cow::Borrowed(""), |it| clean(&it.content).text),
            team_task: team_task.map(Cow::Borrowed),
            system_instruction: self.system_instruction.as_deref().map(Cow::Borrowed),
            instruction_file: self.instruction_file.as_deref().map(Cow::Borrowed),
            bytes_max: self.bytes_max,
        };
        Prepared { input, left_out, warnings: warning.into_iter().collect() }
    }

    /// The last message, and those before it.
    ///
    /// A message that one participant hands on to the next may stand in the dialogue already; it is shown once.
    fn earlier_and_current(&self) -> (&[Utterance<'_>], Option<&Utterance<'_>>) {
        let Some((current, earlier)) = self.utterances.split_last() else { return (&[], None) };
        let earlier = match earlier.split_last() {
            Some((last, before)) if last.is_same(current) => before,
            _ => earlier,
        };
        (earlier, Some(current))
    }

    /// The team task, cut to what it may have.
    fn team_task(&self) -> (Option<&str>, Option<Warning>) {
        let given = self.team_task.as_deref().map(trimmed).filter(|text| !text.is_empty());
        let from_markers =
            || self.utterances.iter().rev().find_map(|it| clean(&it.content).team_task);
        let Some(text) = given.or_else(from_markers) else { return (None, None) };
        let kept = &text[..text.floor_char_boundary(TEAM_TASK_BYTES_MAX)];
        let cut = Warning::TeamTaskCut { bytes: text.len(), kept_bytes: kept.len() };
        (Some(kept), (kept.len() < text.len()).then_some(cut))
    }
}

impl<'a> Utterance<'a> {
    /// A message to everybody, without an id.
    pub fn new(from: impl Into<Cow<'a, str>>, content: impl Into<Cow<'a, str>>) -> Self {
        Self { from: from.into(), content: content.into(), ..Self::default() }
    }

    /// The same message, addressed to one more.
    pub fn addressed(mut self, to: impl Into<Cow<'a, str>>) -> Self {
        self.to.push(to.into());
        self
    }

    fn to_context(&self) -> ContextMessage<'_> {
        let to = match self.to.as_slice() {
            [] => None,
            [one] => Some(Cow::Borrowed(one.as_ref())),
            several => Some(Cow::Owned(several.join(", "))),
        };
        ContextMessage { from: Cow::Borrowed(&self.from), to, content: clean(&self.content).text }
    }

    /// Whether both are the same message: by their ids, else by who says what.
    fn is_same(&self, other: &Self) -> bool {
        match (&self.id, &other.id) {
            (Some(one), Some(two)) => one == two,
            _ => self.from == other.from && self.content == other.content,
        }
    }
}

/// Says how much there is, never what.
impl fmt::Debug for Dialogue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = |text: &Option<Cow<'_, str>>| text.as_ref().map(|text| text.len());
        f.debug_struct("Dialogue")
            .field("utterances", &self.utterances.len())
            .field("window", &self.window)
            .field("team_task", &bytes(&self.team_task))
            .field("system_instruction", &bytes(&self.system_instruction))
            .field("instruction_file", &bytes(&self.instruction_file))
            .field("bytes_max", &self.bytes_max)
            .finish()
    }
}

/// Says how much there is, never what.
impl fmt::Debug for Utterance<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Utterance({} bytes)", self.content.len())
    }
}
