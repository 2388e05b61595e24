//! How Gemini CLI says that it failed. Without a result it has, whatever its exit code is.

use sabir_wire::json::Json;
use sabir_wire::{FaultKind, Protocol};

use crate::agent::faults::{Failed, fault, gone};
use crate::agent::json::{member, text};

const LOG_IN: &str =
    "start `gemini` in a terminal and log in, or hand a key on by `env` of its [[provider]]";

/// An error in the place of an answer. Its code is the status that the API answered with, or one of the protocol's own.
pub(super) fn refused(error: &Json<'_>) -> Failed {
    let words = text(error, "message").unwrap_or_else(|| "the agent refused a request".to_owned());
    let details = member(error, "data").and_then(|data| text(&data, "details"));
    let words = details.map_or(words.clone(), |details| format!("{words}: {details}"));
    let code: Option<i64> = member(error, "code").and_then(|it| it.as_str().parse().ok());
    if code == Some(UNAUTHENTICATED) {
        return fault(FaultKind::Authentication, format!("{words}: {LOG_IN}"));
    }
    let Some(status) = code.and_then(|it| u16::try_from(it).ok()).filter(|it| *it >= 400) else {
        return stated(Some(words));
    };
    // The API's own words tell more than its status.
    let body = words.find('{').map_or("", |start| &words[start..]);
    let read = Protocol::Gemini.decode_fault(status, body.as_bytes());
    let kind = match (read.kind, kind_of(&words)) {
        (FaultKind::BadRequest, FaultKind::ContextTooLong) => FaultKind::ContextTooLong,
        (FaultKind::BadRequest, FaultKind::Authentication) => FaultKind::Authentication,
        (FaultKind::Internal, _) if words.contains("terminated") => FaultKind::Truncated,
        (kind, _) => kind,
    };
    match kind {
        FaultKind::Authentication => fault(kind, format!("{words}: {LOG_IN}")),
        kind => fault(kind, words),
    }
}

/// A result that is no success.
pub(super) fn stated(reason: Option<String>) -> Failed {
    let Some(reason) = reason else {
        return fault(FaultKind::Internal, "the agent says that it failed, and not why");
    };
    let kind = kind_of(&reason);
    let words = match kind {
        FaultKind::Authentication => format!("{reason}: {LOG_IN}"),
        _ => reason,
    };
    fault(kind, words)
}

/// Nobody is logged in.
const UNAUTHENTICATED: i64 = -32000;

/// The output ended without a result.
pub(super) fn unfinished(code: Option<i32>, complaint: &str) -> Failed {
    match code {
        Some(41) => {
            fault(FaultKind::Authentication, format!("the agent is not logged in: {LOG_IN}"))
        }
        Some(42) => fault(FaultKind::BadRequest, "the agent did not take its prompt"),
        Some(53) => fault(FaultKind::Internal, "the agent used up its turns"),
        _ => match kind_of(complaint) {
            FaultKind::RateLimit => fault(FaultKind::RateLimit, "the agent's quota is used up"),
            _ => gone(code),
        },
    }
}

/// The class of an error by its words: there is nothing else.
fn kind_of(words: &str) -> FaultKind {
    let words = words.to_lowercase();
    let holds = |any: &[&str]| any.iter().any(|it| words.contains(it));
    match () {
        () if holds(&["quota", "resource_exhausted", "rate limit", "429"]) => FaultKind::RateLimit,
        () if holds(&["api key", "unauthenticated", "not logged in", "auth method", "login"]) => {
            FaultKind::Authentication
        }
        () if holds(&["token count", "context window", "exceeds the maximum number of tokens"]) => {
            FaultKind::ContextTooLong
        }
        () if holds(&["overloaded", "unavailable"]) => FaultKind::Overloaded,
        () => FaultKind::Internal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_codes_have_a_class() {
        let stated = |words: &str| stated(Some(words.to_owned())).kind;
        assert_eq!(stated("You have exhausted your daily quota"), FaultKind::RateLimit);
        assert_eq!(stated("API key not valid"), FaultKind::Authentication);
        assert_eq!(stated("The input token count exceeds"), FaultKind::ContextTooLong);
        assert_eq!(stated("something else"), FaultKind::Internal);
        assert_eq!(unfinished(Some(41), "").kind, FaultKind::Authentication);
        assert_eq!(unfinished(Some(0), "").kind, FaultKind::Truncated);
        assert_eq!(unfinished(Some(173), "status 429: quota").kind, FaultKind::RateLimit);
    }
}
