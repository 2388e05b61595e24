//! How Claude Code states that it failed: an answer that is an error, and the result behind it.

use std::time::{SystemTime, UNIX_EPOCH};

use sabir_wire::json::{Json, Kind, Writer};
use sabir_wire::{Fault, FaultKind, Protocol};

use super::read::Line;
use crate::agent::faults::{Failed, fault};

const LOG_IN: &str = "run `claude /login`, or hand a key on by `env` of its [[provider]]";

/// What is known of a failure that may be under way.
#[derive(Debug, Default)]
pub(super) struct Trouble {
    /// When the subscription's limit ends, in seconds since 1970.
    resets_at_s: Option<u64>,
    fault: Option<Failed>,
}

impl Trouble {
    /// Takes note of a line.
    pub(super) fn note(&mut self, line: &Line<'_>) {
        if line.is("rate_limit_event") {
            self.resets_at_s = line.rate_limit.as_ref().and_then(resets_at).or(self.resets_at_s);
        }
        if line.is("assistant") && line.error.is_some() {
            self.fault = Some(self.stated(line, words(line.message.as_ref())));
        }
    }

    /// The failure that a result is.
    pub(super) fn of_result(&mut self, line: &Line<'_>) -> Failed {
        let known = self.fault.take();
        known.unwrap_or_else(|| self.stated(line, super::seed::text_of(&line.result)))
    }

    fn stated(&self, line: &Line<'_>, words: Option<String>) -> Failed {
        let words =
            words.unwrap_or_else(|| "the agent says that it failed, and not why".to_owned());
        let states = |field: &Option<_>, word: &str| {
            super::seed::text_of(field).is_some_and(|it: String| it == word)
        };
        if states(&line.error, "authentication_failed") {
            return fault(FaultKind::Authentication, format!("{words}: {LOG_IN}"));
        }
        if states(&line.terminal_reason, "prompt_too_long") {
            return fault(FaultKind::ContextTooLong, words);
        }
        let mut fault = match line.api_error_status {
            Some(_) => of_api(line, &words),
            // The API was not reached, or broke off.
            None => fault(FaultKind::Truncated, words),
        };
        if states(&line.error, "billing_error") {
            fault.kind = FaultKind::Billing;
        }
        if states(&line.api_error, "usage_limit_reached") || states(&line.error, "rate_limit") {
            fault.kind = FaultKind::RateLimit;
            fault.retry_after_s = fault.retry_after_s.or_else(|| self.retry_after_s());
        }
        fault
    }

    fn retry_after_s(&self) -> Option<u64> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs();
        Some(self.resets_at_s?.saturating_sub(now).max(1))
    }
}

/// An error of the API behind the CLI, read as that API states it.
fn of_api(line: &Line<'_>, words: &str) -> Failed {
    let mut writer = Writer::default();
    writer.object(|it| {
        it.field("type", "error");
        it.key("error");
        it.object(|it| {
            it.optional("type", line.api_error_type.as_ref());
            it.field("message", words);
        });
    });
    let status = line.api_error_status.and_then(|status| u16::try_from(status).ok());
    let body = writer.into_string();
    let stated = Protocol::AnthropicMessages.decode_fault(status.unwrap_or(502), body.as_bytes());
    // The body is none that the API sent.
    Box::new(Fault { original: None, ..stated })
}

/// The text of an answer that is an error.
fn words(message: Option<&Json<'_>>) -> Option<String> {
    let mut words = None;
    let read = message?.reader().object(|key, reader| match (&*key, reader.kind()?) {
        ("content", Kind::Array) => reader.array(|_, reader| {
            reader.object(|key, reader| {
                match (&*key, reader.kind()?) {
                    ("text", Kind::String) => {
                        words = Some(reader.string()?.into_str().into_owned())
                    }
                    _ => reader.skip()?,
                }
                Ok(())
            })
        }),
        _ => reader.skip(),
    });
    read.ok().and(words)
}

fn resets_at(limit: &Json<'_>) -> Option<u64> {
    let mut resets_at = None;
    let read = limit.reader().object(|key, reader| {
        match (&*key, reader.kind()?) {
            ("resetsAt", Kind::Number) => resets_at = reader.number()?.as_u64(),
            _ => reader.skip()?,
        }
        Ok(())
    });
    read.ok().and(resets_at)
}
