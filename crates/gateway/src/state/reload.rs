//! Another configuration for a gateway that runs: read and checked whole, then in force for every request that comes.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

use crate::config::types::{Auth, Config, GatewayKey, Model, Provider};
use crate::config::{Problem, Problems};
use crate::state::Gateway;

/// Where a gateway's configuration is written, and how it is read.
pub struct Source {
    pub file: PathBuf,
    pub load: Box<dyn Fn() -> Result<Config, Problems> + Send + Sync>,
}

/// What another configuration brought.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reloaded {
    /// What holds from now on, such as `provider openai` or `[limits]`.
    pub changed: Vec<String>,
    /// What was changed in the file and holds only after a restart.
    pub needs_restart: Vec<&'static str>,
}

/// Why nothing changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotReloaded {
    /// The gateway runs without a config file.
    NoFile,
    Problems(Problems),
}

impl Gateway {
    /// Reads the configuration again. A good one holds for all requests that come from now on, those in flight end under the
    /// old one; a bad one changes nothing. Either is logged.
    pub fn reload(&self) -> Result<Reloaded, NotReloaded> {
        let reloaded = self.read_again();
        match &reloaded {
            Ok(Reloaded { changed, needs_restart }) => {
                let changed = changed.join(", ");
                tracing::info!(target: "sabir", changed, "the configuration was read again");
                if !needs_restart.is_empty() {
                    let changed = needs_restart.join(", ");
                    tracing::warn!(target: "sabir", changed, "some changes need a restart");
                }
            }
            Err(reason) => {
                tracing::error!(target: "sabir", "the configuration stays as it was: {reason}");
            }
        }
        reloaded
    }

    fn read_again(&self) -> Result<Reloaded, NotReloaded> {
        let Some(source) = &self.source else { return Err(NotReloaded::NoFile) };
        // One after the other: what was read last is in force in the end.
        let _turn = self.reloading.lock().unwrap_or_else(PoisonError::into_inner);
        let new = (source.load)().map_err(NotReloaded::Problems)?;
        let old = self.config();
        let (new, needs_restart) = keep_fixed(&old, new);
        if let Some(message) = new.bind_refusal().or_else(|| new.store_refusal()) {
            let list = vec![Problem { line: 0, column: 0, message }];
            let file = source.file.display().to_string();
            return Err(NotReloaded::Problems(Problems { file, list }));
        }
        let changed = changes(&old, &new);
        if !changed.is_empty() {
            self.replace(new);
        }
        Ok(Reloaded { changed, needs_restart })
    }
}

/// The new configuration with what a running gateway cannot change, and the names of what would have changed.
fn keep_fixed(old: &Config, mut new: Config) -> (Config, Vec<&'static str>) {
    let mut needs_restart = Vec::new();
    if new.listen != old.listen {
        needs_restart.push("listen");
        new.listen = old.listen;
    }
    if new.log != old.log {
        needs_restart.push("[log]");
        new.log = old.log.clone();
    }
    if new.store != old.store {
        needs_restart.push("[store]");
        new.store = old.store.clone();
    }
    (new, needs_restart)
}

/// What differs between two configurations, by name. No value is in it. What is not named here would never be in force, so
/// every field is: a new one breaks the build.
fn changes(old: &Config, new: &Config) -> Vec<String> {
    let Config {
        providers,
        models,
        auth: Auth { required, keys },
        limits,
        compaction,
        classing,
        tools,
        repair,
        allowed_hosts,
        cors_origins,
        open_bind,
        substitution,
        listen: _,
        log: _,
        store: _,
    } = new;
    let mut changed = Vec::new();
    let name = |it: &Arc<Provider>| it.name.clone();
    named("provider", &old.providers, providers, name, &mut changed);
    let name = |it: &Arc<Model>| it.name.as_str().to_owned();
    named("model", &old.models, models, name, &mut changed);
    let name = |it: &Arc<GatewayKey>| it.name.clone();
    named("key", &old.auth.keys, keys, name, &mut changed);
    let rest = [
        ("[auth] required", old.auth.required != *required),
        ("[limits]", old.limits != *limits),
        ("[compaction]", old.compaction != *compaction),
        ("[route]", old.classing != *classing),
        ("[tools]", old.tools != *tools),
        ("repair", old.repair != *repair),
        ("allowed_hosts", old.allowed_hosts != *allowed_hosts),
        ("cors_origins", old.cors_origins != *cors_origins),
        ("open_bind", old.open_bind != *open_bind),
        ("substitution", old.substitution != *substitution),
    ];
    changed.extend(rest.into_iter().filter(|it| it.1).map(|(name, _)| name.to_owned()));
    changed
}

/// Adds those that are new, gone or different, and the list itself if only its order is.
fn named<T: PartialEq>(
    kind: &str,
    old: &[T],
    new: &[T],
    name: impl Fn(&T) -> String,
    changed: &mut Vec<String>,
) {
    let before = changed.len();
    let mut add = |it: &T| {
        let entry = format!("{kind} {}", name(it));
        if !changed.contains(&entry) {
            changed.push(entry);
        }
    };
    new.iter().filter(|it| !old.contains(it)).for_each(&mut add);
    old.iter().filter(|it| !new.contains(it)).for_each(&mut add);
    if changed.len() == before && old != new {
        changed.push(format!("order of {kind}s"));
    }
}

