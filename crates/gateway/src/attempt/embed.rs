//! Embeddings: the two protocols of OpenAI have one path and one shape for them, and the bytes pass as they are.

use std::sync::Arc;

use sabir_wire::FaultKind;

use crate::answer::{AnswerMode, InFlight, Incoming};
use crate::attempt::fallback::{AffectsHealth, Attempt};
use crate::attempt::prepare::Prepared;
use crate::attempt::refusal::refused;
use crate::attempt::{Handles, fallback, prepare, send};
use crate::call::Call;
use crate::failure::{Failure, Result};
use crate::route::{Candidate, Resolved};
use crate::surface;
use crate::trace::Trace;
use crate::upstream::{Endpoint, Provider, Turn, outgoing_headers};

/// Asks those of the targets that have embeddings.
pub(crate) async fn embed(
    handles: Handles<'_>,
    call: &Call<'_>,
    mut resolved: Resolved,
    flight: &mut InFlight,
) -> Result<Incoming> {
    let first = resolved.targets.first().map(|target| Arc::clone(&target.provider.name));
    resolved.targets.retain(|target| endpoint(target).is_some());
    match first {
        Some(name) if resolved.targets.is_empty() => {
            let message = format!("{name} has no embeddings in this protocol's shape");
            Err(Failure::client(FaultKind::NotFound, message).with_param("model"))
        }
        _ => fallback::ask(handles, &Embedding(call), &resolved, flight).await,
    }
}

fn endpoint(candidate: &Candidate) -> Option<&Endpoint> {
    candidate.provider.endpoints.iter().find(|endpoint| path(endpoint).is_some())
}

/// Where an endpoint has embeddings.
fn path(endpoint: &Endpoint) -> Option<String> {
    let below = surface::of(endpoint.protocol).embeddings.filter(|_| endpoint.agent().is_none())?;
    Some(format!("{}{below}", endpoint.base_path))
}

struct Embedding<'c>(&'c Call<'c>);

impl Attempt for Embedding<'_> {
    type Output = Incoming;

    const AFFECTS_HEALTH: AffectsHealth = AffectsHealth::Yes;

    async fn prepare<'a>(
        &'a self,
        _handles: Handles<'a>,
        candidate: &'a Candidate,
        _trace: &mut Trace,
    ) -> Result<Prepared<'a>> {
        let endpoint = endpoint(candidate).ok_or_else(prepare::without_endpoint)?;
        let path = path(endpoint).ok_or_else(prepare::without_endpoint)?;
        // Which of the two protocols the provider has is all the same to the client.
        let call = Call { client: endpoint.protocol, ..self.0.clone() };
        Ok(Prepared {
            endpoint,
            path,
            headers: outgoing_headers(&call, &candidate.provider.config, endpoint),
            body: prepare::spliced(&call, &candidate.model),
            mode: AnswerMode::PassThrough,
        })
    }

    async fn open(
        &self,
        handles: Handles<'_>,
        asked: (&Provider, Option<Turn<'_>>),
        prepared: &Prepared<'_>,
        flight: &mut InFlight,
    ) -> Result<Incoming> {
        let incoming = send::begin(handles, asked, prepared, flight.trace.key()).await?;
        match incoming.head.status {
            200..300 => Ok(incoming),
            // Which of the two protocols the provider has is all the same here too.
            _ => {
                Err(refused(handles.snapshot, Incoming { protocol: self.0.client, ..incoming })
                    .await)
            }
        }
    }
}
