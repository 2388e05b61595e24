//! Mending what no provider would take, before a request is written for one.

use sabir_compose::Policy;
use sabir_compose::Refused;
use sabir_wire::FaultKind;
use sabir_wire::Protocol;
use sabir_wire::Report;
use sabir_wire::conversation::Request;

use crate::failure::Failure;
use crate::failure::Result;

/// Repairs a request that is about to be written for a provider of `upstream`, and says what was done.
pub(super) fn mend(request: &mut Request<'_>, upstream: Protocol) -> Result<Report> {
    let trace = sabir_compose::repair(request, &Policy::towards(upstream)).map_err(refused)?;
    Ok(trace.into_report())
}

fn refused(refused: Refused) -> Box<Failure> {
    Failure::client(FaultKind::BadRequest, refused.to_string())
}
