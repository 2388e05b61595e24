//! Must not compile: body read beside the conversation.

use sabir_wire::DecodedRequest;
use sabir_wire::conversation::Request;

fn of_decoded<'r>(decoded: &'r DecodedRequest<'_>) -> Option<&'r str> {
    decoded.body()
}

fn of_request<'r>(request: &'r Request<'_>) -> Option<&'r str> {
    request.body()
}

fn main() {}
