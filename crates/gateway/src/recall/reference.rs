//! Items that a client names by their ids instead of sending them again.

use sabir_store::{Direction, Item, ItemId, Owner, Store, Window};
use sabir_wire::Protocol;
use sabir_wire::json::{Json, Kind, Reader, Writer};

use crate::failure::Result;
use crate::recall::base::found;
use crate::recall::{body, out_of_order};
use crate::record::{Details, read_record};
use crate::surface;

/// A body in which nothing is named by its id.
pub(super) enum Resolved {
    Body(String),
    /// An item that nobody here has, by its id.
    Without(String),
}

/// The body with every reference replaced by the item that it names.
pub(super) async fn resolve(
    store: &Store,
    owner: &Owner,
    client: Protocol,
    body: String,
) -> Result<Resolved> {
    let surface = surface::of(client);
    let Some(reference) = surface.session.reference else { return Ok(Resolved::Body(body)) };
    if memchr::memmem::find(body.as_bytes(), reference.as_bytes()).is_none() {
        return Ok(Resolved::Body(body));
    }
    let named = referred(&body, surface.state.messages, reference)?;
    let mut items = Vec::with_capacity(named.len());
    for id in &named {
        match item(store, owner, id).await? {
            Some(item) => items.push(item),
            None => return Ok(Resolved::Without(id.clone())),
        }
    }
    if items.is_empty() {
        return Ok(Resolved::Body(body));
    }
    replaced(&body, surface.state.messages, reference, items).map(Resolved::Body)
}

/// The ids that a list refers to, in its order.
fn referred(body: &str, list: &str, reference: &str) -> Result<Vec<String>> {
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

/// The id of an element that is a reference. Its type may be left out.
fn reference_id(element: &mut Reader<'_>, reference: &str) -> sabir_wire::Result<Option<String>> {
    if element.kind()? != Kind::Object {
        return Ok(None);
    }
    let is_reference = element.peek_tag("type")?.is_some_and(|kind| kind == *reference);
    let id = element.peek_tag("id")?.filter(|_| is_reference);
    Ok(id.map(|id| id.into_str().into_owned()))
}

fn replaced(body: &str, list: &str, reference: &str, items: Vec<String>) -> Result<String> {
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

/// An item as its client knows it.
pub(crate) async fn item(store: &Store, owner: &Owner, id: &str) -> Result<Option<String>> {
    let Ok(id) = ItemId::new(id) else { return Ok(None) };
    let items = store.items(owner, vec![id]).await.map_err(|error| out_of_order(&error))?;
    match items.into_iter().next().flatten() {
        Some(item) => text_of(store, owner, &item).await,
        None => Ok(None),
    }
}

/// The text of an item: one of the answer's own, or an element of the input.
pub(crate) async fn text_of(store: &Store, owner: &Owner, item: &Item) -> Result<Option<String>> {
    match item.direction {
        Direction::Output => output(store, owner, item).await,
        Direction::Input => input(store, owner, item).await,
    }
}

async fn output(store: &Store, owner: &Owner, item: &Item) -> Result<Option<String>> {
    let Some(turn) = found(store.turn(owner, &item.turn).await)? else { return Ok(None) };
    let Some(id) = Details::read(&turn.details).response else { return Ok(None) };
    let Ok(id) = sabir_store::ResponseId::new(id) else { return Ok(None) };
    let response = found(store.response(owner, &id).await)?;
    Ok(response.and_then(|response| {
        let body = String::from_utf8(response.body.into_bytes()).ok()?;
        element(&body, Some("output"), item.part)
    }))
}

async fn input(store: &Store, owner: &Owner, item: &Item) -> Result<Option<String>> {
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
