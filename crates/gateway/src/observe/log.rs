//! The log: a line for each exchange, as text or JSON, on standard error.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use crate::config::types::Log;
use crate::config::types::LogFormat;
use crate::observe::Seen;

/// Starts logging for the whole process; a second call changes nothing.
pub fn start(log: &Log) {
    let filter = EnvFilter::try_new(&log.level).unwrap_or_else(|_| EnvFilter::new("info"));
    // Where a line cannot be written there is no place to say so either: trying would end the request.
    let lines = tracing_subscriber::fmt()
        .log_internal_errors(false)
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    let _ = match log.format {
        LogFormat::Text => lines.try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    };
}

pub(super) fn exchange(seen: &Seen) {
    let upstream = seen.upstream.as_ref();
    tracing::info!(
        target: "sabir",
        id = seen.id,
        client = seen.client.as_str(),
        key = seen.key,
        asked = seen.asked_model,
        provider = upstream.map(|it| &*it.provider),
        upstream = upstream.map(|it| it.protocol.as_str()),
        model = upstream.map(|it| it.model.as_str()),
        route = upstream.map(|it| &*it.route),
        stream = seen.is_stream,
        status = seen.status,
        outcome = seen.ending.as_str(),
        ms = u64::try_from(seen.duration.as_millis()).unwrap_or(u64::MAX),
        input_tokens = seen.counts.input,
        output_tokens = seen.counts.output,
        losses = seen.losses.that_matter(),
        "exchange"
    );
}
