//! The semantics of one node: where it stood, how it was shaped, and what rides on it.

use crate::json::{Json, Text};
use crate::owned::{into_owned, plain};
use crate::place::Place;
use crate::protocol::semantics::shape::{Shape, Speller, Spelling};
use crate::protocol::semantics::{Artefact, Citation, Extras, Logprobs, add_to};

/// What the wire meant by a message, a part, a tool or an answer beyond its content.
///
/// It belongs to its node: an edited part is a new part with none, so that no signature outlives its text.
#[derive(Clone, Debug, Default)]
pub struct NodeSemantics<'a> {
    pub(super) place: Place,
    pub(super) spelling: Spelling,
    /// Boxed because a plain conversation has none.
    pub(super) detail: Option<Box<Detail<'a>>>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Detail<'a> {
    pub(super) extras: Extras<'a>,
    pub(super) cache: Option<CacheMarker<'a>>,
    pub(super) artefact: Option<Artefact<'a>>,
    pub(super) citations: Vec<Citation<'a>>,
    pub(super) logprobs: Option<Logprobs<'a>>,
    pub(super) item: Option<Item<'a>>,
    /// Where the rest of it stood, of a node that a stream sent in pieces.
    pub(super) later: Option<Box<Later>>,
}

/// The places of what was stated about a node after it began; the root for what was stated where it stands.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Later {
    artefact: Place,
    status: Place,
    phase: Place,
}

/// A mark up to which the prompt may be cached.
#[derive(Clone, Debug)]
pub struct CacheMarker<'a> {
    /// The name of the member that it is.
    pub key: &'static str,
    /// How long, in the vendor's word.
    pub ttl: Option<Text<'a>>,
    /// The marker as the protocol spelled it.
    pub json: Json<'a>,
}

/// The Responses item that a part opens.
#[derive(Clone, Debug, Default)]
pub struct Item<'a> {
    pub id: Option<Text<'a>>,
    pub status: Option<Text<'a>>,
    /// `commentary` or `final_answer`.
    pub phase: Option<Text<'a>>,
    pub extras: Extras<'a>,
}

impl<'a> NodeSemantics<'a> {
    pub(in super::super) fn at(place: Place) -> Self {
        Self { place, spelling: Spelling::default(), detail: None }
    }

    /// Semantics of another node that is spelled like this one.
    pub(in super::super) fn spelled_alike(&self, place: Place) -> Self {
        Self { place, spelling: self.spelling, detail: None }
    }

    pub(in super::super) fn move_to(&mut self, place: Place) {
        self.place = place;
    }

    /// Moves the node with all that rides on it.
    pub(in super::super) fn move_all(&mut self, place: &dyn Fn(Place) -> Place) {
        self.place = place(self.place);
        let later = self.detail.as_deref_mut().and_then(|detail| detail.later.as_deref_mut());
        if let Some(Later { artefact, status, phase }) = later {
            let places = [artefact, status, phase].into_iter().filter(|it| !it.is_root());
            places.for_each(|it| *it = place(*it));
        }
    }

    pub(in super::super) fn forget_spelling(&mut self) {
        self.spelling = Spelling::default();
    }

    /// Leaves behind what rides on the node and does not name its own protocol: it means something in the request that the
    /// node was read from, and nowhere else.
    pub(in super::super) fn keep_what_names_its_protocol(&mut self) {
        let Some(detail) = self.detail.take() else { return };
        let Detail { extras: _, cache: _, artefact, citations, logprobs: _, item, later } = *detail;
        // What an item is for is stated in one protocol alone, and its models rely on it.
        let phase = item.and_then(|item| item.phase);
        let item = phase.map(|phase| Item { phase: Some(phase), ..Item::default() });
        if artefact.is_some() || item.is_some() || !citations.is_empty() {
            let kept = Detail { artefact, citations, item, later, ..Detail::default() };
            self.detail = Some(Box::new(kept));
        }
    }

    pub(in super::super) fn add_shape<S: Speller>(&mut self, shape: Shape<S>) {
        self.spelling.merge(shape.into());
    }

    #[inline]
    pub(in super::super) fn shaped<S: Speller>(mut self, shape: Shape<S>) -> Self {
        self.add_shape(shape);
        self
    }

    /// Takes the extras that reading the node left over.
    #[inline]
    pub(in super::super) fn keep(&mut self, extras: Extras<'a>) {
        if !extras.is_empty() {
            self.detail_mut().extras.update(extras);
        }
    }

    #[inline]
    pub(in super::super) fn keeping(mut self, extras: Extras<'a>) -> Self {
        self.keep(extras);
        self
    }

