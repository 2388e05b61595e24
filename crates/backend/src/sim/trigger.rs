//! Faults that a model's name asks for: `anything-fault-429-30`, `fault-slow-stream`, `fault-disconnect`.

use std::time::Duration;

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trigger {
    /// The request is refused with this status.
    Status {
        status: u16,
        retry_after_s: Option<u64>,
    },
    /// Every other call is refused with 503.
    Flaky,
    /// An HTML page with status 502.
    HtmlPage,
    SlowFirstByte(Duration),
    SlowStream(Duration),
    StreamError,
    StreamErrorFirst,
    Disconnect,
    DisconnectFirst,
    Garbage,
    GarbageStream,
    Truncated,
    NeverEnding,
    Silent,
}

pub(super) const SILENCE: Duration = Duration::from_secs(600);
pub(super) const NEVER_ENDING_PAUSE: Duration = Duration::from_millis(20);
const FIRST_BYTE: Duration = Duration::from_secs(5);
const BETWEEN_DELTAS: Duration = Duration::from_millis(50);

/// The fault that a model's name asks for, if any.
pub(super) fn of(model: &str) -> Option<Trigger> {
    let rest = asked(model)?;
    let (name, number) = split_number(rest);
    let pause = |usual: Duration| number.map_or(usual, Duration::from_millis);
    Some(match name {
        "slow-first-byte" => Trigger::SlowFirstByte(pause(FIRST_BYTE)),
        "slow-stream" => Trigger::SlowStream(pause(BETWEEN_DELTAS)),
        "stream-error" => Trigger::StreamError,
        "stream-error-first" => Trigger::StreamErrorFirst,
        "disconnect" => Trigger::Disconnect,
        "disconnect-first" => Trigger::DisconnectFirst,
        "garbage" => Trigger::Garbage,
        "garbage-stream" => Trigger::GarbageStream,
        "truncated" => Trigger::Truncated,
        "never-ending" => Trigger::NeverEnding,
        "silent" => Trigger::Silent,
        "flaky" => Trigger::Flaky,
        "html-502" => Trigger::HtmlPage,
        _ => return status(rest),
    })
}

/// What stands behind the first `fault-` that is not the end of another word, as in `default-`.
fn asked(model: &str) -> Option<&str> {
    const WORD: &str = "fault-";
    let mut found = model.match_indices(WORD);
    let (start, _) = found.find(|(start, _)| !model[..*start].ends_with(char::is_alphanumeric))?;
    Some(&model[start + WORD.len()..])
}

/// `429`, `429-30` and the like; only 429 and 503 carry a time to wait.
fn status(rest: &str) -> Option<Trigger> {
    let mut numbers = rest.split(|letter: char| !letter.is_ascii_digit());
    let status: u16 = numbers.next()?.parse().ok()?;
    let wait = numbers.next().and_then(|number| number.parse().ok());
    let retry_after_s = if status == 429 { Some(wait.unwrap_or(1)) } else { wait };
    let is_known =
        matches!(status, 400 | 401 | 403 | 404 | 413 | 429 | 500 | 502 | 503 | 504 | 529);
    is_known.then_some(Trigger::Status { status, retry_after_s })
}

/// A name with its number behind the last hyphen: `slow-stream-20` is `slow-stream`, 20.
fn split_number(rest: &str) -> (&str, Option<u64>) {
    let end = rest.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '-'));
    let rest = &rest[..end.unwrap_or(rest.len())];
    match rest.rsplit_once('-') {
        Some((name, number)) if name != "html" => match number.parse() {
            Ok(number) => (name, Some(number)),
            Err(_) => (rest, None),
        },
        _ => (rest, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_found_anywhere_in_a_name() {
        let limited = |wait| Trigger::Status { status: 429, retry_after_s: Some(wait) };
        for (name, expected) in [
            ("sim", None),
            ("default-400", None),
            ("fault-", None),
            ("fault-418", None),
            ("fault-nonsense", None),
            ("fault-429", Some(limited(1))),
            ("gpt-5-fault-429-30", Some(limited(30))),
            ("org/fault-500", Some(Trigger::Status { status: 500, retry_after_s: None })),
            ("fault-500:free", Some(Trigger::Status { status: 500, retry_after_s: None })),
            ("fault-disconnect", Some(Trigger::Disconnect)),
            ("fault-disconnect-first", Some(Trigger::DisconnectFirst)),
            ("fault-stream-error-first@2026", Some(Trigger::StreamErrorFirst)),
            ("fault-slow-stream", Some(Trigger::SlowStream(BETWEEN_DELTAS))),
            ("fault-slow-stream-3", Some(Trigger::SlowStream(Duration::from_millis(3)))),
            ("fault-html-502", Some(Trigger::HtmlPage)),
        ] {
            assert_eq!(of(name), expected, "{name}");
        }
    }
}
