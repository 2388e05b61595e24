//! Must not compile: session written through the reader.

use sabir_wire::DecodedRequest;

fn forget(decoded: &mut DecodedRequest<'_>) {
    decoded.semantics().session().previous_response_id = None;
}

fn main() {}
