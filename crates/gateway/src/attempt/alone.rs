//! A request to one provider that no other target stands in for: its own paths, and its list of models.

use http::Method;

use crate::answer::Incoming;
use crate::attempt::send::send;
use crate::attempt::{Handles, PAUSE};
use crate::failure::Result;
use crate::upstream::{Endpoint, Provider, Request};

/// Sends a request and reads the head of the answer. If its connection fails, a request that changes nothing is sent again,
/// as often as `retries` says; `begin_attempt` is called each time.
pub(crate) async fn send_alone(
    handles: Handles<'_>,
    provider: &Provider,
    endpoint: &Endpoint,
    request: Request<'_>,
    mut begin_attempt: impl FnMut(),
) -> Result<Incoming> {
    let mut tries_left = match *request.method {
        Method::GET | Method::HEAD | Method::OPTIONS => provider.config.retries,
        _ => 0,
    };
    loop {
        begin_attempt();
        match send(handles, provider, endpoint, request).await {
            Err(failure) if failure.broken.is_some() && tries_left > 0 => tries_left -= 1,
            outcome => return outcome,
        }
        tokio::time::sleep(PAUSE).await;
    }
}
