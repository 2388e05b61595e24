//! An answer as it was received, until it is known how it ended.

use bytes::Bytes;
use sabir_wire::conversation::Response;
use sabir_wire::protocol::{AnswerContext, Delta, Event, Fold, StreamDecoder};
use sabir_wire::sse::Frame;
use sabir_wire::{Protocol, utf8};

use crate::{pool, surface};

/// Who answers, and how the answer reaches the client.
#[derive(Debug)]
pub(super) struct Answerer {
    pub(super) protocol: Protocol,
    pub(super) provider: String,
    pub(super) model: String,
    /// Whether it keeps nothing of what it answers.
    pub(super) is_agent: bool,
    /// How the answer is translated; none if its bytes pass.
    pub(super) asked: Option<Box<AnswerContext<'static>>>,
}

/// What has come of an answer.
#[derive(Default)]
pub(super) struct Received {
    /// The events of a stream, put together.
    fold: Option<Fold>,
    /// Reads the frames of a stream that passes.
    decoder: Option<StreamDecoder>,
    /// The whole answer, or the one that the last event of a stream repeats.
    body: Option<Bytes>,
    /// The whole answer as the client gets it, where it is translated and known.
    written: Option<Bytes>,
    /// About how much has come.
    bytes: usize,
}

/// An answer that has come to its end, or as far as it came.
#[derive(Debug)]
pub(super) enum ReceivedAnswer {
    /// In the provider's own words.
    Body(String),
    Folded(Box<Response<'static>>),
}

impl Received {
    /// Reads along a stream that passes as it is.
    pub(super) fn frame(&mut self, protocol: Protocol, frame: &Frame<'_>) {
        pool::check_thread(frame.data.len());
        if let Some(body) = (surface::of(protocol).state.last_body)(frame.data) {
            self.body = Some(body.into());
            return;
        }
        self.bytes += frame.data.len();
        let decoder = self.decoder.take();
        let decoder = match (decoder, &self.fold) {
            (Some(decoder), _) => decoder,
            (None, None) => StreamDecoder::new(protocol),
            // It could not be read on: what came so far is what there is.
            (None, Some(_)) => return,
        };
        let fold = self.fold.get_or_insert_default();
        self.decoder = decoder.step(frame, &mut |event| fold.step(event)).ok();
    }

    pub(super) fn event(&mut self, event: Event<'_>) {
        if let Event::Delta(_, Delta::Text(text)) = &event {
            self.bytes += text.len_hint();
        }
        self.fold.get_or_insert_default().step(event);
    }

    pub(super) fn body(&mut self, body: &Bytes) {
        self.body = Some(body.clone());
    }

    pub(super) fn written(&mut self, body: &Bytes) {
        self.written = Some(body.clone());
    }

    /// The answer as the client gets it, if that need not be written again.
    pub(super) fn take_written(&mut self) -> Option<Bytes> {
        self.written.take()
    }

    /// About how much there is to read.
    pub(super) fn bytes(&self) -> usize {
        self.bytes + self.body.as_ref().map_or(0, Bytes::len)
    }

    /// What came, if anything did.
    pub(super) fn into_answer(self) -> Option<ReceivedAnswer> {
        let Self { fold, decoder, body, .. } = self;
        if let Some(body) = body {
            pool::check_thread(body.len());
            return utf8::text(&body).ok().map(|body| ReceivedAnswer::Body(body.to_owned()));
        }
        let mut fold = fold?;
        if let Some(decoder) = decoder {
            decoder.end(&mut |event| fold.step(event));
        }
        Some(ReceivedAnswer::Folded(Box::new(fold.finish())))
    }
}
