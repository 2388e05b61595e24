//! A stream on its way from the provider's protocol into the client's: bytes in, bytes out, no clock and no socket. Frames that
//! take long are left to other threads.

use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use sabir_compose::govern::Governor;
use sabir_wire::conversation::{Counts, FinishKind, Response};
use sabir_wire::protocol::{
    AnswerContext, ArtefactCollector, CallArtefacts, Event, StreamDecoder, StreamEncoder, unfold,
};
use sabir_wire::sse::Frame;
use sabir_wire::{Fault, FaultKind, Protocol, Report};

use crate::answer::array::ArrayWriter;
use crate::answer::frames::{Defect, Frames};
use crate::answer::governed::pass;
use crate::answer::large::{LargeFrames, OwnedFrame};
use crate::answer::pass_through::fault_frame;
use crate::call::{Delivery, Recipient};
use crate::failure::{Failure, Whose};
use crate::observe::Losses;
use crate::pool::Wanted;
use crate::state::Snapshot;
use crate::surface;
use crate::tap::{StandIns, Taps};

#[derive(Debug)]
pub(super) struct Translation {
    /// Absent once the provider's stream is over.
    frames: Option<Frames>,
    decoder: Option<StreamDecoder>,
    writing: Writing,
    /// Frames for other threads. While they are there the decoder and the encoder are too.
    large: LargeFrames<Translated>,
    /// What is wrong with the stream behind those frames, or at its end.
    defect: Option<Defect>,
    /// Whoever governs the calls before anybody else sees them; with the decoder on another thread.
    governor: Option<Box<Governor>>,
}

/// The client's side of a translation.
#[derive(Debug)]
struct Writing {
    client: Protocol,
    encoder: Option<StreamEncoder<'static>>,
    out: String,
    /// For clients that take their stream as one JSON list.
    array: Option<ArrayWriter>,
    is_list: bool,
    has_begun: bool,
    /// The provider's protocol begins streams that then fail, where the client's states the failure by its status. What comes
    /// before the first content of such a stream is held back.
    holds_start: bool,
    /// Whether anything is there.
    has_started: bool,
    /// The candidates that have emitted something, and those that have ended: a bit for each, the last for all beyond.
    begun: u64,
    ended: u64,
    /// The fault that the stream began with, kept back for another try.
    at_first: Option<Fault<'static>>,
    fault: Option<FaultKind>,
    counts: Counts,
    report: Option<Report>,
    /// Takes what the provider seals with calls, until the answer has ended.
    collector: Option<Box<ArtefactCollector>>,
}

impl Translation {
    /// A translation of what `frames` will take apart; an answer that comes as events has none.
    pub(super) fn new(
        recipient: Recipient,
        upstream: Protocol,
        context: AnswerContext<'static>,
        frames: Option<Frames>,
    ) -> Self {
        let is_foreign = recipient.client != upstream;
        let writing = Writing {
            client: recipient.client,
            collector: is_foreign.then(|| ArtefactCollector::of(&context)).flatten(),
            encoder: Some(StreamEncoder::new(recipient.client, upstream, context)),
            out: String::new(),
            array: (recipient.delivery == Delivery::Array).then(ArrayWriter::default),
            is_list: recipient.delivery == Delivery::Array,
            has_begun: false,
            holds_start: surface::of(upstream).reports_overflow_in_stream
                && !surface::of(recipient.client).reports_overflow_in_stream,
            has_started: false,
            begun: 0,
            ended: 0,
            at_first: None,
            fault: None,
            counts: Counts::default(),
            report: None,
        };
        let decoder = frames.is_some().then(|| StreamDecoder::new(upstream));
        let (large, defect, governor) = (LargeFrames::default(), None, None);
        Self { frames, decoder, writing, large, defect, governor }
    }

    /// The same under rules on its calls.
    pub(super) fn governed(self, governor: Option<Box<Governor>>) -> Self {
        Self { governor, ..self }
    }

    /// Reads the next bytes of the provider's stream.
    pub(super) fn push(&mut self, bytes: &[u8], taps: &mut Taps) -> Result<(), Defect> {
        let Self { frames, decoder, writing, large, governor, .. } = self;
        let Some(parser) = frames else { return Ok(()) };
        let read = parser.push(bytes, &mut |frame| match large.takes(&frame, taps) {
            true => Ok(()),
            false => step((decoder, governor), &frame, (writing, taps)),
        });
        match read {
            Ok(()) => Ok(()),
            // The frames before it come first.
            Err(_) if !self.large.is_empty() => {
                self.defect = Some(Defect::Unreadable);
                Ok(())
            }
            Err(_) => Err(Defect::Unreadable),
        }
    }

    /// The provider's stream has ended. Its last frame may be one that other threads translate first.
    pub(super) fn read_last(&mut self, taps: &mut Taps) {
        let Self { frames, decoder, writing, large, governor, .. } = self;
        let Some(frames) = frames.take() else { return };
        let read = frames.end(&mut |frame| match large.takes(&frame, taps) {
            true => Ok(()),
            false => step((decoder, governor), &frame, (writing, taps)),
        });
        if read.is_err() {
            self.defect = Some(Defect::Unreadable);
        }
    }

