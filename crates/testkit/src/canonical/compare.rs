//! Comparing two statements: every difference, unless the report has an entry for it.

use std::fmt;

use sabir_wire::protocol::{Fate, Field};
use sabir_wire::{Loss, LossKind, Report};
use serde_json::Value;

use super::align::{behind, notes, text_of};
use super::part::{CITATION, KIND, LOGPROBS, MEDIA, RESULT_MEDIA, TEXT, USER_MEDIA};
use super::values::{is_within, leaves, strings};
use super::{Fact, Group, Node, Statement, defaults, normal};

/// Something that arrived otherwise, and where it stood.
#[derive(Clone, Debug)]
pub struct Difference {
    pub pointer: String,
    name: String,
    before: Value,
    after: Value,
}

impl Difference {
    /// What sort of statement it is.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether both are about the same statement, wherever it stood: one may be a piece of the other.
    pub fn is_same_as(&self, other: &Self) -> bool {
        let is_piece = is_within(&self.before, &strings(&other.before).concat())
            || is_within(&other.before, &strings(&self.before).concat());
        let is_same = normal::same(&self.before, &other.before);
        // What was added is known by what it is.
        let is_added = normal::is_void(&self.before) && normal::is_void(&other.before);
        let is_same = is_same && (!is_added || normal::same(&self.after, &other.after));
        self.name == other.name && (is_piece || is_same)
    }

    /// What was stated.
    pub fn before(&self) -> &Value {
        &self.before
    }

    /// The text of what was stated.
    pub(super) fn words(&self) -> Vec<&str> {
        strings(&self.before)
    }

    /// Whether it is a text that both statements hold, in other pieces and white space apart.
    pub fn is_recut(&self, before: &Statement, after: &Statement) -> bool {
        match self.name.as_str() {
            TEXT => after.holds_text(&strings(&self.before)),
            "added assistant text" => before.holds_text(&strings(&self.after)),
            _ => false,
        }
    }

    /// Whether a fact was added that was not stated there.
    pub(super) fn is_addition_of(&self, name: &str, value: &Value) -> bool {
        normal::is_void(&self.before) && self.name == name && normal::same(&self.after, value)
    }

    /// Whether this is there in place of what was stated, or of nothing.
    pub(super) fn is_change_to(&self, name: &str, value: &Value) -> bool {
        !self.is_gone() && self.name == name && normal::same(&self.after, value)
    }

    /// Whether nothing is there in place of what was stated.
    pub(super) fn is_gone(&self) -> bool {
        normal::is_void(&self.after)
    }

    /// Whether it is about what only its issuer can read.
    pub fn is_sealed(&self) -> bool {
        [Field::Signature, Field::Ciphertext].iter().any(|field| field.name() == self.name)
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = |value: &Value| value.to_string().chars().take(90).collect::<String>();
        let Self { pointer, name, before, after } = self;
        write!(f, "{pointer} ({name}): {} became {}", short(before), short(after))
    }
}

pub(super) fn compare(before: &Statement, after: &Statement, report: &Report) -> Vec<Difference> {
    let comparison = Comparison { before, after, entries: report.entries() };
    let mut differences = comparison.facts(&before.facts, &after.facts, "");
    for (before, after) in before.lists.iter().zip(&after.lists) {
        differences.extend(comparison.lists(before, after));
    }
    differences
}

pub(super) struct Comparison<'c> {
    before: &'c Statement,
    after: &'c Statement,
    entries: &'c [Loss],
}

const TOTAL: &str = "usage: total";
const ARRIVED: &str = ", reported as dropped and arrived";

/// What became of a fact.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Gone,
    Added,
    Altered,
}

