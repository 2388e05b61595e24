//! Claude Code at work: its own system prompt and tools, in a folder, within its permissions. What it says is the answer, what it does is
//! told as thoughts.

use sabir_wire::conversation::{Count, Counts, FinishKind};
use sabir_wire::json::{Json, Kind, Writer};

use super::faults::Trouble;
use super::isolate::ALONE;
use super::read::Line;
use super::seed::text_of;
use crate::agent::Permissions;
use crate::agent::faults::{Failed, gone, unreadable};
use crate::agent::json::{member, text};
use crate::agent::process::Process;
use crate::agent::spawn::Launch;
use crate::agent::speech::Speech;
use crate::agent::work::{Assignment, Outcome, activity};

const VARIABLES: [(&str, &str); 3] = [
    ("CLAUDE_CODE_DISABLE_ATTACHMENTS", "1"),
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("DISABLE_AUTOUPDATER", "1"),
];

/// The tools that there are, and what happens to calls that nobody allowed: none of these modes bypasses anything.
fn permitted(permissions: Permissions) -> &'static [&'static str] {
    match permissions {
        Permissions::Read => &["--tools=Read,Glob,Grep", "--permission-mode=dontAsk"],
        Permissions::Edit => {
            &["--tools=Read,Glob,Grep,Edit,Write,NotebookEdit", "--permission-mode=acceptEdits"]
        }
        Permissions::Full => &[
            "--tools=Read,Glob,Grep,Edit,Write,NotebookEdit,Bash,WebFetch,WebSearch",
            "--permission-mode=acceptEdits",
            "--allowedTools=Read,Glob,Grep,Edit,Write,NotebookEdit,Bash,WebFetch,WebSearch",
        ],
    }
}

pub(in crate::agent) fn launch_work(it: &Assignment<'_>) -> Launch {
    let permitted = permitted(it.workplace.permissions);
    let mut arguments: Vec<String> =
        ALONE.iter().chain(permitted).map(|&it| it.to_owned()).collect();
    arguments.extend(it.model.map(|model| format!("--model={model}")));
    match (it.kept, it.session) {
        (None, _) => arguments.push("--no-session-persistence".to_owned()),
        (Some(_), Some(session)) => arguments.push(format!("--resume={session}")),
        (Some(_), None) => {}
    }
    let variables = VARIABLES.map(|(name, value)| (name, value.to_owned())).into();
    let workplace = Some(it.workplace.folder.clone());
    let kept = it.kept.map(ToOwned::to_owned);
    let files = Vec::new();
    Launch { arguments, variables, files, furnish: None, workplace, kept }
}

pub(in crate::agent) async fn work(
    mut process: Process,
    it: &Assignment<'_>,
    speech: &mut Speech,
) -> Result<Outcome, Failed> {
    process.send_line(&initialize(it.system));
    process.send_line(&message(it.prompt));
    let (mut trouble, mut session) = (Trouble::default(), None);
    loop {
        let Some(bytes) = process.line().await.map_err(|error| unreadable(&error))? else {
            return Err(gone(process.exit().await));
        };
        let Ok(line) = Line::read(&bytes) else { continue };
        for news in news(&line) {
            match news {
                News::Message => speech.paragraph(),
                News::Text(text) => speech.push(text).await,
                News::Thought(thought) => speech.think(thought).await,
                News::Activity(activity) => speech.act(activity).await,
            }
        }
        trouble.note(&line);
        if line.begins_session() {
            session = text_of(&line.session_id);
        }
        match (line.is("result"), &session) {
            (false, _) => {}
            (true, None) if it.session.is_some() => return Ok(Outcome::Lost),
            (true, _) if line.is_error => return Err(trouble.of_result(&line)),
            (true, session) => {
                let session = session.clone().unwrap_or_default();
                let counts = line.usage.as_ref().map(counts);
                return Ok(Outcome::Done { session, kind: finish(&line), counts });
            }
        }
    }
}

fn initialize(system: Option<&str>) -> String {
    let mut writer = Writer::default();
    writer.object(|it| {
        it.field("type", "control_request");
        it.field("request_id", "1");
        it.object_field("request", |it| {
            it.field("subtype", "initialize");
            it.optional("appendSystemPrompt", system);
        });
    });
    writer.into_string()
}

fn message(prompt: &str) -> String {
    let mut writer = Writer::with_capacity(prompt.len() + 128);
    writer.object(|it| {
        it.field("type", "user");
        it.object_field("message", |it| {
            it.field("role", "user");
            it.field("content", prompt);
        });
    });
    writer.into_string()
}

/// What a line tells.
enum News {
    /// Another message begins.
    Message,
    Text(String),
    Thought(String),
    Activity(String),
}

fn news(line: &Line<'_>) -> Vec<News> {
    match line.own_event() {
        Some(event) => stated(event).into_iter().collect(),
        None if line.is("assistant") => line.message.as_ref().map(calls).unwrap_or_default(),
        None => Vec::new(),
    }
}

fn stated(event: &Json<'_>) -> Option<News> {
    match text(event, "type")?.as_str() {
        "message_start" => Some(News::Message),
        "content_block_delta" => {
            let delta = member(event, "delta")?;
            let thought = text(&delta, "thinking").map(News::Thought);
            text(&delta, "text").map(News::Text).or(thought)
        }
        _ => None,
    }
}

/// The tools that a message uses.
fn calls(message: &Json<'_>) -> Vec<News> {
    let mut found = Vec::new();
    let Some(content) = member(message, "content").filter(|it| it.kind() == Kind::Array) else {
        return found;
    };
    // What cannot be read was not printed by the CLI.
    let _ = content.reader().array(|_, reader| {
        let block = reader.raw()?;
        if text(&block, "type").as_deref() == Some("tool_use") {
            let input = member(&block, "input");
            let input = input.as_ref().map_or("", |input| input.as_str());
            let name = text(&block, "name").unwrap_or_default();
            found.push(News::Activity(activity(&name, input)));
        }
        Ok(())
    });
    found
}

fn finish(line: &Line<'_>) -> FinishKind {
    match text_of(&line.stop_reason).as_deref() {
        Some("max_tokens") => FinishKind::Length,
        Some("refusal") => FinishKind::Refusal,
        _ => FinishKind::Stop,
    }
}

/// The sum over all requests of a turn.
fn counts(usage: &Json<'_>) -> Counts {
    let count = |name: &str| member(usage, name).and_then(|it| it.as_str().parse::<u64>().ok());
    let mut counts = Counts::default();
    counts[Count::CacheRead] = count("cache_read_input_tokens");
    counts[Count::CacheWrite] = count("cache_creation_input_tokens");
    let cached = [counts[Count::CacheRead], counts[Count::CacheWrite]].into_iter().flatten();
    counts[Count::Input] =
        count("input_tokens").map(|plain| cached.fold(plain, u64::saturating_add));
    counts[Count::Output] = count("output_tokens");
    counts
}
