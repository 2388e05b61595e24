//! A stream whose bytes reach the client as they came, up to the last event that is whole.

use std::sync::Arc;
use std::task::{Context, Poll, ready};

use sabir_wire::json::Json;
use sabir_wire::protocol::{AnswerContext, Event, StreamEncoder, Watch};
use sabir_wire::{Fault, FaultKind, Protocol};

use crate::answer::frames::{Defect, Frames};
use crate::answer::large::{LargeFrames, OwnedFrame};
use crate::answer::output::Output;
use crate::failure::{Failure, Whose};
use crate::pool::{LARGE_BYTES, Wanted};
use crate::state::Snapshot;
use crate::tap::{StandIns, Taps};

/// A stream that passes through.
#[derive(Debug)]
pub(super) struct PassThrough {
    protocol: Protocol,
    /// Absent once the stream is over or has turned out to be none of the protocol.
    frames: Option<Frames>,
    is_sse: bool,
    /// A list that lacks its end.
    is_open_list: bool,
    watch: Watch,
    /// The beginning of an event whose end has not come, and how long it may become.
    held: Vec<u8>,
    held_bytes_max: usize,
    pub(super) output: Output,
    /// Frames for other threads, and what waits for them.
    large: LargeFrames<Looked>,
    waiting: Deferred,
    /// What is wrong with the last frame.
    defect: Option<Defect>,
}

/// What waits until other threads have looked at large frames.
#[derive(Debug, Default)]
struct Deferred {
    /// How much of what is held may pass then.
    passing: usize,
    /// What came behind, unread.
    behind: Vec<u8>,
    /// Whether the provider has sent all.
    has_ended: bool,
    /// Present if the last frame is among those that are looked at: whether the answer was complete before.
    was_complete: Option<bool>,
}

/// What comes back from another thread.
#[derive(Debug)]
struct Looked {
    watch: Watch,
    is_readable: bool,
}

/// What may stand around the data of an event: its name, its number, comments.
const AROUND_BYTES_MAX: usize = 64 * 1024;

impl PassThrough {
    pub(super) fn new(protocol: Protocol, frames: Frames, frame_bytes_max: usize) -> Self {
        Self {
            protocol,
            is_sse: frames.is_sse(),
            is_open_list: false,
            frames: Some(frames),
            watch: Watch::new(protocol),
            held: Vec::new(),
            held_bytes_max: frame_bytes_max.saturating_add(AROUND_BYTES_MAX),
            output: Output::default(),
            large: LargeFrames::default(),
            waiting: Deferred::default(),
            defect: None,
        }
    }

    /// Reads along, and passes all on up to the last event that has ended, unless a frame among them is none of the
    /// protocol. Nothing from there on can pass.
    pub(super) fn push(&mut self, bytes: &[u8], taps: &mut Taps) -> Result<(), Defect> {
        if self.has_large() {
            self.waiting.behind.extend_from_slice(bytes);
            return Ok(());
        }
        let Read { passable, passing, read } = self.read(bytes, taps);
        let (now, later, behind) = (&bytes[..passable], &bytes[passable..read], &bytes[read..]);
        // Pieces of a frame that came before go with it.
        let held_bytes = if now.is_empty() { self.held.len() } else { 0 };
        self.waiting.passing = if passing > passable { held_bytes + passing - passable } else { 0 };
        self.waiting.behind.extend_from_slice(behind);
        if !now.is_empty() {
            if !self.held.is_empty() {
                self.output.add(&std::mem::take(&mut self.held));
            }
            self.output.add(now);
        }
        if self.frames.is_none() || self.held.len() + later.len() > self.held_bytes_max {
            self.frames = None;
            return Err(Defect::Unreadable);
        }
        self.held.extend_from_slice(later);
        Ok(())
    }

