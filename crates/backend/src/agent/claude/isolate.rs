//! How Claude Code is started so that it is nothing but its model: no tools of its own, no settings, hooks, servers, memory files or
//! commands of the user, nothing read from disk because a text names it, nothing tried again behind the gateway's back.

use std::path::{Path, PathBuf};
use std::{fs, io};

use sabir_wire::json::{Json, Writer};

use super::seed::Question;
use crate::agent::folder::write;
use crate::agent::json::member;
use crate::agent::spawn::{Launch, Program, Spawner};

/// It speaks in lines, and leaves settings, hooks, servers, memory files and commands of the user and the project alone.
pub(super) const ALONE: [&str; 11] = [
    "-p",
    "--output-format",
    "stream-json",
    "--input-format",
    "stream-json",
    "--verbose",
    "--include-partial-messages",
    "--setting-sources",
    "",
    "--strict-mcp-config",
    "--disable-slash-commands",
];

const ARGUMENTS: [&str; 4] = [
    "--no-session-persistence",
    "--tools",
    "",
    // Without it a reminder of how to sign commits goes out with the prompt.
    r#"--settings={"includeCoAuthoredBy":false,"attribution":{"commit":"","pr":""}}"#,
];

const VARIABLES: [(&str, &str); 8] = [
    ("CLAUDE_CODE_DISABLE_ATTACHMENTS", "1"),
    ("CLAUDE_AGENT_SDK_MCP_NO_PREFIX", "1"),
    ("CLAUDE_CODE_MAX_RETRIES", "0"),
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("DISABLE_AUTOUPDATER", "1"),
    ("DISABLE_AUTO_COMPACT", "1"),
    ("CLAUDE_CODE_DISABLE_REFUSAL_RETRY", "1"),
    ("CLAUDE_CODE_MAX_MCP_DESCRIPTION_LENGTH", "1000000"),
];

pub(in crate::agent) fn launch(question: &Question, model: Option<&str>) -> Launch {
    let mut arguments: Vec<String> =
        ALONE.iter().chain(&ARGUMENTS).map(|&it| it.to_owned()).collect();
    arguments.push(format!("--allowedTools=mcp__{}", super::tools::SERVER));
    let options = [("--model", model), ("--effort", question.effort.as_deref())];
    for (name, value) in options {
        // With the value in the same argument, none can be taken for an option.
        arguments.extend(value.map(|value| format!("{name}={value}")));
    }
    if question.is_thinking_off {
        arguments.push("--thinking=disabled".to_owned());
    }
    let mut variables: Vec<_> = VARIABLES.map(|(name, value)| (name, value.to_owned())).into();
    let tokens = question.max_tokens.map(|tokens| tokens.to_string());
    variables.extend(tokens.map(|tokens| ("CLAUDE_CODE_MAX_OUTPUT_TOKENS", tokens)));
    Launch { arguments, variables, ..Launch::default() }
}

/// Variables that are a login by themselves.
const KEYS: [&str; 3] = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"];

/// The folder in which the CLI keeps its files, below that of a process.
const FILES: &str = "home";

/// What the CLI keeps its book in, and what of it says who the user is.
const BOOK: &str = ".claude.json";
const IDENTITY: [&str; 3] = ["oauthAccount", "userID", "machineID"];

/// A book has the history of every project, but no more than this.
const BOOK_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Since this version the login may be found apart from the other files.
const APART_SINCE: [u32; 3] = [2, 1, 268];

/// Says where the CLI keeps its files: with the login, or in the folder of the process where a variable is the login. A copy of a login
/// would be worth nothing once either was refreshed.
pub(super) fn furnish(root: &Path, program: &Program) -> io::Result<Vec<(&'static str, String)>> {
    let files = match &program.login {
        Some(login) => login.clone(),
        None if has_key(program) => root.join(FILES),
        None => return Ok(cache(root, program).into_iter().collect()),
    };
    if program.login.is_none() {
        fs::create_dir_all(&files)?;
    }
    let files = [("CLAUDE_CONFIG_DIR", files.to_string_lossy().into_owned())];
    Ok(files.into_iter().chain(cache(root, program)).collect())
}

/// Where the CLI logs what it says to servers of tools. An agent that works speaks to none, and what it runs has the user's own cache.
fn cache(root: &Path, program: &Program) -> Option<(&'static str, String)> {
    let folder = root.join(FILES).join("cache").to_string_lossy().into_owned();
    program.workplace.is_none().then_some(("XDG_CACHE_HOME", folder))
}

fn has_key(program: &Program) -> bool {
    KEYS.iter().any(|key| program.variable(key).is_some_and(|it| !it.is_empty()))
}

/// The same with everything but the login in the folder of the process, where the version of the CLI knows how.
pub(in crate::agent) async fn apart(launch: Launch, spawner: &Spawner) -> Launch {
    let is_apart = Login::of(spawner.program()).is_some() && spawner.is_since(APART_SINCE).await;
    Launch { furnish: Some(if is_apart { furnish_apart } else { furnish }), ..launch }
}

/// A login that is none of the variables.
struct Login {
    /// Its folder as the CLI is to be told; nothing for that of the user.
    folder: String,
    book: PathBuf,
}

impl Login {
    fn of(program: &Program) -> Option<Self> {
        let named = program.login.as_ref().map(|it| it.to_string_lossy().into_owned());
        let named = named.or_else(|| program.variable("CLAUDE_CONFIG_DIR").map(str::to_owned));
        match named.filter(|it| !it.is_empty()) {
            _ if has_key(program) => None,
            Some(folder) => Some(Self { book: Path::new(&folder).join(BOOK), folder }),
            None => {
                let home = program.variable("HOME").filter(|it| !it.is_empty())?;
                Some(Self { folder: String::new(), book: Path::new(home).join(BOOK) })
            }
        }
    }
}

fn furnish_apart(root: &Path, program: &Program) -> io::Result<Vec<(&'static str, String)>> {
    let Some(Login { folder, book }) = Login::of(program) else { return furnish(root, program) };
    // Without it every process would be another device of nobody's.
    write(root, &format!("{FILES}/{BOOK}"), &identity(&book))?;
    let files = root.join(FILES).to_string_lossy().into_owned();
    let files = [("CLAUDE_CONFIG_DIR", files), ("CLAUDE_SECURESTORAGE_CONFIG_DIR", folder)];
    Ok(files.into_iter().chain(cache(root, program)).collect())
}

/// What a book says of who the user is; nothing where it cannot be read.
fn identity(book: &Path) -> String {
    let bytes = fs::metadata(book).map_or(0, |it| it.len());
    let book = Some(book).filter(|_| bytes <= BOOK_BYTES_MAX);
    let book = book.and_then(|it| fs::read_to_string(it).ok()).unwrap_or_default();
    let book = Json::parse(book).ok();
    let mut writer = Writer::default();
    writer.object(|it| {
        for name in IDENTITY {
            it.optional(name, book.as_ref().and_then(|book| member(book, name)).as_ref());
        }
    });
    writer.into_string()
}
