//! Sessions in files: what the file holds is what is sent, and what was answered is what is kept.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use sabir_client::{
    Client, ErrorKind, Folder, Message, Protocol, Transcript, TranscriptMessage, load_transcript,
    save_transcript,
};

use crate::servers::{Scripted, json};

const REPLY: &str = r#"{"choices":[{"message":{"content":"Hello!"}}]}"#;

/// A folder that goes with its test.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("client-{}-{number}", std::process::id());
        Self(PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn client(server: &Scripted) -> Client {
    Client::new(Protocol::OpenaiChat, &server.url).unwrap().with_model("m")
}

#[tokio::test]
async fn a_transcript_that_somebody_edited_is_what_the_next_call_sends() {
    let scratch = Scratch::new();
    let store = Folder::new(scratch.path());
    let server = Scripted::start(vec![json(200, REPLY), json(200, REPLY)]);
    client(&server).continue_session(&store, "s", "My name is Ada.").await.unwrap();
    server.request();
    let path = scratch.path().join("sessions/s/transcript.json");
    let edited = std::fs::read_to_string(&path).unwrap().replace("Ada", "Grace");
    std::fs::write(
        &path,
        edited.replace("\"role\": \"user\",", "\"role\": \"user\", \"mark\": 1,"),
    )
    .unwrap();
    client(&server).continue_session(&store, "s", "Who am I?").await.unwrap();
    let sent = server.request().json();
    assert_eq!(sent["messages"][0]["content"], "My name is Grace.");
    assert_eq!(sent["messages"][0].get("mark"), None);
    let kept = std::fs::read_to_string(&path).unwrap();
    assert!(kept.contains("\"mark\": 1") && kept.contains("Grace"), "{kept}");
}

#[tokio::test]
async fn without_an_answer_the_file_stays_as_it_was() {
    let scratch = Scratch::new();
    let store = Folder::new(scratch.path());
    let server = Scripted::start(vec![json(500, "{}")]);
    client(&server).continue_session(&store, "s", "Hi").await.unwrap_err();
    assert!(load_transcript(&store, "s").await.unwrap().messages().is_empty());
    assert!(!scratch.path().exists());
}

#[tokio::test]
async fn what_somebody_else_wrote_meanwhile_is_not_written_over() {
    let scratch = Scratch::new();
    let store = Folder::new(scratch.path());
    let theirs: Transcript =
        [TranscriptMessage::new(Message::user("theirs"), 1)].into_iter().collect();
    let server = Scripted::start(vec![json(200, REPLY)]);
    let client = client(&server);
    let calling = client.continue_session(&store, "s", "Hi");
    // The call has read the session before it is asked for its answer.
    let mut calling = Box::pin(calling);
    let came = loop {
        tokio::select! {
            biased;
            done = &mut calling => break done,
            () = tokio::task::yield_now() => {
                if load_transcript(&store, "s").await.unwrap().messages().is_empty() {
                    save_transcript(&store, "s", &theirs).await.unwrap();
                }
            }
        }
    };
    server.request();
    match came {
        // Theirs was first, and was sent.
        Ok(_) => assert_eq!(load_transcript(&store, "s").await.unwrap().messages().len(), 3),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Session);
            assert!(load_transcript(&store, "s").await.unwrap() == theirs);
        }
    }
}

#[tokio::test]
async fn a_file_that_is_no_transcript_is_neither_sent_nor_replaced() {
    let scratch = Scratch::new();
    let folder = scratch.path().join("sessions/s");
    std::fs::create_dir_all(&folder).unwrap();
    for text in ["not json", "[{\"role\":\"robot\"}]", "{\"role\":\"user\"} trailing"] {
        std::fs::write(folder.join("transcript.json"), text).unwrap();
        let client =
            Client::new(Protocol::OpenaiChat, "http://127.0.0.1:9").unwrap().with_model("m");
        let error =
            client.continue_session(&Folder::new(scratch.path()), "s", "Hi").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Session, "{text}");
        assert_eq!(std::fs::read_to_string(folder.join("transcript.json")).unwrap(), text);
    }
}
