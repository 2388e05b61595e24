//! How many pieces a body may have for its length, so that its translation takes no more memory than eight times the body.

use sabir_wire::FaultKind;
use sabir_wire::json::{Reader, Survey};

use crate::failure::{Failure, Result};

/// How many fields, messages, parts and tools a body may have, whatever its length, and of how many bytes a further one must be.
#[derive(Clone, Copy)]
struct Density {
    nodes_min: usize,
    node_bytes_min: usize,
}

/// Each takes some hundred bytes when it is decoded, and a request must not take more than eight times its length.
const REQUEST: Density = Density { nodes_min: 20_000, node_bytes_min: 48 };

/// A history that is taken in to be kept: long ones are what that is for, and only few are read at a time.
const HISTORY: Density = Density { nodes_min: 1_000_000, ..REQUEST };

/// Log probabilities, of which an answer may have many, are shorter and take less.
const ANSWER: Density = Density { node_bytes_min: 24, ..REQUEST };

/// Reads over a request that is to be decoded, unless it has too many pieces.
pub(crate) fn survey(body: &str) -> Result<Survey<'_>> {
    let survey = surveyed(body)?;
    check_density(&survey)?;
    Ok(survey)
}

/// Refuses a request of so many small pieces that its translation would take far more memory than the body.
pub(crate) fn check_density(survey: &Survey<'_>) -> Result<()> {
    check(survey, REQUEST)
}

/// The same for a history that is to be kept, and not to be translated.
pub(crate) fn check_history_density(body: &str) -> Result<()> {
    check(&surveyed(body)?, HISTORY)
}

fn check(survey: &Survey<'_>, density: Density) -> Result<()> {
    let Some((most, nodes)) = excess(survey, density) else { return Ok(()) };
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
    let Some((most, nodes)) = excess(&survey, ANSWER) else { return Ok(()) };
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
fn excess(survey: &Survey<'_>, density: Density) -> Option<(usize, usize)> {
    let most = density.nodes_min + survey.source().len() / density.node_bytes_min;
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
        assert!(check_density(&Survey::counted("{}", REQUEST.nodes_min)).is_ok());
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
