//! Compaction where the provider has none of its own: a summary takes the place of a conversation, because the client asks for
//! it, or has sent one back that only this gateway can read.

mod announce;
mod answer;
mod own;
mod read;
mod summarise;

pub(crate) use answer::{answer_fitting, answer_in_place, lacks_compaction, may_be_fitted};

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use sabir_compose::compact::summary_text;
use sabir_wire::Protocol;
use sabir_wire::json::{Json, Reader as JsonReader, Text};
use sabir_wire::protocol::{AnswerContext, Echo};

use crate::answer::{AnswerMode, Answering, ESTIMATE, Feed, InFlight, Incoming, open};
use crate::attempt::Handles;
use crate::call::{Action, Call, LargeCall, unmarked};
use crate::compact::announce::Announce;
use crate::compact::read::{
    Item, Place, Reader, Sealed, Work, holds_own, may_concern, with_returned,
};
use crate::compact::summarise::{Commission, Summary};
use crate::config::types::GatewayKey;
use crate::failure::{Failure, Result, Whose};
use crate::ingress;
use crate::observe;
use crate::observe::Upstream;
use crate::pool::Wanted;
use crate::recall;
use crate::recall::{absent, without_members};
use crate::recalled::{Recalled, Stretch};
use crate::redact::Redactor;
use crate::route;
use crate::route::Resolved;
use crate::seal::Seal;
use crate::state::Snapshot;
use crate::summaries::Made;
use crate::surface;
use crate::surface::{
    CompactionAnswer, CompactionAsked, CompactionTrouble, Misasked, Summarised, Then, When,
};
use crate::tap::Head;
use crate::upstream::Body;

/// A call before it is sent to anybody.
#[derive(Clone, Copy)]
pub(crate) struct Stage<'c> {
    pub(crate) handles: Handles<'c>,
    pub(crate) call: &'c Call<'c>,
    pub(crate) resolved: &'c Resolved,
    pub(crate) key: Option<&'c Arc<GatewayKey>>,
}

/// What a call says of summaries.
pub(crate) enum Reading {
    /// It goes on, from a summary if there is one.
    Call(Option<Arc<Recalled>>),
    /// It asks for one.
    Asked(Box<Pending>),
}

/// A summary that is asked for, and the conversation that it is asked of.
pub(crate) struct Pending {
    asked: CompactionAsked,
    base: Arc<Recalled>,
}

impl Reading {
    /// Puts the conversation where the call has it; what is asked for stays.
    pub(crate) fn split(self, recalled: &mut Option<Arc<Recalled>>) -> Option<Box<Pending>> {
        match self {
            Self::Call(conversation) => {
                *recalled = conversation;
                None
            }
            Self::Asked(pending) => {
                *recalled = Some(Arc::clone(&pending.base));
                Some(pending)
            }
        }
    }
}

/// What becomes of a call that asks for a summary.
pub(crate) enum Outcome {
    /// It goes on.
    Call(Arc<Recalled>),
    /// It asked for nothing else.
    Answer(Box<Answering>),
}

/// Puts summaries into a conversation that has them, and finds out whether one is asked for. All others pass.
pub(crate) async fn read(stage: Stage<'_>, recalled: Option<Arc<Recalled>>) -> Result<Reading> {
    // A count may have its conversation one level deeper, in protocols that have no items of the kind.
    let is_elsewhere = stage.call.action == Action::CountTokens
        && !surface::of(stage.call.client).counting.wrappers.is_empty();
    let is_concerned = stage.call.action == Action::Compact
        || !is_elsewhere && may_concern(stage.call.survey.source(), recalled.as_deref());
    match is_concerned {
        // Boxed, since calls of long conversations are few.
        true => {
            let is_native = stage.is_native(recalled.as_deref());
            Box::pin(stage.read(recalled, is_native)).await
        }
        false => Ok(Reading::Call(recalled)),
    }
}

