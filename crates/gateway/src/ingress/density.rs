//! How many pieces a body may have for its length, so that its translation takes no more memory than eight times the body.

use sabir_wire::FaultKind;
use sabir_wire::json::{Reader, Survey};

use crate::failure::{Failure, Result};

/// How many fields, messages, parts and tools any request may have, and of how many bytes a further one must be: each
/// takes some hundred bytes when it is decoded, and a body must not take more than eight times its length.
const NODES_MIN: usize = 20_000;
const NODE_BYTES_MIN: usize = 48;

/// The same of an answer: log probabilities, of which an answer may have many, are shorter and take less.
const ANSWER_NODE_BYTES_MIN: usize = 24;

/// Reads over a request that is to be decoded, unless it has too many pieces.
pub(crate) fn survey(body: &str) -> Result<Survey<'_>> {
    let survey = surveyed(body)?;
    check_density(&survey)?;
    Ok(survey)
}

/// Refuses a request of so many small pieces that its translation would take far more memory than the body.
pub(crate) fn check_density(survey: &Survey<'_>) -> Result<()> {
    let Some((most, nodes)) = excess(survey, NODE_BYTES_MIN) else { return Ok(()) };
    let bytes = survey.source().len();
    let message = format!(
        "expected at most {most} fields, messages, parts and tools in a request of {bytes} bytes, found {nodes}: \
         join short ones, or send fewer"
    );
    Err(Failure::client(FaultKind::TooLarge, message))
}

/// The same for an answer, whoever sends it.
pub(crate) fn check_answer_density(body: &str) -> Result<()> {
    let survey = surveyed(body)?;
    let Some((most, nodes)) = excess(&survey, ANSWER_NODE_BYTES_MIN) else { return Ok(()) };
    let bytes = body.len();
    let message = format!(
        "expected at most {most} fields and elements in an answer of {bytes} bytes, found {nodes}"
    );
    Err(Failure::client(FaultKind::TooLarge, message))
}

fn surveyed(body: &str) -> Result<Survey<'_>> {
    let mut survey = Survey::new(body);
    Reader::new(body).survey(&mut survey)?;
    Ok(survey)
}

/// How many nodes a body may have and how many it has, if those are more.
fn excess(survey: &Survey<'_>, node_bytes_min: usize) -> Option<(usize, usize)> {
    let most = NODES_MIN + survey.source().len() / node_bytes_min;
    (survey.nodes() > most).then(|| (most, survey.nodes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_of_small_pieces_is_refused_and_one_of_prose_is_not() {
        let prose = "z".repeat(3_000_000);
        assert!(check_density(&Survey::counted(&prose, 82_500)).is_ok());
        let failure = check_density(&Survey::counted(&prose, 82_501)).unwrap_err();
        assert_eq!(failure.fault.kind, FaultKind::TooLarge);
        assert!(check_density(&Survey::counted("{}", NODES_MIN)).is_ok());
    }

    #[test]
    fn an_answer_with_all_log_probabilities_passes_and_one_of_many_choices_does_not() {
        let one = r#"{"token":"a","logprob":-1.5}"#;
        let token = format!(
            r#"{{"token":"a","logprob":-1.5,"top_logprobs":[{}]}}"#,
            vec![one; 20].join(",")
        );
        let tokens = vec![&*token; 8_000].join(",");
        let answer = format!(r#"{{"choices":[{{"logprobs":{{"content":[{tokens}]}}}}]}}"#);
        assert!(check_answer_density(&answer).is_ok());
        let choices =
            vec![r#"{"index":0,"message":{"content":"a"},"finish_reason":"stop"}"#; 20_000];
        assert!(
            check_answer_density(&format!(r#"{{"choices":[{}]}}"#, choices.join(","))).is_err()
        );
    }
}
