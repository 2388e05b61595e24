//! Diagnostics: what people want to know of a request and no code may act on.
//!
//! They are computed from a request and never kept in it, so no layer that forwards one can come to depend
//! on them: taking them away changes no payload.

use crate::conversation::Request;
use crate::protocol::{DecodedRequest, Protocol};

/// What stands out about a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    /// Fields that the request's own protocol demands and the request does not have.
    pub missing_fields: Vec<MissingField>,
    /// What the provider stated beside its answer (request ids, limits), by header name; filled by who made the call.
    pub provider_metadata: Vec<(String, String)>,
}

/// A field that should be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissingField {
    /// JSON pointer of where it would stand.
    pub pointer: &'static str,
    pub reason: &'static str,
}

impl Diagnostics {
    /// Looks a request over.
    pub fn of(decoded: &DecodedRequest<'_>) -> Self {
        let request = decoded.request();
        let protocol = decoded.protocol();
        let mut missing_fields = Vec::new();
        missing_fields.extend(missing_model(protocol, request));
        missing_fields.extend(missing_messages(decoded));
        missing_fields.extend(missing_limit(protocol, request));
        Self { missing_fields, provider_metadata: Vec::new() }
    }
}

fn missing_model(protocol: Protocol, request: &Request<'_>) -> Option<MissingField> {
    let in_url = protocol.facts().names_model_in_path;
    (request.model.is_none() && !in_url)
        .then_some(MissingField { pointer: "/model", reason: "no model is named" })
}

fn missing_messages(decoded: &DecodedRequest<'_>) -> Option<MissingField> {
    let session = decoded.semantics().session();
    let continues = session.previous_response_id.is_some() || session.conversation.is_some();
    let pointer = decoded.protocol().facts().messages_pointer;
    let silent = decoded.request().messages.iter().all(|message| message.role.instructs());
    (silent && !continues)
        .then_some(MissingField { pointer, reason: "there is no message beside instructions" })
}

fn missing_limit(protocol: Protocol, request: &Request<'_>) -> Option<MissingField> {
    let demanded = protocol.facts().demands_output_limit;
    (demanded && request.max_output_tokens.is_none())
        .then_some(MissingField { pointer: "/max_tokens", reason: "this protocol demands a limit" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(protocol: Protocol, body: &str, expected: &[&str]) {
        let decoded = protocol.decode_request(body.as_bytes()).unwrap();
        let missing = Diagnostics::of(&decoded).missing_fields;
        let pointers: Vec<&str> = missing.iter().map(|field| field.pointer).collect();
        assert_eq!(pointers, expected);
    }

    #[test]
    fn what_a_protocol_demands_and_a_request_lacks_is_named() {
        check(
            Protocol::OpenaiChat,
            r#"{"messages":[{"role":"user","content":"hi"}]}"#,
            &["/model"],
        );
        check(
            Protocol::AnthropicMessages,
            r#"{"model":"m","messages":[]}"#,
            &["/messages", "/max_tokens"],
        );
        check(Protocol::OpenaiResponses, r#"{"model":"m","previous_response_id":"resp_1"}"#, &[]);
        check(Protocol::Gemini, r#"{"contents":[{"parts":[{"text":"hi"}]}]}"#, &[]);
    }
}
