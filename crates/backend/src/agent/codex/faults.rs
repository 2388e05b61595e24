//! How Codex says that it failed: an error of a turn with a word for its class, or an error in the place of an answer.

use sabir_wire::json::{Json, Kind};
use sabir_wire::{FaultKind, Protocol};

use crate::agent::faults::{Failed, fault};
use crate::agent::json::{member, text};

const LOG_IN: &str = "run `codex login`, or hand a key on by `env` of its [[provider]]";

/// The failure that an error is: of a turn, or in the place of an answer.
pub(super) fn stated(error: &Json<'_>) -> Failed {
    let words = text(error, "message");
    let words = words.unwrap_or_else(|| "the agent says that it failed, and not why".to_owned());
    let (name, status) =
        member(error, "codexErrorInfo").map_or((String::new(), None), |it| class(&it));
    let kind = match name.as_str() {
        "usageLimitExceeded" => Some(FaultKind::RateLimit),
        "contextWindowExceeded" => Some(FaultKind::ContextTooLong),
        "modelNotFound" => Some(FaultKind::NotFound),
        "unauthorized" => Some(FaultKind::Authentication),
        "serverOverloaded" => Some(FaultKind::Overloaded),
        "internalServerError" => Some(FaultKind::Internal),
        _ => status.map(FaultKind::of_status),
    };
    match kind {
        Some(FaultKind::Authentication) => {
            fault(FaultKind::Authentication, format!("{words}: {LOG_IN}"))
        }
        Some(kind) => fault(kind, words),
        None => unclassed(words),
    }
}

/// The API's own words may tell more than the CLI does.
fn unclassed(words: String) -> Failed {
    let body = words.find('{').map_or("", |start| &words[start..]);
    let read = Protocol::OpenaiResponses.decode_fault(None, body.as_bytes());
    let kind = match read.kind {
        FaultKind::ContextTooLong => FaultKind::ContextTooLong,
        _ if words.contains("stream disconnected") => FaultKind::Truncated,
        _ if body.is_empty() => FaultKind::Internal,
        kind => kind,
    };
    fault(kind, words)
}

/// A word, or an object with one member that may know the status.
fn class(info: &Json<'_>) -> (String, Option<u16>) {
    if info.kind() == Kind::String {
        let name = info.reader().string().map(|name| name.into_str().into_owned());
        return (name.unwrap_or_default(), None);
    }
    let (mut name, mut status) = (String::new(), None);
    let _ = info.reader().object(|key, reader| {
        name = key.into_owned();
        let detail = reader.raw()?;
        status = member(&detail, "httpStatusCode").and_then(|it| it.as_str().parse().ok());
        Ok(())
    });
    (name, status)
}
