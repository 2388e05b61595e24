//! Writing the turns of a conversation.

use smallvec::{SmallVec, smallvec};

use super::blocks::{Block, write_own, write_reasoning};
use super::tools::ALIAS;
use super::turns::admits;
use super::{Encoding, media};
use crate::conversation::{CallForm, Content, Part, ResultOutput, ToolCall, ToolResult};
use crate::json::{Text, Writer};
use crate::loss::LossKind;
use crate::place::Place;
use crate::protocol::anthropic_messages::types::SELF;
use crate::protocol::calls::{Position, REDIRECTED};
use crate::protocol::object::Object;
use crate::protocol::semantics::NodeSemantics;
use crate::protocol::turns::{Piece, Side, Spelling, Turns, marked};
use crate::protocol::{Field, arguments, placeholder};
use crate::roles::{ProviderType, wire_role};

impl<'r> Encoding<'r, '_> {
    pub(super) fn write_system(&mut self, body: &mut Object<'_, '_>, turns: &Turns<'r>) {
        let instruction = self.instruction();
        if instruction.is_some() {
            let slot = self.reporter.source().system_pointer();
            let reason = "requested in the system prompt, as there is no setting for it";
            self.reporter.below(Place::default(), &slot, LossKind::Synthesised, reason);
        }
        match (&*turns.system, instruction) {
            ([], None) => {}
            (pieces, None) => self.write_content(body.key("system"), pieces),
            (pieces, Some(text)) => body.key("system").array(|list| {
                pieces.iter().for_each(|piece| self.write_piece(list, piece));
                let is_cached = self.caching.is_in_blocks();
                let block = if is_cached { Block::Cached } else { Block::Foreign };
                block.text(list, &text);
            }),
        }
        self.reporter.turn_home();
    }

    pub(super) fn write_turns(&mut self, body: &mut Object<'_, '_>, turns: &Turns<'r>) {
        body.key("messages").array(|list| {
            for turn in &turns.turns {
                let extras = turn.semantics.and_then(NodeSemantics::extras);
                let mut object = Object::open(list, extras.map(|extras| (extras, "")));
                object
                    .word_unless_kept("role", wire_role(turn.side.role(), ProviderType::Anthropic));
                self.write_content(object.key("content"), turns.pieces_of(turn));
                object.close();
            }
        });
        self.reporter.turn_home();
    }

    /// Writes a text that stands alone as a string, all else as a list of blocks. What came as a list stays one, and what
    /// may be marked is one: a mark that comes or goes must leave the rest as it was.
    fn write_content(&mut self, writer: &mut Writer, pieces: &[Piece<'r>]) {
        if let [piece] = pieces
            && let Some(text) = text_of(piece)
            && piece.part.semantics().cache().is_none()
            && !self.caching.is_in_blocks()
            && !cites(piece)
            && !(self.is_own() && piece.part.semantics().place().is_element())
        {
            return writer.value(&text);
        }
        writer.array(|list| pieces.iter().for_each(|piece| self.write_piece(list, piece)));
    }

    fn write_piece(&mut self, list: &mut Writer, piece: &Piece<'r>) {
        self.reporter.turn_to(piece.part.semantics().place());
        let block = self.block(piece);
        if self.is_own() {
            return write_own(list, piece.part, block, Text::reborrow);
        }
        if let Some(text) = text_of(piece) {
            return block.text(list, &text);
        }
        match piece.part.content() {
            Content::Media(file) if self.reporter.is_same() => {
                media::write_own(list, file, piece.part.semantics());
            }
            Content::Media(file) => media::write(list, file, block),
            Content::ToolCall(call) => self.write_call(list, piece, call, block),
            Content::ToolResult(result) => self.write_result(list, piece, result, block),
            Content::Reasoning(reasoning) => {
                write_reasoning(list, reasoning, piece.part.semantics(), Block::Foreign);
            }
            // What only another vendor can say is never admitted.
            Content::Opaque(opaque) => list.value(&opaque.json),
            // These are written above.
            Content::Text(_) | Content::Refusal(_) => {}
        }
    }

    fn block(&mut self, piece: &Piece<'r>) -> Block<'r> {
        let semantics = piece.part.semantics();
        match (self.reporter.is_same(), piece.spelling) {
            (true, Spelling::Uncited) => Block::Uncited(semantics),
            (true, _) => Block::Own(semantics),
            (false, _) if self.caching.marks(piece.part) => Block::Cached,
            (false, _) => self.marked_block(semantics),
        }
    }

    /// A block with the cache mark of its part, if that is among the last four; the others are reported.
    fn marked_block(&mut self, semantics: &NodeSemantics<'_>) -> Block<'r> {
        let Some(marker) = semantics.cache() else { return Block::Foreign };
        let place = semantics.place();
        if self.marks_to_skip > 0 {
            self.marks_to_skip -= 1;
            let reason = "Messages takes four cache markers; the last four are kept";
            self.reporter.marker(place, marker, LossKind::Dropped, reason);
            return Block::Foreign;
        }
        if marker.ttl.is_some() {
            let reason = "cache lifetimes differ between vendors";
            self.reporter.marker(place, marker, LossKind::Approximated, reason);
        }
        Block::Cached
    }

    fn write_call(
        &mut self,
        list: &mut Writer,
        piece: &Piece<'r>,
        call: &'r ToolCall<'r>,
        block: Block<'_>,
    ) {
        let name = self.calls.name(&call.name);
        if self.calls.renames(&call.name) {
            self.reporter.renamed((piece.part, Field::CallName), ALIAS);
        }
        let id = self.calls.call_id(piece.at, call);
        let id = self.id(piece, id, call.id.as_ref(), Field::CallId);
        if call.form == CallForm::Custom {
            self.reporter
                .renamed(piece.part, "free text is sent as the only argument of a function");
        }
        if let Some((kind, reason)) = block.tool_use(list, (Some(&id), &name), call) {
            self.reporter.lose((piece.part, Field::CallArguments), kind, reason);
        }
    }

    /// The id to write for a call or a result, with what it changes reported.
    fn id<'t>(
        &mut self,
        piece: &Piece<'_>,
        id: Text<'t>,
        own: Option<&Text<'_>>,
        field: Field,
    ) -> Text<'t> {
        let other = self.fresh_ids.get(&piece.at);
        let loss = match own {
            None => Some((LossKind::Synthesised, "Messages pairs results with calls by id")),
            Some(_) if other.is_some() => Some((LossKind::Repaired, "two calls have one id")),
            Some(_) if self.calls.is_redirected(piece.at) => Some((LossKind::Repaired, REDIRECTED)),
            Some(_) => None,
        };
        if let Some((kind, reason)) = loss {
            self.reporter.lose((piece.part, field), kind, reason);
        }
        other.map_or(id, |other| Text::plain(other.clone()))
    }

    fn write_result(
        &mut self,
        list: &mut Writer,
        piece: &Piece<'r>,
        result: &'r ToolResult<'r>,
        block: Block<'_>,
    ) {
        let (id, place) = (self.calls.result_id(piece.at, result), piece.part.semantics().place());
        if id.is_empty() {
            let reason = "there is no call that this result answers";
            self.reporter.dropped((place, Field::ResultName), reason);
        }
        let id = self.id(piece, id, result.call_id.as_ref(), Field::ResultCallId);
        if result.name.is_some() && !self.calls.is_answer(piece.at, result) {
            let reason = "only the call names the tool, and there is no such call";
            self.reporter.dropped((place, Field::ResultName), reason);
        }
        if result.form == CallForm::Custom {
            self.reporter.renamed(place, "the result of a function");
        }
        let (text, has_failed) = self.result_text(place, &result.output);
        let is_error = result.is_error.unwrap_or(false) || has_failed;
        let (text, pieces) = match self.blank_text(result.output.parts()) {
            Some(blank) => (Some(blank), SmallVec::new()),
            None => (text, self.inner(piece.at, result.output.parts())),
        };
        block.tool_result(list, Some(&id), is_error, |object| match (text, &*pieces) {
            (None, []) => {}
            (Some(text), []) => object.field("content", &text),
            (None, pieces) => self.write_content(object.key("content"), pieces),
            (Some(text), pieces) => object.key("content").array(|list| {
                Block::Foreign.text(list, &text);
                pieces.iter().for_each(|piece| self.write_piece(list, piece));
            }),
        });
    }

    /// The text of a result that is white space with a cache marker: it may stand there, but in no block that has room for the marker.
    /// Fixture `request/cache/marker-on-a-blank-result`.
    fn blank_text(&mut self, parts: &'r [Part<'r>]) -> Option<Text<'r>> {
        let [part] = parts else { return None };
        let (Content::Text(text), Some(marker)) = (part.content(), part.semantics().cache()) else {
            return None;
        };
        if !text.is_blank() || text.is_empty() || self.reporter.is_same() {
            return None;
        }
        let reason = "Messages refuses blocks of whitespace alone, and only blocks have markers";
        self.reporter.marker(part.semantics().place(), marker, LossKind::Dropped, reason);
        Some(text.reborrow())
    }

    /// The parts of a result that can stand there.
    fn inner(&mut self, at: Position, parts: &'r [Part<'r>]) -> SmallVec<[Piece<'r>; 1]> {
        let piece = |part| Piece { at, part, spelling: Spelling::Plain };
        match parts {
            // A result that is one text and nothing else may be an empty one.
            [part] if is_bare_text(part) => smallvec![piece(part)],
            parts => {
                let mut admits =
                    |part: &&Part<'_>| admits(part, Side::User, self.target, &mut self.reporter);
                parts.iter().filter(|part| admits(part)).map(piece).collect()
            }
        }
    }

    /// What the object of a result says, the text that it wraps or else its JSON, and whether that is an error.
    fn result_text<'t>(
        &mut self,
        place: Place,
        output: &'t ResultOutput<'_>,
    ) -> (Option<Text<'t>>, bool) {
        let ResultOutput::Object { response, parts: _ } = output else { return (None, false) };
        let (text, is_error, kind) = match arguments::sole_member(response) {
            Some((key, text)) if key == "output" => (text, false, None),
            Some((key, text)) if key == "error" => (text, true, None),
            Some((key, text)) if key == "result" || key == "content" => {
                (text, false, Some("the text that the object wraps"))
            }
            _ => (response.to_text(), false, Some("an object as its JSON")),
        };
        if let Some(reason) = kind {
            self.reporter.renamed((place, Field::ResultOutput), reason);
        }
        (Some(text), is_error)
    }
}

fn is_bare_text(part: &Part<'_>) -> bool {
    matches!(part.content(), Content::Text(_)) && part.semantics().cache().is_none()
}

/// Whether a text is written with its sources.
fn cites(piece: &Piece<'_>) -> bool {
    let citations = piece.part.semantics().citations();
    citations.iter().any(|citation| citation.protocol() == SELF)
}

/// The text of a piece as it is spelled; none if it is no text.
fn text_of<'p>(piece: &Piece<'p>) -> Option<Text<'p>> {
    if piece.spelling == Spelling::Omitted {
        return Some(Text::literal(placeholder::words(piece.part)));
    }
    let (Content::Text(text) | Content::Refusal(text)) = piece.part.content() else { return None };
    Some(match piece.spelling {
        Spelling::Marked => marked(text),
        Spelling::Trimmed => Text::plain(text.to_str().trim_end().to_owned()),
        _ => text.reborrow(),
    })
}
