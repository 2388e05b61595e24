//! Writing the pieces of a turn: what of them the vendor takes, and in which dress.

use std::borrow::Cow;

use crate::conversation::{
    Arguments, CallForm, Content, Media, MediaKind, Opaque, Part, ResultOutput, Source, ToolCall,
    ToolResult,
};
use crate::json::{Text, Writer};
use crate::loss::LossKind;
use crate::protocol::arguments::Change;
use crate::protocol::calls::REDIRECTED;
use crate::protocol::gemini::encode_response::{report_custom_call, report_refusal};
use crate::protocol::gemini::types::{FOREIGN_CALL_SIGNATURE, SELF};
use crate::protocol::turns::Piece;
use crate::protocol::words::{in_words, remnant};
use crate::protocol::{Field, media_type};
use crate::target::Vendor;

use super::Scribe;
use super::contents::written;
use super::part::{Pen, pieces_make_calls, resolution, write_part, written_arguments};
use super::result::{MediaPlace, is_media, is_reordered, texts_count, write_result};

impl<'x> Scribe<'x, '_> {
    /// Whether a part of another protocol's message can be sent; what cannot is reported.
    pub(super) fn admits(&mut self, part: &Part<'_>) -> bool {
        let place = part.semantics().place();
        let signed = part.semantics().artefact();
        self.reporter.turn_to(place);
        if self.is_same() && signed.is_none_or(|artefact| artefact.issuer() == SELF) {
            return true;
        }
        match part.content() {
            Content::Text(text) if part.is_blank() => {
                match text.is_empty() {
                    true => self.report_answer_semantics(part),
                    false => self.reporter.repaired(place, "the vendor refuses a blank text"),
                }
                false
            }
            Content::Reasoning(_) => {
                let issuer = signed.map(|artefact| artefact.issuer());
                let (kind, reason) = match issuer {
                    Some(SELF) => return true,
                    Some(_) => (LossKind::Withheld, "only its issuer can read it"),
                    None => (LossKind::Dropped, "thoughts without a signature are not sent back"),
                };
                self.reporter.lose(place, kind, reason);
                false
            }
            Content::Media(media) => self.admits_media(part, media, MediaPlace::Behind),
            Content::Opaque(opaque) => self.admits_opaque(part, opaque),
            Content::Refusal(_) => {
                report_refusal(&mut self.reporter, place);
                true
            }
            Content::Text(_) | Content::ToolCall(_) | Content::ToolResult(_) => {
                self.report_answer_semantics(part);
                true
            }
        }
    }

    /// Sources and log probabilities of an earlier answer have no place in a request.
    fn report_answer_semantics(&mut self, part: &Part<'_>) {
        let semantics = part.semantics();
        let stated = [
            (!semantics.citations().is_empty(), Field::Citations),
            (semantics.logprobs().is_some(), Field::PartLogprobs),
        ];
        for (_, field) in stated.into_iter().filter(|(is_stated, _)| *is_stated) {
            self.reporter.dropped((semantics, field), "metadata of an answer is not sent back");
        }
    }

    fn admits_opaque(&mut self, part: &Part<'_>, opaque: &Opaque<'_>) -> bool {
        if opaque.protocol == SELF {
            return true;
        }
        let has_words = in_words(part).is_some();
        let (kind, reason) = match &*opaque.kind.to_str() {
            _ if has_words => (LossKind::Approximated, "only its text is sent"),
            "compaction" | "redacted_thinking" => {
                (LossKind::Withheld, "only its issuer can read it")
            }
            _ => (LossKind::Dropped, "only its own protocol has it"),
        };
        self.reporter.lose(part, kind, reason);
        has_words
    }

    /// Reports what becomes of media; false if they cannot be sent.
    fn admits_media(&mut self, part: &Part<'_>, media: &Media<'_>, place: MediaPlace) -> bool {
        if self.reporter.is_unreadable(part.semantics().place(), media) {
            return false;
        }
        let inputs = self.target.family.inputs;
        let accepted = match media.kind {
            MediaKind::Image => inputs.image,
            MediaKind::Audio => inputs.audio,
            MediaKind::Video => inputs.video,
            MediaKind::Document => inputs.pdf || matches!(media.source, Source::Text { .. }),
        };
        let is_gif =
            media.source.mime().is_some_and(|mime| media_type::proper(mime) == "image/gif");
        let (is_sent, kind, reason) = match &media.source {
            Source::File { .. } => {
                (false, LossKind::Withheld, "no vendor can read a file that another holds")
            }
            _ if is_gif && self.target.family.vendor == Vendor::Google => {
                (false, LossKind::Dropped, "Gemini takes no GIF")
            }
            _ if !accepted => (false, LossKind::Dropped, "the model does not take such media"),
            Source::Url { .. } if !self.target.family.remote_files => {
                (false, LossKind::Dropped, "the model takes no URLs")
            }
            Source::Text { text, .. } if text.is_blank() => {
                self.reporter.wordless(part, media);
                return false;
            }
            Source::Text { .. } => {
                (true, LossKind::Approximated, "a plain-text document is sent as text")
            }
            Source::Url { mime: None, .. } | Source::Base64 { mime: None, .. } => {
                (true, LossKind::Synthesised, "the vendor wants a media type; this one is a guess")
            }
            Source::Url { .. } | Source::Base64 { .. } => {
                self.detail(part, media, place);
                return true;
            }
        };
        self.reporter.lose(part, kind, reason);
        if is_sent {
            self.detail(part, media, place);
        }
        is_sent
    }

    fn detail(&mut self, part: &Part<'_>, media: &Media<'_>, place: MediaPlace) {
        let Some(detail) = &media.detail else { return };
        // The parts inside a result have no field for it.
        let is_written = place == MediaPlace::Behind && self.target.family.media_resolution_by_part;
        let (kind, reason) = match resolution(detail) {
            Some(_) if is_written => (LossKind::Approximated, "sent as a media resolution"),
            Some(_) => (LossKind::Approximated, "the model takes no detail level per part"),
            None => (LossKind::Implied, "Gemini has no such detail level"),
        };
        self.reporter.lose((part, Field::MediaDetail), kind, reason);
    }

    /// Writes the pieces of a turn. The first call of a step must be signed: the vendor checks the current turn, and earlier
    /// ones stay as they were sent, for its prompt cache. What a client of this protocol says of its own calls is left alone.
    /// Fixture `request/tools/calls-from-elsewhere-towards-gemini-3`.
    pub(super) fn pieces(&mut self, writer: &mut Writer, pieces: &[Piece<'x>]) {
        let is_given = |part: &Part<'_>| !part.semantics().place().is_root();
        let mut unsigned = self.target.family.needs_thought_signature;
        let parts = pieces.iter().map(|piece| piece.part);
        let is_written = |name: &Text<'_>, written: &Text<'_>| self.tool_name(name) == *written;
        self.writes_pieces = pieces_make_calls(parts, is_written);
        let mut handed: Option<Text<'_>> = None;
        let mut behind: Vec<Part<'_>> = Vec::new();
        for (index, piece) in pieces.iter().enumerate() {
            self.reporter.turn_to(piece.part.semantics().place());
            let next = || pieces.get(index + 1).filter(|_| !self.is_same());
            match piece.part.content() {
                Content::ToolCall(call) => {
                    let mut signature = self.signature(piece.part).or(handed.take());
                    let may_sign = !(self.is_same() && is_given(piece.part));
                    if std::mem::take(&mut unsigned) && signature.is_none() && may_sign {
                        let reason = "the model wants a signature on calls that it did not make";
                        self.reporter.synthesised((piece.part, Field::Signature), reason);
                        signature = Some(Text::literal(FOREIGN_CALL_SIGNATURE));
                    }
                    self.call(writer, piece, call, signature);
                }
                Content::ToolResult(result) => {
                    behind.extend(self.result(writer, piece, result));
                }
                Content::Reasoning(thought)
                    if next().is_some_and(|it| takes_seal(&written(it))) =>
                {
                    handed = self.signature(piece.part);
                    if thought.texts.iter().any(|text| !text.is_empty()) {
                        write_part(writer, piece.part, &self.pen(None));
                    }
                }
                _ => {
                    let part = written(piece);
                    let signature = self.signature(&part).or(handed.take());
                    write_part(writer, &part, &self.pen(signature));
                }
            }
        }
        for part in behind {
            write_part(writer, &part, &self.pen(None));
        }
        self.reporter.turn_home();
    }

    fn pen<'t>(&self, signature: Option<Text<'t>>) -> Pen<'t> {
        let (same, pieces) = (self.is_same(), self.writes_pieces);
        let media_detail = self.target.family.media_resolution_by_part;
        Pen { same, pieces, media_detail, signature, ..Pen::default() }
    }

    /// The signature that this vendor issued for a part. A foreign one is withheld.
    fn signature<'t>(&mut self, part: &'t Part<'_>) -> Option<Text<'t>> {
        let artefact = part.semantics().artefact()?;
        if artefact.issuer() == SELF {
            return Some(artefact.data().reborrow());
        }
        let (place, reason) = (part.semantics().sealed_at(), "another vendor's signature");
        self.reporter.withheld((place, Field::Signature), reason);
        None
    }

    /// The id of a call or a result. Those of another protocol that have none get one: every result has a name here, and one
    /// of another call would be taken for theirs. Fixture `request/results/chat-repeated-result-before-a-call-without-id`.
    /// A result with the id of a later call answers one without an id. Fixture `request/ids/chat-result-with-the-id-of-a-later-call`.
    fn id<'t>(
        &mut self,
        piece: &Piece<'_>,
        (own, field): (Option<&'t Text<'_>>, Field),
    ) -> Option<Text<'t>>
    where
        'x: 't,
    {
        if !self.is_same() && !self.target.family.call_ids {
            return None;
        }
        let calls = self.calls.filter(|_| !self.is_same());
        let Some(id) = calls.and_then(|calls| calls.paired_id(piece.at)) else {
            return own.map(Text::reborrow);
        };
        match own {
            None => {
                self.reporter.synthesised((piece.part, field), "the client pairs by name alone");
            }
            Some(_) if calls.is_some_and(|calls| calls.is_redirected(piece.at)) => {
                self.reporter.repaired((piece.part, field), REDIRECTED);
            }
            Some(_) => {}
        }
        Some(id)
    }

    fn call(
        &mut self,
        writer: &mut Writer,
        piece: &Piece<'_>,
        call: &ToolCall<'_>,
        signature: Option<Text<'_>>,
    ) {
        let name = self.known_name(&call.name, (piece.part, Field::CallName));
        report_custom_call(&mut self.reporter, piece.part);
        let id = self.id(piece, (call.id.as_ref(), Field::CallId));
        let pen = Pen { name: Some(name), id, ..self.pen(signature) };
        let change = write_part(writer, piece.part, &pen).or_else(|| subtle_change(call));
        if let Some((kind, reason)) = change {
            self.reporter.lose((piece.part, Field::CallArguments), kind, reason);
        }
    }

    /// Writes a result; answers its media that stand behind the results.
    fn result<'p>(
        &mut self,
        writer: &mut Writer,
        piece: &Piece<'_>,
        result: &'p ToolResult<'p>,
    ) -> Vec<Part<'p>> {
        let part = piece.part;
        let signature = self.signature(part);
        let output = self.sendable(&result.output);
        let name = match self.is_same() {
            // In a request of another protocol its call may have another name.
            // Fixture `request/results/result-name-outside-the-alphabet`.
            true => {
                let own = result.name.as_ref();
                own.map(|name| self.known_name(name, (part, Field::ResultName)))
            }
            false => {
                let named = self.calls.and_then(|calls| calls.result_name(piece.at, result));
                if named.is_none() {
                    let reason = "no call with this id names the tool";
                    self.reporter.synthesised((part, Field::ResultName), reason);
                }
                named.or(Some(Text::literal(UNKNOWN_TOOL)))
            }
        };
        let id = self.id(piece, (result.call_id.as_ref(), Field::ResultCallId));
        let pen = Pen { name, id, ..self.pen(signature) };
        let place = self.media_place(&result.output);
        write_result(writer, part, (&output, result.is_error), &pen, place);
        self.report_result(part, result.form, &output);
        if place == MediaPlace::Inside {
            return Vec::new();
        }
        let parts = output.parts().iter().filter(|part| is_media(part));
        let behind: Vec<Part<'p>> = parts.cloned().collect();
        for part in &behind {
            self.reporter.approximated(part, "media of a result are sent after it");
        }
        behind
    }

    fn media_place(&self, output: &ResultOutput<'_>) -> MediaPlace {
        let own = matches!(output, ResultOutput::Object { .. });
        match own || self.is_same() || self.target.family.media_in_results {
            true => MediaPlace::Inside,
            false => MediaPlace::Behind,
        }
    }

    /// What a tool answered as it can be sent: documents in plain text and blocks of another vendor by their words, and what
    /// is left of media that the vendor does not take.
    fn sendable<'r>(&mut self, output: &'r ResultOutput<'r>) -> Cow<'r, ResultOutput<'r>> {
        let is_plain = |part: &Part<'_>| matches!(part.content(), Content::Text(_));
        let place = self.media_place(output);
        match output {
            ResultOutput::Parts(parts) if !parts.iter().all(is_plain) => {
                let sent = parts.iter().filter_map(|part| self.result_part(part, place));
                Cow::Owned(ResultOutput::Parts(sent.collect()))
            }
            _ => Cow::Borrowed(output),
        }
    }

    fn result_part<'r>(&mut self, part: &'r Part<'r>, place: MediaPlace) -> Option<Part<'r>> {
        match part.content() {
            Content::Media(media) if !self.admits_media(part, media, place) => remnant(part),
            Content::Media(media) if matches!(media.source, Source::Text { .. }) => in_words(part),
            Content::Opaque(opaque) if opaque.protocol != SELF => {
                self.admits_opaque(part, opaque);
                in_words(part)
            }
            _ => Some(part.clone()),
        }
    }

    fn report_result(&mut self, part: &Part<'_>, form: CallForm, output: &ResultOutput<'_>) {
        if form == CallForm::Custom {
            self.reporter.approximated(part, "the result of a tool that became a function");
        }
        if is_reordered(output) {
            let reason = "the text of a result comes before its media";
            self.reporter.renamed((part, Field::ResultOutput), reason);
        }
        if texts_count(output) > 1 {
            let reason = "several texts of a result become one";
            self.reporter.approximated((part, Field::ResultOutput), reason);
        }
    }
}

