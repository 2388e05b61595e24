//! The branch that the conversation ended on: the last line that was said, and all lines before it. Others were rewound, are
//! before a compaction, or are a sub-agent's.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::super::left_out::Tally;
use super::message::{Speaker, answered_by, called_by};
use super::{Node, NodeKind};

/// The lines of the conversation in their order.
pub(super) fn of<'n, 'a>(nodes: &'n [Node<'a>], left_out: &mut Tally) -> Vec<&'n Node<'a>> {
    let tree = Tree::of(nodes);
    let mut branch = tree.branch();
    tree.add_siblings(&mut branch);
    tree.count_others(&branch, left_out);
    let mut places: Vec<(usize, usize)> = branch.places.into_iter().collect();
    // What a compaction kept stands behind the line that it names, everything else where it was written.
    places.sort_unstable_by_key(|(at, place)| (*place, at != place, *at));
    places.into_iter().map(|(at, _)| &nodes[at]).collect()
}

struct Tree<'n, 'a> {
    nodes: &'n [Node<'a>],
    by_uuid: HashMap<&'n str, usize>,
}

/// The lines of a branch, each with its place.
#[derive(Default)]
struct Branch {
    places: HashMap<usize, usize>,
    /// The compaction that it begins with.
    compaction: Option<usize>,
    /// How many of its lines name one that is missing.
    gaps: usize,
}

impl<'n, 'a> Tree<'n, 'a> {
    fn of(nodes: &'n [Node<'a>]) -> Self {
        let named = nodes.iter().enumerate();
        let by_uuid = named.filter_map(|(at, node)| Some((node.uuid.as_deref()?, at))).collect();
        Self { nodes, by_uuid }
    }

    fn find(&self, uuid: Option<&Cow<'_, str>>) -> Option<usize> {
        self.by_uuid.get(&**uuid?).copied()
    }

    fn is_message(&self, at: usize) -> bool {
        self.nodes[at].piece().is_some() && !self.nodes[at].is_aside
    }

    fn branch(&self) -> Branch {
        let mut branch = Branch::default();
        let mut next = (0..self.nodes.len()).rev().find(|at| self.is_message(*at));
        while let Some(at) = next {
            if branch.places.insert(at, at).is_some() {
                // A file whose lines go round in circles.
                break;
            }
            let node = &self.nodes[at];
            next = self.before(at, &mut branch);
            if let NodeKind::Kept { anchor, lines } = &node.kind {
                let place = self.find(anchor.as_ref()).unwrap_or(at);
                let kept = lines.iter().filter_map(|uuid| self.find(Some(uuid)));
                kept.for_each(|at| _ = branch.places.entry(at).or_insert(place));
            }
            branch.compaction = Some(at).filter(|_| node.is_compaction);
        }
        branch
    }

    /// The line that a line names as the one before it; where that is missing, the last that was said before it.
    fn before(&self, at: usize, branch: &mut Branch) -> Option<usize> {
        let parent = self.nodes[at].parent.as_ref();
        let found = self.find(parent);
        if parent.is_none() || found.is_some() {
            return found;
        }
        branch.gaps += 1;
        (0..at).rev().find(|at| self.is_message(*at))
    }

    /// Lines beside the branch that belong to it: an answer has a line for each block, and each of several results names the
    /// call that it answers as the line before it.
    fn add_siblings(&self, branch: &mut Branch) {
        let mut answers = HashSet::new();
        for (at, place) in &branch.places {
            let id = self.nodes[*at].piece().and_then(|piece| piece.id.as_deref());
            answers.extend(id.filter(|_| at == place));
        }
        let is_beside =
            |branch: &Branch, at: &usize| self.is_message(*at) && !branch.places.contains_key(at);
        let beside = (0..self.nodes.len()).filter(|at| is_beside(branch, at));
        let of_answers = beside.filter(|at| {
            let id = self.nodes[*at].piece().and_then(|piece| piece.id.as_deref());
            id.is_some_and(|id| answers.contains(id))
        });
        let of_answers: Vec<usize> = of_answers.collect();
        branch.places.extend(of_answers.into_iter().map(|at| (at, at)));
        let mut open = self.open_calls(branch);
        for at in 0..self.nodes.len() {
            let Some(piece) = self.nodes[at].piece() else { continue };
            let answers = piece.blocks.iter().filter_map(answered_by);
            if is_beside(branch, &at) && answers.fold(false, |any, id| open.remove(&*id) | any) {
                branch.places.insert(at, at);
            }
        }
    }

    /// The calls of a branch that no line of it answers.
    fn open_calls(&self, branch: &Branch) -> HashSet<String> {
        let pieces = branch.places.keys().filter_map(|at| self.nodes[*at].piece());
        let (answers, users): (Vec<_>, Vec<_>) =
            pieces.partition(|piece| piece.speaker == Speaker::Assistant);
        let calls = answers.iter().flat_map(|piece| piece.blocks.iter().filter_map(called_by));
        let mut open: HashSet<String> = calls.map(Cow::into_owned).collect();
        for id in users.iter().flat_map(|piece| piece.blocks.iter().filter_map(answered_by)) {
            open.remove(&*id);
        }
        open
    }

    fn count_others(&self, branch: &Branch, left_out: &mut Tally) {
        left_out.add_many("lines that are missing from the file", branch.gaps);
        for (at, node) in self.nodes.iter().enumerate() {
            if node.piece().is_none() || branch.places.contains_key(&at) {
                continue;
            }
            left_out.add(match node {
                node if node.is_aside => "lines of sub-agents",
                _ if branch.compaction.is_some_and(|border| at < border) => {
                    "lines before a compaction"
                }
                _ => "lines of branches that were left",
            });
        }
    }
}
