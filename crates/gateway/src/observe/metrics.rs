//! Counters by provider and pair of protocols, in the Prometheus text form.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize};
use std::time::Duration;

use sabir_wire::conversation::{Count, Counts};
use sabir_wire::{LossKind, Protocol};

use crate::failure::Whose;
use crate::observe::histogram::Histogram;
use crate::observe::{Losses, Outcome, log};

const PROTOCOLS: usize = Protocol::ALL.len();
const PAIRS: usize = PROTOCOLS * PROTOCOLS;

/// All counters but those of providers.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    /// Of requests that reached no provider, by the client's protocol.
    unreached: [Series; PROTOCOLS],
    in_flight: AtomicI64,
    connections: AtomicI64,
    refused: AtomicU64,
    /// Bytes of requests' bodies that are held.
    bodies: AtomicUsize,
}

/// The counters of a provider, one series for each pair of protocols. Their number depends on the configuration alone, so
/// nothing that a client sends can make it grow.
#[derive(Debug)]
pub(crate) struct ProviderMetrics {
    name: Arc<str>,
    series: Box<[Series]>,
}

#[derive(Debug, Default)]
struct Series {
    endings: [AtomicU64; Outcome::ALL.len()],
    failed_tries: AtomicU64,
    in_flight: AtomicI64,
    input_tokens: AtomicU64,
    output_tokens: AtomicU64,
    losses: [AtomicU64; LossKind::ALL.len()],
    duration: Histogram,
    first_byte: Histogram,
}

/// Which counters a request belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeriesKey<'p> {
    pub(crate) client: Protocol,
    /// The provider and the protocol in which it was asked; none if the request reached nobody.
    pub(crate) upstream: Option<(&'p ProviderMetrics, Protocol)>,
}

/// What a request came to, as far as it is counted.
#[derive(Debug)]
pub(crate) struct Measured<'a> {
    pub(crate) outcome: Outcome,
    pub(crate) counts: Counts,
    pub(crate) losses: &'a Losses,
    pub(crate) duration: Duration,
    pub(crate) first_byte: Option<Duration>,
}

/// What is known of one of a provider's several keys, without the key.
#[derive(Debug)]
pub(crate) struct KeySeen {
    /// Its place in the configuration, from one.
    pub(crate) number: usize,
    pub(crate) requests: u64,
    pub(crate) rests: u64,
    pub(crate) is_resting: bool,
}

impl ProviderMetrics {
    pub(crate) fn new(name: Arc<str>) -> Self {
        Self { name, series: std::iter::repeat_with(Series::default).take(PAIRS).collect() }
    }

    fn series(&self, client: Protocol, upstream: Protocol) -> &Series {
        &self.series[client as usize * PROTOCOLS + upstream as usize]
    }
}

impl Metrics {
    pub(crate) fn began(&self) {
        self.in_flight.fetch_add(1, Relaxed);
    }

    pub(crate) fn connected(&self) {
        self.connections.fetch_add(1, Relaxed);
    }

    pub(crate) fn disconnected(&self) {
        self.connections.fetch_sub(1, Relaxed);
    }

    /// A connection was one too many.
    pub(crate) fn refused(&self) {
        self.refused.fetch_add(1, Relaxed);
    }

    /// So many more bytes of bodies are held; answers how many there are now.
    pub(crate) fn holds(&self, bytes: usize) -> usize {
        self.bodies.fetch_add(bytes, Relaxed) + bytes
    }

    pub(crate) fn releases(&self, bytes: usize) {
        self.bodies.fetch_sub(bytes, Relaxed);
    }

    pub(crate) fn ended(&self, key: SeriesKey<'_>, measured: &Measured<'_>) {
        self.in_flight.fetch_sub(1, Relaxed);
        let series = self.series(key);
        series.endings[measured.outcome.index()].fetch_add(1, Relaxed);
        series.input_tokens.fetch_add(measured.counts[Count::Input].unwrap_or_default(), Relaxed);
        series.output_tokens.fetch_add(measured.counts[Count::Output].unwrap_or_default(), Relaxed);
        for kind in measured.losses.kinds() {
            series.losses[kind as usize].fetch_add(1, Relaxed);
        }
        series.duration.note(measured.duration);
        if let Some(first_byte) = measured.first_byte {
            series.first_byte.note(first_byte);
        }
    }