    pub(in super::super) fn extras_mut(&mut self) -> &mut Extras<'a> {
        &mut self.detail_mut().extras
    }

    pub(in super::super) fn set_cache(&mut self, marker: CacheMarker<'a>) {
        self.detail_mut().cache = Some(marker);
    }

    pub(in super::super) fn set_artefact(&mut self, artefact: Artefact<'a>) {
        self.detail_mut().artefact = Some(artefact);
    }

    /// Takes over an artefact that stood on the node at `place`.
    pub(in super::super) fn hand_artefact(&mut self, artefact: Artefact<'a>, place: Place) {
        let detail = self.detail_mut();
        detail.artefact = Some(artefact);
        detail.later.get_or_insert_default().artefact = place;
    }

    pub(in super::super) fn take_artefact(&mut self) -> Option<Artefact<'a>> {
        self.detail.as_deref_mut()?.artefact.take()
    }

    pub(in super::super) fn add_citation(&mut self, citation: Citation<'a>) {
        self.detail_mut().citations.push(citation);
    }

    pub(in super::super) fn set_logprobs(&mut self, logprobs: Logprobs<'a>) {
        self.detail_mut().logprobs = Some(logprobs);
    }

    /// Appends log probabilities to those known.
    pub(in super::super) fn add_logprobs(&mut self, more: Logprobs<'a>) {
        add_to(&mut self.detail_mut().logprobs, more);
    }

    pub(in super::super) fn set_item(&mut self, item: Item<'a>) {
        self.detail_mut().item = Some(item);
    }

    fn detail_mut(&mut self) -> &mut Detail<'a> {
        self.detail.get_or_insert_default()
    }

    /// The same, stated of the node at `place`.
    pub(in super::super) fn stated_of(self, place: Place) -> Self {
        let mut node = Self::at(place);
        node.merge(self);
        node
    }

    /// Adds what a later word on the same node says: newer values win, citations add up.
    pub(crate) fn merge(&mut self, later: NodeSemantics<'a>) {
        self.spelling.merge(later.spelling);
        let is_elsewhere = !later.place.is_root() && later.place != self.place;
        let from = later.place;
        let Some(mut later) = later.detail else { return };
        if is_elsewhere {
            later.leave(from);
        }
        let detail = self.detail_mut();
        detail.keep_places(&later);
        let Detail { extras, cache, artefact, citations, logprobs, item, later: _ } = *later;
        detail.extras.update(extras);
        detail.cache = cache.or(detail.cache.take());
        detail.artefact = artefact.or(detail.artefact.take());
        detail.citations.extend(citations);
        detail.logprobs = logprobs.or(detail.logprobs.take());
        match (&mut detail.item, item) {
            (Some(item), Some(later)) => item.merge(later),
            (old, later) => *old = later.or(old.take()),
        }
    }

    /// Where the node stood that held the artefact; in a stream that may be a later frame.
    pub(in super::super) fn sealed_at(&self) -> Place {
        self.later(|later| later.artefact)
    }

    /// The same for the status of the item.
    pub(in super::super) fn status_at(&self) -> Place {
        self.later(|later| later.status)
    }

    /// The same for its phase.
    pub(in super::super) fn phase_at(&self) -> Place {
        self.later(|later| later.phase)
    }

    fn later(&self, place: impl Fn(&Later) -> Place) -> Place {
        let later = self.detail.as_deref().and_then(|detail| detail.later.as_deref());
        later.map(place).filter(|place| !place.is_root()).unwrap_or(self.place)
    }

    /// Where the node stood in its input.
    pub fn place(&self) -> Place {
        self.place
    }

    /// How the protocol of `S` spelled the node; a node of another protocol has no shape there.
    pub(in super::super) fn shape<S: Speller>(&self) -> Shape<S> {
        self.spelling.of()
    }

    /// How the node was spelled, in whatever protocol it is.
    pub(in super::super) fn spelling(&self) -> Spelling {
        self.spelling
    }

    /// Whether anything rides on the node.
    pub(in super::super) fn has_detail(&self) -> bool {
        self.detail.is_some()
    }

    pub(in super::super) fn has_shape<S: Speller>(&self, shape: Shape<S>) -> bool {
        self.shape::<S>().has(shape)
    }

    /// Undeclared fields in transit.
    pub fn extras(&self) -> Option<&Extras<'a>> {
        self.detail.as_deref().map(|detail| &detail.extras).filter(|extras| !extras.is_empty())
    }

    pub fn cache(&self) -> Option<&CacheMarker<'a>> {
        self.detail.as_deref()?.cache.as_ref()
    }

    pub fn artefact(&self) -> Option<&Artefact<'a>> {
        self.detail.as_deref()?.artefact.as_ref()
    }

    pub fn citations(&self) -> &[Citation<'a>] {
        self.detail.as_deref().map_or(&[], |detail| &detail.citations)
    }

    /// Log probabilities of the part's tokens, as OpenAI lists them.
    pub fn logprobs(&self) -> Option<&Logprobs<'a>> {
        self.detail.as_deref()?.logprobs.as_ref()
    }

    pub fn item(&self) -> Option<&Item<'a>> {
        self.detail.as_deref()?.item.as_ref()
    }
}