impl Comparison<'_> {
    fn facts(&self, before: &[Fact], after: &[Fact], place: &str) -> Vec<Difference> {
        let mut differences = Vec::new();
        for fact in before {
            let there = after.iter().find(|it| it.name == fact.name);
            let value = there.map_or(&Value::Null, |it| &it.value);
            self.values(fact, value, before, &mut differences);
        }
        differences.retain(|it| !it.name.ends_with(ARRIVED) || !is_one_gone(it, before, after));
        for added in after.iter().filter(|it| before.iter().all(|fact| fact.name != it.name)) {
            // One more of its sort stands where the others do.
            let sort = |name: &str| name.split(' ').next().unwrap_or_default().to_owned();
            let alike = before.iter().find(|fact| sort(&fact.name) == sort(&added.name));
            let pointer = alike.map_or(place, |fact| &fact.pointer).to_owned();
            let unstated = Fact { value: Value::Null, pointer, ..added.clone() };
            self.values(&unstated, &added.value, before, &mut differences);
        }
        differences
    }

    fn values(&self, fact: &Fact, after: &Value, all: &[Fact], differences: &mut Vec<Difference>) {
        let before = &fact.value;
        let differ = |pointer: &str, before: &Value, after: &Value| Difference {
            pointer: pointer.to_owned(),
            name: fact.name.clone(),
            before: before.clone(),
            after: after.clone(),
        };
        if normal::same(before, after) {
            // The tokens of one text stand in several frames, of which one may be dropped.
            let origin = fact.origin.as_ref().filter(|_| fact.name == LOGPROBS);
            let place = origin.unwrap_or(&fact.pointer);
            if !self.is_unstated(fact) && self.has(place, |it| it == LossKind::Dropped) {
                differences.push(Difference {
                    name: format!("{}{ARRIVED}", fact.name),
                    ..differ(&fact.pointer, before, after)
                });
            }
            return;
        }
        let protocol = (self.before.protocol, self.after.protocol);
        if normal::is_void(before) && defaults::is_default(protocol.0, &fact.name, after)
            || normal::is_void(after) && defaults::is_default(protocol.1, &fact.name, before)
        {
            return;
        }
        let change = match (normal::is_void(before), normal::is_void(after)) {
            (true, _) => Change::Added,
            (_, true) => Change::Gone,
            (false, false) => Change::Altered,
        };
        if fact.name == TEXT && change != Change::Added && self.is_mere_move(&fact.pointer) {
            // Words under another name or in another place are the same words.
            if !before.as_str().is_none_or(|text| self.arrives(text)) {
                differences.push(differ(&fact.pointer, before, after));
            }
            return;
        }
        if self.is_covered(&fact.pointer, change)
            || change == Change::Added && self.is_other_citation(fact)
            || self.is_regrouped(fact, all, change)
            || self.is_needless(fact, change)
        {
            return;
        }
        let mut inner = Vec::new();
        leaves(before, after, &fact.pointer, &mut inner);
        for (pointer, before, after) in inner {
            let change = match (normal::is_void(&before), normal::is_void(&after)) {
                (true, _) => Change::Added,
                (_, true) => Change::Gone,
                (false, false) => Change::Altered,
            };
            if !self.is_covered(&pointer, change) {
                differences.push(differ(&pointer, &before, &after));
            }
        }
    }

    fn is_unstated(&self, fact: &Fact) -> bool {
        normal::is_void(&fact.value)
            || defaults::is_default(self.before.protocol, &fact.name, &fact.value)
            || defaults::is_default(self.after.protocol, &fact.name, &fact.value)
    }

    /// Whether a text is given a source that the report says of another text.
    pub(super) fn is_other_citation(&self, added: &Fact) -> bool {
        let is_citation = |fact: &&Fact| fact.name.starts_with(CITATION);
        let mut others = self.before.lists.iter().flatten().flat_map(|node| &node.facts);
        added.name.starts_with(CITATION)
            && others.any(|it| is_citation(&it) && self.is_covered(&it.pointer, Change::Altered))
    }

    /// Whether the target's table says of a setting that it need not be stated there.
    fn is_needless(&self, fact: &Fact, change: Change) -> bool {
        let field = Field::ALL.iter().find(|field| field.name() == fact.name);
        let fate = field.map(|field| self.after.protocol.fate(*field));
        let is_no_sum = fact.name == TOTAL && self.after.states(Group::Usage);
        change == Change::Gone && (matches!(fate, Some(Fate::Implied(_))) || is_no_sum)
    }

    /// Whether something is added that says in another way what the report says of a fact of the same group.
    fn is_regrouped(&self, fact: &Fact, all: &[Fact], change: Change) -> bool {
        let is_reported = |it: &Fact| match normal::is_void(&it.value) {
            true => self.is_covered(&it.pointer, Change::Added),
            false => self.is_covered(&it.pointer, Change::Altered),
        };
        change == Change::Added
            && match fact.group {
                Group::Alone => false,
                // A total that is no sum of the other counts is read in more than one way.
                Group::Usage => all
                    .iter()
                    .filter(|it| it.group == Group::Usage)
                    .any(|it| it.name == TOTAL && !normal::is_void(&it.value) || is_reported(it)),
                Group::Spelling => true,
                group => all.iter().filter(|it| it.group == group).any(is_reported),
            }
    }

    /// Whether an entry is about such a change at this place or above it. The root pointer covers nothing.
    pub(super) fn is_covered(&self, pointer: &str, change: Change) -> bool {
        self.has(pointer, |kind| match (change, kind) {
            (Change::Gone, kind) => kind != LossKind::Synthesised,
            (Change::Added, kind) => !matches!(kind, LossKind::Implied | LossKind::Withheld),
            (Change::Altered, kind) => !matches!(kind, LossKind::Implied | LossKind::Synthesised),
        })
    }

    fn has(&self, pointer: &str, is_wanted: impl Fn(LossKind) -> bool) -> bool {
        self.entries.iter().any(|it| is_wanted(it.kind) && is_below(pointer, &it.pointer))
    }

    pub(super) fn pair(&self, before: &Node, after: &Node) -> Vec<Difference> {
        self.facts(&before.facts, &after.facts, &before.place)
    }

    /// What is missing with a node that did not arrive.
    pub(super) fn gone(&self, node: &Node) -> Vec<Difference> {
        if !self.is_covered(&node.place, Change::Gone) {
            return self.facts(&node.facts, &[], &node.place);
        }
        let stated = node.facts.iter().find(|fact| !normal::is_void(&fact.value));
        let Some(fact) = stated.filter(|_| self.is_to_be_elsewhere(node)) else {
            return Vec::new();
        };
        let (pointer, name) = (node.place.clone(), format!("{} that moves", node.sort));
        vec![Difference { pointer, name, before: fact.value.clone(), after: Value::Null }]
    }

    /// Whether something is missing of which nothing is said but that it, or what it stands in, is arranged otherwise: then it
    /// has to arrive somewhere.
    pub(super) fn is_to_be_elsewhere(&self, node: &Node) -> bool {
        let mut others = self.after.lists.iter().flatten();
        if node.sort.ends_with(MEDIA) && self.is_covered(&node.place, Change::Gone) {
            let is_lost = |kind| !matches!(kind, LossKind::Renamed | LossKind::Approximated);
            let is_own = |entry: &Loss| is_below(&entry.pointer, &node.place);
            return !self.has(&node.place, is_lost)
                && !self.entries.iter().any(is_own)
                && !others.any(|it| it.sort.ends_with(MEDIA) && has_no_more(it, node));
        }
        self.is_mere_move(&node.place) && !text_of(node).is_none_or(|text| self.arrives(text))
    }

    /// Whether the report says of a place that it is another, and nothing else.
    fn is_mere_move(&self, pointer: &str) -> bool {
        self.has(pointer, |kind| kind == LossKind::Renamed)
            && !self.has(pointer, |kind| kind != LossKind::Renamed)
    }

    /// Whether a text stands somewhere, if only in pieces.
    fn arrives(&self, text: &str) -> bool {
        let texts = self.after.lists.iter().flatten().filter_map(text_of);
        texts.collect::<String>().contains(text.trim())
    }

    /// What is there with a node that came from nowhere: it may replace a neighbour, or be reported beside one.
    pub(super) fn added(&self, node: &Node, neighbours: &[&Node]) -> Vec<Difference> {
        let is_stated = |fact: &&Fact| !normal::is_void(&fact.value);
        let Some(fact) = node.facts.iter().find(is_stated) else { return Vec::new() };
        let replaces = |it: &&Node| {
            let is_dropped = self.has(&it.place, |kind| kind == LossKind::Dropped);
            let arrived = it.sort == node.sort && same_facts(it, node);
            self.is_covered(&it.place, Change::Altered)
                && !(is_dropped && arrived)
                && !self.has_arrived(it)
        };
        let is_made_up = self.entries.iter().any(|entry| {
            let is_near = |it: &&Node| {
                is_below(&it.place, &entry.pointer) || is_below(&entry.pointer, &it.place)
            };
            matches!(entry.kind, LossKind::Synthesised | LossKind::Repaired)
                && (neighbours.is_empty() || neighbours.iter().any(is_near))
        });
        let is_moved = self.before.lists.iter().flatten().any(|it| {
            let is_changed = |kind| matches!(kind, LossKind::Renamed | LossKind::Approximated);
            is_alike(node, it) && has_no_more(node, it) && self.has(&it.place, is_changed)
        });
        let is_moved = is_moved || self.is_moved_together(node) || self.is_moved_run(node);
        let asks_for_json = text_of(node).is_some_and(|text| text.contains("JSON"));
        let is_asked = asks_for_json && self.is_instruction_reported();
        let is_moved = is_moved || self.is_moved_placeholder(node);
        if is_made_up || is_asked || is_moved || neighbours.iter().any(replaces) {
            return Vec::new();
        }
        let pointer = neighbours.first().map_or(String::new(), |it| it.place.clone());
        let (name, after) = (format!("added {}", node.sort), fact.value.clone());
        vec![Difference { pointer, name, before: Value::Null, after }]
    }

    /// Whether a text stands for media that the report says are gone, in something that stands elsewhere.
    fn is_moved_placeholder(&self, node: &Node) -> bool {
        let Some(kind) =
            text_of(node).and_then(|it| it.strip_prefix('[')?.strip_suffix(" omitted]"))
        else {
            return false;
        };
        let is_lost = |kind| matches!(kind, LossKind::Withheld | LossKind::Dropped);
        let is_kind = |fact: &Fact| {
            fact.name == KIND && fact.value.as_str().is_some_and(|it| it.eq_ignore_ascii_case(kind))
        };
        let is_gone = |it: &&Node| {
            let is_speaker = it.sort.split(' ').next() == node.sort.split(' ').next();
            is_speaker && it.facts.iter().any(is_kind) && self.has(&it.place, is_lost)
        };
        let gone: Vec<&Node> = self.before.lists.iter().flatten().filter(is_gone).collect();
        let is_moved = |it: &&Node| self.has(&it.place, |kind| kind == LossKind::Renamed);
        let is_alike = |it: &&Node| it.sort == node.sort && text_of(it) == text_of(node);
        let count = self.after.lists.iter().flatten().filter(is_alike).count();
        gone.iter().any(is_moved) && count <= gone.len()
    }

    /// Whether all nodes that state the same as this one are there.
    fn has_arrived(&self, node: &Node) -> bool {
        let is_same =
            |it: &&Node| it.sort == node.sort && same_facts(node, it) && same_facts(it, node);
        let count = |it: &Statement| it.lists.iter().flatten().filter(is_same).count();
        count(self.after) >= count(self.before)
    }

    /// Whether a text is that of several that the report says stand elsewhere, line by line.
    fn is_moved_together(&self, node: &Node) -> bool {
        let is_changed = |kind| matches!(kind, LossKind::Renamed | LossKind::Approximated);
        let is_moved = |it: &&Node| it.sort == node.sort && self.has(&it.place, is_changed);
        let pieces = self.before.lists.iter().flatten().filter(is_moved).filter_map(text_of);
        let Some(text) = text_of(node) else { return false };
        let left = pieces.fold(text, |left, piece| behind(left, piece, false).unwrap_or(left));
        left.is_empty() && notes(node).next().is_none()
    }

    /// Whether a text is that of neighbours that the report says stand elsewhere, word for word, with something in place of
    /// others among them.
    fn is_moved_run(&self, node: &Node) -> bool {
        let Some(text) = text_of(node) else { return false };
        let begins = |nodes: &[Node]| self.begins_moved_run(nodes, node, text);
        self.before.lists.iter().any(|nodes| (0..nodes.len()).any(|at| begins(&nodes[at..])))
    }

    fn begins_moved_run(&self, nodes: &[Node], node: &Node, text: &str) -> bool {
        let is_changed = |kind| matches!(kind, LossKind::Renamed | LossKind::Approximated);
        let (mut rest, mut has_words, mut is_free) = (text, false, false);
        for it in nodes {
            if it.sort != node.sort {
                is_free = self.is_covered(&it.place, Change::Altered);
                if !is_free {
                    return false;
                }
            } else {
                let piece = text_of(it).filter(|_| self.has(&it.place, is_changed));
                let Some(onwards) = piece.and_then(|piece| behind(rest, piece, is_free)) else {
                    return false;
                };
                has_words |= onwards.len() < rest.len();
                (rest, is_free) = (onwards, false);
            }
            if has_words && (rest.is_empty() || is_free) {
                return true;
            }
        }
        false
    }

    /// Whether an entry says that instructions ask for an output in place of a setting, or that some are made up where
    /// instructions stand.
    fn is_instruction_reported(&self) -> bool {
        let formats = [Field::OutputFormat.name(), Field::OutputSchema.name()];
        let is_worded = |it: &Fact| {
            let is_format = formats.contains(&it.name.as_str());
            is_format && self.has(&it.pointer, |kind| kind == LossKind::Approximated)
        };
        let is_other = |node: &&Node| !node.sort.starts_with("instructions");
        let nodes = || self.before.lists.iter().flatten().filter(is_other).map(|node| &node.place);
        let is_new = |entry: &Loss| {
            let mut known = self.before.facts.iter().map(|fact| &fact.pointer).chain(nodes());
            let is_near = |it: &str| is_below(it, &entry.pointer) || is_below(&entry.pointer, it);
            entry.kind == LossKind::Synthesised && !known.any(|it| is_near(it))
        };
        self.before.facts.iter().any(is_worded) || self.entries.iter().any(is_new)
    }
}

