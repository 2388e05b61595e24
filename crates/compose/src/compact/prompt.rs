//! What a model is asked that writes a summary, and the summary as a message.

use std::fmt;

use sabir_wire::conversation::{Content, Message, Part, Request, Response, Role};

use super::Plan;
use super::transcript::{Entry, pieces, transcript};

/// What is asked of the model unless the caller has a prompt of its own.
pub const PROMPT: &str = include_str!("prompt.md");

/// What is asked to have the covered messages summarised, by a model that reads `bytes_max` at once.
pub fn questions(messages: &[Message<'_>], plan: &Plan, bytes_max: usize) -> Questions {
    let covered = plan.covered();
    let entries = transcript(&messages[covered.clone()]);
    Questions { pieces: pieces(&entries, bytes_max), entries, bytes_max, messages: covered.len() }
}

/// What is asked to have a stretch of a conversation summarised: one piece after the other, as far as a model can read them
/// at once, each with the summary of all before it.
#[derive(Clone)]
pub struct Questions {
    entries: Vec<Entry>,
    pieces: Vec<String>,
    bytes_max: usize,
    messages: usize,
}

impl Questions {
    /// How many calls the summary takes.
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// What the model is taken to read at once.
    pub fn bytes_max(&self) -> usize {
        self.bytes_max
    }

    /// The same for a model that reads another amount at once.
    pub fn within(&self, bytes_max: usize) -> Self {
        let pieces = pieces(&self.entries, bytes_max);
        Self { entries: self.entries.clone(), pieces, bytes_max, messages: self.messages }
    }

    /// How many messages the summary will stand for beside those of an earlier one.
    pub fn messages(&self) -> usize {
        self.messages
    }

    /// The request for piece `index`. `earlier` is the summary of what stands before it, if there is one.
    pub fn request(
        &self,
        index: usize,
        prompt: &str,
        earlier: Option<&str>,
    ) -> Option<Request<'static>> {
        let piece = self.pieces.get(index)?;
        let mut text = String::with_capacity(piece.len() + earlier.map_or(0, str::len) + 128);
        if let Some(earlier) = earlier {
            text.push_str("<earlier_summary>\n");
            text.push_str(earlier.trim());
            text.push_str("\n</earlier_summary>\n\n");
        }
        text.push_str("<conversation>\n");
        text.push_str(piece);
        text.push_str("</conversation>\n\nWrite the summary now.");
        Some(Request {
            messages: vec![
                Message::new(Role::System, vec![Part::text(prompt.to_owned())]),
                Message::new(Role::User, vec![Part::text(text)]),
            ],
            ..Request::default()
        })
    }
}

/// Content is nobody's business but the model's.
impl fmt::Debug for Questions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Questions({} pieces, {} messages)", self.pieces.len(), self.messages)
    }
}

/// The summary in a model's answer; none if it is empty.
pub fn summary_in(response: &Response<'_>) -> Option<String> {
    let parts = response.candidates.first()?.message.parts.iter();
    let texts = parts.filter_map(|part| match part.content() {
        Content::Text(text) => Some(text.to_str()),
        _ => None,
    });
    let text = texts.collect::<Vec<_>>().join("");
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// The text that stands in a conversation for `messages` that were summarised.
///
/// ```
/// let text = sabir_compose::compact::summary_text(4, "They greeted each other.");
/// assert_eq!(text, "[Previous conversation summary (4 messages compressed)]\n\nThey greeted each other.");
/// ```
pub fn summary_text(messages: usize, summary: &str) -> String {
    format!("[Previous conversation summary ({messages} messages compressed)]\n\n{summary}")
}
