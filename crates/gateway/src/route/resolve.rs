//! Resolving a model's name: an exact `[[model]]`, `provider/model`, a `[[model]]` pattern, a provider's claim, and
//! without a config file a substitute. What is found first decides.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use sabir_compose::class::Classified;
use sabir_wire::Protocol;

use crate::config::types::{Config, Endpoint, Location, Strategy, Substitution};
use crate::config::{Glob, Preset, SIMULATED_MODEL, Specificity, types};
use crate::route::{Candidate, Directory, Model, Stay};
use crate::surface;
use crate::upstream::Provider;

/// Where a model's name leads.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// In the order of the configuration; never empty.
    pub targets: Vec<Candidate>,
    pub strategy: Strategy,
    pub route: Route,
    /// The `[[model]]` that says so, if one does.
    pub(crate) model: Option<Arc<Model>>,
    /// The conversation that its class is chosen for.
    pub(crate) stay: Option<Stay>,
}

/// Why a name leads where it leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// The client named the provider.
    Direct,
    /// A `[[model]]` has this name, or it is the simulators' own.
    Alias,
    /// A provider claims names like this.
    Claim,
    /// Nobody serves it, and something else answers.
    Substituted,
    /// The `[[model]]` sends requests of this class there.
    Class(Classified),
}

impl Route {
    /// As the header `sabir-route` has it.
    pub fn label(self) -> Cow<'static, str> {
        match self {
            Self::Direct => "direct".into(),
            Self::Alias => "alias".into(),
            Self::Claim => "claim".into(),
            Self::Substituted => "substituted".into(),
            Self::Class(Classified { class, reason }) => {
                format!("class:{} ({reason})", class.name()).into()
            }
        }
    }
}

/// Finds who serves the model that a client of this protocol asks for.
pub fn resolve(directory: &Directory, asked: &str, client: Protocol) -> Result<Resolved, NotFound> {
    let name = without_collection(asked);
    if let Some(model) = exact_model(directory, asked).or_else(|| exact_model(directory, name)) {
        return Ok(alias(model));
    }
    let found = direct(directory, name)
        .or_else(|| model_pattern(directory, name).map(alias))
        .or_else(|| simulated(directory, name, client))
        .or_else(|| claim(directory, name))
        .or_else(|| substitute(directory, client));
    found.ok_or_else(|| NotFound::new(&directory.config, name))
}

/// The name without what clients of some protocols put before it.
fn without_collection(asked: &str) -> &str {
    let name = surface::without_collection(asked);
    if name.is_empty() { asked } else { name }
}

/// The `[[model]]` that has this very name.
fn exact_model<'d>(directory: &'d Directory, name: &str) -> Option<&'d Arc<Model>> {
    let is_meant = |it: &Glob| it.is_exact() && it.as_str() == name;
    directory.models.iter().find(|model| is_meant(&model.config.name))
}

fn direct(directory: &Directory, name: &str) -> Option<Resolved> {
    let (provider, model) = name.split_once('/')?;
    let provider = directory.provider(provider)?;
    (!model.is_empty()).then(|| single(provider, model, Route::Direct))
}

/// The `[[model]]` with the narrowest pattern that matches, the first of equals.
fn model_pattern<'d>(directory: &'d Directory, name: &str) -> Option<&'d Arc<Model>> {
    let matching = directory.models.iter().filter(|model| model.config.name.matches(name));
    narrowest(matching, |model| model.config.name.specificity())
}

/// The provider with the narrowest claim that matches, the first of equals.
fn claim(directory: &Directory, name: &str) -> Option<Resolved> {
    let providers = directory.providers.iter();
    let claims =
        providers.flat_map(|provider| provider.config.claims.iter().map(move |it| (provider, it)));
    let matching = claims.filter(|(_, claim)| claim.matches(name));
    let (provider, _) = narrowest(matching, |(_, claim)| claim.specificity())?;
    Some(single(provider, name, Route::Claim))
}

/// The first of those that are the most specific.
fn narrowest<T>(
    items: impl Iterator<Item = T>,
    specificity: impl Fn(&T) -> Specificity,
) -> Option<T> {
    items.reduce(|best, next| if specificity(&next) > specificity(&best) { next } else { best })
}

