//! Codex: overrides on its command line name the gateway as a provider of its own; the user's configuration, login and
//! sessions stay in use.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context, Result};
use sabir_wire::Protocol;
use sabir_wire::json::Writer;

use super::folder::write_private;
use super::handoff::{Session, TakenUp};
use super::{Access, Launch};

pub(super) const PROGRAM: &str = "codex";
pub(super) const PACKAGE: &str = "@openai/codex";
pub(super) const PROTOCOL: Protocol = Protocol::OpenaiResponses;
pub(super) const OWN_MODEL: &str = "gpt-5.5";

/// What it takes for the window of a model that it does not know.
const WINDOW: u64 = 272_000;

/// The variable that the provider's key is read from; a name that no other program looks for.
const KEY: &str = "SABIR_AGENT_KEY";

pub(super) fn launch(access: &Access) -> Launch {
    let mut launch = Launch::default();
    let base_url = format!("{}/v1", access.base);
    let overrides = [
        ("model_provider", "sabir"),
        ("model_providers.sabir.name", "Sabir"),
        ("model_providers.sabir.base_url", &base_url),
        ("model_providers.sabir.wire_api", "responses"),
        ("model_providers.sabir.env_key", KEY),
    ];
    let model = access.model.as_deref().map(|model| ("model", model));
    for (key, value) in overrides.into_iter().chain(model) {
        launch.arguments.push("-c".to_owned());
        launch.arguments.push(format!("{key}={}", toml_string(value)));
    }
    // It summarises by the window that it knows of. From a provider's error it learns nothing that lasts.
    if let Some(window) = access.window.filter(|window| *window < WINDOW) {
        launch.arguments.push("-c".to_owned());
        launch.arguments.push(format!("model_context_window={window}"));
    }
    launch.set(KEY, access.key.expose());
    launch.past_proxy(&access.host);
    launch
}

/// A session among the CLI's own, since it takes up no other; from then on it is one of them.
pub(super) fn take_up(
    session: &Session<'_>,
    (users, go_on): (&[OsString], Option<&str>),
) -> Result<TakenUp> {
    let name = format!("rollout-{}-{}.jsonl", session.moment.in_a_name(), session.id);
    let folder = home().context("neither CODEX_HOME nor HOME says where Codex keeps sessions")?;
    let file = folder.join("sessions").join(session.moment.folders()).join(name);
    write_private(&file, &begun(session))?;
    let mut arguments = resuming(&session.id, users);
    arguments.extend(go_on.map(OsString::from));
    Ok(TakenUp { arguments, files: None })
}

fn home() -> Option<PathBuf> {
    let set = |name: &str| env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
    set("CODEX_HOME").or_else(|| set("HOME").map(|home| home.join(".codex")))
}

/// The user's arguments, where the session is named: `resume` is a word of its own, and one of `exec`.
fn resuming(id: &str, users: &[OsString]) -> Vec<OsString> {
    let (exec, rest) = match users.split_first() {
        Some((first, rest)) if first == "exec" || first == "e" => (Some(first.clone()), rest),
        _ => (None, users),
    };
    let resume = ["resume".into(), id.into()];
    exec.into_iter().chain(resume).chain(rest.iter().cloned()).collect()
}

/// A session in which the user has said one thing.
fn begun(session: &Session<'_>) -> String {
    let stamp = session.moment.stamp();
    let head = line(&stamp, "session_meta", |it| {
        it.field("id", session.id.as_str());
        it.field("timestamp", stamp.as_str());
        it.field("cwd", session.place.as_str());
        it.field("originator", "sabir");
        it.field("cli_version", env!("CARGO_PKG_VERSION"));
        it.field("source", "cli");
        it.field("model_provider", "sabir");
    });
    let message = line(&stamp, "response_item", |it| {
        it.field("type", "message");
        it.field("role", "user");
        it.key("content");
        it.array(|list| {
            list.object(|it| {
                it.field("type", "input_text");
                it.field("text", session.prompt);
            });
        });
    });
    // What is shown is told apart from what is sent.
    let shown = line(&stamp, "event_msg", |it| {
        it.field("type", "user_message");
        it.field("message", session.prompt);
    });
    head + &message + &shown
}

fn line(stamp: &str, kind: &str, payload: impl FnOnce(&mut Writer)) -> String {
    let mut writer = Writer::with_capacity(1024);
    writer.object(|it| {
        it.field("timestamp", stamp);
        it.field("type", kind);
        it.key("payload");
        it.object(payload);
    });
    writer.into_string() + "\n"
}

/// The value as TOML: bare words such as `true` or `5` would be taken for something else than text.
fn toml_string(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            letter if letter.is_control() => {
                quoted.push_str(&format!("\\u{:04X}", u32::from(letter)));
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overrides_are_toml_strings() {
        assert_eq!(toml_string("sim-chat/5"), r#""sim-chat/5""#);
        assert_eq!(toml_string("a\"b\\c\n"), r#""a\"b\\c\u000A""#);
    }

    #[test]
    fn a_session_is_resumed_with_the_users_own_words() {
        let resumed = |users: &[&str]| {
            let users: Vec<OsString> = users.iter().map(OsString::from).collect();
            resuming("ID", &users).join(" ".as_ref()).into_string().unwrap()
        };
        assert_eq!(resumed(&[]), "resume ID");
        assert_eq!(resumed(&["--search", "Now?"]), "resume ID --search Now?");
        assert_eq!(resumed(&["exec", "--json", "Now?"]), "exec resume ID --json Now?");
    }

    #[test]
    fn the_key_is_in_a_variable_and_not_among_the_arguments() {
        let launch = launch(&Access::for_tests("key-of-the-gateway", Some("m")));
        let arguments = launch.arguments.join(" ");
        assert!(arguments.contains("base_url=\"http://127.0.0.1:1/v1\""), "{arguments}");
        assert!(arguments.ends_with("-c model=\"m\""), "{arguments}");
        assert!(!arguments.contains("key-of-the-gateway"), "{arguments}");
        assert!(launch.variables.contains(&(KEY, "key-of-the-gateway".to_owned())));
    }

    #[test]
    fn a_window_is_stated_that_is_narrower_than_it_would_think() {
        let stated = |window| {
            let access = Access { window, ..Access::for_tests("key", Some("m")) };
            launch(&access).arguments.join(" ").ends_with(" -c model_context_window=32768")
        };
        assert!(stated(Some(32_768)));
        assert!(!stated(Some(400_000)) && !stated(None));
    }
}
