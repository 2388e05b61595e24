//! What is kept for clients, as they ask for it: answers, what they were asked with, and conversations.

mod answers;
mod contents;
mod conversations;
mod item;
mod items;
pub(super) mod metadata;
mod order;
pub(super) mod page;
mod pending;
mod placing;

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode, Uri};
use http_body::Body;
use sabir_store::{Error, Kind, Owner, Store};
use sabir_wire::json::Text;
use sabir_wire::{Fault, FaultKind, Protocol};

use crate::admin::kept::order::Order;
use crate::admin::passthrough::{Raw, passthrough};
use crate::answer::{Ended, InFlight};
use crate::attempt::Handles;
use crate::config::types::{GatewayKey, Level};
use crate::egress::{KeptBody, Reply};
use crate::failure::{Failure, Result, Whose};
use crate::observe::Outcome;
use crate::pool::Wanted;
use crate::recall::{out_of_order, trouble};
use crate::state::Snapshot;
use crate::surface::{Kept, Trouble};
use crate::{egress, ingress, surface};

/// Who asks for what.
pub(crate) struct KeptAsked<'r> {
    pub(crate) client: Protocol,
    pub(crate) kept: Kept,
    pub(crate) method: &'r Method,
    pub(crate) uri: &'r Uri,
    pub(crate) headers: &'r HeaderMap,
    pub(crate) key: Option<&'r Arc<GatewayKey>>,
}

/// What came with it.
struct Sent<'r> {
    uri: &'r Uri,
    /// Empty where nobody reads one.
    body: Bytes,
    /// The id of the exchange, which ids are made of.
    exchange: &'r str,
}

/// The store, and whose part of it is shown in whose words.
struct Shelf<'s> {
    store: Store,
    owner: Owner,
    client: Protocol,
    /// For what takes long to read, and what is worked on.
    snapshot: &'s Arc<Snapshot>,
}

/// What is found.
enum Found {
    Body(String),
    /// The events of an answer, from the one of a number on.
    Events(KeptBody),
    /// It is with this provider.
    With(String),
}

/// Answers what needs no model.
pub(crate) async fn kept<B>(handles: Handles<'_>, asked: KeptAsked<'_>, body: &mut B) -> Reply
where
    B: Body<Data = Bytes> + Unpin,
{
    let (client, snapshot) = (asked.client, handles.snapshot);
    let mut flight = InFlight::begin(snapshot, client, asked.key);
    let found = match answer(snapshot, &asked, body, &mut flight).await {
        Ok(found) => found,
        Err(failure) => return egress::rescue(client, *failure, flight),
    };
    flight.trace.set_status(200);
    flight.end(Ended::plain(Outcome::Answered));
    match found {
        Found::Body(body) => egress::json(StatusCode::OK, body),
        Found::Events(body) => egress::stream(body),
        Found::With(provider) => ask_provider(handles, &provider, &asked, body).await,
    }
}

/// What a provider works on by itself is asked of it.
async fn ask_provider<B>(
    Handles { snapshot, client }: Handles<'_>,
    provider: &str,
    asked: &KeptAsked<'_>,
    body: &mut B,
) -> Reply
where
    B: Body<Data = Bytes> + Unpin,
{
    let known = snapshot.directory.provider(provider);
    let base = known.and_then(|it| it.endpoint_for(asked.client)).map(|it| &*it.base_path);
    let (base, path) = (base.unwrap_or_default(), asked.uri.path());
    let mut versions = surface::of(asked.client).versions.iter();
    let below = versions.find_map(|version| path.strip_prefix(version)).unwrap_or(path);
    let query = asked.uri.query().map(surface::without_key).filter(|query| !query.is_empty());
    let path = match query {
        Some(query) => format!("{base}{below}?{query}"),
        None => format!("{base}{below}"),
    };
    let KeptAsked { method, headers, key, .. } = *asked;
    passthrough(snapshot, client, provider, Raw { method, path, headers, key }, body).await
}

