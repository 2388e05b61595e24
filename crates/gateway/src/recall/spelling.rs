//! Items as JSON texts: taken out of lists and answers, and made of what other protocols say.

use sabir_wire::Protocol;
use sabir_wire::json::{Json, Kind, Reader};
use sabir_wire::target::Target;

use crate::surface;

/// The elements of a list.
pub(crate) fn elements(list: &str) -> sabir_wire::Result<Vec<String>> {
    Reader::new(list).list(|_, element| Ok(element.raw()?.as_str().to_owned()))
}

/// The items of an answer.
pub(crate) fn output_of(body: &str) -> Option<Vec<String>> {
    let mut output = None;
    let read = Reader::new(body).object(|key, reader| {
        let value = reader.raw()?;
        if key == "output" && value.kind() == Kind::Array {
            output = Some(elements(value.as_str())?);
        }
        Ok(())
    });
    read.ok().and(output)
}

/// The id that an item was sent with.
pub(crate) fn own_id(item: &str) -> Option<String> {
    let id = Reader::new(item).peek_tag("id").ok().flatten()?;
    Some(id.into_str().into_owned()).filter(|id| !id.is_empty())
}

/// What lines of other protocols say, as items of the client's. They are read together, since some protocols state only by
/// the order which result belongs to which call.
pub(crate) fn in_words_of(
    client: Protocol,
    lines: &[(Protocol, &str)],
) -> sabir_wire::Result<Vec<Vec<String>>> {
    let apart = lines.iter().map(|line| translated(client, &[*line]));
    let apart = apart.collect::<sabir_wire::Result<Vec<_>>>()?;
    if lines.len() < 2 {
        return Ok(apart);
    }
    let together = translated(client, lines)?;
    if together.len() != apart.iter().map(Vec::len).sum::<usize>() {
        return Ok(apart);
    }
    let mut together = together.into_iter();
    Ok(apart.iter().map(|items| together.by_ref().take(items.len()).collect()).collect())
}

fn translated(client: Protocol, lines: &[(Protocol, &str)]) -> sabir_wire::Result<Vec<String>> {
    let list = surface::of(client).state.messages;
    let nothing = format!("{{\"{list}\":[]}}");
    let mut decoded = client.decode_request_text(&nothing)?;
    let mut history = Vec::new();
    for (protocol, text) in lines {
        history.extend(protocol.restore_messages(text, 0, client)?);
    }
    decoded.recall(history);
    let encoded = decoded.encode(client, &Target::default())?;
    let mut items = Vec::new();
    Reader::new(&encoded.body).object(|key, reader| {
        let value = reader.raw()?;
        if key == list {
            items = listed(&value)?;
        }
        Ok(())
    })?;
    Ok(items)
}

/// A list of items, or the one message that a string stands for.
fn listed(value: &Json<'_>) -> sabir_wire::Result<Vec<String>> {
    match value.kind() {
        Kind::Array => elements(value.as_str()),
        Kind::String => Ok(vec![format!(r#"{{"role":"user","content":{}}}"#, value.as_str())]),
        _ => Ok(Vec::new()),
    }
}
