//! One configuration in force. A request takes it once and keeps it to its end, whatever is configured in the meantime.

use std::sync::Arc;

use crate::config::types::Config;
use crate::memory::Memory;
use crate::observe::render_keys;
use crate::route::Directory;
use crate::state::Shared;

/// A configuration with the handles of its providers and models.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) directory: Directory,
    pub(crate) shared: Arc<Shared>,
}

impl Snapshot {
    /// That of a gateway which begins and keeps nothing.
    pub(crate) fn new(config: Config) -> Self {
        Self::with_memory(config, None)
    }

    /// That of a gateway which begins.
    pub(crate) fn with_memory(config: Config, memory: Option<Memory>) -> Self {
        let shared = Arc::new(Shared::new(memory));
        Self { directory: Directory::new(config, &shared.instance), shared }
    }

    /// The same gateway under another configuration.
    pub(crate) fn next(&self, config: Config, generation: u64) -> Self {
        let shared = Arc::clone(&self.shared);
        Self { directory: self.directory.next(config, &shared.instance, generation), shared }
    }

    pub(crate) fn config(&self) -> &Config {
        &self.directory.config
    }

    /// All counters in the Prometheus text form.
    pub(crate) fn render_metrics(&self) -> String {
        let providers = self.directory.providers.iter().map(|provider| &*provider.metrics);
        let mut metrics = self.shared.metrics.render(providers);
        let providers = self.directory.providers.iter();
        let keys = providers.flat_map(|it| it.keys.seen().map(|seen| (&*it.name, seen)));
        render_keys(keys, &mut metrics);
        self.shared.pool.render(&mut metrics);
        self.shared.memory.iter().for_each(|memory| memory.render(&mut metrics));
        metrics
    }
}
