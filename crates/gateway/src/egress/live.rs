//! A stream on its way to a client: pulled from the provider when the client is ready for more, and gone with it.

use std::pin::Pin;
use std::task::Context;
use std::task::Poll;

use bytes::Bytes;
use sabir_backend::Error;
use sabir_wire::Fault;
use sabir_wire::FaultKind;
use sabir_wire::json::Text;
use tokio::time::Instant;

use crate::attempt::Feed;
use crate::egress::Along;
use crate::egress::Cut;
use crate::egress::Translation;
use crate::egress::frames::UNREADABLE;
use crate::failure::Failure;
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
    /// An answer that broke off and whose form has no words for it.
    Cut,
}

/// What can be sent, the end, or a body that must be cut.
type Polled = Poll<Option<Result<Bytes, Cut>>>;

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

    /// When the stream must be over, where a provider still writes it.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let feed = match &self.source {
            Source::Translated { feed, .. } | Source::Through { feed, .. } | Source::Raw(feed) => {
                feed
            }
            Source::Cut => return None,
        };
        feed.as_ref().map(|feed| feed.deadline())
    }

    /// The next bytes for the client; ready with none at the end.
    pub(crate) fn poll_bytes(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Polled {
        let Self { source, trace } = self.get_mut();
        let polled = match source {
            Source::Translated { translation, feed } => {
                poll_translated(translation, feed, trace, cx)
            }
            Source::Through { first, along, feed } => match first.take() {
                Some(first) if !first.is_empty() => Poll::Ready(Some(Ok(first))),
                _ => poll_through(along, feed, trace, cx),
            },
            Source::Raw(feed) => poll_raw(feed, trace, cx),
            Source::Cut => return Poll::Ready(Some(Err(Cut))),
        };
        if let Poll::Ready(Some(Err(Cut))) = polled {
            // What has come so far is sent first: the server drops what it holds as soon as it learns of the cut.
            *source = Source::Cut;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        polled
    }
}

fn poll_translated(
    translation: &mut Translation,
    feed: &mut Option<Box<Feed>>,
    trace: &mut Trace,
    cx: &mut Context<'_>,
) -> Polled {
    loop {
        let out = translation.take_out();
        if !out.is_empty() {
            return Poll::Ready(Some(Ok(out.into())));
        }
        if translation.is_over() {
            settle(translation, trace);
            return Poll::Ready(None);
        }
        if trace.is_out_of_time() && feed.take().is_some() && !translation.has_finished() {
            trace.ends(Ending::Failed(Whose::Gateway));
            translation.fail(Failure::shutdown().fault);
            continue;
        }
        let Some(source) = feed else {
            translation.end();
            continue;
        };
        if translation.has_finished() {
            source.hasten();
        }
        match source.poll_data(cx, &mut |data| translation.push(data)) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Some(Ok(()))) => {}
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
) -> Polled {
    loop {
        let Some(source) = feed else { return Poll::Ready(None) };
        if trace.is_out_of_time() {
            *feed = None;
            return failed(along, trace, Whose::Gateway, Failure::shutdown().fault);
        }
        if along.is_broken() {
            *feed = None;
            return broken(along, trace, Whose::Upstream, unreadable());
        }
        if along.is_over() {
            source.hasten();
        }
        let mut passed = Passed::Nothing;
        let polled = source.poll_data(cx, &mut |data| {
            along.push(data, &mut |data| passed.add(data));
        });
        match polled {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Some(Ok(()))) => {
                let passed = passed.into_bytes();
                if !passed.is_empty() {
                    return Poll::Ready(Some(Ok(passed)));
                }
            }
            Poll::Ready(None) => {
                *feed = None;
                return ended(along, trace);
            }
            Poll::Ready(Some(Err(error))) => {
                *feed = None;
                return failed(along, trace, Whose::Upstream, fault_of(&error));
            }
        }
    }
}

/// A stream that merely stops would look like a whole answer.
fn ended(along: &mut Along, trace: &mut Trace) -> Polled {
    let rest = along.end();
    if along.is_broken() {
        return broken(along, trace, Whose::Upstream, unreadable());
    }
    if !along.is_complete() {
        return broken(along, trace, Whose::Upstream, cut_short());
    }
    trace.counts(along.counts());
    trace.ends(match along.has_failed() {
        true => Ending::Failed(Whose::Upstream),
        false => Ending::Answered,
    });
    Poll::Ready((!rest.is_empty()).then(|| Ok(rest.into())))
}

/// What fails behind the end of an answer is not missing from it, but for the end of a list.
fn failed(along: &mut Along, trace: &mut Trace, whose: Whose, fault: Fault<'_>) -> Polled {
    match along.is_complete() && along.is_sse() {
        true => ended(along, trace),
        false => broken(along, trace, whose, fault),
    }
}

/// Tells the client in its own protocol, or by a cut where the form of the stream has no place for it.
fn broken(along: &Along, trace: &mut Trace, whose: Whose, fault: Fault<'_>) -> Polled {
    trace.counts(along.counts());
    trace.ends(Ending::Failed(whose));
    let told = along.broken(fault).map(Bytes::from);
    Poll::Ready(Some(told.ok_or(Cut)))
}

fn poll_raw(feed: &mut Option<Box<Feed>>, trace: &mut Trace, cx: &mut Context<'_>) -> Polled {
    let Some(source) = feed else { return Poll::Ready(None) };
    if trace.is_out_of_time() {
        *feed = None;
        trace.ends(Ending::Failed(Whose::Gateway));
        return Poll::Ready(Some(Err(Cut)));
    }
    let mut passed = Passed::Nothing;
    match source.poll_data(cx, &mut |data| passed.add(data)) {
        Poll::Pending => Poll::Pending,
        Poll::Ready(Some(Ok(()))) => Poll::Ready(Some(Ok(passed.into_bytes()))),
        Poll::Ready(None) => {
            *feed = None;
            trace.ends(Ending::Answered);
            Poll::Ready(None)
        }
        Poll::Ready(Some(Err(_))) => {
            *feed = None;
            trace.ends(Ending::Failed(Whose::Upstream));
            Poll::Ready(Some(Err(Cut)))
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

fn unreadable() -> Fault<'static> {
    Fault::new(FaultKind::Truncated, UNREADABLE)
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
