//! The rules on tools that hold for a call: those of its key before those of its model, and these before those for all. What they come
//! to is known with the configuration, so that a call only looks it up.

use std::sync::Arc;

use sabir_compose::govern::{RuleTable, Rules};

use crate::config::types::GatewayKey;
use crate::route::{Directory, Resolved};

/// What one table comes to, for everybody who may have to do with it.
#[derive(Debug, Default)]
pub(super) struct RuleSet {
    table: RuleTable,
    /// For whoever has no key, or one without rules of its own.
    for_others: Option<Arc<Rules>>,
    /// For the holders of keys with rules of their own, by the keys' names.
    by_key: Vec<(String, Option<Arc<Rules>>)>,
}

impl RuleSet {
    pub(super) fn new(table: RuleTable, keys: &[Arc<GatewayKey>]) -> Self {
        let of_key =
            |key: &Arc<GatewayKey>| Some((key.name.clone(), merged(key.tools.as_ref()?, &table)));
        let by_key = keys.iter().filter_map(of_key).collect();
        Self { for_others: table.rules().map(Arc::new), by_key, table }
    }

    fn of(&self, key: Option<&Arc<GatewayKey>>) -> Option<Arc<Rules>> {
        let Some(key) = key else { return self.for_others.clone() };
        if let Some((_, rules)) = self.by_key.iter().find(|(name, _)| *name == key.name) {
            return rules.clone();
        }
        match &key.tools {
            // A socket may outlive the configuration that its key stood in.
            Some(own) => merged(own, &self.table),
            None => self.for_others.clone(),
        }
    }
}

fn merged(own: &RuleTable, wider: &RuleTable) -> Option<Arc<Rules>> {
    own.over(wider).rules().map(Arc::new)
}

impl Directory {
    /// What holds for a call of whoever has the key; none if nothing does.
    pub(crate) fn rules(
        &self,
        resolved: &Resolved,
        key: Option<&Arc<GatewayKey>>,
    ) -> Option<Arc<Rules>> {
        resolved.model.as_deref().map_or(&self.rules, |model| &model.rules).of(key)
    }
}

#[cfg(test)]
mod tests {
    use sabir_backend::Secret;

    use super::*;

    fn key(name: &str, count_max: Option<usize>) -> Arc<GatewayKey> {
        let tools = count_max.map(|it| RuleTable { count_max: Some(it), ..RuleTable::default() });
        Arc::new(GatewayKey { name: name.to_owned(), value: Secret::new("x"), admin: false, tools })
    }

    fn limited(count_max: usize) -> Option<Arc<Rules>> {
        let table = RuleTable { count_max: Some(count_max), ..RuleTable::default() };
        table.rules().map(Arc::new)
    }

    #[test]
    fn a_key_is_held_to_the_rules_of_this_configuration_wherever_it_came_from() {
        let table = RuleTable { count_max: Some(9), ..RuleTable::default() };
        let set = RuleSet::new(table, &[key("guest", Some(1)), key("plain", None)]);
        assert_eq!(set.of(None), limited(9));
        assert_eq!(set.of(Some(&key("plain", None))), limited(9));
        assert_eq!(set.of(Some(&key("guest", Some(1)))), limited(1));
        // As an earlier configuration had them.
        assert_eq!(set.of(Some(&key("guest", None))), limited(1));
        assert_eq!(set.of(Some(&key("gone", Some(2)))), limited(2));
    }
}
