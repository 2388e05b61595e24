//! The paths of all protocols: what a path asks for, and the path that asks for it.

use http::{HeaderMap, Method};
use sabir_wire::Protocol;

use crate::call::{Action, Delivery};
use crate::surface::{DEFAULT, Head, Kept, Surface, all};

/// Where a protocol is asked, below the version.
pub(crate) enum Paths {
    /// A path for each action; the body names the model.
    Fixed(&'static [(Action, &'static str)]),
    /// The path names the model, and how the answer comes.
    Model { read: ReadPath, write: fn(&Path<'_>) -> String },
}

/// Reads what stands below the version, with the query.
pub(crate) type ReadPath = fn(&str, Option<&str>) -> Option<(Action, FromPath)>;

/// What a path asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path<'a> {
    pub(crate) action: Action,
    pub(crate) model: &'a str,
    pub(crate) delivery: Delivery,
}

/// What the path of a request is known for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PathMatch {
    pub(crate) client: Protocol,
    pub(crate) action: Action,
    pub(crate) from_path: Option<FromPath>,
}

/// What a path says that names the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FromPath {
    pub(crate) model: String,
    pub(crate) delivery: Delivery,
}

impl Surface {
    /// The path of a request to a provider; none where the protocol has none for it.
    pub(crate) fn path(&self, base: &str, path: &Path<'_>) -> Option<String> {
        match &self.paths {
            Paths::Fixed(_) => self.fixed(path.action).map(|below| format!("{base}{below}")),
            Paths::Model { write, .. } => Some(format!("{base}{}", write(path))),
        }
    }

    /// The path of an action below the version, where it is always the same.
    pub(crate) fn fixed(&self, action: Action) -> Option<&'static str> {
        match self.paths {
            Paths::Fixed(paths) => {
                paths.iter().find(|(it, _)| *it == action).map(|(_, below)| *below)
            }
            Paths::Model { .. } => None,
        }
    }

    fn read(&self, path: &str, query: Option<&str>) -> Option<PathMatch> {
        let below = self.versions.iter().filter_map(|version| path.strip_prefix(version));
        let client = self.protocol;
        match &self.paths {
            Paths::Fixed(paths) => {
                let mut known = below.filter_map(|below| paths.iter().find(|it| it.1 == below));
                known.next().map(|(action, _)| PathMatch {
                    client,
                    action: *action,
                    from_path: None,
                })
            }
            Paths::Model { read, .. } => {
                let mut known = below.filter_map(|below| read(below, query));
                let (action, from_path) = known.next()?;
                Some(PathMatch { client, action, from_path: Some(from_path) })
            }
        }
    }

    /// Whether a path lacks only the version that the user of a client has to write.
    fn lacks_version(&self, path: &str) -> bool {
        let is_fixed = match self.paths {
            Paths::Fixed(paths) => paths.iter().any(|(_, below)| *below == path),
            Paths::Model { .. } => false,
        };
        !self.adds_version && (is_fixed || path == MODELS || self.embeddings == Some(path))
    }
}

const MODELS: &str = "/models";

/// What a path asks for, whatever the protocol.
pub(crate) fn find(path: &str, query: Option<&str>) -> Option<PathMatch> {
    all().find_map(|surface| surface.read(path, query))
}

/// What a method and a path ask of what is kept, and the protocol that has such a path.
pub(crate) fn find_kept(method: &Method, path: &str) -> Option<(Protocol, Kept)> {
    all().find_map(|surface| {
        let mut below = surface.versions.iter().filter_map(|version| path.strip_prefix(version));
        let kept = below.find_map(|below| (surface.state.find)(method, below))?;
        Some((surface.protocol, kept))
    })
}

/// The protocol that speaks over a WebSocket at a path.
pub(crate) fn find_socket(path: &str) -> Option<Protocol> {
    let mut speaking = all().filter(|surface| surface.socket.is_some());
    let is_there = |surface: &&Surface| {
        let found = surface.read(path, None);
        found.is_some_and(|found| found.action == Action::Generate)
    };
    speaking.find(is_there).map(|surface| surface.protocol)
}

/// What stands below any version of any protocol, in each way in which that can be read.
fn below_versions(path: &str) -> impl Iterator<Item = &str> {
    let versions = all().flat_map(|surface| surface.versions);
    versions.filter_map(move |version| path.strip_prefix(version))
}

pub(crate) fn is_embeddings(path: &str) -> bool {
    let is_known = |below: &str| all().any(|surface| surface.embeddings == Some(below));
    below_versions(path).any(is_known)
}

/// Whether a path is that of all models.
pub(crate) fn is_model_list(path: &str) -> bool {
    below_versions(path).any(|below| below == MODELS)
}

/// The rest of a path that leads to one model, still percent-encoded.
pub(crate) fn below_models(path: &str) -> Option<&str> {
    let mut below = below_versions(path);
    below.find_map(|below| below.strip_prefix(MODELS)?.strip_prefix('/'))
}

/// Whose list of models a client expects, by how it shows who it is.
pub(crate) fn of_models(path: &str, headers: &HeaderMap, query: Option<&str>) -> Protocol {
    let head = Head { path, query, headers };
    let mut surfaces = all();
    let known = surfaces.find(|surface| (surface.is_sent_by_client)(&head));
    known.map_or(DEFAULT, |surface| surface.protocol)
}

/// The protocol in which to refuse a request that no protocol serves.
pub(crate) fn of_unknown(path: &str, headers: &HeaderMap, query: Option<&str>) -> Protocol {
    match all().find(|surface| (surface.owns_path)(path)) {
        Some(surface) => surface.protocol,
        None => of_models(path, headers, query),
    }
}

/// What would help a client whose path nobody serves.
pub(crate) fn advice(path: &str) -> &'static str {
    let has_two_versions = || {
        below_versions(path).any(|below| below_versions(below).any(|rest| rest.starts_with('/')))
    };
    if has_two_versions() {
        return "the base URL of this client ends before /v1";
    }
    match all().any(|surface| surface.lacks_version(path)) {
        true => "the base URL of OpenAI's clients ends in /v1",
        false => "a provider's other paths are below /passthrough/PROVIDER/",
    }
}
