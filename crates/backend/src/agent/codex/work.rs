//! Codex at work: its own instructions and tools, in a folder, inside its sandbox. What it says is the answer, what it does is told as
//! thoughts.

use sabir_wire::conversation::{Count, Counts, FinishKind};
use sabir_wire::json::{Json, Kind, Writer};

use super::drive::{answered, decline, failure, introduce, next, refused};
use super::isolate::{furnish, write_work_config};
use super::read::{Line, Params};
use super::seed::{Question, Request, request};
use crate::agent::Permissions;
use crate::agent::faults::Failed;
use crate::agent::json::{member, text};
use crate::agent::process::Process;
use crate::agent::spawn::Launch;
use crate::agent::speech::Speech;
use crate::agent::work::{Assignment, Outcome, activity};

pub(in crate::agent) fn launch_work(it: &Assignment<'_>) -> Launch {
    // A folder that is trusted has settings and servers of its own; the CLI itself may note that it is.
    let mut folder = Writer::default();
    folder.value(&*it.workplace.folder.to_string_lossy());
    let settings = format!("[projects.{}]\ntrust_level = \"untrusted\"\n", folder.into_string());
    Launch {
        arguments: vec!["app-server".to_owned()],
        files: vec![("home/config.toml", settings)],
        furnish: Some(furnish),
        workplace: Some(it.workplace.folder.clone()),
        kept: it.kept.map(ToOwned::to_owned),
        ..Launch::default()
    }
}

pub(in crate::agent) async fn work(
    mut process: Process,
    it: &Assignment<'_>,
    speech: &mut Speech,
) -> Result<Outcome, Failed> {
    introduce(&mut process).await?;
    process.send_line(&start(it));
    let session = match (answered(&mut process, Request::StartThread).await, it.session) {
        (Ok(session), _) => session,
        (Err(_), Some(_)) => return Ok(Outcome::Lost),
        (Err(fault), None) => return Err(fault),
    };
    process.send_line(&Question::of_text(it.prompt).start_turn(&session));
    let turn = answered(&mut process, Request::StartTurn).await?;
    let mut counts = None;
    loop {
        let bytes = next(&mut process).await?;
        let Ok(line) = Line::read(&bytes) else { continue };
        decline(&mut process, &line);
        let method = line.method();
        if line.params.turn_id.as_ref().is_some_and(|it| *it != *turn.as_str()) {
            continue;
        }
        if method == "rawResponse/completed" {
            counts = sum(counts, line.params.usage.as_ref());
        }
        report(&method, &line.params, speech).await;
        if method == "turn/completed" && is_completed(&line) {
            return Ok(Outcome::Done { session, kind: FinishKind::Stop, counts });
        }
        if let Some(fault) = failure(&method, &line) {
            return Err(fault);
        }
        if let Some(error) = line.error.as_ref().filter(|_| line.answers().is_some()) {
            return Err(refused(error));
        }
    }
}

/// Begins a thread, or takes one up, which forgets its settings.
fn start(it: &Assignment<'_>) -> String {
    let method = if it.session.is_some() { "thread/resume" } else { "thread/start" };
    request(Request::StartThread, method, |writer| {
        writer.optional("threadId", it.session);
        writer.optional("model", it.model);
        writer.field("cwd", &*it.workplace.folder.to_string_lossy());
        if it.session.is_none() {
            writer.field("ephemeral", &it.kept.is_none());
        }
        writer.field("approvalPolicy", "never");
        writer.field(
            "sandbox",
            match it.workplace.permissions {
                Permissions::Read => "read-only",
                Permissions::Edit | Permissions::Full => "workspace-write",
            },
        );
        writer.optional("developerInstructions", it.system);
        writer.field("experimentalRawEvents", &true);
        writer.key("config");
        write_work_config(it.workplace.permissions, writer);
    })
}

async fn report(method: &str, params: &Params<'_>, speech: &mut Speech) {
    let delta = params.delta.as_ref().map(|it| it.to_str().into_owned()).unwrap_or_default();
    match method {
        "item/agentMessage/delta" => speech.push(delta).await,
        "item/reasoning/summaryTextDelta" => speech.think(delta).await,
        "item/started" => {
            let Some(item) = &params.item else { return };
            match text(item, "type").as_deref() {
                Some("agentMessage") => speech.paragraph(),
                Some(kind) => {
                    if let Some(done) = doing(kind, item) {
                        speech.act(done).await;
                    }
                }
                None => {}
            }
        }
        "item/completed" => {
            let kind = params.item.as_ref().and_then(|item| text(item, "type"));
            if kind.as_deref() == Some("reasoning") {
                speech.think("\n\n".to_owned()).await;
            }
        }
        _ => {}
    }
}

/// What the CLI does, in a line; nothing of what it only says.
fn doing(kind: &str, item: &Json<'_>) -> Option<String> {
    let stated = |name: &str| text(item, name).unwrap_or_default();
    match kind {
        "commandExecution" => Some(activity("$", &stated("command"))),
        "fileChange" => Some(activity("change", &paths(item))),
        "webSearch" => Some(activity("search", &stated("query"))),
        "mcpToolCall" | "dynamicToolCall" => Some(activity("call", &stated("tool"))),
        "imageView" => Some(activity("look at", &stated("path"))),
        _ => None,
    }
}

fn paths(item: &Json<'_>) -> String {
    let mut paths = Vec::new();
    let changes = member(item, "changes").filter(|it| it.kind() == Kind::Array);
    let _ = changes.map(|changes| {
        changes.reader().array(|_, reader| {
            let change = reader.raw()?;
            paths.extend(text(&change, "path"));
            Ok(())
        })
    });
    paths.join(", ")
}

fn is_completed(line: &Line<'_>) -> bool {
    let turn = line.params.turn.as_ref();
    turn.and_then(|turn| text(turn, "status")).as_deref() == Some("completed")
}

/// A turn has many answers of the model, each with its own counts.
fn sum(counts: Option<Counts>, usage: Option<&Json<'_>>) -> Option<Counts> {
    let Some(usage) = usage else { return counts };
    let mut sum = counts.unwrap_or_default();
    for (count, name) in [
        (Count::Input, "inputTokens"),
        (Count::CacheRead, "cachedInputTokens"),
        (Count::Output, "outputTokens"),
        (Count::Reasoning, "reasoningOutputTokens"),
        (Count::Total, "totalTokens"),
    ] {
        let more = member(usage, name).and_then(|it| it.as_str().parse::<u64>().ok());
        if let Some(more) = more {
            sum[count] = Some(sum[count].unwrap_or(0).saturating_add(more));
        }
    }
    Some(sum)
}
