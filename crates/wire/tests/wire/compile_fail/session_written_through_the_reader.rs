//! Must not compile: session written through the reader.

use sabir_wire::Exchange;

fn forget(exchange: &mut Exchange<'_>) {
    exchange.semantics().session().previous_response_id = None;
}

fn main() {}
