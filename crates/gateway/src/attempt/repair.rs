//! Mending what no provider would take, before a request is written for one.

use sabir_compose::{Policy, Refused};
use sabir_wire::conversation::Request;
use sabir_wire::{FaultKind, Protocol, Report};

use crate::failure::{Failure, Result};

/// Repairs a client's request that is about to be written for a provider of `upstream`, and returns what was done.
pub(super) fn mend(
    request: &mut Request<'_>,
    client: Protocol,
    upstream: Protocol,
) -> Result<Report> {
    let trace = sabir_compose::repair(request, &Policy::towards(upstream))
        .map_err(|reason| refused(&reason, client))?;
    let instructs_only = request.messages.iter().all(|message| message.role.instructs());
    match instructs_only && upstream.facts().needs_user_turn {
        true => Err(without_turn(client, upstream)),
        false => Ok(trace.into_report()),
    }
}

/// Words that the user has not written would change the answer, so that none are made up.
fn without_turn(client: Protocol, upstream: Protocol) -> Box<Failure> {
    let message = format!(
        "expected a message beside the system prompt, found none; the provider speaks {}, which \
         needs one",
        upstream.as_str()
    );
    Failure::client(FaultKind::BadRequest, message).with_param(client.facts().messages())
}

fn refused(reason: &Refused, client: Protocol) -> Box<Failure> {
    Failure::client(FaultKind::BadRequest, reason.to_string()).with_param(client.facts().messages())
}