/// The name that all simulators share leads to one that makes a translation visible.
fn simulated(directory: &Directory, name: &str, client: Protocol) -> Option<Resolved> {
    if name != SIMULATED_MODEL {
        return None;
    }
    Some(single(simulator_for(directory, client)?, SIMULATED_MODEL, Route::Alias))
}

/// A simulator that does not speak the client's protocol; the same one each time.
fn simulator_for(directory: &Directory, client: Protocol) -> Option<&Arc<Provider>> {
    surface::of(client).simulators().find_map(|protocol| simulator_of(directory, protocol))
}

fn simulator_of(directory: &Directory, protocol: Protocol) -> Option<&Arc<Provider>> {
    let simulates = |endpoint: &Endpoint| {
        endpoint.protocol == protocol && matches!(endpoint.place, Location::Simulator)
    };
    directory.providers.iter().find(|provider| provider.config.endpoints.iter().any(simulates))
}

/// Without a config file nobody is sent away: the first real provider answers, else a simulator.
fn substitute(directory: &Directory, client: Protocol) -> Option<Resolved> {
    if directory.config.substitution == Substitution::Off {
        return None;
    }
    let mut real = directory.providers.iter().filter(|provider| is_real(&provider.config));
    let real = real.find_map(|it| Some((it, it.config.default_model.as_deref()?)));
    let (provider, model) = match real {
        Some(found) => found,
        None => (simulator_for(directory, client)?, SIMULATED_MODEL),
    };
    Some(single(provider, model, Route::Substituted))
}

/// Whether the provider is somebody else, and not a simulator.
pub(super) fn is_real(provider: &types::Provider) -> bool {
    provider.endpoints.iter().any(|endpoint| matches!(endpoint.place, Location::Url(_)))
}

fn alias(model: &Arc<Model>) -> Resolved {
    Resolved {
        targets: model.targets.clone(),
        strategy: model.config.strategy,
        route: Route::Alias,
        model: Some(Arc::clone(model)),
        stay: None,
    }
}

fn single(provider: &Arc<Provider>, model: &str, route: Route) -> Resolved {
    let (provider, model) = (Arc::clone(provider), model.to_owned());
    let target =
        Candidate { provider, model, weight: 1, context_window: None, pace: Arc::default() };
    Resolved { targets: vec![target], strategy: Strategy::Fallback, route, model: None, stay: None }
}

/// Nobody serves the model; the text says what would help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotFound {
    message: String,
}

impl NotFound {
    fn new(config: &Config, name: &str) -> Self {
        let (shown, help) = (shown(name), help(config, name));
        let list = "GET /v1/models lists what can be asked for";
        Self { message: format!("no provider serves the model `{shown}`: {help}; {list}") }
    }
}

/// What would make the name work, the likeliest first.
fn help(config: &Config, name: &str) -> String {
    let prefix = name.split_once('/').map(|(prefix, _)| prefix);
    let by_prefix = prefix.and_then(Preset::named);
    let preset = by_prefix.or_else(|| Preset::claiming(name));
    let alias = format!("add a [[model]] named `{}` to the config file", shown(name));
    match preset.filter(|preset| !is_configured(config, preset.name)) {
        Some(preset) => format!("{}, or {alias}", adding(preset)),
        None => match config.providers.first() {
            Some(first) => {
                format!("ask for `PROVIDER/MODEL`, such as `{}/…`, or {alias}", first.name)
            }
            None => alias,
        },
    }
}

fn is_configured(config: &Config, name: &str) -> bool {
    config.providers.iter().any(|provider| provider.name == name)
}

fn adding(preset: &Preset) -> String {
    let provider =
        format!("add a [[provider]] with preset = \"{}\" to the config file", preset.name);
    match preset.key_variables.first() {
        Some(key) => format!("set {key} or {provider}"),
        None => provider,
    }
}

/// A name as messages quote it: a client may send anything.
pub(crate) fn shown(name: &str) -> String {
    const SHOWN_MAX: usize = 100;
    let mut shown: String = name
        .chars()
        .map(|it| if it.is_control() { '\u{fffd}' } else { it })
        .take(SHOWN_MAX)
        .collect();
    if name.chars().nth(SHOWN_MAX).is_some() {
        shown.push('…');
    }
    shown
}

impl fmt::Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for NotFound {}
