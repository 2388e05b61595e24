//! The rules on tools that hold for a call: those of its key before those of its model, and these before those for all.

use std::sync::Arc;

use sabir_compose::govern::{RuleTable, Rules};

use crate::config::types::GatewayKey;
use crate::route::{Directory, Resolved};

impl Directory {
    /// What holds for a call of whoever has the key; none if nothing does.
    pub(crate) fn rules(
        &self,
        resolved: &Resolved,
        key: Option<&Arc<GatewayKey>>,
    ) -> Option<Arc<Rules>> {
        let model = resolved.model.as_deref();
        let Some(own) = key.and_then(|key| key.tools.as_ref()) else {
            return model.map_or(&self.rules, |model| &model.rules).clone();
        };
        let for_all = &self.config.tools;
        let of_model = model.and_then(|model| model.config.tools.as_ref());
        let wider: RuleTable = of_model.map_or_else(|| for_all.clone(), |own| own.over(for_all));
        own.over(&wider).rules().map(Arc::new)
    }
}
