//! Building a long history, against parsing and writing its body as JSON once.
//!
//! The reference is linear, so ratios that stay under their bar at every size say that building is linear too.

use std::cell::RefCell;
use std::error::Error;
use std::hint::black_box;

use sabir_benches_wire::clock::Times;
use sabir_benches_wire::{bodies, clock};
use sabir_compose::{Builder, Policy, Stored, Summary};
use sabir_wire::Protocol;
use sabir_wire::conversation::{Content, Part, Request};

use crate::table::Table;

const SIZES: [usize; 3] = [20_000, 200_000, 2_000_000];
const BAR: f64 = 0.1;
const BAR_WITH_SUMMARY: f64 = 0.3;
const BAR_OF_REPAIR: f64 = 0.3;

/// A history in which nothing is wrong: read in place, as the gateway does, and built from a copy of its messages.
pub(crate) fn measure() -> Result<Table, Box<dyn Error>> {
    let mut rows = Vec::new();
    for protocol in Protocol::ALL {
        let name = |how: &str| format!("{}, {how}", protocol.as_str());
        rows.push((name("in place"), row(|bytes| in_place(protocol, bytes))?));
        rows.push((name("built"), row(|bytes| built(protocol, bytes, |_| None))?));
    }
    Ok(Table { name: "sound history", columns: columns(), rows, bar: BAR })
}

/// The same with a summary of the first half, and of all but the last messages.
pub(crate) fn measure_summaries() -> Result<Table, Box<dyn Error>> {
    let mut rows = Vec::new();
    for protocol in Protocol::ALL {
        let name = |how: &str| format!("{}, {how}", protocol.as_str());
        let half = |bytes| built(protocol, bytes, |count| Some(summary(count / 2)));
        rows.push((name("half summed up"), row(half)?));
        let most = |bytes| built(protocol, bytes, |count| Some(summary(count - 1)));
        rows.push((name("all but one summed up"), row(most)?));
    }
    Ok(Table { name: "summary", columns: columns(), rows, bar: BAR_WITH_SUMMARY })
}

/// A history whose every result is lost, so that each call has to be answered.
pub(crate) fn measure_repairs() -> Result<Table, Box<dyn Error>> {
    let mut rows = Vec::new();
    for protocol in Protocol::ALL {
        let name = format!("{}, no call answered", protocol.as_str());
        rows.push((name, row(|bytes| repaired(protocol, bytes))?));
    }
    Ok(Table { name: "repair", columns: columns(), rows, bar: BAR_OF_REPAIR })
}

fn columns() -> Vec<String> {
    SIZES.map(bodies::size_name).to_vec()
}

fn row(
    cell: impl FnMut(usize) -> Result<Times, Box<dyn Error>>,
) -> Result<Vec<Times>, Box<dyn Error>> {
    SIZES.into_iter().map(cell).collect()
}

fn in_place(protocol: Protocol, bytes: usize) -> Result<Times, Box<dyn Error>> {
    let body = bodies::request(protocol, bytes);
    let exchange = RefCell::new(protocol.decode_request(body.as_bytes())?);
    let policy = Policy::towards(protocol);
    let candidate = || {
        let mut exchange = exchange.borrow_mut();
        let trace = sabir_compose::repair(exchange.edit(), black_box(&policy))?;
        match trace.is_empty() {
            true => Ok(exchange.request().messages.len()),
            false => Err("the history is not sound".into()),
        }
    };
    clock::compare(&candidate, &|| reference(&body))
}

fn repaired(protocol: Protocol, bytes: usize) -> Result<Times, Box<dyn Error>> {
    let body = bodies::request(protocol, bytes);
    let mut messages = protocol.decode_request(body.as_bytes())?.into_request().messages;
    let is_result = |part: &Part<'_>| matches!(part.content(), Content::ToolResult(_));
    messages.retain(|message| !message.parts.iter().any(is_result));
    let policy = Policy::towards(protocol);
    let candidate = || {
        let mut request = Request { messages: messages.clone(), ..Request::default() };
        let trace = sabir_compose::repair(&mut request, black_box(&policy))?;
        match trace.is_empty() {
            true => Err("nothing was lost".into()),
            false => Ok(black_box(request).messages.len()),
        }
    };
    clock::compare(&candidate, &|| reference(&body))
}

fn built(
    protocol: Protocol,
    bytes: usize,
    summary: impl Fn(usize) -> Option<Summary<'static>>,
) -> Result<Times, Box<dyn Error>> {
    let body = bodies::request(protocol, bytes);
    let exchange = protocol.decode_request(body.as_bytes())?;
    let messages = &exchange.request().messages;
    let ids: Vec<String> = (0..messages.len()).map(|index| index.to_string()).collect();
    let summary = summary(messages.len());
    let candidate = || {
        let copies = messages
            .iter()
            .zip(&ids)
            .map(|(message, id)| Stored { id: Some(id.as_str().into()), message: message.clone() });
        let builder = Builder::default().set_messages(copies);
        Ok(black_box(builder.set_compression_summary(summary.clone()).build()?).turns.len())
    };
    clock::compare(&candidate, &|| reference(&body))
}

fn summary(count: usize) -> Summary<'static> {
    Summary {
        message_ids: (0..count).map(|id| id.to_string().into()).collect(),
        start_message_id: "0".into(),
        summary: "They looked for a lost line and found it.".into(),
    }
}

/// The body parsed into a tree and written again.
fn reference(body: &str) -> Result<usize, Box<dyn Error>> {
    let value: serde_json::Value = serde_json::from_slice(body.as_bytes())?;
    Ok(black_box(serde_json::to_vec(&value)?).len())
}
