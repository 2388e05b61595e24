//! `POST /sabir/v1/reload`: the configuration is read again, for whoever runs the gateway and nobody else.

use std::sync::Arc;

use http::{HeaderMap, StatusCode, Uri};
use sabir_wire::FaultKind;
use sabir_wire::json::Writer;

use crate::answer::{Ended, InFlight};
use crate::config::types::GatewayKey;
use crate::egress::Reply;
use crate::failure::{Failure, Result, Whose};
use crate::observe::Outcome;
use crate::state::Snapshot;
use crate::{Gateway, NotReloaded, Reloaded, egress, ingress, surface};

/// Who asks for it.
pub(crate) struct ReloadAsked<'r> {
    /// Whether the connection comes from this machine.
    pub(crate) is_local: bool,
    pub(crate) uri: &'r Uri,
    pub(crate) headers: &'r HeaderMap,
    /// The gateway key that it came with.
    pub(crate) key: Option<&'r Arc<GatewayKey>>,
}

pub(crate) async fn reload(
    gateway: &Arc<Gateway>,
    snapshot: &Arc<Snapshot>,
    asked: ReloadAsked<'_>,
) -> Reply {
    let mut flight = InFlight::begin(snapshot, surface::DEFAULT, asked.key);
    let outcome = match check(&asked, snapshot.config().auth.required) {
        Ok(()) => read_again(gateway).await,
        Err(failure) => Err(failure),
    };
    match outcome {
        Ok(reloaded) => {
            flight.trace.set_status(200);
            flight.end(Ended::plain(Outcome::Answered));
            egress::json(StatusCode::OK, written(&reloaded))
        }
        Err(failure) => egress::rescue(surface::DEFAULT, *failure, flight),
    }
}

/// Refuses whoever may not ask.
fn check(asked: &ReloadAsked<'_>, needs_key: bool) -> Result<()> {
    let refusal = if !asked.is_local || !ingress::names_loopback(asked.uri, asked.headers) {
        "the configuration is read again for clients on this machine only, by its loopback address"
    } else if needs_key && !asked.key.is_some_and(|key| key.admin) {
        "the configuration is read again for keys with `admin = true` only"
    } else {
        return Ok(());
    };
    Err(Failure::new(Whose::Policy, FaultKind::Permission, refusal))
}

/// Reads it on a thread that may wait for files.
async fn read_again(gateway: &Arc<Gateway>) -> Result<Reloaded> {
    let gateway = Arc::clone(gateway);
    let reading = tokio::task::spawn_blocking(move || gateway.reload());
    match reading.await {
        Ok(reloaded) => reloaded.map_err(|reason| {
            let code = match &reason {
                NotReloaded::NoFile => "no_config_file",
                NotReloaded::Problems(_) => "invalid_config",
            };
            Failure::client(FaultKind::BadRequest, reason.to_string()).with_code(code)
        }),
        Err(_) => {
            let message = "the configuration could not be read again";
            Err(Failure::new(Whose::Gateway, FaultKind::Internal, message))
        }
    }
}

fn written(reloaded: &Reloaded) -> String {
    let mut writer = Writer::with_capacity(256);
    writer.object(|it| {
        it.key("changed");
        it.array(|list| reloaded.changed.iter().for_each(|name| list.value(name.as_str())));
        it.key("needs_restart");
        it.array(|list| reloaded.needs_restart.iter().for_each(|name| list.value(*name)));
    });
    writer.into_string()
}
