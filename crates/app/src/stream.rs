//! Reading streams as they come: bytes in chunks become events, and each chunk's worth is handed on at once.

use std::io::ErrorKind;
use std::io::Read;

use anyhow::Context;
use anyhow::Result;
use sabir_wire::protocol::Event;
use sabir_wire::protocol::StreamDecoder;
use sabir_wire::sse::Frame;
use sabir_wire::sse::Parser;

use crate::arguments::Subject;

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

/// Reads the stream to its end. On a frame that cannot be read, what stood before it has been handed over.
pub(crate) fn pump(subject: &Subject, sink: &mut dyn Sink) -> Result<()> {
    let input = subject.input();
    let mut reader = input.open()?;
    let mut pump = Pump { decoder: Some(StreamDecoder::new(subject.from)), frames: 0, sink };
    let mut parser = Parser::default();
    let mut buffer = vec![0; CHUNK_BYTES];
    loop {
        let length = match reader.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error).with_context(|| input.unreadable()),
        };
        let read = parser.push(&buffer[..length], &mut |frame| pump.step(&frame));
        pump.settle(subject, read)?;
    }
    let read = parser.end(&mut |frame| pump.step(&frame));
    pump.settle(subject, read)?;
    pump.end(subject)
}

struct Pump<'s> {
    /// Absent after a frame that could not be read.
    decoder: Option<StreamDecoder>,
    frames: usize,
    sink: &'s mut dyn Sink,
}

impl Pump<'_> {
    fn step(&mut self, frame: &Frame<'_>) -> sabir_wire::Result<()> {
        if self.frames == 0 {
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
        self.sink.flush()?;
        read.map_err(|error| {
            let mut bad = subject.explain(&error, &[]);
            bad.pointer.insert_str(0, &format!("/{}", self.frames));
            bad.into()
        })
    }

    fn end(self, subject: &Subject) -> Result<()> {
        if self.frames == 0 {
            return Err(subject.without_events().into());
        }
        if let Some(decoder) = self.decoder {
            decoder.end(&mut |event| self.sink.event(event));
        }
        self.sink.flush()
    }
}
