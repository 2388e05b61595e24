//! One process for one answer: the prompt on its input, the answer as lines of its output.

use bytes::Bytes;
use sabir_wire::conversation::FinishKind;

use super::read::{Reading, Step};
use crate::agent::faults::{Failed, unreadable};
use crate::agent::gemini::faults;
use crate::agent::process::Process;
use crate::agent::speech::Speech;

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
                speech.finish(FinishKind::Stop, counts);
                return Ok(());
            }
            Step::Failure(reason) => return Err(faults::stated(reason)),
        }
    }
    let code = process.exit().await;
    Err(faults::unfinished(code, &process.complaint()))
}
