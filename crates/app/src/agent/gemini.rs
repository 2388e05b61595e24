//! Gemini CLI: variables, and a private home for its settings, which alone can say how it authenticates. Whatever else
//! the user has there is linked into it.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::Result;
use sabir_wire::Protocol;
use serde_json::{Map, Value, json};

use super::handoff::{Session, TakenUp};
use super::{Access, Folder, Launch};
use crate::output;

pub(super) const PROGRAM: &str = "gemini";
pub(super) const PACKAGE: &str = "@google/gemini-cli";
pub(super) const PROTOCOL: Protocol = Protocol::Gemini;
pub(super) const OWN_MODEL: &str = "gemini-3-pro-preview";

/// What says where the folder with its settings is; the user's home unless set.
const HOME: &str = "GEMINI_CLI_HOME";

/// Errands for which it has models of its own, by the names of their settings: compressing its history, correcting edits,
/// summing up outputs, looking for loops. All go the same way, or an errand would end at a model that nobody serves.
const ERRANDS: [&str; 16] = [
    "agent-history-provider-summarizer",
    "chat-compression-2.5-flash",
    "chat-compression-2.5-flash-lite",
    "chat-compression-2.5-pro",
    "chat-compression-3-flash",
    "chat-compression-3-pro",
    "chat-compression-3.1-flash-lite",
    "chat-compression-default",
    "classifier",
    "edit-corrector",
    "fast-ack-helper",
    "gemini-3-flash-base",
    "loop-detection-double-check",
    "prompt-completion",
    "summarizer-default",
    "summarizer-shell",
];

/// What it takes for the window of every model but a few.
const WINDOW: u64 = 1_048_576;

/// The part of a window from which on it compresses its history, before a turn of the user's.
const THRESHOLD: f64 = 0.5;

const DOT_FOLDER: &str = ".gemini";
const SETTINGS: &str = "settings.json";

/// Where it keeps its sessions.
const SESSIONS: &str = "tmp";

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
    let settings = settings(users.as_deref(), access);
    let file = folder.write(&format!("gemini/{DOT_FOLDER}/{SETTINGS}"), &settings)?;
    if let (Some(users), Some(own)) = (users, file.parent()) {
        // The CLI makes it where it is missing; in the private home its sessions would go with that.
        let _ = fs::create_dir_all(users.join(SESSIONS));
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

/// A private session file, of which the CLI makes a session of its own.
pub(super) fn take_up(
    session: &Session<'_>,
    folder: &Folder,
    (users, go_on): (&[OsString], Option<&str>),
) -> Result<TakenUp> {
    let files = folder.begin_run(&session.id)?;
    let file = files.write(&format!("{}.jsonl", session.id), &begun(session))?;
    let mut arguments = vec!["--session-file".into(), file.into()];
    arguments.extend_from_slice(users);
    arguments.extend(go_on.into_iter().flat_map(|text| ["-i".into(), text.into()]));
    Ok(TakenUp { arguments, files: Some(files) })
}

/// A session in which the user has said one thing.
fn begun(session: &Session<'_>) -> String {
    let stamp = session.moment.stamp();
    let head = json!({"sessionId": session.id, "projectHash": "sabir", "startTime": stamp, "lastUpdated": stamp, "kind": "main"});
    let message = json!({"id": session.message_id, "timestamp": stamp, "type": "user", "content": [{"text": session.prompt}]});
    format!("{head}\n{message}\n")
}

/// Where the user's own settings are; a shell that has evaluated `sabir env` names the private home instead.
fn users_folder(private: &Path) -> Option<PathBuf> {
    let named = env::var_os(HOME).filter(|it| !it.is_empty() && it.as_os_str() != private);
    let home = named.or_else(|| env::var_os("HOME"))?;
    Some(PathBuf::from(home).join(DOT_FOLDER))
}

/// The user's own settings, with the one way to authenticate that takes a key and an address, and one model for everything.
fn settings(users: Option<&Path>, access: &Access) -> String {
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
    let settings = with_window(with_key(settings), access.window);
    Value::Object(match &access.model {
        Some(model) => with_errands(settings, model),
        None => settings,
    })
    .to_string()
}

fn with_key(mut settings: Map<String, Value>) -> Map<String, Value> {
    if let Some(auth) = object_in(&mut settings, "security").and_then(|it| object_in(it, "auth")) {
        auth.insert("selectedType".to_owned(), Value::from("gemini-api-key"));
        auth.remove("enforcedType");
    }
    settings
}

/// The settings with what it has to know of a narrower window, unless the user says it: a part of the window that it takes for
/// granted. From a provider's error it does not recover.
fn with_window(mut settings: Map<String, Value>, window: Option<u64>) -> Map<String, Value> {
    if let Some(window) = window.filter(|window| *window < WINDOW)
        && let Some(model) = object_in(&mut settings, "model")
    {
        let threshold = THRESHOLD * window as f64 / WINDOW as f64;
        model.entry("compressionThreshold").or_insert_with(|| Value::from(threshold));
    }
    settings
}

/// The settings with one model for all errands; what the user says of them comes later and counts.
fn with_errands(mut settings: Map<String, Value>, model: &str) -> Map<String, Value> {
    if let Some(configs) = object_in(&mut settings, "modelConfigs") {
        let errand =
            |name: &&str| json!({"match": {"model": name}, "modelConfig": {"model": model}});
        let mut overrides: Vec<Value> = ERRANDS.iter().map(errand).collect();
        if let Some(Value::Array(own)) = configs.remove("customOverrides") {
            overrides.extend(own);
        }
        configs.insert("customOverrides".to_owned(), Value::Array(overrides));
    }
    settings
}

/// The object of that name, put in the place of anything else.
fn object_in<'s>(
    settings: &'s mut Map<String, Value>,
    name: &str,
) -> Option<&'s mut Map<String, Value>> {
    let inner = settings.entry(name).or_insert_with(|| Value::Object(Map::new()));
    if !inner.is_object() {
        *inner = Value::Object(Map::new());
    }
    inner.as_object_mut()
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
    fn all_errands_go_to_the_model_that_was_asked_for_unless_the_user_says_otherwise() {
        let own = json!({"match": {"model": "classifier"}, "modelConfig": {"model": "mine"}});
        let users = json!({"modelConfigs": {"customOverrides": [own], "x": 1}});
        let settings = with_errands(users.as_object().unwrap().clone(), "sim-chat/m");
        let overrides = settings["modelConfigs"]["customOverrides"].as_array().unwrap();
        assert_eq!(overrides.len(), ERRANDS.len() + 1);
        assert_eq!(overrides[0]["modelConfig"]["model"], "sim-chat/m");
        assert_eq!(overrides.last(), Some(&own));
        assert_eq!(settings["modelConfigs"]["x"], 1);
    }

    #[test]
    fn a_narrower_window_is_stated_unless_the_user_does() {
        let stated = |users: Value, window| {
            let settings = with_window(users.as_object().unwrap().clone(), window);
            Value::Object(settings).to_string()
        };
        let own = r#"{"model":{"compressionThreshold":0.03125}}"#;
        assert_eq!(stated(json!({}), Some(65_536)), own);
        assert_eq!(stated(json!({}), Some(2_000_000)), "{}");
        assert_eq!(stated(json!({}), None), "{}");
        let users = json!({"model": {"compressionThreshold": 0.2}});
        assert_eq!(stated(users.clone(), Some(65_536)), users.to_string());
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
