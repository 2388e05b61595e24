//! Reading what concerns the server itself: where it listens, who may use it, what it bears and what it logs.

use std::sync::Arc;
use std::time::Duration;

use sabir_store::{ID_BYTES_MAX, Owner};
use tracing_subscriber::EnvFilter;

use crate::authority::{Authority, Origin};
use crate::config::file::parse_listen;
use crate::config::problem::Collector;
use crate::config::secret_source::Outside;
use crate::config::section::{Item, Section, shortened};
use crate::config::types::{Auth, Config, GatewayKey, Level, Limits, Log, LogFormat, Repair};
use crate::config::{classing, compaction, keys, store, tools};

const REPAIRS: [(&str, Repair); 3] =
    [("translated", Repair::Translated), ("always", Repair::Always), ("off", Repair::Off)];

const FORMATS: [(&str, LogFormat); 2] = [("text", LogFormat::Text), ("json", LogFormat::Json)];

/// Reads the server's part of the file into `base`.
pub(super) fn read(
    base: Config,
    top: &Section<'_, '_>,
    outside: Outside<'_>,
    problems: &mut Collector<'_>,
) -> Config {
    let listen = top.item("listen").and_then(|item| listen(item, problems));
    let repair = top.item("repair").and_then(|item| item.choice(&REPAIRS, problems));
    let hosts = top.item("allowed_hosts").map(|item| hosts(item, problems));
    let origins = top.item("cors_origins").map(|item| origins(item, problems));
    let config = Config {
        listen: listen.unwrap_or(base.listen),
        open_bind: top.bool("open_bind", problems).unwrap_or(base.open_bind),
        repair: repair.unwrap_or(base.repair),
        allowed_hosts: hosts.unwrap_or_default(),
        cors_origins: origins.unwrap_or_default(),
        auth: auth(top, outside, problems),
        limits: limits(top, problems),
        log: log(top, problems),
        store: store::read(top, outside, problems),
        compaction: compaction::read(top, outside, problems),
        classing: classing::read(top, problems),
        tools: tools::read(top, problems).unwrap_or_default(),
        ..base
    };
    if let (Some(item), Some(message)) = (top.item("listen"), config.bind_refusal()) {
        item.remark(message, problems);
    }
    if let (Some(item), Some(message)) = (top.item("store"), config.store_refusal()) {
        item.remark(message, problems);
    }
    config
}

impl Config {
    /// Why the address must not be bound, if it must not: others could reach it and nobody would be asked for a key.
    /// To be asked again where a command line changes the address.
    pub fn bind_refusal(&self) -> Option<String> {
        let address = self.listen;
        let is_open = !address.ip().is_loopback() && !self.auth.required;
        if let Some(provider) =
            self.providers.iter().find(|it| it.is_changing()).filter(|_| is_open)
        {
            let name = &provider.name;
            return Some(format!(
                "{address} can be reached from other machines and no key is required, while the agent \
                 `{name}` may change files; set `required = true` in [auth], or `permissions = \"read\"`"
            ));
        }
        (is_open && !self.open_bind).then(|| {
            format!(
                "{address} can be reached from other machines and no key is required; \
                 set `required = true` in [auth], or `open_bind = true` if that is meant"
            )
        })
    }
}

impl Config {
    /// Why conversations cannot be kept as the configuration says, if they cannot: files hold less than databases do.
    pub(crate) fn store_refusal(&self) -> Option<String> {
        let reason = match self.store.record {
            _ if !self.store.is_of_files() => return None,
            Level::Off => return None,
            Level::Stateful if self.auth.keys.is_empty() => return None,
            Level::Stateful => {
                "has no owners, and there are keys in [auth] whose conversations must be kept apart"
            }
            Level::Metadata => "has no rows of calls, which `record = \"metadata\"` asks for",
            Level::Full => {
                "has conversations that clients name, and no other calls, which `record = \"full\"` asks for"
            }
        };
        Some(format!("`files:` {reason}; use \"sqlite:\" or \"postgres://…\" as `url` in [store]"))
    }
}