impl Detail<'_> {
    /// Remembers that all of this stood at `place`, for a node that stands elsewhere.
    fn leave(&mut self, place: Place) {
        self.extras = std::mem::take(&mut self.extras).moved_from(place);
        if let Some(item) = &mut self.item {
            item.extras = std::mem::take(&mut item.extras).moved_from(place.of_item());
        }
        if self.artefact.is_some() || self.item.is_some() {
            let later = self.later.get_or_insert_default();
            for known in [&mut later.artefact, &mut later.status, &mut later.phase] {
                *known = if known.is_root() { place } else { *known };
            }
        }
    }

    /// Takes over the places of what will be taken over: the newest artefact, and what an item states for the first time.
    fn keep_places(&mut self, later: &Detail<'_>) {
        let Some(from) = later.later.as_deref() else { return };
        let (known, new) = (self.item.as_ref(), later.item.as_ref());
        let is_new = |has: fn(&Item<'_>) -> bool| !known.is_some_and(has) && new.is_some_and(has);
        let (status, phase) = (is_new(|it| it.status.is_some()), is_new(|it| it.phase.is_some()));
        let places = self.later.get_or_insert_default();
        places.artefact = if later.artefact.is_some() { from.artefact } else { places.artefact };
        places.status = if status { from.status } else { places.status };
        places.phase = if phase { from.phase } else { places.phase };
    }
}

impl<'a> CacheMarker<'a> {
    pub(in super::super) fn read(key: &'static str, json: Json<'a>) -> Self {
        let ttl = json.input_reader().and_then(|reader| reader.peek_tag("ttl").ok().flatten());
        Self { key, ttl, json }
    }

    /// The name that Anthropic's marker has, also where another vendor's protocol carries it.
    pub(in super::super) const ANTHROPIC: &'static str = "cache_control";
    /// The name that OpenAI's marker has.
    pub(in super::super) const OPENAI: &'static str = "prompt_cache_breakpoint";
}

impl<'a> Item<'a> {
    fn merge(&mut self, later: Item<'a>) {
        let Item { id, status, phase, extras } = later;
        self.id = id.or(self.id.take());
        self.status = status.or(self.status.take());
        self.phase = phase.or(self.phase.take());
        self.extras.update(extras);
    }
}

plain!(Later);

into_owned! {
    pub struct NodeSemantics { place, spelling, detail }
    struct Detail { extras, cache, artefact, citations, logprobs, item, later }
    pub struct CacheMarker { key, ttl, json }
    pub struct Item { id, status, phase, extras }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::{Count, Usage};
    use crate::place::Step;
    use crate::protocol::{ArtefactKind, Protocol};

    fn frame(number: usize) -> Place {
        Place::default().element(Step::Frame, number)
    }

    #[test]
    fn what_comes_later_keeps_its_place() {
        let mut node = NodeSemantics::at(frame(0));
        node.extras_mut().keep("", "early".into(), Json::literal("1"));
        node.set_item(Item { phase: Some(Text::literal("a")), ..Item::default() });
        let mut later = NodeSemantics::at(frame(3));
        later.extras_mut().keep("", "late".into(), Json::literal("2"));
        let (issuer, kind) = (Protocol::Gemini, ArtefactKind::Signature);
        later.set_artefact(Artefact::new(issuer, kind, Text::literal("s")));
        let [status, phase] = ["b", "c"].map(|word| Some(Text::literal(word)));
        later.set_item(Item { status, phase, ..Item::default() });
        node.merge(later);
        assert_eq!((node.place(), node.sealed_at()), (frame(0), frame(3)));
        assert_eq!((node.status_at(), node.phase_at()), (frame(3), frame(0)));
        let extras = node.extras().into_iter().flat_map(Extras::iter);
        let places: Vec<Place> = extras.map(|extra| extra.place(node.place())).collect();
        assert_eq!(places, [frame(0), frame(3)]);
    }

    #[test]
    fn a_count_stands_in_the_report_that_first_had_it() {
        let report = |number, output| {
            let mut usage = Usage::default();
            usage.counts[Count::Input] = Some(1);
            usage.counts[Count::Output] = output;
            *usage.semantics_mut() = NodeSemantics::at(frame(number));
            usage
        };
        let mut usage = report(0, None);
        usage.update(report(3, Some(2)));
        usage.update(report(5, Some(4)));
        assert_eq!(
            (usage.counts[Count::Output], usage.place_of(Count::Output)),
            (Some(4), frame(3))
        );
        assert_eq!(usage.place_of(Count::Input), frame(0));
    }
}
