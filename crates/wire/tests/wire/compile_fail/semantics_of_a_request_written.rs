//! Must not compile: semantics of a request written.

use sabir_wire::DecodedRequest;

fn forget(decoded: &mut DecodedRequest<'_>) {
    decoded.semantics.session_mut().previous_response_id = None;
}

fn main() {}
