//! Where a key comes from: `{ env = "…" }`, `{ file = "…" }` or `{ value = "…" }`.
//! No message here quotes what it read.

use std::path::{Path, PathBuf};

use http::HeaderValue;
use sabir_backend::Secret;

use crate::config::environment::Lookup;
use crate::config::problem::{Collector, reason};
use crate::config::section::Item;
use crate::config::{bounded, environment, keys};

/// No file of a key is longer: what it holds goes into one header.
const KEY_BYTES_MAX: usize = 64 * 1024;

/// What is outside the file that it may point to.
#[derive(Clone, Copy)]
pub(super) struct Outside<'a> {
    /// The folder that relative paths start from: the config file's own.
    pub(super) folder: &'a Path,
    pub(super) variable: Lookup<'a>,
}

impl Outside<'_> {
    /// Reads the key that an item points to, or notes why there is none.
    pub(super) fn secret(
        &self,
        item: Item<'_, '_>,
        problems: &mut Collector<'_>,
    ) -> Option<Secret> {
        if item.as_string().is_some() {
            let advice = "a key is not written plainly; write { env = \"NAME\" }, \
                          { file = \"path\" } or { value = \"…\" }";
            item.remark(advice, problems);
            return None;
        }
        let section = item.section(keys::SECRET, problems)?;
        let sources: Vec<Item<'_, '_>> =
            keys::SECRET.names.iter().filter_map(|name| section.item(name)).collect();
        let [source] = sources.as_slice() else {
            item.wrong("needs exactly one of `env`, `file` and `value`", problems);
            return None;
        };
        let text = source.string(problems)?;
        let key = match source.key {
            "env" => self.in_variable(text),
            "file" => self.in_file(text),
            _ => Ok(text.to_owned()),
        };
        match key.and_then(|key| sendable(&key)) {
            Ok(secret) => Some(secret),
            Err(message) => {
                source.remark(message, problems);
                None
            }
        }
    }

    fn in_variable(&self, name: &str) -> Result<String, String> {
        environment::value(self.variable, name).ok_or_else(|| unset(name))
    }

    fn in_file(&self, path: &str) -> Result<String, String> {
        let path = self.path(path);
        bounded::read(&path, KEY_BYTES_MAX).map_err(|error| {
            let (path, reason) = (path.display(), reason(&error));
            format!("cannot read the key file {path}: {reason}; mend the path or the file")
        })
    }

    /// Where a path of the config file leads.
    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.folder.join(self.expanded(path))
    }

    /// The path with the user's own folder for `~`.
    fn expanded(&self, path: &str) -> PathBuf {
        let home = || environment::value(self.variable, "HOME");
        match path.strip_prefix("~/").and_then(|rest| Some((rest, home()?))) {
            Some((rest, home)) => Path::new(&home).join(rest),
            None => PathBuf::from(path),
        }
    }
}

/// What is said of a variable that holds nothing. A name that looks like no variable may be the key itself.
fn unset(name: &str) -> String {
    let plain = |it: char| it.is_ascii_uppercase() || it.is_ascii_digit() || it == '_';
    let shown = if name.chars().all(plain) { format!("`{name}`") } else { "named here".to_owned() };
    format!("the environment variable {shown} is not set; set it, or use `file` or `value`")
}

/// A key as a header can carry it; editors end files with a line break, which is not part of it.
pub(super) fn sendable(key: &str) -> Result<Secret, String> {
    let key = key.trim();
    if key.is_empty() {
        return Err("the key is empty".to_owned());
    }
    if !key.is_ascii() || HeaderValue::from_str(key).is_err() {
        return Err(
            "the key has characters that no header can carry; use one of visible ASCII".to_owned()
        );
    }
    Ok(Secret::new(key))
}
