//! Gemini CLI: variables, and a private home for its settings, which alone can say how it authenticates. Whatever else
//! the user has there is linked into it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::Result;
use sabir_wire::Protocol;
use serde_json::{Map, Value};

use super::{Access, Folder, Launch};
use crate::output;

pub(super) const PROGRAM: &str = "gemini";
pub(super) const PACKAGE: &str = "@google/gemini-cli";
pub(super) const PROTOCOL: Protocol = Protocol::Gemini;
pub(super) const OWN_MODEL: &str = "gemini-3-pro-preview";

/// What says where the folder with its settings is; the user's home unless set.
const HOME: &str = "GEMINI_CLI_HOME";

const DOT_FOLDER: &str = ".gemini";
const SETTINGS: &str = "settings.json";

/// Other ways in, which would win over the key or the address.
const ELSEWHERE: [&str; 5] = [
    "GOOGLE_API_KEY",
    "GOOGLE_GENAI_USE_GCA",
    "GOOGLE_GENAI_USE_VERTEXAI",
    "GOOGLE_VERTEX_BASE_URL",
    "GEMINI_API_KEY_AUTH_MECHANISM",
];

pub(super) fn launch(access: &Access, folder: &Folder) -> Result<Launch> {
    let home = folder.path("gemini");
    let users = users_folder(&home);
    let settings = settings(users.as_deref());
    let file = folder.write(&format!("gemini/{DOT_FOLDER}/{SETTINGS}"), &settings)?;
    if let (Some(users), Some(own)) = (users, file.parent()) {
        link_entries(&users, own);
    }
    let mut launch = Launch::default();
    launch.set("GOOGLE_GEMINI_BASE_URL", &access.base);
    launch.set("GEMINI_API_KEY", access.key.expose());
    launch.set(HOME, home.display().to_string());
    if let Some(model) = &access.model {
        launch.set("GEMINI_MODEL", model);
    }
    launch.past_proxy(&access.host);
    launch.remove(&ELSEWHERE);
    Ok(launch)
}

/// Where the user's own settings are; a shell that has evaluated `sabir env` names the private home instead.
fn users_folder(private: &Path) -> Option<PathBuf> {
    let named = env::var_os(HOME).filter(|it| !it.is_empty() && it.as_os_str() != private);
    let home = named.or_else(|| env::var_os("HOME"))?;
    Some(PathBuf::from(home).join(DOT_FOLDER))
}

/// The user's own settings, with the one way to authenticate that takes a key and an address.
fn settings(users: Option<&Path>) -> String {
    let file = users.map(|folder| folder.join(SETTINGS));
    let text = file.as_ref().and_then(|file| fs::read_to_string(file).ok());
    let read = text.as_deref().map(|text| serde_json::from_str(&without_comments(text)));
    let settings = match read {
        None => Map::new(),
        Some(Ok(Value::Object(settings))) => settings,
        Some(_) => {
            output::to_stderr(
                "sabir: the settings of Gemini CLI cannot be read and are left out\n",
            );
            Map::new()
        }
    };
    Value::Object(with_key(settings)).to_string()
}

fn with_key(mut settings: Map<String, Value>) -> Map<String, Value> {
    let mut object = &mut settings;
    for name in ["security", "auth"] {
        let inner = object.entry(name).or_insert_with(|| Value::Object(Map::new()));
        if !inner.is_object() {
            *inner = Value::Object(Map::new());
        }
        let Value::Object(inner) = inner else { return settings };
        object = inner;
    }
    object.insert("selectedType".to_owned(), Value::from("gemini-api-key"));
    object.remove("enforcedType");
    settings
}

/// JSON without the comments that these settings may hold; what stands in strings is kept.
fn without_comments(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(['"', '/']) {
        plain.push_str(&rest[..start]);
        rest = &rest[start..];
        let length = match rest {
            _ if rest.starts_with('"') => string_length(rest),
            _ if rest.starts_with("//") => 0,
            _ if rest.starts_with("/*") => 0,
            _ => 1,
        };
        plain.push_str(&rest[..length]);
        rest = &rest[length..];
        if length == 0 {
            rest = after_comment(rest);
        }
    }
    plain + rest
}

/// How long the string at the start is, with its quotation marks.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    for (index, letter) in text.char_indices().skip(1) {
        match letter {
            '"' if !is_escaped => return index + 1,
            '\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    text.len()
}

fn after_comment(text: &str) -> &str {
    let end = match text.starts_with("//") {
        true => text.find('\n'),
        false => text.find("*/").map(|end| end + 2),
    };
    &text[end.unwrap_or(text.len())..]
}

/// Links whatever the user has beside the settings: instructions, extensions, sessions, trusted folders.
fn link_entries(users: &Path, own: &Path) {
    let Ok(entries) = fs::read_dir(users) else { return };
    let names: BTreeSet<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    for name in names.iter().filter(|name| *name != SETTINGS) {
        let link = own.join(name);
        // What is there already is a link of an earlier run, or the CLI's own.
        if link.symlink_metadata().is_err() {
            link_to(&users.join(name), &link);
        }
    }
}

/// Without the right to make links the CLI begins with an empty folder, which works too.
fn link_to(target: &Path, link: &Path) {
    #[cfg(unix)]
    let linked = std::os::unix::fs::symlink(target, link);
    #[cfg(windows)]
    let linked = match target.is_dir() {
        true => std::os::windows::fs::symlink_dir(target, link),
        false => std::os::windows::fs::symlink_file(target, link),
    };
    let _ = linked;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(settings: &str, expected: &str) {
        let settings = serde_json::from_str(&without_comments(settings)).unwrap();
        assert_eq!(Value::Object(with_key(settings)).to_string(), expected);
    }

    #[test]
    fn the_users_settings_are_kept_but_for_the_way_in() {
        let own = r#"{"security":{"auth":{"selectedType":"gemini-api-key"}}}"#;
        check("{}", own);
        check(r#"{"security":1}"#, own);
        check(
            r#"{"ui":{"theme":"a"},"security":{"auth":{"selectedType":"oauth","x":1}}}"#,
            r#"{"ui":{"theme":"a"},"security":{"auth":{"selectedType":"gemini-api-key","x":1}}}"#,
        );
    }

    #[test]
    fn comments_are_taken_out_and_strings_are_not() {
        let text = "{ // a \" quote\n \"u\": \"http://h/*x*/\\\"//\", /* b \n */ \"v\": 1 } // end";
        let plain: Value = serde_json::from_str(&without_comments(text)).unwrap();
        assert_eq!(plain["u"], "http://h/*x*/\"//");
        assert_eq!(plain["v"], 1);
        assert_eq!(without_comments("\"open"), "\"open");
        assert_eq!(without_comments("{} /* open"), "{} ");
    }
}
