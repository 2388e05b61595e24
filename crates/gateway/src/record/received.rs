//! An answer as it was received, until it is known how it ended.

use sabir_wire::conversation::Response;
use sabir_wire::protocol::{AnswerContext, Delta, Event, Fold, StreamDecoder};
use sabir_wire::sse::Frame;
use sabir_wire::{Protocol, utf8};

use crate::surface;

/// Who answers, and how the answer reaches the client.
#[derive(Debug)]
pub(super) struct Answerer {
    pub(super) protocol: Protocol,
    pub(super) provider: String,
    pub(super) model: String,
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
    body: Option<String>,
    /// About how much has come.
    bytes: usize,
}

/// An answer that has come to its end, or as far as it came.
#[derive(Debug)]
pub(super) enum Answer {
    /// In the provider's own words.
    Body(String),
    Folded {
        response: Box<Response<'static>>,
        bytes: usize,
    },
}

impl Received {
    /// Reads along a stream that passes as it is.
    pub(super) fn frame(&mut self, protocol: Protocol, frame: &Frame<'_>) {
        if let Some(body) = (surface::of(protocol).state.last_body)(frame.data) {
            self.body = Some(body);
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

    pub(super) fn body(&mut self, bytes: &[u8]) {
        self.body = utf8::text(bytes).ok().map(str::to_owned);
    }

    /// What came, if anything did.
    pub(super) fn into_answer(self) -> Option<Answer> {
        let Self { fold, decoder, body, bytes } = self;
        if let Some(body) = body {
            return Some(Answer::Body(body));
        }
        let mut fold = fold?;
        if let Some(decoder) = decoder {
            decoder.end(&mut |event| fold.step(event));
        }
        Some(Answer::Folded { response: Box::new(fold.finish()), bytes })
    }
}
