//! The rules themselves: tables as they are configured, the more specific over the wider, and what they come to.

use sabir_wire::json::Text;

use crate::Glob;

/// The rules that one table of a configuration states. What it leaves out is left to wider tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleTable {
    pub allow: Option<Vec<Glob>>,
    pub deny: Option<Vec<Glob>>,
    /// Pairs of a client's name and the name that the model sees.
    pub rename: Option<Vec<(String, String)>>,
    pub count_max: Option<usize>,
    pub schema_bytes_max: Option<usize>,
    pub result_bytes_max: Option<usize>,
    pub long_names: Option<NameRule>,
    pub arguments: Option<ArgumentRule>,
    pub undeclared: Option<UndeclaredRule>,
    pub hosted: Option<HostedRule>,
    pub rounds_max: Option<usize>,
}

/// What becomes of names that the target does not take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NameRule {
    #[default]
    Alias,
    Reject,
}

/// What becomes of arguments that are not what the schema says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ArgumentRule {
    #[default]
    Pass,
    Repair,
    Refuse,
}

/// What becomes of calls of tools that were not offered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UndeclaredRule {
    #[default]
    Pass,
    Text,
    Refuse,
}

/// What becomes of hosted tools that the target has not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HostedRule {
    #[default]
    Drop,
    Refuse,
}

/// The rules that hold for a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// None allows all.
    allow: Option<Vec<Glob>>,
    deny: Vec<Glob>,
    rename: Vec<NamePair>,
    pub(super) count_max: Option<usize>,
    pub(super) schema_bytes_max: Option<usize>,
    pub(super) result_bytes_max: Option<usize>,
    pub long_names: NameRule,
    pub arguments: ArgumentRule,
    pub undeclared: UndeclaredRule,
    pub hosted: HostedRule,
    pub(super) rounds_max: Option<usize>,
}

/// Two names of a tool that differ.
#[derive(Clone, Debug, PartialEq, Eq)]
struct NamePair {
    own: String,
    seen: Text<'static>,
    /// Whether another pair has the same name for the model.
    is_shared: bool,
}

/// The pairs that change a name.
fn name_pairs(rename: &[(String, String)]) -> Vec<NamePair> {
    let pair = |(own, seen): &(String, String)| {
        let is_shared = rename.iter().any(|other| other.0 != *own && other.1 == *seen);
        let (own, seen) = (own.clone(), Text::checked(seen.clone()));
        NamePair { own, seen, is_shared }
    };
    rename.iter().filter(|(own, seen)| own != seen).map(pair).collect()
}

impl RuleTable {
    /// These rules, and behind them those of a wider table, key by key.
    pub fn over(&self, wider: &Self) -> Self {
        let Self { allow, deny, rename, .. } = self;
        Self {
            allow: allow.clone().or_else(|| wider.allow.clone()),
            deny: deny.clone().or_else(|| wider.deny.clone()),
            rename: rename.clone().or_else(|| wider.rename.clone()),
            count_max: self.count_max.or(wider.count_max),
            schema_bytes_max: self.schema_bytes_max.or(wider.schema_bytes_max),
            result_bytes_max: self.result_bytes_max.or(wider.result_bytes_max),
            long_names: self.long_names.or(wider.long_names),
            arguments: self.arguments.or(wider.arguments),
            undeclared: self.undeclared.or(wider.undeclared),
            hosted: self.hosted.or(wider.hosted),
            rounds_max: self.rounds_max.or(wider.rounds_max),
        }
    }

    /// What the table comes to; none if nothing is governed by it.
    pub fn rules(&self) -> Option<Rules> {
        let limit = |limit: Option<usize>| limit.filter(|limit| *limit != 0);
        let allows_all = |allow: &&Vec<Glob>| allow.iter().any(|it| it.as_str() == "*");
        let rules = Rules {
            allow: self.allow.as_ref().filter(|allow| !allows_all(allow)).cloned(),
            deny: self.deny.clone().unwrap_or_default(),
            rename: name_pairs(self.rename.as_deref().unwrap_or_default()),
            count_max: limit(self.count_max),
            schema_bytes_max: limit(self.schema_bytes_max),
            result_bytes_max: limit(self.result_bytes_max),
            long_names: self.long_names.unwrap_or_default(),
            arguments: self.arguments.unwrap_or_default(),
            undeclared: self.undeclared.unwrap_or_default(),
            hosted: self.hosted.unwrap_or_default(),
            rounds_max: limit(self.rounds_max),
        };
        (rules != Rules::default()).then_some(rules)
    }
}

impl Rules {
    /// Whether a tool of the client may be offered and called. Deny beats allow.
    pub fn allows(&self, name: &str) -> bool {
        self.allow.as_deref().is_none_or(|allow| any(allow, name)) && !any(&self.deny, name)
    }

    /// The same for a tool that has several names.
    pub(super) fn allow_any(&self, names: &[&str]) -> bool {
        let is_one = |globs: &[Glob]| names.iter().any(|name| any(globs, name));
        self.allow.as_deref().is_none_or(is_one) && !is_one(&self.deny)
    }

    /// Whether they have anything to say of calls.
    pub fn governs_answers(&self) -> bool {
        self.forbids() || self.renames() || self.asks_for_tools()
    }

    /// Whether calls are held against what was offered.
    pub(super) fn asks_for_tools(&self) -> bool {
        self.arguments != ArgumentRule::Pass || self.undeclared != UndeclaredRule::Pass
    }

    /// Whether there is a tool that may not be offered.
    pub(super) fn forbids(&self) -> bool {
        self.allow.is_some() || !self.deny.is_empty()
    }

    /// The place of the pair that gives a client's tool another name.
    #[inline]
    pub(super) fn renaming(&self, own: &str) -> Option<usize> {
        self.rename.iter().position(|pair| pair.own == own)
    }

    /// The places of the pairs that give this name to a tool.
    pub(super) fn givers(&self, seen: &str) -> impl Iterator<Item = usize> {
        let numbered = self.rename.iter().enumerate();
        numbered.filter(move |(_, pair)| pair.seen == *seen).map(|(place, _)| place)
    }

    /// Whether the pair at a place has rivals for the name that it gives.
    pub(super) fn is_shared(&self, place: usize) -> bool {
        self.rename[place].is_shared
    }

    /// The client's own name of the pair at a place.
    pub(super) fn own(&self, place: usize) -> &str {
        &self.rename[place].own
    }

    /// What the model sees instead of it.
    pub(super) fn seen(&self, place: usize) -> &Text<'static> {
        &self.rename[place].seen
    }

    pub(super) fn renames(&self) -> bool {
        !self.rename.is_empty()
    }
}

fn any(globs: &[Glob], name: &str) -> bool {
    globs.iter().any(|glob| glob.matches(name))
}
