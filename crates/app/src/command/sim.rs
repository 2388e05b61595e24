//! `sabir sim`: the strict simulators of the four provider APIs, on a socket of their own.

use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow};
use clap::Args;
use sabir_backend::sim::Server;
use sabir_gateway::config::parse_listen;
use tokio::net::TcpListener;
use tokio::runtime::LocalRuntime;

use crate::output;

/// Serve strict simulators of the four provider APIs.
///
/// They check requests by the real APIs' rules, answer by what is asked, and fail by the name
/// of the model (fault-429, fault-disconnect, …). Any key will do. Ctrl-C ends it.
///
/// Example:
///   sabir sim --listen 127.0.0.1:0
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Sim {
    /// Where to listen; port 0 picks a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:4748", value_parser = parse_listen)]
    listen: SocketAddr,
}

impl Sim {
    pub(crate) fn run(self) -> Result<ExitCode> {
        LocalRuntime::new()?.block_on(self.serve())?;
        Ok(ExitCode::SUCCESS)
    }

    async fn serve(self) -> Result<()> {
        let listener = TcpListener::bind(self.listen).await.map_err(|error| {
            anyhow!("cannot listen on {}: {error}{}", self.listen, hint(&error))
        })?;
        output::print(&greeting(listener.local_addr()?))?;
        Server::default().serve(listener).await.context("the simulators stopped")
    }
}

/// What helps where another program, most likely another simulator, has the port, or nobody may have it.
fn hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::AddrInUse => "; another program listens there: use --listen",
        io::ErrorKind::AddrNotAvailable => "; this machine has no such address: use --listen",
        io::ErrorKind::PermissionDenied => "; ports below 1024 need rights: use --listen",
        _ => "",
    }
}

fn greeting(address: SocketAddr) -> String {
    format!(
        "\
Sabir's simulators listen on http://{address} (any key will do)

  OpenAI      http://{address}/openai/v1     chat/completions, responses, embeddings, models
  Anthropic   http://{address}/anthropic     v1/messages, v1/messages/count_tokens, v1/models
  Gemini      http://{address}/gemini        v1beta/models/MODEL:generateContent, :streamGenerateContent

  What arrived   http://{address}/_sim/requests

Try:
  curl -s http://{address}/openai/v1/chat/completions -H 'authorization: Bearer x' \\
    -H 'content-type: application/json' \\
    -d '{{\"model\":\"sim\",\"messages\":[{{\"role\":\"user\",\"content\":\"hello\"}}]}}'
"
    )
}
