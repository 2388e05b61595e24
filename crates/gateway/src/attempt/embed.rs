//! Embeddings: the two protocols of OpenAI have one path and one shape for them, and the bytes pass as they are.

use http::HeaderMap;
use sabir_wire::FaultKind;

use crate::Gateway;
use crate::attempt::Feed;
use crate::attempt::Means;
use crate::attempt::Prepared;
use crate::attempt::ask;
use crate::attempt::ask::Bearing;
use crate::attempt::ask::Question;
use crate::attempt::headers;
use crate::attempt::open;
use crate::attempt::prepare;
use crate::attempt::prepare::Manner;
use crate::attempt::refusal::refusal;
use crate::attempt::upstream::Endpoint;
use crate::call::Call;
use crate::failure::Failure;
use crate::failure::Refusal;
use crate::failure::Result;
use crate::observe::Trace;
use crate::route::Candidate;
use crate::route::Resolved;
use crate::surface;

/// Embeddings that begin to come.
#[derive(Debug)]
pub(crate) struct Embedded {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) feed: Box<Feed>,
}

/// Asks those of the targets that have embeddings.
pub(crate) async fn embed(
    means: Means<'_>,
    call: &Call<'_>,
    mut resolved: Resolved,
    trace: &mut Trace,
) -> Result<Embedded> {
    let first = resolved.targets.first().map(|target| target.provider);
    resolved.targets.retain(|target| endpoint(means.gateway, target).is_some());
    match first {
        Some(first) if resolved.targets.is_empty() => {
            let name = &means.gateway.upstreams[first].name;
            let message = format!("{name} has no embeddings in this protocol's shape");
            Err(Failure::client(FaultKind::NotFound, message).with_param("model"))
        }
        _ => ask::ask(means, &Embedding(call), &resolved, trace).await,
    }
}

fn endpoint<'g>(gateway: &'g Gateway, candidate: &Candidate) -> Option<&'g Endpoint> {
    let endpoints = &gateway.upstreams[candidate.provider].endpoints;
    endpoints.iter().find(|endpoint| path(endpoint).is_some())
}

/// Where an endpoint has embeddings.
fn path(endpoint: &Endpoint) -> Option<String> {
    let below = surface::of(endpoint.protocol).embeddings?;
    Some(format!("{}{below}", endpoint.base_path))
}

struct Embedding<'c>(&'c Call<'c>);

impl Question for Embedding<'_> {
    type Answer = Embedded;

    const BEARING: Bearing = Bearing::Answer;

    async fn prepare<'a>(
        &'a self,
        means: Means<'a>,
        candidate: &Candidate,
        _trace: &mut Trace,
    ) -> Result<Prepared<'a>> {
        let endpoint = endpoint(means.gateway, candidate).ok_or_else(prepare::without_endpoint)?;
        let path = path(endpoint).ok_or_else(prepare::without_endpoint)?;
        // Which of the two protocols the provider speaks is all the same to the client.
        let call = Call { client: endpoint.protocol, ..self.0.clone() };
        let provider = &means.gateway.config.providers[candidate.provider];
        Ok(Prepared {
            endpoint,
            path,
            headers: headers::outgoing(&call, provider, endpoint),
            body: prepare::spliced(&call, &candidate.model),
            manner: Manner::Through,
        })
    }

    async fn open(
        &self,
        means: Means<'_>,
        provider: usize,
        prepared: &Prepared<'_>,
        _trace: &mut Trace,
    ) -> Result<Embedded> {
        let (status, headers, mut feed) = open::begin(means, provider, prepared).await?;
        if (200..300).contains(&status) {
            return Ok(Embedded { status, headers, feed: Box::new(feed) });
        }
        let bytes_max = means.gateway.config.limits.answer_bytes_max;
        let body = open::whole_body(means.gateway, &mut feed, &headers, bytes_max)
            .await
            .unwrap_or_default();
        Err(refusal(Refusal { protocol: self.0.client, status, headers, body }))
    }
}
