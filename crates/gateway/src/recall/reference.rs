//! Items that a client names by their ids instead of sending them again.

use sabir_store::{Direction, Item, ItemId, Owner, Store, Window};
use sabir_wire::Protocol;
use sabir_wire::json::{Json, Kind, Reader, Writer};

use crate::call::Call;
use crate::failure::Result;
use crate::pool::{Pool, Wanted};
use crate::recall::base::found;
use crate::recall::history::recollect;
use crate::recall::identity::{derived_from, derived_id};
use crate::recall::spelling::{elements, in_words_of};
use crate::recall::{body, out_of_order};
use crate::recalled::Stretch;
use crate::record::{Details, read_record};
use crate::{pool, surface};

/// What references name.
pub(super) enum Items {
    /// All of it, in the order in which it was named.
    Found(Vec<String>),
    /// An item that nobody here has, by its id.
    Without(String),
}

/// The body with every reference replaced by the item that it names; the id of an item that nobody here has otherwise.
pub(crate) async fn resolve(
    pool: &Pool,
    (store, owner): (&Store, &Owner),
    client: Protocol,
    body: String,
) -> Result<std::result::Result<String, String>> {
    let bytes = body.len();
    let look = move |_: &Wanted| referred(client, &body).map(|named| (body, named));
    let (body, named) = pool.run_on(bytes, look).await?;
    match items(store, owner, (client, named)).await? {
        Items::Found(items) if items.is_empty() => Ok(Ok(body)),
        Items::Found(items) => {
            let replace = move |_: &Wanted| replaced(client, &body, items).map(Ok);
            pool.run_on(bytes, replace).await
        }
        Items::Without(id) => Ok(Err(id)),
    }
}

/// Whether a call may name items by their ids. A large body is for other threads to look through.
pub(super) fn may_be_in(call: &Call<'_>) -> bool {
    let Some(reference) = surface::of(call.client).session.reference else { return false };
    call.large.is_some()
        || memchr::memmem::find(call.body.as_bytes(), reference.as_bytes()).is_some()
}

/// The ids that a body refers to, in its order.
pub(super) fn referred(client: Protocol, body: &str) -> Result<Vec<String>> {
    let Some(reference) = surface::of(client).session.reference else { return Ok(Vec::new()) };
    pool::check_thread(body.len());
    if memchr::memmem::find(body.as_bytes(), reference.as_bytes()).is_none() {
        return Ok(Vec::new());
    }
    let list = surface::of(client).state.messages;
    let mut ids = Vec::new();
    Reader::new(body).object(|name, reader| {
        if name != list || reader.kind()? != Kind::Array {
            return reader.skip();
        }
        reader.array(|_, element| {
            if let Some(id) = reference_id(element, reference)? {
                ids.push(id);
            }
            element.skip()
        })
    })?;
    Ok(ids)
}

/// What the ids stand for.
pub(super) async fn items(
    store: &Store,
    owner: &Owner,
    (client, named): (Protocol, Vec<String>),
) -> Result<Items> {
    let mut items = Vec::with_capacity(named.len());
    for id in named {
        match item(store, owner, (client, &id)).await? {
            Some(item) => items.push(item),
            None => return Ok(Items::Without(id)),
        }
    }
    Ok(Items::Found(items))
}

/// The id of an element that is a reference. Its type may be left out.
fn reference_id(element: &mut Reader<'_>, reference: &str) -> sabir_wire::Result<Option<String>> {
    if element.kind()? != Kind::Object {
        return Ok(None);
    }
    let is_reference = element.peek_tag("type")?.is_some_and(|kind| kind == *reference);
    let id = element.peek_tag("id")?.filter(|_| is_reference);
    Ok(id.map(|id| id.into_str().into_owned()))
}

/// The body with items in the place of its references.
pub(super) fn replaced(client: Protocol, body: &str, items: Vec<String>) -> Result<String> {
    let (list, session) = (surface::of(client).state.messages, &surface::of(client).session);
    let reference = session.reference.unwrap_or_default();
    let mut items = items.into_iter();
    let mut resolved = Writer::with_capacity(body.len());
    resolved.begin_array();
    Reader::new(body).object(|name, reader| {
        if name != list {
            return reader.skip();
        }
        reader.array(|_, element| {
            let is_reference = reference_id(element, reference)?.is_some();
            let own = element.raw()?;
            match is_reference.then(|| items.next()).flatten() {
                Some(item) => resolved.value(&Json::parse(item)?),
                None => resolved.value(&own),
            }
            Ok(())
        })
    })?;
    resolved.end_array();
    body::with_member(body, list, &Json::parse(resolved.into_string())?)
}

