//! What a gateway keeps, asked of its own endpoints: of one that runs, else of one in this process on the same store. A command
//! need not know which.

use std::env;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use sabir_backend::Secret;
use sabir_backend::http::{Address, Afterwards, Body, Client, Outgoing, Timeouts};
use sabir_gateway::config::types::{Config, StoreAccess};
use serde::Deserialize;
use tokio::runtime::Runtime;

use crate::configuration;
use crate::configuration::ConfigFile;
use crate::gateway::Running;
use crate::output::printable;
use crate::shell;

/// Which gateway is asked, and how it answers.
#[derive(Args)]
pub(crate) struct GatewayOptions {
    /// The config file [default: $SABIR_CONFIG, else ./sabir.toml, else sabir/sabir.toml in the
    /// user's config folder, else none]
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,

    /// Folder for what Sabir keeps [default: $SABIR_DATA_DIR, else sabir/ in the user's data
    /// folder]
    #[arg(long, value_name = "DIR", global = true)]
    data: Option<PathBuf>,

    /// The gateway key, where one is required [default: $SABIR_KEY, else the config file's first]
    #[arg(long, value_name = "KEY", global = true)]
    key: Option<String>,
}

/// A gateway's memory, open for questions.
pub(crate) struct Archive {
    running: Running,
    address: Address,
    headers: HeaderMap,
    client: Client,
    runtime: Runtime,
}

/// What a gateway says when it refuses.
#[derive(Deserialize)]
struct Refusal {
    error: RefusalBody,
}

#[derive(Deserialize)]
struct RefusalBody {
    message: String,
    code: Option<String>,
    param: Option<String>,
}

/// The variable that holds a gateway key.
const KEY_VARIABLE: &str = "SABIR_KEY";

/// What is kept of the largest conversations is written within this time.
const TIMEOUTS: Timeouts =
    Timeouts { connect: Duration::from_secs(5), first_byte: Duration::from_secs(120) };

impl GatewayOptions {
    /// The configuration that this place names.
    pub(crate) fn load(&self) -> Result<Config> {
        let file = self.config.clone().map_or_else(ConfigFile::found, ConfigFile::named);
        let mut config = match file.load() {
            Ok(loaded) => loaded.config,
            Err(problems) => bail!("{}", configuration::listed(&problems)),
        };
        if let Some(data) = &self.data {
            config.store.data_folder = Some(data.clone());
        }
        Ok(config)
    }

    /// The key to come with, if one is known.
    pub(crate) fn key(&self, config: &Config) -> Option<Secret> {
        let given = self.key.clone().or_else(|| env::var(KEY_VARIABLE).ok());
        let given = given.filter(|key| !key.is_empty()).map(Secret::new);
        let configured = || config.auth.keys.first().map(|key| key.value.clone());
        given.or_else(|| configured().filter(|_| config.auth.required))
    }

    /// The same options once more, as a shell reads them. The key is nobody's to print.
    pub(crate) fn again(&self) -> String {
        let paths = [("--config", &self.config), ("--data", &self.data)];
        let given = paths.into_iter().filter_map(|(name, path)| {
            Some(format!(" {name} {}", shell::word(&path.as_ref()?.to_string_lossy())))
        });
        let key = self.key.as_ref().map(|_| " --key KEY".to_owned());
        given.chain(key).collect()
    }

    pub(crate) fn open(&self) -> Result<Archive> {
        let config = self.load()?;
        Archive::open(&config, self.key(&config).as_ref())
    }

    /// The same for whoever changes nothing: a store that cannot be written is opened all the same.
    pub(crate) fn open_to_read(&self) -> Result<Archive> {
        let mut config = self.load()?;
        config.store.access = StoreAccess::Reading;
        Archive::open(&config, self.key(&config).as_ref())
    }
}

