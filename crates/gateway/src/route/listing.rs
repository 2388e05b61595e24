//! What can be asked for and where it goes, from the configuration alone: for `sabir models` and for the banner.

use sabir_compose::class::Class;

use crate::config::SIMULATED_MODEL;
use crate::config::types::{ClassTargets, Config, Model, Provider, Strategy, Substitution, Target};
use crate::route::resolve::is_real;
use crate::route::{Candidate, Directory, Route, resolve};
use crate::surface;
use crate::surface::Capabilities;

/// One line of the listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The name or pattern that clients ask for.
    pub asked: String,
    /// Who answers, as `provider/model`; several in the order of the configuration.
    pub targets: Vec<String>,
    pub strategy: Strategy,
    pub route: Route,
}

/// Everything that can be asked for, in the order in which names are resolved.
pub fn listing(config: &Config) -> Vec<Row> {
    let (exact, patterns): (Vec<_>, Vec<_>) =
        config.models.iter().partition(|model| model.name.is_exact());
    let exact = exact.into_iter().map(|model| alias(model));
    let direct = config.providers.iter().map(|provider| direct(provider));
    let patterns = patterns.into_iter().map(|model| alias(model));
    let claims = config.providers.iter().flat_map(|provider| claims(provider));
    exact
        .chain(direct)
        .chain(patterns)
        .chain(simulated(config))
        .chain(claims)
        .chain(rest(config))
        .collect()
}

/// What is known of whoever answers a name first.
pub fn capabilities(directory: &Directory, name: &str) -> Option<Capabilities> {
    let resolved = resolve(directory, name, surface::DEFAULT).ok()?;
    resolved.targets.first().map(Candidate::capabilities)
}

fn alias(model: &Model) -> Row {
    Row {
        asked: model.name.to_string(),
        targets: targets(model),
        strategy: model.strategy,
        route: Route::Alias,
    }
}

fn targets(model: &Model) -> Vec<String> {
    let strategy = match model.strategy {
        Strategy::Class => model.class_strategy,
        strategy => strategy,
    };
    let target = |target: &Target| {
        let name = &target.provider;
        match strategy {
            Strategy::Fallback | Strategy::Fastest | Strategy::Class => {
                format!("{name}/{}", target.model)
            }
            Strategy::Weighted => format!("{name}/{} ({})", target.model, target.weight),
        }
    };
    let own = model.targets.iter().map(target);
    if model.strategy != Strategy::Class {
        return own.collect();
    }
    let labelled = |class: &str, targets: String| format!("{class}: {targets}");
    let of_class = |it: &ClassTargets| {
        let targets: Vec<String> = it.targets.iter().map(target).collect();
        labelled(it.class.name(), targets.join(", then "))
    };
    let default = labelled(Class::Default.name(), own.collect::<Vec<_>>().join(", then "));
    model.classes.iter().map(of_class).chain([default]).collect()
}

fn direct(provider: &Provider) -> Row {
    let name = format!("{}/*", provider.name);
    row(name.clone(), name, Route::Direct)
}

fn claims(provider: &Provider) -> impl Iterator<Item = Row> + '_ {
    let target = |claim: &str| format!("{}/{claim}", provider.name);
    provider
        .claims
        .iter()
        .map(move |claim| row(claim.to_string(), target(claim.as_str()), Route::Claim))
}

fn simulated(config: &Config) -> Option<Row> {
    config
        .providers
        .iter()
        .any(|provider| !is_real(provider))
        .then(|| row(SIMULATED_MODEL.to_owned(), ANY_SIMULATOR.to_owned(), Route::Alias))
}

const ANY_SIMULATOR: &str = "a simulator of another protocol than the client's";

/// Where all other names go, if they go anywhere.
fn rest(config: &Config) -> Option<Row> {
    if config.substitution == Substitution::Off {
        return None;
    }
    let mut real = config.providers.iter().filter(|provider| is_real(provider));
    let default = real.find_map(|it| Some(format!("{}/{}", it.name, it.default_model.as_ref()?)));
    let target = default.unwrap_or_else(|| ANY_SIMULATOR.to_owned());
    Some(row("*".to_owned(), target, Route::Substituted))
}

fn row(asked: String, target: String, route: Route) -> Row {
    Row { asked, targets: vec![target], strategy: Strategy::Fallback, route }
}
