//! A request to one provider that no other target stands in for: its own paths, and its list of models.

use http::{Method, StatusCode};

use crate::answer::Incoming;
use crate::attempt::send::send;
use crate::attempt::{Handles, PAUSE};
use crate::failure::Result;
use crate::upstream::{Endpoint, Provider, Request, Turn};

/// Whether the provider did not take the key, and there is another. That something else was limited or forbidden has no bearing on
/// answers.
fn is_refused(turn: Option<Turn<'_>>, provider: &Provider, incoming: &Incoming) -> bool {
    let is_refused = incoming.head.status == StatusCode::UNAUTHORIZED;
    is_refused && turn.is_some_and(|turn| turn.is_refused(&provider.name))
}

/// Sends a request and reads the head of the answer. If its connection or its key fails, a request that changes nothing is
/// sent again, as often as `retries` allows; `begin_attempt` is called each time.
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
        let turn = provider.keys.take(None);
        match send(handles, provider, endpoint, Request { turn, ..request }).await {
            Err(failure) if failure.broken.is_some() && tries_left > 0 => {
                tokio::time::sleep(PAUSE).await;
            }
            Ok(incoming) if is_refused(turn, provider, &incoming) && tries_left > 0 => {}
            outcome => return outcome,
        }
        tries_left -= 1;
    }
}