    /// Reads frames, up to one that other threads look at.
    fn read(&mut self, bytes: &[u8], taps: &mut Taps) -> Read {
        let mut all = Read { passable: 0, passing: 0, read: bytes.len() };
        let Self { frames: Some(frames), watch, large, .. } = self else { return all };
        let mut read = 0;
        while read < bytes.len() {
            let piece = up_to_frame_end(&bytes[read..]);
            let pushed = frames.push(piece, &mut |frame| {
                if large.takes(&frame, taps) {
                    return Ok(());
                }
                taps.frame(&frame);
                watch.frame(&frame)
            });
            if pushed.is_err() {
                self.frames = None;
                break;
            }
            read += piece.len();
            let ended = frames.ended(read);
            if !large.is_empty() {
                return Read { passing: ended.unwrap_or_default(), read, ..all };
            }
            all.passable = ended.unwrap_or(all.passable);
        }
        all
    }

    pub(super) fn has_large(&self) -> bool {
        !self.large.is_empty()
    }

    /// Has others look at what takes long, while nothing more is read; ready when that is done.
    pub(super) fn poll_large(
        &mut self,
        cx: &mut Context<'_>,
        (snapshot, taps): (&Arc<Snapshot>, &mut Taps),
    ) -> Poll<Result<(), Box<Failure>>> {
        let Self { large, watch, waiting, .. } = self;
        large.begin(snapshot, || {
            let (watch, stand_ins) = (watch.clone(), taps.stand_ins());
            let is_last = waiting.was_complete.is_some();
            move |frames: Vec<OwnedFrame>, wanted: &Wanted| {
                look(&frames, (watch, stand_ins), is_last, wanted)
            }
        });
        let looked = match ready!(large.poll(cx)) {
            Ok(looked) => self.go_on(looked, taps),
            Err(failure) => return Poll::Ready(Err(failure)),
        };
        Poll::Ready(looked.map_err(|defect| Failure::stating(Whose::Upstream, defect.fault())))
    }

    /// Passes on what was looked at, and reads what came behind it.
    fn go_on(
        &mut self,
        Looked { watch, is_readable }: Looked,
        taps: &mut Taps,
    ) -> Result<(), Defect> {
        self.watch = watch;
        let Deferred { passing, behind, has_ended, was_complete } =
            std::mem::take(&mut self.waiting);
        if let Some(was_complete) = was_complete {
            let held = std::mem::take(&mut self.held);
            match is_readable {
                true => self.output.add(&held),
                false => self.defect = Some(Defect::Unreadable).filter(|_| !was_complete),
            }
            return Ok(());
        }
        if !is_readable {
            self.frames = None;
            return Err(Defect::Unreadable);
        }
        if passing > 0 {
            self.output.add(&self.held[..passing]);
            self.held.drain(..passing);
        }
        self.push(&behind, taps)?;
        if has_ended {
            self.read_last();
        }
        Ok(())
    }

    /// The provider has sent all. Its last frame may lack the blank line, and be one that other threads look at first.
    pub(super) fn read_last(&mut self) {
        self.waiting.has_ended = true;
        if self.has_large() || self.held.len() < LARGE_BYTES {
            return;
        }
        let was_complete = self.is_complete();
        let Some(frames) = self.frames.take() else { return };
        self.is_open_list = frames.is_open_list();
        let large = &mut self.large;
        let ended = frames.end(&mut |frame| {
            large.take(&frame);
            Ok(())
        });
        match (ended, large.is_empty()) {
            (Ok(()), false) => self.waiting.was_complete = Some(was_complete),
            (Ok(()), true) => self.output.add(&std::mem::take(&mut self.held)),
            (Err(_), _) => self.defect = Some(Defect::Unreadable).filter(|_| !was_complete),
        }
    }

    /// The stream has ended; its last frame may lack the blank line. A stream that merely stops would look like a whole
    /// answer.
    ///
    /// Half a frame behind the end of the answer is none of it, and nothing is missing without it.
    pub(super) fn end(&mut self, taps: &mut Taps) -> Result<(), Defect> {
        if let Some(defect) = self.defect {
            return Err(defect);
        }
        let held = std::mem::take(&mut self.held);
        let was_complete = self.is_complete();
        let Self { frames, watch, .. } = self;
        if let Some(frames) = frames.take() {
            self.is_open_list = frames.is_open_list();
            let mut is_readable = true;
            let ended = frames.end(&mut |frame| {
                taps.frame(&frame);
                is_readable &= is_json(frame.data);
                if is_readable { watch.frame(&frame) } else { Ok(()) }
            });
            match ended.is_err() || !is_readable {
                false => self.output.add(&held),
                true if was_complete => {}
                true => return Err(Defect::Unreadable),
            }
        }
        match self.is_complete() || self.lacks_pieces() {
            true => Ok(()),
            false => Err(Defect::CutShort),
        }
    }

