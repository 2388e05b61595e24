//! Reading along while a stream passes through: what it cost, whether it began well, whether it came to its end.

use sabir_wire::Fault;
use sabir_wire::Protocol;
use sabir_wire::conversation::Counts;
use sabir_wire::json::Json;
use sabir_wire::protocol::Asked;
use sabir_wire::protocol::Event;
use sabir_wire::protocol::StreamEncoder;
use sabir_wire::protocol::Watch;

use crate::egress::frames::Frames;

#[derive(Debug)]
pub(crate) struct Along {
    protocol: Protocol,
    is_sse: bool,
    /// Absent once the stream is over or has turned out to be none of the protocol.
    frames: Option<Frames>,
    watch: Watch,
    is_broken: bool,
    is_open_list: bool,
    /// The beginning of an event whose end has not come, and how long it may become.
    held: Vec<u8>,
    held_bytes_max: usize,
}

/// What may stand around the data of an event: its name, its number, comments.
const AROUND_BYTES_MAX: usize = 64 * 1024;

impl Along {
    pub(crate) fn new(protocol: Protocol, frames: Frames, frame_bytes_max: usize) -> Self {
        Self {
            protocol,
            is_sse: frames.is_sse(),
            frames: Some(frames),
            watch: Watch::new(protocol),
            is_broken: false,
            is_open_list: false,
            held: Vec::new(),
            held_bytes_max: frame_bytes_max.saturating_add(AROUND_BYTES_MAX),
        }
    }

    /// Reads along, and hands over what can be passed on: all up to the last event that has ended, unless a frame among
    /// them is none of the protocol. Nothing from there on can.
    pub(crate) fn push(&mut self, bytes: &[u8], pass: &mut dyn FnMut(&[u8])) {
        let passable = self.read(bytes);
        let (now, later) = bytes.split_at(passable);
        if !now.is_empty() {
            if !self.held.is_empty() {
                pass(&std::mem::take(&mut self.held));
            }
            pass(now);
        }
        if self.held.len() + later.len() > self.held_bytes_max {
            self.frames = None;
            self.is_broken = true;
        }
        if self.frames.is_some() {
            self.held.extend_from_slice(later);
        }
    }

    /// How many of the bytes come before an event that has not ended, or that nobody can read.
    fn read(&mut self, bytes: &[u8]) -> usize {
        let Self { frames: Some(frames), watch, .. } = self else { return 0 };
        let (mut read, mut passable) = (0, 0);
        while read < bytes.len() {
            let piece = up_to_frame_end(&bytes[read..]);
            if frames.push(piece, &mut |frame| watch.frame(&frame)).is_err() {
                self.is_broken = true;
                self.frames = None;
                break;
            }
            read += piece.len();
            passable = frames.ended(read).unwrap_or(passable);
        }
        passable
    }

    /// The stream has ended; its last frame may lack the blank line. Returns what can still be passed on.
    ///
    /// Half a frame behind the end of the answer is none of it, and nothing is missing without it.
    pub(crate) fn end(&mut self) -> Vec<u8> {
        let held = std::mem::take(&mut self.held);
        let was_complete = self.is_complete();
        let Some(frames) = self.frames.take() else { return Vec::new() };
        self.is_open_list = frames.is_open_list();
        let mut is_readable = true;
        let watched = frames.end(&mut |frame| {
            is_readable &= is_json(frame.data);
            if is_readable { self.watch.frame(&frame) } else { Ok(()) }
        });
        if watched.is_ok() && is_readable {
            return held;
        }
        self.is_broken = !was_complete;
        Vec::new()
    }

    /// Whether something came that is no stream of the protocol.
    pub(crate) fn is_broken(&self) -> bool {
        self.is_broken
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.watch.has_begun()
    }

    /// The fault that stood where the first event should.
    pub(crate) fn fault(&mut self) -> Option<Fault<'static>> {
        self.watch.take_fault()
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.watch.has_failed()
    }

    /// Whether the stream came to an end of its own, good or bad.
    pub(crate) fn is_complete(&self) -> bool {
        self.watch.is_complete() && !self.is_open_list
    }

    pub(crate) fn is_sse(&self) -> bool {
        self.is_sse
    }

    /// Whether nothing more is to come, not even a count.
    pub(crate) fn is_over(&self) -> bool {
        self.watch.is_over()
    }

    pub(crate) fn counts(&self) -> Counts {
        self.watch.counts()
    }

    /// What to add to a stream that broke off, so that the client learns of it in its own protocol; nothing can be added
    /// to a list.
    ///
    /// Lines that may have gone before and are no event, such as comments, are ended first.
    pub(crate) fn broken(&self, fault: Fault<'_>) -> Option<String> {
        self.is_sse.then(|| format!("\n\n{}", fault_frame(self.protocol, fault)))
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
fn fault_frame(protocol: Protocol, fault: Fault<'_>) -> String {
    let mut frames = String::new();
    let encoder = StreamEncoder::new(protocol, protocol, Asked::default());
    let _ = encoder.step(Event::Fault(fault), &mut frames).end(&mut frames);
    let is_fault =
        |frame: &&str| frame.starts_with("event: error") || frame.starts_with("data: {\"error\"");
    let mut told = frames.split("\n\n").map(str::trim).filter(is_fault);
    format!("{}\n\n", told.next().unwrap_or_default())
}

/// Whether a frame that nothing but the end of the stream ended is whole; there is only one of that kind.
fn is_json(data: &str) -> bool {
    data.trim_ascii() == "[DONE]" || Json::parse(data).is_ok()
}
