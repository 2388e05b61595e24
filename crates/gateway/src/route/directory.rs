//! Providers and models as requests refer to them: shared handles, which outlive a configuration as long as somebody uses them.

use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError};

use sabir_compose::budget::{BytesPerToken, Counted, TokenEstimate};
use sabir_compose::class::Class;

use crate::config::types;
use crate::config::types::Config;
use crate::route::rules::RuleSet;
use crate::route::stays::Stays;
use crate::surface::Capabilities;
use crate::upstream::{Pace, Provider, Site};

/// All that can be asked for under one configuration.
#[derive(Debug)]
pub struct Directory {
    pub(crate) config: Arc<Config>,
    /// In the order of the configuration.
    pub(crate) providers: Vec<Arc<Provider>>,
    /// In the order of the configuration.
    pub(crate) models: Vec<Arc<Model>>,
    /// The rules on tools for calls of which no model says more.
    pub(super) rules: RuleSet,
}

/// A `[[model]]`.
#[derive(Debug)]
pub struct Model {
    pub(crate) config: Arc<types::Model>,
    /// In the order of the configuration; never empty.
    pub(crate) targets: Vec<Candidate>,
    /// Where the class of a request decides: those of each class but `default`.
    pub(crate) classes: Vec<(Class, Vec<Candidate>)>,
    turns: Arc<ModelTurns>,
    /// Where its conversations went.
    pub(crate) stays: Arc<Stays>,
    /// How many tokens its requests have, by what was reported of them.
    budget: Mutex<BytesPerToken>,
    /// The rules on tools for its calls.
    pub(super) rules: RuleSet,
}

/// A provider that may answer, and the model to ask it for.
#[derive(Clone)]
pub struct Candidate {
    pub(crate) provider: Arc<Provider>,
    pub model: String,
    pub weight: u32,
    /// The window that the `[[model]]` gives its targets.
    pub(crate) context_window: Option<u64>,
    /// How fast it was of late, for this `[[model]]`.
    pub(crate) pace: Arc<Pace>,
}

/// Each class has turns of its own. Where none decides, those of `default` are taken.
type ModelTurns = [Turns; Class::ALL.len()];

/// How many requests there were for a model: whose turn it is among its targets.
#[derive(Debug, Default)]
pub(crate) struct Turns(AtomicU64);

impl Directory {
    /// Handles for everything in a configuration. Its providers learn the name of the gateway that asks them.
    pub fn new(config: Config, instance: &str) -> Self {
        let (providers, models) = (Vec::new(), Vec::new());
        let rules = RuleSet::default();
        let nothing = Self { config: Arc::default(), providers, models, rules };
        nothing.next(config, instance, 0)
    }

    /// Handles for another configuration. What has the same name in both goes on with its counters.
    pub(crate) fn next(&self, config: Config, instance: &str, generation: u64) -> Self {
        let config = Arc::new(config);
        let data_folder = config.store.data_folder.as_deref();
        let site = Site { limits: &config.limits, instance, generation, data_folder };
        let provider = |it: &Arc<types::Provider>| match self.provider(&it.name) {
            Some(before) => before.next(Arc::clone(it), site),
            None => Arc::new(Provider::new(Arc::clone(it), site)),
        };
        let providers: Vec<_> = config.providers.iter().map(provider).collect();
        let model = |it: &Arc<types::Model>| {
            let before = self.models.iter().find(|before| before.config.name == it.name);
            let table = it.tools.as_ref().map(|own| own.over(&config.tools));
            let table = table.unwrap_or_else(|| config.tools.clone());
            let rules = RuleSet::new(table, &config.auth.keys);
            let mut model = Model { rules, ..Model::new(Arc::clone(it), &providers) };
            if let Some(before) = before {
                model.turns = Arc::clone(&before.turns);
                model.stays = Arc::clone(&before.stays);
            }
            Arc::new(model)
        };
        let models = config.models.iter().map(model).collect();
        let rules = RuleSet::new(config.tools.clone(), &config.auth.keys);
        Self { config, providers, models, rules }
    }

    pub(crate) fn provider(&self, name: &str) -> Option<&Arc<Provider>> {
        self.providers.iter().find(|provider| *provider.name == *name)
    }
}

impl Model {
    fn new(config: Arc<types::Model>, providers: &[Arc<Provider>]) -> Self {
        let candidate = |target: &types::Target| {
            let provider = providers.iter().find(|it| *it.name == *target.provider)?;
            let (provider, model) = (Arc::clone(provider), target.model.clone());
            let (context_window, pace) = (config.context_window, Arc::default());
            Some(Candidate { provider, model, weight: target.weight, context_window, pace })
        };
        let candidates = |targets: &[types::Target]| targets.iter().filter_map(candidate).collect();
        let of_class = |it: &types::ClassTargets| (it.class, candidates(&it.targets));
        let classes = config.classes.iter().map(of_class).collect();
        let targets = candidates(&config.targets);
        let (turns, stays, budget) = (Arc::default(), Arc::default(), Mutex::default());
        Self { config, targets, classes, turns, stays, budget, rules: RuleSet::default() }
    }

    /// The turns among its targets, or among those of a class.
    pub(crate) fn turns_of(&self, class: Class) -> &Turns {
        &self.turns[class as usize]
    }

    pub(super) fn budget(&self) -> BytesPerToken {
        *self.budget.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Learns from what a provider has counted.
    pub(crate) fn correct(&self, counted: Counted) {
        self.budget.lock().unwrap_or_else(PoisonError::into_inner).correct(counted);
    }
}

impl Candidate {
    /// How the provider is configured.
    pub fn provider(&self) -> &types::Provider {
        &self.provider.config
    }

    /// `provider/model`.
    pub fn label(&self) -> String {
        format!("{}/{}", self.provider.name, self.model)
    }

    /// Whether that is its [label](Self::label).
    pub(super) fn is_called(&self, label: &str) -> bool {
        let model = label.strip_prefix(&*self.provider.name).and_then(|it| it.strip_prefix('/'));
        model == Some(self.model.as_str())
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.provider, &other.provider) && self.model == other.model
    }

    /// How many tokens fit the model, if that is known: by the `[[model]]`, its provider, or the family.
    pub fn window(&self) -> Option<u64> {
        let configured = self.context_window.or(self.provider.config.context_window);
        configured.or_else(|| self.provider.targets.of(&self.model).family.widest_context())
    }
}

impl Candidate {
    /// What is known of the model.
    pub(super) fn capabilities(&self) -> Capabilities {
        Capabilities::of(&self.provider.targets.of(&self.model).family, self.window())
    }
}

impl Turns {
    /// How many there were before this one, which may not count as one.
    pub(crate) fn turn(&self, counts: bool) -> u64 {
        match counts {
            true => self.0.fetch_add(1, Relaxed),
            false => self.0.load(Relaxed),
        }
    }
}

impl fmt::Debug for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{} ({})", self.provider.name, self.model, self.weight)
    }
}
