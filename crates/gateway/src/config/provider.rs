//! Reading a `[[provider]]`: a preset with changes, or everything said in the file.

use http::{HeaderName, HeaderValue};
use sabir_backend::Secret;
use sabir_wire::target::{CacheMarkers, Dialect, LateSystem};

use crate::config::presets::{PRESETS, Preset};
use crate::config::problem::Collector;
use crate::config::secret_source::{Outside, sendable};
use crate::config::section::{Item, Section, shortened};
use crate::config::suggest::suggestion;
use crate::config::types::{Endpoint, Location, Provider, Timeouts};
use crate::config::{Glob, agent, endpoint, keys, tls};

/// The dialects that a file may name.
const DIALECTS: [&str; 13] = [
    "openai",
    "azure",
    "deepseek",
    "groq",
    "llamacpp",
    "mistral",
    "ollama",
    "openrouter",
    "perplexity",
    "vllm",
    "xai",
    "gemini",
    "unknown",
];

const CACHE: [(&str, CacheMarkers); 2] =
    [("auto", CacheMarkers::Auto), ("off", CacheMarkers::Stated)];

const LATE_SYSTEM: [(&str, LateSystem); 3] =
    [("native", LateSystem::Native), ("lift", LateSystem::Lift), ("inline", LateSystem::Inline)];

/// Headers that the connection itself decides; the rest is the user's own business.
const HEADERS_REFUSED: [&str; 7] = [
    "host",
    "connection",
    "content-length",
    "content-type",
    "content-encoding",
    "transfer-encoding",
    "accept-encoding",
];

/// Reads one provider. `None` means that problems were noted.
pub(super) fn read(
    section: &Section<'_, '_>,
    outside: Outside<'_>,
    problems: &mut Collector<'_>,
) -> Option<Provider> {
    if section.has("agent") {
        return agent::read(section, outside, problems);
    }
    for key in keys::of_agent().iter().filter_map(|key| section.item(key)) {
        key.wrong("is for agents; add `agent`, or remove it", problems);
    }
    let preset = match section.item("preset") {
        Some(item) => preset(item, problems),
        None => {
            note_missing(section, problems);
            None
        }
    };
    let name = declared_name(section).unwrap_or_default();
    let endpoints = endpoint::read(section, preset, problems).unwrap_or_default();
    let base = match preset {
        Some(preset) => preset.provider(None),
        None => Provider { dialect: known_dialect(&endpoints), ..Provider::new(name, Vec::new()) },
    };
    let provider = Provider {
        name: name.to_owned(),
        keys: api_keys(section, preset, outside, problems),
        tls: tls::read(section, &endpoints, outside, problems),
        endpoints,
        timeouts: timeouts(section, problems),
        ..base
    };
    Some(with_options(provider, section, outside, problems))
}

/// The name that a table gives to its provider, good or bad: other tables may use it.
pub(super) fn declared_name<'a>(section: &Section<'a, '_>) -> Option<&'a str> {
    let named = |key| section.item(key).and_then(|item| item.as_string());
    named("name").or_else(|| named("preset"))
}

