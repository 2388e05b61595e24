//! Whether the gateway lives, and whether it takes requests.

use http::StatusCode;

use crate::egress;
use crate::egress::Reply;
use crate::state::Snapshot;

pub(super) fn root() -> Reply {
    egress::text(
        "Sabir is running. Point a client at this address; GET /v1/models says what it serves.\n",
    )
}

pub(super) fn alive() -> Reply {
    egress::text("ok\n")
}

/// Not ready once it was told to stop, so that a balancer sends nothing new.
pub(super) fn ready(snapshot: &Snapshot) -> Reply {
    match snapshot.shared.is_stopping() {
        false => egress::text("ready\n"),
        true => {
            let mut reply = egress::text("stopping\n");
            *reply.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
            reply
        }
    }
}
