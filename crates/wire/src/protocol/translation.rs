//! The face of the protocols for answers and errors: decode from any of them, encode to any of them.

use crate::conversation::Response;
use crate::error::{Error, ErrorKind, Result};
use crate::fault::Fault;
use crate::loss::Report;
use crate::protocol::estimate::completed;
use crate::protocol::handing::{Rule, handed};
use crate::protocol::semantics::{Declared, Spelling};
use crate::protocol::{AnswerContext, Fate, Field, Protocol, fault_losses};
use crate::utf8;

/// A body in another protocol, and what did not come through.
#[derive(Clone, Debug)]
pub struct Encoded {
    pub body: String,
    pub report: Report,
}

/// What most answers take at least, so that short ones never move while they grow.
pub(super) const ANSWER_BYTES: usize = 2048;

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
        let mut response = handed(response, Rule::of(source, self));
        if let Some((usage, estimate)) = completed(&response, context, (source, self)) {
            response.to_mut().usage = Some(usage);
            estimate.report((source, self), &mut report);
        }
        let body = (self.codec().encode_response)(&response, source, context, &mut report);
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

    /// Reads an error that came with an HTTP status, or with none where only its body was kept: then its own words show
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
    pub(super) fn pointer(self, field: Field, spelling: Spelling) -> &'static str {
        (self.codec().pointer)(field, spelling)
    }

    /// What becomes of a canonical field on its way into this protocol.
    pub fn fate(self, field: Field) -> Fate {
        self.codec().fields.row(field).fate
    }

    /// The declaration of a field below a node that only this protocol has.
    pub(super) fn declared(self, path: &str) -> Option<&'static Declared> {
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
pub(super) fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}