impl fmt::Display for NotReloaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFile => f.write_str("there is no config file to read again"),
            Self::Problems(problems) => problems.fmt(f),
        }
    }
}

impl std::error::Error for NotReloaded {}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Source({})", self.file.display())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Mutex;

    use sabir_compose::class::Class;

    use super::*;
    use crate::state::{Latest, Snapshot};

    fn parsed(toml: &str) -> Result<Config, Problems> {
        crate::config::parse(toml, Path::new("sabir.toml"), &|_| None)
    }

    /// A gateway that starts with a text, and reads another one from then on.
    fn gateway(first: &str, then: &Arc<Mutex<String>>) -> Arc<Gateway> {
        let then = Arc::clone(then);
        let load = move || parsed(&then.lock().unwrap());
        let source = Source { file: "sabir.toml".into(), load: Box::new(load) };
        Gateway::of(Arc::new(Snapshot::new(parsed(first).unwrap())), Some(source))
    }

    const PROVIDER: &str = "[[provider]]\nname = \"p\"\nprotocol = \"openai-chat\"\n\
                            base_url = \"http://localhost:1\"\nretries = 1\n\
                            api_key = { value = \"sk-first\" }\n";

    #[test]
    fn a_snapshot_that_nobody_uses_is_gone() {
        let text = Arc::default();
        let gateway = gateway("", &text);
        let latest = Latest::of(Arc::clone(&gateway));
        let first = Arc::downgrade(&gateway.snapshot());
        for number in 1..=100 {
            *text.lock().unwrap() = format!("[limits]\nmax_requests = {number}\n");
            assert_eq!(gateway.reload().unwrap().changed, ["[limits]"]);
            assert_eq!(latest.snapshot().config().limits.requests_max, number);
        }
        assert!(first.upgrade().is_none());
        assert_eq!(Arc::strong_count(&gateway.snapshot().shared), 2, "one snapshot is left");
    }

    #[test]
    fn a_change_of_any_part_is_named_and_holds() {
        let key = "[[auth.key]]\nname = \"k\"\nvalue = { value = \"sesame\" }\n";
        let model =
            "[[model]]\nname = \"m\"\ntargets = [{ provider = \"sim-chat\", model = \"a\" }]\n";
        for (text, changed) in [
            (PROVIDER, "provider p"),
            (model, "model m"),
            (key, "key k"),
            ("[limits]\nmax_requests = 3\n", "[limits]"),
            ("[compaction]\nauto = \"off\"\n", "[compaction]"),
            ("[route]\nbackground = [\"*-mini\"]\n", "[route]"),
            ("[tools]\ndeny = [\"shell\"]\n", "[tools]"),
            ("repair = \"off\"\n", "repair"),
            ("allowed_hosts = [\"sabir.example\"]\n", "allowed_hosts"),
            ("cors_origins = [\"https://sabir.example\"]\n", "cors_origins"),
            ("open_bind = true\n", "open_bind"),
        ] {
            let gateway = gateway("", &Arc::new(Mutex::new(text.to_owned())));
            assert_eq!(gateway.reload().unwrap().changed, [changed]);
            assert_eq!(*gateway.config(), parsed(text).unwrap(), "{changed}");
        }
    }

    #[test]
    fn health_goes_on_while_the_same_server_is_asked_in_the_same_name() {
        let text = Arc::new(Mutex::new(PROVIDER.to_owned()));
        let gateway = gateway(PROVIDER, &text);
        let provider = || Arc::clone(gateway.snapshot().directory.provider("p").unwrap());
        let first = provider();
        (0..3).for_each(|_| first.health.failed());
        for (change, is_same, is_good) in [
            (("", ""), true, false),
            (("retries = 1", "retries = 2"), false, false),
            (("sk-first", "sk-second"), false, true),
        ] {
            *text.lock().unwrap() = PROVIDER.replace(change.0, change.1);
            gateway.reload().unwrap();
            assert_eq!(Arc::ptr_eq(&provider(), &first), is_same, "{change:?}");
            assert_eq!(provider().health.is_good(), is_good, "{change:?}");
            assert!(Arc::ptr_eq(&provider().metrics, &first.metrics), "{change:?}");
        }
    }

    #[test]
    fn turns_go_on() {
        let model = "[[model]]\nname = \"m\"\nstrategy = \"weighted\"\n\
                     targets = [{ provider = \"sim-chat\", model = \"a\" }]\n";
        let text = Arc::new(Mutex::new(model.replace("\"a\"", "\"b\"")));
        let gateway = gateway(model, &text);
        let turn = || gateway.snapshot().directory.models[0].turns_of(Class::Default).turn(true);
        assert_eq!([turn(), turn()], [0, 1]);
        assert_eq!(gateway.reload().unwrap().changed, ["model m"]);
        assert_eq!(turn(), 2);
    }

    #[test]
    fn an_address_that_others_reach_does_not_lose_its_key() {
        let open = "listen = \"0.0.0.0:1\"\n[auth]\nrequired = true\n\
                    [[auth.key]]\nname = \"k\"\nvalue = { value = \"sesame\" }\n";
        let text = Arc::new(Mutex::new(String::new()));
        let gateway = gateway(open, &text);
        let refusal = gateway.reload().unwrap_err().to_string();
        assert!(refusal.contains("0.0.0.0:1 can be reached from other machines"), "{refusal}");
        assert!(gateway.config().auth.required);
    }
}
