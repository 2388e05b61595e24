//! Sessions: conversations in files, in one form for all providers, so that an old one goes on with a new provider.

use sabir_store::{Clock, Folder, Replaces, SessionId, Stamp};
use sabir_wire::unified::{Transcript, TranscriptMessage, UnifiedMessage, UnifiedTool};

use crate::answer::Answer;
use crate::client::Client;
use crate::error::{Error, ErrorKind, Result};

impl Client {
    /// Says something in a session, which is begun if there is none of this id, and keeps what is answered.
    ///
    /// What the file holds when this is called is what is sent, whoever wrote it. Without an answer it stays as it was.
    pub async fn continue_session(&self, store: &Folder, id: &str, text: &str) -> Result<Answer> {
        self.extend_session(store, id, vec![UnifiedMessage::user(text)], &[]).await
    }

    /// The same with any messages, such as results of tools, and with tools that the model may call.
    pub async fn extend_session(
        &self,
        store: &Folder,
        id: &str,
        messages: Vec<UnifiedMessage>,
        tools: &[UnifiedTool],
    ) -> Result<Answer> {
        let id = SessionId::new(id)?;
        let (mut transcript, version) = load(store.clone(), id.clone()).await?;
        messages.into_iter().for_each(|message| transcript.push(now(message)));
        let answer = self.chat(&transcript.plain(), tools).await?;
        transcript.push(now(answer.reply.clone().into_message()));
        save(store.clone(), (id, version), transcript).await?;
        Ok(answer)
    }
}

/// A session as it is kept; one that was never saved is empty.
pub async fn load_transcript(store: &Folder, id: &str) -> Result<Transcript> {
    let (transcript, _) = load(store.clone(), SessionId::new(id)?).await?;
    Ok(transcript)
}

/// Keeps a session in place of whatever was kept under its id.
pub async fn save_transcript(store: &Folder, id: &str, transcript: &Transcript) -> Result<()> {
    let (store, id, json) = (store.clone(), SessionId::new(id)?, transcript.to_json());
    on_disk(move || store.write(&id, json.as_bytes(), Replaces::Anything)).await?;
    Ok(())
}

async fn load(store: Folder, id: SessionId) -> Result<(Transcript, Option<Stamp>)> {
    let Some(file) = on_disk(move || store.read(&id)).await? else {
        return Ok((Transcript::default(), None));
    };
    let unreadable = |error: String| {
        Error::new(ErrorKind::Session, format!("the session's file is no transcript: {error}"))
    };
    let text = str::from_utf8(&file.bytes).map_err(|error| unreadable(error.to_string()))?;
    let transcript = Transcript::parse(text).map_err(|error| unreadable(error.to_string()))?;
    Ok((transcript, Some(file.stamp)))
}

/// What somebody else wrote meanwhile is not written over.
async fn save(
    store: Folder,
    (id, version): (SessionId, Option<Stamp>),
    transcript: Transcript,
) -> Result<()> {
    let json = transcript.to_json();
    on_disk(move || store.write(&id, json.as_bytes(), Replaces::Version(version))).await?;
    Ok(())
}

/// Waits for the disk where nobody else has to.
async fn on_disk<T: Send + 'static>(
    work: impl FnOnce() -> sabir_store::Result<T> + Send + 'static,
) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => Ok(done?),
        Err(_) => Err(Error::new(ErrorKind::Session, "the disk was not waited for")),
    }
}

fn now(message: UnifiedMessage) -> TranscriptMessage {
    TranscriptMessage::new(message, Clock::System.now().0)
}
