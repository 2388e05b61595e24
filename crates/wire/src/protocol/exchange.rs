//! The face of the protocols: decode from any of them, encode to any of them.

use std::borrow::Cow;

use crate::conversation::{Request, Response};
use crate::error::{Error, ErrorKind, Result};
use crate::fault::{Fault, FaultKind};
use crate::json::{Reader, Survey, Text};
use crate::limit::OPEN_PARTS_MAX;
use crate::loss::Report;
use crate::owned::into_owned;
use crate::protocol::field::FieldSet;
use crate::protocol::handing::{Handing, Rule, handed};
use crate::protocol::semantics::{Artefact, Declared, Semantics, Spelling};
use crate::protocol::{
    AnswerContext, Delta, Event, Fate, Field, Open, PartId, Protocol, anthropic_messages,
    fault_losses, gemini, openai_chat, openai_responses,
};
use crate::sse::Frame;
use crate::target::Target;
use crate::utf8;

/// A request with everything its protocol meant: content that anyone may edit, semantics that only protocols write.
#[derive(Clone, Debug)]
pub struct Exchange<'a> {
    pub(in crate::protocol) request: Request<'a>,
    protocol: Protocol,
    semantics: Semantics<'a>,
    /// The body that the request was read from, as long as nobody edited the request.
    body: Option<Cow<'a, str>>,
    /// The size of that body; zero for a request of our own making.
    body_bytes: usize,
}

/// A body in another protocol, and what did not come through.
#[derive(Clone, Debug)]
pub struct Encoded {
    pub body: String,
    pub report: Report,
}

impl<'a> Exchange<'a> {
    /// A request of our own making, to be sent in `protocol`'s manner of speaking. Messages, parts and tools may come from
    /// anywhere: what rode on them meant something in the exchange that they were decoded in, and stays behind.
    pub fn new(protocol: Protocol, mut request: Request<'a>) -> Self {
        request.forget_semantics();
        Self { request, protocol, semantics: Semantics::default(), body: None, body_bytes: 0 }
    }

    pub(in crate::protocol) fn decoded(
        protocol: Protocol,
        request: Request<'a>,
        semantics: Semantics<'a>,
    ) -> Self {
        Self { request, protocol, semantics, body: None, body_bytes: 0 }
    }

    pub fn request(&self) -> &Request<'a> {
        &self.request
    }

    /// The request to be changed. From here on the exchange is encoded anew in its own protocol too: it means the same
    /// there, and may be spelled otherwise where the protocol has several spellings.
    pub fn edit(&mut self) -> &mut Request<'a> {
        self.body = None;
        &mut self.request
    }

    /// The body that the request was read from; none once the request was edited.
    pub(in crate::protocol) fn body(&self) -> Option<&str> {
        self.body.as_deref()
    }

    pub fn into_request(self) -> Request<'a> {
        self.request
    }

    /// What a body is expected to take that says the same, so that it seldom has to move while it grows.
    pub(in crate::protocol) fn body_bytes_expected(&self) -> usize {
        self.body_bytes + self.body_bytes / 8 + 1024
    }

    /// The protocol that the request came in.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    pub fn semantics(&self) -> &Semantics<'a> {
        &self.semantics
    }

    /// Writes the request in `protocol` for the model that `target` describes. In its own protocol a request that nobody
    /// edited is its own bytes, unless they may carry what another vendor sealed.
    pub fn encode(&self, protocol: Protocol, target: &Target) -> Result<Encoded> {
        let own = self.body.as_deref().filter(|_| protocol == self.protocol);
        if let Some(body) = own.filter(|body| !Artefact::may_be_carried_in(body)) {
            return Ok(Encoded { body: body.to_owned(), report: Report::default() });
        }
        if protocol == self.protocol && self.is_mixed() {
            return self.encode_mixed(target);
        }
        let mut report = Report::default();
        let body = (protocol.codec().encode_request)(self, target, &mut report)?;
        Ok(Encoded { body, report })
    }
}

