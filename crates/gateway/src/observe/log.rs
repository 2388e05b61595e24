//! The log: a line for each exchange, as text or JSON, on standard error. Nobody waits for whoever reads it.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::IsTerminal;
use std::panic::PanicHookInfo;
use std::sync::{Arc, OnceLock};
use std::{io, panic, thread};

use tracing_subscriber::EnvFilter;

use crate::config::types::{Log, LogFormat};
use crate::observe::{Outlet, Seen};
use sabir_wire::conversation::Count;

/// Standard error, once somebody logs to it.
static LOG: OnceLock<Arc<Outlet>> = OnceLock::new();

/// Starts logging for the whole process; a second call changes nothing. From here on all that is written to standard error
/// goes through the outlet: who writes there directly waits where nobody reads.
pub fn start(log: &Log) -> Arc<Outlet> {
    let outlet = LOG.get_or_init(|| Outlet::start(io::stderr()));
    let filter = EnvFilter::try_new(&log.level).unwrap_or_else(|_| EnvFilter::new("info"));
    // Where a line cannot be written there is no place to say so either: trying would end the request.
    let lines = tracing_subscriber::fmt()
        .log_internal_errors(false)
        .with_env_filter(filter)
        .with_ansi(io::stderr().is_terminal())
        .with_writer(|| Lines(outlet));
    let started = match log.format {
        LogFormat::Text => lines.try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    };
    if started.is_ok() {
        panic::set_hook(Box::new(|panicked| outlet.write(&panic_line(panicked))));
    }
    Arc::clone(outlet)
}

/// How many lines of the log were lost because nobody read them.
pub(super) fn dropped_lines() -> u64 {
    LOG.get().map_or(0, |outlet| outlet.dropped())
}

/// What is said of a panic, in the words of the standard library, which would write them directly.
fn panic_line(panicked: &PanicHookInfo<'_>) -> String {
    let thread = thread::current();
    let name = thread.name().unwrap_or("<unnamed>");
    let backtrace = Backtrace::capture();
    match backtrace.status() {
        BacktraceStatus::Captured => format!("\nthread '{name}' {panicked}\n{backtrace}\n"),
        _ => format!("\nthread '{name}' {panicked}\n"),
    }
}

/// Hands each event's line to the outlet.
struct Lines(&'static Outlet);

impl io::Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.offer(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub(crate) fn exchange(seen: &Seen) {
    let upstream = seen.upstream.as_ref();
    let switch = seen.class.as_ref().and_then(|class| class.switch.as_ref());
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
        switched_from = switch.map(|it| &*it.from),
        switch_reason = switch.map(|it| it.reason),
        stream = seen.is_stream,
        status = seen.status,
        outcome = seen.outcome.as_str(),
        ms = u64::try_from(seen.duration.as_millis()).unwrap_or(u64::MAX),
        input_tokens = seen.counts[Count::Input],
        output_tokens = seen.counts[Count::Output],
        losses = seen.losses.that_matter(),
        "exchange"
    );
}