/// What happens to arguments without a visible change: nothing at all becomes an object, and the vendor's numbers are
/// doubles. The text that a custom tool is called with stays a text.
fn subtle_change(call: &ToolCall<'_>) -> Change {
    if call.form == CallForm::Custom {
        return None;
    }
    let text = match &call.arguments {
        Arguments::Text(text) if is_plain_object(&text.json_body()) => return None,
        Arguments::Json(json) if is_plain_object(json.as_str()) => return None,
        arguments => written_arguments(arguments),
    };
    if text.trim() == "null" || !text.is_empty() && text.trim().is_empty() {
        return Some((LossKind::Implied, "no arguments are an empty object"));
    }
    has_wide_integer(&text)
        .then_some((LossKind::Approximated, "the vendor reads whole numbers above 2^53 as doubles"))
}

/// Whether arguments, with or without their escapes, begin an object and hold no number that could be too wide.
fn is_plain_object(text: &str) -> bool {
    // So many digits in a row fill one of these pieces wherever they begin.
    let mut pieces = text.as_bytes().chunks_exact(WIDE_DIGITS / 2);
    let is_wide = |piece: &[u8]| piece.iter().all(u8::is_ascii_digit);
    text.starts_with('{') && !text.contains("\\u") && !pieces.any(is_wide)
}

/// Whether a whole number in the JSON needs more than the 53 bits of a double.
fn has_wide_integer(json: &str) -> bool {
    let outside_strings = json.split('"').step_by(2);
    let is_number = |character: char| matches!(character, '0'..='9' | '.' | 'e' | 'E' | '+' | '-');
    outside_strings
        .flat_map(|stretch| stretch.split(move |character| !is_number(character)))
        .filter(|number| number.len() >= WIDE_DIGITS)
        .filter_map(|number| number.parse::<i128>().ok())
        .any(|number| number.unsigned_abs() > 1 << 53)
}

/// The digits of the smallest whole number that is too wide.
const WIDE_DIGITS: usize = 16;

/// The name of a tool that nobody called.
const UNKNOWN_TOOL: &str = "unknown_tool";

/// Whether a part takes the signature of the thoughts before it: other protocols sign only thoughts.
/// Fixture `request/thinking/gemini-signatures-come-back-on-their-calls`.
pub(in super::super) fn takes_seal(part: &Part<'_>) -> bool {
    let is_unsigned = part.semantics().artefact().is_none();
    is_unsigned && matches!(part.content(), Content::ToolCall(_) | Content::Text(_))
}
