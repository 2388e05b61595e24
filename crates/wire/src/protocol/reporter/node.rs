//! The walk over messages and parts, which requests and answers share.

use super::{Reporter, Side};
use crate::base64;
use crate::conversation::{Content, Media, MediaKind, Message, Part, Source, ToolResult};
use crate::loss::LossKind;
use crate::place::Place;
use crate::protocol::semantics::{Extra, Extras, Logprobs, NodeSemantics};
use crate::protocol::words::in_words;
use crate::protocol::{ArtefactKind, CacheMarker, Citation, Field};

impl Reporter<'_> {
    pub(super) fn message(&mut self, message: &Message<'_>) {
        self.turn_to(message.semantics().place());
        if self.is_same() {
            return;
        }
        self.set_if(message.semantics().place(), Field::MessageName, &message.name);
        self.semantics(message.semantics());
        message.parts.iter().for_each(|part| self.part(part));
    }

    fn part(&mut self, part: &Part<'_>) {
        let place = part.semantics().place();
        match part.content() {
            Content::ToolCall(_) => self.call_semantics(part.semantics()),
            _ => self.semantics(part.semantics()),
        }
        match part.content() {
            Content::Text(_) => self.set(place, Field::Text),
            Content::Media(media) => self.media(place, media),
            Content::ToolCall(call) => {
                self.set(place, Field::ToolCall);
                self.set_if(place, Field::CallId, &call.id);
            }
            Content::ToolResult(result) => self.result(place, result),
            Content::Reasoning(_) => self.set(place, Field::Reasoning),
            Content::Refusal(_) => self.set(place, Field::Refusal),
            Content::Opaque(opaque) if opaque.protocol == self.target => {}
            Content::Opaque(_) => self.set(place, Field::Opaque),
        }
    }

    fn media(&mut self, place: Place, media: &Media<'_>) {
        let Media { kind, source, detail, name } = media;
        self.set(place, media_field(*kind));
        self.set_if(place, Field::MediaDetail, detail);
        self.set_if(place, Field::MediaName, name);
        match source {
            Source::File { mime: _, id: _ } => self.set(place, Field::MediaFile),
            Source::Url { mime, url: _ } => {
                self.set(place, Field::MediaUrl);
                if let (Some(pointer), Some(_)) = (self.source.conventions().url_mime_type, mime) {
                    let reason = "the MIME type is taken from the response to the URL";
                    self.below(place, pointer, LossKind::Implied, reason);
                }
            }
            Source::Base64 { mime: _, data: _ } | Source::Text { mime: _, text: _ } => {}
        }
    }

    fn result(&mut self, place: Place, result: &ToolResult<'_>) {
        let ToolResult { call_id, name, output, is_error, form: _ } = result;
        self.set(place, Field::ToolResult);
        self.set_if(place, Field::ResultCallId, call_id);
        self.set_if(place, Field::ResultName, name);
        self.set_if(place, Field::ResultIsError, is_error);
        output.parts().iter().for_each(|part| self.result_part(part));
    }

    /// Reports a part of a result. What other protocols have no block for is written as its words there.
    fn result_part(&mut self, part: &Part<'_>) {
        match part.content() {
            Content::Media(media) if self.puts_into_words(part) => {
                self.semantics(part.semantics());
                self.set(part.semantics().place(), media_field(media.kind));
            }
            Content::Opaque(_) if in_words(part).is_some() => {
                self.approximated(part, "only its text is sent");
            }
            _ => self.part(part),
        }
    }

    /// Whether a document of a result becomes text, with its name before it.
    fn puts_into_words(&self, part: &Part<'_>) -> bool {
        !self.target.conventions().has_result_documents && in_words(part).is_some()
    }

    /// The place of the item that a node stands in; in protocols without items the node's own.
    pub(in super::super) fn outer(&self, place: Place) -> Place {
        if self.source_of(place).conventions().has_items { place.of_item() } else { place }
    }

    /// Reports all that the target never carries of a node's semantics.
    #[inline]
    pub(in super::super) fn semantics(&mut self, semantics: &NodeSemantics<'_>) {
        if semantics.has_detail() || semantics.spelling().is_notable() {
            self.detail(semantics);
        }
    }

    /// The same for a call, which may have a field for the signatures of another vendor's models: the encoder says whether
    /// the server may see them.
    pub(in super::super) fn call_semantics(&mut self, semantics: &NodeSemantics<'_>) {
        let artefact = semantics.artefact();
        if !artefact.is_some_and(|artefact| artefact.is_shown_on_calls_of(self.target)) {
            return self.semantics(semantics);
        }
        let mut rest = semantics.clone();
        rest.take_artefact();
        self.semantics(&rest);
    }

    fn detail(&mut self, semantics: &NodeSemantics<'_>) {
        let place = semantics.place();
        self.respell(place, semantics.spelling());
        if let Some(extras) = semantics.extras() {
            self.extras(place, extras);
        }
        self.cache_marker(place, semantics);
        if let Some(artefact) = semantics.artefact() {
            let field = match artefact.kind() {
                ArtefactKind::Signature => Field::Signature,
                ArtefactKind::Ciphertext => Field::Ciphertext,
            };
            self.set(semantics.sealed_at(), field);
        }
        if let Some((kind, reason)) = self.target.fate(Field::Citations).loss() {
            self.citations(semantics, kind, reason);
        }
        if let Some(logprobs) = semantics.logprobs() {
            self.logprobs(place, logprobs);
        }
        if let Some(item) = semantics.item() {
            self.set_if(place.of_item(), Field::ItemId, &item.id);
            self.set_if(semantics.status_at().of_item(), Field::ItemStatus, &item.status);
            self.set_if(semantics.phase_at().of_item(), Field::ItemPhase, &item.phase);
            self.extras(place.of_item(), &item.extras);
        }
        if let Some(reason) = semantics.spelling().repair() {
            self.repaired(semantics, reason);
        }
    }

    /// Reports what happened to the citations of a part, where the first of them stands.
    pub(in super::super) fn citations(
        &mut self,
        semantics: &NodeSemantics<'_>,
        kind: LossKind,
        reason: &'static str,
    ) {
        if let Some(first) = semantics.citations().first() {
            self.citation(semantics.place(), first, (kind, reason));
        }
    }

    /// The same for one citation of the part at `place`.
    pub(in super::super) fn citation(
        &mut self,
        place: Place,
        citation: &Citation<'_>,
        (kind, reason): (LossKind, &'static str),
    ) {
        match citation.place() {
            Some(place) => self.lose(place, kind, reason),
            None => self.lose((place, Field::Citations), kind, reason),
        }
    }

    /// Reports what happened to log probabilities of the part at `place`.
    pub(in super::super) fn weights(
        &mut self,
        place: Place,
        logprobs: &Logprobs<'_>,
        (kind, reason): (LossKind, &'static str),
    ) {
        match logprobs.place() {
            Some(place) => self.lose(place, kind, reason),
            None => self.lose((place, Field::PartLogprobs), kind, reason),
        }
    }

    /// Reports what the target, or its form of them, does not carry of log probabilities.
    pub(in super::super) fn logprobs(&mut self, place: Place, logprobs: &Logprobs<'_>) {
        match self.target.fate(Field::PartLogprobs).loss() {
            Some(loss) => self.weights(place, logprobs, loss),
            None if logprobs.is_partial() => {
                let reason = "no other protocol has token ids or sums of log probabilities";
                self.weights(place, logprobs, (LossKind::Approximated, reason));
            }
            None => {}
        }
    }

    /// Marks are for requests; an answer that has one cannot hand it on.
    fn cache_marker(&mut self, place: Place, semantics: &NodeSemantics<'_>) {
        let Some(marker) = semantics.cache() else { return };
        match (self.target.fate(Field::CacheMarker).loss(), self.side) {
            (Some((kind, reason)), _) => self.marker(place, marker, kind, reason),
            (None, Side::Answer) => {
                let reason = "no other protocol has cache markers in answers";
                self.marker(place, marker, LossKind::Dropped, reason);
            }
            (None, Side::Request) => {}
        }
    }

    /// Reports what happened to the cache marker of the node at `place`, under the name that it has there.
    pub(in super::super) fn marker(
        &mut self,
        place: Place,
        marker: &CacheMarker<'_>,
        kind: LossKind,
        reason: &'static str,
    ) {
        self.below(place, &format!("/{}", marker.key), kind, reason);
    }

    /// Reports the cache marker of a node that cannot have one.
    pub(in super::super) fn unmarked(
        &mut self,
        semantics: &NodeSemantics<'_>,
        reason: &'static str,
    ) {
        if let Some(marker) = semantics.cache() {
            self.marker(semantics.place(), marker, LossKind::Dropped, reason);
        }
    }

    /// Reports a document without words, which is left out. Of an empty one without a title only the notes are lost.
    /// Fixture `request/media/document-of-white-space-beside-text`.
    pub(in super::super) fn wordless(&mut self, part: &Part<'_>, media: &Media<'_>) {
        let is_empty = matches!(&media.source, Source::Text { mime: _, text } if text.is_empty());
        if !is_empty || media.name.is_some() {
            self.repaired(part, "a document without words is left out");
        }
        self.empty_text(part.semantics());
    }

    /// Whether data of another protocol is no base64, which is reported: one such file, and the whole request is refused.
    /// Fixture `request/media/data-that-is-no-base64`.
    pub(in super::super) fn is_unreadable(&mut self, place: Place, media: &Media<'_>) -> bool {
        let Source::Base64 { mime: _, data } = &media.source else { return false };
        let is_unreadable = !self.is_same() && !base64::is_likely(&data.to_str());
        if is_unreadable {
            self.dropped(place, "the data is no base64, and no provider takes it");
        }
        is_unreadable
    }

    /// Reports the notes on an empty text or document, which goes with it where that is left out.
    pub(in super::super) fn empty_text(&mut self, semantics: &NodeSemantics<'_>) {
        let reason = "an empty text or document is left out";
        self.unmarked(semantics, reason);
        self.citations(semantics, LossKind::Dropped, reason);
        if semantics.logprobs().is_some() {
            self.dropped((semantics, Field::PartLogprobs), reason);
        }
    }

    /// Reports undeclared fields, which no other protocol can carry; those that say nothing are no loss.
    pub(in super::super) fn extras(&mut self, place: Place, extras: &Extras<'_>) {
        if !self.is_same() {
            self.lose_extras(place, extras.iter(), "the target protocol has no such field");
        }
    }

    /// The same for some of them, and why those are lost that no table declares.
    pub(super) fn lose_extras<'e, 'a: 'e>(
        &mut self,
        place: Place,
        extras: impl Iterator<Item = &'e Extra<'a>>,
        unknown: &'static str,
    ) {
        for extra in extras.filter(|extra| !extra.is_void()) {
            let suffix = extra.pointer();
            let declared = self.source.declared(suffix.trim_start_matches('/'));
            let (kind, reason) = match declared {
                None => (LossKind::Dropped, unknown),
                // What says nothing of the conversation is in the table alone.
                Some(declared) if declared.kind == LossKind::Implied => continue,
                Some(declared) => (declared.kind, declared.reason),
            };
            let place = extra.place(place);
            let suffix = (self.source.conventions().extra_pointer)(place, extra, &suffix);
            self.report.lose(self.pointer_below(place, suffix), kind, reason);
        }
    }
}

/// The field that media of a kind are.
pub(super) fn media_field(kind: MediaKind) -> Field {
    match kind {
        MediaKind::Image => Field::Image,
        MediaKind::Audio => Field::Audio,
        MediaKind::Video => Field::Video,
        MediaKind::Document => Field::Document,
    }
}
