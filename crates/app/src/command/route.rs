//! `sabir route`: where a request would go, and why, without sending it.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use sabir_gateway::config::types::Config;
use sabir_gateway::route;
use sabir_gateway::route::{Caller, Candidate, ClassAsked, Directory};
use sabir_wire::Protocol;
use serde_json::json;

use crate::arguments::protocols;
use crate::configuration::ConfigFile;
use crate::input::Input;
use crate::output::printable;
use crate::table::table;
use crate::{configuration, output};

/// Explain where a request would go, without sending it.
///
/// Reads the body of a request and prints why it goes where it goes, and who would be asked in
/// which order. For a [[model]] with strategy = "class" that is the class of the request.
///
/// Example:
///   sabir route --model sim request.json
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Route {
    #[command(flatten)]
    file: ConfigFile,

    /// The protocol of the request; `chat`, `responses` and `messages` will do
    #[arg(long, value_name = "PROTOCOL", value_parser = protocols(), default_value = "openai-chat")]
    from: Protocol,

    /// The model that is asked for [default: what the body says]
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// The file to read; standard input if there is none, or if it is `-`
    #[arg(value_name = "FILE")]
    body: Option<PathBuf>,
}

/// Why a request goes where it goes.
struct Explained {
    route: String,
    class: Option<&'static str>,
    reason: Option<&'static str>,
    candidates: Vec<String>,
}

const MEND: &str = "mend the body there, or name its protocol with --from";

impl Route {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let loaded = match self.file.load() {
            Ok(loaded) => loaded,
            Err(problems) => return Ok(configuration::refuse(&problems)),
        };
        let explained = self.explain(loaded.config)?;
        output::print(&if self.json { as_json(&explained) } else { as_table(&explained) })?;
        Ok(ExitCode::SUCCESS)
    }

    fn explain(&self, config: Config) -> Result<Explained> {
        let body = self.input().text()?;
        let decoded = self.from.decode_request_text(&body);
        let decoded = decoded.map_err(|error| output::advised(error, MEND))?;
        let in_body = || decoded.request().model.as_ref().map(|name| name.to_str().into_owned());
        let name = self.model.clone().or_else(in_body);
        let name = name.context("the body names no model; name one by --model")?;
        let directory = Directory::new(config.clone(), "");
        let resolved = route::resolve(&directory, &name, self.from)
            .map_err(|not_found| output::advised(not_found, "sabir models"))?;
        let labels = |candidates: &[Candidate]| candidates.iter().map(Candidate::label).collect();
        let Some(model) = resolved.by_class() else {
            let (route, candidates) =
                (resolved.route.label().into_owned(), labels(&resolved.targets));
            return Ok(Explained { route, class: None, reason: None, candidates });
        };
        let caller = Caller::default();
        let asked = ClassAsked { request: decoded.request(), name: &name, class: None, caller };
        let choice = model.choose(asked, &config.classing);
        let classified = choice.classified;
        Ok(Explained {
            route: route::Route::Class(classified).label().into_owned(),
            class: Some(classified.class.name()),
            reason: Some(classified.reason),
            candidates: labels(&choice.candidates),
        })
    }

    fn input(&self) -> Input {
        match &self.body {
            Some(path) if path.as_os_str() != "-" => Input::File(path.clone()),
            _ => Input::Stdin,
        }
    }
}

fn as_json(explained: &Explained) -> String {
    let Explained { route, class, reason, candidates } = explained;
    let mut json = json!({"route": route, "candidates": candidates});
    if let (Some(class), Some(reason)) = (class, reason) {
        json["class"] = (*class).into();
        json["reason"] = (*reason).into();
    }
    format!("{json}\n")
}

fn as_table(explained: &Explained) -> String {
    let candidates = printable(&explained.candidates.join(", then "));
    let rows = vec![
        vec!["route".to_owned(), explained.route.clone()],
        vec!["asked".to_owned(), candidates],
    ];
    table(&rows, 0)
}