    /// A request goes to a provider.
    pub(crate) fn reached(&self, key: SeriesKey<'_>) {
        self.series(key).in_flight.fetch_add(1, Relaxed);
    }

    /// A request is with that provider no longer.
    pub(crate) fn left(&self, key: SeriesKey<'_>) {
        self.series(key).in_flight.fetch_sub(1, Relaxed);
    }

    /// A try failed, and another is made.
    pub(crate) fn failed(&self, key: SeriesKey<'_>) {
        self.series(key).failed_tries.fetch_add(1, Relaxed);
    }

    fn series<'s>(&'s self, key: SeriesKey<'s>) -> &'s Series {
        match key.upstream {
            Some((provider, upstream)) => provider.series(key.client, upstream),
            None => &self.unreached[key.client as usize],
        }
    }

    /// Everything in the Prometheus text form; series that never counted anything are left out.
    pub(crate) fn render<'p>(
        &'p self,
        providers: impl Iterator<Item = &'p ProviderMetrics>,
    ) -> String {
        let mut out = String::new();
        gauge(&mut out, "sabir_requests_in_flight", "Requests being answered.", &self.in_flight);
        gauge(&mut out, "sabir_connections", "Open connections of clients.", &self.connections);
        render_dropped_lines(&mut out);
        self.render_bounded(&mut out);
        let mut all: Vec<Labelled<'_>> = providers.flat_map(of_provider).collect();
        render_in_flight(&all, &mut out);
        all.extend(self.of_nobody());
        render_endings(&all, &mut out);
        render_failed_tries(&all, &mut out);
        render_tokens(&all, &mut out);
        render_losses(&all, &mut out);
        let duration = |series: &Series, out: &mut String, labels: &str| {
            series.duration.render(out, "sabir_request_duration_seconds", labels);
        };
        head(&mut out, "sabir_request_duration_seconds", "histogram", "From request to end.");
        each(&all, &mut out, duration);
        let first_byte = |series: &Series, out: &mut String, labels: &str| {
            if !series.first_byte.is_empty() {
                series.first_byte.render(out, "sabir_first_byte_seconds", labels);
            }
        };
        head(&mut out, "sabir_first_byte_seconds", "histogram", "From request to first byte.");
        each(&all, &mut out, first_byte);
        out
    }

    fn render_bounded(&self, out: &mut String) {
        const REFUSED: &str = "sabir_connections_refused_total";
        head(out, REFUSED, "counter", "Connections beyond the limit.");
        let _ = writeln!(out, "{REFUSED} {}", self.refused.load(Relaxed));
        const BODIES: &str = "sabir_bodies_bytes";
        head(out, BODIES, "gauge", "Bytes of the bodies of requests that are held.");
        let _ = writeln!(out, "{BODIES} {}", self.bodies.load(Relaxed));
    }

    fn of_nobody(&self) -> impl Iterator<Item = Labelled<'_>> {
        let counted = Protocol::ALL.into_iter().zip(&self.unreached);
        let counted = counted.filter(|(_, series)| !series.is_empty());
        counted.map(|(client, series)| (labels("", client, ""), series))
    }
}

/// A series that has counted something, and what it is called.
type Labelled<'m> = (String, &'m Series);

fn of_provider(provider: &ProviderMetrics) -> impl Iterator<Item = Labelled<'_>> {
    let pairs = Protocol::ALL.into_iter().flat_map(|client| Protocol::ALL.map(|it| (client, it)));
    let counted = pairs.map(|(client, upstream)| {
        let labels = || labels(&provider.name, client, upstream.as_str());
        let series = provider.series(client, upstream);
        (!series.is_empty()).then(|| (labels(), series))
    });
    counted.flatten()
}

fn labels(provider: &str, client: Protocol, upstream: &str) -> String {
    let client = client.as_str();
    format!("provider=\"{provider}\",client=\"{client}\",upstream=\"{upstream}\"")
}

