//! Service tiers: what each vendor calls the same queue, and what becomes of one that another vendor lacks.

use crate::conversation::Request;
use crate::json::Text;
use crate::loss::LossKind;
use crate::place::Place;
use crate::protocol::object::Object;
use crate::protocol::reporter::Reporter;
use crate::protocol::{Field, Protocol};

/// A tier that a request can ask for, or an answer name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tier {
    /// Whatever the account is set to.
    Auto,
    Standard,
    Priority,
    Fast,
    Ultrafast,
    Flex,
    Scale,
}

impl Tier {
    const ALL: [Self; TIERS] = [
        Self::Auto,
        Self::Standard,
        Self::Priority,
        Self::Fast,
        Self::Ultrafast,
        Self::Flex,
        Self::Scale,
    ];

    /// The tier that comes next to it.
    fn nearest(self) -> Option<Self> {
        match self {
            Self::Ultrafast => Some(Self::Fast),
            Self::Fast => Some(Self::Priority),
            Self::Auto | Self::Standard | Self::Priority | Self::Flex | Self::Scale => None,
        }
    }
}

const TIERS: usize = 7;

/// A protocol's words for the tiers, in the order of [`Tier`]; none for those that it lacks. Requests and answers have words of
/// their own at one vendor.
pub(super) struct Words {
    pub(super) request: [Option<&'static str>; TIERS],
    pub(super) answer: [Option<&'static str>; TIERS],
}

impl Words {
    /// The same words in requests and answers.
    pub(super) const fn alike(words: [Option<&'static str>; TIERS]) -> Self {
        Self { request: words, answer: words }
    }
}

/// Whether a tier is asked for, or served the answer at a place.
#[derive(Clone, Copy)]
pub(super) enum Asking {
    Request,
    Answer(Place),
}

type Loss = Option<(LossKind, &'static str)>;

/// What a tier of `source`'s protocol is called in `target`'s, if it is there; on its own protocol as it is.
pub(super) fn word<'t>(
    tier: &'t Text<'_>,
    asking: Asking,
    source: Protocol,
    target: Protocol,
) -> Option<Text<'t>> {
    match source == target {
        true => Some(tier.reborrow()),
        false => translated(&tier.to_str(), asking, source, target).0.map(Text::literal),
    }
}

/// The same, and reports what becomes of it. Fixtures `request/sampling/service-tier-auto` and `answer/sampling/service-tier-scale`.
pub(super) fn reported_word<'t>(
    tier: Option<&'t Text<'_>>,
    asking: Asking,
    reporter: &mut Reporter<'_>,
) -> Option<Text<'t>> {
    let tier = tier?;
    report(tier, asking, reporter);
    word(tier, asking, reporter.source(), reporter.target())
}

/// Writes the tier that a request asks for, as the target calls it.
pub(super) fn write(
    object: &mut Object<'_, '_>,
    key: &'static str,
    request: &Request<'_>,
    reporter: &mut Reporter<'_>,
) {
    let word = reported_word(request.service_tier.as_ref(), Asking::Request, reporter);
    object.optional(key, word.as_ref());
}

pub(super) fn report(tier: &Text<'_>, asking: Asking, reporter: &mut Reporter<'_>) {
    let loss = match reporter.is_same() {
        true => None,
        false => translated(&tier.to_str(), asking, reporter.source(), reporter.target()).1,
    };
    match (loss, asking) {
        (None, _) => {}
        (Some((kind, reason)), Asking::Request) => reporter.lose(Field::ServiceTier, kind, reason),
        (Some((kind, reason)), Asking::Answer(place)) => {
            reporter.lose((place, Field::ResponseServiceTier), kind, reason);
        }
    }
}

fn translated(
    word: &str,
    asking: Asking,
    source: Protocol,
    target: Protocol,
) -> (Option<&'static str>, Loss) {
    let Some((tier, misspelled)) = known(word, source, asking) else {
        return (None, Some((LossKind::Dropped, NO_TIER)));
    };
    if tier == Tier::Auto && !source.shares_vendor_with(target) {
        return (None, Some((LossKind::Dropped, AUTO)));
    }
    if let Some(word) = spelled(tier, target, asking) {
        return (Some(word), misspelled);
    }
    let mut nearest = std::iter::successors(tier.nearest(), |tier| tier.nearest());
    match nearest.find_map(|tier| spelled(tier, target, asking)) {
        Some(word) => (Some(word), Some((LossKind::Approximated, NEAREST))),
        None => (None, Some((LossKind::Dropped, NO_TIER))),
    }
}

/// Why a request that leaves the tier to one vendor does not ask another for anything: each makes its choice unasked.
const AUTO: &str = "`auto` is a choice among the tiers of the vendor that was asked";
const NO_TIER: &str = "the vendor has no such tier";
const NEAREST: &str = "the nearest tier that the vendor has";
const MISSPELLED: &str =
    "not a tier of its protocol: read as the one that another spelling or protocol has";

/// The tier that a word of `source`'s protocol means. A word in capitals or of another protocol is a mistake whose meaning is plain.
fn known(word: &str, source: Protocol, asking: Asking) -> Option<(Tier, Loss)> {
    if let Some(tier) = named(word, source, asking) {
        return Some((tier, None));
    }
    let word = word.to_ascii_lowercase();
    let mut protocols = std::iter::once(source).chain(Protocol::ALL);
    let tier = protocols.find_map(|protocol| named(&word, protocol, asking))?;
    Some((tier, Some((LossKind::Repaired, MISSPELLED))))
}

fn named(word: &str, protocol: Protocol, asking: Asking) -> Option<Tier> {
    Tier::ALL.into_iter().find(|tier| spelled(*tier, protocol, asking) == Some(word))
}

fn spelled(tier: Tier, protocol: Protocol, asking: Asking) -> Option<&'static str> {
    let Words { request, answer } = &protocol.codec().tiers;
    match asking {
        Asking::Request => request[tier as usize],
        Asking::Answer(_) => answer[tier as usize],
    }
}
