//! What is kept for clients, as they ask for it: answers, what they were asked with, and conversations.

mod answers;
mod item;
mod page;

use std::sync::Arc;

use http::{StatusCode, Uri};
use sabir_store::{Error, Kind, Owner, Store};
use sabir_wire::json::Text;
use sabir_wire::{Fault, FaultKind, Protocol};

use crate::answer::{Ended, InFlight};
use crate::config::types::{GatewayKey, Level};
use crate::egress;
use crate::egress::Reply;
use crate::failure::{Failure, Result, Whose};
use crate::observe::Outcome;
use crate::recall::out_of_order;
use crate::state::Snapshot;
use crate::surface::Kept;

/// Who asks for what.
pub(crate) struct KeptAsked<'r> {
    pub(crate) client: Protocol,
    pub(crate) kept: Kept,
    pub(crate) uri: &'r Uri,
    pub(crate) key: Option<&'r Arc<GatewayKey>>,
}

/// The store, and whose part of it is shown.
#[derive(Clone)]
struct Shelf {
    store: Store,
    owner: Owner,
}

/// Answers what needs no model.
pub(crate) async fn kept(snapshot: &Arc<Snapshot>, asked: KeptAsked<'_>) -> Reply {
    let KeptAsked { client, kept, uri, key } = asked;
    let mut flight = InFlight::begin(snapshot, client, key);
    let outcome = match Shelf::of(snapshot, key) {
        Some(shelf) => shelf.answer(&kept, uri).await,
        None => Err(absent(&kept)),
    };
    match outcome {
        Ok(body) => {
            flight.trace.set_status(200);
            flight.end(Ended::plain(Outcome::Answered));
            egress::json(StatusCode::OK, body)
        }
        Err(failure) => egress::rescue(client, *failure, flight),
    }
}

impl Shelf {
    fn of(snapshot: &Snapshot, key: Option<&Arc<GatewayKey>>) -> Option<Self> {
        let memory = snapshot.shared.memory.as_ref()?;
        let (store, owner) = (memory.store().clone(), memory.owner(key));
        (memory.level() >= Level::Stateful).then_some(Self { store, owner })
    }

    async fn answer(&self, kept: &Kept, uri: &Uri) -> Result<String> {
        match kept {
            Kept::ReadAnswer(id) => self.read_answer(id, uri).await,
            Kept::DeleteAnswer(id) => self.delete_answer(id).await,
            Kept::ListInput(id) => self.list_input(id, uri).await,
            Kept::CancelAnswer(id) => self.cancel_answer(id).await,
            _ => Err(absent(kept)),
        }
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
        Kept::CreateConversation => "This gateway keeps no conversations.".to_owned(),
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
