//! A stream on its way to a client: pulled from the provider when the client is ready for more, and gone with it.

use std::pin::Pin;
use std::task::Context;
use std::task::Poll;

use bytes::Bytes;
use sabir_backend::Error;
use sabir_wire::Fault;
use sabir_wire::FaultKind;
use sabir_wire::json::Text;

use crate::attempt::Feed;
use crate::egress::Along;
use crate::egress::Translation;
use crate::observe::Ending;
use crate::observe::Trace;
use crate::observe::Whose;

/// A stream that is being sent. Dropping it ends the provider's work and records the request.
pub(crate) struct Live {
    source: Source,
    trace: Trace,
}

enum Source {
    Translated {
        translation: Box<Translation>,
        feed: Option<Box<Feed>>,
    },
    Through {
        first: Option<Bytes>,
        along: Box<Along>,
        feed: Option<Box<Feed>>,
    },
    /// Something that is not looked into at all.
    Raw(Option<Box<Feed>>),
}

impl Live {
    pub(crate) fn translated(
        translation: Box<Translation>,
        feed: Option<Box<Feed>>,
        trace: Trace,
    ) -> Self {
        Self { source: Source::Translated { translation, feed }, trace }
    }

    pub(crate) fn through(first: Bytes, along: Box<Along>, feed: Box<Feed>, trace: Trace) -> Self {
        Self { source: Source::Through { first: Some(first), along, feed: Some(feed) }, trace }
    }

    pub(crate) fn raw(feed: Box<Feed>, trace: Trace) -> Self {
        Self { source: Source::Raw(Some(feed)), trace }
    }

    /// The next bytes for the client; ready with none at the end.
    pub(crate) fn poll_bytes(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let Self { source, trace } = self.get_mut();
        match source {
            Source::Translated { translation, feed } => {
                poll_translated(translation, feed, trace, cx)
            }
            Source::Through { first, along, feed } => match first.take() {
                Some(first) if !first.is_empty() => Poll::Ready(Some(first)),
                _ => poll_through(along, feed, trace, cx),
            },
            Source::Raw(feed) => poll_raw(feed, trace, cx),
        }
    }
}

fn poll_translated(
    translation: &mut Translation,
    feed: &mut Option<Box<Feed>>,
    trace: &mut Trace,
    cx: &mut Context<'_>,
) -> Poll<Option<Bytes>> {
    loop {
        let out = translation.take_out();
        if !out.is_empty() {
            return Poll::Ready(Some(out.into()));
        }
        if translation.is_over() {
            settle(translation, trace);
            return Poll::Ready(None);
        }
        let Some(source) = feed else {
            translation.end();
            continue;
        };
        let was_finished = translation.has_finished();
        match source.poll_data(cx, &mut |data| translation.push(data)) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Some(Ok(()))) => {
                if translation.has_finished() && !was_finished {
                    source.hasten();
                }
            }
            Poll::Ready(None) => {
                *feed = None;
                translation.end();
            }
            Poll::Ready(Some(Err(_))) if translation.has_finished() => {
                *feed = None;
                translation.end();
            }
            Poll::Ready(Some(Err(error))) => {
                *feed = None;
                translation.fail(fault_of(&error));
            }
        }
    }
}

/// Records what only the end of a translated stream tells.
fn settle(translation: &mut Translation, trace: &mut Trace) {
    trace.counts(translation.counts());
    if let Some(report) = translation.take_report() {
        trace.loses(report);
    }
    trace.ends(match translation.fault() {
        None => Ending::Answered,
        Some(_) => Ending::Failed(Whose::Upstream),
    });
}

fn poll_through(
    along: &mut Along,
    feed: &mut Option<Box<Feed>>,
    trace: &mut Trace,
    cx: &mut Context<'_>,
) -> Poll<Option<Bytes>> {
    let Some(source) = feed else { return Poll::Ready(None) };
    let mut passed = Passed::Nothing;
    let polled = source.poll_data(cx, &mut |data| {
        // What cannot be understood still passes: reading along must not stand in the way.
        let _ = along.push(data);
        passed.add(data);
    });
    match polled {
        Poll::Pending => Poll::Pending,
        Poll::Ready(Some(Ok(()))) => Poll::Ready(Some(passed.into_bytes())),
        Poll::Ready(None) => {
            *feed = None;
            trace.counts(along.counts());
            trace.ends(match along.is_complete() && !along.has_failed() {
                true => Ending::Answered,
                false => Ending::Failed(Whose::Upstream),
            });
            // A stream that merely stops would look like a whole answer.
            let missing = (!along.is_complete()).then(|| along.broken(cut_short()));
            Poll::Ready(missing.filter(|text| !text.is_empty()).map(Bytes::from))
        }
        Poll::Ready(Some(Err(error))) => {
            *feed = None;
            trace.counts(along.counts());
            trace.ends(Ending::Failed(Whose::Upstream));
            Poll::Ready(Some(along.broken(fault_of(&error)).into()))
        }
    }
}

fn poll_raw(
    feed: &mut Option<Box<Feed>>,
    trace: &mut Trace,
    cx: &mut Context<'_>,
) -> Poll<Option<Bytes>> {
    let Some(source) = feed else { return Poll::Ready(None) };
    let mut passed = Passed::Nothing;
    match source.poll_data(cx, &mut |data| passed.add(data)) {
        Poll::Pending => Poll::Pending,
        Poll::Ready(Some(Ok(()))) => Poll::Ready(Some(passed.into_bytes())),
        Poll::Ready(end) => {
            *feed = None;
            trace.ends(match end {
                None => Ending::Answered,
                Some(_) => Ending::Failed(Whose::Upstream),
            });
            Poll::Ready(None)
        }
    }
}

/// The bytes of one read, mostly one piece.
enum Passed {
    Nothing,
    One(Bytes),
    Several(Vec<u8>),
}

impl Passed {
    fn add(&mut self, data: &[u8]) {
        *self = match std::mem::replace(self, Self::Nothing) {
            Self::Nothing => Self::One(Bytes::copy_from_slice(data)),
            Self::One(first) => Self::Several([&first[..], data].concat()),
            Self::Several(mut bytes) => {
                bytes.extend_from_slice(data);
                Self::Several(bytes)
            }
        };
    }

    fn into_bytes(self) -> Bytes {
        match self {
            Self::Nothing => Bytes::new(),
            Self::One(bytes) => bytes,
            Self::Several(bytes) => bytes.into(),
        }
    }
}

fn cut_short() -> Fault<'static> {
    Fault::new(FaultKind::Truncated, Text::literal("the provider's stream ended before its end"))
}

fn fault_of(error: &Error) -> Fault<'static> {
    let kind = match error.kind() {
        sabir_backend::ErrorKind::IdleTimeout => FaultKind::Timeout,
        _ => FaultKind::Truncated,
    };
    Fault::new(kind, Text::plain(error.to_string()))
}

impl Drop for Live {
    /// What the provider has counted so far was used, even where the client has left.
    fn drop(&mut self) {
        if let Source::Translated { translation, .. } = &self.source {
            self.trace.counts(translation.counts());
        } else if let Source::Through { along, .. } = &self.source {
            self.trace.counts(along.counts());
        }
    }
}
