//! An answer that passes as it is says the same to whoever watches it as to whoever decodes it.

use sabir_wire::conversation::Counts;
use sabir_wire::protocol::{Event, StreamDecoder, Watch};
use sabir_wire::sse::Frame;
use sabir_wire::{FaultKind, Protocol};

use crate::laws::{Law, Violation, violation};
use crate::sample::Sample;
use crate::translate;

/// How many beginnings of a stream are compared; those of long streams are sampled evenly.
const BEGINNINGS_MAX: usize = 40;

/// What there is to know of an answer.
#[derive(Debug, Default, PartialEq, Eq)]
struct Known {
    has_begun: bool,
    has_failed: bool,
    is_complete: bool,
    counts: Counts,
}

pub(super) fn whole(sample: &Sample) -> Option<Violation> {
    let Ok(text) = std::str::from_utf8(&sample.body) else { return None };
    let response = sample.protocol.decode_response(&sample.body).ok()?;
    let decoded =
        (response.fault.is_some(), response.usage.map(|usage| usage.counts).unwrap_or_default());
    let mut watch = Watch::new(sample.protocol);
    watch.whole(text);
    let watched = (watch.take_fault().is_some(), watch.counts());
    differs((&decoded, &watched), "the whole answer")
}

/// Compares a stream as it is at its end, and as it would be if it broke off before.
pub(super) fn stream(sample: &Sample) -> Option<Violation> {
    let frames = translate::named_frames(&sample.body);
    let step = (frames.len() / BEGINNINGS_MAX).max(1);
    let ends = (1..frames.len()).step_by(step).chain([frames.len()]);
    ends.map_while(|end| Some((end, decode(sample.protocol, &frames[..end])?))).find_map(
        |(end, decoded)| {
            let watched = watch(sample.protocol, &frames[..end]);
            differs((&decoded, &watched), &format!("the first {end} frames"))
        },
    )
}

fn differs<T: PartialEq + std::fmt::Debug>(
    (decoded, watched): (&T, &T),
    what: &str,
) -> Option<Violation> {
    let detail = format!("{what}: decoded {decoded:?}, watched {watched:?}");
    (decoded != watched).then(|| violation(Law::WatchedAlike, None, detail))
}

/// What the decoder knows; nothing where it cannot read a frame.
fn decode(protocol: Protocol, frames: &[(Option<String>, String)]) -> Option<Known> {
    let mut known = Known { is_complete: true, ..Known::default() };
    let mut decoder = StreamDecoder::new(protocol);
    for (event, data) in frames {
        let frame = Frame { event: event.as_deref(), data };
        decoder = decoder.step(&frame, &mut |event| known.observe(&event)).ok()?;
    }
    let has_begun = known.has_begun;
    decoder.end(&mut |event| known.observe(&event));
    Some(Known { has_begun, ..known })
}

fn watch(protocol: Protocol, frames: &[(Option<String>, String)]) -> Known {
    let mut watch = Watch::new(protocol);
    for (event, data) in frames {
        let frame = Frame { event: event.as_deref(), data };
        if watch.frame(&frame).is_err() {
            break;
        }
    }
    Known {
        has_begun: watch.has_begun(),
        has_failed: watch.has_failed(),
        is_complete: watch.is_complete(),
        counts: watch.counts(),
    }
}

impl Known {
    fn observe(&mut self, event: &Event<'_>) {
        self.has_begun = true;
        match event {
            Event::Usage(usage) => self.counts.update(usage.counts),
            Event::Fault(fault) if fault.kind == FaultKind::Truncated => self.is_complete = false,
            Event::Fault(_) => self.has_failed = true,
            Event::Start(_)
            | Event::Open(_)
            | Event::Delta(..)
            | Event::Note(_)
            | Event::Close(_)
            | Event::Finish { .. } => {}
        }
    }
}