/// What most answers take at least, so that short ones never move while they grow.
pub(in crate::protocol) const ANSWER_BYTES: usize = 2048;

impl Encoded {
    /// Refuses the translation if it dropped anything.
    pub fn strict(self) -> Result<Self> {
        let pointers: Vec<&str> = self.report.drops().map(|loss| loss.pointer.as_str()).collect();
        if pointers.is_empty() {
            return Ok(self);
        }
        let message = format!("the target protocol cannot carry {}", pointers.join(", "));
        Err(Error::new(ErrorKind::Refused, message))
    }
}

impl Protocol {
    /// Reads a request body.
    pub fn decode_request(self, body: &[u8]) -> Result<Exchange<'_>> {
        self.decode_request_text(utf8::text(body)?)
    }

    /// The same for whoever has text already.
    pub fn decode_request_text(self, body: &str) -> Result<Exchange<'_>> {
        let body = without_mark(body);
        self.decode_request_with(Reader::new(body), body)
    }

    /// The same for whoever has passed over the text before.
    pub fn decode_request_surveyed<'a>(self, body: &'a Survey<'a>) -> Result<Exchange<'a>> {
        self.decode_request_with(Reader::surveyed(body), body.source())
    }

    fn decode_request_with<'a>(self, reader: Reader<'a>, body: &'a str) -> Result<Exchange<'a>> {
        let mut exchange = (self.codec().decode_request)(reader)?;
        exchange.body_bytes = body.len();
        exchange.body = Some(Cow::Borrowed(body));
        Ok(exchange)
    }

    /// Reads a whole answer.
    pub fn decode_response(self, body: &[u8]) -> Result<Response<'_>> {
        let body = without_mark(utf8::text(body)?);
        (self.codec().decode_response)(body)
    }

    /// Writes a whole answer that came in `source`'s protocol. In that protocol it means the same, and may be spelled
    /// otherwise.
    pub fn encode_response(
        self,
        response: &Response<'_>,
        source: Protocol,
        context: &AnswerContext<'_>,
    ) -> Encoded {
        let mut report = Report::default();
        let response = &*handed(response, Rule::of(source, self));
        let body = (self.codec().encode_response)(response, source, context, &mut report);
        Encoded { body, report }
    }

    /// Translates a whole answer from its bytes. In its own protocol it keeps them, unless it is to name another model.
    pub fn translate_response(
        self,
        body: &[u8],
        source: Protocol,
        context: &AnswerContext<'_>,
    ) -> Result<Encoded> {
        let response = source.decode_response(body)?;
        if self == source && context.model.is_none() {
            let body = without_mark(utf8::text(body)?).to_owned();
            return Ok(Encoded { body, report: Report::default() });
        }
        Ok(self.encode_response(&response, source, context))
    }

    /// Reads an error that came with an HTTP status, or with none where only its body was kept: then its own words tell
    /// the class. Anything can be read: what is not the protocol's error shape becomes the message.
    pub fn decode_fault(self, status: impl Into<Option<u16>>, body: &[u8]) -> Fault<'static> {
        let (status, body) = (status.into(), String::from_utf8_lossy(body));
        (self.codec().decode_fault)(status, &body)
    }

    /// The HTTP status and body with which this protocol states a fault.
    pub fn encode_fault(self, fault: &Fault<'_>) -> (u16, String) {
        (self.codec().encode_fault)(fault)
    }

    /// The same with a report of what this protocol has no words for.
    pub fn translate_fault(self, fault: &Fault<'_>) -> (u16, Encoded) {
        let (status, body) = self.encode_fault(fault);
        let report = fault_losses::losses(fault, self, (status, &body));
        (status, Encoded { body, report })
    }

    /// The body of a fault that is sent under another status than its kind has by itself.
    pub fn encode_fault_under(self, status: u16, fault: &Fault<'_>) -> String {
        (self.codec().encode_fault_under)(status, fault)
    }

    /// Where a canonical field stands in this protocol, below its node.
    pub(in crate::protocol) fn pointer(self, field: Field, spelling: Spelling) -> &'static str {
        (self.codec().pointer)(field, spelling)
    }

    /// What becomes of a canonical field on its way into this protocol.
    pub fn fate(self, field: Field) -> Fate {
        self.codec().fields.row(field).fate
    }

    /// The fields that never arrive in this protocol as they were.
    pub(in crate::protocol) fn lost(self) -> FieldSet {
        self.codec().lost
    }

    /// The declaration of a field below a node that only this protocol has.
    pub(in crate::protocol) fn declared(self, path: &str) -> Option<&'static Declared> {
        self.declared_of_nodes().iter().find(|declared| declared.path == path)
    }

    /// Fields of messages, parts, tools and answers that only this protocol has.
    pub fn declared_of_nodes(self) -> &'static [Declared] {
        self.codec().declared_of_nodes
    }

    /// Fields of a request that only this protocol has.
    pub fn declared_of_requests(self) -> &'static [Declared] {
        self.codec().declared_of_requests
    }
}

