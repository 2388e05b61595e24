//! `/sabir/v1/conversations`: what is kept, for whoever it belongs to, in no protocol's words.

mod begin;
mod import;
mod join;
mod list;
mod messages;
mod transcript;
mod turns;

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, StatusCode, Uri};
use http_body::Body;
use sabir_store::{Conversation, ConversationId, Owner, Store};
use sabir_wire::FaultKind;
use sabir_wire::json::Writer;

use crate::answer::{Ended, InFlight};
use crate::config::types::{GatewayKey, Level};
use crate::egress::Reply;
use crate::failure::{Failure, Result, Whose};
use crate::ingress::Conversations;
use crate::observe::Outcome;
use crate::pool::Pool;
use crate::recall::{found, trouble};
use crate::state::Snapshot;
use crate::surface::Trouble;
use crate::{egress, ingress, surface};

/// Who asks.
pub(crate) struct Asker<'r> {
    /// Whether the connection comes from this machine.
    pub(crate) is_local: bool,
    pub(crate) uri: &'r Uri,
    pub(crate) headers: &'r HeaderMap,
    pub(crate) key: Option<&'r Arc<GatewayKey>>,
}

/// The store, and whose part of it is shown.
struct Archive<'s> {
    store: Store,
    owner: Owner,
    /// What ids are made of.
    exchange: String,
    /// For what takes long to read.
    pool: &'s Pool,
}

pub(crate) async fn conversations<B>(
    snapshot: &Arc<Snapshot>,
    asker: Asker<'_>,
    asked: &Conversations,
    body: &mut B,
) -> Reply
where
    B: Body<Data = Bytes> + Unpin,
{
    let mut flight = InFlight::begin(snapshot, surface::DEFAULT, asker.key);
    flight.trace.set_no_call();
    match answer(snapshot, &asker, asked, (body, &mut flight)).await {
        Ok(body) => {
            flight.trace.set_status(200);
            flight.end(Ended::plain(Outcome::Answered));
            egress::json(StatusCode::OK, body)
        }
        Err(failure) => egress::rescue(surface::DEFAULT, *failure, flight),
    }
}

async fn answer<B>(
    snapshot: &Snapshot,
    asker: &Asker<'_>,
    asked: &Conversations,
    (body, flight): (&mut B, &mut InFlight),
) -> Result<String>
where
    B: Body<Data = Bytes> + Unpin,
{
    check(asker, snapshot.config().auth.required)?;
    let unkept = || trouble(surface::DEFAULT, &Trouble::Unkept);
    let archive = Archive::of(snapshot, asker, flight.trace.id()).ok_or_else(unkept)?;
    let mut sent = Vec::new();
    if matches!(asked, Conversations::Begin | Conversations::Fork(_)) {
        flight.admission.admit()?;
        sent = ingress::read_body(body, asker.headers, &mut flight.admission).await?;
    }
    match asked {
        Conversations::List => archive.list(asker.uri).await,
        Conversations::Begin => archive.begin(sent).await,
        Conversations::Read(id) => archive.turns(id).await,
        Conversations::Messages(id) => archive.messages(id, asker.uri).await,
        Conversations::Fork(id) => archive.fork(id, sent).await,
        Conversations::Delete(id) => archive.delete(id).await,
    }
}

/// Where nobody has a key, everybody is the same owner: then only this machine may look.
pub(super) fn check(asker: &Asker<'_>, needs_key: bool) -> Result<()> {
    let is_near = asker.is_local && ingress::names_loopback(asker.uri, asker.headers);
    if needs_key || is_near {
        return Ok(());
    }
    let refusal = "what is kept is shown to clients on this machine only, by its loopback address, unless keys are required";
    Err(Failure::new(Whose::Policy, FaultKind::Permission, refusal))
}

impl<'s> Archive<'s> {
    fn of(snapshot: &'s Snapshot, asker: &Asker<'_>, exchange: &str) -> Option<Self> {
        let memory = snapshot.shared.memory.as_ref()?;
        let (store, owner) = (memory.store().clone(), memory.owner(asker.key));
        let (exchange, pool) = (exchange.to_owned(), &snapshot.shared.pool);
        (memory.level() >= Level::Stateful).then_some(Self { store, owner, exchange, pool })
    }

    async fn find(&self, id: &str) -> Result<Conversation> {
        let known = ConversationId::new(id).map_err(|_| unknown(id))?;
        found(self.store.conversation(&self.owner, &known).await)?.ok_or_else(|| unknown(id))
    }

    /// An id that nobody has.
    fn made_id(&self) -> String {
        format!("conv_{}", self.exchange.trim_start_matches("ex_"))
    }
}

/// Whether nobody has given a conversation this name.
fn is_made_id(id: &str) -> bool {
    id.starts_with("conv_")
}

fn unknown(id: &str) -> Box<Failure> {
    trouble(surface::DEFAULT, &Trouble::UnknownConversation(id))
}

/// One JSON object.
pub(super) fn object(members: impl FnOnce(&mut Writer)) -> String {
    let mut writer = Writer::default();
    writer.object(members);
    writer.into_string()
}
