//! Reading streams as they come: bytes in chunks become events, and each chunk's worth is handed on at once.

use std::io::{ErrorKind, Read};

use anyhow::Result;
use sabir_wire::protocol::{Event, StreamDecoder};
use sabir_wire::sse::Frame;
use sabir_wire::{Fault, FaultKind};

use crate::arguments::Subject;
use crate::framing::Framing;

/// How much is read at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// What takes the events of a stream.
pub(crate) trait Sink {
    /// The stream begins with this frame; called once, before any event.
    fn begin(&mut self, first: &Frame<'_>);

    fn event(&mut self, event: Event<'_>);

    /// Everything that has arrived so far has been handed over.
    fn flush(&mut self) -> Result<()>;
}

/// Reads the stream to its end. What cannot be read ends it with a fault for the sink, then with an error; half a frame
/// at the very end is what a cut leaves behind, and only the fault says so.
pub(crate) fn pump(subject: &Subject, sink: &mut dyn Sink) -> Result<()> {
    let input = subject.input();
    let mut reader = input.open()?;
    let decoder = Some(StreamDecoder::new(subject.from));
    let mut pump = Pump { decoder, frames: 0, has_begun: false, opening: Vec::new(), sink };
    let mut framing = Framing::of(subject.from);
    let mut buffer = vec![0; CHUNK_BYTES];
    loop {
        let length = match reader.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(input.unreadable(error)),
        };
        pump.note_opening(&buffer[..length]);
        let read = framing.push(&buffer[..length], &mut |frame| pump.step(&frame));
        pump.settle(subject, read)?;
    }
    let end = framing.end(&mut |frame| pump.step(&frame));
    if !pump.has_begun {
        pump.begin_without_frame(subject)?;
    }
    if end.is_err() {
        pump.break_off();
    }
    pump.end()
}

struct Pump<'s> {
    /// Absent after a frame that could not be read.
    decoder: Option<StreamDecoder>,
    frames: usize,
    has_begun: bool,
    /// How the input begins, white space left out: enough to tell an event stream from something else.
    opening: Vec<u8>,
    sink: &'s mut dyn Sink,
}

/// Enough for a byte order mark and the longest of [`STREAM_OPENINGS`].
const OPENING_BYTES: usize = 9;

/// What the first line of an event stream can begin with.
const STREAM_OPENINGS: [&str; 5] = [":", "data", "event:", "id", "retry:"];

impl Pump<'_> {
    fn note_opening(&mut self, bytes: &[u8]) {
        let visible = bytes.iter().filter(|byte| !byte.is_ascii_whitespace());
        self.opening.extend(visible.take(OPENING_BYTES - self.opening.len()));
    }

    fn step(&mut self, frame: &Frame<'_>) -> sabir_wire::Result<()> {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.sink.begin(frame);
        }
        if let Some(decoder) = self.decoder.take() {
            self.decoder = Some(decoder.step(frame, &mut |event| self.sink.event(event))?);
        }
        self.frames += 1;
        Ok(())
    }

    /// Hands on what a chunk gave, then says what was wrong with it.
    fn settle(&mut self, subject: &Subject, read: sabir_wire::Result<()>) -> Result<()> {
        let Err(error) = read else { return self.sink.flush() };
        self.break_off();
        self.sink.flush()?;
        let mut bad = subject.explain(&error, &[]);
        bad.pointer.insert_str(0, &format!("/{}", self.frames));
        Err(bad.into())
    }

    /// Ends the answer with a fault, so that whoever reads the output sees that it is not whole.
    fn break_off(&mut self) {
        self.decoder = None;
        let message = "the stream holds a frame that cannot be read";
        self.sink.event(Event::Fault(Fault::new(FaultKind::Truncated, message)));
    }

    fn end(self) -> Result<()> {
        if let Some(decoder) = self.decoder {
            decoder.end(&mut |event| self.sink.event(event));
        }
        self.sink.flush()
    }

    /// A stream that was cut before its first frame is still one; anything else without frames is none.
    fn begin_without_frame(&mut self, subject: &Subject) -> Result<()> {
        if self.opening.is_empty() {
            return Err(subject.empty().into());
        }
        let opening = self.opening.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&self.opening);
        let is_stream = STREAM_OPENINGS.iter().any(|it| opening.starts_with(it.as_bytes()));
        if !is_stream {
            return Err(subject.without_events().into());
        }
        self.sink.begin(&Frame { event: None, data: "" });
        Ok(())
    }
}
