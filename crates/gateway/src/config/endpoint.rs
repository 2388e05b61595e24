//! Which protocols a provider speaks and where: `protocol` and `base_url`, each in two spellings.

use sabir_wire::Protocol;

use crate::config::base_url;
use crate::config::presets::Preset;
use crate::config::problem::Collector;
use crate::config::section::Item;
use crate::config::section::Section;
use crate::config::section::shortened;
use crate::config::suggest::suggestion;
use crate::config::types::Endpoint;
use crate::config::types::Place;

/// The endpoints of a provider, the preferred one first. `None` means that problems were noted.
pub(super) fn read(
    section: &Section<'_, '_>,
    preset: Option<&Preset>,
    problems: &mut Collector<'_>,
) -> Option<Vec<Endpoint>> {
    let protocols = match section.item("protocol") {
        Some(item) => protocols(item, problems)?,
        None => preset?.endpoints.iter().map(|(protocol, _)| *protocol).collect(),
    };
    let Some(item) = section.item("base_url") else {
        return from_preset(section, &protocols, preset?, problems);
    };
    let places = match item.entries() {
        Some(entries) => per_protocol(item, &entries, &protocols, problems)?,
        None => protocols.into_iter().map(|protocol| (protocol, item)).collect(),
    };
    let resolved = |(protocol, item): (Protocol, Item<'_, '_>)| endpoint(protocol, item, problems);
    places.into_iter().map(resolved).collect()
}

fn endpoint(
    protocol: Protocol,
    item: Item<'_, '_>,
    problems: &mut Collector<'_>,
) -> Option<Endpoint> {
    let text = item.string(problems)?;
    match base_url::resolve(text, protocol) {
        Ok(url) => Some(Endpoint { protocol, place: Place::Url(url) }),
        Err(message) => {
            item.wrong(message, problems);
            None
        }
    }
}

/// The preset's places, for protocols that it has a place for.
fn from_preset(
    section: &Section<'_, '_>,
    protocols: &[Protocol],
    preset: &Preset,
    problems: &mut Collector<'_>,
) -> Option<Vec<Endpoint>> {
    let known = preset.endpoints();
    let mut found = |protocol: &Protocol| {
        let endpoint = known.iter().find(|it| is_served_alike(it.protocol, *protocol));
        if endpoint.is_none() {
            let (name, protocol) = (preset.name, protocol.as_str());
            let what = format!("`base_url`: where {name} speaks {protocol} is not known");
            section.lacks(&what, problems);
        }
        Some(Endpoint { protocol: *protocol, ..endpoint?.clone() })
    };
    protocols.iter().map(&mut found).collect()
}

/// Whether two protocols share a base URL: the two of OpenAI do.
fn is_served_alike(one: Protocol, other: Protocol) -> bool {
    let openai = [Protocol::OpenaiChat, Protocol::OpenaiResponses];
    one == other || openai.contains(&one) && openai.contains(&other)
}

/// A table of base URLs by protocol, which must name all that `protocol` lists and nothing else.
fn per_protocol<'a, 'i>(
    item: Item<'a, 'i>,
    entries: &[Item<'a, 'i>],
    protocols: &[Protocol],
    problems: &mut Collector<'_>,
) -> Option<Vec<(Protocol, Item<'a, 'i>)>> {
    let mut places: Vec<(Protocol, Item<'a, 'i>)> = Vec::new();
    for entry in entries {
        let protocol = named(entry.key, *entry, problems)?;
        if !protocols.contains(&protocol) {
            entry.wrong("is not listed under `protocol`; add it there or remove it here", problems);
        }
        places.push((protocol, *entry));
    }
    let mut place = |protocol: &Protocol| {
        let found = places.iter().find(|(known, _)| known == protocol);
        if found.is_none() {
            item.wrong(format!("has no URL for {}", protocol.as_str()), problems);
        }
        found.copied()
    };
    protocols.iter().map(&mut place).collect()
}

fn protocols(item: Item<'_, '_>, problems: &mut Collector<'_>) -> Option<Vec<Protocol>> {
    let Some(elements) = item.elements() else {
        return Some(vec![protocol(item, problems)?]);
    };
    if elements.is_empty() {
        item.wrong("is empty; name at least one protocol", problems);
    }
    let mut protocols: Vec<Protocol> = Vec::new();
    for element in elements {
        let protocol = protocol(element, problems)?;
        if protocols.contains(&protocol) {
            element.wrong(format!("lists {} twice", protocol.as_str()), problems);
        }
        protocols.push(protocol);
    }
    (!protocols.is_empty()).then_some(protocols)
}

fn protocol(item: Item<'_, '_>, problems: &mut Collector<'_>) -> Option<Protocol> {
    match item.as_string() {
        Some(name) => named(name, item, problems),
        None => {
            item.expected("the name of a protocol or a list of them", problems);
            None
        }
    }
}

fn named(name: &str, item: Item<'_, '_>, problems: &mut Collector<'_>) -> Option<Protocol> {
    let protocol = Protocol::parse(name);
    if protocol.is_none() {
        let hint = suggestion(name, Protocol::ALL.map(Protocol::as_str));
        item.wrong(format!("unknown protocol `{}`{hint}", shortened(name)), problems);
    }
    protocol
}
