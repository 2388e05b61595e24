//! Claude Code: variables, and the same again in a private settings file, since variables in the user's own settings
//! would win over those of the process.

use std::env;
use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use anyhow::Result;
use sabir_wire::Protocol;
use sabir_wire::json::Writer;

use super::handoff::{Handoff, Session, TakenUp};
use super::{Access, Folder, Launch};

pub(super) const PROGRAM: &str = "claude";
pub(super) const PACKAGE: &str = "@anthropic-ai/claude-code";
pub(super) const PROTOCOL: Protocol = Protocol::AnthropicMessages;
pub(super) const OWN_MODEL: &str = "claude-sonnet-5-1";

/// Each names a model for some errand: all go the same way, or an errand would end at a model that nobody serves.
const MODELS: [&str; 5] = [
    "ANTHROPIC_MODEL",
    "ANTHROPIC_DEFAULT_OPUS_MODEL",
    "ANTHROPIC_DEFAULT_SONNET_MODEL",
    "ANTHROPIC_DEFAULT_HAIKU_MODEL",
    "ANTHROPIC_SMALL_FAST_MODEL",
];

/// How many tokens fit a model whose name it does not know.
const WINDOW: &str = "CLAUDE_CODE_MAX_CONTEXT_TOKENS";

/// The windows that are worth stating: wider is what it takes for granted, and of a narrower one it would keep most free. Where
/// the window is not stated, it summarises on the provider's error.
const STATED: Range<u64> = 60_000..1_000_000;

/// Other ways in, which would win over the address or send a second key.
const ELSEWHERE: [&str; 5] = [
    "ANTHROPIC_API_KEY",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_FOUNDRY",
    "CLAUDE_CODE_USE_VERTEX",
];

pub(super) fn launch(access: &Access, folder: &Folder) -> Result<Launch> {
    let mut launch = Launch::default();
    launch.set("ANTHROPIC_BASE_URL", &access.base);
    // A token rather than a key: for a key that it has not seen before it asks the user.
    launch.set("ANTHROPIC_AUTH_TOKEN", access.key.expose());
    for variable in MODELS {
        if let Some(model) = &access.model {
            launch.set(variable, model);
        }
    }
    let window = access.window.filter(|window| STATED.contains(window));
    if let Some(window) = window.filter(|_| env::var_os(WINDOW).is_none()) {
        launch.set(WINDOW, window.to_string());
    }
    launch.past_proxy(&access.host);
    launch.remove(&ELSEWHERE);
    let settings = settings(&launch);
    let file = folder.write(&file_name(&settings), &settings)?;
    launch.arguments = vec!["--settings".to_owned(), file.display().to_string()];
    launch.file = Some(file);
    Ok(launch)
}

/// A private session file, of which the CLI makes a session of its own, and the instructions as another.
pub(super) fn take_up(
    session: &Session<'_>,
    folder: &Folder,
    handoff: &Handoff,
    (users, go_on): (&[OsString], Option<&str>),
) -> Result<TakenUp> {
    let files = folder.begin_run(&session.id)?;
    let file = files.write(&format!("{}.jsonl", session.id), &begun(session))?;
    let mut arguments = vec!["--resume".into(), file.into(), "--fork-session".into()];
    if let Some(instructions) = &handoff.instructions {
        let file = files.write(&format!("{}.md", session.id), instructions)?;
        arguments.extend(["--append-system-prompt-file".into(), file.into()]);
    }
    arguments.extend(users.iter().cloned().chain(go_on.map(OsString::from)));
    Ok(TakenUp { arguments, files: Some(files) })
}

/// A session in which the user has said one thing.
fn begun(session: &Session<'_>) -> String {
    let mut writer = Writer::with_capacity(session.prompt.len() + 1024);
    writer.object(|it| {
        it.field("type", "user");
        it.field("uuid", session.message_id.as_str());
        it.field("parentUuid", &None::<&str>);
        it.field("isSidechain", &false);
        it.field("userType", "external");
        it.field("sessionId", session.id.as_str());
        it.field("cwd", session.place.as_str());
        it.field("version", env!("CARGO_PKG_VERSION"));
        it.field("timestamp", session.moment.stamp().as_str());
        it.key("message");
        it.object(|it| {
            it.field("role", "user");
            it.field("content", session.prompt);
        });
    });
    writer.into_string() + "\n"
}

/// The variables as settings; those that must not be set are set to nothing.
fn settings(launch: &Launch) -> String {
    let mut writer = Writer::with_capacity(1024);
    writer.object(|it| {
        it.key("env");
        it.object(|it| {
            launch.variables.iter().for_each(|(name, value)| it.field(name, value.as_str()));
            launch.removed.iter().for_each(|name| it.field(name, ""));
        });
    });
    writer.into_string()
}

/// A name that two runs share only if they want the same.
fn file_name(settings: &str) -> String {
    let mut hasher = DefaultHasher::new();
    settings.hash(&mut hasher);
    format!("claude/settings-{:016x}.json", hasher.finish())
}
