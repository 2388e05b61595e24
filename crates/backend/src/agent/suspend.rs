//! Agents that wait in their processes for the results of their calls. A request goes on there only if it is what the process was told,
//! the answer that it gave, and a result for each of its calls. In every other case the conversation is told anew.

use std::fmt;
use std::time::Duration;

use sabir_wire::FaultKind;
use sabir_wire::json::Json;
use sha2::{Digest as _, Sha256};

use super::answer::Sink;
use super::faults::Failed;

/// How long a process may take to ask for the results that it waits for.
const ASKING_MAX: Duration = Duration::from_secs(10);

/// How long a result may be: of longer ones the CLIs show their models a part.
const RESULT_BYTES_MAX: usize = 32 * 1024;

/// All that a process was told, as a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Known([u8; 32]);

impl Known {
    /// The number of pieces that follow each other.
    pub(super) fn of<P: AsRef<str>>(pieces: impl IntoIterator<Item = P>) -> Self {
        let mut sha = Sha256::new();
        for piece in pieces {
            let piece = piece.as_ref();
            sha.update((piece.len() as u64).to_le_bytes());
            sha.update(piece);
        }
        Self(sha.finalize().into())
    }
}

/// A part of an answer.
pub(super) enum Emitted {
    Text(String),
    /// What nobody but its model can read or change.
    Sealed(String),
    Call {
        id: String,
        name: String,
        /// As JSON, if it is.
        arguments: String,
    },
}

impl Emitted {
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text(one), Self::Text(two)) | (Self::Sealed(one), Self::Sealed(two)) => {
                one == two
            }
            (
                Self::Call { id, name, arguments },
                Self::Call { id: other_id, name: other_name, arguments: other_arguments },
            ) => (id, name) == (other_id, other_name) && is_same_value(arguments, other_arguments),
            _ => false,
        }
    }

    fn call(&self) -> Option<&str> {
        match self {
            Self::Call { id, .. } => Some(id),
            Self::Text(_) | Self::Sealed(_) => None,
        }
    }
}

/// Adds a part to an answer, in which texts that follow each other are one.
pub(super) fn append(emitted: &mut Vec<Emitted>, part: Emitted) {
    match (emitted.last_mut(), part) {
        (_, Emitted::Text(text)) if text.is_empty() => {}
        (Some(Emitted::Text(before)), Emitted::Text(text)) => before.push_str(&text),
        (_, part) => emitted.push(part),
    }
}

fn is_same_value(one: &str, two: &str) -> bool {
    match (Json::parse(one), Json::parse(two)) {
        (Ok(one), Ok(two)) => one.same_value(&two),
        _ => one == two,
    }
}

/// The result of a call.
pub(super) struct Outcome {
    pub(super) call: String,
    pub(super) is_error: bool,
    pub(super) texts: Vec<String>,
}

impl Outcome {
    /// Whether the model gets it through the CLI as it would get it in a conversation that is told.
    pub(super) fn passes(&self) -> bool {
        let bytes: usize = self.texts.iter().map(String::len).sum();
        bytes <= RESULT_BYTES_MAX && self.texts.iter().all(|text| !text.trim().is_empty())
    }
}

/// A request that ends in results: what was told before, what was answered, and the results.
pub(super) struct Returned {
    pub(super) known: Known,
    pub(super) emitted: Vec<Emitted>,
    pub(super) outcomes: Vec<Outcome>,
}

/// A call that its process waits for the result of.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) call: String,
    /// The id of the request that asks for it.
    pub(super) request: String,
    /// The number of the message in that request, where it has one.
    pub(super) message: String,
}

/// What is known of an agent that waits.
pub(super) struct Suspended {
    known: Known,
    emitted: Vec<Emitted>,
    pub(super) left: Left,
}

/// What its dialogue goes on with.
#[derive(Debug, Default)]
pub(super) struct Left {
    /// The calls that were already asked for.
    pub(super) pending: Vec<Pending>,
    /// The turn that goes on, where turns have names.
    pub(super) turn: String,
}

impl Suspended {
    /// An agent that was told and said something; none where it waits for nothing.
    pub(super) fn new(
        known: impl FnOnce() -> Known,
        emitted: Option<Vec<Emitted>>,
        left: Left,
    ) -> Option<Self> {
        let emitted = emitted.filter(|emitted| emitted.iter().any(|it| it.call().is_some()))?;
        Some(Self { known: known(), emitted, left })
    }

    /// Whether a request is exactly what the agent waits for.
    pub(super) fn is_answered_by(&self, returned: &Returned) -> bool {
        self.known == returned.known
            && self.emitted.len() == returned.emitted.len()
            && self.emitted.iter().zip(&returned.emitted).all(|(one, two)| one.is_same(two))
            && self.are_all_answered(&returned.outcomes)
    }

    /// Each call has one result, and nothing else has.
    fn are_all_answered(&self, outcomes: &[Outcome]) -> bool {
        let mut calls: Vec<_> = self.emitted.iter().filter_map(Emitted::call).collect();
        let mut answered: Vec<_> = outcomes.iter().map(|it| it.call.as_str()).collect();
        calls.sort_unstable();
        answered.sort_unstable();
        let is_twice = calls.windows(2).any(|pair| pair[0] == pair[1]);
        !calls.is_empty() && !is_twice && calls == answered && outcomes.iter().all(Outcome::passes)
    }
}

/// The calls that were asked for, each with its result; none as long as one is missing.
pub(super) fn paired<'r>(
    pending: &'r [Pending],
    outcomes: &'r [Outcome],
) -> Option<Vec<(&'r Pending, &'r Outcome)>> {
    let asked = |outcome: &'r Outcome| {
        let pending = pending.iter().find(|it| it.call == outcome.call)?;
        Some((pending, outcome))
    };
    outcomes.iter().map(asked).collect()
}

/// The answers to a process that is to ask for its results; none if it does not, or says something else.
pub(super) async fn in_time(
    asked: impl Future<Output = Result<Vec<String>, Failed>>,
) -> Option<Vec<String>> {
    tokio::time::timeout(ASKING_MAX, asked).await.ok()?.ok()
}

/// Whether a process went on with its results. One that ended instead, before it said anything, did not.
pub(super) fn resumed(listened: Result<(), Failed>, sink: &Sink) -> Result<bool, Failed> {
    match listened {
        Ok(()) => Ok(true),
        Err(fault) if fault.kind == FaultKind::Truncated && !sink.has_begun() => Ok(false),
        Err(fault) => Err(fault),
    }
}

/// Says what kind of part it is, never what stands there.
impl fmt::Debug for Emitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text(_) => "Text",
            Self::Sealed(_) => "Sealed",
            Self::Call { .. } => "Call",
        })
    }
}

/// Says how much there is, never what.
impl fmt::Debug for Suspended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Suspended({} parts)", self.emitted.len())
    }
}

/// Says how much there is, never what.
impl fmt::Debug for Returned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Returned({} results)", self.outcomes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_is_not_shown() {
        let word = || "hush".to_owned();
        let call = Emitted::Call { id: word(), name: word(), arguments: word() };
        let emitted = [Emitted::Text(word()), Emitted::Sealed(word()), call];
        assert_eq!(format!("{emitted:?}"), "[Text, Sealed, Call]");
    }
}
