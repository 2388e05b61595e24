//! Whether the gateway lives, and whether it takes requests.

use http::StatusCode;

use crate::egress;
use crate::egress::Reply;
use crate::memory::Memory;
use crate::state::Snapshot;

pub(super) fn root() -> Reply {
    egress::text(
        "Sabir is running. Point a client at this address; GET /v1/models says what it serves.\n",
    )
}

pub(super) fn alive() -> Reply {
    egress::text("ok\n")
}

fn has_store(snapshot: &Snapshot) -> bool {
    snapshot.shared.memory.as_ref().is_none_or(Memory::is_up)
}

/// Not ready once it was told to stop, so that a balancer sends nothing new.
pub(super) fn ready(snapshot: &Snapshot) -> Reply {
    match snapshot.shared.is_stopping() {
        false if has_store(snapshot) => egress::text("ready\n"),
        // What asks for no state is served all the same.
        false => egress::text("ready, but the store fails\n"),
        true => {
            let mut reply = egress::text("stopping\n");
            *reply.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
            reply
        }
    }
}