/// The text behind a byte order mark.
fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Reads a stream of one protocol, frame by frame; a step consumes its state and returns the next.
///
/// The states are boxed, because they are large and move with every frame.
#[derive(Debug)]
pub enum StreamDecoder {
    OpenaiChat(Box<openai_chat::Decoder>),
    OpenaiResponses(Box<openai_responses::Decoder>),
    AnthropicMessages(Box<anthropic_messages::Decoder>),
    Gemini(Box<gemini::Decoder>),
}

impl StreamDecoder {
    pub fn new(protocol: Protocol) -> Self {
        (protocol.codec().stream_decoder)()
    }

    /// Reads one frame. A frame that cannot be read is an error and ends the stream.
    pub fn step<'f>(mut self, frame: &Frame<'f>, emit: &mut dyn FnMut(Event<'f>)) -> Result<Self> {
        match &mut self {
            Self::OpenaiChat(decoder) => decoder.step(frame, emit),
            Self::OpenaiResponses(decoder) => decoder.step(frame, emit),
            Self::AnthropicMessages(decoder) => decoder.step(frame, emit),
            Self::Gemini(decoder) => decoder.step(frame, emit),
        }?;
        Ok(self)
    }

    /// Whether the end of the answer has been read and is held back, since more may come before it; [`StreamDecoder::end`]
    /// tells it.
    pub fn is_ending(&self) -> bool {
        match self {
            Self::OpenaiChat(decoder) => decoder.is_complete(),
            Self::OpenaiResponses(_) | Self::AnthropicMessages(_) | Self::Gemini(_) => false,
        }
    }