fn render_in_flight(all: &[Labelled<'_>], out: &mut String) {
    const NAME: &str = "sabir_provider_requests_in_flight";
    head(out, NAME, "gauge", "Requests that a provider is answering.");
    each(all, out, |series, out, labels| {
        let count = series.in_flight.load(Relaxed);
        let _ = writeln!(out, "{NAME}{{{labels}}} {count}");
    });
}

fn render_endings(all: &[Labelled<'_>], out: &mut String) {
    head(out, "sabir_requests_total", "counter", "Requests by how they ended.");
    each(all, out, |series, out, labels| {
        for outcome in Outcome::ALL {
            let count = series.endings[outcome.index()].load(Relaxed);
            let _ = match count {
                0 => Ok(()),
                _ => writeln!(
                    out,
                    "sabir_requests_total{{{labels},outcome=\"{}\"}} {count}",
                    outcome.as_str()
                ),
            };
        }
    });
    head(out, "sabir_errors_total", "counter", "Failed requests by whose fault it was.");
    each(all, out, |series, out, labels| {
        for whose in Whose::ALL {
            let count = series.endings[Outcome::Failed(whose).index()].load(Relaxed);
            let _ = match count {
                0 => Ok(()),
                _ => writeln!(
                    out,
                    "sabir_errors_total{{{labels},fault=\"{}\"}} {count}",
                    whose.as_str()
                ),
            };
        }
    });
}

fn render_failed_tries(all: &[Labelled<'_>], out: &mut String) {
    head(
        out,
        "sabir_failed_tries_total",
        "counter",
        "Tries that failed and were followed by another.",
    );
    each(all, out, |series, out, labels| {
        let count = series.failed_tries.load(Relaxed);
        if count > 0 {
            let _ = writeln!(out, "sabir_failed_tries_total{{{labels}}} {count}");
        }
    });
}

fn render_tokens(all: &[Labelled<'_>], out: &mut String) {
    head(out, "sabir_tokens_total", "counter", "Tokens as the providers counted them.");
    each(all, out, |series, out, labels| {
        for (direction, count) in
            [("input", &series.input_tokens), ("output", &series.output_tokens)]
        {
            let count = count.load(Relaxed);
            let _ =
                writeln!(out, "sabir_tokens_total{{{labels},direction=\"{direction}\"}} {count}");
        }
    });
}

fn render_losses(all: &[Labelled<'_>], out: &mut String) {
    head(out, "sabir_losses_total", "counter", "Entries of loss reports.");
    each(all, out, |series, out, labels| {
        for kind in LossKind::ALL {
            let count = series.losses[kind as usize].load(Relaxed);
            let _ = match count {
                0 => Ok(()),
                _ => writeln!(out, "sabir_losses_total{{{labels},kind=\"{kind}\"}} {count}"),
            };
        }
    });
}

/// How the keys of providers have fared that have several, in the Prometheus text form.
pub(crate) fn render_keys<'p>(seen: impl Iterator<Item = (&'p str, KeySeen)>, out: &mut String) {
    const REQUESTS: &str = "sabir_key_requests_total";
    const RESTS: &str = "sabir_key_rests_total";
    const RESTING: &str = "sabir_key_resting";
    let mut columns = [REQUESTS, RESTS, RESTING].map(|name| (name, String::new()));
    for (provider, KeySeen { number, requests, rests, is_resting }) in seen {
        for ((name, lines), value) in columns.iter_mut().zip([requests, rests, is_resting.into()]) {
            let labels = format!("provider=\"{provider}\",key=\"{number}\"");
            let _ = writeln!(lines, "{name}{{{labels}}} {value}");
        }
    }
    let helps = [
        ("counter", "Requests that were sent with one of several keys."),
        ("counter", "How often the provider turned a key away, so that it rests."),
        ("gauge", "Whether a key rests."),
    ];
    for ((name, lines), (kind, help)) in columns.iter().zip(helps) {
        if !lines.is_empty() {
            head(out, name, kind, help);
            out.push_str(lines);
        }
    }
}

fn each(all: &[Labelled<'_>], out: &mut String, render: impl Fn(&Series, &mut String, &str)) {
    for (labels, series) in all {
        render(series, out, labels);
    }
}

impl Series {
    /// Whether nothing was ever counted. A provider whose every try failed has no request of its own.
    fn is_empty(&self) -> bool {
        self.duration.is_empty()
            && self.failed_tries.load(Relaxed) == 0
            && self.in_flight.load(Relaxed) == 0
    }
}

fn head(out: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

fn render_dropped_lines(out: &mut String) {
    const NAME: &str = "sabir_log_lines_dropped_total";
    head(out, NAME, "counter", "Lines of the log that nobody read in time.");
    let _ = writeln!(out, "{NAME} {}", log::dropped_lines());
}

fn gauge(out: &mut String, name: &str, help: &str, value: &AtomicI64) {
    head(out, name, "gauge", help);
    let _ = writeln!(out, "{name} {}", value.load(Relaxed));
}
