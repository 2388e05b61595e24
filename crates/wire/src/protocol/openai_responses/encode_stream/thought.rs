//! Writing thinking, piece by piece.

use crate::conversation::{Content, Reasoning, ReasoningForm};
use crate::json::Text;
use crate::protocol::openai_responses::encode_request::item::write_piece;
use crate::protocol::openai_responses::encode_stream::item::{Names, TEXT};
use crate::protocol::openai_responses::encode_stream::{Encoder, ItemPart};

const SUMMARY: Names = Names {
    added: "response.reasoning_summary_part.added",
    delta: "response.reasoning_summary_text.delta",
    done: "response.reasoning_summary_text.done",
    part_done: "response.reasoning_summary_part.done",
    index: "summary_index",
    key: "text",
};
const THOUGHT: Names =
    Names { delta: "response.reasoning_text.delta", done: "response.reasoning_text.done", ..TEXT };

impl Encoder<'_> {
    /// The thinking of a part and the names of its events: another vendor's is shown as a summary.
    fn thought(
        &mut self,
        (item, at): ItemPart,
    ) -> Option<(&'static Names, &mut Reasoning<'static>)> {
        let is_same = self.is_same();
        let Content::Reasoning(thought) = self.items[item].parts[at].content_mut() else {
            return None;
        };
        let is_raw = is_same && thought.form == ReasoningForm::Raw;
        Some((if is_raw { &THOUGHT } else { &SUMMARY }, thought))
    }

    pub(super) fn think(&mut self, (item, at): ItemPart, text: &Text<'_>) {
        if self.thought((item, at)).is_some_and(|(_, thought)| thought.texts.is_empty()) {
            self.next_piece((item, at));
        }
        let Some((names, thought)) = self.thought((item, at)) else { return };
        let piece = thought.texts.len().saturating_sub(1);
        if let Some(last) = thought.texts.last_mut() {
            last.push(text);
        }
        let position = (item, Some((names.index, piece)));
        self.item_frame(names.delta, position, |writer| writer.field("delta", text));
    }

    pub(super) fn next_piece(&mut self, (item, at): ItemPart) {
        self.end_piece((item, at));
        let Some((names, thought)) = self.thought((item, at)) else { return };
        thought.texts.push(Text::default());
        let piece = thought.texts.len() - 1;
        self.piece_frame((item, piece), (names, names.added), &Text::default());
    }

    /// Emits that the current piece is complete.
    pub(super) fn end_piece(&mut self, (item, at): ItemPart) {
        let Some((names, thought)) = self.thought((item, at)) else { return };
        let Some(text) = thought.texts.last().cloned() else { return };
        let piece = thought.texts.len() - 1;
        let position = (item, Some((names.index, piece)));
        self.item_frame(names.done, position, |writer| writer.field(names.key, &text));
        self.piece_frame((item, piece), (names, names.part_done), &text);
    }

    /// Emits that a piece begins or is complete.
    fn piece_frame(
        &mut self,
        (item, piece): (usize, usize),
        (names, kind): (&Names, &str),
        text: &Text<'_>,
    ) {
        let is_summary = names.index == SUMMARY.index;
        let word = if is_summary { "summary_text" } else { "reasoning_text" };
        self.item_frame(kind, (item, Some((names.index, piece))), |writer| {
            writer.key("part");
            write_piece(writer, word, text);
        });
    }
}