/// Whether one of several sources that share a place is gone: the entry of that place covers it.
fn is_one_gone(arrived: &Difference, before: &[Fact], after: &[Fact]) -> bool {
    let mut sources = before.iter().filter(|it| it.name.starts_with(CITATION));
    arrived.name.starts_with(CITATION)
        && sources.any(|source| {
            source.pointer == arrived.pointer && after.iter().all(|it| it.name != source.name)
        })
}

/// Whether one node may be another that stands elsewhere: media of a result may follow in a message of the user.
fn is_alike(moved: &Node, from: &Node) -> bool {
    moved.sort == from.sort || (&*moved.sort, &*from.sort) == (USER_MEDIA, RESULT_MEDIA)
}

/// Whether all that one node states is stated by the other, too.
fn has_no_more(one: &Node, other: &Node) -> bool {
    one.facts.iter().filter(|fact| !normal::is_void(&fact.value)).all(|fact| {
        let mut others = other.facts.iter().filter(|it| it.name == fact.name);
        others.any(|it| normal::same(&it.value, &fact.value))
    })
}

pub(super) fn same_facts(one: &Node, other: &Node) -> bool {
    one.facts.iter().all(|fact| {
        let value = other.facts.iter().find(|it| it.name == fact.name).map(|it| &it.value);
        normal::same(&fact.value, value.unwrap_or(&Value::Null))
    })
}

/// Whether a pointer is another one or leads further in from there.
fn is_below(pointer: &str, outer: &str) -> bool {
    !outer.is_empty()
        && pointer.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
