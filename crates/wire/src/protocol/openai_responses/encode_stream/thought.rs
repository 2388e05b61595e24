//! Writing thinking, piece by piece.

use crate::conversation::Content;
use crate::conversation::Reasoning;
use crate::conversation::ReasoningForm;
use crate::json::Text;
use crate::protocol::openai_responses::encode_stream::Encoder;
use crate::protocol::openai_responses::encode_stream::item::Names;
use crate::protocol::openai_responses::item::write_piece;

const SUMMARY: Names = Names {
    delta: "response.reasoning_summary_text.delta",
    done: "response.reasoning_summary_text.done",
    index: "summary_index",
};
const THOUGHT: Names = Names {
    delta: "response.reasoning_text.delta",
    done: "response.reasoning_text.done",
    index: "content_index",
};

/// Whether a piece of thinking begins or is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PieceEvent {
    Added,
    Done,
}

impl Encoder<'_> {
    /// Another vendor's thinking is shown as a summary.
    fn thought_names(&self, thought: &Reasoning<'_>) -> &'static Names {
        match thought.form {
            ReasoningForm::Raw if self.is_same() => &THOUGHT,
            ReasoningForm::Raw | ReasoningForm::Summary | ReasoningForm::Redacted => &SUMMARY,
        }
    }

    pub(super) fn think(&mut self, (item, at): (usize, usize), text: &Text<'_>, out: &mut String) {
        let Content::Reasoning(thought) = self.items[item].parts[at].content() else { return };
        let names = self.thought_names(thought);
        if thought.texts.is_empty() {
            self.next_piece((item, at), out);
        }
        let Content::Reasoning(thought) = self.items[item].parts[at].content_mut() else { return };
        let piece = thought.texts.len().saturating_sub(1);
        if let Some(last) = thought.texts.last_mut() {
            last.push(text);
        }
        let position = (item, Some((names.index, piece)));
        self.item_frame(out, names.delta, position, |writer| writer.field("delta", text));
    }

    pub(super) fn next_piece(&mut self, (item, at): (usize, usize), out: &mut String) {
        self.end_piece((item, at), out);
        let Content::Reasoning(thought) = self.items[item].parts[at].content_mut() else { return };
        thought.texts.push(Text::default());
        let piece = thought.texts.len() - 1;
        self.piece_frame((item, at), (piece, &Text::default()), out, PieceEvent::Added);
    }

    /// Tells that the current piece is complete.
    pub(super) fn end_piece(&mut self, (item, at): (usize, usize), out: &mut String) {
        let Content::Reasoning(thought) = self.items[item].parts[at].content() else { return };
        let names = self.thought_names(thought);
        let Some(text) = thought.texts.last().cloned() else { return };
        let piece = thought.texts.len() - 1;
        let position = (item, Some((names.index, piece)));
        self.item_frame(out, names.done, position, |writer| writer.field("text", &text));
        self.piece_frame((item, at), (piece, &text), out, PieceEvent::Done);
    }

    fn piece_frame(
        &mut self,
        (item, at): (usize, usize),
        (piece, text): (usize, &Text<'_>),
        out: &mut String,
        event: PieceEvent,
    ) {
        let Content::Reasoning(thought) = self.items[item].parts[at].content() else { return };
        let names = self.thought_names(thought);
        let is_summary = names.index == SUMMARY.index;
        let kind = match (event, is_summary) {
            (PieceEvent::Added, true) => "response.reasoning_summary_part.added",
            (PieceEvent::Done, true) => "response.reasoning_summary_part.done",
            (PieceEvent::Added, false) => "response.content_part.added",
            (PieceEvent::Done, false) => "response.content_part.done",
        };
        let word = if is_summary { "summary_text" } else { "reasoning_text" };
        self.item_frame(out, kind, (item, Some((names.index, piece))), |writer| {
            writer.key("part");
            write_piece(writer, word, text);
        });
    }
}
