//! The handshake of a WebSocket, as far as it differs from any other request.

use http::header::{CONNECTION, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE};
use http::{HeaderMap, HeaderName, HeaderValue};
use sabir_wire::FaultKind;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use crate::failure::{Failure, Result};

/// The version of the protocol that everybody uses.
pub(crate) const VERSION: HeaderValue = HeaderValue::from_static("13");

/// The characters of 16 bytes in base64.
const KEY_BYTES: usize = 24;

/// Whether a request asks for a WebSocket.
pub(crate) fn wants_socket(headers: &HeaderMap) -> bool {
    has_word(headers, &UPGRADE, "websocket")
}

/// What the gateway answers to the key of a handshake.
pub(crate) fn accept_key(headers: &HeaderMap) -> Result<HeaderValue> {
    if headers.get(SEC_WEBSOCKET_VERSION) != Some(&VERSION) {
        let message = "expected version 13 of the WebSocket protocol";
        return Err(Failure::client(FaultKind::BadRequest, message).with_status(426));
    }
    let key = headers.get(SEC_WEBSOCKET_KEY).map(HeaderValue::as_bytes);
    let key = key.filter(|key| key.len() == KEY_BYTES && has_word(headers, &CONNECTION, "upgrade"));
    let accepted = key.and_then(|key| HeaderValue::try_from(derive_accept_key(key)).ok());
    accepted.ok_or_else(|| {
        let message = "expected the handshake of a WebSocket: `connection: upgrade` and a `sec-websocket-key`";
        Failure::client(FaultKind::BadRequest, message)
    })
}

/// Whether a header that is a list has that token.
fn has_word(headers: &HeaderMap, name: &HeaderName, word: &str) -> bool {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|it| it.trim().eq_ignore_ascii_case(word))
}
