//! Reading along while a stream passes through: what it cost, whether it began well, whether it came to its end.

use memchr::memmem;
use sabir_wire::Fault;
use sabir_wire::Protocol;
use sabir_wire::Result;
use sabir_wire::json::Json;
use sabir_wire::protocol::Asked;
use sabir_wire::protocol::Counts;
use sabir_wire::protocol::Event;
use sabir_wire::protocol::StreamDecoder;
use sabir_wire::protocol::StreamEncoder;
use sabir_wire::sse::Frame;

use crate::egress::frames::Frames;

#[derive(Debug)]
pub(crate) struct Along {
    /// Absent once the stream is over or has turned out to be none of the protocol.
    frames: Option<Frames>,
    seen: Seen,
    /// The beginning of an event whose end has not come, and how long it may become.
    held: Vec<u8>,
    held_bytes_max: usize,
}

/// What may stand around the data of an event: its name, its number, comments.
const AROUND_BYTES_MAX: usize = 64 * 1024;

#[derive(Debug)]
struct Seen {
    protocol: Protocol,
    is_sse: bool,
    has_begun: bool,
    at_first: Option<Fault<'static>>,
    is_broken: bool,
    has_failed: bool,
    candidates: Candidates,
    is_over: bool,
    is_open_list: bool,
    counts: Counts,
}

/// The candidates that have said something, and those that have ended: a bit for each, the last for all beyond.
#[derive(Debug, Default)]
struct Candidates {
    spoken: u64,
    ended: u64,
    is_over: bool,
}

impl Candidates {
    /// Whether every candidate that has said something has ended, or the provider says that all have.
    fn have_finished(&self) -> bool {
        self.is_over || self.ended != 0 && self.spoken & !self.ended == 0
    }

    /// Hears what does not end a candidate, and reads it in full only where it may speak of one beside the first: the second
    /// of several calls looks like one too.
    fn hear(&mut self, protocol: Protocol, data: &str) {
        if !may_be_several(protocol) {
            return;
        }
        let mut numbers = values_of(data, "\"index\"").peekable();
        let first = u64::from(numbers.peek().is_some());
        if numbers.all(|number| number.starts_with('0')) {
            self.spoken |= first;
        } else {
            self.ended |= self.read(protocol, data);
        }
    }

    /// Hears what ends a candidate; what does so in a way of its own ends the first.
    fn end(&mut self, protocol: Protocol, data: &str) {
        if !may_be_several(protocol) || data == "[DONE]" {
            self.is_over = true;
            return;
        }
        let ended = self.read(protocol, data);
        self.ended |= if ended == 0 { 1 } else { ended };
    }

    /// Notes who speaks, and returns who ends.
    fn read(&mut self, protocol: Protocol, data: &str) -> u64 {
        let mut ended = 0;
        // What cannot be read is not told apart from what speaks of no candidate.
        let _ = protocol.candidates_in(data, &mut |number, ends| {
            let bit = 1 << number.min(u64::from(u64::BITS - 1));
            self.spoken |= bit;
            ended |= if ends { bit } else { 0 };
        });
        ended
    }
}

fn may_be_several(protocol: Protocol) -> bool {
    matches!(protocol, Protocol::OpenaiChat | Protocol::Gemini)
}

