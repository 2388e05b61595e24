//! Loss is data: what a translation could not carry over, where it stood, and why.

use std::borrow::Cow;
use std::fmt;

/// Everything that a translation did to its input beyond writing it in another shape.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "a loss that nobody reads is a silent loss"]
pub struct Report {
    entries: Vec<Loss>,
    /// The kinds of which there was more than a report holds, a bit for each.
    more: u8,
}

/// One thing that did not come through as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// JSON pointer into the input; in a stream its first step is the number of the frame.
    pub pointer: String,
    pub kind: LossKind,
    pub reason: Cow<'static, str>,
}

/// How much a [`Loss`] matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LossKind {
    /// The same thing under another name or in another place.
    Renamed,
    /// Stated in the input and not carried, because the target does so anyway.
    Implied,
    /// A value that the target needs and the input lacks; the pointer is where it would stand in the input.
    Synthesised,
    /// The meaning is weakened.
    Approximated,
    /// The input was not valid for any provider and was mended.
    Repaired,
    /// An artefact of another issuer, kept for its own issuer.
    Withheld,
    /// Gone.
    Dropped,
}

impl LossKind {
    pub const ALL: [Self; 7] = [
        Self::Renamed,
        Self::Implied,
        Self::Synthesised,
        Self::Approximated,
        Self::Repaired,
        Self::Withheld,
        Self::Dropped,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Renamed => "renamed",
            Self::Implied => "implied",
            Self::Synthesised => "synthesised",
            Self::Approximated => "approximated",
            Self::Repaired => "repaired",
            Self::Withheld => "withheld",
            Self::Dropped => "dropped",
        }
    }

    /// Whether such a loss can change the answer; the others are bookkeeping.
    pub fn matters(self) -> bool {
        match self {
            Self::Renamed | Self::Implied | Self::Synthesised => false,
            Self::Approximated | Self::Repaired | Self::Withheld | Self::Dropped => true,
        }
    }
}

impl fmt::Display for LossKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How many entries most reports have, so that they seldom grow.
const FEW: usize = 8;

/// How many entries a report holds: ten times those of the longest conversations. An input can have a place for a loss in every
/// three bytes, and a report of all would take thirty times its memory.
const ENTRIES_MAX: usize = 20_000;

/// The reason of all further losses of a kind.
const MORE: &str = "so it was from here on in more places than a report holds";

impl Report {
    /// Says what happened at `pointer`.
    pub fn lose(
        &mut self,
        pointer: impl Into<String>,
        kind: LossKind,
        reason: impl Into<Cow<'static, str>>,
    ) {
        if self.entries.is_empty() {
            self.entries.reserve(FEW);
        }
        self.push(Loss { pointer: pointer.into(), kind, reason: reason.into() });
    }

    /// Adds an entry, or beyond the limit one for its whole kind: a strict policy must learn of every kind.
    fn push(&mut self, loss: Loss) {
        if self.entries.len() < ENTRIES_MAX {
            self.entries.push(loss);
            return;
        }
        let bit = 1 << loss.kind as u8;
        if self.more & bit == 0 {
            self.more |= bit;
            self.entries.push(Loss { reason: MORE.into(), ..loss });
        }
    }

    /// Takes over the entries of another report.
    pub fn extend(&mut self, other: Report) {
        if self.is_empty() {
            *self = other;
            return;
        }
        if self.entries.len() + other.entries.len() > ENTRIES_MAX {
            other.entries.into_iter().for_each(|loss| self.push(loss));
            return;
        }
        self.entries.extend(other.entries);
    }

    pub fn entries(&self) -> &[Loss] {
        &self.entries
    }

    pub fn into_entries(self) -> Vec<Loss> {
        self.entries
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many entries there are of one kind.
    pub fn count(&self, kind: LossKind) -> usize {
        self.entries.iter().filter(|loss| loss.kind == kind).count()
    }

    /// The entries that a strict policy refuses.
    pub fn drops(&self) -> impl Iterator<Item = &Loss> {
        self.entries.iter().filter(|loss| loss.kind == LossKind::Dropped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_ends_and_still_tells_of_every_kind() {
        let mut report = Report::default();
        for number in 0..ENTRIES_MAX + 10 {
            report.lose(format!("/{number}"), LossKind::Implied, "a");
        }
        report.lose("/x", LossKind::Dropped, "b");
        report.lose("/y", LossKind::Dropped, "b");
        assert_eq!(report.entries().len(), ENTRIES_MAX + 2);
        let [.., implied, dropped] = report.entries() else { panic!("two entries for the rest") };
        assert_eq!((&*implied.pointer, &*implied.reason), ("/20000", MORE));
        assert_eq!((&*dropped.pointer, dropped.kind), ("/x", LossKind::Dropped));
        let mut other = Report::default();
        other.lose("/z", LossKind::Repaired, "c");
        other.extend(report.clone());
        assert_eq!(other.entries().len(), ENTRIES_MAX + 2);
        assert_eq!(other.drops().count(), 1);
    }
}