/// An item as its client knows it: by the id that it was given or sent with, or by one that leads to its line.
async fn item(
    store: &Store,
    owner: &Owner,
    (client, id): (Protocol, &str),
) -> Result<Option<String>> {
    let Ok(named) = ItemId::new(id) else { return Ok(None) };
    let items = store.items(owner, vec![named]).await.map_err(|error| out_of_order(&error))?;
    if let Some(item) = items.into_iter().next().flatten()
        && let Some(text) = text_of(store, owner, &item).await?
    {
        return Ok(Some(text));
    }
    let Some((line, part)) = derived_from(id) else { return Ok(None) };
    let Some(line) = found(store.message_beginning(owner, &line).await)? else { return Ok(None) };
    let Some(record) = read_record(&line.record) else { return Ok(None) };
    let items = spelled_for(client, record)?.into_iter().zip(0..);
    let mut named =
        items.filter(|(item, place)| *place == part && derived_id((&line.hash, part), item) == id);
    Ok(named.next().map(|(item, _)| item))
}

/// The items that a line says for a client.
fn spelled_for(client: Protocol, line: (Protocol, &str)) -> Result<Vec<String>> {
    let (protocol, text) = line;
    if protocol == client {
        return Ok(elements(&format!("[{text}]"))?);
    }
    Ok(in_words_of(client, &[line])?.into_iter().next().unwrap_or_default())
}

/// The conversation before the answer that an item is part of; none if nobody here has it.
pub(crate) async fn before_item(
    pool: &Pool,
    (store, owner): (&Store, &Owner),
    id: &str,
) -> Result<Option<Vec<Stretch>>> {
    let Ok(named) = ItemId::new(id) else { return Ok(None) };
    let items = store.items(owner, vec![named]).await.map_err(|error| out_of_order(&error))?;
    let item = items.into_iter().next().flatten();
    let Some(item) = item.filter(|item| item.direction == Direction::Output) else {
        return Ok(None);
    };
    let Some(turn) = found(store.turn(owner, &item.turn).await)? else { return Ok(None) };
    let Some(end) = Details::read(&turn.details).input_tip() else { return Ok(None) };
    let history = recollect(pool, (store, owner), Some(end), Some(&turn.id)).await?;
    Ok(Some(history.stretches))
}

/// The text of an item: one of an answer that is kept, or an element of the log.
pub(crate) async fn text_of(store: &Store, owner: &Owner, item: &Item) -> Result<Option<String>> {
    match item.direction {
        Direction::Output => output(store, owner, item).await,
        Direction::Input => in_line(store, owner, item).await,
    }
}

async fn output(store: &Store, owner: &Owner, item: &Item) -> Result<Option<String>> {
    let Some(turn) = found(store.turn(owner, &item.turn).await)? else { return Ok(None) };
    let Some(id) = Details::read(&turn.details).response else {
        return in_line(store, owner, item).await;
    };
    let Ok(id) = sabir_store::ResponseId::new(id) else { return Ok(None) };
    let response = found(store.response(owner, &id).await)?;
    Ok(response.and_then(|response| {
        let body = String::from_utf8(response.body.into_bytes()).ok()?;
        element(&body, Some("output"), item.part)
    }))
}

/// An element of a line of the log.
async fn in_line(store: &Store, owner: &Owner, item: &Item) -> Result<Option<String>> {
    let window = Window { messages: 1, ..Window::default() };
    let history = found(store.history(owner, item.message, window).await)?;
    let message = history.and_then(|history| history.messages.into_iter().next_back());
    Ok(message.and_then(|message| {
        let (_, elements) = read_record(&message.record)?;
        element(&format!("[{elements}]"), None, item.part)
    }))
}

/// An element of a list, which stands alone or under a name.
fn element(json: &str, name: Option<&str>, place: u32) -> Option<String> {
    let mut found = None;
    let mut take = |reader: &mut Reader<'_>| {
        reader.array(|index, element| {
            let element = element.raw()?;
            if u32::try_from(index) == Ok(place) {
                found = Some(element.as_str().to_owned());
            }
            Ok(())
        })
    };
    let mut reader = Reader::new(json);
    let read = match name {
        None => take(&mut reader),
        Some(name) => reader.object(|key, reader| match key == name {
            true => take(reader),
            false => reader.skip(),
        }),
    };
    read.ok().and(found)
}
