//! What an answer cost, in counts that mean the same for every vendor.

use std::ops::{Index, IndexMut};

use crate::owned::into_owned;
use crate::place::Place;
use crate::protocol::NodeSemantics;

/// One of the counts of a usage report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// All input: uncached, read from cache, written to cache and tool results fed back.
    Input,
    CacheRead,
    CacheWrite,
    CacheWrite5m,
    CacheWrite1h,
    /// Results of hosted tools that were fed back; part of the input.
    ToolPrompt,
    /// All output, reasoning included.
    Output,
    Reasoning,
    /// The vendor's own sum of everything.
    Total,
}

impl Count {
    pub const ALL: [Self; 9] = [
        Self::Input,
        Self::CacheRead,
        Self::CacheWrite,
        Self::CacheWrite5m,
        Self::CacheWrite1h,
        Self::ToolPrompt,
        Self::Output,
        Self::Reasoning,
        Self::Total,
    ];

    /// The name of the count where Sabir shows what it understood.
    pub fn name(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::CacheRead => "cacheRead",
            Self::CacheWrite => "cacheWrite",
            Self::CacheWrite5m => "cacheWrite5m",
            Self::CacheWrite1h => "cacheWrite1h",
            Self::ToolPrompt => "toolPrompt",
            Self::Output => "output",
            Self::Reasoning => "reasoning",
            Self::Total => "total",
        }
    }
}

/// Token counts. What the vendor did not report is absent, not zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts([Option<u64>; Count::ALL.len()]);

impl Counts {
    /// Takes what a later report says and keeps the rest: reports of usage are cumulative.
    pub fn update(&mut self, later: Self) {
        for (count, later) in self.0.iter_mut().zip(&later.0) {
            *count = later.or(*count);
        }
    }
}

impl Index<Count> for Counts {
    type Output = Option<u64>;

    fn index(&self, count: Count) -> &Option<u64> {
        &self.0[count as usize]
    }
}

impl IndexMut<Count> for Counts {
    fn index_mut(&mut self, count: Count) -> &mut Option<u64> {
        &mut self.0[count as usize]
    }
}

/// A usage report.
#[derive(Clone, Debug, Default)]
pub struct Usage<'a> {
    pub counts: Counts,
    pub(crate) semantics: NodeSemantics<'a>,
    /// Where the counts stand that only a later report of a stream had.
    pub(crate) later: Vec<(Count, Place)>,
}

impl<'a> Usage<'a> {
    /// A report of the input alone.
    pub(crate) fn of_input(tokens: u64) -> Self {
        let mut usage = Self::default();
        usage.counts[Count::Input] = Some(tokens);
        usage
    }

    /// What the wire stated about the usage beyond these counts.
    pub fn semantics(&self) -> &NodeSemantics<'a> {
        &self.semantics
    }

    pub(crate) fn semantics_mut(&mut self) -> &mut NodeSemantics<'a> {
        &mut self.semantics
    }

    /// Takes what a later report says and keeps the rest.
    pub fn update(&mut self, later: Usage<'a>) {
        self.update_counts(&later.counts, later.semantics.place());
        self.semantics.merge(later.semantics);
    }

    fn update_counts(&mut self, counts: &Counts, place: Place) {
        let is_elsewhere = place != self.semantics.place();
        for count in Count::ALL.into_iter().filter(|it| counts[*it].is_some()) {
            if is_elsewhere && self.counts[count].is_none() {
                self.later.push((count, place));
            }
            self.counts[count] = counts[count];
        }
    }

    /// Adds this report to what earlier ones said, if there were any.
    pub(crate) fn add_to(self, known: &mut Option<Usage<'static>>) {
        match known {
            Some(known) => {
                known.update_counts(&self.counts, self.semantics.place());
                known.semantics.merge(self.semantics.into_owned());
            }
            None => *known = Some(self.into_owned()),
        }
    }

    /// Where the report stands that first had a count. A later report may take a count over from an earlier one.
    pub(crate) fn place_of(&self, count: Count) -> Place {
        let later = self.later.iter().find(|(it, _)| *it == count);
        later.map_or(self.semantics.place(), |(_, place)| *place)
    }
}

into_owned! {
    pub struct Usage { counts, semantics, later }
}
