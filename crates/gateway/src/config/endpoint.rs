//! Which protocols a provider speaks and where: `protocol` and `base_url`, each in two spellings.

use sabir_wire::Protocol;

use crate::config::base_url;
use crate::config::presets::Preset;
use crate::config::problem::Collector;
use crate::config::section::{Item, Section, shortened};
use crate::config::suggest::{did_you_mean, nearest, suggestion};
use crate::config::types::{Endpoint, Location};
use crate::surface;

/// The endpoints of a provider, the preferred one first. `None` means that problems were noted.
pub(super) fn read(
    section: &Section<'_, '_>,
    preset: Option<&Preset>,
    problems: &mut Collector<'_>,
) -> Option<Vec<Endpoint>> {
    let protocols = match section.item("protocol") {
        Some(item) => protocols(item, problems),
        None => preset.map(|it| it.endpoints.iter().map(|(protocol, _)| *protocol).collect()),
    };
    let Some(item) = section.item("base_url") else {
        return from_preset(section, &protocols?, preset?, problems);
    };
    match item.entries() {
        Some(entries) => per_protocol(item, &entries, protocols, problems),
        None => everywhere(item, protocols, problems),
    }
}

/// One base URL for all protocols. It is looked at even where no protocol is known, for what is wrong with any.
fn everywhere(
    item: Item<'_, '_>,
    protocols: Option<Vec<Protocol>>,
    problems: &mut Collector<'_>,
) -> Option<Vec<Endpoint>> {
    let known = protocols.as_deref().unwrap_or(&[surface::DEFAULT]);
    let endpoints = all(known.iter().map(|protocol| endpoint(*protocol, item, problems)));
    protocols.and(endpoints)
}

fn endpoint(
    protocol: Protocol,
    item: Item<'_, '_>,
    problems: &mut Collector<'_>,
) -> Option<Endpoint> {
    let text = item.string(problems)?;
    match base_url::resolve(text, protocol) {
        Ok(url) => Some(Endpoint { protocol, place: Location::Url(url) }),
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
            let what = format!("`base_url`: the {protocol} address of {name} is not known");
            section.lacks(&what, problems);
        }
        Some(Endpoint { protocol: *protocol, ..endpoint?.clone() })
    };
    all(protocols.iter().map(&mut found))
}

/// Whether two protocols share a base URL: those of one vendor do.
fn is_served_alike(one: Protocol, other: Protocol) -> bool {
    surface::of(one).vendor == surface::of(other).vendor
}

/// A table of base URLs by protocol, which must name all that `protocol` lists and nothing else.
fn per_protocol(
    item: Item<'_, '_>,
    entries: &[Item<'_, '_>],
    protocols: Option<Vec<Protocol>>,
    problems: &mut Collector<'_>,
) -> Option<Vec<Endpoint>> {
    let mut found: Vec<(Protocol, Option<Endpoint>)> = Vec::new();
    for entry in entries {
        let Some(protocol) = named(entry.key, *entry, problems) else { continue };
        if protocols.as_ref().is_some_and(|protocols| !protocols.contains(&protocol)) {
            entry.wrong("is not listed under `protocol`; add it there or remove it here", problems);
        }
        if found.iter().any(|(known, _)| *known == protocol) {
            entry.wrong(format!("is a second URL for {}", protocol.as_str()), problems);
        }
        found.push((protocol, endpoint(protocol, *entry, problems)));
    }
    let mut place = |protocol: &Protocol| {
        let place = found.iter().find(|(known, _)| known == protocol);
        if place.is_none() {
            item.wrong(format!("has no URL for {}", protocol.as_str()), problems);
        }
        place.and_then(|(_, endpoint)| endpoint.clone())
    };
    all(protocols?.iter().map(&mut place))
}

/// All or nothing, but not before every one was tried: each may have a problem of its own.
fn all(endpoints: impl Iterator<Item = Option<Endpoint>>) -> Option<Vec<Endpoint>> {
    let endpoints: Vec<Option<Endpoint>> = endpoints.collect();
    endpoints.into_iter().collect()
}

fn protocols(item: Item<'_, '_>, problems: &mut Collector<'_>) -> Option<Vec<Protocol>> {
    let Some(elements) = item.elements() else {
        return Some(vec![protocol(item, problems)?]);
    };
    if elements.is_empty() {
        item.wrong("is empty; name at least one protocol", problems);
    }
    let mut protocols: Vec<Protocol> = Vec::new();
    let mut is_whole = !elements.is_empty();
    for element in elements {
        match protocol(element, problems) {
            Some(twice) if protocols.contains(&twice) => {
                element.wrong(format!("lists {} twice", twice.as_str()), problems);
            }
            Some(protocol) => protocols.push(protocol),
            None => is_whole = false,
        }
    }
    is_whole.then_some(protocols)
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
        let short_names = Protocol::ALL.map(|it| it.facts().aliases[0]);
        let hint = match nearest(name, &short_names) {
            Some(short) => did_you_mean(short),
            None => suggestion(name, Protocol::ALL.map(Protocol::as_str)),
        };
        item.remark(format!("unknown protocol `{}`{hint}", shortened(name)), problems);
    }
    protocol
}
