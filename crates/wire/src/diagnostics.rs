//! Diagnostics: what people want to know of a request and no code may act on.
//!
//! They are computed from a request and never kept in it, so no layer that forwards one can come to depend
//! on them: taking them away changes no payload.

use crate::protocol::DecodedRequest;

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
        let (request, facts) = (decoded.request(), decoded.protocol().facts());
        let session = decoded.semantics().session();
        let continues = session.previous_response_id.is_some() || session.conversation.is_some();
        let is_silent = request.messages.iter().all(|message| message.role.instructs());
        let lacks_messages = is_silent && !continues;
        let lacks_model = request.model.is_none() && !facts.names_model_in_path;
        let lacks_limit = request.max_output_tokens.is_none() && facts.demands_output_limit;
        let fields = [
            (lacks_model, "/model", "no model is named"),
            (lacks_messages, facts.messages_pointer, "there is no message beside instructions"),
            (lacks_limit, "/max_tokens", "this protocol demands a limit"),
        ];
        let missing = fields.into_iter().filter(|(is_missing, ..)| *is_missing);
        let missing_fields = missing.map(|(_, pointer, reason)| MissingField { pointer, reason });
        Self { missing_fields: missing_fields.collect(), provider_metadata: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Protocol;

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
