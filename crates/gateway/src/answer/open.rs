//! The beginning of an answer: what becomes of it is decided by its head, and it is read until its first event is there.

use std::borrow::Cow;
use std::sync::Arc;

use http::HeaderValue;
use http::header::CONTENT_TYPE;
use sabir_compose::govern::{Governor, Offer};
use sabir_wire::protocol::AnswerContext;
use sabir_wire::target::Target;
use sabir_wire::{FaultKind, Protocol};

use crate::answer::form::Form;
use crate::answer::frames::{Frames, is_event_stream};
use crate::answer::pass_through::PassThrough;
use crate::answer::translation::Translation;
use crate::answer::whole::Reading;
use crate::answer::{Answering, Feed, InFlight, is_packed, whole};
use crate::call::Call;
use crate::failure::{Failure, Result, Whose};
use crate::ingress;
use crate::state::Snapshot;
use crate::tap::Head;
use crate::upstream::unreached;

/// What happens to the answer on its way back.
#[derive(Debug)]
pub(crate) enum AnswerMode {
    /// Its bytes go to the client as they are, unless a tap has to change them.
    PassThrough,
    Translate {
        context: Box<AnswerContext<'static>>,
        /// What its calls are held against, where there are rules on them.
        offer: Option<Arc<Offer>>,
    },
}

impl AnswerMode {
    /// An answer that is translated, and on which there are no rules.
    pub(crate) fn translate(context: AnswerContext<'static>) -> Self {
        Self::Translate { context: Box::new(context), offer: None }
    }

    /// Who governs the answer, if anybody does.
    fn governor(&self) -> Option<Box<Governor>> {
        match self {
            Self::PassThrough => None,
            Self::Translate { offer, .. } => {
                offer.as_ref().map(|offer| Box::new(Governor::new(Arc::clone(offer))))
            }
        }
    }
}

/// An answer of which the head has been read.
#[derive(Debug)]
pub(crate) struct Incoming {
    pub(crate) protocol: Protocol,
    pub(crate) head: Head,
    /// Boxed, since it moves through many futures.
    pub(crate) feed: Box<Feed>,
}

/// Reads an answer with a good status far enough to know that it is one.
pub(crate) async fn open(
    snapshot: &Arc<Snapshot>,
    (call, mode): (&Call<'_>, &AnswerMode),
    mut incoming: Incoming,
    flight: &mut InFlight,
) -> Result<Box<Answering>> {
    let wants_stream = call.delivery.is_stream();
    if wants_stream {
        name_frames(&mut incoming).await?;
    }
    let Incoming { protocol, head, feed } = &incoming;
    let is_stream = feed.is_events()
        || is_event_stream(&head.headers)
        || protocol.facts().streams_lists && wants_stream;
    if is_stream && wants_stream && is_packed(&head.headers) {
        return Err(packed());
    }
    let asked = match mode {
        AnswerMode::Translate { context, .. } => Some(&**context),
        AnswerMode::PassThrough => None,
    };
    flight.begin_answer(head, asked);
    let passes = matches!(mode, AnswerMode::PassThrough)
        && !feed.is_events()
        && !flight.taps.changes_events();
    if is_stream && (passes || wants_stream) {
        let form = stream_form(snapshot, (call, mode), &incoming, passes).await?;
        return begin(snapshot, form, incoming, flight).await;
    }
    let reading = match (passes && !wants_stream, is_stream) {
        (true, _) => Reading::own(&incoming.head.headers),
        (false, true) => Reading::Stream(context(snapshot, call, mode).await?),
        (false, false) => Reading::Response(context(snapshot, call, mode).await?),
    };
    // Boxed, since every connection has room for the largest future of all, open streams included.
    let governor = mode.governor();
    let opening = whole::open(snapshot, call.recipient(), (incoming, reading, governor), flight);
    Box::pin(opening).await.map(Box::new)
}

/// Some servers send event streams and call them something else, or nothing: then their first bytes name them.
async fn name_frames(incoming: &mut Incoming) -> Result<()> {
    let Incoming { head, feed, .. } = incoming;
    if !feed.is_events()
        && !is_event_stream(&head.headers)
        && feed.begins_with_frames().await.map_err(unreached)?
    {
        head.headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    }
    Ok(())
}

async fn stream_form(
    snapshot: &Snapshot,
    (call, mode): (&Call<'_>, &AnswerMode),
    incoming: &Incoming,
    passes: bool,
) -> Result<Form> {
    let frame_bytes_max = snapshot.config().limits.frame_bytes_max;
    let frames = Frames::of(&incoming.head.headers, frame_bytes_max);
    if passes {
        let passing = PassThrough::new(call.client, frames, frame_bytes_max);
        return Ok(Form::PassThrough(Box::new(passing)));
    }
    let context = context(snapshot, call, mode).await?.into_owned();
    let frames = (!incoming.feed.is_events()).then_some(frames);
    let translation = Translation::new(call.recipient(), incoming.protocol, context, frames);
    Ok(Form::Translation(Box::new(translation.governed(mode.governor()))))
}

async fn begin(
    snapshot: &Snapshot,
    form: Form,
    incoming: Incoming,
    flight: &mut InFlight,
) -> Result<Box<Answering>> {
    let Incoming { head, feed, .. } = incoming;
    let mut answering = Box::new(Answering::new(head, form, Some(feed)));
    answering.first(flight, snapshot.config().limits.frame_bytes_max).await?;
    Ok(answering)
}

/// What the encoder of the answer must know of the request. An answer that was meant to pass has not been asked for it yet.
async fn context<'m>(
    snapshot: &Snapshot,
    call: &Call<'_>,
    mode: &'m AnswerMode,
) -> Result<Cow<'m, AnswerContext<'static>>> {
    if let AnswerMode::Translate { context, .. } = mode {
        return Ok(Cow::Borrowed(context));
    }
    let Some(large) = call.large else { return Ok(Cow::Owned(context_of(call))) };
    let large = Arc::clone(large);
    let context = snapshot.shared.pool.run(move |_| Ok(context_of(&large.lend())));
    Box::pin(context).await.map(Cow::Owned)
}

/// What a request states of its answer, if it can be read and does not take far more memory than its length.
fn context_of(call: &Call<'_>) -> AnswerContext<'static> {
    let is_readable = ingress::check_density(&call.survey).is_ok();
    let decoded = is_readable.then(|| call.decoded());
    match decoded {
        Some(Ok(decoded)) => AnswerContext::by(&decoded, call.client, &Target::default()),
        Some(Err(_)) | None => AnswerContext::default(),
    }
}

fn packed() -> Box<Failure> {
    let message = "the provider's stream is compressed, although it was asked for a plain one";
    Failure::new(Whose::Upstream, FaultKind::Internal, message).with_status(502)
}
