//! Aligning two lists of parts: which became which, and which several became one.

use super::compare::{Change, Comparison, Difference, same_facts};
use super::part::{TEXT, TEXTS};
use super::{Fact, Node, normal};

impl Comparison<'_> {
    /// Aligns two lists so that as little as possible differs.
    pub(super) fn lists(&self, before: &[Node], after: &[Node]) -> Vec<Difference> {
        let pair = |one: &Node, other: &Node| {
            let is_same =
                one.sort == other.sort && same_facts(one, other) && same_facts(other, one);
            is_same && self.pair(one, other).is_empty()
        };
        let head = before.iter().zip(after).take_while(|(one, other)| pair(one, other)).count();
        let tail = (before[head..].iter().rev().zip(after[head..].iter().rev()))
            .take_while(|(one, other)| pair(one, other))
            .count();
        // One on each side stays: it is the neighbour of what may be added there.
        let (head, tail) = (head.saturating_sub(1), tail.saturating_sub(1));
        self.align(&before[head..before.len() - tail], &after[head..after.len() - tail])
    }

    fn align(&self, before: &[Node], after: &[Node]) -> Vec<Difference> {
        let steps = self.steps(before, after);
        let (mut i, mut j, mut differences) = (0, 0, Vec::new());
        while i < before.len() || j < after.len() {
            let Step { taken, .. } = &steps[i][j];
            let (from, to) = (*taken).unwrap_or((1, 1));
            differences.extend(self.step(before, after, (i, j), (from, to)));
            (i, j) = (i + from, j + to);
        }
        differences
    }

    /// The differences of taking `from` nodes before and `to` nodes after as one step.
    fn step(
        &self,
        before: &[Node],
        after: &[Node],
        (i, j): (usize, usize),
        (from, to): (usize, usize),
    ) -> Vec<Difference> {
        match (from, to) {
            (1, 1) => self.pair(&before[i], &after[j]),
            (1, 0) => self.gone(&before[i]),
            (0, 1) => {
                let neighbours = [before.get(i.wrapping_sub(1)), before.get(i)];
                let neighbours: Vec<&Node> = neighbours.into_iter().flatten().collect();
                self.added(&after[j], &neighbours)
            }
            _ => Vec::new(),
        }
    }

    /// How many neighbours may have become this one text: their texts in order, line by line or at once. What the report
    /// speaks of may be told between them in other words.
    fn joined(&self, before: &[Node], after: &Node) -> Vec<usize> {
        let mut counts = Vec::new();
        let Some(text) = text_of(after) else { return counts };
        // What is left of it, in as many ways as the pieces so far can stand in it.
        let (mut rests, mut is_free) = (vec![text], false);
        for (index, node) in before.iter().enumerate() {
            if is_empty(node) {
                continue;
            }
            if self.is_to_be_elsewhere(node) {
                break;
            }
            if self.is_covered(&node.place, Change::Altered) {
                is_free = true;
            } else if self.is_reported_beside_no_words(node) {
                continue;
            } else {
                let text = text_of(node).filter(|_| node.sort == after.sort);
                // What a model says is one text in whatever pieces. What others say has its borders.
                let Some(text) = text else { break };
                let begins = |rest: &str| index == 0 || is_text(node) || rest.starts_with('\n');
                rests.retain(|rest| is_free || begins(rest));
                rests = all_behind(&rests, text, is_free);
                is_free = false;
            }
            if rests.is_empty() {
                break;
            }
            let run = &before[..=index];
            let is_whole = is_free || rests.contains(&"");
            if index > 0 && is_whole && self.has_same_notes(run, after) {
                counts.push(index + 1);
            }
        }
        counts
    }

    /// Whether a text has no words, and the report says of all that stands beside them that it is gone.
    fn is_reported_beside_no_words(&self, node: &Node) -> bool {
        text_of(node) == Some("")
            && notes(node).all(|fact| self.is_covered(&fact.pointer, Change::Gone))
    }

    /// Whether one text has of what is said beside it what its pieces have together, or the report says otherwise.
    fn has_same_notes(&self, pieces: &[Node], whole: &Node) -> bool {
        let all: Vec<&Fact> = pieces.iter().flat_map(notes).collect();
        let is_there = |fact: &&Fact| notes(whole).any(|it| normal::same(&it.value, &fact.value));
        let is_known = |fact: &Fact| {
            let is_stated = all.iter().any(|it| {
                normal::same(&it.value, &fact.value)
                    || self.is_covered(&it.pointer, Change::Altered)
            });
            is_stated || self.is_other_citation(fact)
        };
        all.iter().all(|fact| is_there(fact) || self.is_covered(&fact.pointer, Change::Gone))
            && notes(whole).all(is_known)
    }

    /// Whether the pieces of one text have together of what is said beside it what it has, or the report says otherwise.
    fn share_notes(&self, whole: &Node, pieces: &[Node]) -> bool {
        let stated = |fact: &Fact, nodes: &[Node]| {
            nodes.iter().flat_map(notes).any(|it| normal::same(&it.value, &fact.value))
        };
        let is_kept =
            |fact: &Fact| stated(fact, pieces) || self.is_covered(&fact.pointer, Change::Gone);
        let known = std::slice::from_ref(whole);
        notes(whole).all(is_kept) && pieces.iter().flat_map(notes).all(|it| stated(it, known))
    }

    /// How many neighbouring texts this one became, word for word.
    fn split(&self, before: &Node, after: &[Node]) -> Option<usize> {
        let mut rest = text_of(before)?;
        let is_same =
            |run: &[Node]| self.has_same_notes(run, before) || self.share_notes(before, run);
        for (index, node) in after.iter().enumerate() {
            rest = rest.strip_prefix(text_of(node).filter(|_| node.sort == before.sort)?)?;
            let run = &after[..=index];
            if index > 0 && rest.is_empty() && is_same(run) {
                return Some(index + 1);
            }
        }
        None
    }

    /// For each place in both lists, the cheapest step onwards.
    fn steps(&self, before: &[Node], after: &[Node]) -> Vec<Vec<Step>> {
        let (rows, columns) = (before.len(), after.len());
        let mut steps = vec![vec![Step::default(); columns + 1]; rows + 1];
        for i in (0..=rows).rev() {
            for j in (0..=columns).rev() {
                if (i, j) == (rows, columns) {
                    continue;
                }
                let mut choices = vec![];
                if i < rows && j < columns {
                    if before[i].sort == after[j].sort {
                        choices.push((1, 1));
                    }
                    let joined = self.joined(&before[i..], &after[j]).into_iter();
                    choices.extend(joined.map(|count| (count, 1)));
                    choices.extend(self.split(&before[i], &after[j..]).map(|count| (1, count)));
                }
                choices.extend((i < rows).then_some((1, 0)));
                choices.extend((j < columns).then_some((0, 1)));
                let cost = |(from, to): (usize, usize)| {
                    let here = self.step(before, after, (i, j), (from, to)).len();
                    here + steps[i + from][j + to].cost
                };
                let best = choices.into_iter().map(|it| (cost(it), it)).min_by_key(|it| it.0);
                if let Some((cost, taken)) = best {
                    steps[i][j] = Step { cost, taken: Some(taken) };
                }
            }
        }
        steps
    }
}

