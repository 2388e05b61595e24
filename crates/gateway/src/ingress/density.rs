//! How many pieces a body may have for its length, so that its translation takes no more memory than eight times the body.

use sabir_wire::FaultKind;
use sabir_wire::json::{Reader, Survey};

use crate::failure::{Failure, Result};

/// How many fields, messages, parts and tools any request may have, and of how many bytes a further one must be: each
/// takes some hundred bytes when it is decoded, and a body must not take more than eight times its length.
const NODES_MIN: usize = 20_000;
const NODE_BYTES_MIN: usize = 48;

/// Reads over a body that is to be decoded, unless it has too many pieces.
pub(crate) fn survey(body: &str) -> Result<Survey<'_>> {
    let mut survey = Survey::new(body);
    let mut reader = Reader::new(body);
    reader.survey(&mut survey)?;
    check_density(&survey)?;
    Ok(survey)
}

/// Refuses a body of so many small pieces that its translation would take far more memory than the body.
pub(crate) fn check_density(survey: &Survey<'_>) -> Result<()> {
    let (nodes, bytes) = (survey.nodes(), survey.source().len());
    let most = NODES_MIN + bytes / NODE_BYTES_MIN;
    if nodes <= most {
        return Ok(());
    }
    let message = format!(
        "expected at most {most} fields, messages, parts and tools in a request of {bytes} bytes, found {nodes}: \
         join short ones, or send fewer"
    );
    Err(Failure::client(FaultKind::TooLarge, message))
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
}