    /// The fault of an answer to whose bytes nothing is to be added: the provider's own, or that its end is there and a call in
    /// pieces lacks some. The client has all that was sent, and an error behind the end is none of its protocol.
    pub(super) fn fault(&self) -> Option<FaultKind> {
        match self.watch.has_failed() {
            true => Some(FaultKind::Internal),
            false => self.lacks_pieces().then_some(FaultKind::Truncated),
        }
    }

    fn lacks_pieces(&self) -> bool {
        self.watch.lacks_pieces() && !self.is_open_list
    }

    /// Emits the fault of a stream that broke off, in the client's protocol. Returns whether that was possible: nothing can be
    /// added to a list.
    ///
    /// Lines that may have gone before and are no event, such as comments, are ended first.
    pub(super) fn fail(&mut self, fault: Fault<'_>) -> bool {
        self.frames = None;
        self.large = LargeFrames::default();
        if self.is_sse {
            self.output.add(b"\n\n");
            self.output.add(fault_frame(self.protocol, fault).as_bytes());
        }
        self.is_sse
    }

    pub(super) fn watch(&self) -> &Watch {
        &self.watch
    }

    /// The fault that stood where the first event should.
    pub(super) fn take_first_fault(&mut self) -> Option<Fault<'static>> {
        self.watch.take_fault()
    }

    /// Whether the stream came to an end of its own, good or bad.
    pub(super) fn is_complete(&self) -> bool {
        self.watch.is_complete() && !self.is_open_list
    }

    pub(super) fn is_sse(&self) -> bool {
        self.is_sse
    }
}

/// What came of reading some bytes.
struct Read {
    /// How many of them come before an event that has not ended, that nobody can read, or that is large.
    passable: usize,
    /// How many come before the first event that has not ended behind a large one.
    passing: usize,
    read: usize,
}

/// Looks at frames in their order, for as long as somebody waits for them. The last frame of a stream may be half of one.
fn look(
    frames: &[OwnedFrame],
    (mut watch, stand_ins): (Watch, StandIns),
    is_last: bool,
    wanted: &Wanted,
) -> Result<Looked, Box<Failure>> {
    let mut taps = stand_ins.into_taps();
    for frame in frames.iter().map(OwnedFrame::lend) {
        wanted.check()?;
        taps.frame(&frame);
        if is_last && !is_json(frame.data) || watch.frame(&frame).is_err() {
            return Ok(Looked { watch, is_readable: false });
        }
    }
    Ok(Looked { watch, is_readable: true })
}

/// The bytes up to and with the next blank line, or all.
fn up_to_frame_end(bytes: &[u8]) -> &[u8] {
    for line_end in memchr::memchr_iter(b'\n', bytes) {
        let (head, rest) = bytes.split_at(line_end + 1);
        let blank = match rest {
            [b'\n', ..] => 1,
            [b'\r', b'\n', ..] => 2,
            _ => continue,
        };
        return &bytes[..head.len() + blank];
    }
    bytes
}

/// The frame that states a fault in an answer that has begun elsewhere: neither its beginning nor an end around it.
pub(super) fn fault_frame(protocol: Protocol, fault: Fault<'_>) -> String {
    let mut frames = String::new();
    let encoder = StreamEncoder::new(protocol, protocol, AnswerContext::default());
    let _ = encoder.step(Event::Fault(fault), &mut frames).end(&mut frames);
    let is_fault =
        |frame: &&str| frame.starts_with("event: error") || frame.starts_with("data: {\"error\"");
    let mut faults = frames.split("\n\n").map(str::trim).filter(is_fault);
    format!("{}\n\n", faults.next().unwrap_or_default())
}

/// Whether a frame that nothing but the end of the stream ended is whole; there is only one of that kind.
fn is_json(data: &str) -> bool {
    data.trim_ascii() == "[DONE]" || Json::parse(data).is_ok()
}
