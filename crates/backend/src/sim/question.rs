//! What a request asks, in words that all four APIs share: enough to decide an answer, no more.

use serde_json::Value;

use super::tokens::Count;

/// A request, once it has been found to be valid.
#[derive(Debug)]
pub(super) struct Question {
    /// The simulated API, for people.
    pub(super) api: &'static str,
    pub(super) model: String,
    /// A hash of the request: what ids and seals are made from.
    pub(super) seed: u64,
    pub(super) history: Vec<HistoryItem>,
    pub(super) tools: Vec<Tool>,
    pub(super) choice: Choice,
    pub(super) may_call_several: bool,
    pub(super) thinking: Thinking,
    pub(super) format: Format,
    pub(super) output_tokens_max: Option<u64>,
    pub(super) stops: Vec<String>,
    pub(super) candidates: usize,
    pub(super) input: Count,
    /// The body itself, for what a single API echoes.
    pub(super) body: Value,
    pub(super) delivery: Delivery,
}

/// One thing that was said before, in order.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum HistoryItem {
    User(String),
    Result(String),
    Media(Media),
    /// A turn of the model, with how many tools it called.
    Model {
        calls: usize,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Media {
    Image,
    Audio,
    Video,
    File,
}

#[derive(Clone, Debug)]
pub(super) struct Tool {
    pub(super) name: String,
    /// The namespace that OpenAI Responses declares it in.
    pub(super) namespace: Option<String>,
    pub(super) input: ToolInput,
}

#[derive(Clone, Debug)]
pub(super) enum ToolInput {
    Schema(Value),
    /// A custom tool takes any text.
    Freeform,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Choice {
    Auto,
    Never,
    /// One of these must be called; all are meant when the list is empty.
    Must(Vec<String>),
    /// Only these may be called.
    Among(Vec<String>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Thinking {
    Off,
    /// It happens, and its text is not shown.
    Hidden,
    Shown,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Format {
    Text,
    Object,
    Schema(Value),
    /// One of these words and nothing else.
    Word(Vec<String>),
}

/// How the answer is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delivery {
    Whole,
    Events,
    /// Gemini's stream without `alt=sse`: one JSON array, element by element.
    Array,
}

impl Question {
    /// What was said since the model last ended a turn without calling tools: the task in hand.
    fn task(&self) -> &[HistoryItem] {
        let mut begin = 0;
        // How many tools the model has called in the turn that goes on.
        let mut called = None;
        for (index, history) in self.history.iter().enumerate() {
            match history {
                HistoryItem::Model { calls } => called = Some(called.unwrap_or(0) + calls),
                _ if called.take() == Some(0) => begin = index,
                _ => {}
            }
        }
        if called == Some(0) { &[] } else { &self.history[begin..] }
    }

    /// How many rounds of tool calls the task has seen. What the model says in a row is one.
    pub(super) fn rounds(&self) -> usize {
        let is_model = |it: &HistoryItem| matches!(it, HistoryItem::Model { .. });
        self.task()
            .chunk_by(|one, two| is_model(one) == is_model(two))
            .filter(|it| is_model(&it[0]))
            .count()
    }

    /// All user texts of the task.
    pub(super) fn instructions(&self) -> String {
        let texts = self.task().iter().filter_map(|it| match it {
            HistoryItem::User(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// The last text of the user.
    pub(super) fn item_of(&self) -> &str {
        let mut texts = self.history.iter().rev().filter_map(|it| match it {
            HistoryItem::User(text) => Some(text.as_str()),
            _ => None,
        });
        texts.next().unwrap_or_default()
    }

    /// The tool results that came after the model's last turn.
    pub(super) fn results(&self) -> Vec<&str> {
        let last = self.history.iter().rposition(|it| matches!(it, HistoryItem::Model { .. }));
        let since = &self.history[last.map_or(0, |index| index + 1)..];
        since
            .iter()
            .filter_map(|it| match it {
                HistoryItem::Result(text) => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }

    pub(super) fn media(&self, kind: Media) -> usize {
        self.history.iter().filter(|it| **it == HistoryItem::Media(kind)).count()
    }

    /// Whether the model has answered before.
    pub(super) fn is_continued(&self) -> bool {
        self.history.iter().any(|it| matches!(it, HistoryItem::Model { .. }))
    }

    /// The ids of this answer: a prefix and the request's hash.
    pub(super) fn id(&self, prefix: &str) -> String {
        format!("{prefix}{:016x}", self.seed)
    }
}
