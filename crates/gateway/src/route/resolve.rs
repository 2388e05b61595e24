//! Resolving a model's name: an exact `[[model]]`, `provider/model`, a `[[model]]` pattern, a provider's claim, and
//! without a config file a substitute. What is found first decides.

use std::fmt;

use sabir_wire::Protocol;

use crate::config::Preset;
use crate::config::SIMULATED_MODEL;
use crate::config::Specificity;
use crate::config::types::Config;
use crate::config::types::Endpoint;
use crate::config::types::Model;
use crate::config::types::Place;
use crate::config::types::Provider;
use crate::config::types::Strategy;
use crate::config::types::Substitution;
use crate::surface;

/// Where a model's name leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// In the order of the configuration; never empty.
    pub targets: Vec<Candidate>,
    pub strategy: Strategy,
    pub route: Route,
    /// The place in [`Config::models`] of the `[[model]]` that says so, if one does.
    pub model: Option<usize>,
}

/// A provider that may answer, and the model to ask it for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The provider's place in [`Config::providers`].
    pub provider: usize,
    pub model: String,
    pub weight: u32,
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
}

impl Route {
    /// As the header `sabir-route` has it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Alias => "alias",
            Self::Claim => "claim",
            Self::Substituted => "substituted",
        }
    }
}

/// Finds who serves the model that a client of this protocol asks for.
pub fn resolve(config: &Config, asked: &str, client: Protocol) -> Result<Resolved, NotFound> {
    let name = without_collection(asked);
    if let Some(model) = exact_model(config, asked).or_else(|| exact_model(config, name)) {
        return Ok(alias(config, model));
    }
    let found = direct(config, name)
        .or_else(|| model_pattern(config, name).map(|model| alias(config, model)))
        .or_else(|| simulated(config, name, client))
        .or_else(|| claim(config, name))
        .or_else(|| substitute(config, client));
    found.ok_or_else(|| NotFound::new(config, name))
}

/// The name without what clients of some protocols put before it.
fn without_collection(asked: &str) -> &str {
    let name = surface::without_collection(asked);
    if name.is_empty() { asked } else { name }
}

/// The place of the `[[model]]` that has this very name.
fn exact_model(config: &Config, name: &str) -> Option<usize> {
    let is_meant = |model: &Model| model.name.is_exact() && model.name.as_str() == name;
    config.models.iter().position(is_meant)
}

fn direct(config: &Config, name: &str) -> Option<Resolved> {
    let (provider, model) = name.split_once('/')?;
    let provider = place(config, provider)?;
    (!model.is_empty()).then(|| single(provider, model, Route::Direct))
}

/// The place of the `[[model]]` with the narrowest pattern that matches, the first of equals.
fn model_pattern(config: &Config, name: &str) -> Option<usize> {
    let models = config.models.iter().enumerate();
    let matching = models.filter(|(_, model)| model.name.matches(name));
    narrowest(matching, |(_, model)| model.name.specificity()).map(|(place, _)| place)
}

/// The provider with the narrowest claim that matches, the first of equals.
fn claim(config: &Config, name: &str) -> Option<Resolved> {
    let claims = config
        .providers
        .iter()
        .enumerate()
        .flat_map(|(place, provider)| provider.claims.iter().map(move |claim| (place, claim)));
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
fn simulated(config: &Config, name: &str, client: Protocol) -> Option<Resolved> {
    if name != SIMULATED_MODEL {
        return None;
    }
    Some(single(simulator_for(config, client)?, SIMULATED_MODEL, Route::Alias))
}

/// A simulator that does not speak the client's protocol; the same one each time.
fn simulator_for(config: &Config, client: Protocol) -> Option<usize> {
    surface::of(client).simulators().find_map(|protocol| simulator_of(config, protocol))
}

fn simulator_of(config: &Config, protocol: Protocol) -> Option<usize> {
    let simulates = |endpoint: &Endpoint| {
        endpoint.protocol == protocol && matches!(endpoint.place, Place::Simulator)
    };
    config.providers.iter().position(|provider| provider.endpoints.iter().any(simulates))
}

/// Without a config file nobody is sent away: the first real provider answers, else a simulator.
fn substitute(config: &Config, client: Protocol) -> Option<Resolved> {
    if config.substitution == Substitution::Off {
        return None;
    }
    let mut real = config.providers.iter().enumerate().filter(|(_, provider)| is_real(provider));
    let real = real.find_map(|(place, provider)| Some((place, provider.default_model.as_deref()?)));
    let (provider, model) = match real {
        Some(found) => found,
        None => (simulator_for(config, client)?, SIMULATED_MODEL),
    };
    Some(single(provider, model, Route::Substituted))
}

/// Whether the provider is somebody else, and not a simulator.
pub(super) fn is_real(provider: &Provider) -> bool {
    provider.endpoints.iter().any(|endpoint| matches!(endpoint.place, Place::Url(_)))
}

fn place(config: &Config, name: &str) -> Option<usize> {
    config.providers.iter().position(|provider| provider.name == name)
}

fn alias(config: &Config, place: usize) -> Resolved {
    let Model { targets, strategy, .. } = &config.models[place];
    let targets = targets.iter().map(|target| Candidate {
        provider: target.provider,
        model: target.model.clone(),
        weight: target.weight,
    });
    Resolved {
        targets: targets.collect(),
        strategy: *strategy,
        route: Route::Alias,
        model: Some(place),
    }
}

fn single(provider: usize, model: &str, route: Route) -> Resolved {
    let target = Candidate { provider, model: model.to_owned(), weight: 1 };
    Resolved { targets: vec![target], strategy: Strategy::Fallback, route, model: None }
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
    match preset.filter(|preset| place(config, preset.name).is_none()) {
        Some(preset) => format!("{}, or {alias}", adding(preset)),
        None => match config.providers.first() {
            Some(first) => {
                format!("ask for `PROVIDER/MODEL`, such as `{}/…`, or {alias}", first.name)
            }
            None => alias,
        },
    }
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
