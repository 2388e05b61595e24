//! Whether a connection may serve another request, decided in one place. All clients of a thread share its connections: where
//! the server and this client could disagree on where a request or an answer ends, bytes of one exchange would become part of
//! the next one.

use http::Method;

use crate::http::client::{Arrived, Outgoing};

/// What a caller wants done with a connection after its exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Afterwards {
    /// It waits for another request, if nothing about the exchange was odd.
    Keep,
    /// It closes: nobody knows whether the server reads such a request to its end.
    Close,
}

/// What an exchange was like. Each field is a condition for using its connection again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conduct {
    /// The caller lets the connection be used again.
    is_wanted: bool,
    /// Servers read such a request to its end: some leave the body of a GET or a DELETE unread, and take it for the next
    /// request.
    has_expected_body: bool,
    /// The answer has a body unless its status says otherwise: some servers send one to HEAD, too, right into the next answer.
    has_expected_answer: bool,
    /// The whole request was written before the first byte of an answer came.
    is_in_turn: bool,
    /// No interim answer came, which nobody asked for.
    is_single: bool,
    /// The server speaks HTTP/1.1 and does not announce that it closes.
    is_persistent: bool,
    /// One header, and no more, says where the body ends; none where there is no body.
    is_plainly_framed: bool,
    /// Nothing stood behind the end of the answer.
    pub(super) ends_clean: bool,
}

impl Conduct {
    /// What is known of an exchange before the body of its answer is read.
    pub(super) fn of(outgoing: &Outgoing<'_>, arrived: &Arrived) -> Self {
        let head = &arrived.head;
        let has_body = outgoing.body.iter().any(|piece| !piece.is_empty());
        Self {
            is_wanted: outgoing.afterwards == Afterwards::Keep,
            has_expected_body: !has_body || takes_body(outgoing.method),
            has_expected_answer: !matches!(
                *outgoing.method,
                Method::HEAD | Method::CONNECT | Method::TRACE
            ),
            is_in_turn: arrived.is_in_turn,
            is_single: arrived.is_single,
            is_persistent: head.is_persistent,
            is_plainly_framed: head.is_plainly_framed(),
            ends_clean: false,
        }
    }

    pub(super) fn is_reusable(self) -> bool {
        let Self {
            is_wanted,
            has_expected_body,
            has_expected_answer,
            is_in_turn,
            is_single,
            is_persistent,
            is_plainly_framed,
            ends_clean,
        } = self;
        is_wanted
            && has_expected_body
            && has_expected_answer
            && is_in_turn
            && is_single
            && is_persistent
            && is_plainly_framed
            && ends_clean
    }
}

/// Whether every server expects a body with the method.
fn takes_body(method: &Method) -> bool {
    matches!(*method, Method::POST | Method::PUT | Method::PATCH)
}
