//! One process for one answer: the prompt on its input, the answer as lines of its output.

use bytes::Bytes;

use super::read::{Reading, Step};
use super::{faults, isolate};
use crate::agent::faults::{Failed, unreadable};
use crate::agent::process::Process;
use crate::agent::spawn::{Launch, Program};
use crate::agent::speech::Speech;

/// How the CLI is started. A command that says itself how the output is to look gets no other arguments.
pub(in crate::agent) fn launch(program: &Program, model: Option<&str>) -> Launch {
    let is_complete = program.command.iter().any(|it| it.starts_with("--output-format"));
    let mut arguments = Vec::new();
    if !is_complete {
        arguments.extend(["--skip-trust", "--output-format", "stream-json"].map(str::to_owned));
        arguments.extend(model.into_iter().flat_map(|model| ["-m".to_owned(), model.to_owned()]));
    }
    let variables = isolate::variables();
    Launch { arguments, variables, furnish: Some(isolate::furnish), ..Launch::default() }
}

pub(in crate::agent) async fn drive(
    mut process: Process,
    prompt: Bytes,
    mut speech: Speech,
) -> Result<(), Failed> {
    process.send_all(&prompt);
    let mut reading = Reading::default();
    while let Some(line) = process.line().await.map_err(|error| unreadable(&error))? {
        match reading.line(&line) {
            Step::Nothing => {}
            Step::Text(text) => speech.push(text).await,
            Step::Success(counts) => {
                speech.push(reading.finish()).await;
                speech.finish(counts);
                return Ok(());
            }
            Step::Failure(reason) => return Err(faults::stated(reason)),
        }
    }
    let code = process.exit().await;
    Err(faults::unfinished(code, &process.complaint()))
}