fn listen(item: Item<'_, '_>, problems: &mut Collector<'_>) -> Option<std::net::SocketAddr> {
    match parse_listen(item.string(problems)?) {
        Ok(address) => Some(address),
        Err(message) => {
            item.remark(message, problems);
            None
        }
    }
}

fn hosts(item: Item<'_, '_>, problems: &mut Collector<'_>) -> Vec<String> {
    let mut hosts = Vec::new();
    for (host, item) in item.strings(problems) {
        match Authority::parse(host) {
            Some(_) => hosts.push(host.to_ascii_lowercase()),
            None => {
                item.wrong("is a list of names such as \"sabir.example\" or \"box:4747\"", problems)
            }
        }
    }
    hosts
}

fn origins(item: Item<'_, '_>, problems: &mut Collector<'_>) -> Vec<String> {
    let mut origins = Vec::new();
    for (origin, item) in item.strings(problems) {
        match origin.trim_end_matches('/') {
            "*" => item
                .remark("`*` would let every web page spend your keys; name each origin", problems),
            origin if Origin::parse(origin).is_some() => origins.push(origin.to_ascii_lowercase()),
            _ => item.wrong("is a list of origins such as \"https://app.example\"", problems),
        }
    }
    origins
}

fn auth(top: &Section<'_, '_>, outside: Outside<'_>, problems: &mut Collector<'_>) -> Auth {
    let Some(item) = top.item("auth") else { return Auth::default() };
    let Some(section) = item.section(keys::AUTH, problems) else { return Auth::default() };
    let required = section.bool("required", problems).unwrap_or(false);
    let tables = section.item("key").map(|item| item.sections(keys::AUTH_KEY, problems));
    let tables = tables.unwrap_or_default();
    if let (true, true, Some(item)) = (required, tables.is_empty(), section.item("required")) {
        item.remark("nobody could get in: add an [[auth.key]] with `name` and `value`", problems);
    }
    if !required {
        note_rules(&tables, problems);
    }
    let keys = tables.iter().filter_map(|table| gateway_key(table, outside, problems));
    let keys = keys.map(Arc::new).collect();
    note_twice(&tables, problems);
    Auth { required, keys }
}

fn gateway_key(
    section: &Section<'_, '_>,
    outside: Outside<'_>,
    problems: &mut Collector<'_>,
) -> Option<GatewayKey> {
    let (name, value) = (section.item("name"), section.item("value"));
    if name.is_none() || value.is_none() {
        section.lacks("`name` and `value`, as in value = { env = \"SABIR_KEY\" }", problems);
    }
    let value = value.and_then(|item| outside.secret(item, problems));
    let name = name.and_then(|item| key_name(item, problems));
    let admin = section.bool("admin", problems).unwrap_or(false);
    let tools = tools::read(section, problems);
    Some(GatewayKey { name: name?.to_owned(), value: value?, admin, tools })
}

/// What a key makes belongs to its name, so the name must be one that the store takes.
fn key_name<'a>(item: Item<'a, '_>, problems: &mut Collector<'_>) -> Option<&'a str> {
    let name = item.string(problems)?;
    if Owner::key(name).is_err() {
        let form = format!("is one line of at most {ID_BYTES_MAX} bytes");
        item.wrong(form, problems);
        return None;
    }
    Some(name)
}

/// Whoever leaves out a key that nobody asks for would be rid of its rules.
fn note_rules(tables: &[Section<'_, '_>], problems: &mut Collector<'_>) {
    for item in tables.iter().filter_map(|table| table.item("tools")) {
        let reason = "the rules of a key hold only where every request needs one; \
            set `required = true` in [auth]";
        item.remark(reason, problems);
    }
}

fn note_twice(tables: &[Section<'_, '_>], problems: &mut Collector<'_>) {
    let mut seen = Vec::new();
    for item in tables.iter().filter_map(|table| table.item("name")) {
        let Some(name) = item.as_string() else { continue };
        if seen.contains(&name) {
            item.remark(
                format!("a second key `{}`; give one another name", shortened(name)),
                problems,
            );
        }
        seen.push(name);
    }
}

