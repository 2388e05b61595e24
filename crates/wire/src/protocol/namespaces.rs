//! Tools out of their namespaces, for protocols that have none: the namespace's description goes with each of its tools.

use crate::conversation::{NamespaceTool, Tool};
use crate::json::Text;
use crate::loss::LossKind;
use crate::protocol::reporter::Reporter;

/// A tool, and the namespace that it stands in.
#[derive(Clone, Copy)]
pub(super) struct Spaced<'t> {
    pub(super) tool: &'t Tool<'t>,
    pub(super) namespace: Option<&'t NamespaceTool<'t>>,
}

impl<'t> Spaced<'t> {
    /// The tool's own description, with that of its namespace before it.
    pub(super) fn description(&self, own: Option<&'t Text<'_>>) -> Option<Text<'t>> {
        let shared = self.namespace.and_then(|namespace| namespace.description.as_ref());
        let shared = shared.filter(|shared| !shared.is_blank());
        let own = own.map(Text::reborrow);
        let Some(shared) = shared else { return own };
        let Some(own) = own.filter(|own| !own.is_blank()) else { return Some(shared.reborrow()) };
        let mut description = shared.clone().into_owned();
        description.push(&Text::plain("\n\n"));
        description.push(&own);
        Some(description)
    }
}

/// Reports where the description of a namespace has gone.
pub(super) fn report_description(
    reporter: &mut Reporter<'_>,
    (tool, namespace): (&Tool<'_>, &NamespaceTool<'_>),
) {
    if namespace.description.is_none() {
        return;
    }
    let (kind, reason) = match namespace.tools.is_empty() {
        true => (LossKind::Dropped, "a namespace without tools is left out"),
        false => (LossKind::Renamed, "sent before the description of each tool"),
    };
    reporter.below(tool.semantics().place(), "/description", kind, reason);
}
