//! Cache markers for a conversation whose protocol has it cached unasked. This vendor caches what it is told to.

use super::Encoding;
use crate::conversation::{Part, Request};
use crate::loss::LossKind;
use crate::place::Place;
use crate::protocol::object::Object;
use crate::protocol::turns::{Side, Turns};
use crate::target::{CacheMarkers, Target};

/// What is marked of a request that has no markers itself.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Caching<'r> {
    #[default]
    Nothing,
    /// All of it, by one marker of the request.
    Whole,
    /// The tools, the system prompt and the newest turn, by a marker behind each, for servers that know no other.
    Blocks { system: Option<&'r Part<'r>>, newest: Option<&'r Part<'r>> },
}

impl<'r> Caching<'r> {
    /// What to mark. To write a cache costs more than a prompt, so that only what goes on is worth it: what has tools, or an
    /// answer already.
    pub(super) fn of(request: &Request<'_>, target: &Target, turns: &Turns<'r>) -> Self {
        if target.cache == CacheMarkers::Stated || !Self::goes_on(request, turns) {
            return Self::Nothing;
        }
        if target.dialect.automatic_cache {
            return Self::Whole;
        }
        let newest = turns.turns.last().and_then(|turn| turns.pieces_of(turn).last());
        let system = turns.system.last().map(|piece| piece.part);
        Self::Blocks { system, newest: newest.map(|piece| piece.part) }
    }

    /// Whether a request without markers of its own is worth one.
    fn goes_on(request: &Request<'_>, turns: &Turns<'r>) -> bool {
        let is_marked = turns.marks() > 0
            || request.tools.iter().any(|tool| tool.semantics().cache().is_some());
        let has_answer = || turns.turns.iter().any(|turn| turn.side == Side::Assistant);
        !is_marked && (!request.tools.is_empty() || has_answer())
    }

    /// Whether markers stand in blocks, which then are never mere strings: a marker that moves leaves the rest as it was.
    pub(super) fn is_in_blocks(&self) -> bool {
        matches!(self, Self::Blocks { .. })
    }

    /// Whether the prompt may be cached up to a part.
    pub(super) fn marks(&self, part: &Part<'_>) -> bool {
        let Self::Blocks { system, newest } = self else { return false };
        [system, newest].into_iter().flatten().any(|marked| std::ptr::eq(*marked, part))
    }
}

impl Encoding<'_, '_> {
    /// Writes the marker of the whole request, and reports whatever was marked.
    pub(super) fn write_caching(&mut self, body: &mut Object<'_, '_>) {
        match self.caching {
            Caching::Nothing => return,
            Caching::Whole => write_marker(body),
            Caching::Blocks { .. } => {}
        }
        let reason = "Messages caches what is marked, other protocols without being asked";
        self.reporter.below(Place::default(), "/cache_control", LossKind::Synthesised, reason);
    }
}

pub(super) fn write_marker(object: &mut Object<'_, '_>) {
    object.key("cache_control").object(|marker| marker.word("type", "ephemeral"));
}