impl Stage<'_> {
    async fn read(self, recalled: Option<Arc<Recalled>>, is_native: bool) -> Result<Reading> {
        let is_own = holds_own(self.call.survey.source(), recalled.as_deref());
        if is_native && !is_own {
            return Ok(Reading::Call(recalled));
        }
        if let Some(missing) = recalled.as_ref().and_then(|recalled| recalled.missing()) {
            return Err(absent(self.call.client, missing));
        }
        // What has too many pieces to be read passes as it is, where it may.
        match ingress::check_density(&self.call.survey) {
            Err(failure) if is_own || self.call.action == Action::Compact => return Err(failure),
            Err(_) => return Ok(Reading::Call(recalled)),
            Ok(()) => {}
        }
        let (asked, base) = self.asked(recalled.clone()).await?;
        let base = self.with_returned(base, is_native).await?;
        if is_native && base.summaries.is_empty() {
            return Ok(Reading::Call(recalled));
        }
        Ok(match asked {
            // Nobody has a summary written to count it.
            Some(_) if self.call.action == Action::CountTokens => {
                Reading::Call(Some(Arc::new(base)))
            }
            Some(asked) => Reading::Asked(Box::new(Pending { asked, base: Arc::new(base) })),
            None if base.summaries.is_empty() => Reading::Call(recalled),
            None => Reading::Call(Some(Arc::new(base))),
        })
    }

    /// What the call asks for, and the call without that.
    async fn asked(
        &self,
        recalled: Option<Arc<Recalled>>,
    ) -> Result<(Option<CompactionAsked>, Recalled)> {
        let compaction = &surface::of(self.call.client).compaction;
        let (read, strip) = (compaction.read, compaction.strip);
        let (client, action) = (self.call.client, self.call.action);
        let source = self.source();
        // What the gateway works on while nobody waits is no matter of the provider's.
        let background = surface::of(client).state.background;
        let background = background.filter(|_| self.call.asked.in_background);
        self.pooled(move |_: &_| {
            let asked = match action {
                Action::Compact => Some(CompactionAsked { when: When::Now, instructions: None }),
                Action::Generate | Action::CountTokens => {
                    read(source.as_str()).map_err(|misasked| refused(client, misasked))?
                }
            };
            let mut base = match &recalled {
                Some(recalled) => Recalled::clone(recalled),
                None => Recalled::of(client, source.as_str().to_owned()),
            };
            if asked.is_some() {
                base.body = strip(&base.body)?;
            }
            if let Some(background) = background {
                base.body = without_members(&base.body, &[background.member])?;
            }
            Ok((asked, base))
        })
        .await
    }

    /// Whether the only provider that may be asked compacts by itself, in the client's own protocol.
    fn is_native(&self, recalled: Option<&Recalled>) -> bool {
        let Some(target) = self.resolved.sole_target() else { return false };
        let provider = &target.provider;
        let is_same = provider.endpoint_for(self.call.client);
        is_same.is_some_and(|endpoint| endpoint.is_native_to(self.call.client))
            && provider.config.dialect.is_none()
            && recalled
                .is_none_or(|recalled| recalled.is_kept_by(&provider.name) || recalled.is_fresh())
    }

    /// What the client sent, for other threads.
    fn source(&self) -> Source {
        match self.call.large {
            Some(large) => Source::Large(Arc::clone(large)),
            None => Source::Small(self.call.survey.source().to_owned()),
        }
    }

    async fn pooled<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Wanted) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let bytes = self.call.body.len() + self.call.recalled_bytes();
        self.handles.snapshot.shared.pool.run_on(bytes, work).await
    }

    /// The conversation with the newest compaction that it holds in its place.
    async fn with_returned(&self, base: Recalled, is_native: bool) -> Result<Recalled> {
        let (base, item) = self
            .pooled(move |_| {
                let item = read::item(&base)?;
                Ok((base, item))
            })
            .await?;
        let stored = match item {
            None => return Ok(base),
            Some(Item::Foreign(id)) if !is_native => self.stored(&id).await?,
            Some(_) => None,
        };
        let snapshot = Arc::clone(self.handles.snapshot);
        seal(&snapshot).await?;
        let (client, owner, provider) = (self.call.client, self.owner(), self.provider());
        self.pooled(move |_| {
            let Some(seal) = snapshot.shared.seal.get() else { return Ok(base) };
            let (owner, provider) = (&*owner, &*provider);
            let reader = Reader { client, seal, owner, provider, is_native, stored };
            let returned = reader.returned(&base)?;
            Ok(with_returned(&base, returned))
        })
        .await
    }

    /// What the store has of the conversation that another provider's compaction stands for.
    async fn stored(&self, id: &str) -> Result<Option<Vec<Stretch>>> {
        let shared = &self.handles.snapshot.shared;
        let Some(memory) = &shared.memory else { return Ok(None) };
        let owner = memory.owner(self.key);
        recall::before_item(&shared.pool, (memory.store(), &owner), id).await
    }

    /// The window of the model that writes the summary, where it is known.
    fn window(&self) -> Option<u64> {
        let Handles { snapshot, .. } = self.handles;
        match &snapshot.config().compaction.model {
            Some(model) => {
                let resolved = route::resolve(&snapshot.directory, model, surface::DEFAULT).ok()?;
                narrowest(&resolved)
            }
            None => narrowest(self.resolved),
        }
    }

    fn owner(&self) -> String {
        self.key.map(|key| key.name.clone()).unwrap_or_default()
    }

    fn provider(&self) -> String {
        let first = self.resolved.targets.first();
        first.map(|target| target.provider.name.to_string()).unwrap_or_default()
    }

    /// Has the summary written that is asked for.
    pub(crate) async fn fulfil(&self, pending: Pending, flight: &mut InFlight) -> Result<Outcome> {
        let Pending { asked, base } = pending;
        let (when, conversation) = (asked.when, Arc::clone(&base));
        let piece_bytes = read::piece_bytes(self.window());
        let work = self.pooled(move |_| match when {
            When::Now => read::work_now(&conversation, piece_bytes),
            When::Above { tokens, .. } => read::work_above(&conversation, tokens, piece_bytes),
        });
        let work = match (work.await?, when) {
            // Where all of it would have to be sent as it is, a summary is of no use.
            (Some(Work { rest: None, .. }), When::Above { then: Then::Continue, .. }) => {
                return Ok(Outcome::Call(base));
            }
            (Some(work), _) => work,
            (None, When::Now) => return Err(self.trouble(&CompactionTrouble::Nothing)),
            (None, When::Above { .. }) => return Ok(Outcome::Call(base)),
        };
        let commission = self.commission(asked.instructions.as_deref());
        let earlier = base.summaries.kept.as_ref().map(|kept| &*kept.summary);
        let summary = match (commission.summarise(&work.questions, earlier).await, when) {
            // Without one the call may still fit, and says so itself if it does not.
            (Err(_), When::Above { then: Then::Continue, .. }) => {
                self.announce_void(flight);
                return Ok(Outcome::Call(base));
            }
            (summary, _) => summary?,
        };
        flight.trace.set_compacted(summary.exchange.clone());
        let place = match when {
            When::Above { then: Then::Continue, .. } => Place::BeforeAnswer,
            When::Now | When::Above { then: Then::Pause, .. } => Place::Alone,
        };
        let item = self.item((&summary, place), &work, flight).await?;
        match when {
            When::Now if self.call.action == Action::Compact => {
                self.compacted(&summary, &item, (base, flight)).await.map(Outcome::Answer)
            }
            When::Now | When::Above { then: Then::Pause, .. } => {
                self.answer(&summary, &item, flight).await.map(Outcome::Answer)
            }
            When::Above { then: Then::Continue, .. } => {
                Ok(Outcome::Call(self.going_on(base, work, &summary, item, flight)))
            }
        }
    }

    /// Whoever writes the summary, with what the client wants of it.
    fn commission<'a>(&'a self, instructions: Option<&'a str>) -> Commission<'a> {
        let Self { handles, key, .. } = *self;
        Commission { handles, key, model: &self.call.model, instructions }
    }

    fn trouble(&self, trouble: &CompactionTrouble) -> Box<Failure> {
        explained(self.call.client, trouble)
    }

    /// The summary as the client carries it.
    async fn item(
        &self,
        (summary, place): (&Summary, Place),
        work: &Work,
        flight: &InFlight,
    ) -> Result<Json<'static>> {
        let seal = seal(self.handles.snapshot).await?;
        let messages = work.questions.messages();
        let sealed = Sealed { messages, place, summary: summary.text.clone() };
        let sealed = seal.seal(&self.owner(), &sealed.write())?;
        let write = surface::of(self.call.client).compaction.write_item;
        let id = flight.trace.id();
        let item = write(&Summarised { id, summary: &summary.text, sealed: &sealed });
        Ok(Json::parse(item)?)
    }

    /// The call goes on from the summary, and its answer begins with it.
    fn going_on(
        &self,
        base: Arc<Recalled>,
        work: Work,
        summary: &Summary,
        item: Json<'static>,
        flight: &mut InFlight,
    ) -> Arc<Recalled> {
        let Some(plan) = work.rest else { return base };
        let mut next = Recalled::clone(&base);
        let text = summary_text(work.questions.messages(), &summary.text);
        next.summaries.made = Some(Made { plan, text });
        flight.inserted = Some(self.body(summary, &item, flight));
        flight.change(Box::new(Announce::new(self.call.client, item)));
        Arc::new(next)
    }

    /// The answer begins by saying that there is no summary, where the client's protocol can.
    fn announce_void(&self, flight: &mut InFlight) {
        let client = self.call.client;
        if let Some(item) = surface::of(client).compaction.void_item {
            flight.change(Box::new(Announce::new(client, Json::literal(item))));
        }
    }

    /// An answer of the client's protocol that is nothing but the summary.
    fn body(&self, summary: &Summary, item: &Json<'_>, flight: &InFlight) -> String {
        let write = surface::of(self.call.client).compaction.write_answer;
        write(&CompactionAnswer {
            item,
            user_items: None,
            id: flight.trace.id(),
            model: &self.call.model,
            created_s: flight.trace.began_s(),
            usage: summary.usage,
        })
    }

    /// Answers with what the user said and the summary, which together are the client's next conversation.
    async fn compacted(
        &self,
        summary: &Summary,
        item: &Json<'_>,
        (base, flight): (Arc<Recalled>, &mut InFlight),
    ) -> Result<Box<Answering>> {
        let write = surface::of(self.call.client).compaction.write_answer;
        let (item, id) = (item.clone().into_owned(), flight.trace.id().to_owned());
        let (model, created_s) = (self.call.model.clone(), flight.trace.began_s());
        let usage = summary.usage;
        let written = self.pooled(move |_| {
            let user_items = read::user_items(&base)?;
            Ok(write(&CompactionAnswer {
                item: &item,
                user_items: Some(&user_items),
                id: &id,
                model: &model,
                created_s,
                usage,
            }))
        });
        let body = Bytes::from(written.await?);
        self.set_upstream(summary, flight);
        let head = head_of(summary);
        Ok(Answering::whole(head, body, observe::Outcome::Answered))
    }

    /// Whoever wrote the summary is who answered.
    fn set_upstream(&self, summary: &Summary, flight: &mut InFlight) {
        let upstream = Upstream { protocol: self.call.client, ..summary.upstream.clone() };
        flight.trace.set_upstream(&summary.provider, upstream);
        flight.trace.skip_attempt();
        // What the summary cost is counted with the calls that wrote it.
        flight.trace.count_nothing();
    }

    /// Answers with the summary, as if a provider of the client's protocol had.
    async fn answer(
        &self,
        summary: &Summary,
        item: &Json<'_>,
        flight: &mut InFlight,
    ) -> Result<Box<Answering>> {
        let client = self.call.client;
        self.set_upstream(summary, flight);
        let body = Body::Own(Some(Bytes::from(self.body(summary, item, flight))));
        let limits = self.handles.snapshot.config().limits;
        let patience = limits.stream_duration_max;
        let feed = Box::new(Feed::new(body, Redactor::default(), patience, patience));
        let head = head_of(summary);
        let incoming = Incoming { protocol: client, head, feed };
        let in_background = self.call.asked.in_background;
        let echo = match surface::of(client).repeats_request {
            true => {
                let source = self.source();
                let read =
                    move |_: &_| Ok(Echo::of(JsonReader::new(source.as_str()))?.into_owned());
                let echo = self.pooled(read).await?;
                let echo = if flight.trace.turn().is_some() { echo.stored() } else { echo };
                Some(if in_background { echo.in_background() } else { echo })
            }
            false => None,
        };
        let context = AnswerContext {
            echo,
            in_background,
            seed: Text::plain(flight.trace.id().to_owned()),
            created_s: flight.trace.began_s(),
            ..AnswerContext::default()
        };
        let mode = AnswerMode::translate(context);
        open(self.handles.snapshot, (self.call, &mode), incoming, flight).await
    }
}

