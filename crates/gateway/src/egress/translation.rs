//! A stream on its way from the provider's protocol into the client's: bytes in, bytes out, no clock and no socket.

use sabir_wire::Fault;
use sabir_wire::FaultKind;
use sabir_wire::Protocol;
use sabir_wire::Report;
use sabir_wire::conversation::Counts;
use sabir_wire::protocol::Asked;
use sabir_wire::protocol::Event;
use sabir_wire::protocol::StreamDecoder;
use sabir_wire::protocol::StreamEncoder;
use sabir_wire::sse::Frame;

use crate::call::Delivery;
use crate::call::Recipient;
use crate::egress::array::ArrayWriter;
use crate::egress::frames::Frames;
use crate::egress::frames::UNREADABLE;
use crate::surface;

#[derive(Debug)]
pub(crate) struct Translation {
    /// Absent once the provider's stream is over.
    frames: Option<Frames>,
    decoder: Option<StreamDecoder>,
    writing: Writing,
}

/// The client's side of a translation.
#[derive(Debug)]
struct Writing {
    client: Protocol,
    encoder: Option<StreamEncoder<'static>>,
    out: String,
    /// For clients that take their stream as one JSON list.
    array: Option<ArrayWriter>,
    has_begun: bool,
    /// The candidates that have said something, and those that have ended: a bit for each, the last for all beyond.
    spoken: u64,
    ended: u64,
    /// The fault that the stream began with, kept back for another try.
    at_first: Option<Fault<'static>>,
    fault: Option<FaultKind>,
    counts: Counts,
    report: Option<Report>,
}

impl Translation {
    /// A translation of what `frames` will take apart; an answer that is all there has none.
    pub(crate) fn new(
        recipient: Recipient,
        upstream: Protocol,
        asked: Asked<'static>,
        frames: Option<Frames>,
    ) -> Self {
        let writing = Writing {
            client: recipient.client,
            encoder: Some(StreamEncoder::new(recipient.client, upstream, asked)),
            out: String::new(),
            array: (recipient.delivery == Delivery::Array).then(ArrayWriter::default),
            has_begun: false,
            spoken: 0,
            ended: 0,
            at_first: None,
            fault: None,
            counts: Counts::default(),
            report: None,
        };
        let decoder = Some(StreamDecoder::new(upstream));
        Self { frames, decoder, writing }
    }

    /// Reads the next bytes of the provider's stream.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let Self { frames, decoder, writing } = self;
        let Some(parser) = frames else { return };
        let read = parser.push(bytes, &mut |frame| step(decoder, &frame, writing));
        if read.is_err() {
            self.break_off();
        }
    }

    /// The provider's stream has ended.
    pub(crate) fn end(&mut self) {
        let Self { frames, decoder, writing } = self;
        let read = frames.take().map(|it| it.end(&mut |frame| step(decoder, &frame, writing)));
        // Half a frame behind the end of the answer is none of it, and nothing is missing without it.
        if matches!(read, Some(Err(_))) && !self.has_finished() {
            self.decoder = None;
            self.writing.fail(Fault::new(FaultKind::Truncated, UNREADABLE));
        }
        if let Some(decoder) = self.decoder.take() {
            decoder.end(&mut |event| self.writing.event(event));
        }
        self.finish();
    }

    /// The provider's stream has broken off; the client is told why in its own protocol.
    pub(crate) fn fail(&mut self, fault: Fault<'static>) {
        self.frames = None;
        self.decoder = None;
        self.writing.fail(fault);
        self.finish();
    }

    fn break_off(&mut self) {
        self.fail(Fault::new(FaultKind::Truncated, UNREADABLE));
    }

    /// Takes an event of an answer that did not come as a stream.
    pub(crate) fn event(&mut self, event: Event<'_>) {
        self.writing.event(event);
    }

    /// Writes what is owed at the end.
    pub(crate) fn finish(&mut self) {
        self.writing.finish();
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.writing.has_begun
    }

    /// Whether every candidate has said its last word: all that can follow is bookkeeping.
    pub(crate) fn has_finished(&self) -> bool {
        self.writing.has_finished() || self.decoder.as_ref().is_some_and(StreamDecoder::is_ending)
    }

    pub(crate) fn is_over(&self) -> bool {
        self.writing.encoder.is_none()
    }

    /// The fault that stood where the first event should.
    pub(crate) fn fault_at_first(&mut self) -> Option<Fault<'static>> {
        self.writing.at_first.take()
    }

    pub(crate) fn fault(&self) -> Option<FaultKind> {
        self.writing.fault
    }

    pub(crate) fn counts(&self) -> Counts {
        self.writing.counts
    }

    /// What the translation lost, once it is over.
    pub(crate) fn take_report(&mut self) -> Option<Report> {
        self.writing.report.take()
    }

    /// What can be sent now.
    pub(crate) fn take_out(&mut self) -> String {
        std::mem::take(&mut self.writing.out)
    }
}

fn step(
    decoder: &mut Option<StreamDecoder>,
    frame: &Frame<'_>,
    writing: &mut Writing,
) -> sabir_wire::Result<()> {
    if let Some(before) = decoder.take() {
        *decoder = Some(before.step(frame, &mut |event| writing.event(event))?);
    }
    Ok(())
}

fn bit(candidate: u32) -> u64 {
    1 << candidate.min(u64::BITS - 1)
}

impl Writing {
    fn has_finished(&self) -> bool {
        self.ended != 0 && self.spoken & !self.ended == 0
    }

    fn event(&mut self, event: Event<'_>) {
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        match &event {
            Event::Fault(fault) if is_first => {
                self.at_first = Some(fault.clone().into_owned());
                return;
            }
            Event::Fault(fault) => self.fault = Some(fault.kind),
            Event::Usage(usage) => self.counts.update(usage.counts),
            Event::Finish { candidate, .. } => self.ended |= bit(*candidate),
            Event::Open(open) => self.spoken |= bit(open.candidate),
            Event::Start(_) | Event::Delta(..) | Event::Note(_) | Event::Close(_) => {}
        }
        self.encode(event);
    }

    fn encode(&mut self, event: Event<'_>) {
        let Some(encoder) = self.encoder.take() else { return };
        let from = self.out.len();
        self.encoder = Some(encoder.step(event, &mut self.out));
        self.shape(from);
    }

    fn fail(&mut self, fault: Fault<'static>) {
        self.event(Event::Fault(fault));
    }

    fn finish(&mut self) {
        let Some(encoder) = self.encoder.take() else { return };
        let from = self.out.len();
        self.report = Some(encoder.end(&mut self.out));
        self.shape(from);
        if let Some(array) = self.array.take() {
            array.end(&mut self.out);
        }
        self.out.push_str(surface::of(self.client).closing_frame);
    }

    /// Rewrites what was just written as elements of a list, for clients that asked for one.
    fn shape(&mut self, from: usize) {
        if let Some(array) = &mut self.array {
            let frames = self.out.split_off(from);
            array.push(&frames, &mut self.out);
        }
    }
}
