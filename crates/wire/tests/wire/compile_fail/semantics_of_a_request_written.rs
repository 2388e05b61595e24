//! Must not compile: semantics of a request written.

use sabir_wire::Exchange;

fn forget(exchange: &mut Exchange<'_>) {
    exchange.semantics.session_mut().previous_response_id = None;
}

fn main() {}