impl Along {
    pub(crate) fn new(protocol: Protocol, frames: Frames, frame_bytes_max: usize) -> Self {
        let seen = Seen {
            protocol,
            is_sse: frames.is_sse(),
            has_begun: false,
            at_first: None,
            is_broken: false,
            has_failed: false,
            candidates: Candidates::default(),
            is_over: false,
            is_open_list: false,
            counts: Counts::default(),
        };
        let held_bytes_max = frame_bytes_max.saturating_add(AROUND_BYTES_MAX);
        Self { frames: Some(frames), seen, held: Vec::new(), held_bytes_max }
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
            self.seen.is_broken = true;
        }
        if self.frames.is_some() {
            self.held.extend_from_slice(later);
        }
    }

    /// How many of the bytes come before an event that has not ended, or that nobody can read.
    fn read(&mut self, bytes: &[u8]) -> usize {
        let Self { frames: Some(frames), seen, .. } = self else { return 0 };
        let (mut read, mut passable) = (0, 0);
        while read < bytes.len() {
            let piece = up_to_frame_end(&bytes[read..]);
            seen.is_broken |= frames.push(piece, &mut |frame| seen.frame(&frame)).is_err();
            if seen.is_broken {
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
        let Self { frames, seen, .. } = self;
        let Some(frames) = frames.take() else { return Vec::new() };
        seen.is_open_list = frames.is_open_list();
        let mut last = |frame: Frame<'_>| match is_readable(frame.data) {
            true => seen.frame(&frame),
            false => {
                seen.is_broken = true;
                Ok(())
            }
        };
        let is_unreadable = frames.end(&mut last).is_err();
        seen.is_broken |= is_unreadable;
        if !seen.is_broken {
            return held;
        }
        seen.is_broken = !was_complete;
        Vec::new()
    }

    /// Whether something came that is no stream of the protocol.
    pub(crate) fn is_broken(&self) -> bool {
        self.seen.is_broken
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.seen.has_begun
    }

    /// The fault that stood where the first event should.
    pub(crate) fn fault(&mut self) -> Option<Fault<'static>> {
        self.seen.at_first.take()
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.seen.has_failed
    }

    /// Whether the stream came to an end of its own, good or bad.
    pub(crate) fn is_complete(&self) -> bool {
        (self.seen.candidates.have_finished() || self.seen.has_failed) && !self.seen.is_open_list
    }

    pub(crate) fn is_sse(&self) -> bool {
        self.seen.is_sse
    }

    /// Whether nothing more is to come, not even a count.
    pub(crate) fn is_over(&self) -> bool {
        self.seen.is_over
    }

    pub(crate) fn counts(&self) -> Counts {
        self.seen.counts
    }

    /// What to add to a stream that broke off, so that the client learns of it in its own protocol; nothing can be added
    /// to a list.
    ///
    /// Lines that may have gone before and are no event, such as comments, are ended first.
    pub(crate) fn broken(&self, fault: Fault<'_>) -> Option<String> {
        self.seen.is_sse.then(|| format!("\n\n{}", fault_frame(self.seen.protocol, fault)))
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

impl Seen {
    fn frame(&mut self, frame: &Frame<'_>) -> Result<()> {
        if !self.has_begun {
            return self.begin(frame);
        }
        if !is_whole(frame.data) {
            self.is_broken = true;
            return Ok(());
        }
        if let Some(counts) = self.protocol.counts_in(frame.data) {
            self.counts.update(counts);
        }
        self.watch(frame);
        Ok(())
    }

    /// Reads the first frame in full: it says whether the provider answers at all.
    fn begin(&mut self, frame: &Frame<'_>) -> Result<()> {
        let mut first = None;
        let decoder = StreamDecoder::new(self.protocol);
        let _ = decoder.step(frame, &mut |event| {
            if let Event::Fault(fault) = &event {
                first.get_or_insert(Some(fault.clone().into_owned()));
            } else {
                first.get_or_insert(None);
            }
        })?;
        if let Some(fault) = first {
            self.has_begun = true;
            self.at_first = fault;
        }
        if let Some(counts) = self.protocol.counts_in(frame.data) {
            self.counts.update(counts);
        }
        self.watch(frame);
        Ok(())
    }

    fn watch(&mut self, frame: &Frame<'_>) {
        let is_error = is_error(frame);
        self.has_failed = self.has_failed || is_error;
        let is_end = is_end(self.protocol, frame);
        match is_end {
            true => self.candidates.end(self.protocol, frame.data),
            false => self.candidates.hear(self.protocol, frame.data),
        }
        self.is_over = self.is_over || is_end && is_last(self.protocol, frame);
    }
}

/// Whether a frame holds what all frames hold, as far as its two ends show: what passes is not read in full.
fn is_whole(data: &str) -> bool {
    let data = data.trim_ascii();
    data.starts_with('{') && data.ends_with('}') || matches!(data, "" | "[DONE]")
}

/// Whether a frame that nothing but the end of the stream ended is whole; there is only one of that kind.
fn is_readable(data: &str) -> bool {
    data.trim_ascii() == "[DONE]" || Json::parse(data).is_ok()
}

/// Whether a frame ends an answer. A word that merely looks like it in what the model says makes a broken stream look
/// whole at worst; so does a server that ends its streams in a way of its own.
fn is_end(protocol: Protocol, frame: &Frame<'_>) -> bool {
    match protocol {
        Protocol::OpenaiChat => {
            frame.data == "[DONE]" || has_value(frame.data, "\"finish_reason\"")
        }
        Protocol::OpenaiResponses => {
            let kinds = ["response.completed", "response.incomplete", "response.failed"];
            match frame.event {
                Some(event) => kinds.contains(&event),
                None => kinds.iter().any(|kind| frame.data.contains(kind)),
            }
        }
        Protocol::AnthropicMessages => frame
            .event
            .map_or_else(|| frame.data.contains("\"message_stop\""), |it| it == "message_stop"),
        Protocol::Gemini => {
            has_value(frame.data, "\"finishReason\"") || frame.data.contains("\"blockReason\"")
        }
    }
}

/// Whether nothing follows the frame that ends an answer: where others say no more, Chat has counts and a word for the
/// end, and Gemini may have counts.
fn is_last(protocol: Protocol, frame: &Frame<'_>) -> bool {
    match protocol {
        Protocol::OpenaiChat => frame.data == "[DONE]",
        Protocol::OpenaiResponses | Protocol::AnthropicMessages => true,
        Protocol::Gemini => false,
    }
}

/// Whether a member of this name has a value other than null.
fn has_value(data: &str, name: &str) -> bool {
    values_of(data, name).any(|value| value.starts_with('"'))
}

/// What follows each member of this name.
fn values_of<'d>(data: &'d str, name: &str) -> impl Iterator<Item = &'d str> {
    memmem::find_iter(data.as_bytes(), name).filter_map(move |start| {
        data[start + name.len()..].trim_start().strip_prefix(':').map(str::trim_start)
    })
}

/// Whether a frame tells of a failure, as far as its beginning shows.
fn is_error(frame: &Frame<'_>) -> bool {
    matches!(frame.event, Some("error" | "response.failed")) || states_error(frame.data)
}

/// Whether an object is an error, as far as its first member shows.
pub(crate) fn states_error(object: &str) -> bool {
    let first = object.trim_ascii_start().strip_prefix('{').unwrap_or_default().trim_ascii_start();
    let value_of = |name: &str| first.strip_prefix(name)?.trim_ascii_start().strip_prefix(':');
    let error = value_of("\"error\"").map(str::trim_ascii_start);
    let kind = value_of("\"type\"").map(str::trim_ascii_start);
    error.is_some_and(|it| it.starts_with(['{', '"']))
        || kind.is_some_and(|it| it.starts_with("\"error\""))
}
