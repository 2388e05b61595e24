//! A client of any LLM provider and of a running Sabir gateway, in one form for messages, tools, replies and transcripts.
//!
//! A first program, against `sabir serve`:
//!
//! ```no_run
#![doc = include_str!("../examples/first.rs")]
//! ```
//!
//! Without a gateway, a [`Client`] asks a provider itself. A session is kept in one form whoever answers, so that it goes on
//! with another provider by another word in its configuration:
//!
//! ```
//! use sabir_client::{Client, Folder, format};
//!
//! async fn ask(api: &str, base_url: &str, data: &Folder, text: &str) -> sabir_client::Result<String> {
//!     let protocol = format(api).expect("openai, claude or another protocol");
//!     let client = Client::new(protocol, base_url)?.with_key("my-key")?.with_model("sim");
//!     let answer = client.continue_session(data, "first-session", text).await?;
//!     Ok(answer.reply.content)
//! }
//!
//! # tokio::runtime::LocalRuntime::new()?.block_on(async {
//! # let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
//! # let url = format!("http://{}", listener.local_addr()?);
//! # tokio::task::spawn_local(sabir_backend::sim::Server::default().serve(listener));
//! # let folder = std::env::temp_dir().join(format!("sabir-doc-{}", std::process::id()));
//! # let (openai, claude) = (format!("{url}/openai/v1"), format!("{url}/anthropic"));
//! let data = Folder::new("data");
//! # let data = Folder::new(&folder);
//! ask("openai", &openai, &data, "My name is Ada.").await?;
//! let answer = ask("claude", &claude, &data, "What is my name?").await?;
//! # assert!(answer.contains("What is my name?"));
//!
//! let transcript = sabir_client::load_transcript(&data, "first-session").await?;
//! assert_eq!(transcript.messages().len(), 4);
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! From the lowest to the highest:
//!
//! - `error`, `answer`: what comes back
//! - `surface`: how the API of each protocol is addressed
//! - `transport`: one server, its key, deadlines and limits
//! - `names`, `request`: from the unified form to a protocol
//! - `stream`, `client`: asking
//! - `session`: conversations in files
//! - `gateway`: a running gateway and what it keeps

mod answer;
mod client;
mod error;
mod gateway;
mod names;
mod request;
mod session;
mod stream;
mod surface;
mod transport;

pub use answer::{Answer, Head, Reasoning};
pub use client::Client;
pub use error::{Error, ErrorKind, Result};
pub use gateway::{Conversation, Conversations, Gateway, NewConversation, Page, Turn};
pub use sabir_store::Folder;
pub use sabir_wire::Protocol;
pub use sabir_wire::conversation::{Count, Counts};
pub use sabir_wire::unified::{
    Transcript, TranscriptMessage, UnifiedCall as ToolCall, UnifiedMessage as Message,
    UnifiedReply as Reply, UnifiedRole as Role, UnifiedTool as Tool,
};
pub use session::{load_transcript, save_transcript};
pub use stream::{Stream, StreamEvent};
pub use surface::format;
pub use transport::Timeouts;
