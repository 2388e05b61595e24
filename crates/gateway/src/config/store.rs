//! Reading `[store]`: what is kept of calls, where and for how long. No message quotes a URL, which may hold a password.

use std::path::Path;
use std::time::Duration;

use sabir_backend::Secret;
use sabir_store::Keep;

use crate::config::keys;
use crate::config::locate::{Platform, data_folder};
use crate::config::problem::Collector;
use crate::config::quantity::parse_duration;
use crate::config::secret_source::Outside;
use crate::config::section::{Item, Section};
use crate::config::types::{Level, Store};

const LEVELS: [(&str, Level); 4] = [
    ("off", Level::Off),
    ("metadata", Level::Metadata),
    ("stateful", Level::Stateful),
    ("full", Level::Full),
];

const FOREVER: &str = "forever";

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

pub(super) fn read(
    top: &Section<'_, '_>,
    outside: Outside<'_>,
    problems: &mut Collector<'_>,
) -> Store {
    let data_folder = data_folder(Platform::HERE, outside.variable);
    let default = Store { data_folder, ..Store::default() };
    let section = top.item("store").and_then(|item| item.section(keys::STORE, problems));
    let Some(section) = section else { return default };
    let url = section.item("url").and_then(|item| url(item, outside, problems));
    let record = section.item("record").and_then(|item| item.choice(&LEVELS, problems));
    let keep = section.item("keep").and_then(|item| keep(item, problems));
    Store {
        url: url.unwrap_or(default.url),
        record: record.unwrap_or(default.record),
        keep: keep.unwrap_or(default.keep),
        data_folder: default.data_folder,
        access: default.access,
    }
}

impl Store {
    /// What is kept, where and for how long, without user and password.
    pub fn summary(&self) -> String {
        if self.record == Level::Off {
            return "off, nothing is kept".to_owned();
        }
        let place = self.place().unwrap_or_else(|problem| problem);
        if self.is_of_files() {
            return format!(
                "{}, {place}: conversations that `sabir-conversation` names, and nothing else; they are yours to delete",
                self.record.as_str()
            );
        }
        let end = if self.is_in_memory() { ", gone when the gateway ends" } else { "" };
        format!("{}, {place}, kept {}{end}", self.record.as_str(), kept(self.keep))
    }

    /// Whether all that is kept goes with the gateway that keeps it.
    pub fn is_in_memory(&self) -> bool {
        self.record != Level::Off && self.url.expose() == "memory:"
    }

    pub(crate) fn is_of_files(&self) -> bool {
        self.url.expose().starts_with("files:")
    }

    /// Where it is kept, or what to do where that cannot be said.
    pub(crate) fn place(&self) -> Result<String, String> {
        let folder = match &self.data_folder {
            Some(folder) => folder.as_path(),
            None if self.url.expose() == "sqlite:" => return Err(homeless()),
            None => Path::new(""),
        };
        sabir_store::Store::describe(self.url.expose(), folder).map_err(|error| error.to_string())
    }
}

impl Level {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Metadata => "metadata",
            Self::Stateful => "stateful",
            Self::Full => "full",
        }
    }
}

fn homeless() -> String {
    "there is no folder for its file, since neither SABIR_DATA_DIR nor HOME is set".to_owned()
}

fn kept(keep: Keep) -> String {
    let Keep::For(duration) = keep else { return FOREVER.to_owned() };
    let (count, unit) = match duration.as_secs() {
        seconds if seconds >= DAY.as_secs() => (seconds / DAY.as_secs(), "day"),
        seconds if seconds >= 3_600 => (seconds / 3_600, "hour"),
        seconds => (seconds, "second"),
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural}")
}

/// The URL as a string, or as a key is given where it holds a password.
fn url(item: Item<'_, '_>, outside: Outside<'_>, problems: &mut Collector<'_>) -> Option<Secret> {
    let url = match item.as_string() {
        Some(_) => Secret::new(item.string(problems)?.trim()),
        None => outside.secret(item, problems)?,
    };
    let url = Secret::new(beside_config(url.expose(), outside.folder));
    match sabir_store::Store::describe(url.expose(), Path::new("")) {
        Ok(_) => Some(url),
        Err(error) => {
            item.remark(error.to_string(), problems);
            None
        }
    }
}

/// A relative path starts from the config file's folder, as in every other key.
fn beside_config(url: &str, folder: &Path) -> String {
    match url.split_once(':') {
        Some((scheme @ ("sqlite" | "files"), path))
            if !path.is_empty() && Path::new(path).is_relative() =>
        {
            format!("{scheme}:{}", folder.join(path).display())
        }
        _ => url.to_owned(),
    }
}

fn keep(item: Item<'_, '_>, problems: &mut Collector<'_>) -> Option<Keep> {
    if item.as_string() == Some(FOREVER) {
        return Some(Keep::Forever);
    }
    match item.as_string().and_then(parse_duration) {
        Some(duration) if duration.is_zero() => {
            item.wrong("must be longer than nothing; `record = \"off\"` keeps nothing", problems);
            None
        }
        Some(duration) => Some(Keep::For(duration)),
        None => {
            item.not_a("a duration such as \"30d\" or \"12h\", or \"forever\"", problems);
            None
        }
    }
}
