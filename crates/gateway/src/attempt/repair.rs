//! Mending what no provider would take, before a request is written for one.

use sabir_compose::Policy;
use sabir_compose::Refused;
use sabir_wire::FaultKind;
use sabir_wire::Protocol;
use sabir_wire::Report;
use sabir_wire::conversation::Content;
use sabir_wire::conversation::Part;
use sabir_wire::conversation::Request;
use sabir_wire::json::Text;

use crate::attempt::Payload;
use crate::attempt::prepare::target;
use crate::call::Call;
use crate::config::types::Provider;
use crate::failure::Failure;
use crate::failure::Result;
use crate::observe::Trace;

/// Repairs a request that is about to be written for a provider of `upstream`, and says what was done.
pub(super) fn mend(request: &mut Request<'_>, upstream: Protocol) -> Result<Report> {
    let trace = sabir_compose::repair(request, &Policy::towards(upstream)).map_err(refused)?;
    Ok(trace.into_report())
}

/// The body of a request that stays in its protocol, if it needed repair; else the client's own bytes will do.
pub(super) fn own(
    call: &Call,
    model: &str,
    provider: &Provider,
    trace: &mut Trace,
) -> Result<Option<Payload<'static>>> {
    // What cannot be read is for the provider to refuse.
    let Ok(mut exchange) = call.client.decode_request_text(&call.body) else { return Ok(None) };
    if call.session.is_some() || refers_elsewhere(&exchange.request) {
        return Ok(None);
    }
    let report = mend(&mut exchange.request, call.client)?;
    if report.is_empty() {
        return Ok(None);
    }
    if call.client != Protocol::Gemini {
        exchange.request.model = Some(Text::plain(model));
    }
    let encoded = exchange.encode(call.client, &target(provider, model))?;
    trace.loses(report);
    trace.loses(encoded.report);
    Ok(Some(encoded.body.into_bytes().into()))
}

/// Whether parts of the conversation are with the provider alone, so that a call may be there which is not here.
fn refers_elsewhere(request: &Request<'_>) -> bool {
    let is_reference = |part: &Part<'_>| match part.content() {
        Content::Opaque(opaque) => opaque.kind == "item_reference",
        _ => false,
    };
    request.messages.iter().flat_map(|message| &message.parts).any(is_reference)
}

fn refused(refused: Refused) -> Box<Failure> {
    Failure::client(FaultKind::BadRequest, refused.to_string())
}