async fn answer<B>(
    snapshot: &Arc<Snapshot>,
    asked: &KeptAsked<'_>,
    body: &mut B,
    flight: &mut InFlight,
) -> Result<Found>
where
    B: Body<Data = Bytes> + Unpin,
{
    let shelf = Shelf::of(snapshot, asked).ok_or_else(|| unkept(snapshot, asked))?;
    let mut sent = Bytes::new();
    if asked.kept.has_body() {
        flight.admission.admit()?;
        sent = ingress::read_body(body, asked.headers, &mut flight.admission).await?.into();
    }
    let sent = Sent { uri: asked.uri, body: sent, exchange: flight.trace.id() };
    match shelf.pending(&asked.kept, &sent).await? {
        Some(found) => Ok(found),
        None => shelf.answer(&asked.kept, &sent).await.map(Found::Body),
    }
}

impl<'s> Shelf<'s> {
    fn of(snapshot: &'s Arc<Snapshot>, asked: &KeptAsked<'_>) -> Option<Self> {
        let memory = snapshot.shared.memory.as_ref()?;
        let (store, owner) = (memory.store().clone(), memory.owner(asked.key));
        let client = asked.client;
        // Files have neither answers nor items that could be named by an id.
        let is_kept = memory.level() >= Level::Stateful && !store.is_of_files();
        is_kept.then_some(Self { store, owner, client, snapshot })
    }

    /// What a body asks for.
    async fn order(&self, sent: &Sent<'_>) -> Result<Order> {
        let body = sent.body.clone();
        let read = move |_: &Wanted| Order::read(ingress::text(&body)?);
        self.snapshot.shared.pool.run_on(sent.body.len(), read).await
    }

    async fn answer(&self, kept: &Kept, sent: &Sent<'_>) -> Result<String> {
        match kept {
            Kept::ReadAnswer(id) => self.read_answer(id, sent.uri).await,
            Kept::DeleteAnswer(id) => self.delete_answer(id).await,
            Kept::ListInput(id) => self.list_input(id, sent.uri).await,
            Kept::CancelAnswer(id) => self.cancel_answer(id).await,
            Kept::SubmitResults(_) => Err(absent(kept)),
            Kept::CreateConversation => self.create_conversation(sent).await,
            Kept::ReadConversation(id) => self.read_conversation(id).await,
            Kept::ChangeConversation(id) => self.change_conversation(id, sent).await,
            Kept::DeleteConversation(id) => self.delete_conversation(id).await,
            Kept::ListItems(id) => self.list_items(id, sent.uri).await,
            Kept::AddItems(id) => self.add_items(id, sent).await,
            Kept::ReadItem { conversation, item } => self.read_item(conversation, item).await,
            Kept::DeleteItem { conversation, item } => self.delete_item(conversation, item).await,
        }
    }
}

/// Nothing may be kept here.
fn unkept(snapshot: &Snapshot, asked: &KeptAsked<'_>) -> Box<Failure> {
    let memory = snapshot.shared.memory.as_ref();
    match &asked.kept {
        Kept::CreateConversation if memory.is_some_and(|it| it.store().is_of_files()) => {
            let reason = "they have no items with ids; the header `sabir-conversation` names one";
            out_of_order(&Error::unsupported(reason))
        }
        Kept::CreateConversation => trouble(asked.client, &Trouble::Unkept),
        kept => absent(kept),
    }
}

/// What nobody keeps, whether it never was or belongs to somebody else.
fn absent(kept: &Kept) -> Box<Failure> {
    let message = match kept {
        Kept::ReadAnswer(id)
        | Kept::DeleteAnswer(id)
        | Kept::ListInput(id)
        | Kept::CancelAnswer(id)
        | Kept::SubmitResults(id) => format!("Response with id '{id}' not found."),
        Kept::CreateConversation => "Not found.".to_owned(),
        Kept::ReadConversation(id)
        | Kept::ChangeConversation(id)
        | Kept::DeleteConversation(id)
        | Kept::ListItems(id)
        | Kept::AddItems(id)
        | Kept::ReadItem { conversation: id, .. }
        | Kept::DeleteItem { conversation: id, .. } => {
            format!("Conversation with id '{id}' not found.")
        }
    };
    Failure::stating(Whose::Client, Fault::new(FaultKind::NotFound, Text::plain(message)))
}

/// What is there, or the failure that says that it is not.
fn present<T>(
    read: std::result::Result<T, Error>,
    missing: impl FnOnce() -> Box<Failure>,
) -> Result<T> {
    read.map_err(|error| match error.kind() {
        Kind::NotFound | Kind::Invalid => missing(),
        _ => out_of_order(&error),
    })
}