    /// Says that no frame follows. A stream that had not reached its end emits a fault of kind `Truncated`.
    pub fn end(self, emit: &mut dyn FnMut(Event<'static>)) {
        match self {
            Self::OpenaiChat(decoder) => decoder.end(emit),
            Self::OpenaiResponses(decoder) => decoder.end(emit),
            Self::AnthropicMessages(decoder) => decoder.end(emit),
            Self::Gemini(decoder) => decoder.end(emit),
        }
    }
}

/// Writes a stream of one protocol, event by event.
#[derive(Debug)]
pub struct StreamEncoder<'a> {
    machine: Machine<'a>,
    /// Where the protocol signs thinking alone.
    handing: Option<Handing>,
    /// How many parts are open; a hostile stream could open them without end.
    open: usize,
    /// Halves of characters at the ends of deltas, which wait for the other half: no client can read one alone.
    halves: Vec<(PartId, Text<'static>)>,
    is_over: bool,
}

/// The state of one protocol's encoder, boxed as decoders are.
#[derive(Debug)]
pub(in crate::protocol) enum Machine<'a> {
    OpenaiChat(Box<openai_chat::Encoder<'a>>),
    OpenaiResponses(Box<openai_responses::Encoder<'a>>),
    AnthropicMessages(Box<anthropic_messages::Encoder<'a>>),
    Gemini(Box<gemini::Encoder<'a>>),
}

impl<'a> StreamEncoder<'a> {
    /// An encoder into `protocol` of a stream that comes in `source`'s.
    pub fn new(protocol: Protocol, source: Protocol, context: AnswerContext<'a>) -> Self {
        let machine = (protocol.codec().stream_encoder)(source, context);
        let handing = Rule::of(source, protocol).map(Handing::new);
        Self { machine, handing, open: 0, halves: Vec::new(), is_over: false }
    }

    /// Writes what an event makes of the stream, as complete SSE frames. Nothing follows a fault.
    pub fn step(mut self, event: Event<'_>, out: &mut String) -> Self {
        if self.is_over {
            return self;
        }
        match event {
            Event::Delta(part, Delta::Text(text)) => self.grow(part, text, out),
            Event::Open(open) => self.open(open, out),
            Event::Close(closed) => {
                self.open = self.open.saturating_sub(1);
                self.let_half_go(closed.part, out);
                self.pass(Event::Close(closed), out);
            }
            event => {
                self.is_over = matches!(event, Event::Fault(_));
                self.pass(event, out);
            }
        }
        self
    }

    /// Passes a delta on, without half a character at its end and with the half that was left over before it.
    fn grow(&mut self, part: PartId, mut text: Text<'_>, out: &mut String) {
        if let Some(waiting) = self.halves.iter().position(|(of, _)| *of == part) {
            let (_, mut half) = self.halves.swap_remove(waiting);
            half.push(&text);
            text = half;
        }
        if let Some(half) = text.take_half_at_end() {
            self.halves.push((part, half));
            if text.is_empty() {
                return;
            }
        }
        self.pass(Event::Delta(part, Delta::Text(text)), out);
    }

    /// Passes an event on to the protocol's own encoder.
    fn pass(&mut self, event: Event<'_>, out: &mut String) {
        let Self { machine, handing, .. } = self;
        match handing {
            Some(handing) => handing.step(event, &mut |event| machine.step(event, out)),
            None => machine.step(event, out),
        }
    }

    /// Passes on a half whose other half never came.
    fn let_half_go(&mut self, part: PartId, out: &mut String) {
        if let Some(waiting) = self.halves.iter().position(|(of, _)| *of == part) {
            let (_, half) = self.halves.swap_remove(waiting);
            self.pass(Event::Delta(part, Delta::Text(half)), out);
        }
    }

    /// Counts the open parts and lets a stream fail that has too many.
    fn open(&mut self, open: Open<'_>, out: &mut String) {
        if self.open < OPEN_PARTS_MAX {
            self.open += 1;
            return self.pass(Event::Open(open), out);
        }
        self.is_over = true;
        let message = format!("expected at most {OPEN_PARTS_MAX} parts open at once");
        self.pass(Event::Fault(Fault::new(FaultKind::Internal, message)), out);
    }

    /// Writes what is still owed at the end of the stream, and says what did not come through.
    pub fn end(mut self, out: &mut String) -> Report {
        let Self { machine, handing, .. } = &mut self;
        if let Some(handing) = handing {
            handing.end(&mut |event| machine.step(event, out));
        }
        match self.machine {
            Machine::OpenaiChat(encoder) => encoder.end(out),
            Machine::OpenaiResponses(encoder) => encoder.end(out),
            Machine::AnthropicMessages(encoder) => encoder.end(out),
            Machine::Gemini(encoder) => encoder.end(out),
        }
    }
}

impl Machine<'_> {
    fn step(&mut self, event: Event<'_>, out: &mut String) {
        match self {
            Self::OpenaiChat(encoder) => encoder.step(event, out),
            Self::OpenaiResponses(encoder) => encoder.step(event, out),
            Self::AnthropicMessages(encoder) => encoder.step(event, out),
            Self::Gemini(encoder) => encoder.step(event, out),
        }
    }
}

into_owned! {
    pub struct Exchange { request, protocol, semantics, body, body_bytes }
}
