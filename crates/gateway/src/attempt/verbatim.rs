//! A request that goes on from what the gateway keeps, each element as it was first sent: a provider's prompt cache finds again
//! what it has of the conversation.

use std::borrow::Cow;

use memchr::memmem;
use sabir_wire::Protocol;
use sabir_wire::json::{Json, Survey};
use sabir_wire::protocol::Outline;

use crate::failure::Result;
use crate::members::edited;
use crate::recalled::{Recalled, Settings, Stretch};
use crate::{pool, surface};

/// The body with all that stands before its own messages; none if any of it has to be put in other words.
pub(super) fn verbatim(recalled: &Recalled) -> Result<Option<String>> {
    let Recalled { client, body, stretches, .. } = recalled;
    let state = &surface::of(*client).state;
    let Some(members) = members(recalled) else { return Ok(None) };
    let is_as_sent = |stretch: &Stretch| is_as_sent(stretch, *client);
    if !state.has_spellings || !recalled.summaries.is_empty() || !stretches.iter().all(is_as_sent) {
        return Ok(None);
    }
    pool::check_thread(recalled.bytes());
    let mut elements = Vec::new();
    for text in stretches.iter().map(|it| it.kept.as_body()).chain([body.as_str()]) {
        let survey = Survey::new(text);
        let outline = Outline::of(*client, &survey)?;
        elements.extend(outline.elements().iter().cloned().map(Cow::into_owned));
    }
    let list = Json::parse(format!("[{}]", elements.join(",")))?;
    let mut is_written = false;
    let written = edited(body, |name, value| {
        let is_list = name == state.messages;
        is_written |= is_list;
        Some(if is_list { list.clone() } else { value })
    })?;
    Ok(is_written.then(|| match written.strip_prefix('{') {
        Some(rest) if !members.is_empty() => format!("{{{members},{rest}"),
        _ => written,
    }))
}

/// The settings of an earlier call that stay in force, as members of a body; none if another protocol spelled them.
fn members(recalled: &Recalled) -> Option<String> {
    let Some(Settings { system, tools }) = &recalled.settings else { return Some(String::new()) };
    let mut members = Vec::new();
    for (protocol, text) in system.iter().chain(tools) {
        if *protocol != recalled.client {
            return None;
        }
        members.push(text.as_str());
    }
    Some(members.join(","))
}

/// Whether a stretch is in the client's own words, and all of it is sent again: what asked for a compaction asks for nothing now.
fn is_as_sent(stretch: &Stretch, client: Protocol) -> bool {
    let asks = memmem::find(stretch.kept.as_body().as_bytes(), b"\"compaction_trigger\"").is_some();
    stretch.kept.protocol() == client && !asks
}
