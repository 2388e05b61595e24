//! `sabir serve`: the gateway, and what a person wants to know once it listens.

use std::fmt::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use anyhow::{Result, bail};
use clap::Args;
use sabir_backend::http::Proxies;
use sabir_gateway::config::types::{Config, Location, Provider, Substitution};
use sabir_gateway::config::{Loaded, parse_listen};
use sabir_gateway::server::Server;
use sabir_gateway::{Gateway, Outlet, Source};

use crate::configuration::ConfigFile;
use crate::gateway::reachable;
use crate::models::is_simulator;
use crate::{allocator, configuration, installed};

/// Start the gateway.
///
/// Without a config file it serves the providers whose keys are in the environment, and
/// simulators of four provider APIs that need none.
///
/// Example:
///   sabir serve --config sabir.toml --listen 127.0.0.1:0
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Serve {
    #[command(flatten)]
    file: ConfigFile,

    /// Where to listen [default: the config file's, else 127.0.0.1:4747]
    #[arg(long, value_name = "ADDR", value_parser = parse_listen)]
    listen: Option<SocketAddr>,

    /// Folder for what Sabir keeps [default: $SABIR_DATA_DIR, else sabir/ in the user's data
    /// folder]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

impl Serve {
    pub(crate) fn run(self) -> Result<ExitCode> {
        allocator::give_large_blocks_back();
        let mut loaded = match self.file.load() {
            Ok(loaded) => loaded,
            Err(problems) => return Ok(configuration::refuse(&problems)),
        };
        let overrides = Overrides { listen: self.listen, data: self.data };
        overrides.apply(&mut loaded.config);
        let Loaded { config, file } = loaded;
        // Before a store is made for a gateway that does not start.
        if let Some(refusal) = config.bind_refusal() {
            bail!(refusal);
        }
        let source = file.map(|file| source(file, overrides));
        let gateway = Gateway::open(config, source)?;
        let server = Server::bind(gateway.clone(), Proxies::of(&|name| std::env::var(name).ok()))?;
        // Clients are served all the same if nobody reads what is written from here on.
        let log = sabir_gateway::start_log(&gateway.config().log);
        let stdout = Outlet::start(std::io::stdout());
        stdout.write(&banner(&gateway.config(), server.address()));
        advise(&gateway.config(), &stdout);
        let served = server.run();
        if let Err(error) = &served {
            log.write(&format!("error: {error}\n"));
        }
        stdout.flush();
        log.flush();
        Ok(if served.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// Says which agent CLIs could answer too, as soon as they have said which versions they are. Nobody waits for that.
fn advise(config: &Config, stdout: &Arc<Outlet>) {
    let idle = installed::idle(&installed::agents(std::env::var_os("PATH")), config);
    if idle.is_empty() {
        return;
    }
    let stdout = Arc::clone(stdout);
    let write = move || stdout.write(&installed::advice(&idle));
    // Without a thread nobody hears of it.
    let _ = thread::Builder::new().name("sabir-advice".to_owned()).spawn(write);
}

/// What the command line decides.
struct Overrides {
    listen: Option<SocketAddr>,
    data: Option<PathBuf>,
}

impl Overrides {
    fn apply(&self, config: &mut Config) {
        config.listen = self.listen.unwrap_or(config.listen);
        if let Some(data) = &self.data {
            config.store.data_folder = Some(data.clone());
        }
    }
}

/// How the file is read again while the gateway runs: as it was read at the start.
fn source(file: PathBuf, overrides: Overrides) -> Source {
    let named = ConfigFile::named(file.clone());
    let load = move || {
        let mut config = named.load()?.config;
        overrides.apply(&mut config);
        Ok(config)
    };
    Source { file, load: Box::new(load) }
}

/// What is served, where each kind of client finds it, and a first call to paste.
pub(crate) fn banner(config: &Config, address: SocketAddr) -> String {
    let base = format!("http://{}", reachable(address));
    let mut text = format!("Sabir listens on http://{address}\n\nServes\n");
    for provider in &config.providers {
        let _ = writeln!(text, "  {:<16} {}", provider.name, described(provider));
    }
    if config.substitution == Substitution::On {
        let _ = writeln!(text, "\n  {}", substitution(config));
    }
    let _ = writeln!(text, "\nmemory: {}", config.store.summary());
    let key = match config.auth.required {
        true => "-H 'authorization: Bearer A_GATEWAY_KEY' \\\n    ",
        false => "",
    };
    let _ = write!(
        text,
        "\nClients\n  \
         OpenAI SDKs      base_url {base}/v1\n  \
         Anthropic SDKs   base_url {base}\n  \
         Google GenAI     base_url {base}\n  \
         Agent CLIs       sabir run claude | codex | gemini\n\n\
         A first call\n  \
         curl {base}/v1/chat/completions -H 'content-type: application/json' \\\n    {key}\
         -d '{{\"model\":\"sim\",\"messages\":[{{\"role\":\"user\",\"content\":\"hello\"}}]}}'\n\n"
    );
    text
}

fn described(provider: &Provider) -> String {
    if let Some(Location::Agent(agent)) = provider.endpoints.first().map(|it| &it.place) {
        return format!("the agent CLI `{}`", agent.command.join(" "));
    }
    let protocols: Vec<&str> = provider.endpoints.iter().map(|it| it.protocol.as_str()).collect();
    let kind = if is_simulator(provider) { ", a simulator" } else { "" };
    format!("{}{kind}", protocols.join(", "))
}

/// What becomes of a model's name that nobody serves.
fn substitution(config: &Config) -> String {
    let real = config
        .providers
        .iter()
        .filter(|provider| !is_simulator(provider))
        .find_map(|it| Some(format!("{}/{}", it.name, it.default_model.as_deref()?)));
    match real {
        Some(target) => format!("A model that nobody serves is answered by {target}."),
        None => "A model that nobody serves is answered by a simulator: no provider's key is set."
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use sabir_gateway::config;

    use super::*;

    fn banner_of(toml: &str, listening: &str) -> String {
        let toml = format!("env_providers = false\n{toml}");
        let config = config::parse(&toml, std::path::Path::new("sabir.toml"), &|_| None)
            .unwrap_or_else(|problems| panic!("{problems}"));
        banner(&config, listening.parse().unwrap_or_else(|_| panic!("{listening}")))
    }

    #[test]
    fn clients_are_sent_to_an_address_that_they_can_reach() {
        let text = banner_of("open_bind = true", "0.0.0.0:80");
        assert!(text.starts_with("Sabir listens on http://0.0.0.0:80\n"), "{text}");
        assert_eq!(text.matches("http://127.0.0.1:80").count(), 4, "{text}");
        let text = banner_of("", "[::1]:80");
        assert_eq!(text.matches("http://[::1]:80").count(), 5, "{text}");
    }

    #[test]
    fn the_first_call_has_a_key_where_one_is_needed() {
        assert!(!banner_of("", "127.0.0.1:80").contains("authorization"));
        let keys =
            "[auth]\nrequired = true\n[[auth.key]]\nname = \"a\"\nvalue = { value = \"sesame\" }";
        let text = banner_of(keys, "127.0.0.1:80");
        let header = "\n    -H 'authorization: Bearer A_GATEWAY_KEY' \\\n    -d ";
        assert!(text.contains(header) && !text.contains("sesame"), "{text}");
    }
}