/// What a client sent.
enum Source {
    Small(String),
    Large(Arc<LargeCall>),
}

impl Source {
    fn as_str(&self) -> &str {
        match self {
            Self::Small(body) => body,
            Self::Large(call) => unmarked(&call.body),
        }
    }
}

/// The head of an answer that is a summary: it says whether anybody counted what that cost.
fn head_of(summary: &Summary) -> Head {
    let mut headers = HeaderMap::new();
    if summary.is_estimate {
        headers.insert(ESTIMATE, HeaderValue::from_static("true"));
    }
    Head { status: 200, headers }
}

/// Says in the client's protocol why there is no summary.
fn explained(client: Protocol, trouble: &CompactionTrouble) -> Box<Failure> {
    Failure::stating(Whose::Client, (surface::of(client).compaction.explain)(trouble))
}

fn refused(client: Protocol, misasked: Misasked) -> Box<Failure> {
    match misasked {
        Misasked::Unread(error) => error.into(),
        Misasked::Refused(trouble) => explained(client, &trouble),
    }
}

/// The smallest window among the targets of a model.
fn narrowest(resolved: &Resolved) -> Option<u64> {
    resolved.targets.iter().filter_map(|target| target.window()).min()
}

/// The key by which summaries are sealed.
async fn seal(snapshot: &Snapshot) -> Result<&Seal> {
    let make = || async {
        let folder = snapshot.config().store.data_folder.as_deref();
        Seal::of(snapshot.shared.memory.as_ref(), folder).await
    };
    snapshot.shared.seal.get_or_try_init(make).await
}
