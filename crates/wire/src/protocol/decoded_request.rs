//! A request as its protocol meant it: content that anyone may edit, semantics that only protocols write.

use std::borrow::Cow;

use crate::conversation::Request;
use crate::error::Result;
use crate::json::{Reader, Survey};
use crate::loss::Report;
use crate::owned::into_owned;
use crate::protocol::Protocol;
use crate::protocol::semantics::{Artefact, Semantics};
use crate::protocol::translation::{Encoded, without_mark};
use crate::target::Target;
use crate::utf8;

/// A request with everything its protocol meant: content that anyone may edit, semantics that only protocols write.
#[derive(Clone, Debug)]
pub struct DecodedRequest<'a> {
    pub(super) request: Request<'a>,
    protocol: Protocol,
    semantics: Semantics<'a>,
    /// The body that the request was read from, as long as nobody edited the request.
    body: Option<Cow<'a, str>>,
    /// The size of that body; zero for a request of our own making.
    body_bytes: usize,
}

impl<'a> DecodedRequest<'a> {
    /// A request of our own making, to be sent in `protocol`'s manner of speaking. Messages, parts and tools may come from
    /// anywhere: what rode on them meant something in the request that they were decoded in, and stays behind.
    pub fn new(protocol: Protocol, mut request: Request<'a>) -> Self {
        request.forget_semantics();
        Self::of_decoded(protocol, request)
    }

    /// A request of messages and tools that were read in `protocol` and keep what they meant there.
    pub(super) fn of_decoded(protocol: Protocol, request: Request<'a>) -> Self {
        Self { request, protocol, semantics: Semantics::default(), body: None, body_bytes: 0 }
    }

    pub fn request(&self) -> &Request<'a> {
        &self.request
    }

    /// The request to be changed. From here on the request is encoded anew in its own protocol too: it means the same
    /// there, and may be spelled otherwise where the protocol has several spellings.
    pub fn edit(&mut self) -> &mut Request<'a> {
        self.body = None;
        &mut self.request
    }

    /// The body that the request was read from; none once the request was edited.
    pub(super) fn body(&self) -> Option<&str> {
        self.body.as_deref()
    }

    pub fn into_request(self) -> Request<'a> {
        self.request
    }

    /// The expected length of a body that states the same, so that it seldom has to move while it grows.
    pub(super) fn body_bytes_expected(&self) -> usize {
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

impl Protocol {
    /// Reads a request body.
    pub fn decode_request(self, body: &[u8]) -> Result<DecodedRequest<'_>> {
        self.decode_request_text(utf8::text(body)?)
    }

    /// The same for whoever has text already.
    pub fn decode_request_text(self, body: &str) -> Result<DecodedRequest<'_>> {
        let body = without_mark(body);
        self.decode_request_with(Reader::new(body), body)
    }

    /// The same for whoever has passed over the text before.
    pub fn decode_request_surveyed<'a>(self, body: &'a Survey<'a>) -> Result<DecodedRequest<'a>> {
        self.decode_request_with(Reader::surveyed(body), body.source())
    }

    fn decode_request_with<'a>(
        self,
        reader: Reader<'a>,
        body: &'a str,
    ) -> Result<DecodedRequest<'a>> {
        let (request, semantics) = (self.codec().decode_request)(reader)?;
        let (body, body_bytes) = (Some(Cow::Borrowed(body)), body.len());
        Ok(DecodedRequest { request, protocol: self, semantics, body, body_bytes })
    }
}

into_owned! {
    pub struct DecodedRequest { request, protocol, semantics, body, body_bytes }
}