fn limits(top: &Section<'_, '_>, problems: &mut Collector<'_>) -> Limits {
    let default = Limits::default();
    let section = top.item("limits").and_then(|item| item.section(keys::LIMITS, problems));
    let Some(section) = section else { return default };
    let mut reader = LimitReader { section, problems };
    Limits {
        body_bytes_max: reader.size("max_body_size", default.body_bytes_max),
        header_bytes_max: reader.size("max_header_size", default.header_bytes_max),
        answer_bytes_max: reader.size("max_answer_size", default.answer_bytes_max),
        frame_bytes_max: reader.size("max_frame_size", default.frame_bytes_max),
        bodies_bytes_max: reader.size("bodies_bytes_max", default.bodies_bytes_max),
        connections_max: reader.count("max_connections", default.connections_max, 1),
        requests_max: reader.count("max_requests", default.requests_max, 1),
        stream_duration_max: reader.positive("max_stream_duration", default.stream_duration_max),
        shutdown_grace: reader.duration("shutdown_grace", default.shutdown_grace),
        queue_max: reader.count("max_queue", default.queue_max, 0),
        queue_wait_max: reader.duration("max_queue_wait", default.queue_wait_max),
        jobs_max: reader.count("max_background", default.jobs_max, 0),
        job_duration_max: reader.positive("max_background_duration", default.job_duration_max),
        socket_duration_max: reader.positive("max_socket_duration", default.socket_duration_max),
        socket_silence_max: reader.positive("max_socket_silence", default.socket_silence_max),
        header_read_timeout: reader.positive("header_read_timeout", default.header_read_timeout),
        write_timeout: reader.positive("write_timeout", default.write_timeout),
    }
}

/// Reads one limit after the other, each with what holds where the file is silent.
struct LimitReader<'r, 'a, 'i, 't> {
    section: Section<'a, 'i>,
    problems: &'r mut Collector<'t>,
}

impl LimitReader<'_, '_, '_, '_> {
    fn size(&mut self, key: &'static str, default: usize) -> usize {
        let size = self.section.item(key).and_then(|item| item.size(self.problems));
        size.unwrap_or(default)
    }

    fn count(&mut self, key: &'static str, default: usize, least: u64) -> usize {
        let count = self.section.item(key).and_then(|item| item.number(least, self.problems));
        count.map_or(default, |count| usize::try_from(count).unwrap_or(usize::MAX))
    }

    fn duration(&mut self, key: &'static str, default: Duration) -> Duration {
        self.section.duration(key, self.problems).unwrap_or(default)
    }

    fn positive(&mut self, key: &'static str, default: Duration) -> Duration {
        self.section.positive_duration(key, self.problems).unwrap_or(default)
    }
}

fn log(top: &Section<'_, '_>, problems: &mut Collector<'_>) -> Log {
    let default = Log::default();
    let section = top.item("log").and_then(|item| item.section(keys::LOG, problems));
    let Some(section) = section else { return default };
    let format = section.item("format").and_then(|item| item.choice(&FORMATS, problems));
    let level = section.item("level").and_then(|item| level(item, problems));
    Log { level: level.unwrap_or(default.level), format: format.unwrap_or(default.format) }
}

fn level(item: Item<'_, '_>, problems: &mut Collector<'_>) -> Option<String> {
    let text = item.string(problems)?;
    // A lone word that is no level would be taken for the name of a module, and silence everything else.
    let words = ["off", "error", "warn", "info", "debug", "trace"];
    let is_level = |part: &str| words.contains(&part.to_ascii_lowercase().as_str());
    let is_known = |part: &str| is_level(part.trim()) || part.contains('=');
    if text.split(',').all(is_known) && EnvFilter::try_new(text).is_ok() {
        return Some(text.to_owned());
    }
    let shown = shortened(text);
    let form = "write a level such as `info`, or levels by module as in `info,sabir_gateway=debug`";
    item.remark(format!("`{shown}` is not a filter; {form}"), problems);
    None
}