    /// Translates elsewhere what takes long, while nothing more is read; ready when that is done.
    pub(super) fn poll_large(
        &mut self,
        cx: &mut Context<'_>,
        (snapshot, taps): (&Arc<Snapshot>, &mut Taps),
    ) -> Poll<Result<(), Box<Failure>>> {
        let Self { decoder, writing, large, governor, .. } = self;
        large.begin(snapshot, || {
            let machines = (decoder.take(), governor.take(), writing.leave());
            let stand_ins = taps.stand_ins();
            move |frames: Vec<OwnedFrame>, wanted: &Wanted| {
                translate(&frames, machines, (stand_ins, wanted))
            }
        });
        match std::task::ready!(large.poll(cx)) {
            Ok(Translated { decoder, governor, writing, read }) => {
                (self.decoder, self.governor, self.writing) = (decoder, governor, writing);
                let defect = read.err().or(self.defect);
                // At the end of a stream it is known by its end whether anything is missing.
                self.defect = defect.filter(|_| self.frames.is_none());
                let defect = defect.filter(|_| self.frames.is_some());
                let failure = defect.map(|it| Failure::stating(Whose::Upstream, it.fault()));
                Poll::Ready(failure.map_or(Ok(()), Err))
            }
            Err(failure) => Poll::Ready(Err(failure)),
        }
    }

    pub(super) fn has_large(&self) -> bool {
        !self.large.is_empty()
    }

    /// The provider's stream has ended, and all of it was read.
    pub(super) fn end(&mut self, taps: &mut Taps) {
        self.read_last(taps);
        // Half a frame behind the end of the answer is none of it, and nothing is missing without it.
        if self.defect.take().is_some() && !self.has_finished() {
            self.decoder = None;
            self.writing.fail(Defect::Unreadable.fault());
        }
        if let Some(decoder) = self.decoder.take() {
            let Self { writing, governor, .. } = self;
            decoder.end(&mut |event| {
                pass(event, (governor, taps), &mut |event| writing.event(event));
            });
        } else if !self.writing.has_finished() && self.writing.fault.is_none() {
            self.writing.fail(Defect::CutShort.fault());
        }
        self.finish();
    }

    /// The provider's stream has broken off; the client gets the fault in its own protocol, if there is a place for it.
    pub(super) fn fail(&mut self, fault: Fault<'static>) -> bool {
        self.frames = None;
        self.decoder = None;
        self.large = LargeFrames::default();
        // An encoder that is on another thread does not come back.
        let is_away = self.writing.is_away();
        let is_first = !self.writing.has_begun;
        self.writing.fail(fault.clone());
        self.finish();
        !is_away || is_first || self.replace_end(fault)
    }

    /// Writes a fault behind what has left, in the place of an end that may not. A list has no place for it.
    pub(super) fn replace_end(&mut self, fault: Fault<'_>) -> bool {
        let Writing { client, out, is_list, .. } = &mut self.writing;
        if !*is_list {
            out.push_str(&fault_frame(*client, fault));
        }
        !*is_list
    }

    /// Takes an event of an answer that did not come as frames.
    pub(super) fn event(&mut self, event: Event<'_>, taps: &mut Taps) {
        let Self { writing, governor, .. } = self;
        pass(event, (governor, taps), &mut |event| writing.event(event));
    }

    /// The translation of an answer that is all there, which the taps have seen.
    pub(super) fn unfolded(mut self, response: Response<'_>) -> Self {
        unfold(response, &mut |event| self.writing.event(event));
        self.finish();
        self
    }

    /// A stream that begins and fails.
    pub(super) fn refused(mut self, fault: Fault<'static>) -> Self {
        self.writing.has_begun = true;
        self.writing.fail(fault);
        self.finish();
        self
    }

    /// Writes what is owed at the end.
    fn finish(&mut self) {
        self.writing.finish();
    }

    pub(super) fn has_begun(&self) -> bool {
        self.writing.has_begun
    }

    /// Whether nothing but a start is there, which is held back.
    pub(super) fn holds_start(&self) -> bool {
        self.writing.has_started && !self.writing.has_begun
    }

    /// What is held back is the beginning.
    pub(super) fn release_start(&mut self) {
        self.writing.has_begun = true;
    }

    /// Whether every candidate has finished: all that can follow is bookkeeping.
    pub(super) fn has_finished(&self) -> bool {
        self.writing.has_finished() || self.decoder.as_ref().is_some_and(StreamDecoder::is_ending)
    }

