//! An agent at work with its own tools, in a folder of the operator's. What it does is told as thoughts; a conversation that somebody
//! keeps has a session of the CLI, which the next call takes up as long as nothing else was said meanwhile.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fs, io};

use bytes::Bytes;
use sabir_wire::FaultKind;
use sabir_wire::conversation::{Counts, FinishKind};

use super::answer::{Answer, Patience};
use super::faults::{Failed, fault, unstarted};
use super::folder::{on_disk, write};
use super::process::Process;
use super::spawn::{Launch, Spawner};
use super::speech::Speech;
use super::task::{Digest, Speaker, Task, Thread, Workplace};
use super::{Kind, claude, codex, gemini};

/// The file that says which session a conversation has and what was said in it.
const KNOWN: &str = "known";

/// How long a session is kept that nobody takes up.
const SESSION_AGE_MAX: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// How much is shown of what an agent does.
const ACTIVITY_BYTES_MAX: usize = 500;

/// What a CLI is told to do.
pub(super) struct Assignment<'w> {
    pub(super) prompt: &'w str,
    pub(super) system: Option<&'w str>,
    pub(super) model: Option<&'w str>,
    /// The session to take up.
    pub(super) session: Option<&'w str>,
    /// Where the session is kept, if it is.
    pub(super) kept: Option<&'w Path>,
    pub(super) workplace: &'w Workplace,
}

/// How an assignment ended.
pub(super) enum Outcome {
    /// The session that was to be taken up is not there.
    Lost,
    Done {
        session: String,
        kind: FinishKind,
        counts: Option<Counts>,
    },
}

/// An agent that works.
pub(super) struct Job {
    kind: Kind,
    spawner: Arc<Spawner>,
    model: Option<String>,
    task: Task,
    /// Where the session of the conversation is kept.
    kept: Option<PathBuf>,
    workplace: Option<Workplace>,
}

/// Has the work begun that a body describes.
pub(super) async fn begin(
    (kind, spawner): (Kind, Arc<Spawner>),
    model: Option<&str>,
    body: Bytes,
    patience: Patience,
) -> Result<Answer, Failed> {
    let task = Task::read(&body).map_err(|it| fault(FaultKind::BadRequest, it.to_string()))?;
    let workplace = resolved(spawner.program().workplace.clone()).await?;
    let kept = task.thread.as_ref().zip(workplace.as_ref());
    let kept = kept.map(|(thread, place)| place.sessions.join(thread.folder_name()));
    let job = Job { kind, spawner, model: model.map(str::to_owned), task, kept, workplace };
    let session = job.known().await;
    let process = job.start(session.as_deref()).await?;
    let name = model.unwrap_or(super::OWN_CHOICE).to_owned();
    Ok(Answer::new(patience, |sink| async move {
        let emitted = job.task.thread.as_ref().map(|it| it.through.begin(Speaker::Agent));
        job.run((process, session), Speech::noting(sink, name, emitted)).await
    }))
}

/// The workplace with its folder as the CLIs call it, who follow links: permissions, trust and sessions go by that path. Whether it is there is
/// known now alone.
async fn resolved(workplace: Option<Workplace>) -> Result<Option<Workplace>, Failed> {
    let Some(workplace) = workplace else { return Ok(None) };
    let found = workplace.folder.clone();
    let folder = on_disk(move || found.canonicalize()).await.map_err(|error| {
        let message = format!("the folder that the agent works in is not there: {}", error.kind());
        fault(FaultKind::Internal, message)
    })?;
    Ok(Some(Workplace { folder, ..workplace }))
}

impl Job {
    async fn run(
        self,
        (process, session): (Process, Option<String>),
        mut speech: Speech,
    ) -> Result<(), Failed> {
        let mut outcome = self.drive((process, session.as_deref()), &mut speech).await?;
        if matches!(outcome, Outcome::Lost) {
            outcome = self.drive((self.start(None).await?, None), &mut speech).await?;
        }
        let Outcome::Done { session, kind, counts } = outcome else {
            return Err(fault(FaultKind::Internal, "the agent has lost its session"));
        };
        self.remember(session, speech.emitted()).await;
        speech.finish(kind, counts);
        Ok(())
    }

