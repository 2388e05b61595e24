//! Must not compile: conversation diagnosed.

use sabir_wire::conversation::Request;
use sabir_wire::{DecodedRequest, Diagnostics};

/// What was decoded can be.
fn of_decoded(decoded: &DecodedRequest<'_>) {
    let _ = Diagnostics::of(decoded);
}

fn of_request(request: &Request<'_>) {
    let _ = Diagnostics::of(request);
}

fn main() {}