#[derive(Clone, Default)]
struct Step {
    cost: usize,
    taken: Option<(usize, usize)>,
}

/// What may be left of texts behind another: where that may stand behind other words, they may hold it as well.
fn all_behind<'t>(texts: &[&'t str], piece: &str, is_free: bool) -> Vec<&'t str> {
    let mut all: Vec<&str> = match is_free {
        false => texts.iter().filter_map(|text| behind(text, piece, false)).collect(),
        true => (texts.iter())
            .flat_map(|text| text.char_indices().map(|(at, _)| &text[at..]).chain([""]))
            .filter_map(|text| text.strip_prefix(piece))
            .collect(),
    };
    // All of them are ends of one text.
    all.sort_unstable_by_key(|rest| rest.len());
    all.dedup();
    all
}

/// What is left of a text behind another that it begins with, or holds if it is free to say more before it.
pub(super) fn behind<'t>(text: &'t str, piece: &str, is_free: bool) -> Option<&'t str> {
    if is_free {
        return Some(&text[text.find(piece)? + piece.len()..]);
    }
    let line = text.strip_prefix('\n').and_then(|line| line.strip_prefix(piece));
    line.or_else(|| text.strip_prefix(piece))
}

/// Whether a model says it.
fn is_text(node: &Node) -> bool {
    ["answer", "assistant"].iter().any(|speaker| node.sort.starts_with(speaker))
}

fn is_empty(node: &Node) -> bool {
    node.facts.iter().all(|fact| normal::is_void(&fact.value))
}

/// The text of a node, or of a thought that is one text.
pub(super) fn text_of(node: &Node) -> Option<&str> {
    let fact = node.facts.iter().find(|fact| [TEXT, TEXTS].contains(&&*fact.name))?;
    match fact.value.as_array().filter(|_| fact.name == TEXTS) {
        Some(texts) => texts.first().filter(|_| texts.len() == 1)?.as_str(),
        None => Some(fact.value.as_str().unwrap_or("")),
    }
}

/// What is said beside the text of a node.
pub(super) fn notes(node: &Node) -> impl Iterator<Item = &Fact> {
    node.facts
        .iter()
        .filter(|fact| ![TEXT, TEXTS].contains(&&*fact.name) && !normal::is_void(&fact.value))
}