    async fn drive(
        &self,
        (process, session): (Process, Option<&str>),
        speech: &mut Speech,
    ) -> Result<Outcome, Failed> {
        let Some(assignment) = self.assignment(session) else { return Ok(Outcome::Lost) };
        match self.kind {
            Kind::ClaudeCode => claude::work(process, &assignment, speech).await,
            Kind::OpenaiCodex => codex::work(process, &assignment, speech).await,
            Kind::GoogleGemini => gemini::work(process, &assignment, speech).await,
            Kind::Plain => Ok(Outcome::Lost),
        }
    }

    async fn start(&self, session: Option<&str>) -> Result<Process, Failed> {
        let launch = match (self.kind, self.assignment(session)) {
            (Kind::ClaudeCode, Some(it)) => {
                claude::apart(claude::launch_work(&it), &self.spawner).await
            }
            (Kind::OpenaiCodex, Some(it)) => codex::launch_work(&it),
            (Kind::GoogleGemini, Some(it)) => gemini::launch_work(&it),
            (Kind::Plain, _) | (_, None) => Launch::default(),
        };
        let started = self.spawner.spawn(launch).await;
        started.map_err(|error| unstarted(self.spawner.name(), &error))
    }

    fn assignment<'j>(&'j self, session: Option<&'j str>) -> Option<Assignment<'j>> {
        let news = self.task.thread.as_ref().map(|thread| thread.prompt.as_str());
        Some(Assignment {
            prompt: session.and(news).unwrap_or(&self.task.prompt),
            system: self.task.system.as_deref(),
            model: self.model.as_deref(),
            session,
            kept: self.kept.as_deref(),
            workplace: self.workplace.as_ref()?,
        })
    }

    /// The session that knows what was said and nothing else. It is anybody's guess until this call is over.
    async fn known(&self) -> Option<String> {
        let (kept, Thread { before, .. }) = (self.kept.clone()?, self.task.thread.as_ref()?);
        let before = before.clone();
        on_disk(move || Ok(take(&kept, &before))).await.ok().flatten()
    }

    /// Without a note of it the session is not taken up, which costs no more than telling all again.
    async fn remember(&self, session: String, emitted: Option<Digest>) {
        if let (Some(kept), Some(emitted)) = (self.kept.clone(), emitted) {
            let note = format!("{}\n{session}\n", emitted.as_str());
            let _ = on_disk(move || write(&kept, KNOWN, &note)).await;
        }
    }
}

/// Takes the session out of a folder that knows this and nothing else. One that knows something else goes.
fn take(kept: &Path, before: &Digest) -> Option<String> {
    let note = fs::read_to_string(kept.join(KNOWN)).unwrap_or_default();
    let found = note.trim_end().split_once('\n').filter(|(emitted, _)| *emitted == before.as_str());
    match found {
        Some((_, session)) => {
            fs::remove_file(kept.join(KNOWN)).ok()?;
            Some(session.to_owned())
        }
        None => {
            let _ = fs::remove_dir_all(kept);
            None
        }
    }
}

impl Workplace {
    /// Removes sessions that nobody took up for long.
    pub(super) fn sweep(&self) {
        let is_old = |entry: &fs::DirEntry| {
            let changed = entry.metadata().and_then(|it| it.modified());
            changed.is_ok_and(|it| it.elapsed().is_ok_and(|age| age > SESSION_AGE_MAX))
        };
        let entries = fs::read_dir(&self.sessions).into_iter().flatten().flatten();
        for entry in entries.filter(is_old) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// What is told of something that the agent does.
pub(super) fn activity(name: &str, details: &str) -> String {
    let details: String = details.split_whitespace().collect::<Vec<_>>().join(" ");
    let end = details.floor_char_boundary(ACTIVITY_BYTES_MAX);
    let more = if end < details.len() { "…" } else { "" };
    format!("{name} {}{more}", &details[..end]).trim_end().to_owned()
}

/// Makes a link to a file of the user's, which may be there from an earlier process.
pub(super) fn link(file: &Path, name: &Path) -> io::Result<()> {
    match std::os::unix::fs::symlink(file, name) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn activity_is_a_line_of_bounded_length() {
        assert_eq!(activity("Read", "{\n  \"path\": \"a\"\n}"), "Read { \"path\": \"a\" }");
        assert_eq!(activity("ls", ""), "ls");
        let long = activity("Write", &"é".repeat(1_000));
        assert!(long.len() < 520 && long.ends_with('…'), "{long}");
    }
}
