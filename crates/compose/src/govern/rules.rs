//! The rules themselves: tables as they are configured, the more specific over the wider, and what they come to.

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
    rename: Vec<(String, String)>,
    pub(super) count_max: Option<usize>,
    pub(super) schema_bytes_max: Option<usize>,
    pub(super) result_bytes_max: Option<usize>,
    pub long_names: NameRule,
    pub arguments: ArgumentRule,
    pub undeclared: UndeclaredRule,
    pub hosted: HostedRule,
    pub(super) rounds_max: Option<usize>,
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
            rename: self.rename.clone().unwrap_or_default(),
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
        self.allow_any(&[name])
    }

    /// The same for a tool that has several names.
    pub(super) fn allow_any(&self, names: &[&str]) -> bool {
        let is_one = |globs: &[Glob]| names.iter().any(|name| any(globs, name));
        self.allow.as_deref().is_none_or(is_one) && !is_one(&self.deny)
    }

    /// Whether they have anything to say of calls.
    pub fn governs_answers(&self) -> bool {
        self.forbids()
            || !self.rename.is_empty()
            || self.arguments != ArgumentRule::Pass
            || self.undeclared != UndeclaredRule::Pass
    }

    /// Whether there is a tool that may not be offered.
    pub(super) fn forbids(&self) -> bool {
        self.allow.is_some() || !self.deny.is_empty()
    }

    /// The name that the model sees of a client's tool, if that is another, and the client's own.
    pub(super) fn renaming(&self, name: &str) -> Option<(&str, &str)> {
        let (own, other) = self.rename.iter().find(|(own, _)| own == name)?;
        (own != other).then_some((other, own))
    }

    /// Whether it is a name that the model may see of a tool that has another.
    pub(super) fn gives(&self, name: &str) -> bool {
        self.rename.iter().any(|(own, other)| other == name && own != name)
    }

    pub(super) fn renames(&self) -> bool {
        !self.rename.is_empty()
    }
}

fn any(globs: &[Glob], name: &str) -> bool {
    globs.iter().any(|glob| glob.matches(name))
}
