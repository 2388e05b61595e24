//! A stream whose bytes reach the client as they came, up to the last event that is whole.

use sabir_wire::json::Json;
use sabir_wire::protocol::{AnswerContext, Event, StreamEncoder, Watch};
use sabir_wire::{Fault, Protocol};

use crate::answer::frames::{Defect, Frames};
use crate::answer::output::Output;
use crate::tap::Taps;

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
        }
    }

    /// Reads along, and passes all on up to the last event that has ended, unless a frame among them is none of the
    /// protocol. Nothing from there on can pass.
    pub(super) fn push(&mut self, bytes: &[u8], taps: &mut Taps) -> Result<(), Defect> {
        let passable = self.read(bytes, taps);
        let (now, later) = bytes.split_at(passable);
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

    /// How many of the bytes come before an event that has not ended, or that nobody can read.
    fn read(&mut self, bytes: &[u8], taps: &mut Taps) -> usize {
        let Self { frames: Some(frames), watch, .. } = self else { return 0 };
        let (mut read, mut passable) = (0, 0);
        while read < bytes.len() {
            let piece = up_to_frame_end(&bytes[read..]);
            let pushed = frames.push(piece, &mut |frame| {
                taps.frame(&frame);
                watch.frame(&frame)
            });
            if pushed.is_err() {
                self.frames = None;
                break;
            }
            read += piece.len();
            passable = frames.ended(read).unwrap_or(passable);
        }
        passable
    }

    /// The stream has ended; its last frame may lack the blank line. A stream that merely stops would look like a whole
    /// answer.
    ///
    /// Half a frame behind the end of the answer is none of it, and nothing is missing without it.
    pub(super) fn end(&mut self, taps: &mut Taps) -> Result<(), Defect> {
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
        match self.is_complete() {
            true => Ok(()),
            false => Err(Defect::CutShort),
        }
    }

    /// Tells the client of a stream that broke off, in its own protocol. Says whether that was possible: nothing can be
    /// added to a list.
    ///
    /// Lines that may have gone before and are no event, such as comments, are ended first.
    pub(super) fn fail(&mut self, fault: Fault<'_>) -> bool {
        self.frames = None;
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

/// The frame that tells of a fault in an answer that has begun elsewhere: neither its beginning nor an end around it.
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
