//! Gemini CLI at work: its own system prompt and tools, in a folder, those alone that it may use. What it says is the answer, what it
//! does is told as thoughts.

use std::path::Path;
use std::{fs, io};

use sabir_wire::conversation::{Count, FinishKind};
use sabir_wire::json::Writer;

use super::drive::broken_off;
use super::faults;
use super::isolate::{FOLDER, link_login, write_common, write_security};
use super::read::{Line, Update, unframed};
use super::record;
use super::talk::{Talk, in_folder};
use crate::agent::Permissions;
use crate::agent::faults::Failed;
use crate::agent::process::Process;
use crate::agent::spawn::{Launch, Program};
use crate::agent::speech::Speech;
use crate::agent::work::{Assignment, Outcome, activity};

const READING: [&str; 6] = [
    "read_file",
    "read_many_files",
    "list_directory",
    "glob",
    "grep_search",
    "search_file_content",
];

const EDITING: [&str; 2] = ["write_file", "replace"];

const RUNNING: [&str; 3] = ["run_shell_command", "web_fetch", "google_web_search"];

/// What a file of variables in the folder must not decide: who answers, with which key, and what is loaded.
const EXCLUDED: [&str; 14] = [
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GOOGLE_GEMINI_BASE_URL",
    "GOOGLE_VERTEX_BASE_URL",
    "GOOGLE_GENAI_USE_VERTEXAI",
    "GOOGLE_GENAI_USE_GCA",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_CLOUD_PROJECT",
    "GEMINI_SYSTEM_MD",
    "GEMINI_MODEL",
    "NODE_OPTIONS",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NODE_TLS_REJECT_UNAUTHORIZED",
];

fn tools(permissions: Permissions) -> Vec<&'static str> {
    let more: &[&[&str]] = match permissions {
        Permissions::Read => &[],
        Permissions::Edit => &[&EDITING],
        Permissions::Full => &[&EDITING, &RUNNING],
    };
    READING.iter().chain(more.iter().copied().flatten()).copied().collect()
}

pub(in crate::agent) fn launch_work(it: &Assignment<'_>) -> Launch {
    // A folder that is not trusted has no settings, hooks, servers and variables to say.
    let mut arguments = vec!["--acp".to_owned()];
    arguments.extend(it.model.map(|model| format!("--model={model}")));
    Launch {
        arguments,
        variables: vec![("GEMINI_CLI_NO_RELAUNCH", "true".to_owned())],
        files: vec![("home/policy.toml", policy(it.workplace.permissions))],
        furnish: Some(furnish),
        workplace: Some(it.workplace.folder.clone()),
        kept: it.kept.map(ToOwned::to_owned),
    }
}

/// The tools that it may use run unasked, and no others.
fn policy(permissions: Permissions) -> String {
    let mut names = Writer::default();
    names.value(&tools(permissions)[..]);
    let names = names.into_string();
    format!(
        "[[rule]]\ntoolName = {names}\ndecision = \"allow\"\npriority = 999\n\n\
         [[rule]]\ntoolName = \"*\"\ndecision = \"deny\"\npriority = 998\n"
    )
}

/// A home with the login and settings that those of the project, which nobody trusts, do not override.
fn furnish(root: &Path, program: &Program) -> io::Result<Vec<(&'static str, String)>> {
    let home = root.join("home");
    let selected = link_login(&home, program)?;
    let permissions = program.workplace.as_ref().map_or(Permissions::Read, |it| it.permissions);
    let mut writer = Writer::default();
    writer.object(|it| {
        it.object_field("tools", |it| it.field("core", &tools(permissions)[..]));
        write_common(it);
        write_security(selected.as_deref(), it, |it| {
            it.object_field("folderTrust", |it| it.field("enabled", &true));
        });
        it.object_field("mcp", |it| it.field("allowed", &["none"][..]));
        it.object_field("advanced", |it| it.field("excludedEnvVars", &EXCLUDED[..]));
        let policy = home.join("policy.toml").to_string_lossy().into_owned();
        it.field("adminPolicyPaths", &[policy.as_str()][..]);
    });
    fs::write(home.join(FOLDER).join("settings.json"), writer.into_string())?;
    Ok(vec![("GEMINI_CLI_HOME", home.to_string_lossy().into_owned())])
}

pub(in crate::agent) async fn work(
    process: Process,
    it: &Assignment<'_>,
    speech: &mut Speech,
) -> Result<Outcome, Failed> {
    let mut talk = Talk::new(process);
    talk.introduce().await?;
    let known = match (it.session, it.kept) {
        (Some(session), Some(kept)) => {
            let name = session.to_owned();
            let updates =
                in_folder(kept.to_owned(), move |kept| record::restore(kept, &name)).await?;
            let Some(updates) = updates else { return Ok(Outcome::Lost) };
            Some((session, updates))
        }
        _ => None,
    };
    match (talk.open(known, &it.workplace.folder).await, known) {
        (Ok(()), _) => {}
        (Err(_), Some(_)) => return Ok(Outcome::Lost),
        (Err(fault), None) => return Err(fault),
    }
    let outcome = listen(&mut talk, it.prompt, speech).await?;
    if let Some(kept) = it.kept {
        let session = talk.session.clone();
        // Without its record the session is not taken up, which costs no more than telling all again.
        let _ = in_folder(kept.to_owned(), move |kept| record::stow(kept, &session)).await;
    }
    Ok(outcome)
}

async fn listen(talk: &mut Talk, prompt: &str, speech: &mut Speech) -> Result<Outcome, Failed> {
    let request = talk.prompt(prompt);
    loop {
        let bytes = talk.next().await?;
        let Ok(line) = Line::read(&bytes) else { continue };
        if line.answers() == Some(request) {
            if let Some(error) = &line.error {
                return Err(faults::refused(error));
            }
            let counts = line.counts();
            let kind = match line.stated("stopReason").as_deref() {
                Some("max_tokens" | "max_turn_requests") => FinishKind::Length,
                Some("refusal") => FinishKind::Refusal,
                // An answer that broke off ends like any other, but has no count.
                _ if counts.as_ref().is_none_or(|it| it[Count::Output].unwrap_or(0) == 0) => {
                    return Err(broken_off());
                }
                _ => FinishKind::Stop,
            };
            return Ok(Outcome::Done { session: talk.session.clone(), kind, counts });
        }
        if let Some((id, _)) = line.asks() {
            // What it may do it does without asking.
            talk.decline(id);
        }
        if let Some((kind, title)) = line.begun_call(&talk.session) {
            speech.act(activity(&kind, &title)).await;
        }
        match line.update(&talk.session) {
            Some(Update::Text(text)) => speech.push(text).await,
            Some(Update::Thought(thought)) => speech.think(unframed(&thought)).await,
            Some(Update::Call | Update::User | Update::Other) | None => {}
        }
    }
}