fn preset(item: Item<'_, '_>, problems: &mut Collector<'_>) -> Option<&'static Preset> {
    let name = item.string(problems)?;
    let preset = Preset::named(name);
    if preset.is_none() {
        let hint = suggestion(name, PRESETS.iter().map(|preset| preset.name));
        item.remark(format!("unknown preset `{}`{hint}", shortened(name)), problems);
    }
    preset
}

fn note_missing(section: &Section<'_, '_>, problems: &mut Collector<'_>) {
    let missing: Vec<&str> =
        ["name", "protocol", "base_url"].into_iter().filter(|key| !section.has(key)).collect();
    if !missing.is_empty() {
        let missing = missing.join("`, `");
        let what = format!("`preset`, or `name`, `protocol` and `base_url`; it has no `{missing}`");
        section.lacks(&what, problems);
    }
}

/// The keys that the table names, else the one of its preset.
fn api_keys(
    section: &Section<'_, '_>,
    preset: Option<&Preset>,
    outside: Outside<'_>,
    problems: &mut Collector<'_>,
) -> Vec<Secret> {
    let list = section.item("api_key").and_then(|item| Some((item, item.elements()?)));
    let Some((item, listed)) = list else {
        return key(section, preset, outside, problems).into_iter().collect();
    };
    if listed.is_empty() {
        item.wrong("is a list without a key; name one, or remove it", problems);
    }
    let mut keys: Vec<Secret> = Vec::new();
    for item in listed {
        match outside.secret(item, problems) {
            Some(key) if keys.contains(&key) => item.wrong("has a key twice", problems),
            key => keys.extend(key),
        }
    }
    keys
}

/// The key that the table names, else the one that its preset's variables hold.
fn key(
    section: &Section<'_, '_>,
    preset: Option<&Preset>,
    outside: Outside<'_>,
    problems: &mut Collector<'_>,
) -> Option<Secret> {
    if let Some(item) = section.item("api_key") {
        return outside.secret(item, problems);
    }
    let (preset, item) = (preset?, section.item("preset")?);
    match preset.key(outside.variable) {
        Some(key) => return sendable(key.expose()).map_err(|it| item.remark(it, problems)).ok(),
        // A server that took the preset's place may need no key.
        None if preset.key_variables.is_empty() || section.has("base_url") => {}
        None => {
            let variables = preset.key_variables.join(" or ");
            item.remark(format!("{variables} is not set; set it, or give `api_key`"), problems);
        }
    }
    None
}

/// What is known of the server, from its host alone.
fn known_dialect(endpoints: &[Endpoint]) -> Option<Dialect> {
    let hosts = endpoints.iter().filter_map(|endpoint| match &endpoint.place {
        Location::Url(url) => url.host(),
        Location::Simulator | Location::Agent(_) => None,
    });
    let mut presets = hosts.filter_map(|host| PRESETS.iter().find(|preset| preset.is_at(host)));
    presets.next().and_then(|preset| preset.dialect)
}

/// What may stand in the table of any provider.
pub(super) fn with_options(
    provider: Provider,
    section: &Section<'_, '_>,
    outside: Outside<'_>,
    problems: &mut Collector<'_>,
) -> Provider {
    let claims = section.item("models").map(|item| globs(item, problems));
    let headers = section.item("headers").map(|item| headers(item, outside, problems));
    let dialect = section.item("dialect").and_then(|item| dialect(item, problems));
    let retries = section.item("retries").and_then(|item| item.number(0, problems));
    let in_flight = section.item("max_in_flight").and_then(|item| item.number(1, problems));
    let late = section.item("late_system").and_then(|item| item.choice(&LATE_SYSTEM, problems));
    let tokens = section.item("max_output_tokens").and_then(|item| item.number(1, problems));
    let window = section.item("context_window").and_then(|item| item.number(1, problems));
    let cache = section.item("cache").and_then(|item| item.choice(&CACHE, problems));
    let version = section.item("version").and_then(|item| version(item, problems));
    Provider {
        claims: claims.unwrap_or(provider.claims),
        headers: headers.unwrap_or_default(),
        dialect: dialect.or(provider.dialect),
        retries: retries.map_or(provider.retries, |it| u32::try_from(it).unwrap_or(u32::MAX)),
        max_in_flight: in_flight.map(|it| usize::try_from(it).unwrap_or(usize::MAX)),
        late_system: late.unwrap_or(provider.late_system),
        max_output_tokens: tokens.or(provider.max_output_tokens),
        context_window: window,
        cache: cache.unwrap_or(provider.cache),
        version,
        ..provider
    }
}

fn timeouts(section: &Section<'_, '_>, problems: &mut Collector<'_>) -> Timeouts {
    let default = Timeouts::default();
    let mut read = |key, default| section.positive_duration(key, problems).unwrap_or(default);
    Timeouts {
        connect: read("connect_timeout", default.connect),
        first_byte: read("first_byte_timeout", default.first_byte),
        idle: read("idle_timeout", default.idle),
    }
}

pub(super) fn globs(item: Item<'_, '_>, problems: &mut Collector<'_>) -> Vec<Glob> {
    let texts = item.strings(problems);
    texts.into_iter().filter_map(|(text, item)| glob(text, item, problems)).collect()
}

/// Reads a pattern, or notes why it is none.
pub(super) fn glob(text: &str, item: Item<'_, '_>, problems: &mut Collector<'_>) -> Option<Glob> {
    match Glob::new(text) {
        Ok(glob) => Some(glob),
        Err(error) => {
            item.remark(error.to_string(), problems);
            None
        }
    }
}

fn dialect(item: Item<'_, '_>, problems: &mut Collector<'_>) -> Option<Dialect> {
    let name = item.string(problems)?;
    let dialect = Dialect::named(name);
    if dialect.is_none() {
        let hint = suggestion(name, DIALECTS);
        item.remark(format!("unknown dialect `{}`{hint}", shortened(name)), problems);
    }
    dialect
}

fn version(item: Item<'_, '_>, problems: &mut Collector<'_>) -> Option<HeaderValue> {
    let text = item.string(problems)?;
    let value = HeaderValue::from_str(text).ok().filter(|_| text.is_ascii());
    if value.is_none() {
        item.remark("no header can carry this; write it as in \"2023-06-01\"", problems);
    }
    value
}

fn headers(
    item: Item<'_, '_>,
    outside: Outside<'_>,
    problems: &mut Collector<'_>,
) -> Vec<(HeaderName, HeaderValue)> {
    let Some(entries) = item.entries() else {
        item.expected("a table such as { \"x-team\" = \"a\" }", problems);
        return Vec::new();
    };
    entries.into_iter().filter_map(|entry| header(entry, outside, problems)).collect()
}

/// A header's value is written plainly, or read like a key. Either way `Debug` does not show it.
fn header(
    item: Item<'_, '_>,
    outside: Outside<'_>,
    problems: &mut Collector<'_>,
) -> Option<(HeaderName, HeaderValue)> {
    let Ok(name) = HeaderName::from_bytes(item.key.as_bytes()) else {
        item.wrong("is not the name of a header", problems);
        return None;
    };
    if HEADERS_REFUSED.contains(&name.as_str()) {
        item.wrong("is for the connection to decide; remove it", problems);
        return None;
    }
    let value = match item.as_string() {
        // Other characters have as many spellings as there are charsets, and would not be found in an answer.
        Some(text) => HeaderValue::from_str(text).ok().filter(|_| text.is_ascii()),
        None => HeaderValue::from_str(outside.secret(item, problems)?.expose()).ok(),
    };
    let Some(mut value) = value else {
        item.wrong("has characters that no header can carry; write visible ASCII", problems);
        return None;
    };
    value.set_sensitive(true);
    Some((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dialect_that_is_suggested_exists() {
        for name in DIALECTS {
            assert!(Dialect::named(name).is_some(), "{name}");
        }
    }
}
