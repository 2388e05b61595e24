//! Which of the rules' names are in force for a request. Rules outlive their requests, so that places among them stand for names.

use sabir_wire::conversation::{HostedTool, Request};
use sabir_wire::json::Text;
use sabir_wire::{LossKind, Report};

use crate::govern::Rules;
use crate::govern::hosted::Verdicts;
use crate::govern::request::each;

/// The tools of a request that the model sees under other names, as places among the pairs of names that the rules have.
#[derive(Clone, Debug, Default)]
pub struct Renamed {
    given: Places,
    /// Pairs whose other name another tool has.
    taken: Places,
    /// The tools on offer that have got their other names, counted as they stand.
    offered: Places,
    /// Those whose names are their vendors'.
    hosted: Verdicts,
}

impl Renamed {
    pub fn is_empty(&self) -> bool {
        self.given.is_empty()
    }

    /// The name that the model sees of a client's tool, if that is another.
    pub fn seen<'r>(&self, own: &str, rules: &'r Rules) -> Option<&'r Text<'static>> {
        let place = rules.renaming(own).filter(|place| self.given.contains(*place))?;
        Some(rules.seen(place))
    }

    /// The client's own name of a tool that the model sees under another.
    pub fn own<'r>(&self, seen: &str, rules: &'r Rules) -> Option<&'r str> {
        if self.is_empty() {
            return None;
        }
        let place = rules.givers(seen).find(|place| self.given.contains(*place))?;
        Some(rules.own(place))
    }

    /// Whether a tool may be chosen and called by the client's name for it.
    pub(super) fn allow(&self, own: &str, rules: &Rules) -> bool {
        self.hosted.of(own).unwrap_or_else(|| rules.allows(own))
    }

    /// Notes whether a tool that its vendor names may be offered, which rules may say by others of its names.
    pub(super) fn judge(&mut self, tool: &HostedTool<'_>, is_allowed: bool) {
        self.hosted.add(tool, is_allowed);
    }

    /// Reports the tools of a request that are on offer under other names.
    pub fn report_on(&self, request: &Request<'_>, report: &mut Report) {
        if self.offered.is_empty() {
            return;
        }
        let mut number = 0;
        each(&request.tools, &mut |tool| {
            if self.offered.contains(number) {
                let reason = "the gateway's rules give the tool another name for the model";
                report.lose(tool.semantics().place(), LossKind::Renamed, reason);
            }
            number += 1;
        });
    }

    /// Gives the tool on offer of this number the other name of a pair, if no tool has it.
    #[inline]
    pub(super) fn offer(
        &mut self,
        number: usize,
        (place, rules): (usize, &Rules),
    ) -> Result<(), NameTaken> {
        self.offered.insert(number);
        self.give(place, rules)
    }

    /// Whether a tool can be given the other name of a pair.
    pub(super) fn is_free(&self, place: usize) -> bool {
        !self.taken.contains(place)
    }

    /// Gives a tool the other name of a pair, if no tool has it.
    #[inline]
    pub(super) fn give(&mut self, place: usize, rules: &Rules) -> Result<(), NameTaken> {
        if !self.is_free(place) {
            return Err(NameTaken(place));
        }
        if self.given.contains(place) {
            return Ok(());
        }
        self.given.insert(place);
        if rules.is_shared(place) {
            let seen = rules.seen(place).to_str();
            let others = rules.givers(&seen).filter(|it| *it != place);
            others.for_each(|other| self.taken.insert(other));
        }
        Ok(())
    }

    /// Leaves a tool a name that cannot be changed, also where the rules have another for it.
    pub(super) fn fix(&mut self, name: &str, rules: &Rules) -> Result<(), NameTaken> {
        if let Some(place) = rules.renaming(name) {
            self.taken.insert(place);
        }
        self.keep(name, rules)
    }

    /// Leaves a tool its own name, which nobody else is given then.
    pub(super) fn keep(&mut self, name: &str, rules: &Rules) -> Result<(), NameTaken> {
        rules.givers(name).try_for_each(|place| match self.given.contains(place) {
            true => Err(NameTaken(place)),
            false => {
                self.taken.insert(place);
                Ok(())
            }
        })
    }
}

/// Two tools would have the other name of the pair at this place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NameTaken(pub(super) usize);

/// A set of places. The first of them take no memory of their own, and mostly there are no others.
#[derive(Clone, Debug, Default)]
struct Places {
    first: u64,
    beyond: Option<Box<Beyond>>,
}

#[derive(Clone, Debug, Default)]
struct Beyond(Vec<u64>);

impl Places {
    fn is_empty(&self) -> bool {
        self.first == 0 && self.beyond.is_none()
    }

    #[inline]
    fn contains(&self, place: usize) -> bool {
        let bits = match place / 64 {
            0 => self.first,
            word => {
                let beyond = self.beyond.as_deref();
                beyond.and_then(|it| it.0.get(word - 1)).copied().unwrap_or_default()
            }
        };
        bits & bit(place) != 0
    }

    #[inline]
    fn insert(&mut self, place: usize) {
        match place / 64 {
            0 => self.first |= bit(place),
            _ => self.insert_beyond(place),
        }
    }

    #[cold]
    fn insert_beyond(&mut self, place: usize) {
        let (Beyond(beyond), word) = (&mut **self.beyond.get_or_insert_default(), place / 64);
        beyond.resize(beyond.len().max(word), 0);
        beyond[word - 1] |= bit(place);
    }
}

fn bit(place: usize) -> u64 {
    1 << (place % 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_known_however_many_there_are() {
        let mut places = Places::default();
        let inserted = [0, 63, 64, 65, 1_000];
        inserted.into_iter().for_each(|place| places.insert(place));
        let known: Vec<usize> = (0..2_000).filter(|place| places.contains(*place)).collect();
        assert_eq!(known, inserted);
        assert!(!places.is_empty() && Places::default().is_empty());
    }
}