impl Archive {
    fn open(config: &Config, key: Option<&Secret>) -> Result<Self> {
        let running = Running::find_or_start(config)?;
        if let Some(reason) = running.forgets(config) {
            running.end();
            bail!("nothing is kept: {reason}");
        }
        let url: Uri = format!("http://{}", running.address()).parse()?;
        let address = Address::of(&url).context("the gateway has no address")?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(key) = key {
            let value = HeaderValue::try_from(format!("Bearer {}", key.expose()));
            headers.insert(AUTHORIZATION, value.context("the key cannot be sent in a header")?);
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(Self { running, address, headers, client: Client::default(), runtime })
    }

    pub(crate) fn get(&self, path: &str) -> Result<String> {
        self.ask(&Method::GET, path, "")
    }

    pub(crate) fn post(&self, path: &str, body: &str) -> Result<String> {
        self.ask(&Method::POST, path, body)
    }

    pub(crate) fn delete(&self, path: &str) -> Result<String> {
        self.ask(&Method::DELETE, path, "")
    }

    fn ask(&self, method: &Method, path: &str, body: &str) -> Result<String> {
        let outgoing = Outgoing {
            method,
            address: &self.address,
            path,
            headers: &self.headers,
            body: &[body.as_bytes()],
            afterwards: Afterwards::Keep,
        };
        let (status, answer) = self.runtime.block_on(async {
            let response = self.client.send(&outgoing, TIMEOUTS).await?;
            Ok::<_, anyhow::Error>((response.status, read(response.body).await?))
        })?;
        let answer = String::from_utf8(answer).context("the gateway answers no text")?;
        if status.is_success() {
            return Ok(answer);
        }
        bail!("{}", explained(status, &answer))
    }

    /// Lets go of the gateway; one of this process's own writes what it has to.
    pub(crate) fn close(self) {
        let Self { running, client, runtime, .. } = self;
        drop((client, runtime));
        running.end();
    }
}

async fn read(mut body: Body) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        let mut take = |data: &[u8]| bytes.extend_from_slice(data);
        match std::future::poll_fn(|cx| body.poll_data(cx, &mut take)).await {
            Some(read) => read?,
            None => return Ok(bytes),
        }
    }
}

/// A refusal in words, with what to do.
fn explained(status: StatusCode, answer: &str) -> String {
    let refusal = serde_json::from_str::<Refusal>(answer).map(|refusal| refusal.error);
    let advice = advice(status, refusal.as_ref().ok());
    let message = refusal.map_or_else(|_| format!("status {status}"), |it| it.message);
    match advice {
        Some(advice) => format!("{}\n  try: {advice}", printable(&message)),
        None => printable(&message),
    }
}

/// What whoever asked can do about it.
fn advice(status: StatusCode, refusal: Option<&RefusalBody>) -> Option<&'static str> {
    let code = refusal.and_then(|refusal| refusal.code.as_deref());
    let param = refusal.and_then(|refusal| refusal.param.as_deref());
    Some(match (status, code, param) {
        (StatusCode::UNAUTHORIZED, ..) => "give the gateway's key with --key or $SABIR_KEY",
        (StatusCode::NOT_FOUND, _, Some("after")) => {
            "name one of the turns that `sabir conversations show ID` lists"
        }
        (StatusCode::NOT_FOUND, ..) => "sabir conversations list",
        (_, Some("conversation_exists"), _) => {
            "give another name with --id, or `sabir conversations delete` that one first"
        }
        (_, Some("conversation_locked"), _) => "again, when the answer under way has ended",
        (_, Some("storage_error"), _) => {
            "mend or delete what it names; `sabir check` says where the store is"
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_told_in_words_with_what_to_do() {
        let body = r#"{"error":{"message":"Conversation with id 'a' not found.","type":"x"}}"#;
        let message = explained(StatusCode::NOT_FOUND, body);
        assert_eq!(message, "Conversation with id 'a' not found.\n  try: sabir conversations list");
        assert!(explained(StatusCode::UNAUTHORIZED, body).contains("--key or $SABIR_KEY"));
        assert_eq!(explained(StatusCode::BAD_GATEWAY, "<html>"), "status 502 Bad Gateway");
    }
}