    /// The fault that stood where the first event should.
    pub(super) fn take_first_fault(&mut self) -> Option<Fault<'static>> {
        self.writing.at_first.take()
    }

    pub(super) fn fault(&self) -> Option<FaultKind> {
        self.writing.fault
    }

    /// Whether rules on calls have refused the answer.
    pub(super) fn is_refused(&self) -> bool {
        self.governor.as_ref().is_some_and(|governor| governor.has_refused())
    }

    pub(super) fn counts(&self) -> Counts {
        self.writing.counts
    }

    /// What the translation lost, once it is over.
    pub(super) fn take_losses(&mut self) -> Losses {
        let mut report = self.writing.report.take().unwrap_or_default();
        if let Some(governor) = &mut self.governor {
            report.extend(governor.take_report());
        }
        report.into()
    }

    /// What the provider sealed with the calls of the answer, once it has ended.
    pub(super) fn take_calls(&mut self) -> Vec<CallArtefacts> {
        let calls = self.writing.collector.as_mut().map(|it| it.take()).unwrap_or_default();
        if !calls.is_empty() {
            self.writing.collector = None;
        }
        calls
    }

    /// What can be sent now.
    pub(super) fn take_output(&mut self) -> Option<Bytes> {
        match self.writing.out.is_empty() {
            true => None,
            false => Some(std::mem::take(&mut self.writing.out).into()),
        }
    }
}

/// What comes back from another thread.
#[derive(Debug)]
struct Translated {
    decoder: Option<StreamDecoder>,
    governor: Option<Box<Governor>>,
    writing: Writing,
    read: Result<(), Defect>,
}

/// Translates frames in their order, for as long as somebody waits for them.
fn translate(
    frames: &[OwnedFrame],
    (mut decoder, mut governor, mut writing): Machines,
    (stand_ins, wanted): (StandIns, &Wanted),
) -> Result<Translated, Box<Failure>> {
    let mut read = Ok(());
    let mut taps = stand_ins.into_taps();
    for frame in frames {
        wanted.check()?;
        let machines = (&mut decoder, &mut governor);
        let stepped = step(machines, &frame.lend(), (&mut writing, &mut taps));
        if stepped.is_err() {
            read = Err(Defect::Unreadable);
            break;
        }
    }
    Ok(Translated { decoder, governor, writing, read })
}

/// What goes to another thread with frames that are translated there.
type Machines = (Option<StreamDecoder>, Option<Box<Governor>>, Writing);

fn step(
    (decoder, governor): (&mut Option<StreamDecoder>, &mut Option<Box<Governor>>),
    frame: &Frame<'_>,
    (writing, taps): (&mut Writing, &mut Taps),
) -> sabir_wire::Result<()> {
    taps.frame(frame);
    if let Some(before) = decoder.take() {
        let mut emit = |event: Event<'_>| {
            pass(event, (governor, taps), &mut |event| writing.event(event));
        };
        *decoder = Some(before.step(frame, &mut emit)?);
    }
    Ok(())
}

/// Whether an event emits nothing yet that a fault could not follow at once.
fn may_precede_fault(event: &Event<'_>) -> bool {
    match event {
        Event::Start(_) | Event::Note(_) | Event::Usage(_) => true,
        Event::Finish { finish, .. } => finish.kind == FinishKind::Failed,
        Event::Open(_) | Event::Delta(..) | Event::Close(_) | Event::Fault(_) => false,
    }
}

fn bit(candidate: u32) -> u64 {
    1 << candidate.min(u64::BITS - 1)
}

impl Writing {
    /// Hands over all of it, and stays behind with what is known so far.
    fn leave(&mut self) -> Self {
        let behind = Self {
            client: self.client,
            encoder: None,
            out: String::new(),
            array: None,
            is_list: self.is_list,
            has_begun: self.has_begun,
            holds_start: self.holds_start,
            has_started: self.has_started,
            begun: self.begun,
            ended: self.ended,
            at_first: None,
            fault: self.fault,
            counts: self.counts,
            report: None,
            collector: None,
        };
        std::mem::replace(self, behind)
    }

    /// Whether this is what stayed behind.
    fn is_away(&self) -> bool {
        self.encoder.is_none() && self.report.is_none()
    }

    fn has_finished(&self) -> bool {
        self.ended != 0 && self.begun & !self.ended == 0
    }

    fn event(&mut self, event: Event<'_>) {
        let was_begun = self.has_begun;
        let was_started = std::mem::replace(&mut self.has_started, true);
        self.has_begun = was_begun || !self.holds_start || !may_precede_fault(&event);
        match &event {
            Event::Fault(fault)
                if !was_begun && (!was_started || fault.kind == FaultKind::ContextTooLong) =>
            {
                self.at_first = Some(fault.clone().into_owned());
                return;
            }
            Event::Fault(fault) => self.fault = Some(fault.kind),
            Event::Usage(usage) => self.counts.update(usage.counts),
            Event::Finish { candidate, .. } => self.ended |= bit(*candidate),
            Event::Open(open) => self.begun |= bit(open.candidate),
            Event::Start(_) | Event::Delta(..) | Event::Note(_) | Event::Close(_) => {}
        }
        if let Some(collector) = &mut self.collector {
            collector.event(&event);
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
